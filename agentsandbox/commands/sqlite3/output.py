"""The output modes of `sqlite3`."""

from __future__ import annotations

import math
import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    Value = None | int | float | str | bytes
    Row = Sequence[Value]

_COLUMNAR = frozenset(("column", "table", "box", "markdown"))


def number_text(value: float) -> str:
    """Return a float with 15 digits, always with a point; "" for NaN."""
    if value != value:
        return ""
    if math.isinf(value):
        return "Inf" if value > 0 else "-Inf"
    return _with_point(f"{value or 0.0:.15g}")


def exact_text(value: float) -> str:
    """Return a float with 20 digits, always with a point."""
    if math.isinf(value):
        return "1e999" if value > 0 else "-1e999"
    return _with_point(f"{value or 0.0:.20g}")


def _with_point(text: str) -> str:
    mantissa, e, exponent = text.partition("e")
    return mantissa + ("" if "." in mantissa else ".0") + e + exponent


def sql_literal(value: Value) -> str:
    """Return a value as SQL text."""
    if value is None:
        return "NULL"
    if isinstance(value, bytes):
        return f"X'{value.hex()}'"
    if isinstance(value, float):
        return exact_text(value)
    if isinstance(value, int):
        return str(value)
    return "'" + value.replace("'", "''") + "'"


def insert_literal(value: Value) -> str:
    """Return a value for an INSERT statement: whole floats in full, newlines by name."""
    if (
        isinstance(value, float)
        and math.isfinite(value)
        and abs(value) < 2**63
        and value == int(value)
    ):
        return f"{int(value)}.0"
    text = sql_literal(value)
    if not isinstance(value, str):
        return text
    for character, name, code in (("\n", "\\n", 10), ("\r", "\\r", 13)):
        if character in text:
            sign = name if name not in text else f"({name}0)"
            text = f"replace({text.replace(character, sign)},'{sign}',char({code}))"
    return text


_KEYWORDS = frozenset(
    """
    ABORT ACTION ADD AFTER ALL ALTER ALWAYS ANALYZE AND AS ASC ATTACH AUTOINCREMENT BEFORE BEGIN
    BETWEEN BY CASCADE CASE CAST CHECK COLLATE COLUMN COMMIT CONFLICT CONSTRAINT CREATE CROSS
    CURRENT CURRENT_DATE CURRENT_TIME CURRENT_TIMESTAMP DATABASE DEFAULT DEFERRABLE DEFERRED
    DELETE DESC DETACH DISTINCT DO DROP EACH ELSE END ESCAPE EXCEPT EXCLUDE EXCLUSIVE EXISTS
    EXPLAIN FAIL FILTER FIRST FOLLOWING FOR FOREIGN FROM FULL GENERATED GLOB GROUP GROUPS HAVING
    IF IGNORE IMMEDIATE IN INDEX INDEXED INITIALLY INNER INSERT INSTEAD INTERSECT INTO IS ISNULL
    JOIN KEY LAST LEFT LIKE LIMIT MATCH MATERIALIZED NATURAL NO NOT NOTHING NOTNULL NULL NULLS
    OF OFFSET ON OR ORDER OTHERS OUTER OVER PARTITION PLAN PRAGMA PRECEDING PRIMARY QUERY RAISE
    RANGE RECURSIVE REFERENCES REGEXP REINDEX RELEASE RENAME REPLACE RESTRICT RETURNING RIGHT
    ROLLBACK ROW ROWS SAVEPOINT SELECT SET TABLE TEMP TEMPORARY THEN TIES TO TRANSACTION TRIGGER
    UNBOUNDED UNION UNIQUE UPDATE USING VACUUM VALUES VIEW VIRTUAL WHEN WHERE WINDOW WITH
    WITHOUT
    """.split()
)
_PLAIN_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")


def quote_name(name: str) -> str:
    """Return an identifier, in quotes if it needs them."""
    return (
        name
        if _PLAIN_NAME.match(name) and name.upper() not in _KEYWORDS
        else '"' + name.replace('"', '""') + '"'
    )


_JSON = re.compile(r'["\\\x00-\x1f]')
_JSON_NAMES = {
    '"': '\\"',
    "\\": "\\\\",
    "\b": "\\b",
    "\f": "\\f",
    "\n": "\\n",
    "\r": "\\r",
    "\t": "\\t",
}
_BREAK = re.compile("[\n\t\r]")
_CSV = re.compile("[\x00-\x20\"'\x7f-\U0010ffff]")


