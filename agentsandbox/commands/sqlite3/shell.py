"""The shell around a database: SQL and dot commands, where output goes."""

from __future__ import annotations

import re

from agentsandbox.commands.sqlite3.database import Database, SqlError, is_complete, statements
from agentsandbox.commands.sqlite3.dump import dump
from agentsandbox.commands.sqlite3.files import DatabaseFile, OpenError
from agentsandbox.commands.sqlite3.output import Printer
from agentsandbox.commands.sqlite3.schema import (
    list_databases,
    list_indexes,
    list_tables,
    print_schema,
)
from agentsandbox.commands.sqlite3.targets import read_source, set_once, set_output
from agentsandbox.commands.sqlite3.words import DotError, one_word, only_name, split_words
from agentsandbox.contract.command import CommandContext, describe_os_error
from agentsandbox.kernel.streams import decode, encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from agentsandbox.commands.sqlite3.protocols import Output

_HELP = """\
.backup FILE             Write the database to a file
.bail on|off             Stop after the first error
.databases               Names and files of the databases
.dump ?TABLE?            The content as SQL
.echo on|off             Show commands before they run
.exit ?CODE?             Leave, with a status
.headers on|off          Show column names
.help                    This list
.import FILE TABLE       Read rows from a file or a command, "|CMD"
.indexes ?TABLE?         Names of indexes
.mode ?MODE?             The form of the output
.nullvalue STRING        The text for NULL
.once FILE               Send the next output to a file or a command, "|CMD"
.open FILE               Close this database and open another
.output ?FILE?           Send output to a file or a command, "|CMD"
.print STRING...         Write a text
.quit                    Leave
.read FILE               Run the commands of a file or those that a command prints, "|CMD"
.save FILE               As .backup
.schema ?PATTERN?        The CREATE statements
.separator COL ?ROW?     The separators of columns and rows
.system CMD ARGS...      Run a command
.tables ?PATTERN?        Names of tables
.timeout MS              Accepted: no other process has the database open
.width NUM1 NUM2 ...     Widths of columns
"""
_READ_DEPTH = 20


_JOURNAL = re.compile(
    r"pragma\s++(?:main\.)?journal_mode\s*+(?:[=(]\s*+)?['\"]?(\w*+)['\"]?\s*+(?:\)\s*+)?;?",
    re.IGNORECASE,
)
_DATABASE_LIST = re.compile(r"pragma\s+database_list\s*;?", re.IGNORECASE)
_MODES = ("line", "column", "list", "csv", "tabs", "markdown", "table", "box", "json")
"""The modes, in the order in which an abbreviation is looked up."""
_WRAP = 60
"""The widest cell of a mode with columns that `.mode` has chosen."""


class Quit(Exception):
    """`.quit` and `.exit`."""

    def __init__(self, status: int) -> None:
        self.status = status
        super().__init__()


