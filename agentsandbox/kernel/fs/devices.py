"""Character devices (null, zero, full, random, urandom, tty), and file descriptors by name."""

from __future__ import annotations

import errno
import os
import stat as stat_module

from agentsandbox.errors import LimitReached
from agentsandbox.kernel.fs.base import File, Stat, os_error
from agentsandbox.kernel.streams import BLOCK

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from random import Random

    from agentsandbox.kernel.streams import Stream


class Borrowed(File):
    """A file descriptor opened again by name (/dev/fd/3); it does not own the stream."""

    __slots__ = ("stream",)

    def __init__(self, stream: Stream) -> None:
        super().__init__()
        self.stream = stream

    def read(self, size: int = -1) -> bytes:
        return self.stream.read(size)

    def readline(self, end: bytes = b"\n") -> bytes:
        return self.stream.readline(end)

    def peek(self, size: int) -> bytes:
        return self.stream.peek(size)

    def write(self, data: bytes) -> None:
        self.stream.write(data)

    def stat(self) -> Stat:
        return (
            self.stream.stat()
            if isinstance(self.stream, File)
            else Stat(stat_module.S_IFIFO | 0o600, 0, 0.0)
        )

    def reopened(self, mode: str) -> Stream:
        return (
            self.stream.reopened(mode)
            if isinstance(self.stream, File) and self.stream.stat().is_file
            else self
        )

    def truncate(self, size: int) -> None:
        if not isinstance(self.stream, File):
            raise os_error(errno.EINVAL)
        self.stream.truncate(size)

    def has_input(self) -> bool:
        """Whether a read would return at once."""
        ready = getattr(self.stream, "has_input", None)
        return True if ready is None else bool(ready())


class _Device:
    """The methods that all devices share; a base to name before `File`."""

    __slots__ = ()

    info: Stat

    def write(self, data: bytes) -> None:
        pass

    def seek(self, offset: int, whence: int = 0) -> int:
        return 0

    def stat(self) -> Stat:
        return self.info


class NullDevice(_Device, File):
    """/dev/null: reads nothing and drops what is written."""

    __slots__ = ("info", "path")

    def __init__(self, path: str, info: Stat) -> None:
        super().__init__()
        self.path = path
        self.info = info

    def read(self, size: int = -1) -> bytes:
        return b""

    def readline(self, end: bytes = b"\n") -> bytes:
        return b""


class ZeroDevice(_Device, File):
    """/dev/zero: reads zeros without end. With `is_full` it is /dev/full, which refuses writes."""

    __slots__ = ("for_script", "info", "path", "unwritable")

    def __init__(self, path: str, info: Stat, *, is_full: bool = False, for_script: bool) -> None:
        super().__init__()
        self.path = path
        self.info = info
        self.unwritable = errno.ENOSPC if is_full else 0
        self.for_script = for_script

    def read(self, size: int = -1) -> bytes:
        if size < 0:
            raise _endless(self.path, for_script=self.for_script)
        return bytes(min(size, BLOCK))

    def readline(self, end: bytes = b"\n") -> bytes:
        if end == b"\0":
            return b"\0"
        raise _endless(self.path, for_script=self.for_script)

    def line_blocks(self) -> Iterator[bytes]:
        raise _endless(self.path, for_script=self.for_script)

    def write(self, data: bytes) -> None:
        if data and self.unwritable:
            raise os_error(errno.ENOSPC, self.path)


class RandomDevice(_Device, File):
    """/dev/random and /dev/urandom: bytes of the sandbox's generator, repeatable by a seed."""

    __slots__ = ("for_script", "info", "path", "random", "rest")

    def __init__(self, path: str, info: Stat, random: Random | None, *, for_script: bool) -> None:
        super().__init__()
        self.path = path
        self.info = info
        self.for_script = for_script
        self.random = random
        self.rest = b""

    def _more(self, size: int) -> bytes:
        return os.urandom(size) if self.random is None else self.random.randbytes(size)

    def read(self, size: int = -1) -> bytes:
        if size < 0:
            raise _endless(self.path, for_script=self.for_script)
        size = min(size, BLOCK)
        taken = self.rest[:size]
        self.rest = self.rest[size:]
        return taken + self._more(size - len(taken)) if len(taken) < size else taken

    def readline(self, end: bytes = b"\n") -> bytes:
        line = self.rest
        while end not in line:
            line += self._more(512)
        cut = line.index(end) + 1
        self.rest = line[cut:]
        return line[:cut]


def _endless(path: str | None, *, for_script: bool) -> BaseException:
    """Return what ends reading all of an endless device: a limit, or EFBIG for the host."""
    return LimitReached("value_bytes") if for_script else os_error(errno.EFBIG, path)


def open_device(
    name: str, path: str, info: Stat, random: Random | None = None, *, for_script: bool = False
) -> File:
    """Open one of `nodes.DEVICES`; ENXIO for the terminal, which a sandbox does not have."""
    if name == "null":
        return NullDevice(path, info)
    if name == "zero":
        return ZeroDevice(path, info, for_script=for_script)
    if name == "full":
        return ZeroDevice(path, info, is_full=True, for_script=for_script)
    if name in ("random", "urandom"):
        return RandomDevice(path, info, random, for_script=for_script)
    raise os_error(errno.ENXIO, path)
