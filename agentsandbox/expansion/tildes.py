"""Tilde prefixes (POSIX 2.6.1): ~, ~name, ~+, ~- and ~N in unquoted text."""

from __future__ import annotations

import re

from agentsandbox.syntax.nodes import Literal, Part

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.expansion.host import ExpansionHost

__all__ = ["Home", "split_tildes"]

_ASSIGNED_TILDE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\+?=(?=~)")
_TILDE = re.compile(r"~[^/:\\\"'$`]*")


class Home(Part):
    """A tilde prefix."""

    __slots__ = ("prefix",)

    def __init__(self, prefix: str) -> None:
        self.prefix = prefix

    def text(self, host: ExpansionHost) -> str:
        """The directory it stands for, or itself."""
        prefix = self.prefix
        if prefix == "~":
            home = host.variables.get("HOME")
            return home if home is not None else (host.home_of("") or prefix)
        if prefix in ("~+", "~-"):
            return host.variables.get("PWD" if prefix == "~+" else "OLDPWD") or prefix
        rest = prefix[1:]
        if rest.isascii() and rest.lstrip("+-").isdigit():
            return host.directory(rest) or prefix
        return host.home_of(rest) or prefix


def split_tildes(text: str, first: bool, last: bool, assignment: bool) -> list[Part]:
    """Unquoted text as literals and tilde prefixes. `first`, `last`: whether it begins or ends the word."""
    parts: list[Part] = []
    position = 0
    starts = [0] if first else []
    looks_assigned = _ASSIGNED_TILDE.match(text) if first and not assignment else None
    if looks_assigned is not None:  # `echo x=~` is expanded as an assignment would be
        starts.append(looks_assigned.end())
        assignment = True
    if assignment:
        starts.extend(match.end() for match in re.finditer(":", text))
    for start in starts:
        match = _TILDE.match(text, start)
        if match is None:
            continue
        end = match.end()
        if end == len(text) and not last:
            continue
        if end < len(text) and text[end] not in ("/", ":"):
            continue
        if start > position:
            parts.append(Literal(text[position:start]))
        parts.append(Home(match[0]))
        position = end
    if position < len(text):
        parts.append(Literal(text[position:]))
    return parts
