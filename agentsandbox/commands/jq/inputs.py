"""The input of a jq program: JSON values from streams of bytes, read no further than needed.

All files together are one text, as for jq: the last line of a file goes on in the next one. The
text is read in large parts, and forgotten as far as its values were taken. Line numbers in messages
count the lines of a file that jq has read, which reads whole lines.
"""

from __future__ import annotations

import codecs
import re

from agentsandbox.commands._json.json_text import (
    JsonError,
    Stack,
    is_plain,
    next_value,
    parse_slowly,
    skip_blanks,
)
from agentsandbox.commands.jq.assembly import DONE, MORE, PIECE, Assembly
from agentsandbox.commands.jq.weight import weigh
from agentsandbox.errors import LimitReached

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from agentsandbox.commands._json.values import Value
    from agentsandbox.kernel.budget import Budget
    from agentsandbox.kernel.streams import ByteReader

_BLOCK = 65536
_CLOSED = frozenset((dict, list, str))
_NEXT_LINE = frozenset(("\n{", "\n[", '\n"'))
_WEIGHT = 16
"""How many values of the largest size the values of one text may take."""
_OBJECT, _ARRAY, _ITEM = 200, 72, 56
"""Bytes that an object, an array and what follows a comma take, roughly."""
_OFTEN = 511
"""A mask: every 512 values the event loop gets a turn."""
_PART = 1 << 22
"""Characters of a stream of full blocks that are gathered before the first value is parsed."""
_ALL = 1 << 62


_STRING = re.compile(r'"(?:[^"\\]|\\.)*+"')


def _weight_of(text: str) -> int:
    """Return how many bytes the values of a JSON text take at most, roughly."""
    if len(text) < _BLOCK:
        return 8 * len(text)
    count = text.count
    return len(text) + _OBJECT * count("{") + _ARRAY * count("[") + _ITEM * count(",")


