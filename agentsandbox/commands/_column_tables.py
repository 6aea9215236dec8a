"""The tables of `column -t`: their columns, the widths that these get, cells cut or wrapped, trees."""

from __future__ import annotations

import json
import re

from agentsandbox.commands._widths import text_width
from agentsandbox.errors import CommandError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from agentsandbox.command import CommandContext
    from agentsandbox.limits import Budget

    Row = tuple[str, ...]
    """The cells of a line: a tuple of texts is nothing that the garbage collector looks at again and again."""

__all__ = ["Table", "print_json", "print_table"]


_PIECE = 4096
_LOWER = {code: code + 32 for code in range(ord("A"), ord("Z") + 1)}
"""Names in JSON are in lower case, other letters than ASCII's aside."""
_COLORS = re.compile(r"\x1b\[[0-9;:]*m")


def _cell_width(text: str) -> int:
    """The columns of a text, of which sequences for colours take none."""
    return len(text) if text.isascii() and text.isprintable() else text_width(_COLORS.sub("", text))


class _Tree:
    """Which row stands under which, and the column that shows it."""

    __slots__ = ("children", "column", "parents")

    def __init__(self, column: int, rows: list[Row], id_at: int, parent_at: int, budget: Budget) -> None:
        self.column = column
        self.parents: dict[int, int] = {}
        self.children: list[dict[int, None]] = [{} for _ in rows]
        named: dict[str, list[int]] = {}
        for at, row in enumerate(rows):
            budget.step()
            if parent_at < len(row):
                named.setdefault(row[parent_at], []).append(at)
        for at, row in enumerate(rows):
            for child in named.get(row[id_at], ()) if id_at < len(row) else ():
                budget.step()
                self._add(at, child, budget)

    def _add(self, parent: int, child: int, budget: Budget) -> None:
        """Put a row under another one, and nowhere else; not under itself or what is under it."""
        above: int | None = parent
        while above is not None:
            budget.step()
            if above == child:
                return
            above = self.parents.get(above)
        if child in self.parents:
            del self.children[self.parents[child]][child]
        self.parents[child] = parent
        self.children[parent][child] = None

    def walk(self, budget: Budget, lines: tuple[str, str, str, str]) -> Iterator[tuple[int, str]]:
        """Each row in the tree's order, and what leads to it."""
        branch, last, through, nothing = lines
        waiting = [(at, "", "") for at in reversed(range(len(self.children))) if at not in self.parents]
        while waiting:
            at, lead, below = waiting.pop()
            budget.step()
            budget.charge(len(below))
            yield at, lead
            children = list(self.children[at])
            for child in reversed(children):
                ends = child == children[-1]
                waiting.append((child, below + (last if ends else branch), below + (nothing if ends else through)))


class Table:
    """Rows of cells, and what is known of the columns."""

    __slots__ = ("cut", "names", "order", "right", "rows", "shown", "tree", "uneven", "width", "wrapped")

    def __init__(self, rows: list[Row], names: list[str], budget: Budget, width: int) -> None:
        self.rows = rows
        self.width = width
        count = len(names)
        for start in range(0, len(rows), _PIECE):
            count = max(count, *map(len, rows[start : start + _PIECE]))
            budget.breathe()
        budget.charge(64 * count)
        self.names = names + [""] * (count - len(names))
        self.order = list(range(count))
        self.right: set[int] = set()
        self.cut: set[int] = set()
        self.wrapped: set[int] = set()
        self.uneven: set[int] = set()
        """The columns in which a few cells that are much longer than others do not count."""
        self.shown = [True] * count
        self.tree: _Tree | None = None

    def find(self, text: str, *, unnamed: bool = False) -> list[int]:
        """The columns that a list names, by name or number; `unnamed`: "-" is all without a name."""
        found = []
        for item in text.split(","):
            if item in self.names and item:
                found.append(self.names.index(item))
            elif item.isdecimal() and item.isascii() and 0 < int(item[:9]) <= len(self.names):
                found.append(int(item) - 1)
            elif item == "-" and unnamed:
                found += [at for at, name in enumerate(self.names) if not name]
            elif item == "0":
                found += range(len(self.names))
            elif item.isdecimal() and item.isascii():
                continue  # there is no such column
            else:
                raise CommandError(f"undefined column name '{item}'")
        return found

    def one(self, text: str) -> int | None:
        """The column of a name or number, None for a number of none."""
        if text in self.names and text:
            return self.names.index(text)
        if not (text.isdecimal() and text.isascii()):
            raise CommandError(f"undefined column name '{text}'")
        return int(text[:9]) - 1 if 0 < int(text[:9]) <= len(self.names) else None

    def plant(self, column: str, id_column: str, parent_column: str, budget: Budget) -> None:
        """Make a tree of the rows."""
        at, id_at, parent_at = self.one(column), self.one(id_column), self.one(parent_column)
        if at is not None and id_at is not None and parent_at is not None:
            self.tree = _Tree(at, self.rows, id_at, parent_at, budget)

    def columns(self) -> list[int]:
        """The columns to print, in order."""
        return [at for at in self.order if self.shown[at]]


