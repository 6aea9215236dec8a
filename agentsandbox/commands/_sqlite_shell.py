"""The shell around a database: SQL and dot commands, where output goes."""

from __future__ import annotations

import shlex

from agentsandbox.command import CommandContext, describe_os_error
from agentsandbox.commands._sqlite_database import Database, SqlError, statements
from agentsandbox.commands._sqlite_output import MODES, Printer, quote_name, sql_literal
from agentsandbox.streams import decode, encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from agentsandbox.fs.base import File

__all__ = ["Quit", "Shell"]

_HELP = """\
.bail on|off             Stop after the first error
.cd DIRECTORY            Change the working directory
.changes on|off          Show number of rows changed by SQL
.databases               Names and files of the databases
.dump ?TABLE?            The content as SQL
.echo on|off             Show commands before they run
.exit ?CODE?             Leave, with a status
.fullschema              The schema, and statistics
.headers on|off          Show column names
.help                    This list
.import FILE TABLE       Read rows from a file
.indexes ?TABLE?         Names of indexes
.mode ?MODE?             The form of the output
.nullvalue STRING        What stands for NULL
.once FILE               Send the next output to a file
.open FILE               Close this database and open another
.output ?FILE?           Send output to a file
.print STRING...         Write a text
.quit                    Leave
.read FILE               Run the commands of a file
.schema ?PATTERN?        The CREATE statements
.separator COL ?ROW?     What stands between columns and rows
.show                    The settings
.tables ?PATTERN?        Names of tables
.width NUM1 NUM2 ...     Widths of columns
"""
_READ_DEPTH = 20
_OWN = "name NOT LIKE 'sqlite__%' ESCAPE '_'"
"""What leaves out SQLite's own tables."""


class Quit(Exception):
    """`.quit` and `.exit`."""

    def __init__(self, status: int) -> None:
        self.status = status
        super().__init__()


class DotError(Exception):
    """A dot command failed."""


def _is_on(text: str) -> bool:
    return text.lower() in ("on", "yes", "true", "1")


