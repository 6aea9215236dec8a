"""The members of a gzip file (RFC 1952), one after the other."""

from __future__ import annotations

import zlib

from agentsandbox.commands._files.compression import CompressionError, inflate, read_gzip_header

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from agentsandbox.commands._files.compression import Source
    from agentsandbox.kernel.budget import Budget

_ZIP = b"PK\3\4"
_DEFLATED = 8


class MemberError(Exception):
    """Data that is wrong: `text` with NAME in the place of the file's name. `warns` when all before
    it is good.
    """

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
    "both": MemberError(
        "\ngzip: NAME: invalid compressed data--crc error\n\ngzip: NAME: invalid compressed data--length error\n"
    ),
    "data": MemberError("\ngzip: NAME: invalid compressed data--format violated\n", ends=True),
}


class Members:
    """Expands a source and knows afterwards what `gzip -l` tells. What it tells of several members
    is of the last one.

    With `copies` what follows the members is given out as it is.
    """

    def __init__(
        self, source: Source, budget: Budget, *, verbose: bool = False, copies: bool = False
    ) -> None:
        self._source = source
        self._copies = copies
        self._budget = budget
        self._verbose = verbose
        self.name = b""
        self.mtime = 0
        self.crc: int | None = None
        self.length = 0
        self.overhead = 0
        """Bytes of the first member's header and trailer, if nothing was looked for behind it."""
        self.trailed = False
        """Whether something else follows the members."""

    def start(self) -> Iterator[bytes]:
        """Read the header; what comes back gives the expanded data. `MemberError` where something
        is wrong.
        """
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
                raise MemberError("gzip: NAME: zip archives are not expanded here: use unzip\n")
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
        if start[:1] != b"\x1f" or start[1:2] not in (b"", b"\x8b"):
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
                raise MemberError(
                    "\ngzip: NAME: decompression OK, trailing garbage ignored\n", warns=True
                )
        if self._verbose and not self._copies:
            raise MemberError(
                "\ngzip: NAME: decompression OK, trailing zero bytes ignored\n", warns=True
            )
