"""Open files of the tree in memory, without buffers: all holders of a file share one position."""

from __future__ import annotations

import errno
import os

from agentsandbox.kernel.fs.base import File, Stat, os_error, seek_file
from agentsandbox.kernel.streams import OutputError, WriteOnlyError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.kernel.fs import nodes
    from agentsandbox.kernel.fs.ownership import Ledger


class MemoryFile(File):
    """An open file description of a node; it outlives the file's name."""

    __slots__ = ("append", "fs", "node", "offset", "path", "readable", "writable")

    path: str
    seek = seek_file

    def __init__(
        self,
        fs: Ledger,
        node: nodes.File,
        path: str,
        *,
        readable: bool,
        writable: bool,
        append: bool,
    ) -> None:
        self.references = 1
        self.fs = fs
        self.node = node
        self.path = path
        self.readable = readable
        self.writable = writable
        self.append = append
        self.offset = 0
        opened = fs.opened.get(node)
        if opened is None:
            fs.opened[node] = [self]
        else:
            opened.append(self)

    def read(self, size: int = -1) -> bytes:
        if not self.readable:
            raise WriteOnlyError
        node = self.node
        data = node.data
        start = self.offset
        if size < 0:
            if type(data) is not bytes and start < len(data):
                data = node.data = bytes(data)
            chunk = data[start:] if start else data
        else:
            chunk = data[start : start + size]
        self.offset = start + len(chunk)
        return chunk if type(chunk) is bytes else bytes(chunk)

    def readline(self, end: bytes = b"\n") -> bytes:
        if not self.readable:
            raise WriteOnlyError
        data = self.node.data
        start = self.offset
        stop = data.find(end, start) + 1 or max(start, len(data))
        self.offset = stop
        chunk = data[start:stop]
        return chunk if type(chunk) is bytes else bytes(chunk)

    def peek(self, size: int) -> bytes:
        return bytes(self.node.data[self.offset : self.offset + size]) if self.readable else b""

    def write(self, data: bytes) -> None:
        if not self.writable:
            raise OutputError(errno.EBADF, os.strerror(errno.EBADF))
        if not data:
            return
        fs = self.fs
        node = self.node
        if node.owner is not fs.token:
            node = fs.own_open(self)
        if node.mode & 0o6000:
            fs.drop_set_ids(node)
        size = len(node.data)
        start = size if self.append else self.offset
        end = start + len(data)
        if end > size:
            if end > fs.room(size):
                self._write_part(data, start, size)
                return
            fs.used += end - size
        if start == size == 0:
            node.data = bytes(data)
        else:
            buffer = node.data
            if type(buffer) is not bytearray:
                node.data = buffer = bytearray(buffer)
            if start == size:
                buffer += data
            else:
                if start > size:
                    buffer += bytes(start - size)
                buffer[start:end] = data
        self.offset = end
        node.mtime = node.ctime = fs.clock()
        node.atime = None

    def _write_part(self, data: bytes, start: int, size: int) -> None:
        """Write what fits, then raise the error of a full disk."""
        room = self.fs.room(size)
        if room > start:
            self.write(data[: room - start])
        raise self._full(room)

    def _full(self, room: int) -> OSError:
        return os_error(
            errno.EFBIG if room >= self.fs.limits.file_bytes else errno.ENOSPC, self.path
        )

    def truncate(self, size: int) -> None:
        if not self.writable or size < 0:
            raise os_error(errno.EINVAL, self.path)
        fs = self.fs
        node = fs.own_open(self)
        if node.mode & 0o6000:
            fs.drop_set_ids(node)
        old = len(node.data)
        if size > old:
            room = fs.room(old)
            if size > room:
                raise self._full(room)
            node.data = bytearray(node.data).ljust(size, b"\0") if old else bytes(size)
        elif size < old:
            node.data = bytes(node.data[:size])
        fs.used += size - old
        node.mtime = node.ctime = fs.clock()
        node.atime = None

    def stat(self) -> Stat:
        return self.fs.stat_of(self.node)

    def reopened(self, mode: str) -> MemoryFile:
        writable = mode != "r"
        file = MemoryFile(
            self.fs,
            self.node,
            self.path,
            readable=mode in ("r", "r+"),
            writable=writable,
            append=mode == "a",
        )
        if mode == "w":
            file.truncate(0)
        return file

    def close(self) -> None:
        self.fs.close(self)
