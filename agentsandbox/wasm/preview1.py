"""The numbers and structures of WASI preview 1, as `wasi_snapshot_preview1` defines them."""

from __future__ import annotations

import errno
import stat as stat_module
import struct

_NUMBERS = {
    "E2BIG": 1, "EACCES": 2, "EAGAIN": 6, "EBADF": 8, "EBUSY": 10, "ECANCELED": 11, "ECHILD": 12,
    "ECONNABORTED": 13, "ECONNREFUSED": 14, "ECONNRESET": 15, "ENETUNREACH": 40, "ENOTCONN": 53,
    "EPROTO": 65, "ETIMEDOUT": 73,
    "EDOM": 18, "EDQUOT": 19, "EEXIST": 20, "EFAULT": 21, "EFBIG": 22, "EILSEQ": 25, "EINTR": 27,
    "EINVAL": 28, "EIO": 29, "EISDIR": 31, "ELOOP": 32, "EMFILE": 33, "EMLINK": 34,
    "ENAMETOOLONG": 37, "ENFILE": 41, "ENODEV": 43, "ENOENT": 44, "ENOEXEC": 45, "ENOMEM": 48,
    "ENOSPC": 51, "ENOSYS": 52, "ENOTDIR": 54, "ENOTEMPTY": 55, "ENOTSUP": 58, "ENOTTY": 59,
    "ENXIO": 60, "EOVERFLOW": 61, "EPERM": 63, "EPIPE": 64, "ERANGE": 68, "EROFS": 69,
    "ESPIPE": 70, "ESRCH": 71, "ETXTBSY": 74, "EXDEV": 75,
}  # fmt: skip
SUCCESS = 0
BADF, FAULT, INVAL, IO, ISDIR, MFILE, NAMETOOLONG, NOENT, NOTDIR, NOSYS, NOTSUP, PERM, SPIPE = (
    _NUMBERS[name]
    for name in (
        "EBADF", "EFAULT", "EINVAL", "EIO", "EISDIR", "EMFILE", "ENAMETOOLONG", "ENOENT",
        "ENOTDIR", "ENOSYS", "ENOTSUP", "EPERM", "ESPIPE",
    )
)  # fmt: skip
_OF_HOST = {
    getattr(errno, name): number for name, number in _NUMBERS.items() if hasattr(errno, name)
}


_CLASHES = {
    getattr(errno, name): 1000 + number
    for name, number in (("EACCES", 13), ("EBUSY", 16), ("EEXIST", 17), ("ELOOP", 40))
}


def number_of(error: OSError, *, linux: bool = False) -> int:
    """Return WASI's number for an error of the sandbox; EIO for one that WASI does not have.

    With `linux`, errors whose WASI number means another error on Linux that Python has a class for
    (EACCES is 2, Linux's ENOENT) are answered as 1000 plus their Linux number.
    """
    number = error.errno or 0
    if linux and number in _CLASHES:
        return _CLASHES[number]
    return _OF_HOST.get(number, IO)


# types of files

UNKNOWN, BLOCK_DEVICE, CHARACTER_DEVICE, DIRECTORY, REGULAR = 0, 1, 2, 3, 4
SOCKET, LINK = 6, 7

_TYPES = {
    stat_module.S_IFDIR: DIRECTORY, stat_module.S_IFREG: REGULAR, stat_module.S_IFLNK: LINK,
    stat_module.S_IFCHR: CHARACTER_DEVICE, stat_module.S_IFBLK: BLOCK_DEVICE,
    stat_module.S_IFSOCK: SOCKET,
}  # fmt: skip


def file_type(mode: int) -> int:
    """Return WASI's type of a file for `st_mode`; UNKNOWN for a named pipe."""
    return _TYPES.get(stat_module.S_IFMT(mode), UNKNOWN)


# flags

O_CREAT, O_DIRECTORY, O_EXCL, O_TRUNC = 1, 2, 4, 8
FD_APPEND, FD_NONBLOCK = 1, 4
FOLLOW = 1
RIGHT_READ, RIGHT_WRITE = 1 << 1, 1 << 6
ALL_RIGHTS = (1 << 30) - 1
SET_ATIME, SET_ATIME_NOW, SET_MTIME, SET_MTIME_NOW = 1, 2, 4, 8
ABSOLUTE_TIME = 1
EVENT_CLOCK, EVENT_READ, EVENT_WRITE = 0, 1, 2
REALTIME = 0

# structures

U32 = struct.Struct("<I")
U64 = struct.Struct("<Q")
VECTOR = struct.Struct("<II")
"""A buffer: address, length."""
FDSTAT = struct.Struct("<BxHxxxxQQ")
"""Type, flags, rights, rights of what is opened through it."""
FILESTAT = struct.Struct("<QQBxxxxxxxQQQQQ")
"""Device, inode, type, links, size, times of access, change of content and of state in ns."""
DIRENT = struct.Struct("<QQIBxxx")
"""Cookie of the next entry, inode, length of the name, type."""
PRESTAT = struct.Struct("<BxxxI")
"""0 for a directory, length of its name."""
SUBSCRIPTION = struct.Struct("<QBxxxxxxxIxxxxQQHxxxxxx")
"""User data, type of event, then clock (or descriptor), time in ns, precision, flags."""
EVENT = struct.Struct("<QHBxxxxxQHxxxxxx")
"""User data, error number, type, bytes at hand, flags."""
