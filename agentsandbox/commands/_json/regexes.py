"""Regular expressions of jq: Oniguruma's syntax on `re`, or on `regex` with a time limit."""

from __future__ import annotations

import re

from agentsandbox.commands._json.values import JqError
from agentsandbox.errors import LimitReached
from agentsandbox.kernel.caching import cache_short
from agentsandbox.kernel.regexps.perl_tree import read_perl
from agentsandbox.kernel.regexps.timed import RegexTooLarge, compile_timed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from agentsandbox.kernel.budget import Budget

_LONGEST_PATTERN = 20_000
_LONG_TEXT = 1 << 20
"""The longest text for a repeated group, which takes a hundred bytes for each repetition."""
_SHORTEST_TIME = 0.02
_REPEATED_GROUP = re.compile(r"\)[*+?{]")
_NAMED_GROUP = re.compile(r"\(\?<(?=[A-Za-z_])")
_MESSAGES = {
    "unterminated character set": "premature end of char-class",
    "missing )": "end pattern with unmatched parenthesis",
    "unbalanced parenthesis": "unmatched close parenthesis",
    "nothing to repeat": "target of repeat operator is not specified",
    "multiple repeat": "target of repeat operator is invalid",
    "bad escape (end of pattern)": "end pattern at escape",
    "bad escape": "end pattern at escape",
    "min repeat greater than max repeat": "upper is smaller than lower in repeat range",
    "bad set": "premature end of char-class",
    "unknown group": "undefined name group reference",
    "invalid group reference": "invalid backref number/name",
}


def _translated(pattern: str) -> str:
    r"""The pattern with Oniguruma's \z and \Z in the words of the `regex` package."""
    if "\\" not in pattern:
        return pattern
    parts: list[str] = []
    at = 0
    while at < len(pattern):
        character = pattern[at]
        if character != "\\" or at + 1 == len(pattern):
            parts.append(character)
            at += 1
            continue
        escape = pattern[at : at + 2]
        parts.append(
            {"\\z": r"\Z", "\\Z": r"(?=\n?\Z)", "\\h": "h", "\\H": "H"}.get(escape, escape)
        )
        at += 2
    return "".join(parts)


class Pattern:
    """A compiled pattern; `quick`, if there is one, is for ASCII texts up to `quick_length`."""

    __slots__ = ("groups", "names", "quick", "quick_length", "repeats", "timed")

    def __init__(
        self, timed: Any, quick: re.Pattern[str] | None, quick_length: int, repeats: bool
    ) -> None:
        self.timed = timed
        self.quick = quick
        self.quick_length = quick_length
        self.repeats = repeats
        self.groups: int = timed.groups
        self.names = {index: name for name, index in timed.groupindex.items()}

    def is_quick(self, text: str) -> bool:
        """Whether `quick` may search the text."""
        return self.quick is not None and len(text) <= self.quick_length and text.isascii()

    def search(self, text: str, position: int, budget: Budget) -> Any:
        """Return the next match; the package counts processor time, which others use as well."""
        if self.repeats and len(text) > _LONG_TEXT:
            raise LimitReached("value_bytes")
        while True:
            try:
                return self.timed.search(
                    text, position, timeout=max(_SHORTEST_TIME, budget.remaining() / 4)
                )
            except TimeoutError:
                budget.check_time()
                if budget.remaining() < 2 * _SHORTEST_TIME:
                    raise LimitReached("timeout") from None
            except MemoryError:
                raise LimitReached("value_bytes") from None


def _options(flags: str) -> int:
    import regex

    options = int(regex.V1)
    if "i" in flags:
        options |= int(regex.IGNORECASE)
    if "x" in flags:
        options |= int(regex.VERBOSE)
    if "p" in flags:
        options |= int(regex.DOTALL)
    if "l" in flags:
        options |= int(regex.POSIX)
    return options


@cache_short(256)
def compile_pattern(pattern: str, flags: str) -> Pattern:
    """Return a pattern, compiled once. Raises `JqError`."""
    import regex

    if len(pattern) > _LONGEST_PATTERN:
        raise JqError("Regex failure: too big wide range value")
    try:
        timed = compile_timed(_translated(pattern), _options(flags))
    except regex.error as error:
        message = str(getattr(error, "msg", error))
        raise JqError(f"Regex failure: {_MESSAGES.get(message, message)}") from None
    except (RegexTooLarge, OverflowError, RecursionError):
        raise JqError("Regex failure: too big number") from None
    repeats = _REPEATED_GROUP.search(pattern) is not None
    quick, length = (
        (None, 0) if set(flags) - set("gin") else _quick(pattern, ignore_case="i" in flags)
    )
    return Pattern(timed, quick, length, repeats)


def _quick(pattern: str, *, ignore_case: bool) -> tuple[re.Pattern[str] | None, int]:
    """Return the pattern for `re`, if it cannot explode there, and its longest text."""
    if "[:" in pattern or "\\K" in pattern:
        return None, 0
    tree = read_perl(_NAMED_GROUP.sub("(", pattern), ignore_case=ignore_case)
    if tree is None or not tree.safe_length:
        return None, 0
    try:
        return re.compile(
            _NAMED_GROUP.sub("(?P<", pattern), re.IGNORECASE if ignore_case else 0
        ), tree.safe_length
    except re.error:
        return None, 0


def searches(budget: Budget, text: str, compiled: Pattern, flags: str) -> Iterator[Any]:
    """The match objects, one or all, as jq's flags ask."""
    quick = compiled.quick if compiled.is_quick(text) else None
    everything, skip_empty = "g" in flags, "n" in flags
    if quick is not None and everything:
        for match in quick.finditer(text):  # none is empty: such patterns are not for `re`
            budget.step()
            yield match
        return
    position, size = 0, len(text)
    while position <= size:
        budget.step()
        found = (
            quick.search(text, position)
            if quick is not None
            else compiled.search(text, position, budget)
        )
        if found is None:
            return
        start, end = found.span()
        position = end if end > start else end + 1
        if start == end and skip_empty:
            continue
        yield found
        if not everything:
            return