def _json_string(text: str) -> str:
    return (
        '"'
        + _JSON.sub(lambda found: _JSON_NAMES.get(found[0]) or f"\\u{ord(found[0]):04x}", text)
        + '"'
    )


_SEPARATORS = {"list": ("|", "\n"), "csv": (",", "\r\n")}


def _next_line(text: str, start: int, limit: int) -> tuple[str, int]:
    """Return the line of a cell from `start`, and the start of the next one (-1 at the end)."""
    at, column, size = start, 0, len(text)
    while at < size and (not limit or column < limit):
        character = text[at]
        if character == "\t":
            column = min(column // 8 * 8 + 8, limit or column + 8)
        elif character < " ":
            break
        else:
            column += 1
        at += 1
    line = text[start:at].expandtabs(8)[: limit or None]
    if limit and column >= limit and text[at : at + 1] >= " ":
        return line, at
    at += 2 if text.startswith("\r\n", at) else 1
    return line, at if at < size else -1


class Printer:
    """Prints rows. `write` takes text; `charge` and `step` draw on the budget."""

    def __init__(
        self,
        write: Callable[[str], None],
        charge: Callable[[int], None],
        step: Callable[[int], None],
    ) -> None:
        self.write = write
        self.charge = charge
        self.step = step
        self.mode = "list"
        self.headers = False
        self.headers_set = False
        self.column_separator = "|"
        self.row_separator = "\n"
        self.null = ""
        self.widths: list[int] = []
        self.wrap = 0
        """The widest cell of the modes with columns, 0 for any width."""
        self._json_names: list[str] = []
        """The beginning of each pair in JSON: the names of the columns."""

    def set_mode(self, mode: str) -> None:
        """Choose a mode, and the separators and headers that belong to it."""
        self.mode = "list" if mode == "tabs" else mode
        if mode == "tabs":  # the row separator stays
            self.column_separator = "\t"
        elif mode in _SEPARATORS:
            self.column_separator, self.row_separator = _SEPARATORS[mode]
        elif mode in ("line", "column"):
            self.row_separator = "\n"
        if mode == "column" and not self.headers_set:
            self.headers = True

    def text(self, value: Value) -> str:
        """Return a value as plain text."""
        if isinstance(value, str):
            return value.partition("\0")[0] if "\0" in value else value
        if value is None:
            return self.null
        if isinstance(value, bytes):
            return str(value.partition(b"\0")[0], "utf-8", "surrogateescape")
        return number_text(value) if isinstance(value, float) else str(value)

    def print(self, names: Sequence[str], rows: Iterator[Row]) -> None:
        """Print all rows of one statement; nothing if there are none."""
        if self.mode in _COLUMNAR:
            self._columnar(names, [list(row) for row in rows])
            return
        one_row: dict[str, Callable[[Sequence[str], Row, int], None]] = {
            "list": self._list,
            "csv": self._csv,
            "line": self._line,
            "json": self._json,
        }
        show = one_row[self.mode]
        count = 0
        for row in rows:
            show(names, row, count)
            count += 1
        if self.mode == "json" and count:
            self.write("]\n")

    def _join(self, cells: Sequence[str]) -> None:
        self.write(self.column_separator.join(cells) + self.row_separator)

    def _list(self, names: Sequence[str], row: Row, count: int) -> None:
        if not count and self.headers:
            self._join(names)
        self._join(list(map(self.text, row)))

    def _csv_cell(self, text: str) -> str:
        if not text or _CSV.search(text) or self.column_separator in text:
            return '"' + text.replace('"', '""') + '"' if text else ""
        return text

    def _csv(self, names: Sequence[str], row: Row, count: int) -> None:
        if not count and self.headers:
            self._join([self._csv_cell(name) for name in names])
        self._join(
            [
                self.null if value is None else self._csv_cell(self.text(value)) or '""'
                for value in row
            ]
        )

    def _line(self, names: Sequence[str], row: Row, count: int) -> None:
        width = max([5, *map(len, names)])
        if count:
            self.write("\n")
        for name, value in zip(names, row, strict=True):
            self.write(f"{name.rjust(width)} = {self.text(value)}\n")

    def _json(self, names: Sequence[str], row: Row, count: int) -> None:
        if not count:
            self._json_names = [f"{_json_string(name)}:" for name in names]
        cells = []
        for name, value in zip(self._json_names, row, strict=True):
            if value is None:
                text = "null"
            elif isinstance(value, float):
                text = exact_text(value)
            elif isinstance(value, int):
                text = str(value)
            else:
                text = _json_string(
                    str(value, "utf-8", "surrogateescape") if isinstance(value, bytes) else value
                )
            cells.append(name + text)
        self.write(("[{" if not count else ",\n{") + ",".join(cells) + "}")

    # columns

    def _split_cell(self, text: str, column: int) -> list[str]:
        """Return a cell's lines, cut at the width of its column, or else at that of all columns."""
        own = abs(self.widths[column]) if column < len(self.widths) else 0
        limit = own or self.wrap
        if (not limit or len(text) <= limit) and not _BREAK.search(text):
            return [text]
        lines: list[str] = []
        at = 0
        while at >= 0:
            self.step(1 + (limit or len(text)) // 64)
            line, at = _next_line(text, at, limit)
            lines.append(line)
        return lines

    def _columnar(self, names: Sequence[str], rows: list[list[Value]]) -> None:
        if not rows:
            return
        cells: list[list[list[str]]] = []
        for row in rows:
            self.step(4 * len(row))
            cells.append([self._split_cell(self.text(value), at) for at, value in enumerate(row)])
        heads = [self._split_cell(name, at)[:1] for at, name in enumerate(names)]
        self.widths += [0] * (len(names) - len(self.widths))
        widths = [
            max(abs(self.widths[at]), *[len(line) for row in [heads, *cells] for line in row[at]])
            for at in range(len(names))
        ]
        self.charge(sum(widths) * len(rows))
        several = any(len(cell) > 1 for row in cells for cell in row)
        if self.mode == "column":
            self._columns(heads, cells, widths, several)
        elif self.mode == "markdown":
            self._framed(heads, cells, widths, ("", _rule("|||-", widths), ""), "|")
        elif self.mode == "table":
            rule = _rule("+++-", widths)
            self._framed(heads, cells, widths, (rule, rule, rule), "|", several)
        else:
            rules = _rule("┌┬┐─", widths), _rule("├┼┤─", widths), _rule("└┴┘─", widths)
            self._framed(heads, cells, widths, rules, "│", several)

    def _row(self, cells: list[list[str]], widths: list[int], frame: tuple[str, str, str]) -> None:
        """Write the lines of one row."""
        left, between, right = frame
        self.step(2 * len(widths))
        for number in range(max(map(len, cells))):
            shown = []
            for at, width in enumerate(widths):
                text = cells[at][number] if number < len(cells[at]) else ""
                shown.append(text.rjust(width) if self.widths[at] < 0 else text.ljust(width))
            self.write(left + between.join(shown) + right + "\n")

    def _columns(
        self, heads: list[list[str]], cells: list[list[list[str]]], widths: list[int], several: bool
    ) -> None:
        if self.headers:
            self._row(heads, widths, ("", "  ", ""))
            self.write("  ".join("-" * width for width in widths) + "\n")
        for number, row in enumerate(cells):
            if several and number:
                self.write("\n")
            self._row(row, widths, ("", "  ", ""))

    def _framed(
        self,
        heads: list[list[str]],
        cells: list[list[list[str]]],
        widths: list[int],
        rules: tuple[str, str, str],
        bar: str,
        several: bool = False,
    ) -> None:
        """Write a table with lines around; `several` asks for lines between rows too."""
        frame = (f"{bar} ", f" {bar} ", f" {bar}")
        centred = []
        for head, width in zip(heads, widths, strict=True):
            before = (width - len(head[0])) // 2
            centred.append([f"{' ' * before}{head[0]}".ljust(width)])
        self.write(rules[0])
        self._row(centred, widths, frame)
        self.write(rules[1])
        for number, row in enumerate(cells):
            if several and number:
                self.write(rules[1])
            self._row(row, widths, frame)
        self.write(rules[2])


def _rule(signs: str, widths: list[int]) -> str:
    """Return a horizontal line. `signs` are its left end, a crossing, its right end and a dash."""
    left, crossing, right, dash = signs[0], signs[1], signs[2], signs[3]
    return left + crossing.join([dash * (width + 2) for width in widths]) + right + "\n"
