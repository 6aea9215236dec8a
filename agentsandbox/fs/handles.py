"""Open files of the tree in memory: no buffer of their own, so all holders of a description share one position."""

from __future__ import annotations

import errno
import os

from agentsandbox.fs.base import File, Stat, os_error

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.fs import nodes
    from agentsandbox.fs.memory import MemoryFileSystem

__all__ = ["MemoryFile"]


class MemoryFile(File):
    """An open file description on a node; it outlives the file's name."""

    __slots__ = ("append", "fs", "node", "offset", "path", "readable", "writable")

    def __init__(
        self,
        fs: MemoryFileSystem,
        node: nodes.File,
        path: str,
        readable: bool,  # noqa: FBT001
        writable: bool,  # noqa: FBT001
        append: bool,  # noqa: FBT001
    ) -> None:
        self.references = 1
        self.fs = fs
        self.node = node
        self.path = path
        self.readable = readable
        self.writable = writable
        self.append = append
        self.offset = 0
        node.handles += 1

    def read(self, size: int = -1) -> bytes:
        if not self.readable:
            raise os_error(errno.EBADF, self.path)
        if self.fs._moved:
            self.fs._follow(self)
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
            raise os_error(errno.EBADF, self.path)
        if self.fs._moved:
            self.fs._follow(self)
        data = self.node.data
        start = self.offset
        stop = data.find(end, start) + 1 or max(start, len(data))
        self.offset = stop
        chunk = data[start:stop]
        return chunk if type(chunk) is bytes else bytes(chunk)

    def write(self, data: bytes) -> None:
        if not self.writable:
            raise os_error(errno.EBADF, self.path)
        if not data:
            return
        fs = self.fs
        node = self.node
        if node.owner is not fs._token:
            node = fs._own_open(self)
        size = len(node.data)
        start = size if self.append else self.offset
        end = start + len(data)
        if end > size:
            room = fs._room(size)
            if end > room:
                self._write_part(data, start, room)
                return
            fs._used += end - size
        if start == size:
            if size:
                buffer = node.data
                if type(buffer) is bytes:
                    node.data = buffer = bytearray(buffer)
                buffer += data
            else:
                node.data = bytes(data)
        else:
            buffer = node.data if type(node.data) is bytearray else bytearray(node.data)
            if start > size:
                buffer += bytes(start - size)
            buffer[start:end] = data
            node.data = buffer
        self.offset = end
        node.mtime = node.ctime = fs.clock()

    def _write_part(self, data: bytes, start: int, room: int) -> None:
        """Write what fits below `room`, then fail as a full disk does."""
        if room > start:
            self.write(data[: room - start])
        raise os_error(errno.EFBIG if room >= self.fs._file_bytes else errno.ENOSPC, self.path)

    def seek(self, offset: int, whence: int = 0) -> int:
        if whence == os.SEEK_CUR:
            offset += self.offset
        elif whence == os.SEEK_END:
            if self.fs._moved:
                self.fs._follow(self)
            offset += len(self.node.data)
        elif whence != os.SEEK_SET:
            raise os_error(errno.EINVAL, self.path)
        if offset < 0:
            raise os_error(errno.EINVAL, self.path)
        self.offset = offset
        return offset

    def truncate(self, size: int) -> None:
        if not self.writable or size < 0:
            raise os_error(errno.EINVAL, self.path)
        node = self.fs._own_open(self)
        old = len(node.data)
        if size > old:
            room = self.fs._room(old)
            if size > room:
                raise os_error(errno.EFBIG if room >= self.fs._file_bytes else errno.ENOSPC, self.path)
            node.data = bytearray(node.data) + bytes(size - old)
        elif size < old:
            node.data = bytes(node.data[:size])
        self.fs._used += size - old
        node.mtime = node.ctime = self.fs.clock()

    def stat(self) -> Stat:
        if self.fs._moved:
            self.fs._follow(self)
        return self.fs._stat_of(self.node)

    def close(self) -> None:
        self.fs._closed(self.node)
