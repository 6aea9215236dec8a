"""The output of `diff --old-line-format` and the like.

A template for lines has %L and %l for the line with and without its newline, and %dn for its
number.
"""

from __future__ import annotations

import re

from agentsandbox.errors import CommandError
from agentsandbox.kernel.streams import decode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from agentsandbox.commands.diff.comparison import Change
    from agentsandbox.commands.diff.formats import Pair, Style

_DIRECTIVE = re.compile(rb"%(?:([lL%])|([-0]?[0-9]{0,4})dn)|[^%]+|%")


def check_template(template: bytes) -> bytes:
    """Return a template; refuse GNU's other directives: characters, octal numbers."""
    if any(found[0] == b"%" for found in _DIRECTIVE.finditer(template)):
        raise CommandError(f"{decode(template)}: this format is not available here", 2)
    return template


def print_by_templates(
    pair: Pair, changes: list[Change], style: Style, templates: Mapping[str, bytes]
) -> None:
    """Print all lines of two files by the templates for "old", "new" and "unchanged" lines."""

    def print_lines(kind: str, lines: list[bytes], start: int, end: int) -> None:
        template = templates.get(kind, b"%l\n")
        for number in range(start, end):
            style.budget.step()
            style.write(_line_by(template, lines[number], number + 1))

    old = 0
    for change in changes:
        print_lines("unchanged", pair.old, old, change.old)
        old = change.old + change.deleted
        print_lines("old", pair.old, change.old, old)
        print_lines("new", pair.new, change.new, change.new + change.inserted)
    print_lines("unchanged", pair.old, old, len(pair.old))


def _line_by(template: bytes, line: bytes, number: int) -> bytes:
    texts = {b"L": line, b"l": line.removesuffix(b"\n"), b"%": b"%"}
    parts: list[bytes] = []
    for found in _DIRECTIVE.finditer(template):
        if found[2] is not None:
            parts.append((b"%" + found[2] + b"d") % number)
        else:
            parts.append(found[0] if found[1] is None else texts[found[1]])
    return b"".join(parts)
