"""How `fmt` finds paragraphs and chooses line breaks, with GNU's costs.

A paragraph is a run of lines with the same indentation. Its words are broken into lines so that
the sum of the costs of all lines is least, as Knuth and Plass describe it: the further a line is
from the goal width, and the more its length differs from that of the next line, the more it costs;
breaks after sentences and punctuation are cheaper. The last line costs nothing. `_format` computes
the best break for a line that begins with each word, from the last word to the first, so that the
cost of the rest is known.
"""

from __future__ import annotations

import re
from bisect import bisect_left

from agentsandbox.commands._text.lines import split_lines

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
_WORD = re.compile(rb"(.[^ \t\n\v\f\r]*)([ \t]*)", re.DOTALL)
_PUNCTUATION = frozenset(b"!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~")
_OPENING = frozenset((b"(", b"[", b"`", b"'", b'"'))
_SENTENCE_ENDS = frozenset((b".", b"?", b"!"))
_PAREN, _STOPPED, _PERIOD, _FINAL = 1, 2, 4, 8
"""Bits of the kind of a word: it opens a parenthesis, ends in punctuation, ends like a sentence,
ends a sentence."""
_MOST_KINDS = 4096
_AT_ONCE = 256
"""Pieces of lines that are collected before they are written."""
_NEAR = 12
"""Breaks that leave a line this much shorter than the goal are tried only if others are worse."""


class _Kinds(dict[bytes, int]):
    """The kinds of words, computed once for each word."""

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
    """Reformats files one after the other."""

    __slots__ = (
        "breaks", "costs", "ctx", "goal", "indent", "kinds", "last_line_length", "lengths", "out",
        "size", "spaces", "split_only", "tabs", "texts", "width", "word_kinds",
    )  # fmt: skip

    def __init__(self, ctx: CommandContext, *, width: int, split_only: bool) -> None:
        self.ctx = ctx
        self.width = width
        self.goal = width * 187 // 200
        self.split_only = split_only
        self.indent = 0
        """The columns before the first word of each line."""
        self.last_line_length = self.size = 0
        self.tabs = False
        """Whether the file had a tab so far; then tabs are written, too."""
        self.kinds = _Kinds()
        self.texts: list[bytes] = []
        """The words of the paragraph; the next lists hold their lengths, the blanks after them and
        their kinds."""
        self.lengths: list[int] = []
        self.spaces: list[int] = []
        self.word_kinds: list[int] = []
        self.breaks: list[int] = []
        """For a line that begins with a word, the first word of the next line."""
        self.costs: list[int] = []
        """The cost of the lines from each word on."""
        self.out: list[bytes] = []

    def run(self, data: bytes) -> None:
        """Reformat one file."""
        self.tabs = False
        for line in split_lines(data):
            self.ctx.budget.step()
            self._take_line(line)
        self._end_paragraph()
        self.flush()

    # reading

    def _take_line(self, line: bytes) -> None:
        """Add a line to the paragraph, or end the paragraph and copy the line."""
        text = line.lstrip(b" \t")
        indent = self._width(0, line[: len(line) - len(text)])
        if not text:
            self._end_paragraph()
            self.out.append(b"\n")
            return
        if self.split_only or indent != self.indent:
            self._end_paragraph()
        self.indent = indent
        if (
            self.size + len(text) <= _MAX_CHARACTERS
            and len(self.texts) + len(text) // 2 + 1 < _MAX_WORDS
        ):
            self._add_words(indent, _WORD.findall(text))
        else:
            for found in _WORD.finditer(text):
                if self.texts and self.size + len(found[1]) > _MAX_CHARACTERS:
                    self._flush_paragraph()
                indent = self._add_words(indent, [(found[1], found[2])])
                if len(self.texts) >= _MAX_WORDS:
                    self._flush_paragraph()
        if self.word_kinds[-1] & _PERIOD:
            self.word_kinds[-1] |= _FINAL
        self.spaces[-1] = 2 if self.word_kinds[-1] & _FINAL else 1

    def _width(self, column: int, blanks: bytes) -> int:
        """Return how many columns blanks take that begin in a column."""
        if b"\t" not in blanks:
            return len(blanks)
        self.tabs = True
        return len((b"." * (column % _TAB) + blanks).expandtabs(_TAB)) - column % _TAB

    def _add_words(self, column: int, found: list[tuple[bytes, bytes]]) -> int:
        """Add words with the blanks after each, from a column on; return the next column."""
        self.ctx.budget.step(len(found) + 1)
        texts = [text for text, _blanks in found]
        lengths = [*map(len, texts)]
        self.size += sum(lengths)
        if any(b"\t" in blanks for _text, blanks in found):
            spaces = []
            for length, (_text, blanks) in zip(lengths, found, strict=True):
                spaces.append(self._width(column + length, blanks))
                column += length + spaces[-1]
        else:
            spaces = [len(blanks) for _text, blanks in found]
            column += sum(lengths) + sum(spaces)
        kinds = [*map(self.kinds.__getitem__, texts)]
        if max(spaces) > 1:
            kinds = [
                kind | _FINAL if kind & _PERIOD and space > 1 else kind
                for kind, space in zip(kinds, spaces, strict=True)
            ]
        self.texts += texts
        self.lengths += lengths
        self.spaces += spaces
        self.word_kinds += kinds
        return column

    def _end_paragraph(self) -> None:
        """Write the paragraph that was collected."""
        if self.texts:
            self.word_kinds[-1] |= _PERIOD | _FINAL
            self._format()
            self._put_paragraph(len(self.texts))
            self._drop_words(len(self.texts))
        self.last_line_length = 0
        if len(self.out) > _AT_ONCE:
            self.flush()

    def flush(self) -> None:
        """Write what was collected."""
        if self.out:
            self.ctx.stdout.write(b"".join(self.out))
            self.out.clear()

    # breaking lines

    def _base_costs(self) -> list[int]:
        """Return the cost of a break before each word, apart from the lengths of lines."""
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

    def _format(self) -> None:  # long: one loop whose inner sums must not call functions
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
        """The cost of the lines after each word."""
        choices = [(ends[-1], 0, 0, 0)] * count
        """For each last word of a line: its end, then cost, weight (50 or 0) and length of the next
        line."""
        goal, width = self.goal, self.width
        for start in range(count - 1, -1, -1):
            indent = self.indent - starts[start]
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
        """Set the break of a first line, to be as long as the line before; return its cost."""
        best, count = _MAX_COST, len(breaks)
        for following, (end, cost, weight, line_length) in enumerate(choices, 1):
            length = self.indent + end
            if following == count:
                cost = 0
            else:
                cost += ((self.goal - length) * 10) ** 2 + weight * (length - line_length) ** 2
            cost += ((length - self.last_line_length) * 10) ** 2 // 2
            if cost < best:
                best, breaks[0] = cost, following
        return best

    def _flush_paragraph(self) -> None:
        """Print the lines up to a good break, when there are too many words, and keep the rest."""
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
        """Write blanks from a column on, with tabs if the input had any; return the next column."""
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
        column = self._put_space(0, self.indent)
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
