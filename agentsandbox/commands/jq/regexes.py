"""Regular expressions: Oniguruma's Perl syntax, on `re` where that cannot explode, else on the `regex` package with a time limit."""

from __future__ import annotations

import re

from agentsandbox.commands.jq.operations import describe
from agentsandbox.commands.jq.values import KINDS, JqError
from agentsandbox.errors import LimitReached
from agentsandbox.kernel.caching import cache_short, forget_long
from agentsandbox.kernel.regexps.perl_tree import read_perl

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from agentsandbox.commands.jq.machine import Machine
    from agentsandbox.commands.jq.values import Value
    from agentsandbox.limits import Budget

__all__ = ["REGEXES", "Pattern", "compile_pattern", "find_all", "searches"]

_LONGEST_PATTERN = 20_000
_LONG_TEXT = 1 << 20
"""A repeated group takes a hundred bytes for every time it is repeated: such patterns are for shorter texts."""
_SHORTEST_TIME = 0.02
_REPEATED_GROUP = re.compile(r"\)[*+?{]")
_NAMED_GROUP = re.compile(r"\(\?<(?=[A-Za-z_])")
_FLAGS = "gixsnpl"
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
        parts.append({"\\z": r"\Z", "\\Z": r"(?=\n?\Z)", "\\h": "h", "\\H": "H"}.get(escape, escape))
        at += 2
    return "".join(parts)


class Pattern:
    """A compiled pattern. `quick` is for ASCII texts up to `quick_length`, None where there is no such thing."""

    __slots__ = ("groups", "names", "quick", "quick_length", "repeats", "timed")

    def __init__(self, timed: Any, quick: re.Pattern[str] | None, quick_length: int, repeats: bool) -> None:
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
        """The next match, with what time there is. The package counts time of the processor, of which others may take a part."""
        if self.repeats and len(text) > _LONG_TEXT:
            raise LimitReached("value_bytes")
        while True:
            try:
                return self.timed.search(text, position, timeout=max(_SHORTEST_TIME, budget.remaining() / 4))
            except TimeoutError:
                budget.check_time()
                if budget.remaining() < 2 * _SHORTEST_TIME:
                    raise LimitReached("timeout") from None
            except MemoryError:
                raise LimitReached("value_bytes") from None


def _read_flags(flags: Value) -> str:
    if flags is None:
        return ""
    if not isinstance(flags, str):
        raise JqError(f"{describe(flags)} is not a string")
    if any(flag not in _FLAGS for flag in flags):
        raise JqError(f"{flags} is not a valid modifier string")
    return flags


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
        timed = regex.compile(_translated(pattern), _options(flags))
    except regex.error as error:
        message = str(getattr(error, "msg", error))
        raise JqError(f"Regex failure: {_MESSAGES.get(message, message)}") from None
    except (OverflowError, RecursionError):
        raise JqError("Regex failure: too big number") from None
    repeats = _REPEATED_GROUP.search(pattern) is not None
    quick, length = (None, 0) if set(flags) - set("gin") else _quick(pattern, ignore_case="i" in flags)
    forget_long(pattern)
    return Pattern(timed, quick, length, repeats)


def _quick(pattern: str, *, ignore_case: bool) -> tuple[re.Pattern[str] | None, int]:
    """The same pattern for `re` and how long a text it may search, if it is one of those that cannot explode there."""
    if "[:" in pattern or "\\K" in pattern:
        return None, 0
    tree = read_perl(_NAMED_GROUP.sub("(", pattern), ignore_case=ignore_case)
    if tree is None or not tree.safe_length:
        return None, 0
    try:
        return re.compile(_NAMED_GROUP.sub("(?P<", pattern), re.IGNORECASE if ignore_case else 0), tree.safe_length
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
        found = quick.search(text, position) if quick is not None else compiled.search(text, position, budget)
        if found is None:
            return
        start, end = found.span()
        position = end if end > start else end + 1
        if start == end and skip_empty:
            continue
        yield found
        if not everything:
            return


def _described(found: Any, names: dict[int, str]) -> Value:
    captures: list[Value] = []
    for index in range(1, found.re.groups + 1):
        start, end = found.span(index)
        name = names.get(index)
        if start < 0:
            captures.append({"offset": -1, "string": None, "length": 0, "name": name})
        elif start == end:
            captures.append({"offset": start, "string": "", "length": 0, "name": name})
        else:
            captures.append({"offset": start, "length": end - start, "string": found[index], "name": name})
    start, end = found.span()
    return {"offset": start, "length": end - start, "string": found[0], "captures": captures}


def _pattern_of(wanted: Value, flags: Value) -> tuple[Value, Value]:
    """The pattern and the flags of a call with one argument: a string, or an array of both."""
    if isinstance(wanted, str):
        return wanted, flags
    if isinstance(wanted, list) and wanted:
        return wanted[0], wanted[1] if len(wanted) > 1 else None
    raise JqError(f"{KINDS[type(wanted)]} not a string or array")


def _check(value: Value, pattern: Value) -> None:
    if not isinstance(value, str):
        raise JqError(f"{describe(value)} cannot be matched, as it is not a string")
    if not isinstance(pattern, str):
        raise JqError(f"{describe(pattern)} is not a string")


def find_all(machine: Machine, value: Value, pattern: Value, flags: Value) -> Iterator[Value]:
    """The matches as `match` describes them."""
    _check(value, pattern)
    modifiers = _read_flags(flags)
    compiled = compile_pattern(pattern, modifiers)
    for found in searches(machine.budget, value, compiled, modifiers):
        yield _described(found, compiled.names)


def _test(machine: Machine, value: Value, wanted: Value, *flags: Value) -> Value:
    pattern, modifiers = (wanted, flags[0]) if flags else _pattern_of(wanted, None)
    _check(value, pattern)
    letters = _read_flags(modifiers)
    compiled = compile_pattern(pattern, letters)
    if compiled.quick is not None and compiled.is_quick(value):
        machine.budget.step()
        return compiled.quick.search(value) is not None
    return any(True for _ in searches(machine.budget, value, compiled, letters))


def _match(machine: Machine, value: Value, wanted: Value, *flags: Value) -> Value:
    pattern, modifiers = (wanted, flags[0]) if flags else _pattern_of(wanted, None)
    made: list[Value] = []
    for found in find_all(machine, value, pattern, modifiers):
        made.append(found)
        if not len(made) & 255:
            machine.budget.charge(len(made) * 64)
    return made


def _split(machine: Machine, value: Value, pattern: Value, flags: Value) -> Value:
    _check(value, pattern)
    if flags is not None and not isinstance(flags, str):
        raise JqError(f"{describe(flags)} is not a string")
    letters = _read_flags("g" + (flags or ""))
    made: list[Value] = []
    previous = 0
    for found in searches(machine.budget, value, compile_pattern(pattern, letters), letters):
        start, end = found.span()
        made.append(value[previous:start])
        previous = end
    made.append(value[previous:])
    return made


REGEXES: dict[str, Callable[..., Value]] = {
    "test/1": _test,
    "test/2": _test,
    "_match/1": _match,
    "_match/2": _match,
    "split/2": _split,
}