_LINES = ("├─", "└─", "│ ", "  ")
_ASCII_LINES = ("|-", "`-", "| ", "  ")


def _rows_in_order(ctx: CommandContext, table: Table) -> list[Row]:
    """The rows as they are printed."""
    tree = table.tree
    if tree is None:
        return table.rows
    rows: list[Row] = []
    size = 0
    for at, lead in tree.walk(ctx.budget, _ASCII_LINES if ctx.is_bytewise() else _LINES):
        row = list(table.rows[at])
        size += len(lead)
        ctx.budget.charge(size)
        if tree.column >= len(row):
            row += [""] * (tree.column + 1 - len(row))
        row[tree.column] = lead + row[tree.column]
        rows.append(tuple(row))
    return rows


def _widths(table: Table, columns: list[int], sizes: Sequence[tuple[int, ...]], longest: list[int], gap: int) -> dict[int, int]:
    """How wide each column is: flagged ones are made smaller, a character each in turn, until the table fits."""
    least = {at: _cell_width(table.names[at]) for at in columns}
    widths = {at: max(least[at], longest[at]) for at in columns}
    over = sum(widths.values()) + gap * (len(columns) - 1) - table.width
    if over <= 0:
        return widths
    widest = widths.copy()
    for at in columns:
        usual = _usual_width(sizes, at) if at in table.uneven else 0
        if usual:
            widths[at] = max(usual, least[at])
            over -= widest[at] - widths[at]
    for at in columns:
        if over < 0:
            more = min(-over, widest[at] - widths[at])
            widths[at] += more
            over += more
    flagged = [at for at in columns if at in table.cut or at in table.wrapped]
    while over > 0 and (able := [at for at in flagged if widths[at] > max(1, least[at])]):
        each = max(1, min([over // len(able), *[widths[at] - max(1, least[at]) for at in able]]))
        for at in able:
            if over > 0:
                taken = min(each, over)
                widths[at] -= taken
                over -= taken
    return widths


def _usual_width(sizes: Sequence[tuple[int, ...]], at: int) -> int:
    """The longest cell that is not more than twice as long as the average; 0 if all count."""
    lengths = [row[at] for row in sizes if at < len(row) and row[at]]
    average = sum(lengths) // len(lengths) if lengths else 0
    if not lengths or max(lengths) <= 2 * average:
        return 0
    return max((length for length in lengths if length <= 2 * average), default=1)


def _pieces(text: str, width: int, budget: Budget) -> list[str]:
    """A text in pieces that are no wider."""
    if len(text) <= width and text.isascii():
        return [text]
    pieces = []
    start = at = size = 0
    for at, character in enumerate(text):
        if not at % 256:
            budget.step()
        wide = _cell_width(character)
        if size + wide > width and at > start:
            pieces.append(text[start:at])
            start, size = at, 0
        size += wide
    return [*pieces, text[start:]]


def print_table(ctx: CommandContext, table: Table, separator: str, *, headings: bool) -> None:
    """The table as text."""
    columns = table.columns()
    if not columns:
        ctx.print("\n" * (len(table.rows) + headings), end="")
        return
    rows = _rows_in_order(ctx, table)
    if headings:
        rows = [tuple(table.names), *rows]
    measured = []
    longest = [0] * len(table.names)
    for row in rows:
        ctx.budget.step(len(row) + 1)
        sizes = tuple([_cell_width(cell) for cell in row])
        measured.append(sizes)
        for at, size in enumerate(sizes):
            if size > longest[at]:
                longest[at] = size
    widths = _widths(table, columns, measured[1:] if headings else measured, longest, _cell_width(separator))
    wide = sum(widths.values()) + len(widths) * len(separator)
    ctx.budget.charge(wide)
    most = max(1, min(256, (1 << 20) // (wide + 1)))
    texts: list[str] = []
    for row, sizes in zip(rows, measured, strict=True):
        ctx.budget.step(len(columns))
        if all(sizes[at] <= widths[at] for at in columns if at < len(sizes)):
            texts.append(_line(table, columns, row, sizes, widths, separator))
        else:
            texts += _long_lines(ctx, table, columns, row, widths, separator)
        if len(texts) >= most:
            ctx.print("\n".join(texts))
            texts = []
    if texts:
        ctx.print("\n".join(texts))


def _line(table: Table, columns: list[int], row: Row, sizes: tuple[int, ...], widths: dict[int, int], separator: str) -> str:
    cells = []
    last = columns[-1]
    for at in columns:
        cell, size = (row[at], sizes[at]) if at < len(row) else ("", 0)
        padding = " " * (widths[at] - size)
        if at in table.right and (cell or at != last):
            cells.append(padding + cell)
        else:
            cells.append(cell if at == last else cell + padding)
    return separator.join(cells)


def _long_lines(ctx: CommandContext, table: Table, columns: list[int], row: Row, widths: dict[int, int], separator: str) -> Iterator[str]:
    """A row with cells that are cut, that go on below, or that push what follows them to a line of its own."""
    cells: dict[int, list[str]] = {}
    for at in columns:
        text = row[at] if at < len(row) else ""
        cells[at] = [text]
        if at in table.cut or at in table.wrapped:
            pieces = _pieces(text, widths[at], ctx.budget)
            cells[at] = pieces[:1] if at in table.cut else pieces
            ctx.budget.step(len(pieces))
    for number in range(max(map(len, cells.values()))):
        ctx.budget.step(len(columns))
        parts = [cells[at][number] if number < len(cells[at]) else "" for at in columns]
        line = ""
        for place, at in enumerate(columns):
            size = _cell_width(parts[place])
            padding = " " * (widths[at] - size)
            final = place == len(columns) - 1
            line += padding + parts[place] if at in table.right else parts[place] + ("" if final else padding)
            if size > widths[at] and not final and at not in table.right:
                yield line
                line = "".join([" " * widths[before] + separator for before in columns[: place + 1]])
            elif not final:
                line += separator
        yield line


def print_json(ctx: CommandContext, table: Table, name: str) -> None:
    """The table as JSON; rows of a tree hold those under them."""
    columns = table.columns()
    unnamed = table.names.index("") if "" in table.names else len(table.names)
    for number, row in enumerate(table.rows, 2):
        if len(row) > unnamed:
            raise CommandError(f"line {number}: for JSON the name of the column {unnamed + 1} is required")
    tree = table.tree
    ctx.print(f"{{\n   {json.dumps(name.translate(_LOWER), ensure_ascii=False)}: [", end="")
    roots = [at for at in range(len(table.rows)) if tree is None or at not in tree.parents]
    waiting: list[tuple[int, int, bool] | str] = [(at, 2, at == roots[0]) for at in reversed(roots)]
    while waiting:
        item = waiting.pop()
        ctx.budget.step(len(columns) + 1)
        if isinstance(item, str):
            ctx.print(item, end="")
            continue
        at, depth, first = item
        row = table.rows[at]
        indent = "   " * (depth + 1)
        fields = []
        for column in columns:
            cell = row[column] if column < len(row) else ""
            key = json.dumps(table.names[column].translate(_LOWER), ensure_ascii=False)
            fields.append(f"{indent}{key}: {json.dumps(cell, ensure_ascii=False) if cell else 'null'}")
        opening = ("\n" + "   " * depth if first else ",") + "{\n"
        ctx.print(opening + ",\n".join(fields), end="")
        closing = f"\n{'   ' * depth}}}"
        children = list(tree.children[at]) if tree is not None else []
        if not children:
            ctx.print(closing, end="")
            continue
        ctx.print(f',\n{indent}"children": [', end="")
        waiting.append(f"\n{indent}]{closing}")
        waiting += [(child, depth + 2, child == children[0]) for child in reversed(children)]
    ctx.print("\n   ]\n}")
