"""Archives as streams: read and written block by block, compressed or not."""

from __future__ import annotations

import errno
import os
import posixpath

from agentsandbox.commands._files.compression import (
    CORRUPT,
    CompressionError,
    Source,
    compressor,
    decompress,
    detect,
)
from agentsandbox.commands._processes.programs import find_problem
from agentsandbox.errors import CommandError
from agentsandbox.kernel.streams import Buffer, BytesReader, encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from agentsandbox.commands._files.compression import Compressor
    from agentsandbox.commands.tar.checkpoints import Checkpoints
    from agentsandbox.contract.command import CommandContext
    from agentsandbox.kernel.streams import ByteReader, ByteWriter

PROGRAM = "program:"
"""Before the command line of -I where a format is expected."""

FORMAT_OF_SUFFIX = {
    ".gz": "gzip", ".tgz": "gzip", ".taz": "gzip", ".bz2": "bzip2", ".tbz": "bzip2", ".tbz2": "bzip2", ".tz2": "bzip2", ".xz": "xz",
    ".txz": "xz", ".lzma": "lzma", ".tlz": "lzma", ".zst": "zstd", ".tzst": "zstd",
}  # fmt: skip
_BLOCK = 512
_PORTION = 1 << 15
"""Bytes that are compressed at once: xz needs some 10 ms for them."""
_FATAL = "Error is not recoverable: exiting now"
_ENDED_EARLY = (
    "\nbzip2: Compressed file ends unexpectedly;\n\tperhaps it is corrupted?  *Possible* reason follows.\n"
    "bzip2: Inappropriate ioctl for device\n\tInput file = (stdin), output file = (stdout)\n\n"
    + CORRUPT
)
_DAMAGED = (
    "\nbzip2: Data integrity error when decompressing.\n\tInput file = (stdin), output file = (stdout)\n\n"
    + CORRUPT
)
_CHILD_ERRORS = {
    ("gzip", "format"): ("\ngzip: stdin: not in gzip format", 1),
    ("gzip", "end"): ("\ngzip: stdin: unexpected end of file", 1),
    ("gzip", "check"): ("\ngzip: stdin: invalid compressed data--crc error", 1),
    ("gzip", "both"): (
        "\ngzip: stdin: invalid compressed data--crc error\n\ngzip: stdin: invalid compressed data--length error",
        1,
    ),
    ("gzip", "length"): ("\ngzip: stdin: invalid compressed data--length error", 1),
    ("gzip", "data"): ("\ngzip: stdin: invalid compressed data--format violated", 1),
    ("gzip", "garbage"): ("\ngzip: stdin: decompression OK, trailing garbage ignored", 2),
    ("bzip2", "format"): ("bzip2: (stdin) is not a bzip2 file.", 2),
    ("bzip2", "end"): (_ENDED_EARLY, 2),
    ("bzip2", "data"): (_DAMAGED, 2),
    ("bzip2", "garbage"): ("\nbzip2: (stdin): trailing garbage after EOF ignored", 0),
    ("xz", "format"): ("xz: (stdin): File format not recognized", 1),
    ("xz", "end"): ("xz: (stdin): Unexpected end of input", 1),
    ("xz", "data"): ("xz: (stdin): Compressed data is corrupt", 1),
    ("xz", "garbage"): ("xz: (stdin): Unexpected end of input", 1),
    ("lzma", "format"): ("xz: (stdin): File format not recognized", 1),
    ("lzma", "end"): ("xz: (stdin): Unexpected end of input", 1),
    ("lzma", "data"): ("xz: (stdin): Compressed data is corrupt", 1),
    ("zstd", "format"): ("zstd: /*stdin*\\: unknown header ", 1),
    ("zstd", "end"): ("/*stdin*\\ : Read error (39) : premature end ", 1),
    ("zstd", "check"): (
        "/*stdin*\\ : Decoding error (36) : Restored data doesn't match checksum ",
        1,
    ),
    ("zstd", "data"): ("/*stdin*\\ : Decoding error (36) : Data corruption detected ", 1),
}


