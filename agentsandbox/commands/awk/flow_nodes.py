"""The statements of an awk program that hold others, leave them, or delete."""

from __future__ import annotations

from agentsandbox.commands.awk.nodes import Node

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.commands.awk.nodes import Expression, Field, Index, Name, Statement


class If(Node):
    """`if`."""

    condition: Expression
    yes: Statement
    no: Statement | None


class While(Node):
    """`while`."""

    condition: Expression
    body: Statement


class DoWhile(Node):
    """`do … while`."""

    body: Statement
    condition: Expression


class For(Node):
    """`for (start; condition; step)`."""

    start: Statement | None
    condition: Expression | None
    step: Statement | None
    body: Statement


class ForIn(Node):
    """`for (variable in array)`."""

    variable: Name | Index | Field
    array: Name | Index
    body: Statement


class Switch(Node):
    """`cases` are (value or None for default, statements), in order."""

    subject: Expression
    cases: list[tuple[Expression | None, list[Statement]]]


class Delete(Node):
    """`delete a` or `delete a[i]`."""

    target: Name | Index


class Jump(Node):
    """`break`, `continue`, `next`, `nextfile`."""

    kind: str


class Return(Node):
    """`return`."""

    value: Expression | None


class Exit(Node):
    """`exit`."""

    status: Expression | None
