"""`errno` with Linux' numbers, and `OSError` picking its subclass by them."""

import gc

import _agentsandbox
from _agentsandbox.errors import LINUX, LINUX_BASE, SUBCLASSES

ALIASES = {"EWOULDBLOCK": "EAGAIN", "EDEADLOCK": "EDEADLK", "EOPNOTSUPP": "ENOTSUP"}

CLASHES = frozenset([2, 10, 20, 32])


def apply(errno):
    """Set the names of the module and the table behind `OSError(number, text)`."""
    for name in [name for name in vars(errno) if name.startswith("E")]:
        if name not in LINUX and name not in ALIASES:
            delattr(errno, name)
    errno.errorcode.clear()
    for name, (number, _) in LINUX.items():
        setattr(errno, name, number)
        errno.errorcode[number] = name
    for alias, name in ALIASES.items():
        setattr(errno, alias, LINUX[name][0])
    teach()


def teach():
    """Add Linux' numbers to the interpreter's table of subclasses.

    The table is private to the interpreter, but the garbage collector knows it: it refers to
    ConnectionAbortedError and has integers as keys. WASI's own entries stay where Linux has none.
    """
    gc.unfreeze()
    tables = [
        table
        for table in gc.get_referrers(ConnectionAbortedError)
        if type(table) is dict and table.get(44) is FileNotFoundError
    ]
    gc.freeze()
    clashes = clashing()
    for table in tables:
        table.pop(12, None)
        table.update({key: kind for key, kind in SUBCLASSES.items() if key not in clashes})
        table.update({LINUX_BASE + number: kind for number, kind in SUBCLASSES.items()})


def clashing():
    """Return the Linux numbers that must keep WASI's meaning.

    The host is asked to add 1000 to the Linux number of the errors whose WASI number picks another
    subclass on Linux (EACCES, EEXIST, EBUSY, ELOOP). If it does, there are none.
    """
    answer, _ = _agentsandbox.door.ask("errnos")
    return CLASHES if answer.get("errno") else frozenset()
