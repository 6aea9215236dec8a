"""How `fmt` finds paragraphs and chooses line breaks, with GNU's costs."""

from __future__ import annotations

import re
from bisect import bisect_left

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.contract.command import CommandContext

_TAB = 8
_MAX_WORDS = 1000
_MAX_CHARACTERS = 5000
_MAX_COST = 2**63 - 1
_LINE_COST = 70**2
_SENTENCE_BONUS = 50**2
_NO_BREAK_COST = 600**2
_PAREN_BONUS = 40**2
_PUNCTUATION_BONUS = 40**2
_LINE_CREDIT = 3**2
_BLANK_RUNS = re.compile(rb"\t+| +")
_WORD = re.compile(rb"([^\n][^ \t\n\v\f\r]*)([ \t]*)")
_PUNCTUATION = frozenset(b"!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~")
_OPENING = frozenset((b"(", b"[", b"`", b"'", b'"'))
_SENTENCE_ENDS = frozenset((b".", b"?", b"!"))
_PAREN, _STOPPED, _PERIOD, _FINAL = 1, 2, 4, 8
"""What a word may be, as bits: it opens a parenthesis, ends in punctuation, ends like a sentence,
ends a sentence."""
_MOST_KINDS = 4096
_NEAR = 12
"""Breaks that leave a line so much shorter than the goal are looked at only where no better one can
be."""


class _Kinds(dict[bytes, int]):
    """What the first and last characters of words say, worked out once for each word."""

    def __missing__(self, text: bytes) -> int:
        core = text[:1] + text[1:].rstrip(b")]'\"")
        kind = (
            (text[:1] in _OPENING and _PAREN)
            | (text[-1] in _PUNCTUATION and _STOPPED)
            | (core[-1:] in _SENTENCE_ENDS and _PERIOD)
        )
        if len(text) < _TAB:
            if len(self) == _MOST_KINDS:
                self.clear()
            self[text] = kind
        return kind