def _is_header(block: bytes) -> bool:
    """Whether the block names its format, and the sum of its bytes is the one that it tells."""
    told = block[148:156].strip(b" \0")
    return (
        block[257:262] == b"ustar"
        and told.isdigit()
        and sum(block) - sum(block[148:156]) + 8 * 32 == int(told.translate(None, b"89") or b"0", 8)
    )


class ArchiveReader:
    """The plain bytes of an archive, and how much of the current member's content is still
    unread.
    """

    def __init__(
        self,
        ctx: CommandContext,
        reader: ByteReader,
        format: str | None,
        checkpoints: Checkpoints | None = None,
        name: str = "",
    ) -> None:
        self._ctx = ctx
        self._checkpoints = checkpoints
        self._source = Source(reader)
        self._blocks: Iterator[bytes] | None = None
        if format is None:
            start = self._source.peek(_BLOCK)
            found = detect(start)
            format = found if found is not None and start[257:262] != b"ustar" else None
            if found is None and not _is_header(start):
                format = FORMAT_OF_SUFFIX.get(posixpath.splitext(name)[1])
                if format is not None and len(start) < _BLOCK:
                    ctx.warn("This does not look like a tar archive", 2)
        self.format = format
        if format is not None:
            if format.startswith(PROGRAM):
                self._blocks = _run_program(ctx, f"{format.removeprefix(PROGRAM)} -d", self._source)
            else:
                self._blocks = decompress(self._source, format, ctx.budget)
        self._held = b""
        self._odd = b""
        self._child_status = 0
        self._content = 0
        self._padding = 0
        self.position = 0
        self.failed = False
        self.patient = False
        """Whether the end that comes too early is told of twice, as extraction does."""

    def _more(self) -> bytes:
        """The next whole blocks of plain bytes; b"" at the end, where a part of a block is no part
        of the archive.
        """
        while True:
            self._ctx.budget.step()
            found = self._source.block() if self._blocks is None else self._expanded(self._blocks)
            if not self._odd and not len(found) % _BLOCK:
                return found
            if not found:
                self._odd = b""
                return b""
            found = self._odd + found
            whole = len(found) - len(found) % _BLOCK
            self._odd = found[whole:]
            if whole:
                return found[:whole]

    def _expanded(self, blocks: Iterator[bytes]) -> bytes:
        """The next decompressed bytes. What is wrong with them is told at once, and ends `tar` when
        the archive is closed.
        """
        try:
            return next(blocks, b"")
        except CompressionError as error:
            problem = (self.format or "", error.problem)
            text, self._child_status = _CHILD_ERRORS[problem]
            if problem == ("zstd", "end") and not self._source.taken:
                text = "zstd: /*stdin*\\: unexpected end of file "
            self._ctx.stderr.write(encode(f"{text}\n"))
            return b""

    def close(self) -> None:
        """Take what comes after the archive's end; `CommandError` where the compressed data was
        wrong.
        """
        if self._blocks is None:
            return
        while not self._child_status and self._expanded(self._blocks):
            self._ctx.budget.step()
        if self._child_status:
            raise CommandError(f"Child returned status {self._child_status}\ntar: {_FATAL}", 2)

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
                    problem = "Unexpected EOF in archive"
                    if self.patient:
                        problem = f"{problem}\ntar: {problem}"
                    raise CommandError(f"{problem}\ntar: {_FATAL}", 2)
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
        self,
        ctx: CommandContext,
        target: ByteWriter,
        format: str | None,
        record: int = 10240,
        checkpoints: Checkpoints | None = None,
    ) -> None:
        self._ctx = ctx
        self._target = target
        self._compressor: Compressor | None = None
        if format is not None:
            own = format.startswith(PROGRAM)
            self._compressor = (
                _Program(ctx, format.removeprefix(PROGRAM)) if own else compressor(format)
            )
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
        data = b"".join(self._held)
        self._held = []
        self._waiting = 0
        if self._compressor is None:
            self._ctx.budget.step()
            self._target.write(data)
            return
        for at in range(0, len(data), _PORTION):
            self._ctx.budget.step(100)
            self._target.write(self._compressor.compress(data[at : at + _PORTION]))
            self._ctx.budget.breathe()

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


