"""The pages of `pr`: header, body in columns, trailer."""

from __future__ import annotations

import itertools
import re

from agentsandbox.commands._widths import text_width
from agentsandbox.languages.strftime import format_date, longest_width
from agentsandbox.streams import encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from agentsandbox.command import CommandContext
    from agentsandbox.limits import Budget

__all__ = ["Layout", "Pages"]

_RUNS = re.compile(" +|[^ ]+")
_TAB = 8
_PLAIN = frozenset((*range(32, 127), *b"\t\n\f"))
_EXTREMITIES = 10
_PIECE = 1 << 16
_MOST = 1 << 20
"""Characters of a page that wait to be written."""


class Layout:
    """What the options say."""

    def __init__(self) -> None:
        self.columns = 1
        self.places = 0
        """Columns that there would be if all files could be opened; 0 for as many as there are."""
        self.across = self.merged = self.double = self.form_feed = self.bare = self.keeps_form_feeds = False
        self.numbered = self.joined = self.truncated = self.octal = self.carets = False
        self.tabs_in: tuple[str, int] | None = None
        """The character that input has for tabs, and how far apart they are."""
        self.tabs_out: tuple[str, int] | None = None
        """The same for tabs that are written."""
        self.header: str | None = None
        self.length, self.width, self.margin = 66, 72, 0
        self.first_page = 1
        self.last_page: int | None = None
        self.date_format = ""
        self.start = 1
        self.number_separator, self.number_digits = "\t", 5
        self.separator: str | None = None

    @property
    def body(self) -> int:
        """Lines of text in a page."""
        lines = self.length if self.bare else self.length - _EXTREMITIES
        return max(1, lines // 2 if self.double else lines)

    @property
    def number_width(self) -> int:
        """Characters before merged files."""
        if not (self.numbered and self.merged):
            return 0
        return self.number_digits + (_TAB - self.number_digits % _TAB if self.number_separator == "\t" else len(self.number_separator))

    @property
    def column_width(self) -> int:
        """Characters in a column; the numbers of merged files stand before all of them."""
        columns = self.places or self.columns
        return (self.width - self.number_width - len(self.separator or "") * (columns - 1)) // columns


class Pages:
    """Writes the pages of one file, or of several side by side."""

    __slots__ = ("_ended", "ctx", "date", "layout", "number", "page", "title")

    def __init__(self, ctx: CommandContext, layout: Layout, title: str, time: float) -> None:
        self.ctx = ctx
        self.layout = layout
        self.title = title if layout.header is None else layout.header
        ctx.budget.charge(longest_width(layout.date_format) + 64 * len(layout.date_format))
        self.date = format_date(int(time) * 10**9, layout.date_format, ctx.env.get("TZ", ""))
        self.page = 0
        self.number = layout.start
        self._ended = False
        """Whether a form feed was the last that the file had."""

    def write(self, text: str) -> None:
        """One file."""
        layout = self.layout
        text = self._shown(text)
        rows_of_page = layout.body
        size = rows_of_page * layout.columns
        for part, ends, cut in _sections(self.ctx.budget, text):
            for start in range(0, max(len(part), ends), size):
                cells = self._numbered(part[start : start + size])
                rows = self._across(cells) if layout.across else self._down(cells, rows_of_page)
                unfinished = cut or len(cells) % layout.columns or not (layout.across or layout.columns == 1)
                self._page(rows, closed=len(cells) < size and bool(unfinished))
            self._ended = ends
            if ends and (len(part) % size or not part):
                self._keep_form_feed()

    def _keep_form_feed(self) -> None:
        """Write the form feed that ended the page, if those are kept."""
        if self.layout.keeps_form_feeds and self._is_wanted():
            self.ctx.stdout.write(b"\f")

    def merge(self, texts: Sequence[str], *, broken: bool = False) -> None:
        """`-m`: each file has its column; a form feed in one ends the page for all. The next file is `broken`: it ends the first line."""
        files = [_Sections(self.ctx.budget, self._shown(text)) for text in texts]
        body = self.layout.body
        while any(not file.is_done for file in files):
            cuts = [file.is_cut for file in files]
            taken = [file.take(body) for file in files]
            rows = []
            for at in range(max(len(lines) for lines, _ in taken)):
                self.ctx.budget.step(len(taken))
                row = [lines[at] if at < len(lines) else "" for lines, _ in taken]
                rows.append([self._number(), *row] if self.layout.numbered else row)
                if broken:
                    self._break_off(rows[0])
                    return
            last = [cut for lines, cut in zip([lines for lines, _ in taken], cuts, strict=True) if len(lines) == len(rows)]
            self._page(rows, closed=all(file.is_done for file in files) and all(last))
            self._ended = any(ends for _, ends in taken)
            if self._ended:
                self._keep_form_feed()

    def _break_off(self, row: list[str]) -> None:
        """Print the beginning of a row, at the top of a page."""
        self.page += 1
        if self._is_wanted():
            self.ctx.stdout.write(encode(("" if self.layout.bare else self._header()) + self._row(row)))

    def complain_of_range(self) -> None:
        """Say that nothing was printed as there were not so many pages."""
        count = max(self.page + self._ended, 1)
        if count < self.layout.first_page:
            self.ctx.warn(f"starting page number {self.layout.first_page} exceeds page count {count}", self.ctx.status)

    def _shown(self, text: str) -> str:
        """The text with its tabs expanded and what does not print made visible."""
        layout = self.layout
        if layout.octal or layout.carets:
            table = {byte: _visible(byte, carets=layout.carets) for byte in range(256) if byte not in _PLAIN}
            self.ctx.budget.charge(4 * len(text))
            text = encode(text).decode("latin-1")
            parts = []
            for start in range(0, len(text), _PIECE):
                self.ctx.budget.step(_PIECE // 64)
                parts.append(text[start : start + _PIECE].translate(table))
            text = "".join(parts)
        elif "\b" in text:
            self.ctx.budget.step(len(text) // 16)
            tab, width = layout.tabs_in or ("\t", _TAB)
            start = layout.number_digits + 1 if layout.numbered and layout.columns > 1 and not layout.merged else 0
            text = "\n".join([_at_columns(line, tab, width, start) if "\b" in line else line for line in text.split("\n")])
        if layout.tabs_in is not None:
            character, width = layout.tabs_in
            self.ctx.budget.charge(text.count(character) * width + len(text))
            if character == "\t" and "\b" not in text:
                text = text.expandtabs(width)
            else:
                text = "\n".join([_expand_both(line, character, width) for line in text.split("\n")])
        return text

    # the body

    def _number(self) -> str:
        layout = self.layout
        digits = str(self.number)[-layout.number_digits :].rjust(layout.number_digits)
        self.number += 1
        if layout.columns > 1 and layout.number_separator == "\t":
            return digits + " " * (_TAB - layout.number_digits % _TAB)
        return digits + layout.number_separator

    def _numbered(self, lines: list[str]) -> list[str]:
        self.ctx.budget.step(len(lines) // 8 + 1)
        if not self.layout.numbered:
            return lines
        return [self._number() + (_expand(line) if self.layout.columns > 1 else line) for line in lines]

    def _across(self, cells: list[str]) -> list[list[str]]:
        columns = self.layout.columns
        return [cells[at : at + columns] for at in range(0, len(cells), columns)]

    def _down(self, cells: list[str], height: int) -> list[list[str]]:
        """Columns of equal height; on the last page the first ones take one line more."""
        columns = self.layout.columns
        if columns == 1:
            return [[cell] for cell in cells]
        if len(cells) == height * columns:
            heights = [height] * columns
        else:
            short, more = divmod(len(cells), columns)
            heights = [short + (at < more) for at in range(columns)]
        starts = [0, *itertools.accumulate(heights[:-1])]
        rows = []
        for row in range(max(heights)):
            self.ctx.budget.step(columns)
            rows.append([cells[start + row] for start, size in zip(starts, heights, strict=True) if row < size])
        return rows

    def _row(self, cells: list[str]) -> str:
        """The cells of a row at their columns."""
        layout = self.layout
        separator = layout.separator or ""
        if layout.columns == 1:
            text = cells[0] if cells else ""
            if layout.tabs_out is not None:
                line = _Line(layout.margin, layout.tabs_out)
                line.add(text)
                return line.finish(keep=False)
            return " " * layout.margin + (_cut(text, layout.width) if layout.truncated else text)
        if layout.joined:
            prefix = cells[0] if layout.number_width else ""
            return " " * layout.margin + prefix + separator.join(cells[1:] if layout.number_width else cells)
        width = layout.column_width
        base = layout.margin + layout.number_width
        line = _Line(layout.margin, layout.tabs_out or ("\t", _TAB))
        line.separate("")
        if layout.number_width:
            line.add(cells[0])
            cells = cells[1:]
        shown = [_cut(_expand(cell) if separator != "\t" else cell, width) for cell in cells]
        for at, cell in enumerate(shown):
            if at:
                self.ctx.budget.step(len(separator) // 1024 + 1)
                line.fill(base + at * width + (at - 1) * len(separator))
                line.separate(separator)
            line.add(cell)
        return line.finish(keep=layout.merged or (len(shown) > 1 and not shown[-1]))

    # pages

    def _is_wanted(self) -> bool:
        """Whether the page is among those to print."""
        layout = self.layout
        return self.page >= layout.first_page and (layout.last_page is None or self.page <= layout.last_page)

    def _page(self, rows: list[list[str]], *, closed: bool) -> None:
        """Print a page; `closed` when its last row was the last to print, so that -d puts no empty line behind it."""
        layout = self.layout
        self.page += 1
        if not self._is_wanted():
            return
        parts = [] if layout.bare else [self._header()]
        gap = "\n\n" if layout.double else "\n"
        size = 0
        for row in rows:
            text = self._row(row) + gap
            self.ctx.budget.step(len(text) // 256 + 1)
            parts.append(text)
            size += len(text)
            if size > _MOST:
                self.ctx.stdout.write(encode("".join(parts)))
                parts.clear()
                size = 0
        if layout.bare and closed and layout.double and parts:
            parts[-1] = parts[-1][:-1]
        if not layout.bare:
            if layout.form_feed:
                parts.append("\f")
            else:
                used = len(rows) * (2 if layout.double else 1)
                parts.append("\n" * (layout.length - 5 - used))
        self.ctx.stdout.write(encode("".join(parts)))

    def _header(self) -> str:
        layout = self.layout
        page = f"Page {self.page}"
        free = max(0, layout.width - text_width(self.date) - text_width(self.title) - len(page))
        left, right = max(1, free // 2), max(1, free - free // 2)
        margin = " " * layout.margin
        return f"{margin}\n\n{margin}{self.date}{' ' * left}{self.title}{' ' * right}{page}\n\n\n"


def _visible(byte: int, *, carets: bool) -> str:
    if carets and byte < 128:
        return f"^{chr(byte ^ 64)}"
    return f"\\{byte:03o}"


class _Line:
    """A line of several columns: blanks between them become tabs where they can."""

    __slots__ = ("column", "parts", "tab", "wanted", "width")

    def __init__(self, margin: int, tabs: tuple[str, int]) -> None:
        self.tab, self.width = tabs
        self.parts: list[str] = []
        self.column, self.wanted = 0, margin

    def fill(self, column: int) -> None:
        """Go on at a column."""
        self.wanted = max(self.wanted, column)

    def separate(self, separator: str) -> None:
        """What stands between columns: its last blanks do not join those of the next column."""
        self.add(separator)
        self._blanks()

    def add(self, text: str) -> None:
        """Text at the column that is due; its blanks are blanks of the line."""
        for part in _RUNS.findall(text):
            if part[0] == " ":
                self.wanted += len(part)
                continue
            self._blanks()
            self.parts.append(part)
            self.column += _width(part)
            if part[-1] == "\t":
                self.column = (self.column // self.width + 1) * self.width
            self.wanted = self.column

    def _blanks(self) -> None:
        while (stop := (self.column // self.width + 1) * self.width) <= self.wanted and self.wanted - self.column > 1:
            self.parts.append(self.tab)
            self.column = stop
        self.parts.append(" " * (self.wanted - self.column))
        self.column = self.wanted

    def finish(self, *, keep: bool) -> str:
        """The line; blanks at its end are kept when files are merged."""
        if keep:
            self._blanks()
        return "".join(self.parts)


_WIDE = re.compile(r"[ -~]")


def _at_columns(line: str, tab: str, width: int, start: int) -> str:
    """The line without the backspaces that would go back before its beginning."""
    kept: list[str] = []
    column = start
    for character in line:
        if character == "\b":
            if not column:
                continue
            column -= 1
        elif character == tab:
            column += width - column % width
        elif " " <= character <= "~":
            column += 1
        kept.append(character)
    return "".join(kept)


def _width(text: str) -> int:
    """The columns of a text as `pr` counts them: only what is printable ASCII has one, and a backspace takes one back."""
    return len(text) if text.isascii() and text.isprintable() else len(_WIDE.findall(text)) - text.count("\b")


def _expand(text: str, width: int = _TAB) -> str:
    """The text with blanks for its tabs."""
    if text.isascii() and "\b" not in text:
        return text.expandtabs(width)
    parts = text.split("\t")
    return "".join([part + " " * (width - _width(part) % width) for part in parts[:-1]]) + parts[-1]


def _expand_both(line: str, tab: str, width: int) -> str:
    """The line with blanks for a character that stands for tabs, and for tabs themselves."""
    if tab not in line and "\t" not in line:
        return line
    parts: list[str] = []
    column = 0
    for part in re.split(f"([{re.escape(tab)}\t])", line):
        if part in (tab, "\t"):
            size = width if part == tab else _TAB
            part = " " * (size - column % size)
        parts.append(part)
        column += _width(part)
    return "".join(parts)


def _cut(text: str, width: int) -> str:
    """The beginning of a text that fits."""
    if text.isascii() and text.isprintable():
        return text[:width]
    column = 0
    for at, character in enumerate(text):
        if character == "\t":
            column += _TAB - column % _TAB
        elif character == "\b":
            column = max(0, column - 1)
        elif " " <= character <= "~":
            column += 1
        if column > width:
            return text[:at]
    return text


def _split(budget: Budget, text: str) -> list[str]:
    """The lines of a text, cut in pieces."""
    lines: list[str] = []
    start = 0
    while start < len(text):
        stop = text.find("\n", start + _PIECE) + 1 or len(text)
        budget.step(_PIECE // 256)
        part = text[start:stop].split("\n")
        if not part[-1]:
            part.pop()
        lines += part
        start = stop
    return lines


def _sections(budget: Budget, text: str) -> Iterator[tuple[list[str], bool, bool]]:
    """Lines up to each form feed, which ends a page, whether there is one, and whether the last line has no end.

    Nothing after the last form feed is no section.
    """
    *ended, last = text.replace("\f\n", "\f").split("\f")
    for part in ended:
        yield _split(budget, part), True, not part.endswith("\n")
    if last:
        yield _split(budget, last), False, not last.endswith("\n")


class _Sections:
    """The sections of a file, taken a page at a time."""

    def __init__(self, budget: Budget, text: str) -> None:
        self._sections = _sections(budget, text)
        self._lines: list[str] = []
        self._start = 0
        self._ends = self.is_cut = False
        self.is_done = False
        self._go_on()

    def _go_on(self) -> None:
        found = next(self._sections, None)
        self.is_done = found is None
        self._lines, self._ends, self.is_cut = found or ([], False, False)
        self._start = 0

    def take(self, count: int) -> tuple[list[str], bool]:
        """The lines for a page, and whether a form feed cut it short."""
        if self.is_done:
            return [], False
        lines = self._lines[self._start : self._start + count]
        self._start += count
        ends = self._ends
        if self._start < len(self._lines):
            return lines, False
        self._go_on()
        return lines, ends and len(lines) < count