class Shell:
    """One run of `sqlite3`."""

    def __init__(self, ctx: CommandContext, database: str, *, read_only: bool) -> None:
        self.ctx = ctx
        self.database_name = database
        self.read_only = read_only
        self._database: Database | None = None
        self.held: list[str] = []
        self.printer = Printer(self.write, ctx.budget.charge, ctx.budget.step)
        self.output: Output | None = None
        self.once = False
        self.bail = False
        self.echo = False
        self.depth = 0
        self.errors = 0

    @property
    def database(self) -> Database:
        """The database, which is opened when it is first needed."""
        self.touch_database()
        assert self._database is not None
        return self._database

    def touch_database(self) -> None:
        """Open the database, so that its file exists in the end."""
        if self._database is None:
            self._database = Database(self.ctx, self.database_name, read_only=self.read_only)

    def close(self) -> None:
        """Write pending output and store the database."""
        try:
            self.flush()
            self.end_output()
        finally:
            if self._database is not None:
                self._database.close()
                self._database = None

    # output

    def write(self, text: str) -> None:
        """Write text to stdout or the file of .output; it is buffered."""
        self.held.append(text)
        if len(self.held) > 512:
            self.flush()

    def flush(self) -> None:
        """Write pending output."""
        if self.held:
            data = encode("".join(self.held))
            self.held.clear()
            (self.output or self.ctx.stdout).write(data)

    def complain(self, text: str) -> None:
        """Report an error on stderr, after all output so far."""
        self.flush()
        self.ctx.stderr.write(encode(text + "\n"))
        self.errors += 1

    def end_output(self) -> None:
        """End the output to a file or command."""
        self.flush()
        output, self.output = self.output, None
        if output is not None:
            output.release()

    # running

    def run_word(self, word: str) -> int:
        """Run a command given as an operand; return its exit status, 0 to continue."""
        if word.startswith("."):
            return 0 if self.run_dot(word) else 1
        self.touch_database()
        for statement, start in statements(word, self.ctx):
            try:
                self.run_sql(statement)
            except SqlError as error:
                shown = word[start:].lstrip() if start else word
                if not start and error.offset >= 0:  # blanks before the first statement are shown
                    error.offset += len(word) - len(word.lstrip())
                kind = "stepping" if error.running else "in prepare"
                code = f" ({error.code})" if error.code > 1 else ""
                self.complain(f"Error: {kind}, {error.message}{code}{_pointer(error, shown)}")
                return error.code
        return 0

    def run_text(self, text: str) -> None:
        """Run commands of a file or stdin. A NUL ends a line; errors stop it only with .bail."""
        lines = re.sub("\0[^\n]*\n?", "", text).split("\n")
        if not lines[-1]:
            lines.pop()
        pending = ""
        first = 0
        for number, line in enumerate(lines, 1):
            self.ctx.budget.step()
            if not pending.strip() and line.startswith((".", "#")):
                if self.echo:
                    self.write(line + "\n")
                if line.startswith(".") and not self.run_dot(line) and self.bail:
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
                if is_complete(pending):
                    self._run_lines(pending, first)
                    pending = ""
        self._run_lines(pending, first)

    def _run_lines(self, text: str, line: int) -> None:
        """Run the statements of some lines, up to one that fails."""
        for statement, start in statements(text, self.ctx):
            if not self._run_statement(statement, line, text[start:]):
                break

    def _run_statement(self, statement: str, line: int, rest: str) -> bool:
        """Run one statement; whether it succeeded. Errors show the `rest` of its lines."""
        if self.echo:
            self.write(statement.strip() + "\n")
        try:
            self.run_sql(statement)
            if self.once:
                self.once = False
                self.end_output()
        except SqlError as error:
            kind = "Runtime" if error.running else "Parse"
            code = f" ({error.code})" if error.code > 1 else ""
            where = _pointer(error, rest.lstrip())
            self.complain(f"{kind} error near line {line}: {error.message}{code}{where}")
            if self.bail:
                raise Quit(1) from None
            return False
        return True

    def run_sql(self, statement: str) -> None:
        """Run one statement and print its rows. Raises `SqlError`."""
        statement = statement.strip()
        if not statement.strip(";").strip():
            return
        database = self.database
        journal = _JOURNAL.fullmatch(statement)
        if journal is not None:
            self.printer.print(["journal_mode"], iter([(database.journal_mode(journal[1]),)]))
            return
        if _DATABASE_LIST.fullmatch(statement):
            self.printer.print(["seq", "name", "file"], iter(database.databases()))
            return
        cursor = database.execute(statement)
        if cursor.description is not None:
            names = [column[0] for column in cursor.description]
            if statement.lstrip().lower().startswith("explain query plan"):
                self._print_plan(list(database.rows(cursor, statement)))
            else:
                rows = database.rows(cursor, statement)
                self.printer.print(names, rows)  # type: ignore[arg-type]

    def _print_plan(self, rows: list[tuple[object, ...]]) -> None:
        if not rows:
            return
        self.write("QUERY PLAN\n")
        children: dict[object, list[tuple[object, ...]]] = {}
        for row in rows:
            children.setdefault(row[1], []).append(row)
        pending = [(row, "", at == 0) for at, row in enumerate(reversed(children.get(0, [])))]
        while pending:
            row, indent, last = pending.pop()
            self.write(f"{indent}{'`--' if last else '|--'}{row[3]}\n")
            deeper = indent + ("   " if last else "|  ")
            pending.extend(
                (child, deeper, at == 0)
                for at, child in enumerate(reversed(children.get(row[0], [])))
            )

    # dot commands

    def run_dot(self, line: str) -> bool:
        """Run one dot command; whether it succeeded."""
        words = split_words(line[1:])
        if not words:
            return True
        name = words[0]
        try:
            run = _find_command(name)
            if run is None:
                problem = f'unknown command or invalid arguments:  "{name}"'
                raise DotError(f'Error: {problem}. Enter ".help" for help')
            run(self, words[1:])
        except DotError as error:
            if str(error):
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
        """Return all rows of a query."""
        return list(self.database.rows(self.database.execute(sql), sql))

    def is_on(self, text: str) -> bool:
        """Whether a switch is on; any other word is off, with a message."""
        if text.lower() in ("on", "yes", "1"):
            return True
        if text.lower() not in ("off", "no", "0"):
            if text.isdecimal():
                return True
            self.flush()
            self.ctx.stderr.write(encode(f'ERROR: Not a boolean value: "{text}". Assuming "no".\n'))
        return False

    def set_bail(self, words: list[str]) -> None:
        self.bail = self.is_on(one_word(words, "bail on|off"))

    def set_echo(self, words: list[str]) -> None:
        self.echo = self.is_on(one_word(words, "echo on|off"))

    def set_headers(self, words: list[str]) -> None:
        self.printer.headers = self.is_on(one_word(words, "headers on|off"))
        self.printer.headers_set = True

    def set_null(self, words: list[str]) -> None:
        self.printer.null = one_word(words, "nullvalue STRING")

    def set_separator(self, words: list[str]) -> None:
        if not 1 <= len(words) <= 2:
            raise DotError("Usage: .separator COL ?ROW?")
        self.printer.column_separator = words[0]
        if len(words) > 1:
            self.printer.row_separator = words[1]

    def set_widths(self, words: list[str]) -> None:
        self.printer.widths = [
            max(-10000, min(10000, int(word[:8]))) if word.lstrip("-").isdecimal() else 0
            for word in words
        ]

    def set_mode(self, words: list[str]) -> None:
        if not words:
            self.write(f"current output mode: {self._mode()}\n")
            return
        if len(words) > 1 or words[-1].startswith("-"):
            raise DotError(f'extra argument: "{words[-1]}"')
        name = words[0]
        mode = next((mode for mode in _MODES if f"{mode}s".startswith(name)), None)
        if mode is None:
            raise DotError(f"Error: mode should be one of: {' '.join(sorted(_MODES))}")
        self.printer.set_mode(mode)
        self.printer.wrap = _WRAP

    def _mode(self) -> str:
        """Return the mode with its options."""
        printer = self.printer
        if printer.mode not in ("column", "table", "box", "markdown"):
            return printer.mode
        return f"{printer.mode} --wrap {printer.wrap} --wordwrap off --noquote"

    def print_text(self, words: list[str]) -> None:
        self.write(" ".join(words) + "\n")

    def print_help(self, words: list[str]) -> None:
        shown = [
            line
            for line in _HELP.splitlines(keepends=True)
            if not words or line.startswith(f".{words[0].lstrip('.')}")
        ]
        self.write("".join(shown) or f"Nothing matches '{words[0]}'\n")

    def leave(self, words: list[str]) -> None:
        raise Quit(int(words[0][:9]) & 255 if words and words[0].isdecimal() else 0)

    def open_database(self, words: list[str]) -> None:
        name = only_name(words)
        self.flush()
        if self._database is not None:
            self._database.close()
            self._database = None
        self.database_name = name or ":memory:"
        self.read_only = False

    def read_file(self, words: list[str]) -> None:
        name = one_word(words, "read FILE")
        text = decode(read_source(self, name))
        self.depth += 1
        if self.depth > _READ_DEPTH:
            raise DotError("Input nesting limit reached at line 1. Check recursion.")
        before = self.errors
        self.run_text(text)
        self.depth -= 1
        if self.errors > before:
            raise DotError("")

    # other files

    def back_up(self, words: list[str]) -> None:
        name = only_name(words)
        if not name:
            raise DotError("missing FILENAME argument on .backup")
        try:
            file = DatabaseFile(self.ctx, name)
        except OpenError:
            raise DotError(f'Error: cannot open "{name}"') from None
        file.store(self.database.content())

    def run_shell(self, words: list[str]) -> None:
        if not words:
            raise DotError("Usage: .system COMMAND")
        self.flush()
        line = " ".join(f'"{word}"' if " " in word else word for word in words)
        status = self.ctx.run(["sh", "-c", line], cwd=self.ctx.cwd)
        if status:
            self.ctx.stderr.write(encode(f"System command returns {status << 8}\n"))

    def import_file(self, words: list[str]) -> None:
        from agentsandbox.commands.sqlite3.importing import import_file

        import_file(self, words)


