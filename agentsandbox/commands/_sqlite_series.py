"""`generate_series(START, STOP, STEP)` in statements of `sqlite3`: a table that counts, written as a recursive query.

As in SQLite 3.40 a negative STEP counts down to START.
"""

from __future__ import annotations

import re

__all__ = ["SeriesError", "with_series"]

_TOKEN = re.compile(
    r"""'(?:[^']|'')*'|"(?:[^"]|"")*"|`(?:[^`]|``)*`|\[[^\]]*\]|--[^\n]*|/\*.*?(?:\*/|\Z)|[A-Za-z_][\w$]*|\s+|.""", re.DOTALL
)
_BEHIND = frozenset(
    "where join left right full inner outer cross natural on using group order limit union except intersect having window returning "
    "indexed not set select values with".split()
)
"""Words that cannot be the name given to a table."""
_HIDDEN = frozenset(("start", "stop", "step"))
_LAST = "4294967295"
_NO_START = 'first argument to "generate_series()" missing or unusable'


class SeriesError(Exception):
    """The series has no beginning."""


def with_series(statement: str) -> str:
    """The statement with each `generate_series(…)` replaced by a query; the same one if there is none."""
    tokens = _TOKEN.findall(statement)
    return "".join(_rewrite(tokens))


def _query(start: str, stop: str, step: str, hidden: str) -> str:
    return (
        f"(WITH RECURSIVE _given(a,b,c) AS (SELECT CAST({start} AS INTEGER),CAST({stop} AS INTEGER),"
        f"coalesce(nullif(CAST({step} AS INTEGER),0),1)),"
        "_series(value,start,stop,step,c) AS (SELECT CASE WHEN c>0 THEN a ELSE a+(b-a)/c*c END,a,b,abs(c),c FROM _given WHERE a<=b "
        "UNION ALL SELECT value+c,start,stop,step,c FROM _series WHERE CASE WHEN c>0 THEN value<=stop-c ELSE value>=start-c END) "
        f"SELECT value{hidden} FROM _series)"
    )


def _rewrite(tokens: list[str]) -> list[str]:
    hidden = "".join([f",{name}" for name in sorted(_HIDDEN) if any(token.lower() == name for token in tokens)])
    out: list[str] = []
    at = 0
    while at < len(tokens):
        token = tokens[at]
        at += 1
        if token.lower() != "generate_series" or tokens[at : at + 1] == ["."]:
            out.append(token)
            continue
        opening = _next(tokens, at)
        if opening >= len(tokens) or tokens[opening] != "(":
            if out and _last_word(out) in ("from", "join", ","):
                raise SeriesError(_NO_START)
            out.append(token)
            continue
        values, at = _values(tokens, opening + 1)
        if not values or len(values) > 3:
            raise SeriesError(
                'first argument to "generate_series()" missing or unusable'
                if not values
                else "too many arguments on generate_series() - max 3"
            )
        start, stop, step = [*values, *("", _LAST, "1")[len(values) :]]
        out.append(_query(start, stop, step, hidden))
        following = _next(tokens, at)
        name = tokens[following].lower() if following < len(tokens) else ""
        if not (name and (name[0].isalpha() or name[0] in '_"`[') and name not in _BEHIND):
            out.append(" AS generate_series ")
    return out


def _next(tokens: list[str], at: int) -> int:
    """Where the next token is that is no blank and no comment."""
    while at < len(tokens) and (tokens[at].isspace() or tokens[at].startswith(("--", "/*"))):
        at += 1
    return at


def _last_word(out: list[str]) -> str:
    return next((token.lower() for token in reversed(out) if not token.isspace()), "")


def _values(tokens: list[str], at: int) -> tuple[list[str], int]:
    """(the arguments, rewritten themselves, where they end)."""
    values: list[list[str]] = [[]]
    depth = 0
    while at < len(tokens):
        token = tokens[at]
        at += 1
        if token == ")" and not depth:
            break
        depth += (token == "(") - (token == ")")
        if token == "," and not depth:
            values.append([])
        else:
            values[-1].append(token)
    found = ["".join(_rewrite(value)) for value in values]
    return ([] if len(found) == 1 and not found[0].strip() else found), at
