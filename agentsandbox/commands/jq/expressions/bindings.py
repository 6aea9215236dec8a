"""`as`, `reduce` and `foreach`: an expression evaluated with variables that another one gives."""

from __future__ import annotations

from agentsandbox.commands.jq import nodes
from agentsandbox.commands.jq.code import EMPTY, Code, itself, value_of
from agentsandbox.commands.jq.expressions.patterns import Binder
from agentsandbox.commands.jq.expressions.updates import step_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import Any, TypeAlias

    from agentsandbox.commands._json.values import Value
    from agentsandbox.commands.jq.code import Environment, Outputs
    from agentsandbox.commands.jq.compiler import Caller, CompileNode, Compiler, Scope
    from agentsandbox.commands.jq.expressions.updates import Step
    from agentsandbox.commands.jq.machine import Machine

    Fold: TypeAlias = Callable[[Any, Value, Environment], Any]
    """From the first state, the input and the environment to the last state."""


def _compile_bind(compiler: Compiler, node: nodes.Bind, scope: Scope, tail: Caller) -> Code:
    source = compiler.compile(node.source, scope)
    binder = Binder(compiler, node.patterns, scope)
    simple = source.one if binder.simple else None
    body = compiler.compile(node.body, binder.scope, tail if simple is not None else None)

    def each(run: Outputs, read: Callable[[Any], Value]) -> Outputs:
        def outputs(item: Any, environment: Environment) -> Iterator[Any]:
            value = read(item)
            for bound in source.many(value, environment):
                yield from binder.run(bound, value, environment, lambda inner: run(item, inner))

        return outputs

    paths = each(body.paths, value_of)
    if simple is None:
        return Code(many=each(body.many, itself), paths=paths)
    one = body.one
    if one is not None and source.total:
        return Code(
            lambda value, environment: one(value, (*environment, simple(value, environment))),
            total=body.total,
            paths=paths,
        )

    def direct(value: Value, environment: Environment) -> Iterable[Value]:
        bound = simple(value, environment)
        return () if bound is EMPTY else body.many(value, (*environment, bound))

    return Code(many=direct, paths=paths)


def _compile_reduce(compiler: Compiler, node: nodes.Reduce, scope: Scope, tail: Caller) -> Code:
    machine = compiler.machine
    start, source = compiler.compile(node.start, scope), compiler.compile(node.source, scope)
    binder = Binder(compiler, node.patterns, scope)
    update = compiler.compile(node.update, binder.scope)
    step = step_of(node.update, compiler, binder.scope) if binder.simple else None
    fold = (
        _fold(source, binder, update.many, machine, None)
        if step is None
        else _fold_in_place(source, step, machine)
    )
    fold_located = _fold(source, binder, update.paths, machine, (None, None))

    def paths(item: Any, environment: Environment) -> Iterator[Any]:
        for state in start.paths(item, environment):
            yield fold_located(state, item[1], environment)

    begin = start.sure
    if begin is not None:
        return Code(
            lambda value, environment: fold(begin(value, environment), value, environment),
            paths=paths,
        )

    def many(value: Value, environment: Environment) -> Iterator[Value]:
        for state in start.many(value, environment):
            yield fold(state, value, environment)

    return Code(many=many, paths=paths)


def _fold(source: Code, binder: Binder, update: Outputs, machine: Machine, nothing: Any) -> Fold:
    """Return the fold whose next state is the last output of `update`, or `nothing`."""
    budget, roots = machine.budget, machine.roots

    def fold(state: Any, value: Value, environment: Environment) -> Any:
        place = len(roots)
        roots.append((state, value, environment))
        try:
            for bound in source.many(value, environment):
                budget.step()
                for inner in binder.environments(bound, value, environment):
                    after = nothing
                    for after in update(state, inner):  # noqa: B007  # the last one counts
                        pass
                    state = after
                    roots[place] = (state, inner)
            return state
        finally:
            del roots[place:]

    return fold


def _fold_in_place(source: Code, step: Step, machine: Machine) -> Fold:
    budget, roots = machine.budget, machine.roots

    def fold(state: Value, value: Value, environment: Environment) -> Value:
        place = len(roots)
        roots.append((state, value, environment))
        owned: dict[int, Value] = {}
        try:
            for bound in source.many(value, environment):
                budget.step()
                inner = (*environment, bound)
                state = step(state, inner, owned)
                roots[place] = (state, inner)
            return state
        finally:
            del roots[place:]

    return fold


def _compile_foreach(compiler: Compiler, node: nodes.Foreach, scope: Scope, tail: Caller) -> Code:
    budget = compiler.budget
    start, source = compiler.compile(node.start, scope), compiler.compile(node.source, scope)
    binder = Binder(compiler, node.patterns, scope)
    update = compiler.compile(node.update, binder.scope)
    extract = compiler.compile(node.extract, binder.scope)

    def each(
        begin: Outputs, advance: Outputs, show: Outputs, read: Callable[[Any], Value]
    ) -> Outputs:
        def outputs(item: Any, environment: Environment) -> Iterator[Any]:
            value = read(item)
            for state in begin(item, environment):
                for bound in source.many(value, environment):
                    budget.step()
                    for inner in binder.environments(bound, value, environment):
                        for state in advance(state, inner):  # noqa: B020  # the next state
                            yield from show(state, inner)

        return outputs

    return Code(
        many=each(start.many, update.many, extract.many, itself),
        paths=each(start.paths, update.paths, extract.paths, value_of),
    )


NODES: dict[type, CompileNode] = {
    nodes.Bind: _compile_bind,
    nodes.Reduce: _compile_reduce,
    nodes.Foreach: _compile_foreach,
}
