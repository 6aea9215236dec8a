"""`.import` of `sqlite3`: rows of a text file into a table."""

from __future__ import annotations

import re
import sqlite3

from agentsandbox.commands.sqlite3.database import SqlError
from agentsandbox.commands.sqlite3.output import sql_literal
from agentsandbox.commands.sqlite3.targets import read_source
from agentsandbox.commands.sqlite3.words import DotError
from agentsandbox.kernel.streams import decode, encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from agentsandbox.commands.sqlite3.protocols import Shell
    from agentsandbox.kernel.budget import Budget


class _Options:
    """The words after `.import`."""

    def __init__(self, shell: Shell, words: list[str]) -> None:
        printer = shell.printer
        self.separators = (printer.column_separator, printer.row_separator)
        if printer.mode == "csv" and self.separators[1] == "\r\n":
            self.separators = (self.separators[0], "\n")
            printer.row_separator = "\n"  # the shell reads and writes with one setting
        self.skip = 0
        self.names: list[str] = []
        rest = list(reversed(words))
        while rest:
            word = rest.pop()
            option = word.removeprefix("-") if word.startswith("--") else word
            if option == "-csv":
                self.separators = (",", "\n")
            elif option == "-skip" and rest:
                digits = rest.pop()[:9]
                self.skip = int(digits) if digits.isdecimal() else 0
            elif word.startswith("-"):
                raise DotError(f'ERROR: unknown option: "{option}".')
            else:
                self.names.append(word)
        if len(self.names) < 2:
            raise DotError(f"ERROR: missing {'FILE' if not self.names else 'TABLE'} argument.")
        if len(self.names) > 2:
            raise DotError(f'ERROR: extra argument: "{self.names[2]}".')


def import_file(shell: Shell, words: list[str]) -> None:
    """Run `.import` with these words. Raises `DotError` and `SqlError`."""
    options = _Options(shell, words)
    file, table = options.names
    text = decode(read_source(shell, file))
    if file.startswith("|"):
        file = options.names[0] = "<pipe>"
    columns = _count_columns(shell, table)
    if not text and not columns:
        raise DotError(f"{file}: empty file")

    def complain(message: str) -> None:
        shell.flush()
        shell.ctx.stderr.write(encode(f"{file}:{message}\n"))

    rows = read_rows(text, *options.separators, complain, shell.ctx.budget)
    for _ in range(options.skip):
        next(rows, None)
    if not columns:
        columns = _create_table(shell, options, rows)
    _Import(shell, file, _quoted_name(table), columns).run(rows)


def _count_columns(shell: Shell, table: str) -> int:
    return len(shell.query(f"SELECT 1 FROM pragma_table_info({sql_literal(table)})"))


def _create_table(shell: Shell, options: _Options, rows: Iterator[tuple[int, list[str]]]) -> int:
    """Create the table with the columns that the first row names; return their number."""
    file = options.names[0]
    _line, header = next(rows, (0, []))
    if not header:
        raise DotError(f"{file}: empty file")
    header = [name.partition("\0")[0] or "?" for name in header]
    seen: dict[str, int] = {}
    for name in header:
        seen[name.lower()] = seen.get(name.lower(), 0) + 1
    width = len(str(len(header)))
    names = [
        name if seen[name.lower()] == 1 else f"{name}_{at:0{width}d}"
        for at, name in enumerate(header, 1)
    ]
    renamed = [
        f'"{name}" to "{new}"' for name, new in zip(header, names, strict=True) if name != new
    ]
    if renamed:
        shell.flush()
        listed = ",\n".join(renamed)
        shell.ctx.stderr.write(
            encode(f"Columns renamed during .import {file} due to duplicates:\n{listed}\n")
        )
    spelled = ""
    for at, name in enumerate(names):
        spelled += (",\n " if at % 4 == 0 else ", ") * bool(at) + _quoted_name(name) + " TEXT"
    sql = f"CREATE TABLE {_quoted_name(options.names[1])}(\n{spelled})"
    try:
        shell.database.execute(sql)
    except SqlError as error:
        raise DotError(f"{sql}\n failed:\n{error.message}") from None
    return len(names)


