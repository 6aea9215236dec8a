"""The options of a run, and its output.

The output remembers a missing newline at the end of a file, which is added only when something
follows.
"""

from __future__ import annotations

from agentsandbox.kernel.streams import decode, decode_bytewise, encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.kernel.streams import ByteWriter

_FLUSH = 400


class Settings:
    """The options of one run that commands look at."""

    __slots__ = ("bytewise", "decode", "line_length", "null_lines", "quiet", "unbuffered")

    def __init__(
        self,
        *,
        quiet: bool = False,
        null_lines: bool = False,
        unbuffered: bool = False,
        line_length: int = 70,
        bytewise: bool = False,
    ) -> None:
        self.bytewise = bytewise
        self.decode = decode_bytewise if bytewise else decode
        self.quiet = quiet
        self.null_lines = null_lines
        self.unbuffered = unbuffered
        self.line_length = line_length


class Output:
    """Collects lines for a writer. A last line without newline gets one if something follows."""

    __slots__ = ("_chunks", "_missing", "end", "writer")

    def __init__(self, writer: ByteWriter, end: str, beside: Output | None = None) -> None:
        self.writer = writer
        self.end = end
        self._chunks: list[str] = [] if beside is None else beside._chunks
        self._missing = False

    def line(self, text: str, *, complete: bool = True) -> None:
        """Write a line; without its end when it is not `complete`."""
        if self._missing or not complete:
            self.text(text + self.end if complete else text)
            self._missing = not complete
            return
        self._chunks.append(text + self.end)
        if len(self._chunks) > _FLUSH:
            self.flush()

    def text(self, text: str) -> None:
        """Write text as it is, after the newline that may be missing."""
        if self._missing:
            self._missing = False
            self._chunks.append(self.end)
        self._chunks.append(text)
        if len(self._chunks) > _FLUSH:
            self.flush()

    def flush(self) -> None:
        """Hand everything to the writer."""
        if self._chunks:
            data = encode("".join(self._chunks))
            self._chunks.clear()
            self.writer.write(data)
