"""Regular expressions: Oniguruma's Perl syntax on the `regex` package, each search with the time that is left."""

from __future__ import annotations

from agentsandbox.errors import LimitReached
from agentsandbox.languages.jq.values import KINDS, JqError, describe

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from agentsandbox.languages.jq.machine import Machine
    from agentsandbox.languages.jq.values import Value

__all__ = ["REGEXES", "find_all"]

_LONGEST_PATTERN = 20_000
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


def _options(flags: Value) -> tuple[bool, bool, bool, int]:
    """Whether to find all, to skip empty matches, to prefer the longest; and the flags of the `regex` package."""
    import regex

    if flags is None:
        flags = ""
    if not isinstance(flags, str):
        raise JqError(f"{describe(flags)} is not a string")
    if any(flag not in _FLAGS for flag in flags):
        raise JqError(f"{flags} is not a valid modifier string")
    options = int(regex.V1)
    if "i" in flags:
        options |= int(regex.IGNORECASE)
    if "x" in flags:
        options |= int(regex.VERBOSE)
    if "p" in flags:
        options |= int(regex.DOTALL)
    if "l" in flags:
        options |= int(regex.POSIX)
    return "g" in flags, "n" in flags, "l" in flags, options


def _compiled(machine: Machine, pattern: str, options: int) -> Any:
    import regex

    if len(pattern) > _LONGEST_PATTERN:
        raise JqError("Regex failure: too big wide range value")
    try:
        return regex.compile(_translated(pattern), options)
    except regex.error as error:
        message = str(getattr(error, "msg", error))
        raise JqError(f"Regex failure: {_MESSAGES.get(message, message)}") from None
    except (OverflowError, RecursionError):
        raise JqError("Regex failure: too big number") from None


def _searches(machine: Machine, text: str, pattern: str, flags: Value) -> Iterator[Any]:
    """The match objects, one or all, as jq's flags ask."""
    everything, skip_empty, _longest, options = _options(flags)
    compiled = _compiled(machine, pattern, options)
    position, size, budget = 0, len(text), machine.budget
    while position <= size:
        budget.step()
        try:
            found = compiled.search(text, position, timeout=max(0.05, budget.remaining()))
        except TimeoutError:
            budget.check_time()
            raise LimitReached("timeout") from None
        if found is None:
            return
        start, end = found.span()
        position = end if end > start else end + 1
        if start == end and skip_empty:
            continue
        yield found
        if not everything:
            return


def _described(found: Any) -> Value:
    names = {index: name for name, index in found.re.groupindex.items()}
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
        raise JqError(f"{describe(pattern)} cannot be matched, as it is not a string")


def find_all(machine: Machine, value: Value, pattern: Value, flags: Value) -> Iterator[Value]:
    """The matches as `match` describes them."""
    _check(value, pattern)
    for found in _searches(machine, value, pattern, flags):
        yield _described(found)


def _test(machine: Machine, value: Value, wanted: Value, *flags: Value) -> Value:
    pattern, modifiers = (wanted, flags[0]) if flags else _pattern_of(wanted, None)
    _check(value, pattern)
    return any(True for _ in _searches(machine, value, pattern, modifiers))


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
    made: list[Value] = []
    previous = 0
    for found in _searches(machine, value, pattern, "g" + (flags or "")):
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
