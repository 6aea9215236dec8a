"""What `gzip` expands: members of its own, the first entry of a zip archive, and what `compress` made."""

from __future__ import annotations

import zlib

from agentsandbox.commands._compression import CompressionError, inflate, read_gzip_header

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from agentsandbox.commands._compression import Source
    from agentsandbox.limits import Budget

__all__ = ["MemberError", "Members"]

_ZIP = b"PK\3\4"
_ZIP_HEADER = 30
_STORED, _DEFLATED = 0, 8
_CLEAR = 256
_FIRST_BITS, _MOST_BITS = 9, 16
_BLOCK = 65536


class MemberError(Exception):
    """Data that is wrong: `text` with NAME in the place of the file's name. `warns` when all before it is good."""

    def __init__(self, text: str, *, warns: bool = False, ends: bool = False) -> None:
        self.text = text
        self.warns = warns
        self.ends = ends
        """Whether no other operand is looked at."""
        super().__init__(text)


_PROBLEMS = {
    "format": MemberError("\ngzip: NAME: not in gzip format\n"),
    "end": MemberError("\ngzip: NAME: unexpected end of file\n", ends=True),
    "check": MemberError("\ngzip: NAME: invalid compressed data--crc error\n"),
    "length": MemberError("\ngzip: NAME: invalid compressed data--length error\n"),
    "both": MemberError("\ngzip: NAME: invalid compressed data--crc error\n\ngzip: NAME: invalid compressed data--length error\n"),
    "data": MemberError("\ngzip: NAME: invalid compressed data--format violated\n", ends=True),
}


class Members:
    """Expands a source and knows afterwards what `gzip -l` tells. What it tells of several members is of the last one.

    With `copies` what follows the members is given out as it is.
    """

    def __init__(self, source: Source, budget: Budget, *, keeps_input: bool = True, verbose: bool = False, copies: bool = False) -> None:
        self._source = source
        self._copies = copies
        self._budget = budget
        self._keeps_input = keeps_input
        self._verbose = verbose
        self.name = b""
        self.mtime = 0
        self.method = "defla"
        self.crc: int | None = None
        self.length = 0
        self.overhead = 0
        """Bytes of the first member's header and trailer, if nothing was looked for behind it."""
        self.trailed = False
        """Whether something else follows the members."""

    def start(self) -> Iterator[bytes]:
        """Read the header; what comes back gives the expanded data. `MemberError` where something is wrong."""
        return self._worded(self._opened())

    def _worded(self, blocks: Iterator[bytes]) -> Iterator[bytes]:
        try:
            yield from blocks
        except CompressionError as error:
            raise _PROBLEMS[error.problem] from None

    def _opened(self) -> Iterator[bytes]:
        start = self._source.peek(4)
        try:
            if start == _ZIP:
                return self._zip(self._zip_header())
            if start[:2] == b"\x1f\x9d":
                self.method = "compr"
                return self._lzw()
            self._first_header()
        except CompressionError as error:
            raise _PROBLEMS[error.problem] from None
        return self._members()

    def _counted(self, blocks: Iterator[bytes]) -> Iterator[bytes]:
        self.length = 0
        crc = 0
        for block in blocks:
            self.length += len(block)
            crc = zlib.crc32(block, crc)
            yield block
        self.crc = crc

    def _lzw(self) -> Iterator[bytes]:
        yield from self._counted(_lzw(self._source, self._budget))
        self.crc = None

    def _first_header(self) -> None:
        begin = self._source.taken
        self._check_header()
        header = read_gzip_header(self._source)
        self.name, self.mtime = header.name, header.mtime
        self.overhead = self._source.taken - begin + 8

    def _members(self) -> Iterator[bytes]:
        source = self._source
        while True:
            yield from self._counted(inflate(source, self._budget))
            following = source.peek(2)
            if not following:
                return
            self.overhead = 0
            if following != b"\x1f\x8b":
                yield from self._rest()
                return
            self._check_header()
            read_gzip_header(source)

    def _check_header(self) -> None:
        start = self._source.peek(4)
        if start[:1] != b"\x1f" or start[1:2] not in (b"", b"\x8b", b"\x9e"):
            if start:
                raise CompressionError("format")
            raise CompressionError("end")
        if len(start) < 4:
            raise CompressionError("end")
        method, flags = start[2], start[3]
        if method != _DEFLATED:
            raise MemberError(f"gzip: NAME: unknown method {method} -- not supported\n")
        if flags & 0x20:
            raise MemberError("gzip: NAME is encrypted -- not supported\n")
        if flags & 0xC0:
            raise MemberError(f"gzip: NAME has flags 0x{flags:x} -- not supported\n")

    def _rest(self) -> Iterator[bytes]:
        """What stands behind the last member: zeros do no harm."""
        self.trailed = True
        while block := self._source.block():
            self._budget.step()
            if self._copies:
                yield block
            elif block.strip(b"\0"):
                raise MemberError("\ngzip: NAME: decompression OK, trailing garbage ignored\n", warns=True)
        if self._verbose and not self._copies:
            raise MemberError("\ngzip: NAME: decompression OK, trailing zero bytes ignored\n", warns=True)

    def _zip_header(self) -> bytes:
        source = self._source
        header = source.take(_ZIP_HEADER)
        skipped = int.from_bytes(header[26:28], "little") + int.from_bytes(header[28:30], "little")
        if len(header) < _ZIP_HEADER or len(source.take(skipped)) < skipped:
            raise MemberError("\ngzip: NAME: not a valid zip file\n")
        flags, method = (int.from_bytes(header[at : at + 2], "little") for at in (6, 8))
        if method not in (_STORED, _DEFLATED):
            raise MemberError("\ngzip: NAME: first entry not deflated or stored -- use unzip\n")
        if flags & 1:
            raise MemberError("\ngzip: NAME: encrypted file -- use unzip\n")
        if method == _STORED:
            self.method = "store"
        return header

    def _zip(self, header: bytes) -> Iterator[bytes]:
        source = self._source
        flags = header[6]
        if self.method == "store":
            yield from self._counted(self._stored(int.from_bytes(header[22:26], "little")))
        else:
            yield from self._counted(inflate(source, self._budget, checked=False))
        crc, length = header[14:18], header[22:26]
        if flags & 8:
            trailer = source.take(16)
            crc, length = trailer[4:8], trailer[12:16]
        problems = ["crc"] * (int.from_bytes(crc, "little") != self.crc)
        problems += ["length"] * (int.from_bytes(length, "little") != self.length)
        self.crc = None
        if problems:
            raise MemberError("".join([f"\ngzip: NAME: invalid compressed data--{problem} error\n" for problem in problems]))
        if source.peek(4) == _ZIP:
            if not self._keeps_input:
                raise MemberError("gzip: NAME has more than one entry -- unchanged\n")
            raise MemberError("gzip: NAME has more than one entry--rest ignored\n", warns=True)

    def _stored(self, size: int) -> Iterator[bytes]:
        while size:
            self._budget.step()
            block = self._source.take(min(size, _BLOCK))
            if not block:
                raise CompressionError("end")
            size -= len(block)
            yield block


