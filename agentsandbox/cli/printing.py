"""Output of the command line: tables for people, JSON for programs.

Text of strangers goes through `visible`, so that it has nothing that a terminal would obey.
"""

from __future__ import annotations

import errno
import json
import os
import re
import sys

from agentsandbox.skills.invisible import INVISIBLE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

_UNSEEN = re.compile(rf"{INVISIBLE.pattern}|[\r\x85]")


def visible(text: str) -> str:
    """Return the text with invisible and control characters written as `\\u{…}`."""
    return _UNSEEN.sub(lambda match: f"\\u{{{ord(match[0]):X}}}", text)


def words_of(error: Exception) -> str:
    """Return what an error says, in the words of the command line."""
    if isinstance(error, OSError):
        return f"{error.filename or ''}: {os.strerror(error.errno or errno.EIO)}".lstrip(": ")
    return str(error)


def complain(problem: object) -> None:
    """Write a problem to standard error."""
    print(f"agentsandbox: {visible(str(problem))}", file=sys.stderr)


def report(problems: Sequence[str]) -> int:
    """Write problems to standard error; return the exit status, 1 if there are any."""
    for problem in problems:
        complain(problem)
    return 1 if problems else 0


def print_json(value: Any) -> None:
    """Write a value as JSON, in ASCII."""
    print(json.dumps(value, indent=2))


def print_table(titles: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Write a table, or nothing without rows; on a terminal with rich if that is installed."""
    if not rows:
        return
    cells = [[visible(cell) for cell in row] for row in rows]
    if sys.stdout.isatty() and _print_rich(titles, cells):
        return
    lines = [titles, *cells]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    for line in lines:
        padded = [cell.ljust(width) for cell, width in zip(line, widths, strict=True)]
        print("  ".join(padded).rstrip())


def _print_rich(titles: Sequence[str], rows: Sequence[Sequence[str]]) -> bool:
    """Write a table with rich; return False if it is not installed."""
    try:
        from rich.console import Console
        from rich.markup import escape
        from rich.table import Table
    except ImportError:
        return False
    table = Table(*titles, show_lines=False)
    for row in rows:
        table.add_row(*(escape(cell) for cell in row))
    Console().print(table)
    return True
