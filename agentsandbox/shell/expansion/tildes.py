"""Tilde prefixes (POSIX 2.6.1): ~, ~name, ~+, ~- and ~N in unquoted text."""

from __future__ import annotations

from agentsandbox.kernel.expressions import lazily
from agentsandbox.shell.syntax.nodes import Literal, Part

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.shell.expansion.host import ExpansionHost

_ASSIGNED = lazily(r"[A-Za-z_][A-Za-z0-9_]*(?:\[[^\]]*\])?\+?=")
_COLON = lazily(":")
_TILDE = lazily(r"~[^/:\\\"'$`]*")


class Home(Part):
    """A tilde prefix; `in_word` marks one that is not expanded in POSIX mode."""

    __slots__ = ("in_word", "prefix")

    def __init__(self, prefix: str, in_word: bool) -> None:
        self.prefix = prefix
        self.in_word = in_word

    def text(self, host: ExpansionHost) -> str:
        """Return the directory, or the prefix itself if there is none."""
        prefix = self.prefix
        if self.in_word and host.options.posix:
            return prefix
        if prefix == "~":
            home = host.variables.get("HOME")
            return home if home is not None else (host.home_of("") or prefix)
        if prefix in ("~+", "~-"):
            return host.variables.get("PWD" if prefix == "~+" else "OLDPWD") or prefix
        rest = prefix[1:]
        if rest.isascii() and rest.lstrip("+-").isdigit():
            return host.directory(rest) or prefix
        return host.home_of(rest) or prefix


def _assigned_name(part: Part) -> int:
    """Return where the value begins in a word such as `x=~`; 0 if the word is no assignment."""
    match = _ASSIGNED.match(part.text) if isinstance(part, Literal) else None
    return match.end() if match is not None else 0


def replace_tildes(parts: tuple[Part, ...], assignment: bool, in_word: bool) -> tuple[Part, ...]:
    """Replace the ~ prefixes of unquoted text by parts that expand to a home directory.

    With `in_word`, a word that looks like an assignment is expanded like one.
    """
    replaced: list[Part] = []
    value = _assigned_name(parts[0]) if in_word else 0
    for number, part in enumerate(parts):
        if not isinstance(part, Literal):
            replaced.append(part)
            continue
        first, last = number == 0, number == len(parts) - 1
        replaced.extend(
            _split_tildes(
                part.text,
                first,
                last,
                assignment or value > 0,
                value if first else 0,
                value > 0,
            )
        )
    return tuple(replaced)


def _split_tildes(
    text: str, first: bool, last: bool, assignment: bool, value: int, in_word: bool
) -> list[Part]:
    """Split unquoted text into literals and tilde prefixes.

    first, last  whether the text begins or ends the word
    assignment   a tilde may begin after each ":"
    value        where the value of a word that looks like an assignment begins; 0 for other words
    in_word      the word only looks like an assignment
    """
    parts: list[Part] = []
    position = 0
    starts = [0] if first else []
    if value:
        starts.append(value)
    if assignment:
        starts.extend(match.end() for match in _COLON.finditer(text))
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
        parts.append(Home(match[0], in_word and start > 0))
        position = end
    if position < len(text):
        parts.append(Literal(text[position:]))
    return parts