class _Program:
    """A command of the sandbox that compresses: it is run when all has been written."""

    def __init__(self, ctx: CommandContext, command: str) -> None:
        self.ctx = ctx
        self.command = command
        self.parts: list[bytes] = []
        self.size = 0

    def compress(self, data: bytes, /) -> bytes:
        self.size += len(data)
        self.ctx.budget.charge(self.size)
        self.parts.append(data)
        return b""

    def flush(self) -> bytes:
        return _output_of(self.ctx, self.command, b"".join(self.parts))


def _run_program(ctx: CommandContext, command: str, source: Source) -> Iterator[bytes]:
    parts = []
    size = 0
    while block := source.block():
        size += len(block)
        ctx.budget.charge(size)
        parts.append(block)
    yield _output_of(ctx, command, b"".join(parts))


def _output_of(ctx: CommandContext, command: str, data: bytes) -> bytes:
    """What a command makes of the data; it ends `tar` when it fails."""
    name = (command.split() or [""])[0]
    if find_problem(ctx, name):
        if command.endswith(" -d"):
            reason = "Cannot exec: No such file or directory"
            ctx.stderr.write(
                encode(
                    f"tar (child): {name}: {reason}\ntar (child): {_FATAL}\ntar: Child returned status 2\n"
                )
            )
            raise CommandError(_FATAL, 2)
        ctx.stderr.write(encode(f"/bin/sh: 1: {name}: not found\ntar: Child returned status 127\n"))
        raise CommandError(_FATAL, 2)
    output = Buffer(ctx.budget.value_bytes)
    status = ctx.run(["sh", "-c", command], stdin=BytesReader(data), stdout=output)
    if status:
        ctx.stderr.write(encode(f"tar: Child returned status {status}\n"))
        raise CommandError(_FATAL, 2)
    return output.getvalue()


def tell_child(ctx: CommandContext, name: str, error: OSError) -> None:
    """An archive that cannot be opened, in the words of the process that would compress it."""
    ctx.stderr.write(
        encode(f"tar (child): {name}: Cannot open: {error.strerror}\ntar (child): {_FATAL}\n")
    )


def open_archive(ctx: CommandContext, name: str, *, format: str | None = None) -> ByteReader:
    """The archive for reading, stdin for "-"; `format` if an option says that it is compressed."""
    if name == "-":
        if ctx.stdin.unreadable:
            lines = [
                f"-: Cannot read: {os.strerror(ctx.stdin.unreadable)}",
                "At beginning of tape, quitting now",
                _FATAL,
            ]
            if format is None:
                raise CommandError("\ntar: ".join(lines), 2)
            text = _CHILD_ERRORS.get(
                (format, "end"), (f"{format}: (stdin): unexpected end of file", 1)
            )[0]
            ctx.stderr.write(
                encode("".join([f"tar (child): {line}\n" for line in lines]) + f"{text}\n")
            )
            raise CommandError(f"Child returned status 2\ntar: {_FATAL}", 2)
        return ctx.stdin
    try:
        file = ctx.fs.open(posixpath.join(ctx.cwd, name) if name else "", "r")
        if file.unreadable == errno.EISDIR:
            raise file.input_error(name)
        return file
    except OSError as error:
        if error.errno == errno.EISDIR and format is None:
            lines = [
                f"{name}: Cannot read: {error.strerror}",
                "At beginning of tape, quitting now",
                _FATAL,
            ]
            raise CommandError("\ntar: ".join(lines), 2) from None
        if format is not None:
            tell_child(ctx, name, error)
            raise CommandError(f"Child returned status 2\ntar: {_FATAL}", 2) from None
        raise CommandError(f"{name}: Cannot open: {error.strerror}\ntar: {_FATAL}", 2) from None
