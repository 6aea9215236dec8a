"""`.dump` of `sqlite3`: a database as the SQL that makes it again."""

from __future__ import annotations

from agentsandbox.commands._sqlite_output import insert_literal, quote_name, sql_literal
from agentsandbox.commands._sqlite_words import DotError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.commands._sqlite_output import Value
    from agentsandbox.commands._sqlite_shell import Shell

__all__ = ["dump", "dump_statistics", "spelled"]

_OPTIONS = ("data-only", "preserve-rowids", "newlines", "nosys")
_ROWIDS = ("rowid", "_rowid_", "oid")
_STATISTICS = ("sqlite_stat1", "sqlite_stat4")
_ANALYZE = "ANALYZE sqlite_schema;\n"


def spelled(sql: str) -> str:
    """A CREATE TABLE statement as it is shown when the name is quoted."""
    for quote in ('"', "'"):
        if sql.startswith(f"CREATE TABLE {quote}"):
            return "CREATE TABLE IF NOT EXISTS " + sql[len("CREATE TABLE ") :]
    return sql


class _Dump:
    """One run of `.dump`, with its options."""

    def __init__(self, shell: Shell, words: list[str]) -> None:
        self.shell = shell
        self.options: set[str] = set()
        self.patterns: list[str] = []
        self.writable = False
        """Whether the schema is written to, as virtual tables need it."""
        for word in words:
            option = word.removeprefix("-").removeprefix("-")
            if not word.startswith("-"):
                self.patterns.append(word)
            elif option in _OPTIONS:
                self.options.add(option)
            else:
                raise DotError(f'Unknown option "{word}" on ".dump"')

    def run(self) -> None:
        shell, bare = self.shell, "data-only" in self.options
        condition = " AND (" + " OR ".join(f"name LIKE {sql_literal(word)}" for word in self.patterns) + ")" if self.patterns else ""
        if "nosys" in self.options:
            condition += " AND name NOT LIKE 'sqlite__%' ESCAPE '_'"
        if not bare:
            shell.write("PRAGMA foreign_keys=OFF;\nBEGIN TRANSACTION;\n")
        tables = f"SELECT name, sql FROM sqlite_schema WHERE type='table' AND sql IS NOT NULL{condition}"
        for name, sql in shell.query(f"{tables} ORDER BY tbl_name='sqlite_sequence', rowid"):
            self.table(str(name), str(sql))
        if bare:
            return
        others = f"SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL AND type IN ('index','trigger','view'){condition}"
        for (sql,) in shell.query(others):
            shell.write(f"{sql};\n")
        shell.write("PRAGMA writable_schema=OFF;\n" * self.writable + "COMMIT;\n")

    def table(self, name: str, sql: str) -> None:
        """What makes a table, and its rows."""
        if name.startswith("sqlite_") and name not in (*_STATISTICS, "sqlite_sequence"):
            return
        is_virtual = sql.upper().startswith("CREATE VIRTUAL TABLE")
        if "data-only" not in self.options:
            self.shell.write(self.creation(name, sql, is_virtual=is_virtual))
        if not is_virtual:
            self.rows(name)

    def creation(self, name: str, sql: str, *, is_virtual: bool) -> str:
        """The statements that make a table."""
        if name == "sqlite_sequence":
            return "DELETE FROM sqlite_sequence;\n"
        if name in _STATISTICS:
            return _ANALYZE
        if not is_virtual:
            return spelled(sql) + ";\n"
        before, self.writable = "PRAGMA writable_schema=ON;\n" * (not self.writable), True
        values = f"'table',{sql_literal(name)},{sql_literal(name)},0,{sql_literal(sql)}"
        return f"{before}INSERT INTO sqlite_schema(type,name,tbl_name,rootpage,sql)VALUES({values});\n"

    def rows(self, name: str) -> None:
        """The rows: of generated columns SQLite knows what is in them."""
        shell = self.shell
        columns = shell.query(f"PRAGMA table_xinfo({sql_literal(name)})")
        stored = [quote_name(str(column[1])) for column in columns if not column[6]]
        target = quote_name(name)
        row_number = self.row_number(name, columns)
        if row_number:
            stored.insert(0, row_number)
            target += f"({','.join(stored)})"
        escape = "newlines" not in self.options
        query = f"SELECT {','.join(stored)} FROM {quote_name(name)}"
        for row in shell.database.rows(shell.database.execute(query), query):
            values = ",".join([insert_literal(value, escape_newlines=escape) for value in _values(row)])
            shell.write(f"INSERT INTO {target} VALUES({values});\n")

    def row_number(self, name: str, columns: list[tuple[object, ...]]) -> str:
        """The name of the number of a row, if it is asked for and no column is that number."""
        if "preserve-rowids" not in self.options:
            return ""
        keys = [column for column in columns if column[5]]
        if len(keys) == 1 and str(keys[0][2]).upper() == "INTEGER":
            return ""
        if self.shell.query(f"SELECT wr FROM pragma_table_list({sql_literal(name)}) WHERE schema='main'") == [(1,)]:
            return ""
        taken = {str(column[1]).lower() for column in columns}
        return next((word for word in _ROWIDS if word not in taken), "")


def _values(row: tuple[object, ...]) -> tuple[Value, ...]:
    return row  # type: ignore[return-value]


def dump(shell: Shell, words: list[str]) -> None:
    """`.dump`"""
    _Dump(shell, words).run()


def dump_statistics(shell: Shell) -> bool:
    """What ANALYZE found, as statements; whether there is any."""
    listed = ",".join(map(sql_literal, _STATISTICS))
    names = [str(row[0]) for row in shell.query(f"SELECT name FROM sqlite_schema WHERE name IN ({listed}) ORDER BY name")]
    if not names:
        return False
    shell.write(_ANALYZE)
    for name in names:
        _Dump(shell, []).rows(name)
    shell.write(_ANALYZE)
    return True
