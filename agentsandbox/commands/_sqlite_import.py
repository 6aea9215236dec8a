"""`.import` of `sqlite3`: rows of a text file into a table."""

from __future__ import annotations

import sqlite3

from agentsandbox.commands._sqlite_output import sql_literal
from agentsandbox.commands._sqlite_words import DotError
from agentsandbox.streams import decode, encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from agentsandbox.commands._sqlite_shell import Shell
    from agentsandbox.limits import Budget

__all__ = ["import_file"]

_HELP = """\
.import FILE TABLE       Import data from FILE into TABLE
   Options:
     --ascii               Use \\037 and \\036 as column and row separators
     --csv                 Use , and \\n as column and row separators
     --skip N              Skip the first N rows of input
     -v                    "Verbose" - increase auxiliary output
   Notes:
     *  If TABLE does not exist, it is created.  The first row of input
        determines the column names.
     *  If neither --csv or --ascii are used, the input mode is derived
        from the ".mode" output mode
"""


class _Options:
    """What the words after `.import` say."""

    def __init__(self, shell: Shell, words: list[str]) -> None:
        printer = shell.printer
        self.separators = (printer.column_separator, printer.row_separator)
        self.is_csv = printer.mode == "csv"
        if self.is_csv and self.separators[1] == "\r\n":
            printer.row_separator = "\n"  # the shell reads and writes with one setting
        self.skip = 0
        self.verbose = False
        self.names: list[str] = []
        rest = iter(words)
        for word in rest:
            option = word.removeprefix("-") if word.startswith("--") else word
            if option == "-csv":
                self.is_csv, self.separators = True, (",", "\n")
            elif option == "-ascii":
                self.is_csv, self.separators = False, ("\x1f", "\x1e")
            elif option == "-skip":
                digits = next(rest, "0")[:9]
                self.skip = int(digits) if digits.isdecimal() else 0
            elif option == "-v":
                self.verbose = True
            elif word.startswith("-"):
                _refuse(shell, f'unknown option: "{word}". ')
            else:
                self.names.append(word)
        if len(self.names) < 2:
            _refuse(shell, "missing FILE argument." if not self.names else "missing TABLE argument.")
        if len(self.names) > 2:
            _refuse(shell, f'extra argument: "{self.names[2]}". ')


def _refuse(shell: Shell, what: str) -> None:
    shell.write(f"ERROR: {what} Usage:\n{_HELP}")
    raise DotError("")


def import_file(shell: Shell, words: list[str]) -> None:
    """Run `.import` with these words. Raises `DotError` and `SqlError`."""
    options = _Options(shell, words)
    file, table = options.names
    try:
        text = decode(shell.ctx.fs.read_bytes(shell.ctx.path(file)))
    except OSError:
        raise DotError(f'Error: cannot open "{file}"') from None
    if not text and not shell.query(f"SELECT 1 FROM pragma_table_info({sql_literal(table)})"):
        raise DotError(f"{file}: empty file")
    rows = read_rows(text, *options.separators, options.is_csv, shell.ctx.budget)
    for _ in range(options.skip):
        next(rows, None)
    columns = len(shell.query(f"SELECT 1 FROM pragma_table_info({sql_literal(table)})"))
    if not columns:
        columns = _create_table(shell, options, rows)
    _Import(shell, file, table, columns).run(rows, verbose=options.verbose)


def _create_table(shell: Shell, options: _Options, rows: Iterator[tuple[int, list[str]]]) -> int:
    """Create the table with the columns that the first row names; how many there are."""
    file, table = options.names
    _line, header = next(rows, (0, []))
    if not header:
        raise DotError(f"{file}: empty file")
    header = [name or "?" for name in header]
    seen: dict[str, int] = {}
    for name in header:
        seen[name.lower()] = seen.get(name.lower(), 0) + 1
    width = len(str(len(header)))
    names = [name if seen[name.lower()] == 1 else f"{name}_{at:0{width}d}" for at, name in enumerate(header, 1)]
    renamed = [f'"{name}" to "{new}"' for name, new in zip(header, names, strict=True) if name != new]
    if renamed:
        shell.flush()
        listed = ",\n".join(renamed)
        shell.ctx.stderr.write(encode(f"Columns renamed during .import {file} due to duplicates:\n{listed}\n"))
    spelled = ""
    for at, name in enumerate(names):
        spelled += (",\n " if at % 4 == 0 else ", ") * bool(at) + _quoted_name(name) + " TEXT"
    sql = f"CREATE TABLE {_quoted_name(table)}(\n{spelled})"
    if options.verbose:
        shell.write(f"{sql}\n\n")
    shell.database.execute(sql)
    return len(names)


