"""What is done with each member of a container: `map`, `map_values`, `walk`, `add`, `INDEX`."""

from __future__ import annotations

from itertools import islice

from agentsandbox.commands._json.printing import dump
from agentsandbox.commands.jq.code import EMPTY, Code, members
from agentsandbox.commands.jq.expressions.construction import collected
from agentsandbox.commands.jq.expressions.flow import piped

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from agentsandbox.commands._json.values import Value
    from agentsandbox.commands.jq.code import Environment
    from agentsandbox.commands.jq.compiler import Compiler, Form
    from agentsandbox.kernel.budget import Budget

_PIECE = 2048
"""Items between two chances for the event loop."""


def _pieces(items: Iterable[Value], budget: Budget) -> Iterator[list[Value]]:
    """The items in lists, the event loop running between them."""
    iterator = iter(items)
    while part := list(islice(iterator, _PIECE)):
        yield part
        budget.breathe()


def _map(compiler: Compiler, codes: list[Code]) -> Code:
    body, machine = codes[0], compiler.machine
    each = body.one
    if each is None:
        return collected(
            machine,
            piped(Code(many=lambda value, environment: members(value)), body, machine.budget),
        )

    def one(value: Value, environment: Environment) -> Value:
        items = members(value)
        made: list[Value] = []
        machine.budget.step(len(value))
        for part in _pieces(items, machine.budget):
            for item in part:
                result = each(item, environment)
                if result is not EMPTY:
                    made.append(result)
        machine.hold(len(made))
        return made

    return Code(one)


def _map_values(compiler: Compiler, codes: list[Code]) -> Code:
    body, budget = codes[0], compiler.budget

    def one(value: Value, environment: Environment) -> Value:
        items = members(value)
        budget.step(len(value))
        if isinstance(value, dict):
            changed = {}
            for name, item in value.items():
                for result in body.many(item, environment):
                    changed[name] = result
                    break
            return changed
        return [
            result
            for part in _pieces(items, budget)
            for item in part
            for result in islice(body.many(item, environment), 1)
        ]

    return Code(one)


def _walk(compiler: Compiler, codes: list[Code]) -> Code:
    body, budget = codes[0], compiler.budget

    def walked(value: Value, environment: Environment) -> Iterable[Value]:
        budget.step()
        if type(value) is list:
            value = [result for item in value for result in walked(item, environment)]
        elif type(value) is dict:
            made = {}
            for name, item in value.items():
                for result in walked(item, environment):
                    made[name] = result
                    break
            value = made
        return body.many(value, environment)

    return Code(many=walked)


def _add_all(compiler: Compiler, codes: list[Code]) -> Code:
    # loaded here because `map` needs none of the functions of values
    from agentsandbox.commands.jq.natives import total

    body = collected(compiler.machine, codes[0]).one
    assert body is not None
    return Code(lambda value, environment: total(compiler.machine, body(value, environment)))


def _index_by(
    compiler: Compiler, rows: Callable[[Value, Environment], Iterable[Value]], key: Code
) -> Code:
    machine = compiler.machine

    def one(value: Value, environment: Environment) -> Value:
        made: dict[str, Value] = {}
        machine.roots.append((made,))
        try:
            for row in rows(value, environment):
                machine.budget.step()
                machine.hold(8)
                for name in key.many(row, environment):
                    made[name if type(name) is str else dump(name)] = row
        finally:
            machine.roots.pop()
        return made

    return Code(one)


def _index_stream(compiler: Compiler, codes: list[Code]) -> Code:
    return _index_by(compiler, codes[0].many, codes[1])


def _index(compiler: Compiler, codes: list[Code]) -> Code:
    return _index_by(compiler, lambda value, environment: members(value), codes[0])


FORMS: dict[str, Form] = {
    "map/1": _map,
    "map_values/1": _map_values,
    "walk/1": _walk,
    "add/1": _add_all,
    "INDEX/2": _index_stream,
    "INDEX/1": _index,
}
