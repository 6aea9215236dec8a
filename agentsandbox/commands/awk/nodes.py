"""The syntax tree of an awk program."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeAlias

    from agentsandbox.commands.awk.lexer import Source

    Expression: TypeAlias = (
        "Number | Text | Regex | Name | Index | Field | Assign | Ternary | Binary | Unary | Step | Concat | Match | Membership | Call"
        " | UserCall | Getline | Grouping"
    )
    Statement: TypeAlias = "Print | ExpressionStatement | If | While | DoWhile | For | ForIn | Switch | Block | Delete | Jump | Return | Exit"


class Node:
    """A node: its parts are given in the order of their annotations; `line` is the source line, for
    messages.
    """

    __slots__ = ("line",)

    line: int

    def __init__(self, line: int, *values: object) -> None:
        self.line = line
        for name, value in zip(type(self).__annotations__, values, strict=True):
            setattr(self, name, value)


class Number(Node):
    """A numeric constant."""

    __slots__ = ("value",)
    value: float


class Text(Node):
    """A string constant, its escapes done."""

    __slots__ = ("value",)
    value: str


class Regex(Node):
    """`/source/`."""

    __slots__ = ("source",)
    source: str


class Name(Node):
    """A variable or an array."""

    __slots__ = ("name",)
    name: str


class Index(Node):
    """`base[subscripts]`; the base is a name or, for arrays of arrays, another index."""

    __slots__ = ("base", "subscripts")
    base: Name | Index
    subscripts: list[Expression]


class Field(Node):
    """`$number`."""

    __slots__ = ("number",)
    number: Expression


class Assign(Node):
    """`target operator value`; the operator is "=", "+=", …"""

    __slots__ = ("operator", "target", "value")
    operator: str
    target: Name | Index | Field
    value: Expression


class Ternary(Node):
    """`condition ? yes : no`."""

    __slots__ = ("condition", "no", "yes")
    condition: Expression
    yes: Expression
    no: Expression


class Binary(Node):
    """Arithmetic, comparison, `&&` and `||`."""

    __slots__ = ("left", "operator", "right")
    operator: str
    left: Expression
    right: Expression


class Unary(Node):
    """`-x`, `+x`, `!x`; the operator "()" marks parentheses."""

    __slots__ = ("operand", "operator")
    operator: str
    operand: Expression


class Step(Node):
    """`++x`, `x--`: `amount` is 1 or -1."""

    __slots__ = ("amount", "prefix", "target")
    target: Name | Index | Field
    amount: int
    prefix: bool


class Concat(Node):
    """Expressions side by side."""

    __slots__ = ("parts",)
    parts: list[Expression]


class Match(Node):
    """`text ~ pattern`, negated for `!~`."""

    __slots__ = ("negated", "pattern", "text")
    text: Expression
    pattern: Expression
    negated: bool


class Membership(Node):
    """`(subscripts) in array`."""

    __slots__ = ("array", "subscripts")
    subscripts: list[Expression]
    array: Name | Index


class Call(Node):
    """A built-in function."""

    __slots__ = ("arguments", "name")
    name: str
    arguments: list[Expression]


class UserCall(Node):
    """A call of a function of the program."""

    __slots__ = ("arguments", "name")
    name: str
    arguments: list[Expression]


class Getline(Node):
    """`getline`: `kind` is "", "<", "|" or "|&"; the target is None for `$0`."""

    __slots__ = ("kind", "source", "target")
    kind: str
    target: Name | Index | Field | None
    source: Expression | None


class Grouping(Node):
    """`(a, b)`: only before `in` and as the whole list of a print statement."""

    __slots__ = ("items",)
    items: list[Expression]


class Print(Node):
    """`print` and `printf`; `redirection` is "", ">", ">>", "|" or "|&"."""

    __slots__ = ("arguments", "destination", "formatted", "redirection")
    formatted: bool
    arguments: list[Expression]
    redirection: str
    destination: Expression | None


class ExpressionStatement(Node):
    """An expression for its effect."""

    __slots__ = ("expression",)
    expression: Expression


class If(Node):
    """`if`."""

    __slots__ = ("condition", "no", "yes")
    condition: Expression
    yes: Statement
    no: Statement | None


class While(Node):
    """`while`."""

    __slots__ = ("body", "condition")
    condition: Expression
    body: Statement


class DoWhile(Node):
    """`do … while`."""

    __slots__ = ("body", "condition")
    body: Statement
    condition: Expression


class For(Node):
    """`for (start; condition; step)`."""

    __slots__ = ("body", "condition", "start", "step")
    start: Statement | None
    condition: Expression | None
    step: Statement | None
    body: Statement


class ForIn(Node):
    """`for (variable in array)`."""

    __slots__ = ("array", "body", "variable")
    variable: Name | Index | Field
    array: Name | Index
    body: Statement


class Switch(Node):
    """`cases` are (value or None for default, statements), in order."""

    __slots__ = ("cases", "subject")
    subject: Expression
    cases: list[tuple[Expression | None, list[Statement]]]


class Block(Node):
    """Statements in braces."""

    __slots__ = ("statements",)
    statements: list[Statement]


class Delete(Node):
    """`delete a` or `delete a[i]`."""

    __slots__ = ("target",)
    target: Name | Index


class Jump(Node):
    """`break`, `continue`, `next`, `nextfile`."""

    __slots__ = ("kind",)
    kind: str


class Return(Node):
    """`return`."""

    __slots__ = ("value",)
    value: Expression | None


class Exit(Node):
    """`exit`."""

    __slots__ = ("status",)
    status: Expression | None


class Rule(Node):
    """A pattern and its action: `kind` is "BEGIN", "END", "BEGINFILE", "ENDFILE", "always",
    "pattern" or "range".
    """

    __slots__ = ("action", "first", "kind", "last")
    kind: str
    first: Expression | None
    last: Expression | None
    action: list[Statement] | None


class Function(Node):
    """`function name(parameters)`."""

    __slots__ = ("body", "name", "parameters")
    name: str
    parameters: list[str]
    body: list[Statement]


class Program(Node):
    """All rules in order, and the functions by name."""

    __slots__ = ("functions", "rules", "sources")
    rules: list[Rule]
    functions: dict[str, Function]
    sources: list[Source]
