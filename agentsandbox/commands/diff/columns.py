"""Two files side by side."""

from __future__ import annotations

from agentsandbox.commands.diff.formats import Pair, Style
from agentsandbox.kernel.streams import decode, encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.commands.diff.comparison import Change

_GUTTER = 3
"""The columns between both files."""
_TAB = 8


def _width(character: str) -> int:
    """Return the width of a character; an undecodable byte has none."""
    import unicodedata

    if 0xDC80 <= ord(character) < 0xDD00 or unicodedata.combining(character):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


class Columns:
    """The two columns of `diff -y`."""

    def __init__(self, style: Style, *, width: int, suppress_common: bool) -> None:
        self.style = style
        self.suppress_common = suppress_common
        both = _TAB + _GUTTER
        offset = (width >> 1) + (both >> 1) + (width & both & 1)
        offset -= offset % _TAB
        fits = _GUTTER < offset < width
        self.half = min(offset - _GUTTER, width - offset) if fits else 0
        self.second = offset if self.half else width
        style.budget.charge(width * 4)

    def print(self, pair: Pair, changes: list[Change]) -> None:
        """Print all lines; between changed ones there is a mark."""
        old = new = 0
        for change in changes:
            if change.ignored:
                continue
            self.print_common(pair, old, change.old, new, change.new)
            self.print_change(pair, change)
            old, new = change.old + change.deleted, change.new + change.inserted
        self.print_common(pair, old, len(pair.old), new, len(pair.new))

    def print_change(self, pair: Pair, change: Change) -> None:
        """Print the lines of one change."""
        old, new = change.old, change.new
        old_end, new_end = old + change.deleted, new + change.inserted
        while old < old_end and new < new_end:
            self._row(pair.old[old], b"|", pair.new[new])
            old += 1
            new += 1
        for line in pair.new[new:new_end]:
            self._row(None, b">", line)
        for line in pair.old[old:old_end]:
            self._row(line, b"<", None)

    def print_common(self, pair: Pair, old: int, old_end: int, new: int, new_end: int) -> None:
        """Print the lines between two changes."""
        if self.suppress_common:
            return
        while old < old_end and new < new_end:
            self._row(pair.old[old], b" ", pair.new[new])
            old += 1
            new += 1
        for line in pair.new[new:new_end]:
            self._row(None, b")", line)
        for line in pair.old[old:old_end]:
            self._row(line, b"(", None)

    def _row(self, left: bytes | None, mark: bytes, right: bytes | None) -> None:
        self.style.budget.step()
        made = bytearray()
        newline = False
        column = 0
        if left is not None:
            newline = left.endswith(b"\n")
            column = self._half_line(made, left, 0)
        if mark != b" ":
            column = self._move(made, column, (self.half + self.second - 1) // 2) + 1
            if mark == b"|" and right is not None and newline != right.endswith(b"\n"):
                mark = b"/" if newline else b"\\"
            made += mark
        if right is not None:
            newline = newline or right.endswith(b"\n")
            if right[:1] != b"\n":
                column = self._move(made, column, self.second)
                self._half_line(made, right, column)
        self.style.write(bytes(made) + (b"\n" if newline else b""))

    def _move(self, made: bytearray, start: int, end: int) -> int:
        """Write blanks from one column to another: tabs where they fit."""
        at = start
        while (stop := at + _TAB - at % _TAB) <= end:
            made += b"\t"
            at = stop
        made += b" " * max(0, end - at)
        return end

    def _half_line(self, made: bytearray, line: bytes, indent: int) -> int:
        """Write as much of a line as fits into a column; return the column where it ends."""
        limit = self.half
        position = out = 0
        for character in decode(line):
            byte = ord(character)
            if byte == 9:
                width = _TAB - position % _TAB
                if position == out:
                    stop = out + width
                    if stop < limit:
                        out = stop
                        made.append(byte)
                position += width
            elif byte == 13:
                made.append(byte)
                self._move(made, 0, indent)
                position = out = 0
            elif byte == 10:
                return out
            elif byte < 32 or byte == 127:
                if position < limit:
                    made.append(byte)
            else:
                position += 1 if byte < 0x1100 else _width(character)
                if position <= limit:
                    out = position
                    made += encode(character)
        return out
