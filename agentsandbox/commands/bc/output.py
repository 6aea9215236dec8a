"""What bc and dc write to standard output."""

from __future__ import annotations

from agentsandbox.kernel.streams import encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.kernel.streams import ByteWriter

_HELD = 65536
"""The most characters that are held back."""


class Output:
    """A buffer before a stream; call `flush` before you write to another stream."""

    def __init__(self, stream: ByteWriter) -> None:
        self._stream = stream
        self._pieces: list[str] = []
        self._size = 0

    def write(self, text: str) -> None:
        """Add text to the buffer."""
        self._pieces.append(text)
        self._size += len(text)
        if self._size > _HELD:
            self.flush()

    def flush(self) -> None:
        """Write the buffer to the stream."""
        if self._pieces:
            data = encode("".join(self._pieces))
            self._pieces.clear()
            self._size = 0
            self._stream.write(data)
