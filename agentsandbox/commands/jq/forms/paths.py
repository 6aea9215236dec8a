"""Paths as values, and the streaming form: `path`, `getpath`, `tostream`, `fromstream`.

The streaming form of a value is an event [path, leaf] for each leaf, and an event [path] when a
container ends.
"""

from __future__ import annotations

from agentsandbox.commands._json.values import CONTAINERS, JqError
from agentsandbox.commands.jq.code import Code, invalid_path
from agentsandbox.commands.jq.paths import get_path, put_path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from agentsandbox.commands._json.values import Value
    from agentsandbox.commands.jq.code import Environment, Located
    from agentsandbox.commands.jq.compiler import Compiler, Form
    from agentsandbox.kernel.budget import Budget

_BATCH = 256
"""Events between two chances for the event loop."""


def _path(compiler: Compiler, codes: list[Code]) -> Code:
    body, hold = codes[0], compiler.machine.hold

    def many(value: Value, environment: Environment) -> Iterator[Value]:
        for path, found in body.paths(((), value), environment):
            if path is None:
                raise invalid_path(found)
            hold((len(path) >> 1) + 5)
            yield list(path)

    return Code(many=many)


def _getpath(compiler: Compiler, codes: list[Code]) -> Code:
    where = codes[0]

    def look(value: Value, path: Value) -> Value:
        if not isinstance(path, list):
            raise JqError("Path must be specified as an array")
        return get_path(value, path)

    def many(value: Value, environment: Environment) -> Iterator[Value]:
        for path in where.many(value, environment):
            yield look(value, path)

    def paths(item: Located, environment: Environment) -> Iterator[Located]:
        path, value = item
        for more in where.many(value, environment):
            if path is None:
                raise invalid_path(value)
            found = look(value, more)
            yield (*path, *more), found

    one = where.sure
    if one is None:
        return Code(many=many, paths=paths)
    return Code(lambda value, environment: look(value, one(value, environment)), paths=paths)


# the streaming form


def _entries(value: Value) -> Iterator[tuple[Value, Value]]:
    return iter(value.items()) if type(value) is dict else enumerate(value)


def events(value: Value, budget: Budget, hold: Callable[[int], None]) -> Iterator[Value]:
    """Yield the events of one value, in jq's order; `hold` counts the memory that they take."""
    if type(value) not in CONTAINERS or not value:
        yield [[], value]
        return
    path: list[Value] = [None]
    pending = [_entries(value)]
    made = 0
    while pending:
        for key, item in pending[-1]:
            path[-1] = key
            if type(item) in CONTAINERS and item:
                pending.append(_entries(item))
                path.append(None)
                break
            made += 1
            if made > _BATCH:
                budget.step(made)
                hold(made * ((len(path) >> 1) + 9))
                made = 0
            yield [path[:], item]
        else:
            pending.pop()
            made += 1 + (len(path) >> 4)
            yield [path[:]]
            path.pop()
    hold(made * 9)


def _tostream(compiler: Compiler, codes: list[Code]) -> Code:
    budget, hold = compiler.budget, compiler.machine.hold
    return Code(many=lambda value, environment: events(value, budget, hold))


def _fromstream(compiler: Compiler, codes: list[Code]) -> Code:
    body, budget = codes[0], compiler.budget

    def many(value: Value, environment: Environment) -> Iterator[Value]:
        made: Value = None
        owned: dict[int, Value] = {}
        for event in body.many(value, environment):
            budget.step()
            if type(event) is not list or not 1 <= len(event) <= 2 or type(event[0]) is not list:
                raise JqError("Invalid streaming format")
            path = event[0]
            if len(event) == 2:
                made = put_path(made, path, event[1], budget, owned)
            if len(path) == (0 if len(event) == 2 else 1):
                yield made
                made, owned = None, {}

    return Code(many=many)


FORMS: dict[str, Form] = {
    "path/1": _path,
    "getpath/1": _getpath,
    "tostream/0": _tostream,
    "fromstream/1": _fromstream,
}
