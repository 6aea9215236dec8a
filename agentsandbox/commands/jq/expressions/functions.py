"""Definitions and calls: of functions of the program, of closure parameters, of built-in functions.

A recursive function is first taken to have one output at most, which most have; if its body then
has more, it is compiled again. A call in tail position gives a `_Tail`, and a loop goes round with
it.
"""

from __future__ import annotations

from agentsandbox.commands.jq import nodes
from agentsandbox.commands.jq.code import Code
from agentsandbox.commands.jq.scopes import Function, Level, Scope

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any, TypeAlias

    from agentsandbox.commands._json.values import Value
    from agentsandbox.commands.jq.code import Environment, Many, Path, Paths
    from agentsandbox.commands.jq.compiler import Compiler
    from agentsandbox.commands.jq.machine import Machine
    from agentsandbox.commands.jq.nodes import Node
    from agentsandbox.kernel.budget import Budget

    Make: TypeAlias = Callable[[Value, Environment], Any]
    """What makes the value or closure that is passed for a parameter."""
    Enter: TypeAlias = Callable[[Value, Environment], Environment]
    """From the caller's environment to that of the function's body."""

# definitions


def compile_define(
    compiler: Compiler, node: nodes.Define, scope: Scope, tail: Function | None
) -> Code:
    return compiler.compile(node.rest, define(compiler, node.definition, scope), tail)


def define(compiler: Compiler, definition: nodes.Definition, scope: Scope) -> Scope:
    """The scope in which the function can be called."""
    definition = _plain(definition)
    outer = compiler.level
    compiler.level = Level(outer, is_used=False)
    function = Function(scope.size, definition.parameters, compiler.level)
    outside = scope.define(f"{definition.name}/{len(definition.parameters)}", function)
    inside = outside
    for parameter in definition.parameters:
        inside = (
            inside.variable(parameter.name)
            if parameter.is_value
            else inside.closure(parameter.name)
        )
    try:
        if _mentions(definition.body, definition.name, len(definition.parameters)):
            function.body = _recursive_body(compiler, function, definition.body, inside)
        else:
            function.body = compiler.compile(definition.body, inside)
    finally:
        compiler.level = outer
    return outside


def _plain(definition: nodes.Definition) -> nodes.Definition:
    """`def f(a): a as $a | …` for a `def f($a): …` whose body calls `a` as well: all that is
    passed, not one output of it.
    """
    values = [parameter.name for parameter in definition.parameters if parameter.is_value]
    if not any(_mentions(definition.body, name, 0) for name in values):
        return definition
    body = definition.body
    for name in reversed(values):
        body = nodes.Bind(nodes.Call(name, [], 0), [nodes.VariablePattern(name)], body)
    return nodes.Definition(
        definition.name,
        [nodes.Parameter(parameter.name, is_value=False) for parameter in definition.parameters],
        body,
    )


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
        body = compiler.compile(node, inside, function)
    compiler.optimistic = not hopeful
    function.compiling = False
    if function.tail_called:
        body = _looping(body, function.grows, compiler.machine)
    return _guarded(body, _height(node), compiler.machine)


_CALL = 3
"""Python frames of one call."""


def _height(body: Node) -> int:
    """Python frames that one call of a body takes at most: how deeply its expressions nest, and the
    call itself.
    """
    deepest = 0
    pending = [(body, _CALL)]
    while pending:
        node, height = pending.pop()
        deepest = max(deepest, height)
        pending.extend((child, height + 1) for child in node.children())
    return deepest


def _guarded(body: Code, height: int, machine: Machine) -> Code:
    """The body of a recursive function: nested too deeply, it would overflow the stack of the
    host's thread.
    """

    def paths(path: Path, value: Value, environment: Environment) -> Iterator[tuple[Path, Value]]:
        return machine.nested(body.paths(path, value, environment), height)

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
    """The last output of a function's body is whatever the function gives for this: a call in tail
    position.
    """

    __slots__ = ("environment", "value")

    def __init__(self, value: Value, environment: Environment) -> None:
        self.value = value
        self.environment = environment


_CLOSURE = 256
"""What a closure over another takes, in bytes."""


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
    """A body whose tail calls go round a loop instead of deeper."""
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


