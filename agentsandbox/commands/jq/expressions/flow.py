"""The order of things: pipes, commas, conditions, `try`, `label` and `break`."""

from __future__ import annotations

from agentsandbox.commands._json.values import JqError
from agentsandbox.commands.jq import nodes
from agentsandbox.commands.jq.code import EMPTY, NOTHING, Code
from agentsandbox.commands.jq.machine import Break

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import TypeVar

    from agentsandbox.commands._json.values import Value
    from agentsandbox.commands.jq.code import Environment, Many, Path
    from agentsandbox.commands.jq.compiler import Compiler
    from agentsandbox.commands.jq.nodes import Node
    from agentsandbox.commands.jq.scopes import Function, Scope
    from agentsandbox.kernel.budget import Budget

    T = TypeVar("T")


def compile_pipe(compiler: Compiler, node: nodes.Pipe, scope: Scope, tail: Function | None) -> Code:
    left = compiler.compile(node.left, scope)
    right = compiler.compile(node.right, scope, tail if left.one is not None else None)
    return piped(left, right, compiler.budget)


def piped(left: Code, right: Code, budget: Budget) -> Code:
    """`left | right`, by the number of outputs that each may have."""

    def paths(path: Path, value: Value, environment: Environment) -> Iterator[tuple[Path, Value]]:
        for base, found in left.paths(path, value, environment):
            yield from right.paths(base, found, environment)

    first, second = left.one, right.one
    if first is None:
        return Code(many=_each(left.many, right, budget), paths=paths)
    if second is None:

        def spread(value: Value, environment: Environment) -> Iterable[Value]:
            found = first(value, environment)
            return () if found is EMPTY else right.many(found, environment)

        return Code(many=spread, paths=paths)
    if left.total:
        return Code(
            lambda value, environment: second(first(value, environment), environment),
            total=right.total,
            paths=paths,
        )

    def maybe(value: Value, environment: Environment) -> Value:
        found = first(value, environment)
        return EMPTY if found is EMPTY else second(found, environment)

    return Code(maybe, total=False, paths=paths)


def _each(source: Many, sink: Code, budget: Budget) -> Many:
    """All that an expression makes of each of many values."""
    single, several = sink.one, sink.many
    if single is not None:

        def each(value: Value, environment: Environment) -> Iterator[Value]:
            for found in source(value, environment):
                budget.left -= 1
                if budget.left < 0:
                    budget.tick()
                result = single(found, environment)
                if result is not EMPTY:
                    yield result

        return each

    def every(value: Value, environment: Environment) -> Iterator[Value]:
        for found in source(value, environment):
            budget.left -= 1
            if budget.left < 0:
                budget.tick()
            yield from several(found, environment)

    return every


def compile_comma(
    compiler: Compiler, node: nodes.Comma, scope: Scope, tail: Function | None
) -> Code:
    pending: list[Node] = []
    here: Node = node
    while isinstance(here, nodes.Comma):
        pending.append(here.right)
        here = here.left
    pending.append(here)
    parts = [compiler.compile(part, scope) for part in reversed(pending[1:])]
    parts.append(compiler.compile(pending[0], scope, tail))

    def many(value: Value, environment: Environment) -> Iterator[Value]:
        for part in parts:
            yield from part.many(value, environment)

    def paths(path: Path, value: Value, environment: Environment) -> Iterator[tuple[Path, Value]]:
        for part in parts:
            yield from part.paths(path, value, environment)

    return Code(many=many, paths=paths)


