"""The dot commands of `sqlite3` that list names and definitions."""

from __future__ import annotations

import re

from agentsandbox.commands.sqlite3.dump import spelled
from agentsandbox.commands.sqlite3.output import quote_name, sql_literal
from agentsandbox.commands.sqlite3.words import DotError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.commands.sqlite3.protocols import Shell

_OWN = "name NOT LIKE 'sqlite__%' ESCAPE '_'"
"""The condition that leaves out SQLite's own tables."""
_CREATED = re.compile("CREATE (?:TABLE|INDEX|UNIQUE INDEX|VIEW|TRIGGER|VIRTUAL TABLE) ")


def list_databases(shell: Shell, words: list[str]) -> None:
    for _, name, path in shell.database.databases():
        shown = path or '""'
        shell.write(f"{name}: {shown} {'r/o' if shell.database.read_only else 'r/w'}\n")


def _schemas(shell: Shell) -> list[tuple[str, str]]:
    """Return (name, prefix of the names in it) of each database."""
    names = [name for _, name, _ in shell.database.databases()]
    return [
        (name, "" if name == "main" else "temp." if name == "temp" else f"{quote_name(name)}.")
        for name in names
    ]


def _list_names(shell: Shell, condition: str) -> None:
    """Print the names that satisfy the condition, in all databases, in columns."""
    listed = []
    for _, name, _ in shell.database.databases():
        before = sql_literal("" if name == "main" else f"{name}.")
        listed.append(
            f"SELECT {before} || name FROM {quote_name(name)}.sqlite_schema WHERE {condition}"
        )
    _columns(
        shell, [str(row[0]) for row in shell.query(f"{' UNION ALL '.join(listed)} ORDER BY 1")]
    )


def _columns(shell: Shell, names: list[str]) -> None:
    """Print names in columns, as `ls` does."""
    if not names:
        return
    width = max(map(len, names))
    count = max(1, 80 // (width + 2))
    rows = (len(names) + count - 1) // count
    for row in range(rows):
        shell.write("  ".join(name.ljust(width) for name in names[row::rows]) + "\n")


def list_tables(shell: Shell, words: list[str]) -> None:
    condition = f" AND name LIKE {sql_literal(words[0])}" if words else ""
    _list_names(shell, f"type IN ('table','view') AND {_OWN}{condition}")


def list_indexes(shell: Shell, words: list[str]) -> None:
    if len(words) > 1:
        raise DotError("Usage: .indexes ?LIKE-PATTERN?")
    condition = f" AND tbl_name LIKE {sql_literal(words[0])}" if words else ""
    _list_names(shell, f"type='index'{condition}")


def print_schema(shell: Shell, words: list[str]) -> None:
    if any(word.startswith(("--i", "-i")) for word in words):
        raise DotError("Error: --indent is not available here")
    own = f" AND {_OWN}" if any(word.startswith(("--n", "-n")) for word in words) else ""
    words = [word for word in words if not word.startswith("-")]
    if len(words) > 1:
        raise DotError("Usage: .schema ?--indent? ?--nosys? ?LIKE-PATTERN?")
    for schema, before in _schemas(shell):
        condition = ""
        if words:
            table = "tbl_name"
            if "." in words[0]:
                table = f"{sql_literal(schema)} || '.' || tbl_name"
            matches = "GLOB" if re.search(r"[*?\[]", words[0]) else "LIKE"
            condition = f" AND lower({table}) {matches} {sql_literal(words[0].lower())}"
        source = f"{quote_name(schema)}.sqlite_schema"
        sql = (
            f"SELECT sql, type, name FROM {source} "
            f"WHERE sql IS NOT NULL{own}{condition} ORDER BY rowid"
        )
        for text, kind, name in shell.query(sql):
            found = _CREATED.match(str(text))
            created = f"{found[0]}{before}{str(text)[found.end() :]}" if found else str(text)
            shell.write(spelled(created))
            if kind == "view" or created.startswith("CREATE VIRTUAL"):
                pragma = f"PRAGMA {quote_name(schema)}.table_info({sql_literal(str(name))})"
                columns = ",".join([quote_name(str(row[1])) for row in shell.query(pragma)])
                shell.write(f"\n/* {before}{quote_name(str(name))}({columns}) */")
            shell.write(";\n")
