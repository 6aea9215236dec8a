"""Control flow: pipes, commas, conditions, `//`, `try`, `label` and `break`."""

from __future__ import annotations

from agentsandbox.commands._json.values import JqError
from agentsandbox.commands.jq import nodes
from agentsandbox.commands.jq.code import EMPTY, NOTHING, Code, itself, of_located, value_of
from agentsandbox.commands.jq.machine import Break

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import Any

    from agentsandbox.commands._json.values import Value
    from agentsandbox.commands.jq.code import Environment, Many, Outputs
    from agentsandbox.commands.jq.compiler import Caller, CompileNode, Compiler, Scope
    from agentsandbox.commands.jq.nodes import Node
    from agentsandbox.kernel.budget import Budget


def _compile_pipe(compiler: Compiler, node: nodes.Pipe, scope: Scope, tail: Caller) -> Code:
    left = compiler.compile(node.left, scope)
    right = compiler.compile(node.right, scope, tail if left.one is not None else None)
    return piped(left, right, compiler.budget)


def piped(left: Code, right: Code, budget: Budget) -> Code:
    """Return the code of `left | right`, by the number of outputs that each may have."""
    paths = _chained(left.paths, right.paths, budget)
    first, second = left.one, right.one
    if first is None:
        many = _chained(left.many, right.many, budget)
        return Code(
            many=many if second is None else _mapped(left.many, second, budget), paths=paths
        )
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


def _chained(first: Outputs, second: Outputs, budget: Budget) -> Outputs:
    def outputs(item: Any, environment: Environment) -> Iterator[Any]:
        for found in first(item, environment):
            budget.step()
            yield from second(found, environment)

    return outputs


def _mapped(source: Many, function: Callable[[Value, Environment], Value], budget: Budget) -> Many:
    def outputs(value: Value, environment: Environment) -> Iterator[Value]:
        for found in source(value, environment):
            budget.step()
            result = function(found, environment)
            if result is not EMPTY:
                yield result

    return outputs


def _compile_comma(compiler: Compiler, node: nodes.Comma, scope: Scope, tail: Caller) -> Code:
    pending: list[Node] = []
    here: Node = node
    while isinstance(here, nodes.Comma):
        pending.append(here.right)
        here = here.left
    pending.append(here)
    parts = [compiler.compile(part, scope) for part in reversed(pending[1:])]
    parts.append(compiler.compile(pending[0], scope, tail))

    def in_turn(runs: list[Outputs]) -> Outputs:
        def outputs(item: Any, environment: Environment) -> Iterator[Any]:
            for run in runs:
                yield from run(item, environment)

        return outputs

    return Code(
        many=in_turn([part.many for part in parts]), paths=in_turn([part.paths for part in parts])
    )


def _compile_if(compiler: Compiler, node: nodes.If, scope: Scope, tail: Caller) -> Code:
    test = compiler.compile(node.condition, scope)
    direct = tail if test.one is not None else None
    yes = compiler.compile(node.consequence, scope, direct)
    no = compiler.compile(node.alternative, scope, direct)
    paths = _chosen(of_located(test.many), yes.paths, no.paths)
    decide, consequence, alternative = test.sure, yes.one, no.one
    if decide is None:
        return Code(many=_chosen(test.many, yes.many, no.many), paths=paths)
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


def _chosen(test: Many, yes: Outputs, no: Outputs) -> Outputs:
    def outputs(item: Any, environment: Environment) -> Iterator[Any]:
        for answer in test(item, environment):
            yield from (no if answer is None or answer is False else yes)(item, environment)

    return outputs


def _compile_alternative(
    compiler: Compiler, node: nodes.Alternative, scope: Scope, tail: Caller
) -> Code:
    left, right = compiler.compile(node.left, scope), compiler.compile(node.right, scope)

    def true_or(first: Outputs, second: Outputs, read: Callable[[Any], Value]) -> Outputs:
        def outputs(item: Any, environment: Environment) -> Iterator[Any]:
            found = False
            for result in first(item, environment):
                answer = read(result)
                if answer is not None and answer is not False:
                    found = True
                    yield result
            if not found:
                yield from second(item, environment)

        return outputs

    paths = true_or(left.paths, right.paths, value_of)
    attempt, instead = left.one, right.one
    if attempt is None or instead is None:
        return Code(many=true_or(left.many, right.many, itself), paths=paths)

    def one(value: Value, environment: Environment) -> Value:
        result = attempt(value, environment)
        if result is None or result is False or result is EMPTY:
            return instead(value, environment)
        return result

    return Code(one, total=right.total, paths=paths)


# errors


class _CaughtError(Exception):
    """An error of the expression itself, told apart from errors of whoever consumes its outputs."""

    def __init__(self, error: JqError) -> None:
        self.error = error
        super().__init__()


def _guarded(run: Outputs, item: Any, environment: Environment) -> Iterator[Any]:
    """Yield the outputs; raise an error of the expression as `_CaughtError`."""
    try:
        iterator = iter(run(item, environment))
    except JqError as error:
        raise _CaughtError(error) from None
    while True:
        try:
            output = next(iterator)
        except StopIteration:
            return
        except JqError as error:
            raise _CaughtError(error) from None
        yield output


def _attempted(body: Outputs, handler: Outputs) -> Outputs:
    def outputs(item: Any, environment: Environment) -> Iterator[Any]:
        try:
            yield from _guarded(body, item, environment)
            return
        except _CaughtError as caught:
            message = caught.error.value
        yield from handler(message, environment)

    return outputs


def _compile_try(compiler: Compiler, node: nodes.Try, scope: Scope, tail: Caller) -> Code:
    body = compiler.compile(node.body, scope)
    handler = NOTHING if node.handler is None else compiler.compile(node.handler, scope)
    paths = _attempted(
        body.paths, lambda message, environment: handler.paths((None, message), environment)
    )
    attempt, recover = body.one, handler.one
    if attempt is None or recover is None:
        return Code(many=_attempted(body.many, handler.many), paths=paths)

    def one(value: Value, environment: Environment) -> Value:
        try:
            return attempt(value, environment)
        except JqError as error:
            message = error.value
        return recover(message, environment)

    return Code(one, total=body.total and handler.total, paths=paths)


def _compile_label(compiler: Compiler, node: nodes.Label, scope: Scope, tail: Caller) -> Code:
    body = compiler.compile(node.body, scope.place("*" + node.name))

    def until_break(run: Outputs) -> Outputs:
        def outputs(item: Any, environment: Environment) -> Iterator[Any]:
            token = object()
            try:
                yield from run(item, (*environment, token))
            except Break as leaving:
                if leaving.token is not token:
                    raise

        return outputs

    return Code(many=until_break(body.many), paths=until_break(body.paths))


def _compile_break(compiler: Compiler, node: nodes.Break, scope: Scope, tail: Caller) -> Code:
    index = scope.find("*" + node.name)
    if not isinstance(index, int):
        message = f"$*label-{node.name} is not defined"
        return compiler.undefined(message, node.position, len("break $") + len(node.name))

    def one(value: Value, environment: Environment) -> Value:
        raise Break(environment[index])

    return Code(one, total=False)


NODES: dict[type, CompileNode] = {
    nodes.Pipe: _compile_pipe,
    nodes.Comma: _compile_comma,
    nodes.If: _compile_if,
    nodes.Alternative: _compile_alternative,
    nodes.Try: _compile_try,
    nodes.Label: _compile_label,
    nodes.Break: _compile_break,
}