def compile_if(compiler: Compiler, node: nodes.If, scope: Scope, tail: Function | None) -> Code:
    test = compiler.compile(node.condition, scope)
    direct = tail if test.one is not None else None
    yes, no = (
        compiler.compile(node.consequence, scope, direct),
        compiler.compile(node.alternative, scope, direct),
    )

    def paths(path: Path, value: Value, environment: Environment) -> Iterator[tuple[Path, Value]]:
        for answer in test.many(value, environment):
            branch = no if answer is None or answer is False else yes
            yield from branch.paths(path, value, environment)

    decide, consequence, alternative = test.sure, yes.one, no.one
    if decide is None:

        def many(value: Value, environment: Environment) -> Iterator[Value]:
            for answer in test.many(value, environment):
                yield from (no if answer is None or answer is False else yes).many(
                    value, environment
                )

        return Code(many=many, paths=paths)
    if consequence is None or alternative is None:

        def choose(value: Value, environment: Environment) -> Iterable[Value]:
            answer = decide(value, environment)
            return (no if answer is None or answer is False else yes).many(value, environment)

        return Code(many=choose, paths=paths)

    def one(value: Value, environment: Environment) -> Value:
        answer = decide(value, environment)
        if answer is None or answer is False:
            return alternative(value, environment)
        return consequence(value, environment)

    return Code(one, total=yes.total and no.total, paths=paths)


class _CaughtError(Exception):
    """An error of the expression itself, told apart from errors of whoever consumes its outputs."""

    def __init__(self, error: JqError) -> None:
        self.error = error
        super().__init__()


def _guarded(items: Iterable[T]) -> Iterator[T]:
    """The items; an error of their maker as `_CaughtError`."""
    iterator = iter(items)
    while True:
        try:
            item = next(iterator)
        except StopIteration:
            return
        except JqError as error:
            raise _CaughtError(error) from None
        yield item


def _guarded_call(many: Many, value: Value, environment: Environment) -> Iterator[Value]:
    try:
        items = many(value, environment)
    except JqError as error:
        raise _CaughtError(error) from None
    return _guarded(items)


def compile_try(compiler: Compiler, node: nodes.Try, scope: Scope) -> Code:
    body = compiler.compile(node.body, scope)
    handler = NOTHING if node.handler is None else compiler.compile(node.handler, scope)

    def paths(path: Path, value: Value, environment: Environment) -> Iterator[tuple[Path, Value]]:
        try:
            yield from _guarded(body.paths(path, value, environment))
        except _CaughtError as caught:
            error = caught.error
        else:
            return
        yield from handler.paths(None, error.value, environment)

    attempt, recover = body.one, handler.one
    if attempt is not None and recover is not None:

        def one(value: Value, environment: Environment) -> Value:
            try:
                return attempt(value, environment)
            except JqError as error:
                message = error.value
            return recover(message, environment)

        return Code(one, total=body.total and handler.total, paths=paths)

    def many(value: Value, environment: Environment) -> Iterator[Value]:
        try:
            yield from _guarded_call(body.many, value, environment)
            return
        except _CaughtError as caught:
            error = caught.error
        yield from handler.many(error.value, environment)

    return Code(many=many, paths=paths)


def compile_label(compiler: Compiler, node: nodes.Label, scope: Scope) -> Code:
    body = compiler.compile(node.body, scope.label(node.name))

    def many(value: Value, environment: Environment) -> Iterator[Value]:
        token = object()
        try:
            yield from body.many(value, (*environment, token))
        except Break as leaving:
            if leaving.token is not token:
                raise

    def paths(path: Path, value: Value, environment: Environment) -> Iterator[tuple[Path, Value]]:
        token = object()
        try:
            yield from body.paths(path, value, (*environment, token))
        except Break as leaving:
            if leaving.token is not token:
                raise

    return Code(many=many, paths=paths)


def compile_break(compiler: Compiler, node: nodes.Break, scope: Scope) -> Code:
    found = scope.find("*" + node.name)
    if not isinstance(found, int):
        return compiler.undefined(
            f"$*label-{node.name} is not defined", node.position, len("break $") + len(node.name)
        )
    index = found

    def one(value: Value, environment: Environment) -> Value:
        raise Break(environment[index])

    return Code(one, total=False)
