"""A database in memory, made from a file of the sandbox and stored to it.

SQLite runs in the host's process, so it is fenced in:

* It never opens a file. A database is deserialized from the sandbox's file, serialized back when it
  is closed, and ATTACH is done the same way. An authorizer refuses everything else.
* Pragmas and functions that would reach files, extensions or the limits are refused.
* A progress handler draws on the budget, and watches memory (see `memory`).
* Lengths are limited before SQLite allocates them. Its own `printf` pads first and compares with
  the limit afterwards, so a function that looks at the widths replaces it.
"""

from __future__ import annotations

import re
import sqlite3

from agentsandbox.commands.sqlite3.files import DatabaseFile, OpenError, parse_attach, parse_detach
from agentsandbox.commands.sqlite3.memory import MemoryWatch
from agentsandbox.commands.sqlite3.output import sql_literal
from agentsandbox.contract.command import CommandContext
from agentsandbox.errors import LimitReached
from agentsandbox.kernel.budget import VALUES
from agentsandbox.kernel.streams import decode, encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_STEPS = 100
"""Instructions of the virtual machine between two calls of the progress handler: a few rows, each
of which may be as large as a value."""
_FORBIDDEN_PRAGMAS = frozenset(
    """
    temp_store temp_store_directory data_store_directory max_page_count hard_heap_limit
    soft_heap_limit mmap_size threads trusted_schema writable_schema cache_size default_cache_size
    cell_size_check lock_proxy_file
    """.split()
)
_FORBIDDEN_FUNCTIONS = frozenset(("load_extension", "edit", "fts3_tokenizer", "fsdir", "lsdir"))
_PAGE = 4096
_BINDINGS = re.compile("The current statement uses ([0-9]+)")
_NAMED = re.compile("[:@$][A-Za-z_]")
_WIDTH = re.compile("[0-9]{7,}")


_STRAY = re.compile("[\ud800-\udfff]")
_NO_CODE = re.compile(r"'(?:[^']|'')*+'|--[^\n]*+|/\*.*?(?:\*/|\Z)", re.DOTALL)
"""Texts and comments: the place of an error is not inside them."""


_TEXT = re.compile(r"'(?>(?:[^']++|'')*)'")


def _as_bytes(found: re.Match[str]) -> str:
    """Return a text as SQL; in hex if it is not UTF-8, which Python's SQLite refuses."""
    if not _STRAY.search(found[0]):
        return found[0]
    return f"CAST(x'{encode(found[0][1:-1].replace(chr(39) * 2, chr(39))).hex()}' AS TEXT)"


def is_complete(text: str) -> bool:
    """Whether a text is a complete statement."""
    return sqlite3.complete_statement(text if text.isascii() else _STRAY.sub("?", text))


def _without_texts(statement: str) -> str:
    return _NO_CODE.sub(lambda found: " " * len(found[0]), statement)


class SqlError(Exception):
    """A statement failed. `code` is SQLite's, `offset` the place of the error (-1 if unknown)."""

    def __init__(self, message: str, code: int, *, running: bool, offset: int = -1) -> None:
        self.message = message
        self.code = code
        self.running = running
        self.offset = offset
        super().__init__(message)


class _Nulls(dict[str, None]):
    """The values of named parameters: there are none."""

    def __missing__(self, name: str) -> None:
        return None


