"""How `fmt` finds paragraphs and chooses line breaks, with GNU's costs."""

from __future__ import annotations

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.command import CommandContext

__all__ = ["Formatter"]

_TAB = 8
_TAGGED_INDENT = 3
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


class _Word:
    """A word, and the best way to break the lines from it on."""

    __slots__ = ("best_cost", "final", "length", "line_length", "next_break", "paren", "period", "punctuation", "space", "text")

    def __init__(self, text: bytes, space: int) -> None:
        self.text = text
        self.length = len(text)
        self.space = space
        self.paren = text[:1] in (b"(", b"[", b"`", b"'", b'"')
        self.punctuation = text[-1] in _PUNCTUATION
        core = text[:1] + text[1:].rstrip(b")]'\"")
        self.period = core[-1:] in (b".", b"?", b"!")
        self.final = False
        self.best_cost = self.line_length = self.next_break = 0


def _base_cost(words: list[_Word], at: int) -> int:
    """What it costs to break before a word, whatever the lengths."""
    word = words[at]
    cost = _LINE_COST
    if at > 0:
        before = words[at - 1]
        if before.period:
            cost += -_SENTENCE_BONUS if before.final else _NO_BREAK_COST
        elif before.punctuation:
            cost -= _PUNCTUATION_BONUS
        elif at > 1 and words[at - 2].final:
            cost += 200**2 // (before.length + 2)
    if word.paren:
        cost -= _PAREN_BONUS
    elif word.final:
        cost += 150**2 // (word.length + 2)
    return cost


class Formatter:
    """Reformats files one after the other; the state of `fmt` is kept as GNU keeps it."""

    __slots__ = (
        "at", "column", "ctx", "data", "first_indent", "full_prefix", "goal", "last_line_length", "lead", "next_character",
        "next_indent", "other_indent", "out", "prefix", "prefix_indent", "size", "style", "tabs", "uniform", "width", "words",
    )  # fmt: skip

    def __init__(self, ctx: CommandContext, *, width: int, goal: int, prefix: bytes, style: str, uniform: bool) -> None:
        self.ctx = ctx
        self.width = width
        self.goal = goal
        self.style = style
        self.uniform = uniform
        stripped = prefix.lstrip(b" ")
        self.lead = len(prefix) - len(stripped)
        self.full_prefix = len(stripped)
        self.prefix = stripped.rstrip(b" ")
        self.data = b""
        self.at = self.column = 0
        self.next_character = -1
        self.next_indent = self.prefix_indent = self.first_indent = self.other_indent = 0
        self.last_line_length = self.size = 0
        self.tabs = False
        self.words: list[_Word] = []
        self.out: list[bytes] = []

    def run(self, data: bytes) -> None:
        """Reformat one file."""
        self.data = data
        self.at = 0
        self.tabs = False
        self.other_indent = 0
        self.next_character = self._get_prefix()
        while self._get_paragraph():
            self._format()
            self._put_paragraph(len(self.words))
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
        while True:
            self.ctx.budget.step()
            found = _WORD.match(data, self.at)
            assert found is not None
            text = found[1]
            if self.words and self.size + len(text) > _MAX_CHARACTERS:
                self._set_other_indent(same=True)
                self._flush_paragraph()
            self.column += len(text)
            start = self.column
            self.at = found.end(1)
            self.size += len(text)
            byte = self._get_space()
            word = _Word(text, self.column - start)
            word.final = byte == -1 or (word.period and (byte == 10 or word.space > 1))
            if byte in (10, -1) or self.uniform:
                word.space = 2 if word.final else 1
            self.words.append(word)
            if len(self.words) >= _MAX_WORDS:
                self._set_other_indent(same=True)
                self._flush_paragraph()
            if byte in (10, -1):
                self.at += 1
                return self._get_prefix()

    def _same_paragraph(self, byte: int) -> bool:
        return self.next_indent == self.prefix_indent and self.column >= self.next_indent + self.full_prefix and byte not in (10, -1)

    def _set_other_indent(self, *, same: bool) -> None:
        if self.style == "split-only":
            self.other_indent = self.first_indent
        elif self.style == "crown-margin":
            self.other_indent = self.column if same else self.first_indent
        elif self.style == "tagged-paragraph":
            if same and self.column != self.first_indent:
                self.other_indent = self.column
            elif self.other_indent == self.first_indent:
                self.other_indent = _TAGGED_INDENT if self.first_indent == 0 else 0
        else:
            self.other_indent = self.first_indent

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
        while byte in (10, -1) or self.next_indent < self.lead or self.column < self.next_indent + self.full_prefix:
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
        self.words = []
        self.size = 0
        byte = self._get_line()
        same = self._same_paragraph(byte)
        self._set_other_indent(same=same)
        goes_on = self.style != "split-only"
        if self.style == "tagged-paragraph":
            goes_on = self.column != self.first_indent
        elif self.style == "crown-margin":
            goes_on = True
        while goes_on and self._same_paragraph(byte) and self.column == self.other_indent:
            byte = self._get_line()
        self.words[-1].period = self.words[-1].final = True
        self.next_character = byte
        return True

    # breaking lines

    def _format(self) -> None:
        """Find the best breaks, from the last word to the first."""
        words = self.words
        count = len(words)
        goal, width = self.goal, self.width
        for start in range(count - 1, -1, -1):
            self.ctx.budget.step()
            best = _MAX_COST
            word = words[start]
            length = (self.first_indent if start == 0 else self.other_indent) + word.length
            at = start
            while True:
                at += 1
                cost = 0
                if at < count:
                    following = words[at]
                    cost = ((goal - length) * 10) ** 2 + following.best_cost
                    if following.next_break != count:
                        cost += ((length - following.line_length) * 10) ** 2 // 2
                if start == 0 and self.last_line_length > 0:
                    cost += ((length - self.last_line_length) * 10) ** 2 // 2
                if cost < best:
                    best = cost
                    word.next_break = at
                    word.line_length = length
                if at == count:
                    break
                length += words[at - 1].space + following.length
                if length >= width:
                    break
            word.best_cost = best + _base_cost(words, start)

    def _flush_paragraph(self) -> None:
        """There are too many words: print lines up to a good break, and keep the rest."""
        self._format()
        words = self.words
        count = len(words)
        split, best = count, _MAX_COST
        at = words[0].next_break
        while at != count:
            following = words[at].next_break
            cost = words[at].best_cost - (words[following].best_cost if following < count else 0)
            if cost < best:
                split, best = at, cost
            if best <= _MAX_COST - _LINE_CREDIT:
                best += _LINE_CREDIT
            at = following
        self._put_paragraph(split)
        self.words = words[split:]
        self.size = sum([word.length for word in self.words])

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
        at, indent = 0, self.first_indent
        while at < end:
            self._put_line(at, indent)
            at, indent = self.words[at].next_break, self.other_indent

    def _put_line(self, start: int, indent: int) -> None:
        self.ctx.budget.step()
        column = self._put_space(0, self.prefix_indent)
        self.out.append(self.prefix)
        column += len(self.prefix)
        column = self._put_space(column, indent - column)
        last = self.words[start].next_break - 1
        for at in range(start, last + 1):
            word = self.words[at]
            self.out.append(word.text)
            column += word.length
            if at < last:
                column = self._put_space(column, word.space)
        self.last_line_length = column
        self.out.append(b"\n")
