"""The open files of a guest, by number.

Bytes of a file that was opened only for reading are taken once, and a directory is listed once, so
most reads need nobody but the guest's own thread. Everything else belongs to the sandbox: `work` of
a descriptor is a function that the home runs (see `guest`), and raises `OSError`.
"""

from __future__ import annotations

import errno
import os
import stat as stat_module

from agentsandbox.kernel.fs.base import Stat, os_error
from agentsandbox.kernel.streams import PIPE_BYTES, Pipe, PipeReader
from agentsandbox.wasm import preview1 as wasi

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import TypeVar

    from agentsandbox.kernel.fs.base import File, FileSystem
    from agentsandbox.kernel.streams import ByteReader, ByteWriter

    T = TypeVar("T")
    Ask = Callable[[Callable[[], T]], T]


class Descriptor:
    """What a number refers to. Methods that it does not have fail with EBADF or EINVAL."""

    kind = wasi.UNKNOWN
    flags = 0
    path = ""
    references = 1

    def read(self, size: int) -> bytes:
        raise os_error(errno.EBADF)

    def write(self, data: bytes) -> None:
        raise os_error(errno.EBADF)

    def read_at(self, size: int, offset: int) -> bytes:
        raise os_error(errno.ESPIPE)

    def write_at(self, data: bytes, offset: int) -> None:
        raise os_error(errno.ESPIPE)

    def seek(self, offset: int, whence: int) -> int:
        raise os_error(errno.ESPIPE)

    def truncate(self, size: int) -> None:
        raise os_error(errno.EINVAL)

    def stat(self) -> Stat:
        raise os_error(errno.EBADF)

    def is_ready(self, *, to_write: bool) -> bool:
        """Whether a read (or a write) would return at once; asked in the home."""
        del to_write
        return True

    def release(self) -> None:
        """Count one number less; the last one closes it."""
        self.references -= 1
        if self.references == 0:
            self.close()

    def close(self) -> None:
        """Free what it holds."""


class Standard(Descriptor):
    """Standard input, output or error: a stream of the command."""

    def __init__(
        self,
        ask: Ask[object],
        reader: ByteReader | None,
        writer: ByteWriter | None,
        describe: Callable[[], Stat],
    ) -> None:
        self._ask = ask
        self._reader = reader
        self._writer = writer
        self._describe = describe
        stream = reader or writer
        self.is_terminal = bool(getattr(stream, "is_terminal", False))
        self.kind = wasi.CHARACTER_DEVICE if self.is_terminal else wasi.UNKNOWN
        if hasattr(stream, "stat"):
            self.kind = wasi.REGULAR

    @property
    def stream(self) -> ByteReader | ByteWriter | None:
        """Return the stream, to hand it to a command."""
        return self._reader or self._writer

    def read(self, size: int) -> bytes:
        reader = self._reader
        if reader is None:
            raise os_error(errno.EBADF)
        return self._ask(lambda: reader.read(size))  # type: ignore[return-value]

    def write(self, data: bytes) -> None:
        writer = self._writer
        if writer is None:
            raise os_error(errno.EBADF)
        self._ask(lambda: writer.write(data))

    def seek(self, offset: int, whence: int) -> int:
        reader = self._reader
        seek = getattr(reader, "seek", None)
        if seek is None:
            raise os_error(errno.ESPIPE)
        return self._ask(lambda: seek(offset, whence))  # type: ignore[return-value]

    def stat(self) -> Stat:
        return self._ask(self._describe)  # type: ignore[return-value]

    def is_ready(self, *, to_write: bool) -> bool:
        has_input = None if to_write else getattr(self._reader, "has_input", None)
        return has_input is None or bool(has_input())


class PipeEnd(Standard):
    """One end of a pipe that the guest made."""

    kind = wasi.UNKNOWN

    def __init__(
        self, ask: Ask[object], end: Pipe | PipeReader, clock: Callable[[], float]
    ) -> None:
        reader = end if isinstance(end, PipeReader) else None
        super().__init__(ask, reader, None if reader else end, lambda: _pipe_stat(clock()))
        self._end = end

    def read(self, size: int) -> bytes:
        end = self._end
        if not isinstance(end, PipeReader):
            raise os_error(errno.EBADF)

        def work() -> bytes:
            if self.flags & wasi.FD_NONBLOCK and not end.has_input():
                raise os_error(errno.EAGAIN)
            return end.read(size)

        return self._ask(work)  # type: ignore[return-value]

    def write(self, data: bytes) -> None:
        end = self._end
        if not isinstance(end, Pipe):
            raise os_error(errno.EBADF)

        def work() -> None:
            for start in range(0, len(data), PIPE_BYTES):
                if self.flags & wasi.FD_NONBLOCK and not start and not end.has_room():
                    raise os_error(errno.EAGAIN)
                end.put(data[start : start + PIPE_BYTES])

        self._ask(work)

    def is_ready(self, *, to_write: bool) -> bool:
        end = self._end
        if isinstance(end, Pipe):
            return to_write and end.has_room()
        return not to_write and end.has_input()

    def close(self) -> None:
        self._ask(self._end.release)


