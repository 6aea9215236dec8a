"""`errno` with Linux' numbers, and `OSError` picking its subclass by them."""

import gc

from _agentsandbox.errors import LINUX, LINUX_BASE, SUBCLASSES

ALIASES = {"EWOULDBLOCK": "EAGAIN", "EDEADLOCK": "EDEADLK", "EOPNOTSUPP": "ENOTSUP"}


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
    for table in tables:
        table.pop(12, None)
        table.update(SUBCLASSES)
        table.update({LINUX_BASE + number: kind for number, kind in SUBCLASSES.items()})
