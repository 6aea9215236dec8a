"""`column` (util-linux): lines in columns, or fields as a table."""

from __future__ import annotations

import re

from agentsandbox.commands._suites import UTIL_LINUX
from agentsandbox.commands._text.lines import lines
from agentsandbox.commands._text.widths import text_width
from agentsandbox.contract.command import Arguments, CommandContext, command
from agentsandbox.contract.manners import SILENT, Manners
from agentsandbox.errors import CommandError
from agentsandbox.kernel.budget import PIECE
from agentsandbox.kernel.expressions import lazily
from agentsandbox.kernel.streams import bytewise, decode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from agentsandbox.kernel.budget import Budget

    Row = tuple[str, ...]
    """The cells of a line: tuples of texts are soon out of the garbage collector's sight."""

_PIECE = 1 << 16
_INVALID = lazily("[\udc80-\udcff]")
_TAB = 8
_BLANKS = " \t\v\f\r"
_MANY = 256
"""Lines of a table that are written together."""
_COLORS = lazily(r"\x1b\[[0-9;:]*m")


def _read_lines(ctx: CommandContext, names: Sequence[str], *, tables: bool = True) -> Iterator[str]:
    found = opened = 0
    by_bytes = ctx.is_bytewise()
    for name in names or ["-"]:
        try:
            source = ctx.keep(ctx.fs.open(ctx.path(name), "r")) if names else ctx.stdin
        except IsADirectoryError as error:
            raise CommandError(f"read failed: {error.strerror}") from None
        except OSError as error:
            ctx.warn_os(error, name)
            continue
        opened += 1
        for line in lines(ctx.budget, source):
            found += len(line) + 64
            ctx.budget.charge(found // 8)
            text = decode(line.partition(b"\0")[0])
            if by_bytes:
                text = bytewise(text)
            yield text if text.isascii() else "".join(_shown_pieces(ctx, text))
    if opened and tables:  # then one file that is there makes a success of it
        ctx.status = 0


def _filled_lines(found: Iterable[str]) -> Iterator[str]:
    """Return the lines that are not blank."""
    return (line for line in found if line.strip(_BLANKS))


def _shown_pieces(ctx: CommandContext, text: str) -> Iterator[str]:
    """Yield a text in pieces, with invalid bytes as their numbers."""
    for start in range(0, len(text), _PIECE):
        ctx.budget.step(_PIECE // 1024)
        piece = text[start : start + _PIECE]
        for character in set(_INVALID.findall(piece)):
            piece = piece.replace(character, f"\\x{ord(character) & 255:02x}")
        yield piece


# filling columns


def _fill(ctx: CommandContext, entries: list[str], width: int, *, rows_first: bool) -> None:
    widths = [text_width(entry, ctx.budget) for entry in entries]
    longest = max(widths, default=0)
    if longest >= width:
        ctx.print("\n".join(entries))
        return
    column = (longest + _TAB) & ~(_TAB - 1)
    count = max(1, width // column)
    total = len(entries)
    rows = -(-total // count)
    for row in range(rows):
        ctx.budget.step(count)
        if rows_first:
            chosen = range(row * count, min(total, (row + 1) * count))
        else:
            chosen = range(row, total, rows)
        ctx.print(
            _filled_row([entries[at] for at in chosen], [widths[at] for at in chosen], column)
        )


def _filled_row(entries: list[str], widths: list[int], column: int) -> str:
    """Return entries with the tabs between them that bring each to its column."""
    parts = []
    at = 0
    for number, (entry, width) in enumerate(zip(entries, widths, strict=True), 1):
        parts.append(entry)
        at += width
        if number == len(entries):
            break
        end = number * column
        while (following := (at + _TAB) & ~(_TAB - 1)) <= end:
            parts.append("\t")
            at = following
    return "".join(parts)


# tables


def _split(line: str, separators: str | None, budget: Budget) -> list[str]:
    """Return the cells of a line; with given separators each of them ends a cell."""
    if separators is None and len(line) > PIECE:
        line = line.replace("\t", " ")
        cells: list[str] = []
        start = 0
        while start < len(line):
            budget.breathe()
            end = line.find(" ", start + PIECE) + 1 or len(line)
            cells += filter(None, line[start:end].split(" "))
            start = end
        return cells or [""]
    if separators is None:
        return line.split() if line.isprintable() else re.split("[ \t]+", line.strip(" \t"))
    return re.split(f"[{re.escape(separators)}]", line) if separators else [line]


def _cell_width(text: str, budget: Budget) -> int:
    """Return the columns of a text, of which sequences for colours take none."""
    if text.isascii() and text.isprintable():
        return len(text)
    return text_width(_COLORS.sub("", text) if "\x1b" in text else text, budget)


def _print_table(ctx: CommandContext, rows: list[Row], separator: str) -> None:
    """Print the table as text."""
    widths: list[int] = []
    measured = []
    for row in rows:
        ctx.budget.step(len(row) + 1)
        sizes = tuple([_cell_width(cell, ctx.budget) for cell in row])
        measured.append(sizes)
        widths += [0] * (len(sizes) - len(widths))
        for at, size in enumerate(sizes):
            if size > widths[at]:
                widths[at] = size
    wide = sum(widths) + len(widths) * len(separator)
    ctx.budget.charge(wide)
    most = max(1, min(_MANY, (1 << 20) // (wide + 1)))
    last = len(widths) - 1
    texts: list[str] = []
    for row, sizes in zip(rows, measured, strict=True):
        ctx.budget.step(len(widths))
        cells = []
        for at, width in enumerate(widths):
            cell, size = (row[at], sizes[at]) if at < len(row) else ("", 0)
            cells.append(cell if at == last else cell + " " * (width - size))
        texts.append(separator.join(cells))
        if len(texts) >= most:
            ctx.print("\n".join(texts))
            texts = []
    if texts:
        ctx.print("\n".join(texts))


def _table(ctx: CommandContext, args: Arguments) -> None:
    separators = args.value("separator")
    found = _filled_lines(_read_lines(ctx, args.operands))
    rows = [tuple(_split(line, separators, ctx.budget)) for line in found]
    if rows:
        _print_table(ctx, rows, args.value("output-separator", "  ") or "")


def _width(text: str) -> int:
    found = re.fullmatch(r"[ \t\n\v\f\r]*\+?([0-9]{1,9})", text)
    if found is None:
        raise CommandError(f"invalid columns argument: '{text}'")
    return int(found[1])


@command(
    "column",
    manners=Manners(
        UTIL_LINUX,
        pure=True,
        long_options="""
            columns fillrows help json keep-empty-lines output-separator separator table
            table-columns table-columns-limit table-hide table-name table-noextreme
            table-noheadings table-order table-right table-truncate table-wrap
            table-empty-lines table-header-repeat tree tree-id tree-parent version
        """,
        read_error=("NAME: read failed: REASON", 1),
        closed_write_error=SILENT,
    ),
    late=True,
    values={"output-width": _width},
    usage="""
    Usage: column [OPTION]... [FILE]...
    Write the lines of each FILE in columns, or their fields as a table.

      -t, --table                     make a table
      -c, --output-width=WIDTH        columns of the output (80), when lines fill it
      -o, --output-separator=STRING   between the columns of a table (two spaces)
      -s, --separator=STRING          characters that separate fields
      -x, --fillrows                  fill rows before columns
      -h, --help                      display this help and exit
    """,
)
def column(ctx: CommandContext, args: Arguments) -> int:
    if args.flag("table") and args.flag("fillrows"):
        raise CommandError("mutually exclusive arguments: --table --fillrows")
    if args.flag("table"):
        _table(ctx, args)
        return ctx.status
    text = ctx.env.get("COLUMNS", "")
    width = int(text) if re.fullmatch("[1-9][0-9]{0,5}", text) else 80
    if args.flag("output-width"):
        width = _width(args.value("output-width") or "")
    found = _read_lines(ctx, args.operands, tables=False)
    entries = list(_filled_lines(found))
    if entries:
        _fill(ctx, entries, width, rows_first=args.flag("fillrows"))
    return ctx.status