def compile_call(compiler: Compiler, node: nodes.Call, scope: Scope, tail: Function | None) -> Code:
    name = f"{node.name}/{len(node.arguments)}"
    found = scope.find(name)
    if isinstance(found, int):
        return _call_closure(compiler.machine, found)
    if isinstance(found, Function):
        return _call_function(compiler, found, node, scope, tail)
    return _call_builtin(compiler, name, node, scope)


def _call_closure(machine: Machine, index: int) -> Code:
    def many(value: Value, environment: Environment) -> Iterator[Value]:
        code, outer = environment[index]
        return machine.nested(code.many(value, outer), _CALL)

    def paths(path: Path, value: Value, environment: Environment) -> Iterator[tuple[Path, Value]]:
        code, outer = environment[index]
        return machine.nested(code.paths(path, value, outer), _CALL)

    return Code(many=many, paths=paths)


_BY_VALUE = frozenset((
    "startswith/1", "endswith/1", "split/1", "setpath/2", "getpath/1", "delpaths/1", "has/1", "contains/1", "bsearch/1", "format/1",
    "halt_error/1", "strptime/1", "strftime/1", "strflocaltime/1", "path/1", "range/2", "atan2/2", "hypot/2", "pow/2", "remainder/2",
    "copysign/2", "drem/2", "fdim/2", "fma/3", "fmax/2", "fmin/2", "fmod/2", "nextafter/2", "nexttoward/2", "scalb/2", "scalbln/2",
    "ldexp/2",
))  # fmt: skip
"""Their arguments belong to the function that calls them; those of all others are functions of
their own."""


def _call_builtin(compiler: Compiler, name: str, node: nodes.Call, scope: Scope) -> Code:
    found = compiler.grammar.builtin(name)
    if callable(found):
        compile_argument = compiler.compile if name in _BY_VALUE else compiler.inner
        return found(compiler, [compile_argument(argument, scope) for argument in node.arguments])
    if found is None:
        return compiler.undefined(f"{name} is not defined", node.position, len(node.name))
    function = compiler.builtins.get(name)
    if function is None:
        made = define(compiler, found, Scope()).find(name)
        assert isinstance(made, Function)
        function = compiler.builtins[name] = made
    return _call_function(compiler, function, node, scope, None)


def _call_function(
    compiler: Compiler, function: Function, node: nodes.Call, scope: Scope, tail: Function | None
) -> Code:
    budget = compiler.budget
    function.level.use(compiler.level)
    codes = [compiler.inner(argument, scope) for argument in node.arguments]
    closures = [
        _closure(argument, code, scope)
        for argument, code in zip(node.arguments, codes, strict=True)
    ]
    several = [
        code.many if parameter.is_value else None
        for parameter, code in zip(function.parameters, codes, strict=True)
    ]
    environments = _environments(function.depth, several, closures)
    makers = [
        code.sure if parameter.is_value else make
        for parameter, code, make in zip(function.parameters, codes, closures, strict=True)
    ]

    def paths(path: Path, value: Value, environment: Environment) -> Iterator[tuple[Path, Value]]:
        for inner in environments(value, environment):
            budget.step()
            yield from function.body.paths(path, value, inner)

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
    """The ways into a function whose arguments by value may have several values each; the last one
    is the innermost loop.
    """

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
    """The way into a function each of whose arguments has one value."""
    if not makers:

        def enter(value: Value, environment: Environment) -> Environment:
            budget.left -= 1
            if budget.left < 0:
                budget.tick()
            return environment[:depth]

        return enter

    def enter_with(value: Value, environment: Environment) -> Environment:
        budget.left -= 1
        if budget.left < 0:
            budget.tick()
        return (*environment[:depth], *[make(value, environment) for make in makers])

    return enter_with


def _entered(function: Function, enter: Enter, paths: Paths) -> Code:
    """A call that enters the function once."""
    if function.compiling and function.single:

        def one(value: Value, environment: Environment) -> Value:
            body = function.body.one
            return body(value, enter(value, environment))  # type: ignore[misc]  # it has one, or the call is compiled again

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
    """The place of a closure parameter that is an argument by itself."""
    index = (
        scope.find(node.name + "/0")
        if isinstance(node, nodes.Call) and not node.arguments
        else None
    )
    return index if isinstance(index, int) else None


def _closure(node: Node, code: Code, scope: Scope) -> Make:
    """What makes the closure that is passed; a parameter that is only handed on is passed as it
    is.
    """
    index = _handed_on(node, scope)
    if index is not None:
        return lambda value, environment: environment[index]
    return lambda value, environment: (code, environment)
