"""Definitions and calls: of functions of the program, of closure parameters, of built-in functions.

A parameter is a closure: the code of the argument and the environment of the call. A value
parameter, `$name`, is evaluated before the call, and the body runs once for each combination of
values. The environment of a body is that of the definition, cut to its length, with the parameters
behind it.

A recursive function is first taken to have one output at most, which most have; if its body then
turns out to have more, it is compiled again. A call in tail position returns a `_Tail` instead of
calling, and a loop around the body goes on with it. All other recursion takes stack: it is counted
(`Machine.deeper`) and goes on in a fresh stack when the present one is full.
"""

from __future__ import annotations

from agentsandbox.commands.jq import nodes
from agentsandbox.commands.jq.code import Code
from agentsandbox.commands.jq.compiler import Argument, Function, Scope

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any, TypeAlias

    from agentsandbox.commands._json.values import Value
    from agentsandbox.commands.jq.code import Environment, Located, Many, Paths
    from agentsandbox.commands.jq.compiler import Caller, CompileNode, Compiler
    from agentsandbox.commands.jq.machine import Machine
    from agentsandbox.commands.jq.nodes import Node
    from agentsandbox.kernel.budget import Budget

    Make: TypeAlias = Callable[[Value, Environment], Any]
    """What makes the value or closure that is passed for a parameter."""
    Enter: TypeAlias = Callable[[Value, Environment], Environment]
    """From the caller's environment to that of the function's body."""

# definitions


def _compile_define(compiler: Compiler, node: nodes.Define, scope: Scope, tail: Caller) -> Code:
    return compiler.compile(node.rest, define(compiler, node.definition, scope), tail)


def define(compiler: Compiler, definition: nodes.Definition, scope: Scope) -> Scope:
    """Return the scope in which the function can be called."""
    definition = _plain(definition)
    function = Function(scope.size, definition)
    outside = scope.define(definition.key, function)
    inside = outside
    for parameter in definition.parameters:
        name = parameter.name
        inside = inside.place(f"${name}" if parameter.is_value else f"{name}/0")
    if _mentions(definition.body, definition.name, len(definition.parameters)):
        function.body = _recursive_body(compiler, function, definition.body, inside)
    else:
        function.body = compiler.compile(definition.body, inside)
    return outside


def _plain(definition: nodes.Definition) -> nodes.Definition:
    """Return `def f(a): a as $a | …` for a `def f($a): …` whose body calls `a` as well."""
    values = [parameter.name for parameter in definition.parameters if parameter.is_value]
    body = definition.body
    if not any(_mentions(body, name, 0) for name in values):
        return definition
    for name in reversed(values):
        body = nodes.Bind(nodes.Call(name, [], 0), [nodes.VariablePattern(name)], body)
    closures = [nodes.Parameter(each.name, False) for each in definition.parameters]
    return nodes.Definition(definition.name, closures, body)


def _mentions(body: Node, name: str, arity: int) -> bool:
    pending = [body]
    while pending:
        node = pending.pop()
        if isinstance(node, nodes.Call) and node.name == name and len(node.arguments) == arity:
            return True
        pending.extend(node.children())
    return False


def _recursive_body(compiler: Compiler, function: Function, node: Node, inside: Scope) -> Code:
    # only the outermost may be compiled twice: with each inner one the time would double
    hopeful = not compiler.optimistic
    compiler.optimistic = True
    function.compiling = True
    function.single = hopeful
    body = compiler.compile(node, inside, function)
    if hopeful and body.one is None:
        function.single = False
        function.tail_called = False
        compiler.forget()
        body = compiler.compile(node, inside, function)
    compiler.optimistic = not hopeful
    function.compiling = False
    if function.tail_called:
        body = _looping(body, function.grows, compiler.machine)
    return _guarded(body, _height(node), compiler.machine)


_CALL = 3
"""Python frames of one call."""


def _height(body: Node) -> int:
    """Return how many Python frames one call of a body takes at most."""
    deepest = 0
    pending = [(body, _CALL)]
    while pending:
        node, height = pending.pop()
        deepest = max(deepest, height)
        pending.extend((child, height + 1) for child in node.children())
    return deepest


