"""Expressions carried out: every operator is known here."""

from __future__ import annotations

from agentsandbox.commands.yq import (
    arithmetic,
    assignment,
    collections,
    metadata,
    texts,
    traversal,
    world,
)
from agentsandbox.commands.yq.evaluation import OPERATORS, Context, Machine, YqError
from agentsandbox.commands.yq.lexer import ExpressionError
from agentsandbox.commands.yq.parser import Expression, parse_expression
from agentsandbox.commands.yq.reader import YamlError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.commands.yq.nodes import Node

PRETTY = '(... | (select(tag != "!!str"), select(tag == "!!str") | select(test("(?i)^(y|yes|n|no|on|off)$") | not))  ) style=""'
"""What `-P` puts after an expression."""
_MODULES = (arithmetic, assignment, collections, metadata, texts, traversal, world)


def compile_expression(text: str) -> Expression | None:
    """The tree of an expression. Raises `YqError`."""
    try:
        return parse_expression(text)
    except ExpressionError as error:
        raise YqError(str(error)) from None


def run_expression(
    machine: Machine, expression: Expression | None, nodes: list[Node]
) -> list[Node]:
    """What an expression makes of nodes. Raises `YqError`."""
    try:
        return machine.evaluate(Context(nodes, {}), expression).nodes
    except YamlError as error:
        raise YqError(f"yaml: {error}") from None


assert OPERATORS and _MODULES