def _pipe_stat(now: float) -> Stat:
    return Stat(stat_module.S_IFIFO | 0o600, 0, now)


class Contents(Descriptor):
    """A regular file opened for reading: its bytes as they were then."""

    kind = wasi.REGULAR

    def __init__(self, data: bytes | memoryview, info: Stat, path: str) -> None:
        self._data = data
        self._info = info
        self.path = path
        self._offset = 0

    def read(self, size: int) -> bytes:
        data = self._data[self._offset : self._offset + size]
        self._offset += len(data)
        return bytes(data)

    def read_at(self, size: int, offset: int) -> bytes:
        return bytes(self._data[offset : offset + size])

    def seek(self, offset: int, whence: int) -> int:
        base = (0, self._offset, len(self._data))[whence]
        if not 0 <= base + offset < 1 << 63:
            raise os_error(errno.EINVAL)
        self._offset = base + offset
        return self._offset

    def stat(self) -> Stat:
        return self._info


class Opened(Descriptor):
    """A file of the sandbox that the guest writes, or one that is not regular."""

    kind = wasi.REGULAR

    def __init__(
        self,
        ask: Ask[object],
        file: File,
        info: Stat,
        path: str,
        *,
        reads: bool,
        appends: bool,
    ) -> None:
        self._ask = ask
        self.file = file
        self._reads = reads
        self.path = path
        self.kind = wasi.file_type(info.mode)
        self.flags = wasi.FD_APPEND if appends else 0

    def _work(self, work: Callable[[], T]) -> T:
        return self._ask(work)  # type: ignore[return-value]

    def read(self, size: int) -> bytes:
        if not self._reads:
            raise os_error(errno.EBADF)
        return self._work(lambda: self.file.read(size))

    def write(self, data: bytes) -> None:
        def work() -> None:
            if self.flags & wasi.FD_APPEND and not self.file.append:
                self.file.seek(0, os.SEEK_END)
            self.file.write(data)

        self._work(work)

    def _at(self, offset: int, work: Callable[[], T]) -> T:
        def there() -> T:
            before = self.file.seek(0, os.SEEK_CUR)
            self.file.seek(offset)
            try:
                return work()
            finally:
                self.file.seek(before)

        return self._work(there)

    def read_at(self, size: int, offset: int) -> bytes:
        return self._at(offset, lambda: self.file.read(size))

    def write_at(self, data: bytes, offset: int) -> None:
        self._at(offset, lambda: self.file.write(data))

    def seek(self, offset: int, whence: int) -> int:
        return self._work(lambda: self.file.seek(offset, whence))

    def truncate(self, size: int) -> None:
        self._work(lambda: self.file.truncate(size))

    def stat(self) -> Stat:
        return self._work(self.file.stat)

    def close(self) -> None:
        self._work(self.file.release)


class Directory(Descriptor):
    """A directory. `path` is absolute, and "" for the root, so that names can be appended."""

    kind = wasi.DIRECTORY

    def __init__(self, ask: Ask[object], fs: FileSystem, path: str) -> None:
        self._ask = ask
        self._fs = fs
        self.path = path
        self._entries: list[tuple[str, int]] | None = None

    def stat(self) -> Stat:
        return self._ask(lambda: self._fs.stat(self.path or "/"))  # type: ignore[return-value]

    def _scan(self) -> tuple[list[str], list[int]]:
        return self._ask(lambda: self._fs.scan(self.path or "/"))  # type: ignore[return-value]

    def entries(self, start: int) -> Iterator[tuple[str, int]]:
        """Yield (name, WASI type) from the entry `start` on; listed again from the beginning."""
        if self._entries is None or start == 0:
            names, kinds = self._scan()
            self._entries = [(".", wasi.DIRECTORY), ("..", wasi.DIRECTORY)] + [
                (name, wasi.file_type(kind)) for name, kind in zip(names, kinds, strict=True)
            ]
        yield from self._entries[start:]