class Inputs:
    """The files of one run as one text, and where in it the program stands."""

    def __init__(self, sources: Iterable[tuple[str | None, ByteReader]], budget: Budget) -> None:
        self.budget = budget
        self.hold: Callable[[int], None] = lambda pieces: None
        """Counts the memory of the values that are read, in pieces of 16 bytes."""
        self.before_read: Callable[[], None] = lambda: None
        self._sources = iter(sources)
        self._reader: ByteReader | None = None
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._text = ""
        self._position = 0
        self._ended = False
        self._dropped = 0
        """Characters before the text."""
        self._lines = 0
        """Lines before the text."""
        self._column = 0
        """Bytes of the line in the middle of which the text begins."""
        self._files: list[tuple[str | None, int, int]] = []
        """The name of each file, and how many characters and lines come before it."""
        self._counted = (0, 0)
        """An offset into the text, and how many lines end before it."""

    # reading

    def _read_block(self) -> bytes:
        """Return the next block of the present file or the next one, b"" at the end of each."""
        self.before_read()
        if self._reader is None:
            following = next(self._sources, None)
            if following is None:
                self._ended = True
                return b""
            name, self._reader = following
            lines = self._lines + self._text.count("\n")
            self._files.append((name, self._dropped + len(self._text), lines))
        block = self._reader.read(_BLOCK)
        if not block:
            self._reader = None
        return block

    def _fill(self, size: int) -> None:
        """Read until `size` characters wait, the writer hesitates, or the input ends."""
        self._drop()
        hesitates = False
        while len(self._text) < size and not self._ended and not (hesitates and self._text):
            blocks: list[bytes] = []
            have = len(self._text)
            reader = self._reader
            while have < size:
                self.budget.step()
                blocks.append(self._read_block())
                have += len(blocks[-1])
                self.budget.charge(have)
                if self._reader is not reader or len(blocks[-1]) < _BLOCK:
                    break
            hesitates = 0 < len(blocks[-1]) < _BLOCK
            data = b"".join(blocks)
            if not self._dropped and not self._text:
                data = data.removeprefix(b"\xef\xbb\xbf")
            self._text += self._decoder.decode(data, final=self._ended)

    def _fill_all(self) -> None:
        self._drop()
        while not self._ended:
            self._fill(_ALL)

    def _drop(self) -> None:
        """Forget the text that was taken."""
        if self._position:
            start = self._text.rfind("\n", 0, self._position) + 1
            self._lines += self._lines_before(self._position)
            self._column = 0 if start else self._column
            self._column += len(self._text[start : self._position].encode("utf-8", "surrogatepass"))
            self._dropped += self._position
            self._text = self._text[self._position :]
            self._position = 0
            self._counted = (0, 0)

    def text(self) -> str:
        """Return all that is left."""
        self._fill_all()
        self._position = len(self._text)
        return self._text

    def lines(self) -> Iterator[Value]:
        """Yield each line without its newline."""
        while True:
            end = self._text.find("\n", self._position)
            if end < 0 and not self._ended:
                self._fill(len(self._text) - self._position + _BLOCK)
                continue
            if end < 0 and self._position == len(self._text):
                return
            line = self._text[self._position : end if end >= 0 else len(self._text)]
            self._position = end + 1 if end >= 0 else len(self._text)
            self.budget.step()
            yield line

    # JSON

    def values(self) -> Iterator[Value]:
        """Yield each JSON value. Raises `JsonError` behind the last one before an error."""
        wanted = _PART
        while True:
            self._fill(wanted)
            if self._begins_large():
                yield from self._large_value()
                continue
            self._weigh()
            if not is_plain(self._text):
                yield from self._values_slowly()
                return
            yield from self._values_at_hand()
            if self._ended:
                if self._position < len(self._text):
                    yield from self._values_slowly()
                return
            left = len(self._text) - self._position
            wanted = _PART if self._position else 2 * left + _BLOCK

    def _begins_large(self) -> bool:
        """Whether a container comes next that may not end in the text."""
        self._position = position = skip_blanks(self._text, self._position)
        if len(self._text) - position < _PART or self._text[position] not in "[{":
            return False
        return next_value(self._text[position : position + _BLOCK], 0) is None

    def _large_value(self) -> Iterator[Value]:
        """Yield the container that comes next; its text is forgotten piece by piece."""
        assembly = Assembly(self.budget)
        most = _WEIGHT * self.budget.value_bytes
        made = _weight_of(self._text)
        self.hold(made >> 4)
        while True:
            before = self._position
            state, self._position = assembly.take(self._text, before, ended=self._ended)
            if state != MORE:
                break
            have = len(self._text) - self._position
            self._fill(4 * PIECE if self._position > before else 2 * have + PIECE)
            added = _weight_of(self._text[have:])
            self.hold(added >> 4)
            made += added
            if made > most:  # brackets in strings count too
                made = weigh(assembly.stack.open, most, self.budget)
            if made > most:
                raise LimitReached("value_bytes")
        if state == DONE:
            yield assembly.stack.next
        else:
            yield from self._values_slowly(assembly.stack)

    def _weigh(self) -> None:
        """Count the memory that the values of the text take at most."""
        most = _WEIGHT * self.budget.value_bytes
        made = _weight_of(self._text)
        if made > most:  # brackets in strings count for nothing
            made = len(self._text) + _weight_of(_STRING.sub("", self._text))
        self.hold(made >> 4)
        if made > most:
            raise LimitReached("value_bytes")

    def _values_at_hand(self) -> Iterator[Value]:
        """Yield the values that are complete in the text."""
        text, size = self._text, len(self._text)
        self._position = position = skip_blanks(text, self._position)
        count = 0
        while position < size:
            count += 1
            if not count & _OFTEN:
                self.budget.breathe()
            found = next_value(text, position)
            if found is None:
                return
            value, end = found
            closed = type(value) in _CLOSED
            if not closed:
                if end < size:
                    end += text[end] in " \t\n\r"
                elif not self._ended:  # a number may go on
                    return
            self._position = end
            if closed and end > _PART:
                self._drop()  # the text of a large value is not needed beside it
                text, size, end = self._text, len(self._text), 0
            yield value
            # mostly a newline follows, and then the next value
            position = end + 1 if text[end : end + 2] in _NEXT_LINE else skip_blanks(text, end)
            self._position = position

    def _values_slowly(self, stack: Stack | None = None) -> Iterator[Value]:
        """Yield the values of all the text that is left, by the parser with jq's messages."""
        self._fill_all()
        before = self._lines, self._column
        try:
            for value, end in parse_slowly(self._text, self.budget.step, before, stack):
                self._position = end
                yield value
        except JsonError as error:  # jq goes on at the next line, if it is asked to
            end = len(self._text) if error.end is None else error.end
            newline = self._text.find("\n", end - 1)
            self._position = newline + 1 if newline >= 0 else len(self._text)
            raise
        self._position = len(self._text)

    # where it stands

    def filename(self) -> str | None:
        """Return the name of the file of the last value, None before the first one."""
        return self._file()[0]

    def _file(self) -> tuple[str | None, int, int]:
        here = self._dropped + self._position
        found: tuple[str | None, int, int] = (None, 0, 0)
        for file in self._files:
            if file[1] < here or not found[1]:
                found = file
        return found

    def _lines_before(self, position: int) -> int:
        start, lines = self._counted if self._counted[0] <= position else (0, 0)
        self._counted = position, lines + self._text.count("\n", start, position)
        return self._counted[1]

    def line(self) -> int:
        """Return how many lines of the file jq has read."""
        position, text = self._position, self._text
        count = self._lines + self._lines_before(position) - self._file()[2]
        at_end_of_line = (
            text[position - 1] == "\n" if position else not self._column and bool(self._lines)
        )
        if at_end_of_line:
            return count
        return count + (text.find("\n", position, position + _BLOCK) >= 0)

    def place(self) -> str:
        """Return "file:line" for messages."""
        return f"{self.filename() or '<stdin>'}:{self.line()}"
