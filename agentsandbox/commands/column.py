"""`column` (util-linux): lines in columns, or fields as a table."""

from __future__ import annotations

import re

from agentsandbox.command import Arguments, CommandContext, command
from agentsandbox.commands._column_tables import Table, print_json, print_table
from agentsandbox.commands._lines import lines
from agentsandbox.commands._suites import UTIL_LINUX
from agentsandbox.commands._widths import text_width
from agentsandbox.errors import CommandError
from agentsandbox.manners import SILENT, Manners
from agentsandbox.streams import bytewise, decode, encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

_PIECE = 1 << 16
_INVALID = re.compile("[\udc80-\udcff]")
_TAB = 8
_BLANKS = " \t\v\f\r"


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


def _filled_lines(found: Iterable[str], *, kept: bool) -> Iterator[str]:
    """The lines in which something stands, and with `kept` empty ones for the others."""
    for line in found:
        if line.strip(_BLANKS):
            yield line
        elif kept:
            yield ""


def _shown_pieces(ctx: CommandContext, text: str) -> Iterator[str]:
    """A text with the numbers of bytes that are no characters, piece by piece."""
    for start in range(0, len(text), _PIECE):
        ctx.budget.step(_PIECE // 1024)
        piece = text[start : start + _PIECE]
        for character in set(_INVALID.findall(piece)):
            piece = piece.replace(character, f"\\x{ord(character) & 255:02x}")
        yield piece


# filling columns


def _fill(ctx: CommandContext, entries: list[str], width: int, *, rows_first: bool) -> None:
    widths = [text_width(entry) for entry in entries]
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
        ctx.print(_filled_row([entries[at] for at in chosen], [widths[at] for at in chosen], column))


def _filled_row(entries: list[str], widths: list[int], column: int) -> str:
    """Entries with as many tabs between them as bring the next one to its column."""
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


def _split(line: str, separators: str | None, limit: int) -> list[str]:
    """The cells of a line; with given separators each of them ends a cell."""
    if separators is None:
        if not limit and line.isascii() and line.isprintable():
            return line.split()
        return [part for part in re.split("[ \t]+", line.strip(" \t"), maxsplit=max(0, limit - 1)) if part]
    if not separators:
        return [line]
    return re.split(f"[{re.escape(separators)}]", line, maxsplit=max(0, limit - 1))


_FOR_TREES = ("tree", "tree-id", "tree-parent")


def _table(ctx: CommandContext, args: Arguments, width: int) -> None:
    names = [name for name in (args.value("table-columns") or "").split(",") if name]
    as_json = args.flag("json")
    if as_json and not names:
        raise CommandError("option --table-columns required for --json")
    separators = args.value("separator")
    limit = _limit(args.value("table-columns-limit") or "") if args.flag("table-columns-limit") else 0
    found = _filled_lines(_read_lines(ctx, args.operands), kept=args.flag("keep-empty-lines"))
    rows = [tuple(_split(line, separators, limit)) for line in found]
    if not rows:
        return
    table = Table(rows, names, ctx.budget, width)
    for key, chosen in (
        ("table-right", table.right), ("table-truncate", table.cut), ("table-wrap", table.wrapped), ("table-noextreme", table.uneven),
    ):  # fmt: skip
        if args.flag(key):
            chosen.update(table.find(args.value(key) or ""))
    if args.flag("table-order"):
        first = table.find(args.value("table-order") or "")
        table.order = first + [at for at in table.order if at not in first]
    for at in table.find(args.value("table-hide") or "", unnamed=True) if args.flag("table-hide") else []:
        table.shown[at] = False
    if args.flag("tree"):
        column, id_column, parent = [args.value(key) or "" for key in _FOR_TREES]
        table.plant(column, id_column, parent, ctx.budget)
    if as_json:
        print_json(ctx, table, args.value("table-name", "table") or "")
        return
    separator = args.value("output-separator", "  ") or ""
    print_table(ctx, table, separator, headings=args.flag("table-columns") and not args.flag("table-noheadings"))


_OF_TABLES = (
    "table-name", "table-order", "table-columns", "table-hide", "table-right", "table-truncate", "table-wrap", "table-noextreme",
)  # fmt: skip


def _number(text: str, what: str) -> int:
    found = re.fullmatch(r"[ \t\n\v\f\r]*([+-]?[0-9]+)", text)
    if found is None:
        raise CommandError(f"invalid {what} argument: '{text}'")
    number = int(found[1]) if len(found[1]) < 12 else 2**32
    if not 0 <= number < 2**32:
        raise CommandError(f"invalid {what} argument: '{text}': Numerical result out of range")
    return number


def _width(text: str) -> int:
    return _number(text, "columns")


def _limit(text: str) -> int:
    limit = _number(text, "columns limit")
    if not limit:
        raise CommandError("columns limit must be greater than zero")
    return limit


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
    values={"output-width": _width, "table-columns-limit": _limit},
    usage="""
    Usage: column [OPTION]... [FILE]...
    Write the lines of each FILE in columns, or their fields as a table.

      -t, --table                     make a table
      -n, --table-name=NAME           the name of the table in JSON
      -O, --table-order=COLUMNS       print these columns first
      -N, --table-columns=NAMES       names of the columns, separated by commas
      -l, --table-columns-limit=NUM   at most NUM columns: the last one takes the rest of the line
      -d, --table-noheadings          do not print the names
      -H, --table-hide=COLUMNS        leave out these columns
      -R, --table-right=COLUMNS       align these columns to the right
      -T, --table-truncate=COLUMNS    cut the cells of these columns where the table is too wide
      -W, --table-wrap=COLUMNS        wrap the cells of these columns where the table is too wide
      -E, --table-noextreme=COLUMNS   let a few very long cells not make these columns wide
      -r, --tree=COLUMN               show in this column which line stands under which
      -i, --tree-id=COLUMN            what a line is called
      -p, --tree-parent=COLUMN        what the line is called that it stands under
      -J, --json                      write a table as JSON
      -c, --output-width=WIDTH        columns of the output (80), when lines fill it
      -o, --output-separator=STRING   between the columns of a table (two spaces)
      -s, --separator=STRING          characters that separate fields
      -x, --fillrows                  fill rows before columns
      -e, --table-header-repeat       repeat the headings on each page (there is one page only)
      -L, --keep-empty-lines          do not leave out empty lines
      -h, --help                      display this help and exit
    """,
)
def column(ctx: CommandContext, args: Arguments) -> int:
    if args.flag("help"):
        ctx.stdout.write(encode(column.usage))
        return 0
    shaped = "table" if args.flag("table") else "json" if args.flag("json") else ""
    if shaped and args.flag("fillrows"):
        raise CommandError(f"mutually exclusive arguments: --{shaped} --fillrows")
    if args.flag("output-width"):
        width = _width(args.value("output-width") or "")
    else:
        text = ctx.env.get("COLUMNS", "")
        width = int(text) if re.fullmatch("[1-9][0-9]{0,5}", text) else 80
    if args.flag("tree") and not (args.flag("tree-id") and args.flag("tree-parent")):
        raise CommandError("options --tree-id and --tree-parent are required for tree formatting")
    if args.flag("table") or args.flag("json") or args.flag("tree"):
        _table(ctx, args, width)
        return ctx.status
    if any(args.flag(name) for name in _OF_TABLES):
        raise CommandError("option --table required for all --table-*")
    entries = list(_filled_lines(_read_lines(ctx, args.operands, tables=False), kept=args.flag("keep-empty-lines")))
    if entries:
        _fill(ctx, entries, width, rows_first=args.flag("fillrows"))
    return ctx.status
