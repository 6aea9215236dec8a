"""The functions of texts that a compiled program calls."""

from __future__ import annotations

import math

from agentsandbox.commands.awk.values import Array, AwkFatal, Typed
from agentsandbox.kernel.expressions import lazily

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from agentsandbox.commands.awk.protocols import Run

_CATEGORIES = frozenset(
    f"LC_{name}" for name in ("ALL", "COLLATE", "CTYPE", "MESSAGES", "MONETARY", "NUMERIC", "TIME")
)
_BIGGEST = 2.0**53
_ACCOUNTED = 4096
"""Characters of a text above which its making is accounted."""
_NO_CHARACTER = lazily("[\udc80-\udcff]")


def functions(rt: Run) -> dict[str, Callable[..., Any]]:
    # long: the functions of texts, which share the run
    """Return the functions of texts, by their names in a program."""
    text = rt.text

    def checked(joined: str) -> str:
        if len(joined) > _ACCOUNTED:
            rt.account(len(joined))
        return joined

    def join(parts: Sequence[str]) -> str:
        total = sum(map(len, parts))
        if total > _ACCOUNTED:
            rt.account(total)
        return "".join(parts)

    def substr(subject: str, start: float, count: float = math.inf) -> str:
        if not count >= 1.0 or start > len(subject) + 1.0:
            return ""
        first = int(start) - 1 if start >= 1.0 else 0
        return checked(subject[first : first + int(count)] if count < _BIGGEST else subject[first:])

    def characters(subject: str, line: int) -> str:
        """Return the text with the replacement character for bytes that are no characters."""
        if rt.bytewise or _NO_CHARACTER.search(subject) is None:
            return subject
        if not rt.told_of_bytes:
            rt.told_of_bytes = True
            rt.line = line
            rt.warn(
                "Invalid multibyte data detected."
                " There may be a mismatch between your data and your locale"
            )
        return _NO_CHARACTER.sub("\ufffd", subject)

    def upper(subject: str, line: int) -> str:
        if len(subject) > _ACCOUNTED:
            rt.account(len(subject))
        if subject.isascii():
            return subject.upper()
        return "".join([_single(letter, letter.upper()) for letter in characters(subject, line)])

    def lower(subject: str, line: int) -> str:
        if len(subject) > _ACCOUNTED:
            rt.account(len(subject))
        if subject.isascii():
            return subject.lower()
        return "".join([_single(letter, letter.lower()) for letter in characters(subject, line)])

    def integer_text(template: str, number: float, flags: str, width: int) -> str:
        if number - number != 0.0:
            from agentsandbox.commands.awk.formats import format_one

            return format_one("d", flags, width, None, number, text)
        return template % int(number)

    def real_text(template: str, number: float, flags: str, width: int) -> str:
        if number - number != 0.0:
            from agentsandbox.commands.awk.formats import format_one

            return format_one(template[-1], flags, width, None, number, text)
        return template % number

    def one_text(*given: Any) -> str:
        from agentsandbox.commands.awk.formats import as_bytes, format_one

        made = format_one(*given)
        return as_bytes(made) if rt.bytewise else made

    named = (
        checked, join, substr, upper, lower, integer_text, real_text, one_text, length_of,
        same_type, translated,
    )  # fmt: skip
    return {function.__name__: function for function in named}


def _single(character: str, converted: str) -> str:
    """As towupper and towlower of C, which know single characters only."""
    return converted if len(converted) == 1 else character


def length_of(value: object, text: Callable[[object], str]) -> float:
    """`length(value)`."""
    return float(len(value)) if isinstance(value, Array) else float(len(text(value)))


def same_type(before: object, text: str) -> str:
    """Return what `sub` made of a value: a typed regular expression stays one."""
    return Typed(text) if type(before) is Typed else text


def translated(name: str, texts: Sequence[str], number: float, category: str | None) -> str:
    """`dcgettext` and `dcngettext`: there are no translations."""
    if category is not None and category not in _CATEGORIES:
        raise AwkFatal(f"{name}: `{category}' is not a valid locale category")
    return texts[0] if 1.0 <= number < 2.0 else texts[-1]
