"""`=`, `|=`, `+=` and the other assignments.

Where the left side is simple, the value is changed on the way down (`updates`); otherwise the left
side yields paths, and the values at them are replaced one after the other.
"""

from __future__ import annotations

from agentsandbox.commands._json.values import CONTAINERS
from agentsandbox.commands.jq import nodes
from agentsandbox.commands.jq.code import Code, invalid_path
from agentsandbox.commands.jq.expressions.operators import operation
from agentsandbox.commands.jq.expressions.updates import change_of
from agentsandbox.commands.jq.paths import delete_paths, get_path, put_path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import TypeAlias

    from agentsandbox.commands._json.values import Value
    from agentsandbox.commands.jq.code import Environment, One
    from agentsandbox.commands.jq.compiler import Caller, CompileNode, Compiler, Scope
    from agentsandbox.commands.jq.expressions.updates import Change
    from agentsandbox.kernel.budget import Budget

    Join: TypeAlias = Callable[[Value, Value], Value]


def _compile_assign(compiler: Compiler, node: nodes.Assign, scope: Scope, tail: Caller) -> Code:
    source = compiler.compile(node.right, scope)
    only = source.sure
    change = change_of(node.left, compiler, scope) if only is not None else None
    join = None if node.operator == "|=" else _joiner(node.operator, compiler)
    if change is not None and only is not None:
        return _changed(change, only) if node.operator == "|=" else _changed_by(change, only, join)
    target = compiler.compile(node.left, scope)
    if node.operator == "|=":
        return _updated(target, source, compiler.budget)
    return _set(target, source, join, compiler.budget)


def _joiner(sign: str, compiler: Compiler) -> Join | None:
    """Return the function from the old value and the operand to the new value, None for `=`."""
    if sign == "=":
        return None
    if sign == "//=":
        return lambda here, operand: operand if here is None or here is False else here
    return operation(sign[:-1], compiler)


def _changed(change: Change, update: One) -> Code:
    return Code(
        lambda value, environment: change(
            value, environment, lambda here: update(here, environment)
        )
    )


def _changed_by(change: Change, source: One, join: Join | None) -> Code:
    def one(value: Value, environment: Environment) -> Value:
        operand = source(value, environment)
        return change(
            value, environment, lambda here: operand if join is None else join(here, operand)
        )

    return Code(one)


def _targets(
    target: Code, value: Value, environment: Environment, budget: Budget
) -> Iterator[tuple[Value, ...]]:
    for path, found in target.paths(((), value), environment):
        budget.step()
        if path is None:
            raise invalid_path(found)
        yield path


def _set(target: Code, source: Code, join: Join | None, budget: Budget) -> Code:
    """Return an assignment that evaluates the right side with the input."""

    def put(value: Value, environment: Environment, operand: Value) -> Value:
        made = value
        owned: dict[int, Value] = {}
        for path in _targets(target, value, environment, budget):
            result = operand
            if join is not None:
                here = get_path(made, path)
                if isinstance(here, CONTAINERS):
                    owned.clear()  # the result may hold it
                result = join(here, operand)
            made = put_path(made, path, result, budget, owned)
        return made

    single = source.sure
    if single is not None:
        return Code(lambda value, environment: put(value, environment, single(value, environment)))
    return Code(
        many=lambda value, environment: (
            put(value, environment, operand) for operand in source.many(value, environment)
        )
    )


def _updated(target: Code, update: Code, budget: Budget) -> Code:
    """`target |= update`: the first output replaces, none deletes."""

    def one(value: Value, environment: Environment) -> Value:
        made = value
        gone: list[Value] = []
        owned: dict[int, Value] = {}
        for path in _targets(target, value, environment, budget):
            here = get_path(made, path)
            if isinstance(here, CONTAINERS):
                owned.clear()  # the result may hold it
            for result in update.many(here, environment):
                made = put_path(made, path, result, budget, owned)
                break
            else:
                gone.append(list(path))
        return delete_paths(made, gone, budget) if gone else made

    return Code(one)


NODES: dict[type, CompileNode] = {nodes.Assign: _compile_assign}
