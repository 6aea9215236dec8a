"""The output of `diff --changed-group-format` and the like.

A template for groups names lines by %< (of the first file), %> (of the second) and %= (common
ones); a template for lines has %L and %l for the line with and without its newline and %dn for its
number.
"""

from __future__ import annotations

import re

from agentsandbox.errors import CommandError
from agentsandbox.kernel.streams import decode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from agentsandbox.commands.diff.comparison import Change
    from agentsandbox.commands.diff.formats import Pair
    from agentsandbox.kernel.budget import Budget

_GROUP = re.compile(rb"%([<>=%])|[^%]+|%")
_LINE = re.compile(rb"%(?:([lL%])|([-0]?[0-9]{0,4})dn)|[^%]+|%")


class Templates:
    """The templates for groups (old, new, unchanged, changed) and for lines (all but changed)."""

    def __init__(
        self,
        write: Callable[[bytes], None],
        budget: Budget,
        groups: Mapping[str, bytes],
        lines: Mapping[str, bytes],
    ) -> None:
        self.write = write
        self.budget = budget
        self.lines = {kind: lines.get(kind, b"%l\n") for kind in ("old", "new", "unchanged")}
        changed = groups.get("changed")
        old = groups.get("old", b"%<" if changed is None else changed)
        new = groups.get("new", b"%>" if changed is None else changed)
        self.groups = {
            "old": old,
            "new": new,
            "unchanged": groups.get("unchanged", b"%="),
            "changed": old + new if changed is None else changed,
        }
        _check(_GROUP, self.groups.values())
        _check(_LINE, self.lines.values())

    def print(self, pair: Pair, changes: list[Change]) -> None:
        """Print the whole output for two files."""
        old = new = 0
        for change in changes:
            if change.old > old:
                self._print_group("unchanged", pair, (old, change.old), (new, change.new))
            old, new = change.old + change.deleted, change.new + change.inserted
            kind = "old" if change.deleted else "new"
            if change.deleted and change.inserted:
                kind = "changed"
            self._print_group(kind, pair, (change.old, old), (change.new, new))
        if old < len(pair.old):
            self._print_group("unchanged", pair, (old, len(pair.old)), (new, len(pair.new)))

    def _print_group(
        self, kind: str, pair: Pair, old: tuple[int, int], new: tuple[int, int]
    ) -> None:
        for found in _GROUP.finditer(self.groups[kind]):
            if found[1] in (b"<", b"="):
                self._print_lines("old" if found[1] == b"<" else "unchanged", pair.old, *old)
            elif found[1] == b">":
                self._print_lines("new", pair.new, *new)
            else:
                self.write(found[1] or found[0])

    def _print_lines(self, kind: str, lines: list[bytes], start: int, end: int) -> None:
        template = self.lines[kind]
        for number in range(start, end):
            self.budget.step()
            self.write(_line_by(template, lines[number], number + 1))


def _check(syntax: re.Pattern[bytes], templates: Iterable[bytes]) -> None:
    """Refuse GNU's other directives: conditions, counts of lines, characters."""
    for template in templates:
        if any(found[0] == b"%" for found in syntax.finditer(template)):
            raise CommandError(f"{decode(template)}: this format is not available here", 2)


def _line_by(template: bytes, line: bytes, number: int) -> bytes:
    parts: list[bytes] = []
    for found in _LINE.finditer(template):
        if found[2] is not None:
            parts.append((b"%" + found[2] + b"d") % number)
        elif found[1] is None:
            parts.append(found[0])
        else:
            parts.append(
                line if found[1] == b"L" else line.removesuffix(b"\n") if found[1] == b"l" else b"%"
            )
    return b"".join(parts)