class Formatter:
    """Reformats files one after the other; the state of `fmt` is kept as GNU keeps it."""

    __slots__ = (
        "at", "breaks", "column", "costs", "ctx", "data", "first_indent", "full_prefix", "goal", "kinds", "last_line_length", "lead",
        "lengths", "next_character", "next_indent", "out", "prefix", "prefix_indent", "size", "spaces", "split_only",
        "tabs", "texts", "uniform", "width", "word_kinds",
    )  # fmt: skip

    def __init__(
        self,
        ctx: CommandContext,
        *,
        width: int,
        goal: int,
        prefix: bytes,
        split_only: bool,
        uniform: bool,
    ) -> None:
        self.ctx = ctx
        self.width = width
        self.goal = goal
        self.split_only = split_only
        self.uniform = uniform
        stripped = prefix.lstrip(b" ")
        self.lead = len(prefix) - len(stripped)
        self.full_prefix = len(stripped)
        self.prefix = stripped.rstrip(b" ")
        self.data = b""
        self.at = self.column = 0
        self.next_character = -1
        self.next_indent = self.prefix_indent = self.first_indent = 0
        self.last_line_length = self.size = 0
        self.tabs = False
        self.kinds = _Kinds()
        self.texts: list[bytes] = []
        """The words of the paragraph; their lengths, the blanks behind them and their kinds are in
        the lists that follow."""
        self.lengths: list[int] = []
        self.spaces: list[int] = []
        self.word_kinds: list[int] = []
        self.breaks: list[int] = []
        """Of a line that begins with a word, the word that the next one begins with."""
        self.costs: list[int] = []
        """What the lines from each word on cost."""
        self.out: list[bytes] = []

    def run(self, data: bytes) -> None:
        """Reformat one file."""
        self.data = data
        self.at = 0
        self.tabs = False
        self.next_character = self._get_prefix()
        while self._get_paragraph():
            self._format()
            self._put_paragraph(len(self.texts))
            self.flush()
        self.flush()

    def flush(self) -> None:
        """Write what was collected."""
        if self.out:
            self.ctx.stdout.write(b"".join(self.out))
            self.out.clear()

    # reading

    def _peek(self) -> int:
        """The byte at the position, -1 at the end."""
        return self.data[self.at] if self.at < len(self.data) else -1

    def _get_space(self) -> int:
        """Skip blanks; the byte that follows them."""
        while (run := _BLANK_RUNS.match(self.data, self.at)) is not None:
            start, end = run.span()
            self.ctx.budget.step()
            if run[0].startswith(b"\t"):
                self.tabs = True
                self.column = (self.column // _TAB + end - start) * _TAB
            else:
                self.column += end - start
            self.at = end
        return self._peek()

    def _get_prefix(self) -> int:
        """Read the indentation and the prefix of a line; the byte that follows."""
        self.column = 0
        byte = self._get_space()
        if not self.prefix:
            self.next_indent = min(self.lead, self.column)
            return byte
        self.next_indent = self.column
        for wanted in self.prefix:
            if byte != wanted:
                return byte
            self.column += 1
            self.at += 1
            byte = self._peek()
        return self._get_space()

    def _get_line(self) -> int:
        """Read the words of a line; the first byte after the indentation of the next one."""
        data = self.data
        end = data.find(b"\n", self.at)
        if end < 0:
            end = len(data)
        while True:
            stop = min(end, self.at + _MAX_CHARACTERS - self.size)
            found: list[tuple[bytes, bytes]] = _WORD.findall(data, self.at, stop)
            if stop < end:
                found = found[:-1]
            found = found[: max(0, _MAX_WORDS - 1 - len(self.texts))]
            self._add_words(found)
            if self.at < end:
                self._add_word()
            if self.at == end:
                return self._end_line(end == len(data))

    def _add_words(self, found: list[tuple[bytes, bytes]]) -> None:
        """Take words, each with the blanks behind it, for which there is room."""
        self.ctx.budget.step(len(found) + 1)
        if not found:
            return
        texts = [text for text, _blanks in found]
        lengths = [*map(len, texts)]
        self.size += sum(lengths)
        blanks = b"".join([blanks for _text, blanks in found])
        self.at += sum(lengths) + len(blanks)
        if b"\t" in blanks:
            spaces = [
                self._width_after(length, blanks)
                for length, (_text, blanks) in zip(lengths, found, strict=True)
            ]
        else:
            spaces = [len(blanks) for _text, blanks in found]
            self.column += sum(lengths) + len(blanks)
        kinds = [*map(self.kinds.__getitem__, texts)]
        if max(spaces) > 1:
            kinds = [
                kind | _FINAL if kind & _PERIOD and space > 1 else kind
                for kind, space in zip(kinds, spaces, strict=True)
            ]
        if self.uniform:
            spaces = [2 if kind & _FINAL else 1 for kind in kinds]
        self.texts += texts
        self.lengths += lengths
        self.spaces += spaces
        self.word_kinds += kinds

    def _width_after(self, length: int, blanks: bytes) -> int:
        """The columns of the blanks behind a word of a length."""
        start = column = self.column + length
        for blank in blanks:
            if blank == 9:
                self.tabs = True
                column = (column // _TAB + 1) * _TAB
            else:
                column += 1
        self.column = column
        return column - start

    def _add_word(self) -> None:
        """Take a word; where there is no room, print lines first."""
        found = _WORD.match(self.data, self.at)
        assert found is not None
        if self.texts and self.size + len(found[1]) > _MAX_CHARACTERS:
            self._flush_paragraph()
        self._add_words([(found[1], found[2])])
        if len(self.texts) >= _MAX_WORDS:
            self._flush_paragraph()

    def _end_line(self, at_end: bool) -> int:
        if at_end or self.word_kinds[-1] & _PERIOD:
            self.word_kinds[-1] |= _FINAL
        self.spaces[-1] = 2 if self.word_kinds[-1] & _FINAL else 1
        self.at += 1
        return self._get_prefix()

    def _same_paragraph(self, byte: int) -> bool:
        return (
            self.next_indent == self.prefix_indent
            and self.column >= self.next_indent + self.full_prefix
            and byte not in (10, -1)
        )

    def _copy_rest(self, byte: int) -> int:
        """Copy a line that is not part of a paragraph; the byte that ended it."""
        column = 0
        if self.column > self.next_indent or byte not in (10, -1):
            column = self._put_space(column, self.next_indent)
            for letter in self.prefix:
                if column == self.column:
                    break
                self.out.append(bytes([letter]))
                column += 1
            if byte not in (10, -1):
                self._put_space(column, self.column - column)
            if byte == -1 and self.column >= self.next_indent + len(self.prefix):
                self.out.append(b"\n")
        end = self.data.find(b"\n", self.at)
        if byte in (10, -1):
            return byte
        if end < 0:
            self.out.append(self.data[self.at :])
            self.at = len(self.data)
            return -1
        self.out.append(self.data[self.at : end])
        self.at = end
        return 10

    def _get_paragraph(self) -> bool:
        """Collect the words of the next paragraph; false at the end of the file."""
        self.last_line_length = 0
        byte = self.next_character
        while (
            byte in (10, -1)
            or self.next_indent < self.lead
            or self.column < self.next_indent + self.full_prefix
        ):
            self.ctx.budget.step()
            byte = self._copy_rest(byte)
            if byte == -1:
                self.next_character = -1
                return False
            self.out.append(b"\n")
            self.at += 1
            byte = self._get_prefix()
        self.prefix_indent = self.next_indent
        self.first_indent = self.column
        self._drop_words(len(self.texts))
        byte = self._get_line()
        while (
            not self.split_only and self._same_paragraph(byte) and self.column == self.first_indent
        ):
            byte = self._get_line()
        self.word_kinds[-1] |= _PERIOD | _FINAL
        self.next_character = byte
        return True

    # breaking lines

    def _base_costs(self) -> list[int]:
        """What it costs to break before each word, whatever the lengths."""
        kinds, lengths = self.word_kinds, self.lengths
        count = len(kinds)
        costs = [_LINE_COST] * (count + 2)
        for at, kind in [found for found in enumerate(kinds) if found[1]]:
            if kind & _PAREN:
                costs[at] -= _PAREN_BONUS
            elif kind & _FINAL:
                costs[at] += 150**2 // (lengths[at] + 2)
            if kind & _PERIOD:
                costs[at + 1] += -_SENTENCE_BONUS if kind & _FINAL else _NO_BREAK_COST
            elif kind & _STOPPED:
                costs[at + 1] -= _PUNCTUATION_BONUS
            if kind & _FINAL and at + 1 < count and not kinds[at + 1] & (_PERIOD | _STOPPED):
                costs[at + 2] += 200**2 // (lengths[at + 1] + 2)
        return costs

    def _format(self) -> None:
        """Find the best breaks, from the last word to the first.

        Every break costs more than nothing: words that fit in the last line stay there.
        """
        count = len(self.texts)
        self.ctx.budget.step(count)
        starts, ends = [0], []
        column = 0
        for length, space in zip(self.lengths, self.spaces, strict=True):
            ends.append(column + length)
            column += length + space
            starts.append(column)
        costs = self._base_costs()
        breaks = [count] * count
        after = [0] * count
        """What the lines after each word cost."""
        choices = [(ends[-1], 0, 0, 0)] * count
        """For each word that ends a line, its end, and of the line after it: its cost, whether its
        length counts (50 or 0), its length."""
        goal, width = self.goal, self.width
        for start in range(count - 1, -1, -1):
            indent = self.first_indent - starts[start]
            stop = bisect_left(ends, width - indent, start + 1, count)
            if start == 0 and self.last_line_length > 0:
                best = self._break_first(choices[:stop], breaks)
            elif stop == count:
                best = 0
            else:
                wanted = goal - indent
                near = bisect_left(ends, wanted - _NEAR, start, stop)
                if near == stop:
                    near = start
                found = [
                    100 * (a := wanted - end) * a + cost + weight * (b := indent + end - length) * b
                    for end, cost, weight, length in choices[near:stop]
                ]
                best = min(found)
                if (
                    near > start
                    and 100 * (wanted - ends[near - 1]) ** 2 + min(after[start:near]) <= best
                ):
                    near = start
                    found = [
                        100 * (a := wanted - end) * a
                        + cost
                        + weight * (b := indent + end - length) * b
                        for end, cost, weight, length in choices[near:stop]
                    ]
                    best = min(found)
                breaks[start] = near + found.index(best) + 1
            if start:
                cost = after[start - 1] = best + costs[start]
                end = breaks[start]
                choices[start - 1] = (
                    ends[start - 1],
                    cost,
                    50 if end < count else 0,
                    indent + ends[end - 1],
                )
            else:
                costs[0] += best
        self.breaks = breaks
        self.costs = [costs[0], *after[:-1]]

    def _break_first(self, choices: list[tuple[int, int, int, int]], breaks: list[int]) -> int:
        """Where the first line ends that is to be as long as the line before it, and what the lines
        cost.
        """
        best, count = _MAX_COST, len(breaks)
        for following, (end, cost, weight, line_length) in enumerate(choices, 1):
            length = self.first_indent + end
            if following == count:
                cost = 0
            else:
                cost += ((self.goal - length) * 10) ** 2 + weight * (length - line_length) ** 2
            cost += ((length - self.last_line_length) * 10) ** 2 // 2
            if cost < best:
                best, breaks[0] = cost, following
        return best

    def _flush_paragraph(self) -> None:
        """There are too many words: print lines up to a good break, and keep the rest."""
        self._format()
        breaks, costs = self.breaks, self.costs
        count = len(breaks)
        split, best = count, _MAX_COST
        at = breaks[0]
        while at != count:
            following = breaks[at]
            cost = costs[at] - (costs[following] if following < count else 0)
            if cost < best:
                split, best = at, cost
            if best <= _MAX_COST - _LINE_CREDIT:
                best += _LINE_CREDIT
            at = following
        self._put_paragraph(split)
        self._drop_words(split)

    def _drop_words(self, count: int) -> None:
        """Forget the first words of the paragraph."""
        for words in (self.texts, self.lengths, self.spaces, self.word_kinds):
            del words[:count]
        self.size = sum(self.lengths)

    # writing

    def _put_space(self, column: int, space: int) -> int:
        """Blanks from a column on, tabs among them if the input had any; the column after them."""
        target = column + space
        if self.tabs:
            tab_target = target // _TAB * _TAB
            if column + 1 < tab_target:
                while column < tab_target:
                    self.out.append(b"\t")
                    column = (column // _TAB + 1) * _TAB
        if column < target:
            self.out.append(b" " * (target - column))
        return target

    def _put_paragraph(self, end: int) -> None:
        at = 0
        while at < end:
            self.ctx.budget.step()
            self._put_line(at, self.breaks[at])
            at = self.breaks[at]

    def _put_line(self, start: int, stop: int) -> None:
        column = self._put_space(0, self.prefix_indent)
        self.out.append(self.prefix)
        column += len(self.prefix)
        column = self._put_space(column, self.first_indent - column)
        texts, spaces = self.texts[start:stop], self.spaces[start : stop - 1]
        if not spaces or max(spaces) == 1 == min(spaces):
            self.out.append(b" ".join(texts))
            column += sum(self.lengths[start:stop]) + len(spaces)
        else:
            for text, space in zip(texts[:-1], spaces, strict=True):
                self.out.append(text)
                column = self._put_space(column + len(text), space)
            self.out.append(texts[-1])
            column += len(texts[-1])
        self.last_line_length = column
        self.out.append(b"\n")
