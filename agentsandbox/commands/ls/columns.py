"""Cells in columns as `ls` lays them out: down (-C), across (-x), in a row (-m)."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from agentsandbox.kernel.budget import Budget

_NARROWEST = 3
"""Columns that the shortest cell takes: one character and two blanks."""


def _indent(start: int, stop: int, tab: int) -> str:
    """White space from one column to another: tabs where a tab stop lies between."""
    parts = []
    while start < stop:
        if tab and stop // tab > (start + 1) // tab:
            parts.append("\t")
            start += tab - start % tab
        else:
            parts.append(" ")
            start += 1
    return "".join(parts)


def _arrange(widths: Sequence[int], line: int, *, by_columns: bool, budget: Budget) -> list[int]:
    """Return the widths of as many columns as fit on a line."""
    count = len(widths)
    most = min(max(1, line // _NARROWEST + (1 if line % _NARROWEST else 0)), count)
    for columns in range(most, 1, -1):
        budget.step(count // 16 + 1)
        rows = -(-count // columns)
        arranged = [_NARROWEST] * columns
        for position, width in enumerate(widths):
            column = position // rows if by_columns else position % columns
            arranged[column] = max(arranged[column], width + (0 if column == columns - 1 else 2))
        if sum(arranged) < line or max(arranged) == _NARROWEST:
            return arranged
    return [max(widths, default=0)]


def lay_out(
    cells: Sequence[str],
    widths: Sequence[int],
    *,
    line: int,
    tab: int,
    by_columns: bool,
    budget: Budget,
) -> Iterator[str]:
    """Return lines without ends; `widths` are those of the cells, `line` 0 puts all on one."""
    if not line:
        yield from separate(cells, widths, " ", line=0)
    if not cells or not line:
        return
    arranged = _arrange(widths, line, by_columns=by_columns, budget=budget)
    columns = len(arranged)
    rows = -(-len(cells) // columns)
    for row in range(rows):
        budget.step(columns)
        numbers = (
            range(row, len(cells), rows)
            if by_columns
            else range(row * columns, min((row + 1) * columns, len(cells)))
        )
        parts: list[str] = []
        position = start = 0
        for column, number in enumerate(numbers):
            parts.append(_indent(position, start, tab))
            parts.append(cells[number])
            position = start + widths[number]
            start += arranged[column]
        yield "".join(parts)


def separate(
    cells: Sequence[str], widths: Sequence[int], separator: str, *, line: int
) -> Iterator[str]:
    """Lines without their ends, `separator` and a blank between cells."""
    parts: list[str] = []
    position = 0
    for number, (cell, width) in enumerate(zip(cells, widths, strict=True)):
        if number:
            if line and position + width + 2 >= line:
                parts.append(separator)
                yield "".join(parts)
                parts = []
                position = 0
            else:
                parts.append(f"{separator} ")
                position += 2
        parts.append(cell)
        position += width
    if parts:
        yield "".join(parts)
