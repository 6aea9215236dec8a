"""Input split into records, and records into fields.

Records end by a character, a regular expression or blank lines. A newline is the usual case: then
`block` returns all the records that were read in one call.
"""

from __future__ import annotations

from agentsandbox.kernel.expressions import lazily
from agentsandbox.kernel.streams import decode, decode_bytewise

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from agentsandbox.commands.awk.patterns import Pattern
    from agentsandbox.kernel.budget import Budget
    from agentsandbox.kernel.streams import ByteReader

READ_BYTES = 4 * 65536
_READ_LITTLE = 16384
"""Bytes that are read at once while an event loop waits."""
_ODD_BLANKS = tuple("\r\v\f\x1c\x1d\x1e\x1f")
_WIDE_BLANKS = tuple(
    "\x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028"
    "\u2029\u202f\u205f\u3000"
)


def is_plain(text: str) -> bool:
    """Whether `str.split` splits a text as awk does: its blanks are space, tab and newline."""
    for blank in _ODD_BLANKS:
        if blank in text:
            return False
    if not text.isascii():
        for blank in _WIDE_BLANKS:
            if blank in text:
                return False
    return True


def split_words(text: str) -> list[str]:
    """Return the fields between runs of spaces, tabs and newlines."""
    if is_plain(text):
        return text.split()
    return [word for word in text.replace("\t", " ").replace("\n", " ").split(" ") if word]


_NO_NEWLINE = lazily("[^\n]")
_BLOCK = 49152
"""Characters of a block of records."""
_RECORDS = 512
"""About how many records a block has if they are short."""


class Separator:
    """How records end: `kind` is "character", "paragraph" or "pattern"."""

    __slots__ = ("character", "kind", "pattern")

    def __init__(self, text: str, compile_pattern: Callable[[str], Pattern]) -> None:
        self.character = text
        self.pattern: Pattern | None = None
        if text == "":
            self.kind = "paragraph"
        elif len(text) == 1:
            self.kind = "character"
        else:
            self.kind = "pattern"
            self.pattern = compile_pattern(text)


class RecordReader:
    """The records of one input. `terminator` is the text that ended the last one: RT."""

    __slots__ = (
        "_block_size", "_budget", "_bytewise", "_carry", "_ended", "_position", "_text",
        "block_text", "source", "terminator",
    )  # fmt: skip

    def __init__(self, source: ByteReader, budget: Budget, *, bytewise: bool = False) -> None:
        self.source = source
        self.terminator = ""
        self.block_text = ""
        """The text of the last `block`."""
        self._budget = budget
        self._bytewise = bytewise
        self._text = ""
        self._position = 0
        self._block_size = _BLOCK // 4
        self._carry = b""
        self._ended = False

    def _fill(self) -> bool:
        """Read more; false at the end of the input."""
        if self._ended:
            return False
        budget = self._budget
        budget.breathe()
        data = self.source.read(READ_BYTES if budget.rest is None else _READ_LITTLE)
        if not data:
            self._ended = True
            data, self._carry = self._carry, b""
        else:
            data = self._carry + data if self._carry else data
            cut = len(data) if self._bytewise else _complete(data)
            data, self._carry = (data, b"") if cut == len(data) else (data[:cut], data[cut:])
        rest = self._text[self._position :]
        self._budget.charge(len(rest))
        self._budget.step(len(data) // 4096 + 1)
        self._text = rest + (decode_bytewise(data) if self._bytewise else decode(data))
        self._position = 0
        return bool(data) or not self._ended

    def block(self, separator: str) -> list[str] | None:
        """Return many records that end by a character; None at the end of the input."""
        while True:
            text, start, size = self._text, self._position, self._block_size
            if len(text) - start <= size:
                last = text.rfind(separator, start)
            else:
                last = text.rfind(separator, start, start + size)
                if last < 0:
                    last = text.find(separator, start + size)
            if last >= 0:
                self.block_text = text = text[start:last]
                records = text.split(separator)
                if not _RECORDS // 2 <= len(records) <= 2 * _RECORDS:
                    self._adapt(records)
                self._position = start + len(self.block_text) + 1
                self.terminator = separator
                return records
            if not self._fill():
                rest = self._text[self._position :]
                self._text, self._position = "", 0
                self.terminator = ""
                self.block_text = rest
                return [rest] if rest else None

    def _adapt(self, records: list[str]) -> None:
        """Choose the size of the next block by the number of records of this one, and shorten it.

        A program may do much with a record, and between two blocks it looks at the clock.
        """
        count = len(records)
        if count < _RECORDS:
            self._block_size = min(2 * self._block_size, _BLOCK)
            return
        self._block_size = max(_RECORDS, self._block_size * _RECORDS // count)
        del records[_RECORDS:]
        self.block_text = self.block_text[: sum(map(len, records)) + _RECORDS - 1]

    def push_back(self, records: list[str], separator: str) -> None:
        """Take back records that were not used: RS has changed."""
        if records:
            self._text = separator.join(records) + self.terminator + self._text[self._position :]
            self._position = 0

    def record(self, separator: Separator) -> str | None:
        """Return the next record; None at the end."""
        if separator.kind == "character":
            return self._by_character(separator.character)
        if separator.kind == "paragraph":
            return self._paragraph()
        assert separator.pattern is not None
        return self._by_pattern(separator.pattern)

    def _by_character(self, character: str) -> str | None:
        while True:
            end = self._text.find(character, self._position)
            if end >= 0:
                return self._take(end, end + 1)
            if not self._fill():
                return self._rest()

    def _take(self, end: int, following: int) -> str:
        record = self._text[self._position : end]
        self.terminator = self._text[end:following]
        self._position = following
        return record

    def _rest(self) -> str | None:
        rest = self._text[self._position :]
        self._text, self._position = "", 0
        self.terminator = ""
        return rest or None

    def _paragraph(self) -> str | None:
        while True:
            found = _NO_NEWLINE.search(self._text, self._position)
            self._position = len(self._text) if found is None else found.start()
            if self._position < len(self._text):
                break
            if not self._fill():
                return None
        while True:
            end = self._text.find("\n\n", self._position)
            following = end + 2
            while end >= 0 and following < len(self._text) and self._text[following] == "\n":
                following += 1
            if end >= 0 and following < len(self._text):
                return self._take(end, following)
            if not self._fill():
                if end >= 0:
                    return self._take(self._text.find("\n\n", self._position), len(self._text))
                rest = self._rest()
                if rest is not None and rest.endswith("\n"):
                    self.terminator = "\n"
                    return rest[:-1]
                return rest

    def _by_pattern(self, pattern: Pattern) -> str | None:
        while True:
            self._budget.step()
            found = pattern.search(self._text, self._position)
            while found is not None and found.end() == found.start():
                found = (
                    pattern.search(self._text, found.end() + 1)
                    if found.end() < len(self._text)
                    else None
                )
            # a match at the very end of what was read might go on
            if found is not None and found.end() < len(self._text):
                return self._take(found.start(), found.end())
            if not self._fill():
                if found is not None:
                    found = pattern.search(self._text, self._position)
                if found is not None and found.end() > found.start():
                    return self._take(found.start(), found.end())
                return self._rest()


def _complete(data: bytes) -> int:
    """Return the number of bytes before a character that is cut off at the end."""
    for back in range(1, min(4, len(data)) + 1):
        byte = data[-back]
        if byte < 0x80:
            break
        if byte >= 0xC0:
            needed = 2 if byte < 0xE0 else 3 if byte < 0xF0 else 4
            return len(data) - back if needed > back else len(data)
    return len(data)
