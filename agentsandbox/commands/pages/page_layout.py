"""The pages of `pr`: header, body in columns, trailer."""

from __future__ import annotations

import re

from agentsandbox.commands._text.widths import text_width
from agentsandbox.kernel.formats.strftime import strftime
from agentsandbox.kernel.streams import encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from agentsandbox.contract.command import CommandContext

_RUNS = re.compile(" +|[^ ]+")
_PRINTED = re.compile(r"[ -~]")
_TAB = 8
_EXTREMITIES = 10
"""The lines of a page that header and trailer take."""


class Layout:
    """What the options say."""

    def __init__(self) -> None:
        self.columns = 1
        self.across = self.merged = self.double = self.form_feed = False
        self.bare = self.keeps_form_feeds = self.joined = False
        self.tabs_in: tuple[str, int] | None = None
        """The character that input has for tabs, and how far apart they are."""
        self.tabs_out: tuple[str, int] | None = None
        """The same for tabs that are written."""
        self.header: str | None = None
        self.length, self.width, self.margin = 66, 72, 0
        self.first_page = 1
        self.last_page: int | None = None
        self.numbers = ("", 0)
        """The separator after the number of a line, and its digits; 0 for no numbers."""
        self.separator = " "

    @property
    def body(self) -> int:
        """Lines of text in a page."""
        lines = self.length if self.bare else self.length - _EXTREMITIES
        return max(1, lines // 2 if self.double else lines)

    @property
    def number_width(self) -> int:
        """Characters before merged files."""
        separator, digits = self.numbers
        if not digits or not self.merged:
            return 0
        return digits + (_TAB - digits % _TAB if separator == "\t" else len(separator))

    @property
    def column_width(self) -> int:
        """Return the characters in a column, without the numbers of merged files."""
        free = self.width - self.number_width - len(self.separator) * (self.columns - 1)
        return free // self.columns


class Pages:
    """Writes the pages of one file, or of several side by side."""

    __slots__ = ("ctx", "date", "layout", "number", "page", "title")

    def __init__(self, ctx: CommandContext, layout: Layout, title: str, time: float) -> None:
        self.ctx = ctx
        self.layout = layout
        self.title = title if layout.header is None else layout.header
        self.date = strftime(int(time), "%Y-%m-%d %H:%M", ctx.env.get("TZ", ""))
        self.page = 0
        self.number = 1

    def write(self, text: str) -> None:
        """Write one file."""
        layout = self.layout
        size = layout.body * layout.columns
        ended = False
        for lines, ends, cut in self._sections(text):
            for start in range(0, max(len(lines), ends), size):
                cells = [self._numbered(line) for line in lines[start : start + size]]
                by_rows = layout.across or layout.columns == 1
                rows = self._across(cells) if by_rows else self._down(cells, layout.body)
                short = len(cells) < size
                self._page(
                    rows, closed=short and bool(cut or len(cells) % layout.columns or not by_rows)
                )
            ended = ends
            if ends and (len(lines) % size or not lines):
                self._keep_form_feed()
        self._complain_of_range(ended)

    def merge(self, texts: Sequence[str]) -> None:
        """Write one file in each column; a form feed in one ends the page for all."""
        body = self.layout.body
        files = [self._pieces(text, body) for text in texts]
        ended = False
        while any(taken := [next(file, None) for file in files]):
            found = [piece or ([], False, False) for piece in taken]
            height = max([len(lines) for lines, _, _ in found])
            rows = []
            for at in range(height):
                self.ctx.budget.step(len(found))
                row = [lines[at] if at < len(lines) else "" for lines, _, _ in found]
                rows.append([self._number(), *row] if self.layout.numbers[1] else row)
            cut = all(cut for lines, _, cut in found if len(lines) == height)
            self._page(rows, closed=cut and height < body)
            ended = any(ends for _, ends, _ in found)
            if ended:
                self._keep_form_feed()
        self._complain_of_range(ended)

    def _sections(self, text: str) -> Iterator[tuple[list[str], bool, bool]]:
        """Yield the lines up to each form feed, whether one ends them, whether a line end lacks."""
        if self.layout.tabs_in is not None:
            character, width = self.layout.tabs_in
            self.ctx.budget.charge(text.count(character) * width + len(text))
            text = text.replace("\t", " ") if character != "\t" else text
            text = text.replace(character, "\t").expandtabs(width)
        self.ctx.budget.step(len(text) // 256)
        *ended, last = text.replace("\f\n", "\f").split("\f")
        for part in ended:
            yield part.removesuffix("\n").split("\n") if part else [], True, not part.endswith("\n")
        if last:
            yield last.removesuffix("\n").split("\n"), False, not last.endswith("\n")

    def _pieces(self, text: str, size: int) -> Iterator[tuple[list[str], bool, bool]]:
        """Yield the sections of a file, a page at a time."""
        for lines, ends, cut in self._sections(text):
            for start in range(0, max(len(lines), 1), size):
                piece = lines[start : start + size]
                last = start + size >= len(lines)
                yield piece, ends and last and len(piece) < size, cut and last

    def _keep_form_feed(self) -> None:
        """Write the form feed that ended the page, if those are kept."""
        if self.layout.keeps_form_feeds and self._is_wanted():
            self.ctx.stdout.write(b"\f")

    def _complain_of_range(self, ended: bool) -> None:
        """Report that the first page is past the last one."""
        count = max(self.page + ended, 1)
        first = self.layout.first_page
        if count < first:
            self.ctx.warn(
                f"starting page number {first} exceeds page count {count}", self.ctx.status
            )

    def _number(self) -> str:
        separator, size = self.layout.numbers
        digits = str(self.number)[-size:].rjust(size)
        self.number += 1
        if self.layout.columns > 1 and separator == "\t":
            return digits + " " * (_TAB - size % _TAB)
        return digits + separator

    def _numbered(self, line: str) -> str:
        if not self.layout.numbers[1]:
            return line
        return self._number() + (_expand(line) if self.layout.columns > 1 else line)

    def _across(self, cells: list[str]) -> list[list[str]]:
        columns = self.layout.columns
        return [cells[at : at + columns] for at in range(0, len(cells), columns)]

    def _down(self, cells: list[str], height: int) -> list[list[str]]:
        """Return columns of equal height; on the last page the first ones take one line more."""
        columns = self.layout.columns
        short, more = divmod(len(cells), columns)
        heights = [min(short + (at < more), height) for at in range(columns)]
        starts = [sum(heights[:at]) for at in range(columns)]
        self.ctx.budget.step(columns * columns // 16 + len(cells))
        return [
            [cells[start + row] for start, size in zip(starts, heights, strict=True) if row < size]
            for row in range(max(heights))
        ]

    def _row(self, cells: list[str]) -> str:
        """Return the cells of a row at their columns."""
        layout = self.layout
        separator = layout.separator
        if layout.columns == 1 and layout.tabs_out is None:
            return " " * layout.margin + "".join(cells)
        if layout.joined and layout.columns > 1:
            start = cells.pop(0) if layout.number_width else ""
            return " " * layout.margin + start + separator.join(cells)
        line = _Line(layout.margin, layout.tabs_out or ("\t", _TAB))
        if layout.columns == 1:
            line.add("".join(cells))
            return line.finish(keep=False)
        width = layout.column_width
        line.separate("")
        if layout.number_width:
            line.add(cells.pop(0))
        shown = [_cut(cell if separator == "\t" else _expand(cell), width) for cell in cells]
        for at, cell in enumerate(shown):
            if at:
                self.ctx.budget.step(len(separator) // 1024 + 1)
                base = layout.margin + layout.number_width
                line.fill(base + at * width + (at - 1) * len(separator))
                line.separate(separator)
            line.add(cell)
        return line.finish(keep=layout.merged or (len(shown) > 1 and not shown[-1]))

    def _is_wanted(self) -> bool:
        """Whether the page is among those to print."""
        first, last = self.layout.first_page, self.layout.last_page
        return self.page >= first and (last is None or self.page <= last)

    def _page(self, rows: list[list[str]], *, closed: bool) -> None:
        """Print a page; `closed` when its last row was the last to print.

        -d puts no empty line behind such a row.
        """
        layout = self.layout
        self.page += 1
        if not self._is_wanted():
            return
        parts = [] if layout.bare else [self._header()]
        gap = "\n\n" if layout.double else "\n"
        for row in rows:
            parts.append(self._row(row) + gap)
            self.ctx.budget.step(len(parts[-1]) // 256 + 1)
        if layout.bare and closed and layout.double and parts:
            parts[-1] = parts[-1][:-1]
        if not layout.bare:
            used = len(rows) * (2 if layout.double else 1)
            parts.append("\f" if layout.form_feed else "\n" * (layout.length - 5 - used))
        self.ctx.stdout.write(encode("".join(parts)))

    def _header(self) -> str:
        layout = self.layout
        page = f"Page {self.page}"
        free = max(0, layout.width - text_width(self.date) - text_width(self.title) - len(page))
        left, right = max(1, free // 2), max(1, free - free // 2)
        margin = " " * layout.margin
        text = f"{self.date}{' ' * left}{self.title}{' ' * right}{page}"
        return f"{margin}\n\n{margin}{text}\n\n\n"


class _Line:
    """A line of several columns: blanks between them become tabs where they can."""

    __slots__ = ("column", "parts", "tab", "wanted", "width")

    def __init__(self, margin: int, tabs: tuple[str, int]) -> None:
        self.tab, self.width = tabs
        self.parts: list[str] = []
        self.column, self.wanted = 0, margin

    def fill(self, column: int) -> None:
        """Continue at a column."""
        self.wanted = max(self.wanted, column)

    def separate(self, separator: str) -> None:
        """Add the text between columns, whose last blanks do not join the next column's."""
        self.add(separator)
        self._blanks()

    def add(self, text: str) -> None:
        """Add text at the current column; its blanks may become tabs."""
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
        while self.wanted - self.column > 1:
            stop = (self.column // self.width + 1) * self.width
            if stop > self.wanted:
                break
            self.parts.append(self.tab)
            self.column = stop
        self.parts.append(" " * (self.wanted - self.column))
        self.column = self.wanted

    def finish(self, *, keep: bool) -> str:
        """Return the line, with the blanks at its end if they are to be kept."""
        if keep:
            self._blanks()
        return "".join(self.parts)


def _width(text: str) -> int:
    """Return the columns of a text as `pr` counts them: only printable ASCII has one."""
    return len(_PRINTED.findall(text))


def _expand(text: str) -> str:
    """Return the text with blanks for its tabs."""
    *parts, last = text.split("\t")
    return "".join([part + " " * (_TAB - _width(part) % _TAB) for part in parts]) + last


def _cut(text: str, width: int) -> str:
    """Return the beginning of a text that fits."""
    if text.isascii() and text.isprintable():
        return text[:width]
    column = 0
    for at, character in enumerate(text):
        if character == "\t":
            column += _TAB - column % _TAB
        else:
            column += " " <= character <= "~"
        if column > width:
            return text[:at]
    return text