class Database:
    """One open database file, and those that are attached to it. Raises `OpenError`."""

    def __init__(self, ctx: CommandContext, name: str, *, read_only: bool = False) -> None:
        self.ctx = ctx
        self.pending: BaseException | None = None
        self.files = {"main": DatabaseFile(ctx, name, read_only=read_only)}
        """The file of each database, by its name."""
        main = self.files["main"]
        self.read_only = main.read_only
        self.journal = "wal" if main.logged else "delete" if main.path else "memory"
        """What `PRAGMA journal_mode` prints: the database itself is always in memory."""
        self.complaint = ""
        """Why a function of ours failed, which SQLite's message does not contain."""
        limits = ctx.budget.limits
        self.memory = MemoryWatch(VALUES * limits.value_bytes + 2 * limits.file_bytes)
        self.connection = sqlite3.connect(":memory:", isolation_level=None, cached_statements=0)
        self._fence()
        if main.original:
            try:
                content = main.content()
                ctx.budget.work(8 * len(content))
                self.connection.deserialize(content)
            except BaseException:
                self.connection.close()
                raise
        connection = self.connection
        for pragma in ["temp_store=MEMORY", f"max_page_count={self._most_pages()}"] + [
            "query_only=1"
        ] * self.read_only:
            try:
                connection.execute(f"PRAGMA {pragma}")
            except sqlite3.DatabaseError:
                break  # no database: the first statement will say so
        connection.set_authorizer(self._authorize)

    def _most_pages(self) -> int:
        return max(self.ctx.budget.limits.file_bytes // _PAGE, 10)

    def _fence(self) -> None:
        connection, most = self.connection, self.ctx.budget.value_bytes
        connection.text_factory = decode
        connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, most)
        connection.setlimit(sqlite3.SQLITE_LIMIT_SQL_LENGTH, min(most, 1_000_000))
        connection.setlimit(sqlite3.SQLITE_LIMIT_EXPR_DEPTH, 500)
        connection.setlimit(sqlite3.SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 1000)
        connection.setlimit(sqlite3.SQLITE_LIMIT_WORKER_THREADS, 0)
        connection.set_progress_handler(self._progress, _STEPS)

        def format_values(*values: object) -> str | None:
            """SQLite's `printf`, after a look at the widths."""
            template = str(values[0]) if values else ""
            given = "*" in template and any(
                isinstance(value, int) and abs(value) > most for value in values[1:]
            )
            if given or any(int(width[:12]) > most for width in _WIDTH.findall(template)):
                raise sqlite3.DataError("string or blob too big")
            formatter = sqlite3.connect(":memory:", cached_statements=0)
            try:
                formatter.text_factory = decode
                formatter.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, most)
                marks = ",".join("?" * len(values))
                result: str | None = formatter.execute(
                    f"SELECT printf({marks})", values
                ).fetchone()[0]
            finally:
                formatter.close()
            return result

        for name in ("printf", "format"):
            connection.create_function(name, -1, format_values, deterministic=True)
        connection.create_function("regexp", 2, self._matches, deterministic=True)

    def _matches(self, pattern: object, text: object) -> int | None:
        """`text REGEXP pattern`"""
        from agentsandbox.kernel.regexps import RegexError
        from agentsandbox.kernel.regexps.perl import compile_perl

        if pattern is None or text is None:
            return None
        try:
            found = compile_perl(str(pattern)).search(str(text), budget=self.ctx.budget)
        except RegexError as error:
            self.complaint = str(error)
            raise sqlite3.DataError(str(error)) from None
        except BaseException as unwind:  # noqa: BLE001 - as in `_progress`
            self.pending = unwind
            raise sqlite3.DataError(str(unwind)) from None
        return 1 if found is not None else 0

    def _progress(self) -> int:
        try:
            self.ctx.budget.step(_STEPS // 2)
            self.memory.look()
        except BaseException as unwind:  # noqa: BLE001 - SQLite would drop a task's cancellation
            self.pending = unwind
            return 1
        return 0

    def _authorize(
        self,
        action: int,
        first: str | None,
        second: str | None,
        _schema: str | None,
        _trigger: str | None,
    ) -> int:
        if action == sqlite3.SQLITE_ATTACH:
            # VACUUM attaches a database without a name for its own use
            return sqlite3.SQLITE_OK if first in ("", ":memory:") else sqlite3.SQLITE_DENY
        if (
            action == sqlite3.SQLITE_PRAGMA
            and (first or "").lower() in _FORBIDDEN_PRAGMAS
            and second is not None
        ):
            return sqlite3.SQLITE_DENY
        if action == sqlite3.SQLITE_FUNCTION and (second or "").lower() in _FORBIDDEN_FUNCTIONS:
            return sqlite3.SQLITE_DENY
        return sqlite3.SQLITE_OK

    def execute(self, statement: str) -> sqlite3.Cursor:
        """Run one statement. Raises `SqlError`."""
        if not statement.isascii():
            statement = _TEXT.sub(_as_bytes, statement)
        attached = parse_attach(statement)
        if attached is not None and attached[0] not in (":memory:", ""):
            return self._attach(*attached)
        detached = parse_detach(statement)
        if detached is not None and detached.lower() in self.files and detached.lower() != "main":
            return self._detach(detached, statement)
        return self._execute(statement)

    def _attach(self, name: str, schema: str) -> sqlite3.Cursor:
        """`ATTACH name AS schema`: read the file into memory, until it is detached or closed."""
        try:
            file = DatabaseFile(self.ctx, name, read_only=self.read_only)
        except OpenError:
            raise SqlError(f"unable to open database: {name}", 14, running=True) from None
        if file.path and any(file.path == other.path for other in self.files.values()):
            raise SqlError("database is locked", 5, running=True)
        cursor = self._execute(f"ATTACH ':memory:' AS {sql_literal(schema)}")
        quoted = '"' + schema.replace('"', '""') + '"'
        connection = self.connection
        connection.set_authorizer(None)  # deserialize attaches
        try:
            if file.original:
                connection.deserialize(file.content(), name=schema)
            connection.execute(f"PRAGMA {quoted}.max_page_count={self._most_pages()}")
            connection.execute(f"SELECT 1 FROM {quoted}.sqlite_schema").close()
        except sqlite3.DatabaseError as error:
            connection.execute(f"DETACH {quoted}")
            raise self.explain(error, "", running=True) from None
        finally:
            connection.set_authorizer(self._authorize)
        self.files[schema.lower()] = file
        return cursor

    def _detach(self, schema: str, statement: str) -> sqlite3.Cursor:
        data = self.content(schema)
        cursor = self._execute(statement)
        self.files.pop(schema.lower()).store(data)
        return cursor

    def databases(self) -> list[tuple[int, str, str]]:
        """(number, name, path) of each database, as `PRAGMA database_list` tells."""
        rows = self.connection.execute("PRAGMA database_list").fetchall()
        return [
            (number, name, self.files[name.lower()].path if name.lower() in self.files else "")
            for number, name, _ in rows
        ]

    def _execute(self, statement: str) -> sqlite3.Cursor:
        try:
            try:
                return self.connection.execute(statement)
            except sqlite3.ProgrammingError as error:
                count = _BINDINGS.search(str(error))
                if count is None:
                    raise
                named = _NAMED.search(statement) is not None
                values = _Nulls() if named else [None] * int(count[1])
                return self.connection.execute(statement, values)
        except (sqlite3.Error, sqlite3.Warning) as error:
            raise self.explain(error, statement) from None
        except UnicodeEncodeError:
            raise SqlError("statements must be UTF-8", 1, running=False) from None
        except (ValueError, OverflowError) as error:
            raise SqlError(str(error), 1, running=False) from None

    def journal_mode(self, wanted: str) -> str:
        """Return the answer of `PRAGMA journal_mode`; set the mode if one is `wanted`."""
        mode = wanted.lower()
        main = self.files["main"]
        known = (
            ("delete", "truncate", "persist", "memory", "wal", "off")
            if main.path
            else ("memory", "off")
        )
        if mode in known and not self.read_only:
            self.journal = mode
            main.logged = mode == "wal"
        return self.journal

    def content(self, schema: str = "main") -> bytes:
        """Return a database as the bytes of its file, b"" while it is empty."""
        self.ctx.budget.breathe()
        try:
            return self.connection.serialize(name=schema)
        except sqlite3.OperationalError:
            return b""

    def rows(self, cursor: sqlite3.Cursor, statement: str) -> Iterator[tuple[object, ...]]:
        """Yield the rows of a statement. Raises `SqlError`."""
        while True:
            try:
                found = cursor.fetchmany(64)
            except (sqlite3.Error, sqlite3.Warning) as error:
                raise self.explain(error, statement, running=True) from None
            if not found:
                return
            self.ctx.budget.step(len(found))
            yield from found

    def explain(self, error: Exception, statement: str, *, running: bool = False) -> SqlError:
        """Return the error as the shell words it, or raise the limit that stopped the statement."""
        if self.pending is not None:
            pending, self.pending = self.pending, None
            raise pending
        code = getattr(error, "sqlite_errorcode", 1) & 0xFF
        message, self.complaint = self.complaint or str(error), ""
        if code == 18 or "too big" in message:
            raise LimitReached("value_bytes") from None
        if not running and code != 26:
            running = self._prepares(statement)
        offset = -1 if running else self._offset(message, statement)
        return SqlError(message, code, running=running, offset=offset)

    def _prepares(self, statement: str) -> bool:
        try:
            self.connection.execute("EXPLAIN " + statement).close()
        except (sqlite3.Error, sqlite3.Warning):
            return False
        return True

    def _offset(self, message: str, statement: str) -> int:
        """Return the place of an error in the statement, -1 if SQLite would not show it."""
        near = re.fullmatch(r'near "(.*)": syntax error', message, re.DOTALL)
        if near is not None:
            return self._offset_near(near[1], statement)
        statement = _without_texts(statement)
        arguments = re.fullmatch(
            r"wrong number of arguments to function (.*)\(\)", message, re.DOTALL
        )
        if arguments is not None:
            called = re.search(
                rf"(?<!\w){re.escape(arguments[1])}(?=\s*\()", statement, re.IGNORECASE
            )
            return called.start() if called is not None else -1
        token = re.fullmatch(r'unrecognized token: "(.*)"', message, re.DOTALL)
        if token is not None:
            return statement.find(token[1])
        named = re.match(
            r"(?:no such (?:column|function): |table )(\S+)(?: already exists)?$", message
        )
        if named is None or message.startswith("table ") != message.endswith("already exists"):
            return -1
        name = re.search(rf"(?<!\w){re.escape(named[1])}(?!\w)", statement, re.IGNORECASE)
        return name.start() if name is not None else -1

    def _offset_near(self, token: str, statement: str) -> int:
        """Return the first place of the token up to which the statement is wrong already."""
        code = _without_texts(statement)
        if token not in code:
            code = statement
        at = code.find(token)
        last = at
        for _ in range(50):
            if at < 0:
                break
            last = at
            try:
                self.connection.execute("EXPLAIN " + statement[: at + len(token)]).close()
            except (sqlite3.Error, sqlite3.Warning) as error:
                if "syntax error" in str(error):
                    return at
            at = code.find(token, at + 1)
        return last

    def close(self) -> None:
        """Store the databases that have changed."""
        connection = self.connection
        try:
            if connection.in_transaction:
                connection.rollback()
            if self.pending is None:
                for schema, file in self.files.items():
                    file.store(self.content(schema))
        finally:
            connection.set_progress_handler(None, 0)
            connection.close()


def statements(text: str, ctx: CommandContext) -> Iterator[tuple[str, int]]:
    """Yield each complete statement of a text with its offset, then the rest if it is not blank."""
    start = at = 0
    while True:
        at = text.find(";", at)
        if at < 0:
            break
        at += 1
        ctx.budget.step(1 + (at - start) // 1000)
        if is_complete(text[start:at]):
            yield text[start:at], start
            start = at
    if _code(text[start:]):
        yield text[start:], start


_COMMENT = re.compile(r"\s+|--[^\n]*|/\*.*?(?:\*/|\Z)", re.DOTALL)


def _code(text: str) -> bool:
    """Whether a text contains anything but blanks and comments."""
    at = 0
    while at < len(text):
        found = _COMMENT.match(text, at)
        if found is None:
            return True
        at = found.end()
    return False
