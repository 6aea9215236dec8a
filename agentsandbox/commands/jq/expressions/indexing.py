"""Parts of a value: `.name`, `.[key]`, `.[from:to]`, `.[]`."""

from __future__ import annotations

from agentsandbox.commands._json.values import JqError
from agentsandbox.commands.jq import nodes
from agentsandbox.commands.jq.code import EMPTY, Code, members
from agentsandbox.commands.jq.operations import truncated
from agentsandbox.commands.jq.paths import get, occurrences, slice_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from agentsandbox.commands._json.values import Value
    from agentsandbox.commands.jq.code import Environment, Path, Paths
    from agentsandbox.commands.jq.compiler import Compiler
    from agentsandbox.commands.jq.scopes import Scope


def _not_a_path(key: Value, found: Value) -> JqError:
    return JqError(
        f"Invalid path expression near attempt to access element {truncated(key)} of {truncated(found, 26)}"
    )


def compile_index(compiler: Compiler, node: nodes.Index, scope: Scope) -> Code:
    target = compiler.compile(node.target, scope)
    if isinstance(node.key, nodes.Constant) and isinstance(node.key.value, str):
        return _field(target, node.key.value, direct=isinstance(node.target, nodes.Identity))
    if isinstance(node.key, nodes.Constant) and type(node.key.value) is int and node.key.value >= 0:
        return _item(target, node.key.value)
    key, budget = compiler.compile(node.key, scope), compiler.budget

    def look(found: Value, at: Value) -> Value:
        if type(at) is str and type(found) is dict:
            return found.get(at)
        return (
            occurrences(found, at, budget)
            if type(at) is list and type(found) is list
            else get(found, at)
        )

    def paths(path: Path, value: Value, environment: Environment) -> Iterator[tuple[Path, Value]]:
        for at in key.many(value, environment):
            for base, found in target.paths(path, value, environment):
                if base is None:
                    raise _not_a_path(at, found)
                yield (*base, at), look(found, at)

    first, second = target.sure, key.sure
    if first is not None and second is not None:
        return Code(
            lambda value, environment: look(first(value, environment), second(value, environment)),
            paths=paths,
        )

    def many(value: Value, environment: Environment) -> Iterator[Value]:
        for at in key.many(value, environment):
            for found in target.many(value, environment):
                yield look(found, at)

    return Code(many=many, paths=paths)


def _paths_at(target: Code, key: str | int) -> Paths:
    """The paths of a part with a constant key."""

    def paths(path: Path, value: Value, environment: Environment) -> Iterator[tuple[Path, Value]]:
        for base, found in target.paths(path, value, environment):
            if base is None:
                raise _not_a_path(key, found)
            yield (*base, key), get(found, key)

    return paths


def _item(target: Code, at: int) -> Code:
    """`target[at]` for a constant index."""
    paths, inner = _paths_at(target, at), target.sure
    if inner is None:
        return Code(
            many=lambda value, environment: (
                get(found, at) for found in target.many(value, environment)
            ),
            paths=paths,
        )

    def one(value: Value, environment: Environment) -> Value:
        found = inner(value, environment)
        return found[at] if type(found) is list and len(found) > at else get(found, at)

    return Code(one, paths=paths)


def _field(target: Code, name: str, *, direct: bool) -> Code:
    """`target.name`; `direct`, where the target is the input itself."""
    paths, inner = _paths_at(target, name), target.one
    if direct:
        return Code(
            lambda value, environment: value.get(name) if type(value) is dict else get(value, name),
            paths=paths,
        )
    if inner is None:
        return Code(
            many=lambda value, environment: (
                get(found, name) for found in target.many(value, environment)
            ),
            paths=paths,
        )
    if target.total:

        def one(value: Value, environment: Environment) -> Value:
            found = inner(value, environment)
            return found.get(name) if type(found) is dict else get(found, name)

        return Code(one, paths=paths)

    def maybe(value: Value, environment: Environment) -> Value:
        found = inner(value, environment)
        return EMPTY if found is EMPTY else get(found, name)

    return Code(maybe, total=False, paths=paths)


def compile_slice(compiler: Compiler, node: nodes.Slice, scope: Scope) -> Code:
    machine, nothing = compiler.machine, nodes.Constant(None)
    target = compiler.compile(node.target, scope)
    start, end = (
        compiler.compile(node.start or nothing, scope),
        compiler.compile(node.end or nothing, scope),
    )

    def cut(found: Value, first: Value, last: Value) -> Value:
        part = slice_of(found, first, last)
        if part is not None:
            machine.hold(len(part) >> (1 if type(part) is list else 4))
        return part

    paths = _slice_paths(target, start, end, cut)
    source, low, high = target.sure, start.sure, end.sure
    if source and low and high:
        return Code(
            lambda value, environment: cut(
                source(value, environment), low(value, environment), high(value, environment)
            ),
            paths=paths,
        )

    def many(value: Value, environment: Environment) -> Iterator[Value]:
        for first in start.many(value, environment):
            for last in end.many(value, environment):
                for found in target.many(value, environment):
                    yield cut(found, first, last)

    return Code(many=many, paths=paths)


def _slice_paths(
    target: Code, start: Code, end: Code, cut: Callable[[Value, Value, Value], Value]
) -> Paths:
    def paths(path: Path, value: Value, environment: Environment) -> Iterator[tuple[Path, Value]]:
        for first in start.many(value, environment):
            for last in end.many(value, environment):
                key = {"start": first, "end": last}
                for base, found in target.paths(path, value, environment):
                    if base is None:
                        raise _not_a_path(key, found)
                    yield (*base, key), cut(found, first, last)

    return paths


def compile_iterate(compiler: Compiler, node: nodes.Iterate, scope: Scope) -> Code:
    target = compiler.compile(node.body, scope)

    def paths(path: Path, value: Value, environment: Environment) -> Iterator[tuple[Path, Value]]:
        for base, found in target.paths(path, value, environment):
            if base is None:
                raise JqError(
                    f"Invalid path expression near attempt to iterate through {truncated(found, 26)}"
                )
            if type(found) is dict:
                for name, item in found.items():
                    yield (*base, name), item
            else:
                for at, item in enumerate(members(found)):
                    yield (*base, at), item

    inner = target.sure
    if inner is not None:
        return Code(many=lambda value, environment: members(inner(value, environment)), paths=paths)

    def many(value: Value, environment: Environment) -> Iterator[Value]:
        for found in target.many(value, environment):
            yield from members(found)

    return Code(many=many, paths=paths)
