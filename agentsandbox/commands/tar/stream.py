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
    from agentsandbox.contract.command import CommandContext
    from agentsandbox.kernel.streams import ByteReader, ByteWriter

PROGRAM = "program:"
"""Before the command line of -I where a format is expected."""

FORMAT_OF_SUFFIX = {
    ".gz": "gzip",
    ".tgz": "gzip",
    ".taz": "gzip",
    ".bz2": "bzip2",
    ".tbz": "bzip2",
    ".tbz2": "bzip2",
    ".tz2": "bzip2",
    ".xz": "xz",
    ".txz": "xz",
    ".lzma": "lzma",
    ".tlz": "lzma",
    ".zst": "zstd",
    ".tzst": "zstd",
}
_BLOCK = 512
_RECORD = 20 * _BLOCK
_PORTION = 1 << 15
"""Bytes that are compressed at once: xz needs some 10 ms for them."""
FATAL = "Error is not recoverable: exiting now"
_INPUT = "\tInput file = (stdin), output file = (stdout)\n\n"
_ENDED_EARLY = (
    "\nbzip2: Compressed file ends unexpectedly;\n"
    "\tperhaps it is corrupted?  *Possible* reason follows.\n"
    "bzip2: Inappropriate ioctl for device\n" + _INPUT + CORRUPT
)
_DAMAGED = "\nbzip2: Data integrity error when decompressing.\n" + _INPUT + CORRUPT
_GZIP_LENGTH = "\ngzip: stdin: invalid compressed data--length error"
_GZIP_CHECK = "\ngzip: stdin: invalid compressed data--crc error"
_NO_CHECK = "/*stdin*\\ : Decoding error (36) : Restored data doesn't match checksum "
_CHILD_ERRORS = {
    ("gzip", "format"): ("\ngzip: stdin: not in gzip format", 1),
    ("gzip", "end"): ("\ngzip: stdin: unexpected end of file", 1),
    ("gzip", "check"): (_GZIP_CHECK, 1),
    ("gzip", "both"): (f"{_GZIP_CHECK}\n{_GZIP_LENGTH}", 1),
    ("gzip", "length"): (_GZIP_LENGTH, 1),
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
    ("zstd", "check"): (_NO_CHECK, 1),
    ("zstd", "data"): ("/*stdin*\\ : Decoding error (36) : Data corruption detected ", 1),
}


def fatal(message: str) -> CommandError:
    """Return the error that ends `tar` at once."""
    return CommandError(f"{message}\ntar: {FATAL}", 2)


def _is_header(block: bytes) -> bool:
    """Whether the block names its format and has the right checksum."""
    given = block[148:156].strip(b" \0")
    return (
        block[257:262] == b"ustar"
        and given.isdigit()
        and sum(block) - sum(block[148:156]) + 8 * 32
        == int(given.translate(None, b"89") or b"0", 8)
    )


class ArchiveReader:
    """The plain bytes of an archive, and how much of the current member is still unread."""

    def __init__(
        self, ctx: CommandContext, reader: ByteReader, format: str | None, name: str = ""
    ) -> None:
        self._ctx = ctx
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
        """Whether an early end is reported twice, as extraction does."""

    def _more(self) -> bytes:
        """Return the next whole blocks, b"" at the end; an incomplete last block is dropped."""
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
        """Return the next decompressed bytes; report errors, which end `tar` only in `close`."""
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
        """Read the rest; raise `CommandError` if compressed data was damaged."""
        if self._blocks is None:
            return
        while not self._child_status and self._expanded(self._blocks):
            self._ctx.budget.step()
        if self._child_status:
            raise fatal(f"Child returned status {self._child_status}")

    def take(self, size: int) -> bytes:
        """Return the next `size` bytes, fewer only at the end."""
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
        return held[:size]

    def take_content(self, size: int) -> bytes:
        """Return the next `size` bytes; skip the padding after them."""
        data = self.take(size)
        self.take(-size % _BLOCK)
        return data

    def begin_content(self, size: int) -> None:
        """Expect a member's content of `size` bytes."""
        self._content = size
        self._padding = -size % _BLOCK

    def content(self) -> Iterator[bytes]:
        """Yield the rest of the current member's content in blocks."""
        while self._content:
            if not self._held:
                self._held = self._more()
                if not self._held:
                    problem = "Unexpected EOF in archive"
                    if self.patient:
                        problem = f"{problem}\ntar: {problem}"
                    raise fatal(problem)
            block = self._held if len(self._held) <= self._content else self._held[: self._content]
            self._held = self._held[len(block) :]
            self._content -= len(block)
            self.position += len(block)
            yield block

    def skip_rest(self) -> None:
        """Go to the end of the current member."""
        for _ in self.content():
            pass
        if self._padding:
            padding, self._padding = self._padding, 0
            self.take(padding)


