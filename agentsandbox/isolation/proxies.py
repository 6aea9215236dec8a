"""What a worker has in place of things of the host: mounted filesystems, files, an input.

Each call is a request (`mounted` answers those about files). Files are closed in the host with the
next request, or at the end of the call.
"""

from __future__ import annotations

import errno
import os

from agentsandbox.host_input import HostInput
from agentsandbox.kernel.fs.base import PATH_MAX, File, FileSystem, Stat, nanoseconds, os_error
from agentsandbox.kernel.fs.base import Timestamp as Time
from agentsandbox.kernel.streams import InputError, OutputError, WriteOnlyError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Protocol

    from agentsandbox.isolation.messages import Message
    from agentsandbox.kernel.fs.base import Mode

    class Ask(Protocol):
        """Sends a request to the host and returns the answer."""

        def __call__(self, kind: str, head: dict[str, Any], *blobs: bytes) -> Message: ...


_PIECE = 4 << 20
"""Bytes of the largest piece that is written at once."""


class Mounts:
    """The way to the mounted filesystems: proxies by number, and files to close."""

    __slots__ = ("_ask", "_proxies", "released")

    def __init__(self, ask: Ask) -> None:
        self._ask = ask
        self._proxies: dict[int, RemoteFileSystem] = {}
        self.released: list[int] = []

    def proxy(self, number: int) -> RemoteFileSystem:
        """Return the filesystem with that number."""
        if number not in self._proxies:
            self._proxies[number] = RemoteFileSystem(self, number)
        return self._proxies[number]

    def call(
        self, number: int, name: str, *arguments: object, blobs: tuple[bytes, ...] = ()
    ) -> Any:
        """Call a method in the host and return the answer; raise the `OSError` that it raised."""
        released, self.released = self.released, []
        head = {"of": number, "call": name, "args": arguments, "released": released}
        answer = self._ask("mounted", head, *blobs)
        error = answer.head.get("error")
        if error is None:
            return answer
        code, filename, kind = error
        if kind == "OutputError":
            raise OutputError(code, os.strerror(code))
        if kind == "InputError":
            raise InputError(code, os.strerror(code), filename)
        if kind == "WriteOnlyError":
            raise WriteOnlyError
        raise os_error(code, filename)


def _stat(answer: Message) -> Stat:
    mode, size, mtime, ino, nlink, uid, gid, ctime, atime, rdev = answer.head["stat"]
    time = Time.from_ns
    info = Stat(mode, size, time(mtime), ino, nlink, uid, gid, time(ctime), time(atime))
    info.rdev = rdev
    return info


class RemoteFileSystem(FileSystem):
    """A mounted filesystem, which is in the host."""

    __slots__ = ("_mounts", "_number")

    def __init__(self, mounts: Mounts, number: int) -> None:
        self._mounts = mounts
        self._number = number

    def _call(self, name: str, path: str, *arguments: object) -> Message:
        if len(path) >= PATH_MAX:
            raise os_error(errno.ENAMETOOLONG, path)
        answer: Message = self._mounts.call(self._number, name, path, *arguments)
        return answer

    def stat(self, path: str, *, follow: bool = True) -> Stat:
        return _stat(self._call("stat", path, follow))

    def listdir(self, path: str) -> list[str]:
        return list(self._call("listdir", path).head["value"])

    def scan(self, path: str) -> tuple[list[str], list[int]]:
        names, kinds = self._call("scan", path).head["value"]
        return names, kinds

    def open(self, path: str, mode: Mode = "r", *, permissions: int = 0o644) -> File:
        head = self._call("open", path, mode, permissions).head
        file = RemoteFile(self._mounts, head["file"], path)
        file.unreadable, file.unwritable = head["unreadable"], head["unwritable"]
        file.append = mode == "a"
        return file

    def mkdir(self, path: str, mode: int = 0o755) -> None:
        self._call("mkdir", path, mode)

    def rmdir(self, path: str) -> None:
        self._call("rmdir", path)

    def unlink(self, path: str) -> None:
        self._call("unlink", path)

    def rename(self, source: str, target: str) -> None:
        if len(target) >= PATH_MAX:
            raise os_error(errno.ENAMETOOLONG, target)
        self._call("rename", source, target)

    def symlink(self, text: str, path: str) -> None:
        if len(text) >= PATH_MAX:
            raise os_error(errno.ENAMETOOLONG, path)
        if len(path) >= PATH_MAX:
            raise os_error(errno.ENAMETOOLONG, path)
        self._mounts.call(self._number, "symlink", text, path)

    def link(self, source: str, path: str) -> None:
        if len(path) >= PATH_MAX:
            raise os_error(errno.ENAMETOOLONG, path)
        self._call("link", source, path)

    def readlink(self, path: str) -> str:
        return str(self._call("readlink", path).head["value"])

    def realpath(self, path: str) -> str:
        return str(self._call("realpath", path).head["value"])

    def access(self, path: str, bits: int) -> bool:
        return len(path) < PATH_MAX and bool(self._call("access", path, bits).head["value"])

    def chmod(self, path: str, mode: int) -> None:
        self._call("chmod", path, mode)

    def mkfifo(self, path: str, mode: int = 0o644) -> None:
        self._call("mkfifo", path, mode)

    def utime(
        self, path: str, mtime: float, *, atime: float | None = None, follow: bool = True
    ) -> None:
        other = None if atime is None else nanoseconds(atime)
        self._call("utime", path, nanoseconds(mtime), other, follow)


class RemoteFile(File):
    """An open file of a mounted filesystem."""

    __slots__ = ("_mounts", "_number", "append", "path", "unreadable", "unwritable")

    path: str

    def __init__(self, mounts: Mounts, number: int, path: str) -> None:
        super().__init__()
        self._mounts = mounts
        self._number = number
        self.path = path

    def _call(self, name: str, *arguments: object) -> Message:
        answer: Message = self._mounts.call(self._number, name, *arguments)
        return answer

    def read(self, size: int = -1) -> bytes:
        return self._call("read", size).blobs[0]

    def readline(self, end: bytes = b"\n") -> bytes:
        return self._call("readline", end[0]).blobs[0]

    def write(self, data: bytes) -> None:
        for start in range(0, max(len(data), 1), _PIECE):
            piece = bytes(data[start : start + _PIECE])
            self._mounts.call(self._number, "write", blobs=(piece,))

    def truncate(self, size: int) -> None:
        self._call("truncate", size)

    def seek(self, offset: int, whence: int = 0) -> int:
        return int(self._call("seek", offset, whence).head["value"])

    def stat(self) -> Stat:
        return _stat(self._call("fstat"))

    def close(self) -> None:
        number, self._number = self._number, -1
        if number >= 0:
            self._mounts.released.append(number)

    def __del__(self) -> None:
        self.close()


class RemoteInput(HostInput):
    """The host's `HostInput` of a call."""

    __slots__ = ("_ask",)

    def __init__(self, ask: Ask) -> None:
        super().__init__(-1)
        self._ask = ask

    def _is_ready(self) -> bool:
        return bool(self._ask("input_ready", {}).head["ready"])

    def _next_block(self) -> bytes:
        return self._ask("input", {}).blobs[0]