class Shell:
    """One run of `sqlite3`."""

    def __init__(self, ctx: CommandContext, database: str, *, read_only: bool) -> None:
        self.ctx = ctx
        self.database_name = database
        self.read_only = read_only
        self._database: Database | None = None
        self.held: list[str] = []
        self.printer = Printer(self.write, ctx.budget.charge)
        self.output: File | None = None
        self.output_name = "stdout"
        self.once = False
        self.bail = False
        self.echo = False
        self.changes = False
        self.depth = 0
        self.errors = 0

    @property
    def database(self) -> Database:
        """The database, opened when first needed. Raises `SqlError`."""
        if self._database is None:
            self._database = Database(self.ctx, self.database_name, read_only=self.read_only)
        return self._database

    def close(self) -> None:
        """Write what is held back and store the database."""
        try:
            self.flush()
            self._end_output()
        finally:
            if self._database is not None:
                self._database.close()
                self._database = None

    # output

    def write(self, text: str) -> None:
        """Text for stdout or the file of .output."""
        self.held.append(text)
        if len(self.held) > 512:
            self.flush()

    def flush(self) -> None:
        """Write what is held back."""
        if self.held:
            data = encode("".join(self.held))
            self.held.clear()
            (self.output or self.ctx.stdout).write(data)

    def complain(self, text: str) -> None:
        """A message on stderr, after all output so far."""
        self.flush()
        self.ctx.stderr.write(encode(text + "\n"))
        self.errors += 1

    def _end_output(self) -> None:
        self.flush()
        if self.output is not None:
            self.output.release()
            self.output = None
            self.output_name = "stdout"

    # running

    def run_word(self, word: str) -> int:
        """A command given as an operand; its status, 0 to go on."""
        if word.startswith("."):
            return 0 if self.run_dot(word) else 1
        for statement, start in statements(word, self.ctx):
            try:
                self.run_sql(statement)
            except SqlError as error:
                kind = "stepping" if error.running else "in prepare"
                code = f" ({error.code})" if error.code > 1 else ""
                self.complain(f"Error: {kind}, {error.message}{code}{_pointer(error, word[start:].lstrip())}")
                return error.code
        return 0

    def run_text(self, text: str) -> None:
        """Commands of a file or of stdin, line by line; an error does not stop it without .bail."""
        import sqlite3

        lines = text.split("\n")
        pending = ""
        first = 0
        for number, line in enumerate(lines, 1):
            self.ctx.budget.step()
            if not pending.strip() and line.startswith("."):
                if self.echo:
                    self.write(line + "\n")
                if not self.run_dot(line) and self.bail:
                    raise Quit(1)
                pending = ""
                continue
            if not pending.strip():
                first, pending = number, line
                if not line.strip():
                    continue
            else:
                pending += "\n" + line
            if ";" in line:
                self.ctx.budget.step(len(pending) // 1000)
                if sqlite3.complete_statement(pending):
                    self._run_lines(pending, first)
                    pending = ""
        self._run_lines(pending, first)

    def _run_lines(self, text: str, line: int) -> None:
        """Run the statements of the lines that belong together, up to one that fails."""
        for statement, start in statements(text, self.ctx):
            if not self._run_statement(statement, line, text[start:]):
                break

    def _run_statement(self, statement: str, line: int, rest: str) -> bool:
        """Run one statement, which an error shows with the `rest` of its lines; whether it worked."""
        if self.echo:
            self.write(statement.strip() + "\n")
        try:
            self.run_sql(statement)
            if self.once:
                self.once = False
                self._end_output()
        except SqlError as error:
            kind = "Runtime" if error.running else "Parse"
            code = f" ({error.code})" if error.code > 1 else ""
            self.complain(f"{kind} error near line {line}: {error.message}{code}{_pointer(error, rest.lstrip())}")
            if self.bail:
                raise Quit(1) from None
            return False
        return True

    def run_sql(self, statement: str) -> None:
        """One statement, its rows printed. Raises `SqlError`."""
        statement = statement.strip()
        if not statement.strip(";").strip():
            return
        database = self.database
        before = database.connection.total_changes
        cursor = database.execute(statement)
        if cursor.description is not None:
            names = [column[0] for column in cursor.description]
            if statement.lstrip().lower().startswith("explain query plan"):
                self._print_plan(list(database.rows(cursor, statement)))
            else:
                self.printer.print(names, database.rows(cursor, statement))  # type: ignore[arg-type]
        if self.changes:
            total = database.connection.total_changes
            self.write(f"changes: {total - before}   total_changes: {total}\n")

    def _print_plan(self, rows: list[tuple[object, ...]]) -> None:
        self.write("QUERY PLAN\n")
        children: dict[object, list[tuple[object, ...]]] = {}
        for row in rows:
            children.setdefault(row[1], []).append(row)
        pending = [(row, "", at == 0) for at, row in enumerate(reversed(children.get(0, [])))]
        while pending:
            row, indent, last = pending.pop()
            self.write(f"{indent}{'`--' if last else '|--'}{row[3]}\n")
            deeper = indent + ("   " if last else "|  ")
            pending.extend((child, deeper, at == 0) for at, child in enumerate(reversed(children.get(row[0], []))))

    # dot commands

    def run_dot(self, line: str) -> bool:
        """One dot command; false if it failed."""
        try:
            words = _words(line[1:].rstrip())
        except ValueError:
            words = line[1:].split()
        if not words:
            return True
        name = words[0]
        matches = [command for command in _COMMANDS if command.startswith(name)]
        command = name if name in _COMMANDS else matches[0] if len(name) > 1 and matches else None
        try:
            if command is None:
                raise DotError(f'Error: unknown command or invalid arguments:  "{name}". Enter ".help" for help')
            _COMMANDS[command](self, words[1:])
        except DotError as error:
            self.complain(str(error))
            return False
        except SqlError as error:
            self.complain(f"Error: {error.message}")
            return False
        except OSError as error:
            self.complain(f"Error: {describe_os_error(error)}")
            return False
        return True

    def query(self, sql: str) -> list[tuple[object, ...]]:
        """All rows of a query of our own."""
        return list(self.database.rows(self.database.execute(sql), sql))

    def set_bail(self, words: list[str]) -> None:
        self.bail = _is_on(_one(words, "bail on|off"))

    def set_echo(self, words: list[str]) -> None:
        self.echo = _is_on(_one(words, "echo on|off"))

    def set_changes(self, words: list[str]) -> None:
        self.changes = _is_on(_one(words, "changes on|off"))

    def set_headers(self, words: list[str]) -> None:
        self.printer.headers = _is_on(_one(words, "headers on|off"))
        self.printer.headers_set = True

    def set_null(self, words: list[str]) -> None:
        self.printer.null = _one(words, "nullvalue STRING")

    def set_separator(self, words: list[str]) -> None:
        if not 1 <= len(words) <= 2:
            raise DotError("Usage: .separator COL ?ROW?")
        self.printer.column_separator = words[0]
        if len(words) > 1:
            self.printer.row_separator = words[1]

    def set_widths(self, words: list[str]) -> None:
        self.printer.widths = [max(-10000, min(10000, int(word[:8]))) if word.lstrip("-").isdecimal() else 0 for word in words]

    def set_mode(self, words: list[str]) -> None:
        if not words:
            self.write(f"current output mode: {self.printer.mode}\n")
            return
        found = [mode for mode in MODES.split() if mode.startswith(words[0])]
        if not found:
            raise DotError(f"Error: mode should be one of: {MODES}")
        self.printer.set_mode(found[0], words[1] if len(words) > 1 else None)

    def show(self, words: list[str]) -> None:
        printer = self.printer
        names = {"\n": "\\n", "\r": "\\r", "\t": "\\t", "\x1f": "\\037", "\x1e": "\\036", '"': '\\"', "\\": "\\\\"}

        def shown(text: str) -> str:
            return '"' + "".join(names.get(character, character) for character in text) + '"'

        lines = (
            ("echo", "on" if self.echo else "off"),
            ("eqp", "off"),
            ("explain", "auto"),
            ("headers", "on" if printer.headers else "off"),
            ("mode", printer.mode),
            ("nullvalue", shown(printer.null)),
            ("output", self.output_name),
            ("colseparator", shown(printer.column_separator)),
            ("rowseparator", shown(printer.row_separator)),
            ("stats", "off"),
            ("width", "".join(f"{width} " for width in printer.widths)),
            ("filename", self.database_name),
        )
        for name, value in lines:
            self.write(f"{name:>12}: {value}\n")

    def print_text(self, words: list[str]) -> None:
        self.write(" ".join(words) + "\n")

    def print_help(self, words: list[str]) -> None:
        self.write(_HELP)

    def leave(self, words: list[str]) -> None:
        raise Quit(int(words[0][:9]) & 255 if words and words[0].isdecimal() else 0)

    def change_directory(self, words: list[str]) -> None:
        name = _one(words, "cd DIRECTORY")
        if not self.ctx.fs.is_dir(self.ctx.path(name)):
            raise DotError(f'Cannot change to directory "{name}"')
        self.ctx.cwd = self.ctx.fs.realpath(self.ctx.path(name))

    def open_database(self, words: list[str]) -> None:
        names = [word for word in words if not word.startswith("-")]
        self.flush()
        if self._database is not None:
            self._database.close()
            self._database = None
        self.database_name = names[-1] if names else ":memory:"

    def set_output(self, words: list[str]) -> None:
        self._end_output()
        if words and words[0] not in ("stdout", "off"):
            if words[0].startswith("|"):
                raise DotError("Error: pipes are not supported by this sandbox")
            self.output = self.ctx.fs.open(self.ctx.path(words[0]), "w", permissions=0o666 & ~self.ctx.umask)
            self.output_name = words[0]

    def set_once(self, words: list[str]) -> None:
        self.set_output(words)
        self.once = self.output is not None

    def read_file(self, words: list[str]) -> None:
        name = _one(words, "read FILE")
        try:
            text = decode(self.ctx.fs.read_bytes(self.ctx.path(name)))
        except OSError:
            raise DotError(f'Error: cannot open "{name}"') from None
        self.depth += 1
        if self.depth > _READ_DEPTH:
            raise DotError("Input nesting limit reached at line 1. Check recursion.")
        self.run_text(text)
        self.depth -= 1

    # the schema

    def list_databases(self, words: list[str]) -> None:
        path = self.database.path or '""'
        self.write(f"main: {path} {'r/o' if self.read_only else 'r/w'}\n")

    def _columns(self, names: list[str]) -> None:
        """Names in columns, as `ls` shows them."""
        if not names:
            return
        width = max(map(len, names))
        count = max(1, 80 // (width + 2))
        rows = (len(names) + count - 1) // count
        for row in range(rows):
            self.write("  ".join(name.ljust(width) for name in names[row::rows]) + "\n")

    def list_tables(self, words: list[str]) -> None:
        condition = f" AND name LIKE {sql_literal(words[0])}" if words else ""
        kinds = "type IN ('table','view')"
        sql = f"SELECT name FROM sqlite_schema WHERE {kinds} AND {_OWN}{condition} ORDER BY 1"
        self._columns([str(row[0]) for row in self.query(sql)])

    def list_indexes(self, words: list[str]) -> None:
        condition = f" AND tbl_name LIKE {sql_literal(words[0])}" if words else ""
        self._columns([str(row[0]) for row in self.query(f"SELECT name FROM sqlite_schema WHERE type='index'{condition} ORDER BY 1")])

    def print_schema(self, words: list[str]) -> None:
        words = [word for word in words if not word.startswith("-")]
        condition = f" AND lower(tbl_name) LIKE {sql_literal(words[0].lower())}" if words else ""
        sql = f"SELECT sql, type, name FROM sqlite_schema WHERE sql IS NOT NULL AND {_OWN}{condition} ORDER BY rowid"
        for text, kind, name in self.query(sql):
            self.write(_create(str(text)))
            if kind == "view":
                columns = self.query(f"SELECT name FROM pragma_table_info({sql_literal(str(name))})")
                self.write(f"\n/* {quote_name(str(name))}({','.join(quote_name(str(column[0])) for column in columns)}) */")
            self.write(";\n")

    def print_full_schema(self, words: list[str]) -> None:
        for (text,) in self.query(f"SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL AND {_OWN} ORDER BY rowid"):
            self.write(_create(str(text)) + ";\n")
        self.write("/* No STAT tables available */\n")

    def dump(self, words: list[str]) -> None:
        words = [word for word in words if not word.startswith("-")]
        condition = " AND (" + " OR ".join(f"name LIKE {sql_literal(word)}" for word in words) + ")" if words else ""
        self.write("PRAGMA foreign_keys=OFF;\nBEGIN TRANSACTION;\n")
        tables = self.query(
            f"SELECT name, sql FROM sqlite_schema WHERE type='table' AND sql IS NOT NULL{condition} "
            "ORDER BY tbl_name='sqlite_sequence', rowid"
        )
        for name, sql in tables:
            self._dump_table(str(name), str(sql))
        others = f"SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL AND type IN ('index','trigger','view'){condition}"
        for (sql,) in self.query(others):
            self.write(f"{sql};\n")
        self.write("COMMIT;\n")

    def _dump_table(self, name: str, sql: str) -> None:
        if name == "sqlite_sequence":
            self.write("DELETE FROM sqlite_sequence;\n")
        elif name.startswith("sqlite_"):
            return
        elif sql.upper().startswith("CREATE VIRTUAL TABLE"):
            self.write(f"PRAGMA writable_schema=ON;\n{sql};\n")
            return
        else:
            self.write(_create(sql) + ";\n")
        query = f'SELECT * FROM "{name.replace(chr(34), chr(34) * 2)}"'
        for row in self.database.rows(self.database.execute(query), query):
            values = ",".join(sql_literal(value, escape_newlines=True) for value in row)  # type: ignore[arg-type]
            self.write(f"INSERT INTO {quote_name(name)} VALUES({values});\n")

    # .import

    def import_file(self, words: list[str]) -> None:
        from agentsandbox.commands._sqlite_import import read_rows

        separators = (self.printer.column_separator, self.printer.row_separator)
        is_csv = self.printer.mode == "csv"
        if is_csv and separators[1] == "\r\n":
            self.printer.row_separator = "\n"  # the shell reads and writes with one setting
        skip = 0
        names: list[str] = []
        rest = iter(words)
        for word in rest:
            if word in ("--csv", "-csv"):
                is_csv, separators = True, (",", "\n")
            elif word in ("--ascii", "-ascii"):
                is_csv, separators = False, ("\x1f", "\x1e")
            elif word in ("--skip", "-skip"):
                skip = int(next(rest, "0")[:9] or 0)
            elif word.startswith("-"):
                raise DotError(f'ERROR: unknown option: "{word}".  Usage:')
            else:
                names.append(word)
        if len(names) != 2:
            raise DotError("ERROR: missing FILE argument. Usage:" if not names else "ERROR: missing TABLE argument. Usage:")
        try:
            text = decode(self.ctx.fs.read_bytes(self.ctx.path(names[0])))
        except OSError:
            raise DotError(f'Error: cannot open "{names[0]}"') from None
        rows = read_rows(text, separators[0], separators[1], is_csv, self.ctx.budget)
        for _ in range(skip):
            next(rows, None)
        self._import_rows(names[0], names[1], rows)

    def _import_rows(self, file: str, table: str, rows: object) -> None:
        from collections.abc import Iterator

        assert isinstance(rows, Iterator)
        quoted = '"' + table.replace('"', '""') + '"'
        columns = len(self.query(f"SELECT 1 FROM pragma_table_info({sql_literal(table)})"))
        if not columns:
            line, header = next(rows, (0, []))
            if not header:
                raise DotError(f"{file}: empty file")
            columns = len(header)
            spelled = ", ".join('"' + name.replace('"', '""') + '" TEXT' for name in header)
            self.database.execute(f"CREATE TABLE IF NOT EXISTS {quoted}(\n{spelled})")
        sql = f"INSERT INTO {quoted} VALUES({','.join('?' * columns)})"
        connection = self.database.connection
        opened = not connection.in_transaction
        if opened:
            connection.execute("BEGIN")
        for line, row in rows:
            self.ctx.budget.step()
            given: list[str | None] = list(row)
            if len(given) < columns:
                self.complain(f"{file}:{line}: expected {columns} columns but found {len(given)} - filling the rest with NULL")
                self.errors -= 1
                given += [None] * (columns - len(given))
            elif len(given) > columns:
                self.complain(f"{file}:{line}: expected {columns} columns but found {len(given)} - extras ignored")
                self.errors -= 1
                del given[columns:]
            self._insert(connection, sql, given, file, line)
        if opened:
            connection.execute("COMMIT")

    def _insert(self, connection: object, sql: str, row: list[str | None], file: str, line: int) -> None:
        import sqlite3

        assert isinstance(connection, sqlite3.Connection)
        try:
            connection.execute(sql, row)
        except (sqlite3.Error, sqlite3.Warning) as error:
            found = self.database.explain(error, sql, running=True)
            self.complain(f"{file}:{line}: INSERT failed: {found.message}")
        except UnicodeEncodeError:
            self.complain(f"{file}:{line}: INSERT failed: text is not UTF-8")


def _one(words: list[str], usage: str) -> str:
    if len(words) != 1:
        raise DotError(f"Usage: .{usage}")
    return words[0]


def _create(sql: str) -> str:
    """A CREATE TABLE statement as it is shown when the name is quoted."""
    for quote in ('"', "'"):
        if sql.startswith(f"CREATE TABLE {quote}"):
            return "CREATE TABLE IF NOT EXISTS " + sql[len("CREATE TABLE ") :]
    return sql


def _words(text: str) -> list[str]:
    """The words of a dot command: blanks separate, quotes group, C escapes work in double quotes."""
    lexer = shlex.shlex(text, posix=True, punctuation_chars="")
    lexer.whitespace_split = True
    lexer.commenters = ""
    lexer.escape = ""
    escapes = {"\\n": "\n", "\\t": "\t", "\\r": "\r", "\\\\": "\\"}
    words: list[str] = []
    for word in lexer:
        for sign, character in escapes.items():
            word = word.replace(sign, character)
        words.append(word)
    return words


def _pointer(error: SqlError, sql: str) -> str:
    """The statement with a mark under the error, if its place is known."""
    at = error.offset
    if at < 0 or at >= len(sql):
        return ""
    if at > 50:
        sql, at = sql[at - 50 :], 50
    shown = "".join(" " if character.isspace() else character for character in sql[:78])
    return f"\n  {shown}\n  {' ' * at}^--- error here" if at < 25 else f"\n  {shown}\n  {' ' * (at - 14)}error here ---^"


_COMMANDS: dict[str, Callable[[Shell, list[str]], None]] = {
    "bail": Shell.set_bail,
    "cd": Shell.change_directory,
    "changes": Shell.set_changes,
    "databases": Shell.list_databases,
    "dump": Shell.dump,
    "echo": Shell.set_echo,
    "exit": Shell.leave,
    "fullschema": Shell.print_full_schema,
    "headers": Shell.set_headers,
    "help": Shell.print_help,
    "import": Shell.import_file,
    "indexes": Shell.list_indexes,
    "indices": Shell.list_indexes,
    "mode": Shell.set_mode,
    "nullvalue": Shell.set_null,
    "once": Shell.set_once,
    "open": Shell.open_database,
    "output": Shell.set_output,
    "print": Shell.print_text,
    "quit": Shell.leave,
    "read": Shell.read_file,
    "schema": Shell.print_schema,
    "separator": Shell.set_separator,
    "show": Shell.show,
    "tables": Shell.list_tables,
    "width": Shell.set_widths,
}
