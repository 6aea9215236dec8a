"""Variables and elements of arrays as builtins and name references are given them: by a text."""

from __future__ import annotations

from agentsandbox.errors import ShellSyntaxError
from agentsandbox.kernel.caching import cache_short
from agentsandbox.kernel.expressions import lazily
from agentsandbox.shell.syntax.braced import NAME
from agentsandbox.shell.syntax.parser import Parser

_PLAIN = lazily(r"""\[([^][$`"'\\]+)\]""")
_OPERATOR = lazily(r"\+?=")


class ElementWord(str):
    """A word that the script wrote as `name[subscript]`, expanded: `unset a[$key]`.

    Builtins take its subscript as it is. That of any other text is expanded: `unset 'a[$key]'`.
    """

    __slots__ = ()

    @property
    def parts(self) -> tuple[str, str] | None:
        """The name and the subscript; None if the expansion left no such form."""
        name, bracket, rest = self.partition("[")
        if bracket and len(rest) > 1 and rest[-1] == "]" and NAME.fullmatch(name):
            return name, rest[:-1]
        return None


@cache_short(512)
def split_reference(text: str) -> tuple[str, str | None] | None:
    """Return (name, subscript) of `name` or `name[subscript]`, None for any other text.

    Quotes, brackets and substitutions in a subscript must be complete, and it must not be empty.
    """
    name = NAME.match(text)
    if name is None:
        return None
    end = name.end()
    if end == len(text):
        return text, None
    close = _end_of_subscript(text, end)
    return (name[0], text[end + 1 : close - 1]) if close == len(text) else None


def split_assignment(text: str) -> tuple[str, str | None, str, str] | None:
    """Return (name, subscript, "=" or "+=", value) of an assignment, None for any other text."""
    name = NAME.match(text)
    if name is None:
        return None
    end = name.end()
    subscript = None
    if text[end : end + 1] == "[":
        close = end + 2 if text[end + 1 : end + 2] == "]" else _end_of_subscript(text, end)
        if close < 0:
            return None
        subscript, end = text[end + 1 : close - 1], close
    operator = _OPERATOR.match(text, end)
    if operator is None:
        return None
    return name[0], subscript, operator[0], text[operator.end() :]


def _end_of_subscript(text: str, start: int) -> int:
    """Return the position behind the bracket that closes the one at `start`; -1 without one."""
    plain = _PLAIN.match(text, start)
    if plain is not None:
        return plain.end()
    if text[start : start + 1] != "[" or text[start + 1 : start + 2] == "]":
        return -1
    parser = Parser(text)
    parser.position = start
    try:
        parser.read_subscript()
    except ShellSyntaxError:
        return -1
    return parser.position
