"""Operators: arithmetic, comparisons, `and`, `or`, `//`, and the minus sign."""

from __future__ import annotations

import operator

from agentsandbox.commands._json.values import EXACT, JqError, Literal, number
from agentsandbox.commands.jq import nodes, operations
from agentsandbox.commands.jq.code import EMPTY, Code
from agentsandbox.commands.jq.operations import describe

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from agentsandbox.commands._json.values import Value
    from agentsandbox.commands.jq.code import Environment, One, Path
    from agentsandbox.commands.jq.compiler import Compiler
    from agentsandbox.commands.jq.scopes import Scope


def _is_same(left: Value, right: Value) -> bool:
    return (
        bool(left == right)
        if type(left) is str and type(right) is str
        else operations.equals(left, right)
    )


_ARITHMETIC = {
    "+": operations.add,
    "-": operations.subtract,
    "*": operations.multiply,
    "/": operations.divide,
    "%": operations.remainder,
}
_COMPARISONS: dict[str, Callable[[Value, Value], bool]] = {
    "==": _is_same,
    "!=": lambda left, right: not _is_same(left, right),
    "<": lambda left, right: (
        left < right
        if type(left) is int and type(right) is int
        else operations.compare(left, right) < 0
    ),
    "<=": lambda left, right: operations.compare(left, right) <= 0,
    ">": lambda left, right: (
        left > right
        if type(left) is int and type(right) is int
        else operations.compare(left, right) > 0
    ),
    ">=": lambda left, right: operations.compare(left, right) >= 0,
}
_SMALL = 1 << 26
"""Sums of two such numbers need no second look: they are exact."""
_ON_SMALL: dict[str, Callable[[int, int], int]] = {"+": operator.add, "-": operator.sub}
_ON_NUMBERS: dict[str, Callable[[Any, int], bool]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def operation(sign: str, compiler: Compiler) -> Callable[[Value, Value], Value]:
    """The function of two values that an operator stands for; what it makes is counted."""
    if sign in _COMPARISONS:
        return _COMPARISONS[sign]
    function, budget, machine = _ARITHMETIC[sign], compiler.budget, compiler.machine

    def compute(left: Value, right: Value) -> Value:
        if type(left) is int and type(right) is int:
            return function(left, right, budget)
        result = function(left, right, budget)
        if type(result) is str:
            machine.charge_text(len(result))
        elif type(result) is list or type(result) is dict:
            machine.hold(len(result) >> 1)
        return result

    return compute


def compile_binary(compiler: Compiler, node: nodes.Binary, scope: Scope) -> Code:
    left, right = compiler.compile(node.left, scope), compiler.compile(node.right, scope)
    function = operation(node.operator, compiler)
    first, second = left.sure, right.sure
    if first is not None and isinstance(node.right, nodes.Constant):
        constant = node.right.value
        if type(constant) is str and node.operator in ("==", "!="):
            same = node.operator == "=="
            return Code(lambda value, environment: (first(value, environment) == constant) is same)
        if type(constant) is int:
            return _with_integer(node.operator, function, first, constant)
    if first is not None and second is not None:

        def one(value: Value, environment: Environment) -> Value:
            operand = second(value, environment)
            return function(first(value, environment), operand)

        return Code(one)

    def many(value: Value, environment: Environment) -> Iterator[Value]:
        # the right side is the outer loop, as in jq
        for operand in right.many(value, environment):
            for base in left.many(value, environment):
                yield function(base, operand)

    return Code(many=many)


def _with_integer(
    sign: str, function: Callable[[Value, Value], Value], left: One, right: int
) -> Code:
    """An operator with an integer constant on its right, quicker where the left side is a number
    without surprises.
    """
    compare = _ON_NUMBERS.get(sign) if -EXACT < right < EXACT else None
    compute = _ON_SMALL.get(sign) if -_SMALL < right < _SMALL else None
    if compare is not None:

        def compared(value: Value, environment: Environment) -> Value:
            found = left(value, environment)
            kind = type(found)
            if kind is int or (kind is float and found == found):
                return compare(found, right)
            return function(found, right)

        return Code(compared)
    if compute is not None:

        def computed(value: Value, environment: Environment) -> Value:
            found = left(value, environment)
            if type(found) is int and -_SMALL < found < _SMALL:
                return compute(found, right)
            return function(found, right)

        return Code(computed)
    return Code(lambda value, environment: function(left(value, environment), right))


def compile_negate(compiler: Compiler, node: nodes.Negate, scope: Scope) -> Code:
    body = compiler.compile(node.body, scope)
    inner = body.one
    if inner is None:
        return Code(many=lambda value, environment: map(_negated, body.many(value, environment)))
    if body.total:
        return Code(lambda value, environment: _negated(inner(value, environment)))

    def maybe(value: Value, environment: Environment) -> Value:
        result = inner(value, environment)
        return EMPTY if result is EMPTY else _negated(result)

    return Code(maybe, total=False)


def _negated(value: Value) -> Value:
    if type(value) is int:
        return -value
    if type(value) is Literal:
        text = value.text
        if not value and not text.startswith("-"):
            return value  # there is no other zero where digits are kept
        return Literal(-float(value), text[1:] if text.startswith("-") else "-" + text)
    if type(value) is float:
        return number(-value)
    raise JqError(f"{describe(value)} cannot be negated")


def compile_logical(compiler: Compiler, node: nodes.Logical, scope: Scope) -> Code:
    left, right = compiler.compile(node.left, scope), compiler.compile(node.right, scope)
    decides = node.operator == "or"
    first, second = left.sure, right.sure
    if first is not None and second is not None:

        def one(value: Value, environment: Environment) -> Value:
            base = first(value, environment)
            if (base is not None and base is not False) == decides:
                return decides
            other = second(value, environment)
            return other is not None and other is not False

        return Code(one)

    def many(value: Value, environment: Environment) -> Iterator[Value]:
        for base in left.many(value, environment):
            if (base is not None and base is not False) == decides:
                yield decides
                continue
            for other in right.many(value, environment):
                yield other is not None and other is not False

    return Code(many=many)


def compile_alternative(compiler: Compiler, node: nodes.Alternative, scope: Scope) -> Code:
    left, right = compiler.compile(node.left, scope), compiler.compile(node.right, scope)

    def paths(path: Path, value: Value, environment: Environment) -> Iterator[tuple[Path, Value]]:
        found = False
        for base, result in left.paths(path, value, environment):
            if result is not None and result is not False:
                found = True
                yield base, result
        if not found:
            yield from right.paths(path, value, environment)

    first, second = left.one, right.one
    if first is not None and second is not None:

        def one(value: Value, environment: Environment) -> Value:
            result = first(value, environment)
            if result is None or result is False or result is EMPTY:
                return second(value, environment)
            return result

        return Code(one, total=right.total, paths=paths)

    def many(value: Value, environment: Environment) -> Iterator[Value]:
        found = False
        for result in left.many(value, environment):
            if result is not None and result is not False:
                found = True
                yield result
        if not found:
            yield from right.many(value, environment)

    return Code(many=many, paths=paths)