def _pointer(error: SqlError, sql: str) -> str:
    """Return the statement with a mark under the error, "" if its place is unknown."""
    at = error.offset
    if at < 0 or at >= len(sql):
        return ""
    if at > 50:
        sql, at = sql[at - 50 :], 50
    shown = "".join(" " if character.isspace() else character for character in sql[:78])
    return (
        f"\n  {shown}\n  {' ' * at}^--- error here"
        if at < 25
        else f"\n  {shown}\n  {' ' * (at - 14)}error here ---^"
    )


def _accept(shell: Shell, words: list[str]) -> None:
    """`.timeout`: no other process has the database open."""


_COMMANDS: dict[str, Callable[[Shell, list[str]], None]] = {
    "backup": Shell.back_up,
    "bail": Shell.set_bail,
    "databases": list_databases,
    "dump": dump,
    "echo": Shell.set_echo,
    "exit": Shell.leave,
    "headers": Shell.set_headers,
    "help": Shell.print_help,
    "import": Shell.import_file,
    "indexes": list_indexes,
    "indices": list_indexes,
    "mode": Shell.set_mode,
    "nullvalue": Shell.set_null,
    "once": set_once,
    "open": Shell.open_database,
    "output": set_output,
    "print": Shell.print_text,
    "quit": Shell.leave,
    "read": Shell.read_file,
    "save": Shell.back_up,
    "schema": print_schema,
    "separator": Shell.set_separator,
    "shell": Shell.run_shell,
    "system": Shell.run_shell,
    "tables": list_tables,
    "timeout": _accept,
    "width": Shell.set_widths,
}


def _find_command(name: str) -> Callable[[Shell, list[str]], None] | None:
    """Return the dot command that has the name or begins with its two or more letters."""
    matches = [command for command in _COMMANDS if command.startswith(name) and len(name) > 1]
    return _COMMANDS[name if name in _COMMANDS else matches[0]] if matches else None