def _guarded(body: Code, height: int, machine: Machine) -> Code:
    """Return the body of a recursive function, whose depth is counted."""

    def paths(item: Located, environment: Environment) -> Iterator[Located]:
        return machine.nested(body.paths(item, environment), height)

    inner, roots = body.one, machine.roots
    if inner is None:
        return Code(
            many=lambda value, environment: machine.nested(
                body.many(value, environment), height, value, environment
            ),
            paths=paths,
        )

    def one(value: Value, environment: Environment) -> Value:
        machine.deeper(height)
        place = len(roots)
        roots.append((value, environment))
        try:
            if machine.frames > machine.stack_end:
                return machine.on_fresh_stack(lambda: inner(value, environment))
            return inner(value, environment)
        finally:
            del roots[place:]
            machine.frames -= height

    return Code(one, total=body.total, paths=paths)


class _Tail:
    """A call in tail position that was not made: the function shall go on with it."""

    __slots__ = ("environment", "value")

    def __init__(self, value: Value, environment: Environment) -> None:
        self.value = value
        self.environment = environment


_CLOSURE = 256
"""Bytes that a closure over another one takes."""


def _looping_outputs(body: Many, grows: bool, budget: Budget) -> Many:
    def many(value: Value, environment: Environment) -> Iterator[Value]:
        rounds = 0
        while True:
            following: _Tail | None = None
            for result in body(value, environment):
                if type(result) is _Tail:
                    following = result
                else:
                    yield result
            if following is None:
                return
            budget.step()
            rounds += grows
            budget.charge(rounds * _CLOSURE)
            value, environment = following.value, following.environment

    return many


def _looping(body: Code, grows: bool, machine: Machine) -> Code:
    """Return a body whose tail calls go round a loop instead of deeper."""
    budget, roots = machine.budget, machine.roots
    inner = body.one
    if inner is None:
        return Code(many=_looping_outputs(body.many, grows, budget), paths=body.paths)

    def one(value: Value, environment: Environment) -> Value:
        rounds = 0
        place = len(roots)
        roots.append(())
        try:
            while True:
                result = inner(value, environment)
                if type(result) is not _Tail:
                    return result
                budget.step()
                rounds += grows
                budget.charge(rounds * _CLOSURE)
                value, environment = result.value, result.environment
                roots[place] = (value, environment)
        finally:
            del roots[place:]

    return Code(one, total=body.total, paths=body.paths)


# calls


def _compile_call(compiler: Compiler, node: nodes.Call, scope: Scope, tail: Caller) -> Code:
    name = f"{node.name}/{len(node.arguments)}"
    found = scope.find(name)
    if isinstance(found, int):
        return _call_closure(compiler.machine, found)
    if isinstance(found, Function):
        return _call_function(compiler, found, node, scope, tail)
    if isinstance(found, Argument):
        return compiler.compile(found.node, compiler.widened(found.scope, scope.size), tail)
    return _call_builtin(compiler, name, node, scope, tail)


def _call_closure(machine: Machine, index: int) -> Code:
    def many(value: Value, environment: Environment) -> Iterator[Value]:
        code, outer = environment[index]
        return machine.nested(code.many(value, outer), _CALL)

    def paths(item: Located, environment: Environment) -> Iterator[Located]:
        code, outer = environment[index]
        return machine.nested(code.paths(item, outer), _CALL)

    return Code(many=many, paths=paths)


def _call_builtin(
    compiler: Compiler, name: str, node: nodes.Call, scope: Scope, tail: Caller
) -> Code:
    found = compiler.builtin(name)
    if found is None:
        return compiler.undefined(f"{name} is not defined", node.position, len(node.name))
    if callable(found):
        return found(compiler, [compiler.compile(argument, scope) for argument in node.arguments])
    if not _mentions(found.body, found.name, len(found.parameters)):
        return _expanded(compiler, found, node, scope, tail)
    function = compiler.builtins.get(name)
    if function is None:
        made = define(compiler, found, Scope()).find(name)
        assert isinstance(made, Function)
        function = compiler.builtins[name] = made
    return _call_function(compiler, function, node, scope, None)


