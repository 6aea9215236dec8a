"""`subprocess` is CPython's own, over pipes and children of the sandbox (`_posixsubprocess`)."""


def apply(module):
    """Leave out `posix_spawn`: it would be asked for what `fork_exec` does here."""
    module._USE_POSIX_SPAWN = False
