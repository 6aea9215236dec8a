"""Dot commands of `sqlite3` about the connection: its limits, its number, and what makes no difference here."""

from __future__ import annotations

import sqlite3

from agentsandbox.commands._sqlite_words import DotError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.commands._sqlite_shell import Shell

__all__ = ["set_binary", "set_limit", "set_nothing", "set_off", "show_connection"]

_LIMITS = {
    "length": sqlite3.SQLITE_LIMIT_LENGTH,
    "sql_length": sqlite3.SQLITE_LIMIT_SQL_LENGTH,
    "column": sqlite3.SQLITE_LIMIT_COLUMN,
    "expr_depth": sqlite3.SQLITE_LIMIT_EXPR_DEPTH,
    "compound_select": sqlite3.SQLITE_LIMIT_COMPOUND_SELECT,
    "vdbe_op": sqlite3.SQLITE_LIMIT_VDBE_OP,
    "function_arg": sqlite3.SQLITE_LIMIT_FUNCTION_ARG,
    "attached": sqlite3.SQLITE_LIMIT_ATTACHED,
    "like_pattern_length": sqlite3.SQLITE_LIMIT_LIKE_PATTERN_LENGTH,
    "variable_number": sqlite3.SQLITE_LIMIT_VARIABLE_NUMBER,
    "trigger_depth": sqlite3.SQLITE_LIMIT_TRIGGER_DEPTH,
    "worker_threads": sqlite3.SQLITE_LIMIT_WORKER_THREADS,
}


def set_limit(shell: Shell, words: list[str]) -> None:
    """`.limit`: all limits, or one, which may be lowered."""
    if len(words) > 2:
        raise DotError("Usage: .limit NAME ?NEW-VALUE?")
    if not words:
        for name, kind in _LIMITS.items():
            shell.write(f"{name:>20} {shell.database.limit(kind, None)}\n")
        return
    found = [name for name in _LIMITS if name.startswith(words[0].lower())]
    if words[0].lower() in _LIMITS:
        found = [words[0].lower()]
    if not found:
        raise DotError(f'unknown limit: "{words[0]}"\nenter ".limits" with no arguments for a list.')
    if len(found) > 1:
        raise DotError(f'ambiguous limit: "{words[0]}"')
    wanted = None if len(words) < 2 else int(words[1][:18]) if words[1].isdecimal() else 0
    shell.write(f"{found[0]:>20} {shell.database.limit(_LIMITS[found[0]], wanted)}\n")


def show_connection(shell: Shell, words: list[str]) -> None:
    """`.connection`: there is one."""
    if words == ["close", "0"]:
        raise DotError("cannot close the active database connection")
    if words and words != ["0"]:
        raise DotError("Error: there is one connection here")
    if not words:
        shell.write(f"ACTIVE 0: {shell.database_name}\n")


def set_binary(shell: Shell, words: list[str]) -> None:
    """`.binary`: output is binary always."""
    if len(words) != 1:
        raise DotError("Usage: .binary on|off")
    shell.is_on(words[0])


def set_off(shell: Shell, words: list[str]) -> None:
    """`.explain`, `.log`, `.stats` and `.trace`: there is nothing that they could tell, so they are off."""
    if len(words) != 1 or words[0] not in ("off", "0", "no", "auto"):
        raise DotError("Error: what this tells is not available here: it can be switched off only")


def set_nothing(shell: Shell, words: list[str]) -> None:
    """`.prompt` and `.timeout`: nobody is prompted, and nobody else has the database open."""
