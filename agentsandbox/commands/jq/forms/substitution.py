"""`sub`, which evaluates its replacement for each match, and what `capture` gives."""

from __future__ import annotations

from agentsandbox.commands.jq.code import Code
from agentsandbox.commands.jq.operations import add

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from agentsandbox.commands._json.values import Value
    from agentsandbox.commands.jq.code import Environment
    from agentsandbox.commands.jq.compiler import Compiler, Form


def _named(found: Value) -> dict[str, Value]:
    """The named groups of a match."""
    return {
        group["name"]: group["string"] for group in found["captures"] if group["name"] is not None
    }


def _capture(compiler: Compiler, codes: list[Code]) -> Code:
    return Code(lambda value, environment: _named(value))


def _sub(compiler: Compiler, codes: list[Code]) -> Code:
    # loaded here because other functions of this kind need no regular expressions
    from agentsandbox.commands.jq.regexes import find_all

    pattern, replacement, flags = codes
    machine, budget = compiler.machine, compiler.budget

    def substitute(
        value: Value, environment: Environment, wanted: Value, modifiers: Value
    ) -> Iterator[Value]:
        results: list[list[str | None]] = []
        previous = 0
        for found in find_all(machine, value, wanted, modifiers):
            budget.step()
            gap = value[previous : found["offset"]]
            for at, text in enumerate(replacement.many(_named(found), environment)):
                if at == len(results):
                    results.append([])
                if not isinstance(text, str):
                    add(gap, text, budget)  # refused, but for null
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
                yield from substitute(value, environment, wanted, modifiers)

    if pattern.sure and flags.sure and replacement.sure:
        return Code(lambda value, environment: next(many(value, environment)))
    return Code(many=many)


FORMS: dict[str, Form] = {
    "_capture/0": _capture,
    "sub/3": _sub,
}