def _quoted_name(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


class _Import:
    """The insertion of rows into a table that is there."""

    def __init__(self, shell: Shell, file: str, table: str, columns: int) -> None:
        self.shell = shell
        self.file = file
        self.columns = columns
        self.sql = f"INSERT INTO {_quoted_name(table)} VALUES({','.join('?' * columns)})"
        self.added = 0
        self.failed = 0

    def run(self, rows: Iterator[tuple[int, list[str]]], *, verbose: bool) -> None:
        """Insert all rows, in one transaction."""
        connection = self.shell.database.connection
        opened = not connection.in_transaction
        if opened:
            connection.execute("BEGIN")
        last = 1
        for line, row in rows:
            self.shell.ctx.budget.step()
            self._insert(line, self._fitted(line, row))
            last = line + "".join(row).count("\n")
        if opened:
            connection.execute("COMMIT")
        if verbose:
            self.shell.write(f"Added {self.added} rows with {self.failed} errors using {last} lines of input\n")

    def _warn(self, text: str) -> None:
        self.shell.flush()
        self.shell.ctx.stderr.write(encode(f"{self.file}:{text}\n"))

    def _fitted(self, line: int, row: list[str]) -> list[str | None]:
        columns, found = self.columns, len(row)
        if found < columns:
            self._warn(f"{line}: expected {columns} columns but found {found} - filling the rest with NULL")
            return [*row, *[None] * (columns - found)]
        if found > columns:
            self._warn(f"{line}: expected {columns} columns but found {found} - extras ignored")
        return list(row[:columns])

    def _insert(self, line: int, row: list[str | None]) -> None:
        database = self.shell.database
        try:
            database.connection.execute(self.sql, row)
            self.added += 1
            return
        except (sqlite3.Error, sqlite3.Warning) as error:
            message = database.explain(error, self.sql, running=True).message
        except UnicodeEncodeError:
            message = "text is not UTF-8"
        self.failed += 1
        self._warn(f"{line}: INSERT failed: {message}")


def read_rows(text: str, column: str, row: str, is_csv: bool, budget: Budget) -> Iterator[tuple[int, list[str]]]:
    """(line number, fields) of each row; quotes mean something in CSV only."""
    if not is_csv or '"' not in text:
        separator = "\n" if is_csv or row in ("\n", "\r\n") else row
        for number, line in enumerate(text.split(separator), 1):
            budget.step()
            line = line.removesuffix("\r") if separator == "\n" else line
            if line or number == 1:
                yield number, line.split(column)
        return
    yield from _quoted_rows(text, column, budget)


def _quoted_rows(text: str, column: str, budget: Budget) -> Iterator[tuple[int, list[str]]]:
    at, size, line = 0, len(text), 1
    while at < size:
        fields: list[str] = []
        first = line
        while True:
            budget.step()
            field, at = _quoted(text, at) if text.startswith('"', at) else _bare(text, at, column)
            line += field.count("\n")
            fields.append(field)
            if text.startswith(column, at):
                at += len(column)
                continue
            break
        if text.startswith("\r\n", at):
            at += 2
        elif at < size:
            at += 1
        line += 1
        yield first, fields


def _quoted(text: str, at: int) -> tuple[str, int]:
    parts: list[str] = []
    at += 1
    while True:
        end = text.find('"', at)
        if end < 0:
            parts.append(text[at:])
            return "".join(parts), len(text)
        parts.append(text[at:end])
        if text.startswith('""', end):
            parts.append('"')
            at = end + 2
            continue
        return "".join(parts), end + 1


def _bare(text: str, at: int, column: str) -> tuple[str, int]:
    newline = text.find("\n", at)
    newline = len(text) if newline < 0 else newline
    end = text.find(column, at, newline)
    if end < 0:
        end = newline - 1 if text[newline - 1 : newline] == "\r" and newline > at else newline
    return text[at:end], end
