"""`as`, `reduce` and `foreach`: an expression evaluated with variables that another one gives."""

from __future__ import annotations

from agentsandbox.commands.jq import nodes
from agentsandbox.commands.jq.code import EMPTY, Code
from agentsandbox.commands.jq.expressions.patterns import Binder
from agentsandbox.commands.jq.expressions.updates import step_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import TypeAlias

    from agentsandbox.commands._json.values import Value
    from agentsandbox.commands.jq.code import Environment, Path
    from agentsandbox.commands.jq.compiler import Compiler
    from agentsandbox.commands.jq.expressions.updates import Step
    from agentsandbox.commands.jq.machine import Machine
    from agentsandbox.commands.jq.scopes import Function, Scope

    Fold: TypeAlias = Callable[[Value, Value, Environment], Value]
    """From the first state, the input and the environment to the last state."""


def compile_bind(compiler: Compiler, node: nodes.Bind, scope: Scope, tail: Function | None) -> Code:
    source = compiler.compile(node.source, scope)
    binder = Binder(compiler, node.patterns, scope)
    simple = source.one if binder.simple else None
    body = compiler.compile(node.body, binder.scope, tail if simple is not None else None)

    def paths(path: Path, value: Value, environment: Environment) -> Iterator[tuple[Path, Value]]:
        for bound in source.many(value, environment):
            yield from binder.run(
                bound, value, environment, lambda inner: body.paths(path, value, inner)
            )

    if simple is not None:
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

    def many(value: Value, environment: Environment) -> Iterator[Value]:
        for bound in source.many(value, environment):
            yield from binder.run(bound, value, environment, lambda inner: body.many(value, inner))

    return Code(many=many, paths=paths)


def compile_reduce(compiler: Compiler, node: nodes.Reduce, scope: Scope) -> Code:
    budget = compiler.budget
    start, source = compiler.compile(node.start, scope), compiler.compile(node.source, scope)
    binder = Binder(compiler, node.patterns, scope)
    update = compiler.compile(node.update, binder.scope)
    step = step_of(node.update, compiler, binder.scope) if binder.simple else None
    fold = (
        _fold(source, binder, update, compiler.machine)
        if step is None
        else _fold_in_place(source, step, compiler.machine)
    )

    def paths(path: Path, value: Value, environment: Environment) -> Iterator[tuple[Path, Value]]:
        for state in start.paths(path, value, environment):
            for bound in source.many(value, environment):
                budget.step()
                for inner in binder.environments(bound, value, environment):
                    after: tuple[Path, Value] = (None, None)
                    for after in update.paths(state[0], state[1], inner):  # noqa: B007  # the last output is the next state
                        pass
                    state = after
            yield state

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


def _fold(source: Code, binder: Binder, update: Code, machine: Machine) -> Fold:
    budget, roots = machine.budget, machine.roots

    def fold(state: Value, value: Value, environment: Environment) -> Value:
        place = len(roots)
        roots.append((state, value, environment))
        try:
            for bound in source.many(value, environment):
                budget.left -= 1
                if budget.left < 0:
                    budget.tick()
                for inner in binder.environments(bound, value, environment):
                    after: Value = None
                    for after in update.many(state, inner):  # noqa: B007  # the last output is the next state
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
                budget.left -= 1
                if budget.left < 0:
                    budget.tick()
                inner = (*environment, bound)
                state = step(state, inner, owned)
                roots[place] = (state, inner)
            return state
        finally:
            del roots[place:]

    return fold


def compile_foreach(compiler: Compiler, node: nodes.Foreach, scope: Scope) -> Code:
    budget = compiler.budget
    start, source = compiler.compile(node.start, scope), compiler.compile(node.source, scope)
    binder = Binder(compiler, node.patterns, scope)
    update = compiler.compile(node.update, binder.scope)
    extract = compiler.compile(node.extract or nodes.Identity(), binder.scope)

    def many(value: Value, environment: Environment) -> Iterator[Value]:
        for state in start.many(value, environment):
            for bound in source.many(value, environment):
                budget.step()
                for inner in binder.environments(bound, value, environment):
                    for state in update.many(state, inner):  # noqa: B020  # each output is the next state
                        yield from extract.many(state, inner)

    def paths(path: Path, value: Value, environment: Environment) -> Iterator[tuple[Path, Value]]:
        for state in start.paths(path, value, environment):
            for bound in source.many(value, environment):
                budget.step()
                for inner in binder.environments(bound, value, environment):
                    for state in update.paths(state[0], state[1], inner):  # noqa: B020  # each output is the next state
                        yield from extract.paths(state[0], state[1], inner)

    return Code(many=many, paths=paths)
