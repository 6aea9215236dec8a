"""The syntax tree of an awk program; `flow_nodes` has the statements that control others."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeAlias

    from agentsandbox.commands.awk.modes import Mode
    from agentsandbox.commands.awk.tokens import Source

    Expression: TypeAlias = (
        "Number | Text | Regex | TypedRegex | IndirectCall"
        " | Name | Index | Field | Assign | Ternary | Binary | Unary | Step"
        " | Concat | Match | Membership | Call | UserCall | Getline | Grouping | Parenthesized"
    )
    Statement: TypeAlias = "Node"


class Node:
    """A node: its parts are given in the order of their annotations.

    `line` is the source line, for messages. Parentheses are dropped here: a `Parenthesized` part
    becomes what it holds.
    """

    line: int

    def __init__(self, line: int, *values: object) -> None:
        self.line = line
        for name, value in zip(type(self).__annotations__, values, strict=True):
            setattr(self, name, _bare(value))


def _bare(value: object) -> object:
    """Return a part, or a list of parts, without its parentheses."""
    if isinstance(value, list):
        return [_bare(item) for item in value]
    while isinstance(value, Parenthesized):
        value = value.inner
    return value


class Parenthesized(Node):
    """`(inner)`: neither a target of assignments nor open to the operators around it."""

    inner: Expression


class Number(Node):
    """A numeric constant."""

    value: float


class Text(Node):
    """A string constant without its escapes."""

    value: str


class Regex(Node):
    """`/source/`."""

    source: str


class TypedRegex(Node):
    """`@/source/` as a value."""

    source: str


class Name(Node):
    """A variable or an array."""

    name: str


class Index(Node):
    """`base[subscripts]`; the base is a name or, for arrays of arrays, another index."""

    base: Name | Index
    subscripts: list[Expression]


class Field(Node):
    """`$number`."""

    number: Expression


class Assign(Node):
    """`target operator value`; the operator is "=", "+=", …"""

    operator: str
    target: Name | Index | Field
    value: Expression


class Ternary(Node):
    """`condition ? yes : no`."""

    condition: Expression
    yes: Expression
    no: Expression


class Binary(Node):
    """Arithmetic, comparison, `&&` and `||`."""

    operator: str
    left: Expression
    right: Expression


class Unary(Node):
    """`-x`, `+x`, `!x`."""

    operator: str
    operand: Expression


class Step(Node):
    """`++x`, `x--`: `amount` is 1 or -1."""

    target: Name | Index | Field
    amount: int
    prefix: bool


class Concat(Node):
    """Expressions side by side."""

    parts: list[Expression]


class Match(Node):
    """`text ~ pattern`, negated for `!~`."""

    text: Expression
    pattern: Expression
    negated: bool


class Membership(Node):
    """`(subscripts) in array`."""

    subscripts: list[Expression]
    array: Name | Index


class Call(Node):
    """A built-in function."""

    name: str
    arguments: list[Expression]


class UserCall(Node):
    """A call of a function of the program."""

    name: str
    arguments: list[Expression]


class IndirectCall(Node):
    """`@variable(arguments)`: a call of the function whose name the variable holds."""

    variable: Name
    arguments: list[Expression]


class Getline(Node):
    """`getline`: `kind` is "", "<", "|" or "|&"; the target is None for `$0`."""

    kind: str
    target: Name | Index | Field | None
    source: Expression | None


class Grouping(Node):
    """`(a, b)`: only before `in` and as the whole list of a print statement."""

    items: list[Expression]


class Print(Node):
    """`print` and `printf`; `redirection` is "", ">", ">>", "|" or "|&"."""

    formatted: bool
    arguments: list[Expression]
    redirection: str
    destination: Expression | None


class ExpressionStatement(Node):
    """An expression for its effect."""

    expression: Expression


class Block(Node):
    """Statements in braces."""

    statements: list[Statement]


class Rule(Node):
    """A pattern (of a `kind` such as BEGIN, always, pattern, range) and its action."""

    kind: str
    first: Expression | None
    last: Expression | None
    action: list[Statement] | None


class Function(Node):
    """`function name(parameters)`."""

    name: str
    parameters: list[str]
    body: list[Statement]


class Program(Node):
    """All rules in order, the functions by name, and the pieces of the source."""

    rules: list[Rule]
    functions: dict[str, Function]
    sources: list[Source]
    mode: Mode
