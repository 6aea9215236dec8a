"""`pip` is a command of the sandbox; this package lets `python3 -m pip` and scripts call it."""

__version__ = "0"
COMMAND = "/usr/bin/pip"


def main(args=None):
    """Run the sandbox's `pip` with the words of the command line; return its status."""
    import os
    import sys

    from _agentsandbox import processes

    words = sys.argv[1:] if args is None else list(args)
    sys.stdout.flush()
    sys.stderr.flush()
    variables = dict(os.environ)
    if sys.prefix != sys.base_prefix:
        variables["VIRTUAL_ENV"] = sys.prefix
    try:
        return processes.run([COMMAND, *words], variables)
    except FileNotFoundError:
        print("pip: not available in this sandbox", file=sys.stderr)
        return 127
