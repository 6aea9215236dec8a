"""What bc and dc write to standard output."""

from __future__ import annotations

from agentsandbox.kernel.streams import encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.kernel.streams import ByteWriter

_HELD = 65536
"""Characters held back at most."""


class Output:
    """Text on its way to a stream, written in blocks; `flush` before anything goes to another
    stream.
    """

    def __init__(self, stream: ByteWriter) -> None:
        self._stream = stream
        self._pieces: list[str] = []
        self._size = 0

    def write(self, text: str) -> None:
        """Add to what is held back."""
        self._pieces.append(text)
        self._size += len(text)
        if self._size > _HELD:
            self.flush()

    def flush(self) -> None:
        """Write what is held back."""
        if self._pieces:
            data = encode("".join(self._pieces))
            self._pieces.clear()
            self._size = 0
            self._stream.write(data)
