"""`.dump` of `sqlite3`: a database as SQL that creates it."""

from __future__ import annotations

from agentsandbox.commands.sqlite3.output import insert_literal, quote_name, sql_literal
from agentsandbox.commands.sqlite3.words import DotError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.commands.sqlite3.output import Value
    from agentsandbox.commands.sqlite3.protocols import Shell


def spelled(sql: str) -> str:
    """Return a CREATE TABLE statement, with IF NOT EXISTS for a quoted name."""
    for quote in ('"', "'"):
        if sql.startswith(f"CREATE TABLE {quote}"):
            return "CREATE TABLE IF NOT EXISTS " + sql[len("CREATE TABLE ") :]
    return sql


def dump(shell: Shell, words: list[str]) -> None:
    """`.dump`"""
    for word in words:
        if word.startswith("-"):
            raise DotError(f'Unknown option "{word}" on ".dump"')
    condition = " OR ".join(f"name LIKE {sql_literal(word)}" for word in words)
    condition = f"sql IS NOT NULL AND ({condition or 1})"
    shell.write("PRAGMA foreign_keys=OFF;\nBEGIN TRANSACTION;\n")
    tables = f"SELECT name, sql FROM sqlite_schema WHERE type='table' AND {condition}"
    for name, sql in shell.query(f"{tables} ORDER BY tbl_name='sqlite_sequence', rowid"):
        _dump_table(shell, str(name), str(sql))
    kinds = "type IN ('index','trigger','view')"
    for (sql,) in shell.query(f"SELECT sql FROM sqlite_schema WHERE {kinds} AND {condition}"):
        shell.write(f"{sql};\n")
    shell.write("COMMIT;\n")


def _dump_table(shell: Shell, name: str, sql: str) -> None:
    """Write a table and its rows."""
    if sql.upper().startswith("CREATE VIRTUAL TABLE"):
        raise DotError("Error: .dump of virtual tables is not available here")
    if name == "sqlite_sequence":
        shell.write("DELETE FROM sqlite_sequence;\n")
    elif name in ("sqlite_stat1", "sqlite_stat4"):
        shell.write("ANALYZE sqlite_schema;\n")
    elif name.startswith("sqlite_"):
        return
    else:
        shell.write(spelled(sql) + ";\n")
    _dump_rows(shell, name)


def _dump_rows(shell: Shell, name: str) -> None:
    """Write the rows, without generated columns."""
    columns = shell.query(f"PRAGMA table_xinfo({sql_literal(name)})")
    stored = [quote_name(str(column[1])) for column in columns if not column[6]]
    query = f"SELECT {','.join(stored)} FROM {quote_name(name)}"
    for row in shell.database.rows(shell.database.execute(query), query):
        values = ",".join([insert_literal(value) for value in _values(row)])
        shell.write(f"INSERT INTO {quote_name(name)} VALUES({values});\n")


def _values(row: tuple[object, ...]) -> tuple[Value, ...]:
    return row  # type: ignore[return-value]