def _quoted_name(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


class _Import:
    """The insertion of rows into an existing table."""

    def __init__(self, shell: Shell, file: str, table: str, columns: int) -> None:
        self.shell = shell
        self.file = file
        self.columns = columns
        self.sql, self.bytes_sql = (
            f"INSERT INTO {table} VALUES({','.join([mark] * columns)})"
            for mark in ("?", "CAST(? AS TEXT)")
        )

    def run(self, rows: Iterator[tuple[int, list[str]]]) -> None:
        """Insert all rows, in one transaction."""
        connection = self.shell.database.connection
        opened = not connection.in_transaction
        if opened:
            connection.execute("BEGIN")
        for line, row in rows:
            self.shell.ctx.budget.step()
            self._insert(line, self._fitted(line, row))
        if opened:
            connection.execute("COMMIT")

    def _warn(self, text: str) -> None:
        self.shell.flush()
        self.shell.ctx.stderr.write(encode(f"{self.file}:{text}\n"))

    def _fitted(self, line: int, row: list[str]) -> Sequence[str | None]:
        row = [field.partition("\0")[0] if "\0" in field else field for field in row]
        columns, found = self.columns, len(row)
        if found < columns:
            self._warn(
                f"{line}: expected {columns} columns but found {found} - filling the rest with NULL"
            )
            return [*row, *[None] * (columns - found)]
        if found > columns:
            self._warn(f"{line}: expected {columns} columns but found {found} - extras ignored")
        return row[:columns]

    def _insert(self, line: int, row: Sequence[str | None]) -> None:
        database = self.shell.database
        try:
            try:
                database.connection.execute(self.sql, row)
            except UnicodeEncodeError:
                database.connection.execute(
                    self.bytes_sql, [None if field is None else encode(field) for field in row]
                )
            return
        except (sqlite3.Error, sqlite3.Warning) as error:
            message = database.explain(error, self.sql, running=True).message
        self._warn(f"{line}: INSERT failed: {message}")


def read_rows(
    text: str, column: str, row: str, complain: Callable[[str], None], budget: Budget
) -> Iterator[tuple[int, list[str]]]:
    """Yield (line number, fields) of each row."""
    if '"' in text:
        yield from _Rows(text, column, row, complain, budget)
        return
    lines = text.split(row)
    if not lines[-1]:
        lines.pop()
    for number, line in enumerate(lines, 1):
        budget.step()
        yield number, (line.removesuffix("\r") if row == "\n" else line).split(column)


class _Rows:
    """The rows of a text with quotes; misplaced quotes are kept and reported."""

    def __init__(
        self, text: str, column: str, row: str, complain: Callable[[str], None], budget: Budget
    ) -> None:
        self.text = text
        self.column = column
        self.row = row
        self.complain = complain
        self.budget = budget
        self.ends = (column, row, "\r" + row)
        self.separator = re.compile(f"{re.escape(row)}|{re.escape(column)}")
        self.at = 0
        self.line = 1

    def __iter__(self) -> Iterator[tuple[int, list[str]]]:
        text = self.text
        while self.at < len(text):
            first, fields = self.line, [self._field()]
            while text.startswith(self.column, self.at):
                self.at += len(self.column)
                fields.append(self._field())
            self.at += len(self.row) + text.startswith("\r" + self.row, self.at)
            self.line += 1
            yield first, fields

    def _field(self) -> str:
        self.budget.step()
        return self._quoted() if self.text.startswith('"', self.at) else self._bare()

    def _bare(self) -> str:
        text, start = self.text, self.at
        end = self.separator.search(text, start)
        self.at = len(text) if end is None else end.start()
        found = text[start : self.at]
        return (
            found.removesuffix("\r")
            if self.row == "\n" and (end is None or end[0] == "\n")
            else found
        )

    def _quoted(self) -> str:
        text, first, start = self.text, self.line, self.at + 1
        parts: list[str] = []
        while (end := text.find('"', start)) >= 0:
            self.budget.step()
            parts.append(text[start:end])
            self.line += parts[-1].count(self.row)
            start = end + 1
            if start == len(text) or text.startswith(self.ends, start):
                self.at = start
                return "".join(parts)
            parts.append('"')
            if text.startswith('"', start):
                start += 1
            elif not text.startswith("\r", start):
                self.complain(f'{self.line}: unescaped " character')
        self.at = len(text)
        self.complain(f'{first}: unterminated "-quoted field')
        return "".join([*parts, text[start:]])