def _expanded(
    compiler: Compiler, definition: nodes.Definition, node: nodes.Call, scope: Scope, tail: Caller
) -> Code:
    """Return the body of a built-in function, compiled with the arguments in place.

    The body sees no names of the program but the arguments, and these see no names of the body.
    """
    inside = Scope(scope.size)
    body = definition.body
    for parameter, argument in reversed(
        list(zip(definition.parameters, node.arguments, strict=True))
    ):
        inside = inside.define(f"{parameter.name}/0", Argument(argument, scope))
        if parameter.is_value:
            call = nodes.Call(parameter.name, [], node.position)
            body = nodes.Bind(call, [nodes.VariablePattern(parameter.name)], body)
    return compiler.compile(body, inside, tail)


def _call_function(
    compiler: Compiler, function: Function, node: nodes.Call, scope: Scope, tail: Caller
) -> Code:
    budget = compiler.budget
    codes = [compiler.compile(argument, scope) for argument in node.arguments]
    closures = [
        _closure(argument, code, scope)
        for argument, code in zip(node.arguments, codes, strict=True)
    ]
    given = list(zip(function.parameters, codes, closures, strict=True))
    several = [code.many if parameter.is_value else None for parameter, code, _ in given]
    environments = _environments(function.depth, several, closures)

    def paths(item: Located, environment: Environment) -> Iterator[Located]:
        for inner in environments(item[1], environment):
            budget.step()
            yield from function.body.paths(item, inner)

    makers = [code.sure if parameter.is_value else make for parameter, code, make in given]
    known = [make for make in makers if make is not None]
    if len(known) == len(makers):
        enter = _entry(function.depth, known, budget)
        if tail is not function:
            return _entered(function, enter, paths)
        function.tail_called = True
        function.grows = function.grows or any(
            not parameter.is_value and _handed_on(argument, scope) is None
            for parameter, argument in zip(function.parameters, node.arguments, strict=True)
        )
        again = Code(
            lambda value, environment: _Tail(value, enter(value, environment)), paths=paths
        )
        return again if function.single else Code(many=again.many, paths=paths)

    def many(value: Value, environment: Environment) -> Iterator[Value]:
        for inner in environments(value, environment):
            budget.step()
            yield from function.body.many(value, inner)

    return Code(many=many, paths=paths)


def _environments(
    depth: int, several: list[Many | None], closures: list[Make]
) -> Callable[[Value, Environment], list[Environment]]:
    """Return the ways into a function; the last value parameter is the innermost loop."""

    def environments(value: Value, environment: Environment) -> list[Environment]:
        made: list[Environment] = [environment[:depth]]
        for many, make in zip(several, closures, strict=True):
            if many is not None:
                made = [(*base, result) for base in made for result in many(value, environment)]
            else:
                made = [(*base, make(value, environment)) for base in made]
        return made

    return environments


def _entry(depth: int, makers: list[Make], budget: Budget) -> Enter:
    """Return the way into a function each of whose arguments has one value."""

    def enter(value: Value, environment: Environment) -> Environment:
        budget.step()
        return (*environment[:depth], *[make(value, environment) for make in makers])

    return enter


def _entered(function: Function, enter: Enter, paths: Paths) -> Code:
    """Return a call that enters the function once."""
    if function.compiling and function.single:

        def one(value: Value, environment: Environment) -> Value:
            body = function.body.one
            assert body is not None  # or the call is compiled again
            return body(value, enter(value, environment))

        return Code(one, total=False, paths=paths)
    body = function.body.one
    if body is None or function.compiling:
        return Code(
            many=lambda value, environment: function.body.many(value, enter(value, environment)),
            paths=paths,
        )
    return Code(
        lambda value, environment: body(value, enter(value, environment)),
        total=function.body.total,
        paths=paths,
    )


def _handed_on(node: Node, scope: Scope) -> int | None:
    """Return the place of the closure parameter that an argument consists of, if it does."""
    if not isinstance(node, nodes.Call) or node.arguments:
        return None
    index = scope.find(f"{node.name}/0")
    return index if isinstance(index, int) else None


def _closure(node: Node, code: Code, scope: Scope) -> Make:
    """Return what makes the closure of an argument; one that is only handed on stays as it is."""
    index = _handed_on(node, scope)
    if index is not None:
        return lambda value, environment: environment[index]
    return lambda value, environment: (code, environment)


NODES: dict[type, CompileNode] = {nodes.Define: _compile_define, nodes.Call: _compile_call}
