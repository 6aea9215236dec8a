"""The input of a jq program: JSON values from a stream of bytes, read no further than needed."""

from __future__ import annotations

import codecs

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
"""So many values of the largest size may the values read at once take."""
_OBJECT, _ARRAY, _ITEM = 200, 72, 56
"""Bytes that an object, an array and what follows a comma take, roughly."""
_OFTEN = 511
"""One value less than those between two chances for the event loop."""
_FIRST_TRY = 1 << 22
"""How much of a stream that comes in full blocks is gathered before the first value is looked
for."""


def _weight_of_text(text: str, start: int) -> int:
    """Return how many bytes the values in a JSON text take at most, roughly."""
    count = text.count
    size = _OBJECT * count("{", start) + _ARRAY * count("[", start) + _ITEM * count(",", start)
    return size + len(text) - start


class Inputs:
    """The files of one run as one text. Also tells where in it the program stands."""

    def __init__(self, sources: Iterable[tuple[str | None, ByteReader]], budget: Budget) -> None:
        self.budget = budget
        self._most = _WEIGHT * budget.value_bytes
        self._sources = iter(sources)
        self.hold: Callable[[int], None] = lambda pieces: None
        """Told in pieces of 16 bytes what the values take that are read."""
        self.before_read: Callable[[], None] = lambda: None
        self._reader: ByteReader | None = None
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._text = ""
        self._position = 0
        self._ended = False
        self.tried: str | None = None
        """A file that could not be opened, behind those that were."""
        self._exhausted = False
        self._resumed = -1  # the offset in all text at which it went on after an error
        self._left_out = (
            0,
            0,
        )  # where a file starts, and how many of its ends of lines were left out
        self._is_json = False
        self._lines_before = 0  # lines of the present file that were dropped
        self._last_read = 0
        self._started = False
        self._base_lines = 0
        self._base_column = 0  # bytes of the line that self._text begins in the middle of
        self._files: list[
            tuple[str | None, int]
        ] = []  # name, offset in all text at which it starts
        self._dropped = 0  # characters before self._text
        self._counted = (
            (0, 0),
            0,
            0,
        )  # where lines were counted from, how far, and how many they were

    # reading

    def _read_more(self) -> None:
        """Append the next block; at the end, finish."""
        self.before_read()
        while True:
            if self._reader is None:
                following = next(self._sources, None)
                if following is None:
                    self._text += self._decoder.decode(b"", final=True)
                    self._ended = True
                    return
                self._reader = following[1]
                self.tried = None
                self._files.append((following[0], self._dropped + len(self._text)))
            block = self._reader.read(_BLOCK)
            if not block:
                self._reader = None
                continue
            if self._is_json and b"\0" in block:
                block = self._without_nul(block, self._reader)
            if not self._started:
                self._started = True
                block = block.removeprefix(b"\xef\xbb\xbf")
            self._last_read = len(block)
            text = self._decoder.decode(block)
            self.budget.charge(len(self._text) - self._position + len(text))
            self._text += text
            return

    def _without_nul(self, block: bytes, reader: ByteReader) -> bytes:
        """The block; jq takes the last line of a file, if no newline ends it, for a string of C."""
        line = block.rfind(b"\n") + 1
        if b"\0" in block[line:]:
            while (more := reader.read(_BLOCK)) and b"\n" not in more:
                self.budget.charge(len(block) + len(more))
                block += more
            block = block + more if more else block[: block.index(b"\0", line)]
        return block

    def _fill(self, size: int) -> None:
        """Read until `size` characters wait, the writer hesitates, or the input ends."""
        parts: list[str] = [self._text]
        have = len(self._text) - self._position
        while have < size and not self._ended:
            self.budget.step()
            self._text = ""
            before = self._dropped
            self._dropped += sum(map(len, parts))
            self._read_more()
            self._dropped = before
            parts.append(self._text)
            have += len(self._text)
            self.budget.charge(have)
            if self._last_read < _BLOCK and self._reader is not None and have:
                break
        self._text = "".join(parts)

    def _drop(self) -> None:
        """Forget the text that was taken, but not how many lines it had."""
        if self._position:
            lines = self._text.count("\n", 0, self._position)
            start = self._text.rfind("\n", 0, self._position) + 1
            self._base_lines += lines
            begin = self._current()[1]
            in_file = (
                lines
                if begin <= self._dropped
                else self._text.count(
                    "\n", min(begin - self._dropped, self._position), self._position
                )
            )
            self._lines_before = in_file + (self._lines_before if begin < self._dropped else 0)
            self._base_column = 0 if lines else self._base_column
            self._base_column += len(
                self._text[start : self._position].encode("utf-8", "surrogatepass")
            )
            self._dropped += self._position
            self._text = self._text[self._position :]
            self._position = 0

    def text(self) -> str:
        """All that is left, as one string."""
        while not self._ended:
            self._fill(1 << 62)
        self._exhausted = True
        taken = self._text[self._position :]
        self._position = len(self._text)
        return taken

    def lines(self) -> Iterator[Value]:
        """Each line without its newline."""
        while True:
            end = self._text.find("\n", self._position)
            if end < 0:
                if not self._ended:
                    self._drop()
                    self._fill(len(self._text) + _BLOCK)
                    continue
                if self._position < len(self._text):
                    line = self._text[self._position :]
                    self._position = len(self._text)
                    yield line
                return
            line = self._text[self._position : end]
            self._position = end + 1
            self.budget.step()
            yield line

    def values(self) -> Iterator[Value]:
        """Each JSON value. Raises `JsonError` where the text goes wrong, after the values before;
        to be asked again goes on.
        """
        self._is_json = True
        wanted = _FIRST_TRY
        while True:
            self._fill(wanted)
            if self._begins_large():
                yield from self._large_value()
                continue
            if self._weigh() > self._most:
                raise LimitReached("value_bytes")
            if not is_plain(self._text):
                yield from self._values_slowly()
                self._exhausted = True
                return
            before = self._position
            yield from self._values_at_hand()
            if self._ended:
                if self._position < len(self._text):
                    yield from self._values_slowly()
                self._exhausted = True
                return
            wanted = (
                _FIRST_TRY
                if self._position > before
                else 2 * (len(self._text) - self._position) + _BLOCK
            )
            self._drop()

    def _weigh(self, start: int = 0) -> int:
        """Bytes that the values in the text from `start` on may take at most."""
        text = self._text
        size = len(text) - start
        if size < _BLOCK:
            self.hold(size >> 1)
            return 8 * size
        made = _weight_of_text(text, start)
        self.hold(made >> 4)
        return made

    def _begins_large(self) -> bool:
        """Whether a container comes next that may not end in what was read."""
        self._position = position = skip_blanks(self._text, self._position)
        if len(self._text) - position < _FIRST_TRY or self._text[position] not in "[{":
            return False
        return next_value(self._text[position : position + _BLOCK], 0) is None

    def _large_value(self) -> Iterator[Value]:
        """The array or object that comes next: its text is forgotten piece by piece."""
        assembly = Assembly(self.budget)
        made = self._weigh()
        wanted = _FIRST_TRY
        while True:
            before = self._position
            state, self._position = assembly.take(self._text, before, ended=self._ended)
            if state != MORE:
                break
            have = len(self._text) - self._position
            wanted = 4 * PIECE if self._position > before else 2 * have + PIECE
            self._drop()
            self._fill(wanted)
            made += self._weigh(have)
            if made > self._most:  # brackets in strings count too
                made = weigh(assembly.stack.open, self._most, self.budget)
            if made > self._most:
                raise LimitReached("value_bytes")
        if state == DONE:
            yield assembly.stack.next
        else:
            yield from self._values_slowly(assembly.stack)

    def _values_at_hand(self) -> Iterator[Value]:
        """The values that are complete in what was read."""
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
            if closed and end > _FIRST_TRY:
                self._drop()  # the text of a large value is not needed beside it
                text, size, end = self._text, len(self._text), 0
            yield value
            # mostly a newline follows, and then the next value
            position = end + 1 if text[end : end + 2] in _NEXT_LINE else skip_blanks(text, end)
            self._position = position

    def _values_slowly(self, stack: Stack | None = None) -> Iterator[Value]:
        while not self._ended:
            self._fill(1 << 62)
        start = self._position
        text = self._text
        try:
            for value, end in parse_slowly(
                text, start, self.budget.step, (self._base_lines, self._base_column), stack
            ):
                self._position = end
                yield value
        except JsonError as error:  # jq goes on at the next line, if it is asked to, and does not count what is left of this one
            self._position = end = len(text) if error.end is None else error.end
            newline = text.find("\n", end - 1)
            self._text = text[:end] + (text[newline + 1 :] if newline >= 0 else "")
            self._resumed = self._dropped + end
            start = self._current()[1]
            before = self._left_out[1] if self._left_out[0] == start else 0
            self._left_out = (start, before + (newline >= end))
            raise
        self._position = len(text)

    # where it stands

    def filename(self) -> str | None:
        """The name of the file that the last value came from; None for stdin or before the
        first.
        """
        return self._current()[0]

    def _current(self) -> tuple[str | None, int]:
        here = self._dropped + self._position
        found: tuple[str | None, int] = (None, 0)
        for name, offset in self._files:
            if offset < here or not found[1]:
                found = (name, offset)
        return found

    def line(self) -> int:
        """How many lines of the file jq has taken: it reads whole lines."""
        _name, start = self._current()
        begin = max(start - self._dropped, 0)
        position, text = self._position, self._text
        if self._counted[0] != (begin, self._dropped) or self._counted[1] > position:
            self._counted = ((begin, self._dropped), begin, 0)
        count = self._counted[2] + text.count("\n", self._counted[1], position)
        self._counted = (self._counted[0], position, count)
        if start < self._dropped:
            count += self._lines_before
        if self._left_out[0] == start:
            count += self._left_out[1]
        ended_line = position and (
            text[position - 1] == "\n" or self._dropped + position == self._resumed
        )
        return count if ended_line else count + (text.find("\n", position, position + _BLOCK) >= 0)

    def place(self) -> str:
        """ "file:line" for messages."""
        if self.tried is not None and (self._exhausted or not self._files):
            return f"{self.tried}:0"
        name = self.filename()
        return f"{'<stdin>' if name is None else name}:{self.line()}"
