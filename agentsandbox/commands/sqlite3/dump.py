"""`.dump` of `sqlite3`: a database as SQL that creates it."""

from __future__ import annotations

from agentsandbox.commands.sqlite3.output import insert_literal, quote_name, sql_literal
from agentsandbox.commands.sqlite3.words import DotError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.commands.sqlite3.output import Value
    from agentsandbox.commands.sqlite3.protocols import Shell

_STATISTICS = ("sqlite_stat1", "sqlite_stat4")
_ANALYZE = "ANALYZE sqlite_schema;\n"


def spelled(sql: str) -> str:
    """Return a CREATE TABLE statement, with IF NOT EXISTS for a quoted name."""
    for quote in ('"', "'"):
        if sql.startswith(f"CREATE TABLE {quote}"):
            return "CREATE TABLE IF NOT EXISTS " + sql[len("CREATE TABLE ") :]
    return sql


class _Dump:
    """One run of `.dump`, with its options."""

    def __init__(self, shell: Shell, words: list[str]) -> None:
        self.shell = shell
        self.bare = False
        """Whether only rows are written (--data-only)."""
        self.patterns: list[str] = []
        self.writable = False
        """Whether the output writes to the schema, as virtual tables need it."""
        for word in words:
            option = word.removeprefix("-").removeprefix("-")
            if not word.startswith("-"):
                self.patterns.append(word)
            elif option == "data-only":
                self.bare = True
            else:
                raise DotError(f'Unknown option "{word}" on ".dump"')

    def run(self) -> None:
        shell, bare = self.shell, self.bare
        condition = " OR ".join(f"name LIKE {sql_literal(word)}" for word in self.patterns)
        condition = f" AND ({condition})" if condition else ""
        if not bare:
            shell.write("PRAGMA foreign_keys=OFF;\nBEGIN TRANSACTION;\n")
        tables = (
            f"SELECT name, sql FROM sqlite_schema WHERE type='table' AND sql IS NOT NULL{condition}"
        )
        for name, sql in shell.query(f"{tables} ORDER BY tbl_name='sqlite_sequence', rowid"):
            self.table(str(name), str(sql))
        if bare:
            return
        others = (
            "SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL "
            f"AND type IN ('index','trigger','view'){condition}"
        )
        for (sql,) in shell.query(others):
            shell.write(f"{sql};\n")
        shell.write("PRAGMA writable_schema=OFF;\n" * self.writable + "COMMIT;\n")

    def table(self, name: str, sql: str) -> None:
        """Write a table and its rows."""
        if name.startswith("sqlite_") and name not in (*_STATISTICS, "sqlite_sequence"):
            return
        is_virtual = sql.upper().startswith("CREATE VIRTUAL TABLE")
        if not self.bare:
            self.shell.write(self.creation(name, sql, is_virtual=is_virtual))
        if not is_virtual:
            self.rows(name)

    def creation(self, name: str, sql: str, *, is_virtual: bool) -> str:
        """Return the statements that create a table."""
        if name == "sqlite_sequence":
            return "DELETE FROM sqlite_sequence;\n"
        if name in _STATISTICS:
            return _ANALYZE
        if not is_virtual:
            return spelled(sql) + ";\n"
        before, self.writable = "PRAGMA writable_schema=ON;\n" * (not self.writable), True
        values = f"'table',{sql_literal(name)},{sql_literal(name)},0,{sql_literal(sql)}"
        return (
            f"{before}INSERT INTO sqlite_schema(type,name,tbl_name,rootpage,sql)VALUES({values});\n"
        )

    def rows(self, name: str) -> None:
        """Write the rows, without generated columns."""
        shell = self.shell
        columns = shell.query(f"PRAGMA table_xinfo({sql_literal(name)})")
        stored = [quote_name(str(column[1])) for column in columns if not column[6]]
        target = quote_name(name)
        query = f"SELECT {','.join(stored)} FROM {quote_name(name)}"
        for row in shell.database.rows(shell.database.execute(query), query):
            values = ",".join([insert_literal(value) for value in _values(row)])
            shell.write(f"INSERT INTO {target} VALUES({values});\n")


def _values(row: tuple[object, ...]) -> tuple[Value, ...]:
    return row  # type: ignore[return-value]


def dump(shell: Shell, words: list[str]) -> None:
    """`.dump`"""
    _Dump(shell, words).run()
