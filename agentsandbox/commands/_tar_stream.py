"""Archives as streams: read and written block by block, compressed or not."""

from __future__ import annotations

import posixpath

from agentsandbox.commands._compression import CompressionError, Source, compressor, decompress, detect
from agentsandbox.errors import CommandError
from agentsandbox.streams import encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from agentsandbox.command import CommandContext
    from agentsandbox.commands._compression import Compressor
    from agentsandbox.commands._tar_checkpoints import Checkpoints
    from agentsandbox.streams import ByteReader, ByteWriter

__all__ = ["FORMAT_OF_SUFFIX", "ArchiveReader", "ArchiveWriter", "open_archive"]

FORMAT_OF_SUFFIX = {
    ".gz": "gzip", ".tgz": "gzip", ".taz": "gzip", ".bz2": "bzip2", ".tbz": "bzip2", ".tbz2": "bzip2", ".tz2": "bzip2", ".xz": "xz",
    ".txz": "xz", ".lzma": "lzma", ".tlz": "lzma", ".zst": "zstd", ".tzst": "zstd",
}  # fmt: skip
_BLOCK = 512
_FATAL = "Error is not recoverable: exiting now"
_CHILD_ERRORS = {
    ("gzip", "format"): ("\ngzip: stdin: not in gzip format", 1),
    ("gzip", "end"): ("\ngzip: stdin: unexpected end of file", 1),
    ("gzip", "check"): ("\ngzip: stdin: invalid compressed data--crc error", 1),
    ("gzip", "both"): ("\ngzip: stdin: invalid compressed data--crc error\n\ngzip: stdin: invalid compressed data--length error", 1),
    ("gzip", "length"): ("\ngzip: stdin: invalid compressed data--length error", 1),
    ("gzip", "data"): ("\ngzip: stdin: invalid compressed data--format violated", 1),
    ("gzip", "garbage"): ("\ngzip: stdin: decompression OK, trailing garbage ignored", 2),
    ("bzip2", "format"): ("bzip2: (stdin) is not a bzip2 file.", 2),
    ("xz", "format"): ("xz: (stdin): File format not recognized", 1),
    ("xz", "end"): ("xz: (stdin): Unexpected end of input", 1),
    ("xz", "data"): ("xz: (stdin): Compressed data is corrupt", 1),
}


class ArchiveReader:
    """The plain bytes of an archive, and how much of the current member's content is still unread."""

    def __init__(self, ctx: CommandContext, reader: ByteReader, format: str | None, checkpoints: Checkpoints | None = None) -> None:
        self._ctx = ctx
        self._checkpoints = checkpoints
        self._source = Source(reader)
        self._blocks: Iterator[bytes] | None = None
        if format is None:
            start = self._source.peek(_BLOCK)
            found = detect(start)
            format = found if found is not None and start[257:262] != b"ustar" else None
        self.format = format
        if format is not None:
            self._blocks = decompress(self._source, format, ctx.budget)
        self._held = b""
        self._content = 0
        self._padding = 0
        self.position = 0
        self.end = 0
        self.failed = False

    def _more(self) -> bytes:
        """The next block of plain bytes; b"" at the end."""
        self._ctx.budget.step()
        if self._blocks is None:
            return self._source.block()
        try:
            return next(self._blocks, b"")
        except CompressionError as error:
            text, status = _CHILD_ERRORS.get((self.format or "", error.problem), (f"{self.format}: (stdin): {error.problem}", 1))
            if error.problem == "garbage":
                self._ctx.stderr.write(encode(text) + b"\n")
                return b""
            self._ctx.stderr.write(encode(f"{text}\ntar: Child returned status {status}\n"))
            raise CommandError(_FATAL, 2) from None

    def take(self, size: int) -> bytes:
        """The next `size` bytes, fewer only at the end."""
        held = self._held
        if len(held) < size:
            parts = [held]
            total = len(held)
            while total < size and (block := self._more()):
                parts.append(block)
                total += len(block)
            held = b"".join(parts)
        self._held = held[size:]
        self.position += min(size, len(held))
        if self._checkpoints is not None:
            self._checkpoints.reach(self.position)
        return held[:size]

    def take_content(self, size: int) -> bytes:
        """Bytes and the padding after them."""
        data = self.take(size)
        self.take(-size % _BLOCK)
        return data

    def begin_content(self, size: int) -> None:
        """A member's content follows."""
        self._content = size
        self._padding = -size % _BLOCK

    def content(self) -> Iterator[bytes]:
        """The current member's content in blocks."""
        while self._content:
            if not self._held:
                self._held = self._more()
                if not self._held:
                    raise CommandError(f"Unexpected EOF in archive\ntar: {_FATAL}", 2)
            block = self._held if len(self._held) <= self._content else self._held[: self._content]
            self._held = self._held[len(block) :]
            self._content -= len(block)
            self.position += len(block)
            if self._checkpoints is not None:
                self._checkpoints.reach(self.position)
            yield block

    def skip_rest(self) -> None:
        """Go to the end of the current member."""
        for _ in self.content():
            pass
        if self._padding:
            padding, self._padding = self._padding, 0
            self.take(padding)


class ArchiveWriter:
    """Takes the plain bytes of an archive, in records, and compresses them."""

    def __init__(
        self, ctx: CommandContext, target: ByteWriter, format: str | None, record: int = 10240, checkpoints: Checkpoints | None = None
    ) -> None:
        self._ctx = ctx
        self._target = target
        self._compressor: Compressor | None = None if format is None else compressor(format)
        self._record = record
        self._checkpoints = checkpoints
        self._held: list[bytes] = []
        self._waiting = 0
        self.size = 0

    def write(self, data: bytes) -> None:
        """Add bytes."""
        self._held.append(data)
        self._waiting += len(data)
        if self._checkpoints is not None:
            self._checkpoints.reach(self.size)
        self.size += len(data)
        if self._waiting >= 131072:
            self._flush()

    def _flush(self) -> None:
        self._ctx.budget.step()
        data = b"".join(self._held)
        self._held = []
        self._waiting = 0
        self._target.write(self._compressor.compress(data) if self._compressor is not None else data)

    def pad(self, size: int) -> None:
        """Fill the last block of a member of `size` bytes."""
        if size % _BLOCK:
            self.write(bytes(-size % _BLOCK))

    def finish(self) -> None:
        """Two empty blocks, and zeros up to the end of the record."""
        self.write(bytes(2 * _BLOCK))
        if self.size % self._record:
            self.write(bytes(-self.size % self._record))
        if self._checkpoints is not None:
            self._checkpoints.reach(self.size)
        self._flush()
        if self._compressor is not None:
            self._target.write(self._compressor.flush())


def open_archive(ctx: CommandContext, name: str) -> ByteReader:
    """The archive for reading, stdin for "-"."""
    if name == "-":
        return ctx.stdin
    try:
        return ctx.fs.open(posixpath.join(ctx.cwd, name), "r")
    except OSError as error:
        raise CommandError(f"{name}: Cannot open: {error.strerror}\ntar: {_FATAL}", 2) from None
