"""A reader or writer of a command, as a file descriptor of what the command runs.

A command may give the commands that it runs any object with `read` and `readline`, or with `write`.
A shell keeps its descriptors, duplicates them and hands them to processes; so it needs a `Stream`,
which counts its holders.
"""

from __future__ import annotations

from agentsandbox.kernel.streams import Stream

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.kernel.streams import ByteReader, ByteWriter

__all__ = ["Borrowed"]


class Borrowed(Stream):
    """A stream that reads from a `reader` and writes to a `writer`, which it does not close."""

    __slots__ = ("_reader", "_writer", "append", "unreadable", "unwritable")

    def __init__(self, *, reader: ByteReader | None = None, writer: ByteWriter | None = None):
        super().__init__()
        self._reader = reader
        self._writer = writer
        self.unreadable = 0 if reader is None else reader.unreadable
        self.unwritable = 0 if writer is None else writer.unwritable
        self.append = writer is not None and writer.append

    def read(self, size: int = -1) -> bytes:
        return super().read(size) if self._reader is None else self._reader.read(size)

    def readline(self, end: bytes = b"\n") -> bytes:
        return super().readline(end) if self._reader is None else self._reader.readline(end)

    def peek(self, size: int) -> bytes:
        return b"" if self._reader is None else self._reader.peek(size)

    def write(self, data: bytes) -> None:
        if self._writer is None:
            super().write(data)
        else:
            self._writer.write(data)
