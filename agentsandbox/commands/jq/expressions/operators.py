"""Operators: arithmetic, comparisons, `and`, `or`, and the minus sign."""

from __future__ import annotations

from agentsandbox.commands._json.values import JqError, Literal, number
from agentsandbox.commands.jq import nodes, operations
from agentsandbox.commands.jq.code import Code
from agentsandbox.commands.jq.expressions.flow import piped
from agentsandbox.commands.jq.operations import describe

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from agentsandbox.commands._json.values import Value
    from agentsandbox.commands.jq.code import Environment
    from agentsandbox.commands.jq.compiler import Caller, CompileNode, Compiler, Scope


_ARITHMETIC = {
    "+": operations.add,
    "-": operations.subtract,
    "*": operations.multiply,
    "/": operations.divide,
    "%": operations.remainder,
}
_COMPARISONS: dict[str, Callable[[Value, Value], bool]] = {
    "==": operations.equals,
    "!=": lambda left, right: not operations.equals(left, right),
    "<": lambda left, right: operations.compare(left, right) < 0,
    "<=": lambda left, right: operations.compare(left, right) <= 0,
    ">": lambda left, right: operations.compare(left, right) > 0,
    ">=": lambda left, right: operations.compare(left, right) >= 0,
}


def operation(sign: str, compiler: Compiler) -> Callable[[Value, Value], Value]:
    """Return the function of two values for an operator; the memory that it takes is counted."""
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


def _compile_binary(compiler: Compiler, node: nodes.Binary, scope: Scope, tail: Caller) -> Code:
    left, right = compiler.compile(node.left, scope), compiler.compile(node.right, scope)
    function = operation(node.operator, compiler)
    first, second = left.sure, right.sure
    if first is not None and isinstance(node.right, nodes.Constant):
        constant = node.right.value
        return Code(lambda value, environment: function(first(value, environment), constant))
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


def _compile_negate(compiler: Compiler, node: nodes.Negate, scope: Scope, tail: Caller) -> Code:
    body = compiler.compile(node.body, scope)
    return piped(body, Code(lambda value, environment: _negated(value)), compiler.budget)


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


def _compile_logical(compiler: Compiler, node: nodes.Logical, scope: Scope, tail: Caller) -> Code:
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


NODES: dict[type, CompileNode] = {
    nodes.Binary: _compile_binary,
    nodes.Negate: _compile_negate,
    nodes.Logical: _compile_logical,
}
