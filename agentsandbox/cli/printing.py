"""What the command line writes about skills: tables for people, JSON for programs, nothing that a
terminal would obey.
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
    """The text with what a terminal would not show, or would obey, written out."""
    return _UNSEEN.sub(lambda match: f"\\u{{{ord(match[0]):X}}}", text)


def words_of(error: Exception) -> str:
    """What an error says, without the words of Python."""
    if isinstance(error, OSError):
        return f"{error.filename or ''}: {os.strerror(error.errno or errno.EIO)}".lstrip(": ")
    return str(error)


def complain(problem: object) -> None:
    """Say what is wrong."""
    print(f"agentsandbox: {visible(str(problem))}", file=sys.stderr)


def report(problems: Sequence[str]) -> int:
    """Say what is wrong; the exit status."""
    for problem in problems:
        complain(problem)
    return 1 if problems else 0


def print_json(value: Any) -> None:
    """Write a value for programs, in ASCII."""
    print(json.dumps(value, indent=2))


def print_table(titles: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Write a table: by rich on a terminal where it is installed, else in plain columns; nothing
    when there are no rows.
    """
    if not rows:
        return
    cells = [[visible(cell) for cell in row] for row in rows]
    if not (sys.stdout.isatty() and _print_rich(titles, cells)):
        widths = [
            max(len(row[column]) for row in (titles, *cells)) for column in range(len(titles))
        ]
        for row in (titles, *cells):
            print(
                "  ".join(
                    cell.ljust(width) for cell, width in zip(row, widths, strict=True)
                ).rstrip()
            )


def _print_rich(titles: Sequence[str], rows: Sequence[Sequence[str]]) -> bool:
    """Whether there is rich to write the table."""
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
