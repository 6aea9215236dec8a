"""`ensurepip`: `pip` is a command of the sandbox, so there is nothing to install."""


def version():
    """Return the version that would be installed: none is."""
    return "0"


def bootstrap(**more):
    """Do nothing: `pip` is there."""
