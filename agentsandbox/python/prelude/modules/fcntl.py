"""Locks of files inside one Python process; other calls are refused.

No other process writes while this one runs a statement, and Python here has one thread: a lock is
always free.
"""

import os

from _agentsandbox import errors

F_DUPFD, F_GETFD, F_SETFD, F_GETFL, F_SETFL = 0, 1, 2, 3, 4
F_GETLK, F_SETLK, F_SETLKW = 5, 6, 7
F_RDLCK, F_WRLCK, F_UNLCK = 0, 1, 2
FD_CLOEXEC = 1
LOCK_SH, LOCK_EX, LOCK_NB, LOCK_UN = 1, 2, 4, 8


def _number(fd):
    """Return the descriptor of a file object or number; raise EBADF if it is not open."""
    number = fd if isinstance(fd, int) else fd.fileno()
    os.fstat(number)
    return number


def flock(fd, operation, /):
    """Lock or unlock a file: the lock is always free."""
    _number(fd)
    if operation & ~LOCK_NB not in (LOCK_SH, LOCK_EX, LOCK_UN):
        raise errors.error(22)


def lockf(fd, cmd, len=0, start=0, whence=0, /):
    """Lock or unlock a part of a file: the lock is always free."""
    _number(fd)
    if not cmd & (LOCK_SH | LOCK_EX | LOCK_UN):
        raise ValueError("unrecognized lockf argument")


def fcntl(fd, cmd, arg=0, /):
    """Read or set the flags of a descriptor; locks are always free."""
    number = _number(fd)
    if cmd == F_GETFD:
        return 0 if os.get_inheritable(number) else FD_CLOEXEC
    if cmd == F_SETFD:
        os.set_inheritable(number, not arg & FD_CLOEXEC)
        return 0
    if cmd == F_GETFL:
        return 0 if os.get_blocking(number) else os.O_NONBLOCK
    if cmd == F_SETFL:
        os.set_blocking(number, not arg & os.O_NONBLOCK)
        return 0
    if cmd in (F_SETLK, F_SETLKW, F_GETLK):
        return arg
    raise errors.error(22)


def ioctl(fd, request, arg=0, mutate_flag=True, /):
    """Raise ENOTTY: there are no devices."""
    _number(fd)
    raise errors.error(25)
