"""Mounted filesystems of an isolated sandbox: they stay in the host, and answer the worker there.

A worker needs no file of the host. It has a `kernel.fs` filesystem of its own for each mount
(`proxies`), which sends every call here. The calls are a fixed list, each argument has its type,
and paths mean what they mean to the mounted filesystem: a worker that was taken over can do there
what scripts can do anyway.
"""

from __future__ import annotations

import errno

from agentsandbox.isolation.messages import ProtocolError
from agentsandbox.kernel.fs.base import Timestamp, nanoseconds, os_error
from agentsandbox.kernel.streams import InputError, OutputError, Stream, WriteOnlyError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from agentsandbox.isolation.messages import Message
    from agentsandbox.kernel.fs.base import File, FileSystem, Stat

    Answer = dict[str, Any]

MOST_OPEN = 256
"""Files of mounts that a worker may have open."""

_MODES = ("r", "w", "a", "x", "r+")
_LONGEST_READ = 1 << 30


class MountedFiles:
    """The mounted filesystems of one sandbox, and the files that its worker has open in them."""

    __slots__ = ("_files", "_filesystems", "_last")

    def __init__(self) -> None:
        self._filesystems: list[FileSystem] = []
        self._files: dict[int, File] = {}
        self._last = 0

    def number_of(self, filesystem: FileSystem) -> int:
        """Return the number of a filesystem in messages, the same one for as long as it lives."""
        for number, known in enumerate(self._filesystems):
            if known is filesystem:
                return number
        self._filesystems.append(filesystem)
        return len(self._filesystems) - 1

    def release(self, numbers: object) -> None:
        """Close files that the worker does not use any more."""
        if type(numbers) is not list:
            raise ProtocolError("no list of files")
        for number in numbers:
            file = self._files.pop(number, None) if type(number) is int else None
            if file is not None:
                file.release()

    def close(self) -> None:
        """Close all files: their worker has ended."""
        self.release(list(self._files))

    def answer(self, message: Message) -> Answer:
        """Do what the worker asks for; an `OSError` is an answer."""
        self.release(message.head.get("released", []))
        name = message.text("call")
        arguments = message.head.get("args")
        types = _TYPES.get(name)
        if (
            types is None
            or type(arguments) is not list
            or len(arguments) != len(types)
            or not all(type(value) in kinds for value, kinds in zip(arguments, types, strict=True))
        ):
            raise ProtocolError(f"an unknown call {name!r:.40}")
        number = message.number("of")
        try:
            if name in _OF_FILES:
                if number not in self._files:
                    raise ProtocolError("a file that is not open")
                return _OF_FILES[name](self._files[number], arguments, message.blobs)
            if number >= len(self._filesystems):
                raise ProtocolError("a filesystem that is not mounted")
            filesystem = self._filesystems[number]
            if name == "open":
                return self._open(filesystem, *arguments)
            return _OF_FILESYSTEMS[name](filesystem, arguments)
        except OSError as error:
            kind = type(error).__name__ if type(error) in _ERRORS else ""
            return {"error": [error.errno or errno.EIO, error.filename, kind]}

    def _open(self, filesystem: FileSystem, path: str, mode: Any, permissions: int) -> Answer:
        if mode not in _MODES:
            raise ProtocolError("an unknown mode")
        if len(self._files) >= MOST_OPEN:
            raise os_error(errno.EMFILE, path)
        file = filesystem.open(path, mode, permissions=permissions)
        if not isinstance(file, Stream):
            raise TypeError(f"the mount opened {path!r} as {type(file).__name__}, not as a file")
        self._last += 1
        self._files[self._last] = file
        return {"file": self._last, "unreadable": file.unreadable, "unwritable": file.unwritable}


_ERRORS = (InputError, OutputError, WriteOnlyError)


def facts_of(info: Stat) -> list[int]:
    """Return a `Stat` as whole numbers; times in nanoseconds."""
    return [
        info.mode, info.size, nanoseconds(info.mtime), info.ino, info.nlink, info.uid, info.gid,
        nanoseconds(info.ctime), nanoseconds(info.atime), info.rdev,
    ]  # fmt: skip


def _read(file: File, arguments: list[Any], _: list[bytes]) -> Answer:
    return {"data": file.read(min(arguments[0], _LONGEST_READ))}


def _readline(file: File, arguments: list[Any], _: list[bytes]) -> Answer:
    if not 0 <= arguments[0] < 256:
        raise ProtocolError("no byte")
    return {"data": file.readline(bytes(arguments))}


def _write(file: File, _: list[Any], blobs: list[bytes]) -> Answer:
    file.write(b"".join(blobs))
    return {}


def _truncate(file: File, arguments: list[Any], _: list[bytes]) -> Answer:
    file.truncate(*arguments)
    return {}


_OF_FILES: dict[str, Callable[[File, list[Any], list[bytes]], Answer]] = {
    "read": _read,
    "readline": _readline,
    "write": _write,
    "truncate": _truncate,
    "seek": lambda file, arguments, _: {"value": file.seek(*arguments)},
    "fstat": lambda file, _arguments, _: {"stat": facts_of(file.stat())},
}


def _done(name: str) -> Callable[[FileSystem, list[Any]], Answer]:
    """Return the way to call a method that returns nothing."""

    def call(filesystem: FileSystem, arguments: list[Any]) -> Answer:
        getattr(filesystem, name)(*arguments)
        return {}

    return call


def _utime(filesystem: FileSystem, arguments: list[Any]) -> Answer:
    path, mtime, atime, follow = arguments
    other = None if atime is None else Timestamp.from_ns(atime)
    filesystem.utime(path, Timestamp.from_ns(mtime), atime=other, follow=follow)
    return {}


_OF_FILESYSTEMS: dict[str, Callable[[FileSystem, list[Any]], Answer]] = {
    "stat": lambda fs, args: {"stat": facts_of(fs.stat(args[0], follow=args[1]))},
    "listdir": lambda fs, args: {"value": fs.listdir(*args)},
    "scan": lambda fs, args: {"value": fs.scan(*args)},
    "readlink": lambda fs, args: {"value": fs.readlink(*args)},
    "realpath": lambda fs, args: {"value": fs.realpath(*args)},
    "access": lambda fs, args: {"value": fs.access(*args)},
    **{
        name: _done(name)
        for name in ("mkdir", "rmdir", "unlink", "rename", "symlink", "link", "chmod", "mkfifo")
    },
    "utime": _utime,
}

_TEXT, _NUMBER, _FLAG = (str,), (int,), (bool,)
_TYPES: dict[str, tuple[tuple[type, ...], ...]] = {
    "stat": (_TEXT, _FLAG), "listdir": (_TEXT,), "scan": (_TEXT,), "readlink": (_TEXT,),
    "realpath": (_TEXT,), "access": (_TEXT, _NUMBER), "mkdir": (_TEXT, _NUMBER),
    "rmdir": (_TEXT,), "unlink": (_TEXT,), "rename": (_TEXT, _TEXT), "symlink": (_TEXT, _TEXT),
    "link": (_TEXT, _TEXT), "chmod": (_TEXT, _NUMBER), "mkfifo": (_TEXT, _NUMBER),
    "utime": (_TEXT, _NUMBER, (int, type(None)), _FLAG), "open": (_TEXT, _TEXT, _NUMBER),
    "read": (_NUMBER,), "readline": (_NUMBER,), "write": (), "truncate": (_NUMBER,),
    "seek": (_NUMBER, _NUMBER), "fstat": (),
}  # fmt: skip
"""The types of the arguments of each call."""
