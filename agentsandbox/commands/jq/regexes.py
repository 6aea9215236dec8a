"""The built-in functions that match regular expressions."""

from __future__ import annotations

from agentsandbox.commands._json.regexes import compile_pattern, searches
from agentsandbox.commands._json.values import KINDS, JqError
from agentsandbox.commands.jq.code import Code
from agentsandbox.commands.jq.operations import add, describe

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from agentsandbox.commands._json.values import Value
    from agentsandbox.commands.jq.code import Environment
    from agentsandbox.commands.jq.compiler import Compiler
    from agentsandbox.commands.jq.machine import Machine

_FLAGS = "gixsnpl"


def _read_flags(flags: Value) -> str:
    if flags is None:
        return ""
    if not isinstance(flags, str):
        raise JqError(f"{describe(flags)} is not a string")
    if any(flag not in _FLAGS for flag in flags):
        raise JqError(f"{flags} is not a valid modifier string")
    return flags


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
            captures.append(
                {"offset": start, "length": end - start, "string": found[index], "name": name}
            )
    start, end = found.span()
    return {"offset": start, "length": end - start, "string": found[0], "captures": captures}


def _pattern_of(wanted: Value, flags: Value) -> tuple[Value, Value]:
    """Return the pattern and the flags of a call with one argument: a string, or an array."""
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
    """Yield the matches as `match` describes them."""
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


def _named(found: Value) -> dict[str, Value]:
    """Return the named groups of a match."""
    return {
        group["name"]: group["string"] for group in found["captures"] if group["name"] is not None
    }


def substitute(compiler: Compiler, codes: list[Code]) -> Code:
    """Return the code of `sub`, which evaluates its replacement with the groups of each match."""
    pattern, replacement, flags = codes
    machine = compiler.machine

    def replaced(
        value: Value, environment: Environment, wanted: Value, modifiers: Value
    ) -> Iterator[Value]:
        results: list[list[str | None]] = []
        previous = 0
        for found in find_all(machine, value, wanted, modifiers):
            machine.budget.step()
            gap = value[previous : found["offset"]]
            for at, text in enumerate(replacement.many(_named(found), environment)):
                if at == len(results):
                    results.append([])
                if not isinstance(text, str):
                    add(gap, text, machine.budget)  # refused, but for null
                results[at] += (gap, text)
            previous = found["offset"] + found["length"]
        if not results:
            yield value
        for pieces in results:
            known = [piece for piece in (*pieces, value[previous:]) if piece is not None]
            machine.charge_text(sum(map(len, known)))
            yield "".join(known)

    def many(value: Value, environment: Environment) -> Iterator[Value]:
        for wanted in pattern.many(value, environment):
            for modifiers in flags.many(value, environment):
                yield from replaced(value, environment, wanted, modifiers)

    if pattern.sure and flags.sure and replacement.sure:
        return Code(lambda value, environment: next(many(value, environment)))
    return Code(many=many)


REGEXES: dict[str, Callable[..., Value]] = {
    "test/1": _test,
    "test/2": _test,
    "_match/1": _match,
    "_match/2": _match,
    "_capture/0": lambda machine, value: _named(value),
    "split/2": _split,
}
