"""The members of a gzip file (RFC 1952), one after the other."""

from __future__ import annotations

from agentsandbox.commands._files.compression import CompressionError, inflate, read_gzip_header

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from agentsandbox.commands._files.compression import Source
    from agentsandbox.kernel.budget import Budget

_ZIP = b"PK\3\4"
_DEFLATED = 8
_TRAILING = "\ngzip: NAME: decompression OK, trailing WHAT ignored\n"


class MemberError(Exception):
    """Compressed data is damaged. `text` is the message, with NAME for the file's name; it is a
    warning (`warns`) if all data before is good.
    """

    def __init__(self, text: str, *, warns: bool = False, ends: bool = False) -> None:
        self.text = text
        self.warns = warns
        self.ends = ends
        """Whether no further operand is read."""
        super().__init__(text)


_PROBLEMS = {
    "format": MemberError("\ngzip: NAME: not in gzip format\n"),
    "end": MemberError("\ngzip: NAME: unexpected end of file\n", ends=True),
    "check": MemberError("\ngzip: NAME: invalid compressed data--crc error\n"),
    "length": MemberError("\ngzip: NAME: invalid compressed data--length error\n"),
    "both": MemberError(
        "\ngzip: NAME: invalid compressed data--crc error\n"
        "\ngzip: NAME: invalid compressed data--length error\n"
    ),
    "data": MemberError("\ngzip: NAME: invalid compressed data--format violated\n", ends=True),
}


class Members:
    """Expands a source, and knows afterwards what `gzip -l` lists: the length of the last member.

    With `copies`, data that follows the members is yielded as it is.
    """

    def __init__(
        self, source: Source, budget: Budget, *, verbose: bool = False, copies: bool = False
    ) -> None:
        self._source = source
        self._copies = copies
        self._budget = budget
        self._verbose = verbose
        self.name = b""
        self.length = 0
        self.overhead = 0
        """The size of header and trailer of a single member, 0 if there are several."""
        self.trailed = False
        """Whether other data follows the members."""

    def start(self) -> Iterator[bytes]:
        """Read the first header and return an iterator of the data. Both raise `MemberError`."""
        begin = self._source.taken
        try:
            if self._source.peek(4) == _ZIP:
                raise MemberError("gzip: NAME: zip archives are not expanded here: use unzip\n")
            self._check_header()
            self.name = read_gzip_header(self._source).name
        except CompressionError as error:
            raise _PROBLEMS[error.problem] from None
        self.overhead = self._source.taken - begin + 8
        return self._worded(self._members())

    def _worded(self, blocks: Iterator[bytes]) -> Iterator[bytes]:
        try:
            yield from blocks
        except CompressionError as error:
            raise _PROBLEMS[error.problem] from None

    def _members(self) -> Iterator[bytes]:
        source = self._source
        while True:
            self.length = 0
            for block in inflate(source, self._budget):
                self.length += len(block)
                yield block
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
            raise CompressionError("format" if start else "end")
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
        """Read what follows the last member; zeros are no garbage."""
        self.trailed = True
        while block := self._source.block():
            self._budget.step()
            if self._copies:
                yield block
            elif block.strip(b"\0"):
                raise MemberError(_TRAILING.replace("WHAT", "garbage"), warns=True)
        if self._verbose and not self._copies:
            raise MemberError(_TRAILING.replace("WHAT", "zero bytes"), warns=True)
