"""gzip, bzip2, xz and zstd streams, block by block.

Compressed data is untrusted: a kilobyte may expand to a gigabyte (a bomb), and a header may ask for
a window of any size. So nothing is expanded at once:

* `decompress` yields blocks of bounded size, whatever the input. zlib, bz2 and lzma take the bound
  as an argument. zstd has none, so it gets only as little input as cannot expand far.
* Every block draws on the budget, so a bomb ends by time or steps, and what writes the blocks ends
  it by size.
* The window that a header declares is charged to the budget before the library allocates it.
* Checks of length and checksum come after the data, so callers that must not keep damaged data
  remove it when `CompressionError` is raised.
"""

from __future__ import annotations

import bz2
import lzma
import zlib

from agentsandbox.errors import CommandError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any, Protocol

    from agentsandbox.kernel.budget import Budget
    from agentsandbox.kernel.streams import ByteReader, ByteWriter

    class Compressor(Protocol):
        """What the three libraries have in common."""

        def compress(self, data: bytes, /) -> bytes: ...

        def flush(self) -> bytes: ...


BLOCK = 262144
_WINDOW = 32768
"""The size of blocks that `gzip` writes: an incomplete block before damaged data is lost."""
ZEROS = bytes(_WINDOW)
"""The window before the data for `gzip` and `unzip`: damaged data may refer to it."""
_MIB = 1024 * 1024
_MEMORY = 128 * _MIB
_HEADERS = 48
"""The bytes of a stream that declare its window."""
_WINDOW_SHARE = 2
"""A window counts for half: most are never filled, and two of the largest must not fit."""
_LZMA2 = 0x21
_TABLES_GROW = 12
"""The highest level of zstd whose tables are small."""
_TABLES = {"window_log": 23, "chain_log": 22, "hash_log": 22}
"""Bounds of the tables of higher levels, as powers of two."""
_MAGIC = {
    "gzip": b"\x1f\x8b",
    "bzip2": b"BZh",
    "xz": b"\xfd7zXZ\0",
    "lzma": b"\x5d\0\0",
    "zstd": b"\x28\xb5\x2f\xfd",
}
RECOVER = (
    "You can use the `bzip2recover' program to attempt to recover\n"
    "data from undamaged sections of corrupted files.\n"
)
CORRUPT = (
    "It is possible that the compressed file(s) have become corrupted.\n"
    f"You can use the -tvv option to test integrity of such files.\n\n{RECOVER}"
)
"""The message of `bzip2` about damaged files, also when `tar` runs it."""


class CompressionError(Exception):
    """Compressed data is damaged. `problem` is format, end (too early), check (sum), length, both
    (check and length), data or garbage (after the end).
    """

    def __init__(self, problem: str) -> None:
        self.problem = problem
        super().__init__(problem)


class Source:
    """A reader with lookahead."""

    def __init__(self, reader: ByteReader) -> None:
        self._reader = reader
        self._held = b""
        self._read = 0

    def peek(self, size: int) -> bytes:
        """Return the next `size` bytes, fewer only at the end, without taking them."""
        while len(self._held) < size:
            block = self._reader.read(65536)
            if not block:
                break
            self._read += len(block)
            self._held += block
        return self._held[:size]

    def take(self, size: int) -> bytes:
        """Take the next `size` bytes, fewer only at the end."""
        taken = self.peek(size)
        self._held = self._held[len(taken) :]
        return taken

    def block(self) -> bytes:
        """Take the next block of any size; b"" only at the end."""
        if self._held:
            block, self._held = self._held, b""
            return block
        block = self._reader.read(65536)
        self._read += len(block)
        return block

    def blocks(self) -> Iterator[bytes]:
        """Yield everything that is left."""
        while block := self.block():
            yield block

    @property
    def taken(self) -> int:
        """The number of bytes taken."""
        return self._read - len(self._held)

    def give_back(self, data: bytes) -> None:
        """Put back bytes that were taken."""
        self._held = data + self._held


class GzipHeader:
    """The header of a gzip member."""

    __slots__ = ("mtime", "name")

    def __init__(self, mtime: int, name: bytes) -> None:
        self.mtime = mtime
        self.name = name


def read_gzip_header(source: Source) -> GzipHeader:
    """Take the header of a gzip member."""
    fixed = source.take(10)
    if not b"\x1f\x8b".startswith(fixed[:2]):
        raise CompressionError("format")
    if len(fixed) < 10:
        raise CompressionError("end")
    flags = fixed[3]
    if fixed[2] != 8 or flags & 0xE0:
        raise CompressionError("format")
    if flags & 4:
        source.take(int.from_bytes(source.take(2), "little"))
    name = _zero_ended(source) if flags & 8 else b""
    if flags & 16:
        _zero_ended(source)
    if flags & 2:
        source.take(2)
    return GzipHeader(int.from_bytes(fixed[4:8], "little"), name)


