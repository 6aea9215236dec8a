"""What CPython's `subprocess` imports on Linux; the sandbox's `Popen` does not call it."""


def fork_exec(*args):
    """Refuse: a child cannot begin as a copy of this process."""
    raise NotImplementedError(
        "_posixsubprocess.fork_exec is not available in this sandbox's Python; use subprocess"
    )
