"""Updates that need no paths: along a simple left side, and in place where only a fold sees it.

Both give what `reduce path(…)` and `setpath` would; for expressions of other forms they give None.
"""

from __future__ import annotations

from agentsandbox.commands._json.values import CONTAINERS
from agentsandbox.commands.jq import nodes
from agentsandbox.commands.jq.code import members
from agentsandbox.commands.jq.expressions.operators import operation
from agentsandbox.commands.jq.operations import add
from agentsandbox.commands.jq.paths import get, get_path, put, put_path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeAlias

    from agentsandbox.commands._json.values import Value
    from agentsandbox.commands.jq.code import Code, Environment, One
    from agentsandbox.commands.jq.compiler import Compiler, Scope
    from agentsandbox.commands.jq.nodes import Node
    from agentsandbox.kernel.budget import Budget

    Change: TypeAlias = Callable[[Value, Environment, Callable[[Value], Value]], Value]
    """The input with what the expression names changed by a function."""
    Step: TypeAlias = Callable[[Value, Environment, dict[int, Value]], Value]
    """The next state of a fold, which may change in place the containers that only it holds."""

# along the left side


def change_of(node: Node, compiler: Compiler, scope: Scope) -> Change | None:
    """How to change what a left side names; None for a form that is not known here."""
    if isinstance(node, nodes.Identity):
        return lambda value, environment, function: function(value)
    if isinstance(node, nodes.Index):
        return _change_member(node, compiler, scope)
    if isinstance(node, nodes.Iterate):
        inner = change_of(node.body, compiler, scope)
        return None if inner is None else _change_all(inner, compiler.budget)
    if isinstance(node, nodes.Pipe):
        left, right = change_of(node.left, compiler, scope), change_of(node.right, compiler, scope)
        return None if left is None or right is None else _change_within(left, right)
    if (
        isinstance(node, nodes.Call)
        and node.name == "select"
        and len(node.arguments) == 1
        and scope.find("select/1") is None
    ):
        return _change_selected(compiler.compile(node.arguments[0], scope))
    return None


def _change_within(left: Change, right: Change) -> Change:
    return lambda value, environment, function: left(
        value, environment, lambda here: right(here, environment, function)
    )


def _change_selected(condition: Code) -> Change | None:
    decide = condition.sure
    if decide is None:
        return None

    def change(value: Value, environment: Environment, function: Callable[[Value], Value]) -> Value:
        answer = decide(value, environment)
        return value if answer is None or answer is False else function(value)

    return change