def _lzw(source: Source, budget: Budget) -> Iterator[bytes]:
    """Data of `compress`: codes of 9 to 16 bits in groups of eight, cut short where their size changes."""
    flags = source.take(3)[2:]
    if not flags:
        raise CompressionError("end")
    most = flags[0] & 0x1F
    if most > _MOST_BITS:
        raise MemberError(f"\ngzip: NAME: compressed with {most} bits, can only handle {_MOST_BITS} bits\n")
    first_free = _CLEAR + 1 if flags[0] & 0x80 else _CLEAR
    prefixes, suffixes = [0] * first_free, [*range(256), *[0] * (first_free - 256)]
    bits = _FIRST_BITS
    old, last = -1, 0
    found = bytearray()
    while group := source.take(bits):
        budget.step()
        value = int.from_bytes(group, "little")
        size = bits
        for _ in range(len(group) * 8 // size):
            code, value = value & ((1 << size) - 1), value >> size
            if old < 0:
                if code >= _CLEAR:
                    raise MemberError("\ngzip: NAME: corrupt input.\n", ends=True)
                old = last = code
                found.append(code)
                continue
            if code == _CLEAR and first_free > _CLEAR:
                del prefixes[_CLEAR:], suffixes[_CLEAR:]
                bits = _FIRST_BITS
                break
            free = len(prefixes)
            if code > free:
                raise MemberError("\ngzip: NAME: corrupt input.\n", ends=True)
            text = bytearray([last] if code == free else [])
            at = old if code == free else code
            while at >= _CLEAR:
                text.append(suffixes[at])
                at = prefixes[at]
            last = at
            text.append(at)
            budget.step(len(text) >> 6)
            text.reverse()
            found += text
            if free < 1 << most:
                prefixes.append(old)
                suffixes.append(last)
            old = code
            if len(prefixes) > (1 << bits) - 1 and bits < most:
                bits += 1
                break
        if len(found) >= _BLOCK:
            yield bytes(found)
            found.clear()
    yield bytes(found)