def _zero_ended(source: Source) -> bytes:
    for size in (256, 4096, 65536):
        found = source.peek(size).find(b"\0")
        if found >= 0:
            return source.take(found + 1)[:-1]
    raise CompressionError("end")


def detect(start: bytes) -> str | None:
    """Return the format of data that begins with `start`, None if it is not known."""
    return next((name for name, magic in _MAGIC.items() if start.startswith(magic)), None)


def _gunzip(source: Source, budget: Budget) -> Iterator[bytes]:
    first = True
    while first or source.peek(1):
        if not first:
            start = source.peek(2)
            if start != _MAGIC["gzip"]:
                while block := source.block():
                    budget.step()
                    if block.strip(b"\0"):
                        raise CompressionError("garbage")
                return
        first = False
        read_gzip_header(source)
        yield from inflate(source, budget)


def inflate(source: Source, budget: Budget, *, checked: bool = True) -> Iterator[bytes]:
    """Yield the data of a deflate stream; if `checked`, gzip's sum and length follow it."""
    inflater = zlib.decompressobj(-15, zdict=ZEROS)
    check = size = 0
    while not inflater.eof:
        pending = inflater.unconsumed_tail or source.block()
        if not pending:
            raise CompressionError("end")
        budget.step(20)
        try:
            data = inflater.decompress(pending, _WINDOW - size % _WINDOW)
        except zlib.error:
            raise CompressionError("data") from None
        if data:
            check = zlib.crc32(data, check)
            size += len(data)
            yield data
    source.give_back(inflater.unused_data)
    if not checked:
        return
    trailer = source.take(8)
    if len(trailer) < 8:
        raise CompressionError("end")
    wrong_check = int.from_bytes(trailer[:4], "little") != check
    wrong_length = int.from_bytes(trailer[4:], "little") != size & 0xFFFFFFFF
    if wrong_check or wrong_length:
        raise CompressionError("length" if not wrong_check else "both" if wrong_length else "check")