def _change_member(node: nodes.Index, compiler: Compiler, scope: Scope) -> Change | None:
    target, key = change_of(node.target, compiler, scope), compiler.compile(node.key, scope)
    find, budget = key.sure, compiler.budget
    if target is None or find is None:
        return None

    def change(value: Value, environment: Environment, function: Callable[[Value], Value]) -> Value:
        name = find(value, environment)

        def change_here(here: Value) -> Value:
            if type(here) is dict and type(name) is str:
                budget.step(len(here) // 64 + 1)
                made = dict(here)
                made[name] = function(here.get(name))
                return made
            return put(here, name, function(get(here, name)), budget)

        return target(value, environment, change_here)

    return change


def _change_all(inner: Change, budget: Budget) -> Change:
    def change_here(here: Value, function: Callable[[Value], Value]) -> Value:
        items = members(here)
        budget.step(len(here))
        if type(here) is dict:
            return {name: function(item) for name, item in here.items()}
        return list(map(function, items))

    return lambda value, environment, function: inner(
        value, environment, lambda here: change_here(here, function)
    )


# in place


def step_of(node: Node, compiler: Compiler, scope: Scope) -> Step | None:
    """How a fold may take a step in place; None for a form that is not known here."""
    if isinstance(node, nodes.Assign):
        return _assigning(node, compiler, scope)
    if isinstance(node, nodes.Binary):
        return _adding(node, compiler, scope)
    if isinstance(node, nodes.Identity):
        return lambda state, environment, owned: state
    if isinstance(node, nodes.Pipe):
        first, second = step_of(node.left, compiler, scope), step_of(node.right, compiler, scope)
        if first is None or second is None:
            return None
        return lambda state, environment, owned: second(
            first(state, environment, owned), environment, owned
        )
    return _choosing(node, compiler, scope) if isinstance(node, nodes.If) else None


def _is_independent(node: Node) -> bool:
    """Whether an expression cannot give a part of its input."""
    if isinstance(node, (nodes.Constant, nodes.Variable)):
        return True
    if isinstance(node, nodes.Pipe):
        return _is_independent(node.left)
    if isinstance(node, nodes.Index):
        return _is_independent(node.target) and _is_independent(node.key)
    if isinstance(node, nodes.ObjectOf):
        return all(_is_independent(key) and _is_independent(value) for key, value in node.entries)
    if isinstance(node, (nodes.ArrayOf, nodes.Binary, nodes.Text)):
        return all(_is_independent(child) for child in node.children())
    return False


def _single(node: Node, compiler: Compiler, scope: Scope) -> One | None:
    return compiler.compile(node, scope).sure


def _choosing(node: nodes.If, compiler: Compiler, scope: Scope) -> Step | None:
    decide = _single(node.condition, compiler, scope)
    yes, no = step_of(node.consequence, compiler, scope), step_of(node.alternative, compiler, scope)
    if decide is None or yes is None or no is None:
        return None

    def step(state: Value, environment: Environment, owned: dict[int, Value]) -> Value:
        answer = decide(state, environment)
        return (no if answer is None or answer is False else yes)(state, environment, owned)

    return step


def _added(here: Value, operand: Value, owned: dict[int, Value], budget: Budget) -> Value:
    """The sum of two containers of one kind: the first itself if it is the fold's own."""
    budget.charge((len(here) + len(operand)) * 16)
    if id(here) not in owned:
        here = here.copy()
        owned[id(here)] = here
        budget.step(len(here) // 64 + 1)
    if type(here) is list:
        here.extend(operand)
    else:
        here.update(operand)
    return here


def _adding(node: nodes.Binary, compiler: Compiler, scope: Scope) -> Step | None:
    if (
        node.operator != "+"
        or not isinstance(node.left, nodes.Identity)
        or not _is_independent(node.right)
    ):
        return None
    source, budget = _single(node.right, compiler, scope), compiler.budget
    machine = compiler.machine
    if source is None:
        return None

    def step(state: Value, environment: Environment, owned: dict[int, Value]) -> Value:
        operand = source(state, environment)
        kind = type(state)
        if (kind is list or kind is dict) and type(operand) is kind:
            machine.hold(len(operand) + 2)
            return _added(state, operand, owned, budget)
        result = add(state, operand, budget)
        if type(result) is str:
            machine.charge_text(len(result))
        return result

    return step


def _keys(node: Node, compiler: Compiler, scope: Scope) -> list[One] | None:
    """The keys of `.[a][b]`, outermost first."""
    found: list[One] = []
    while isinstance(node, nodes.Index):
        key = _single(node.key, compiler, scope)
        if key is None:
            return None
        found.append(key)
        node = node.target
    found.reverse()
    return found if found and isinstance(node, nodes.Identity) else None


def _assigning(node: nodes.Assign, compiler: Compiler, scope: Scope) -> Step | None:
    keys, source = _keys(node.left, compiler, scope), _single(node.right, compiler, scope)
    changes = node.operator == "|="
    if keys is None or source is None or not (changes or _is_independent(node.right)):
        return None
    budget, sign = compiler.budget, node.operator[:-1]
    function = operation(sign, compiler) if sign and sign not in ("|", "//") else None

    def step(state: Value, environment: Environment, owned: dict[int, Value]) -> Value:
        path = [key(state, environment) for key in keys]
        if changes:
            result = source(get_path(state, path), environment)
            if type(result) in CONTAINERS:
                owned.clear()  # it may hold a part of the state twice
            return put_path(state, path, result, budget, owned)
        result = source(state, environment)
        if sign:
            here = get_path(state, path)
            kind = type(here)
            if sign == "+" and (kind is list or kind is dict) and type(result) is kind:
                result = _added(here, result, owned, budget)
            elif function is not None:
                result = function(here, result)
            elif here is not None and here is not False:
                return state
        return put_path(state, path, result, budget, owned)

    return step