class ArchiveWriter:
    """Writes an archive: compresses its bytes and fills the last record."""

    def __init__(self, ctx: CommandContext, target: ByteWriter, format: str | None) -> None:
        self._ctx = ctx
        self._target = target
        self._compressor: Compressor | None = None
        if format is not None:
            own = format.startswith(PROGRAM)
            self._compressor = (
                _Program(ctx, format.removeprefix(PROGRAM)) if own else compressor(format)
            )
        self._held: list[bytes] = []
        self._waiting = 0
        self.size = 0

    def write(self, data: bytes) -> None:
        """Add bytes."""
        self._held.append(data)
        self._waiting += len(data)
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
        if self.size % _RECORD:
            self.write(bytes(-self.size % _RECORD))
        self._flush()
        if self._compressor is not None:
            self._target.write(self._compressor.flush())


class _Program:
    """A compressor that is a command of the sandbox; it runs when all has been written."""

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
    """Return the output of a command for the data; if it fails, `tar` ends."""
    name = (command.split() or [""])[0]
    if find_problem(ctx, name):
        if command.endswith(" -d"):
            reason = "Cannot exec: No such file or directory"
            ctx.stderr.write(encode(f"tar (child): {name}: {reason}\ntar (child): {FATAL}\n"))
            raise fatal("Child returned status 2")
        ctx.stderr.write(encode(f"/bin/sh: 1: {name}: not found\n"))
        raise fatal("Child returned status 127")
    output = Buffer(ctx.budget.value_bytes)
    status = ctx.run(["sh", "-c", command], stdin=BytesReader(data), stdout=output)
    if status:
        raise fatal(f"Child returned status {status}")
    return output.getvalue()


def report_child(ctx: CommandContext, name: str, error: OSError) -> None:
    """Report an archive that cannot be opened as the compressing process would."""
    ctx.stderr.write(
        encode(f"tar (child): {name}: Cannot open: {error.strerror}\ntar (child): {FATAL}\n")
    )


def open_archive(ctx: CommandContext, name: str, *, format: str | None = None) -> ByteReader:
    """Open the archive for reading, stdin for "-". `format` is that of an option, if any."""
    if name == "-":
        if ctx.stdin.unreadable:
            reason = os.strerror(ctx.stdin.unreadable)
            raise fatal(f"-: Cannot read: {reason}\ntar: At beginning of tape, quitting now")
        return ctx.stdin
    try:
        file = ctx.fs.open(posixpath.join(ctx.cwd, name) if name else "", "r")
        if file.unreadable == errno.EISDIR:
            raise file.input_error(name)
        return file
    except OSError as error:
        if format is not None:
            report_child(ctx, name, error)
            raise fatal("Child returned status 2") from None
        if error.errno == errno.EISDIR:
            problem = f"Cannot read: {error.strerror}\ntar: At beginning of tape, quitting now"
        else:
            problem = f"Cannot open: {error.strerror}"
        raise fatal(f"{name}: {problem}") from None