def _window_of_xz(start: bytes) -> int:
    """Return the size of the dictionary that an xz or lzma stream declares, 0 if it has none."""
    if start.startswith(_MAGIC["lzma"]):
        return min(int.from_bytes(start[1:5], "little"), _MEMORY)
    block = start[12:]  # after the header of the stream
    if not start.startswith(_MAGIC["xz"]) or len(block) < 2 or not block[0]:
        return 0
    at = 2
    for bit in (0x40, 0x80):  # two optional sizes
        if block[1] & bit:
            at = _end_of_number(block, at)
    for _ in range((block[1] & 3) + 1):
        properties = at + 2
        if properties > len(block):
            return 0
        if block[at] == _LZMA2:
            bits = block[properties] if properties < len(block) else 0
            return min((2 | bits & 1) << (bits // 2 + 11), _MEMORY)
        at = properties + block[at + 1]
    return 0


def _end_of_number(data: bytes, at: int) -> int:
    """Return the end of a number that has seven bits in each byte."""
    while at < len(data) and data[at] & 0x80:
        at += 1
    return at + 1


def _expand(
    source: Source,
    budget: Budget,
    magic: bytes,
    make: Callable[[], lzma.LZMADecompressor | bz2.BZ2Decompressor],
) -> Iterator[bytes]:
    """Yield the data of one or more streams of bzip2 or xz."""
    first = True
    while first or source.peek(1):
        start = source.peek(len(magic))
        if start != magic:
            if not first:
                raise CompressionError("garbage")
            raise CompressionError("format" if start or magic != _MAGIC["bzip2"] else "end")
        first = False
        held = budget.hold(_window_of_xz(source.peek(_HEADERS)) // _WINDOW_SHARE)
        expander = make()
        while not expander.eof:
            block = source.block() if expander.needs_input else b""
            if not block and expander.needs_input:
                raise CompressionError("end")
            budget.step(200)
            try:
                data = expander.decompress(block, BLOCK)
            except (OSError, EOFError, ValueError, lzma.LZMAError):
                raise CompressionError("data") from None
            if data:
                yield data
        del held
        source.give_back(expander.unused_data)
        if magic == _MAGIC["xz"]:
            while source.peek(4) == b"\0\0\0\0":
                source.take(4)
            if source.peek(1) == b"\0":
                raise CompressionError("data")


def decompress(source: Source, format: str, budget: Budget) -> Iterator[bytes]:
    """Yield the data of compressed streams in blocks; raise `CompressionError` if it is damaged."""
    if format == "gzip":
        return _gunzip(source, budget)
    if format == "bzip2":
        return _expand(source, budget, _MAGIC["bzip2"], bz2.BZ2Decompressor)
    if format == "zstd":
        return _unzstd(source, budget)
    if format == "xz":
        return _expand(
            source, budget, _MAGIC["xz"], lambda: lzma.LZMADecompressor(lzma.FORMAT_XZ, _MEMORY)
        )
    return _expand(
        source, budget, _MAGIC["lzma"], lambda: lzma.LZMADecompressor(lzma.FORMAT_ALONE, _MEMORY)
    )


def _unzstd(source: Source, budget: Budget) -> Iterator[bytes]:
    """Yield the data of zstd frames; the input is fed in pieces that shrink as it expands."""
    zstandard = load_zstandard()
    first = True
    while first or source.peek(1):
        if source.peek(4) != _MAGIC["zstd"]:
            raise CompressionError("format" if source.peek(4) else "end")
        first = False
        try:
            window: int = zstandard.get_frame_parameters(source.peek(_HEADERS)).window_size
        except zstandard.ZstdError:
            raise CompressionError("data") from None
        if window > _MEMORY:
            raise CompressionError("data")
        held = budget.hold(window // _WINDOW_SHARE)
        frame = zstandard.ZstdDecompressor(max_window_size=_MEMORY).decompressobj()
        portion = 64
        while not frame.eof:
            pending = source.take(portion)
            if not pending:
                raise CompressionError("end")
            budget.step(10)
            try:
                data: bytes = frame.decompress(pending)
            except zstandard.ZstdError as error:
                raise CompressionError("check" if "checksum" in str(error) else "data") from None
            portion = min(2 * portion, 1024) if len(data) < 1 << 20 else 64
            if data:
                yield data
        del held
        source.give_back(frame.unused_data)


def load_zstandard() -> Any:
    """Return the library for zstd, which the host may have installed as the extra `zstd`."""
    try:
        import zstandard
    except ImportError:
        raise CommandError(
            "zstd is not available in this sandbox: use gzip, bzip2 or xz", 2
        ) from None
    return zstandard


class _GzipCompressor:
    """A deflate stream with the header and the trailer of gzip."""

    def __init__(self, level: int, name: bytes, mtime: int) -> None:
        self._deflater = zlib.compressobj(level, zlib.DEFLATED, -15)
        self._check = self._size = 0
        extra = 2 if level == 9 else 4 if level == 1 else 0
        flags = 8 if name else 0
        self._header = (
            bytes([0x1F, 0x8B, 8, flags])
            + (mtime & 0xFFFFFFFF).to_bytes(4, "little")
            + bytes([extra, 3])
        )
        if name:
            self._header += name + b"\0"

    def compress(self, data: bytes) -> bytes:
        header, self._header = self._header, b""
        self._check = zlib.crc32(data, self._check)
        self._size += len(data)
        return header + self._deflater.compress(data)

    def flush(self) -> bytes:
        size = (self._size & 0xFFFFFFFF).to_bytes(4, "little")
        return self._header + self._deflater.flush() + self._check.to_bytes(4, "little") + size


def _zstd_compressor(level: int, size: int) -> Compressor:
    """Return a compressor of zstd whose tables are at most 60 MiB, not 800."""
    zstandard = load_zstandard()
    settings = zstandard.ZstdCompressionParameters
    bounds = {}
    if level > _TABLES_GROW:
        usual = settings.from_level(level, source_size=max(size, 0))
        bounds = {name: min(getattr(usual, name), most) for name, most in _TABLES.items()}
    parameters = settings.from_level(level, source_size=max(size, 0), write_checksum=True, **bounds)
    made: Compressor = zstandard.ZstdCompressor(compression_params=parameters).compressobj(
        size=size
    )
    return made


def memory_of_compressor(format: str, level: int, size: int = -1) -> int:
    """Return the bytes to charge for a compressor: about a third of its tables when full."""
    if format == "xz":
        return (2 if level < 3 else 30) * _MIB
    most = (2 if level < 6 else 10 if level < 13 else 40) * _MIB
    return min(most, 4 * size + _MIB) if size >= 0 else most


def compressor(
    format: str, level: int | None = None, *, name: bytes = b"", mtime: int = 0, size: int = -1
) -> Compressor:
    """Return a compressing stream. The blocks given to it should not pass `BLOCK`; `name` and
    `mtime` (seconds) are for gzip's header; `size` is that of the data if it is known, for zstd.
    """
    if format == "gzip":
        return _GzipCompressor(6 if level is None else level, name, mtime)
    if format == "bzip2":
        return bz2.BZ2Compressor(level or 9)
    if format == "zstd":
        return _zstd_compressor(level or 3, size)
    container = lzma.FORMAT_XZ if format == "xz" else lzma.FORMAT_ALONE
    preset = 6 if level is None else min(level, 6)  # beyond 6 only the dictionary grows
    return lzma.LZMACompressor(container, preset=preset)


def compress_stream(
    packer: Compressor,
    source: ByteReader,
    target: ByteWriter,
    budget: Budget,
    *,
    block: int,
    steps: int,
) -> tuple[int, int]:
    """Compress all of the source; return the bytes before and after. A `block` costs `steps`."""
    before = after = 0
    for plain in source.blocks(block):
        budget.step(steps)
        before += len(plain)
        data = packer.compress(plain)
        after += len(data)
        target.write(data)
    data = packer.flush()
    after += len(data)
    target.write(data)
    return before, after
