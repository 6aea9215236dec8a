"""Constants, variables, and parts of a value: `.name`, `.[key]`, `.[from:to]`, `.[]`."""

from __future__ import annotations

from agentsandbox.commands._json.values import JqError
from agentsandbox.commands.jq import nodes
from agentsandbox.commands.jq.code import Code, members
from agentsandbox.commands.jq.compiler import Constant
from agentsandbox.commands.jq.expressions.flow import piped
from agentsandbox.commands.jq.operations import truncated
from agentsandbox.commands.jq.paths import get, occurrences, slice_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from agentsandbox.commands._json.values import Value
    from agentsandbox.commands.jq.code import Environment, Located
    from agentsandbox.commands.jq.compiler import Caller, CompileNode, Compiler, Scope


def _compile_identity(compiler: Compiler, node: nodes.Identity, scope: Scope, tail: Caller) -> Code:
    return Code(lambda value, environment: value, paths=lambda item, environment: (item,))


def _compile_constant(compiler: Compiler, node: nodes.Constant, scope: Scope, tail: Caller) -> Code:
    result = node.value
    return Code(lambda value, environment: result)


def _compile_variable(compiler: Compiler, node: nodes.Variable, scope: Scope, tail: Caller) -> Code:
    found = scope.find("$" + node.name)
    if found is None and node.name == "ENV":
        found = Constant(dict(compiler.machine.environment))
    if isinstance(found, Constant):
        result = found.value
        return Code(lambda value, environment: result)
    if not isinstance(found, int):
        return compiler.undefined(f"${node.name} is not defined", node.position, len(node.name) + 1)
    index = found
    return Code(lambda value, environment: environment[index])


def _compile_index(compiler: Compiler, node: nodes.Index, scope: Scope, tail: Caller) -> Code:
    target = compiler.compile(node.target, scope)
    if isinstance(node.key, nodes.Constant) and isinstance(node.key.value, str):
        field = _field(node.key.value)
        if isinstance(node.target, nodes.Identity):
            return field
        return piped(target, field, compiler.budget)
    budget = compiler.budget

    def look(found: Value, key: Value) -> Value:
        if type(key) is list and type(found) is list:
            return occurrences(found, key, budget)
        return get(found, key)

    return _access(target, compiler.compile(node.key, scope), look)


def _field(name: str) -> Code:
    """Return the code of `.name`."""

    def paths(item: Located, environment: Environment) -> tuple[Located]:
        return (_below(item, name, get),)

    return Code(
        lambda value, environment: value.get(name) if type(value) is dict else get(value, name),
        paths=paths,
    )


def _below(item: Located, key: Value, look: Callable[[Value, Value], Value]) -> Located:
    path, found = item
    if path is None:
        place = f"{truncated(key)} of {truncated(found, 26)}"
        raise JqError(f"Invalid path expression near attempt to access element {place}")
    return (*path, key), look(found, key)


def _access(target: Code, key: Code, look: Callable[[Value, Value], Value]) -> Code:
    """Return the code of `target[key]`; `look` finds what stands at a key."""

    def paths(item: Located, environment: Environment) -> Iterator[Located]:
        for at in key.many(item[1], environment):
            for found in target.paths(item, environment):
                yield _below(found, at, look)

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


def _compile_slice(compiler: Compiler, node: nodes.Slice, scope: Scope, tail: Caller) -> Code:
    hold, nothing = compiler.machine.hold, nodes.Constant(None)
    start = compiler.compile(node.start or nothing, scope)
    end = compiler.compile(node.end or nothing, scope)

    def bounds(value: Value, environment: Environment) -> Iterator[Value]:
        for first in start.many(value, environment):
            for last in end.many(value, environment):
                yield {"start": first, "end": last}

    low, high = start.sure, end.sure
    key = Code(many=bounds)
    if low is not None and high is not None:
        key = Code(
            lambda value, environment: {
                "start": low(value, environment),
                "end": high(value, environment),
            }
        )

    def cut(found: Value, key: Value) -> Value:
        part = slice_of(found, key["start"], key["end"])
        if part is not None:
            hold(len(part) >> (1 if type(part) is list else 4))
        return part

    return _access(compiler.compile(node.target, scope), key, cut)


def _compile_iterate(compiler: Compiler, node: nodes.Iterate, scope: Scope, tail: Caller) -> Code:
    def paths(item: Located, environment: Environment) -> Iterator[Located]:
        path, found = item
        if path is None:
            place = truncated(found, 26)
            raise JqError(f"Invalid path expression near attempt to iterate through {place}")
        items = found.items() if type(found) is dict else enumerate(members(found))
        for key, member in items:
            yield (*path, key), member

    each = Code(many=lambda value, environment: members(value), paths=paths)
    if isinstance(node.body, nodes.Identity):
        return each
    return piped(compiler.compile(node.body, scope), each, compiler.budget)


NODES: dict[type, CompileNode] = {
    nodes.Identity: _compile_identity,
    nodes.Constant: _compile_constant,
    nodes.Variable: _compile_variable,
    nodes.Index: _compile_index,
    nodes.Slice: _compile_slice,
    nodes.Iterate: _compile_iterate,
}
