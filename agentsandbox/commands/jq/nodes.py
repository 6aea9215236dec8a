"""The syntax tree of a jq program. Positions are offsets into the source text, for messages."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any, TypeVar, dataclass_transform

    from agentsandbox.commands._json.values import Value

    C = TypeVar("C", bound=type)
else:

    def dataclass_transform() -> Callable[[C], C]:
        """Return a decorator without effect: only the type checker reads it."""
        return lambda cls: cls


@dataclass_transform()
class Node:
    """An expression, or a part of one; its own parts come in the order of its annotations."""

    def __init__(self, *parts: Any) -> None:
        for name, part in zip(type(self).__annotations__, parts, strict=True):
            setattr(self, name, part)

    def children(self) -> Iterator[Node]:
        """Yield the expressions directly inside, those in patterns included."""
        pending: list[object] = list(vars(self).values())
        while pending:
            part = pending.pop()
            if isinstance(part, Pattern):
                pending.extend(vars(part).values())
            elif isinstance(part, Definition):
                yield part.body
            elif isinstance(part, Node):
                yield part
            elif isinstance(part, (list, tuple)):
                pending.extend(part)


class Identity(Node):
    """`.`"""


class Constant(Node):
    """A number, a string without interpolation, `true`, `false` or `null`."""

    value: Value


class Text(Node):
    """A string with interpolations; `format` names the escape that their values go through."""

    format: str | None
    parts: list[str | Node]


class Format(Node):
    """`@name` alone."""

    name: str


class Variable(Node):
    """`$name`"""

    name: str
    position: int


class Index(Node):
    """`target[key]`; the key is evaluated against the same input as the target."""

    target: Node
    key: Node


class Slice(Node):
    """`target[start:end]`; either bound may be missing."""

    target: Node
    start: Node | None
    end: Node | None


class Iterate(Node):
    """`body[]`"""

    body: Node


class Negate(Node):
    """`-body`"""

    body: Node


class ArrayOf(Node):
    """`[body]`, or `[]`."""

    body: Node | None


class ObjectOf(Node):
    """`{key: value, …}`; the keys are expressions as well."""

    entries: list[tuple[Node, Node]]


class Pipe(Node):
    """`left | right`"""

    left: Node
    right: Node


class Comma(Node):
    """`left, right`"""

    left: Node
    right: Node


class Alternative(Node):
    """`left // right`"""

    left: Node
    right: Node


class Binary(Node):
    """Arithmetic or a comparison."""

    operator: str
    left: Node
    right: Node


class Logical(Node):
    """`and`, `or`"""

    operator: str
    left: Node
    right: Node


class Assign(Node):
    """`=`, `|=`, `+=` and the like; `operator` is the whole sign."""

    operator: str
    left: Node
    right: Node


class If(Node):
    """`if condition then consequence else alternative end`"""

    condition: Node
    consequence: Node
    alternative: Node


class Try(Node):
    """`try body catch handler`; without a handler, `body?`."""

    body: Node
    handler: Node | None


class Pattern(Node):
    """The left side of a destructuring."""


class VariablePattern(Pattern):
    """`$name`"""

    name: str


class ArrayPattern(Pattern):
    """`[pattern, …]`"""

    items: list[Pattern]


class ObjectPattern(Pattern):
    """`{key: pattern, $name, $name: pattern}`: (variable or None, key, pattern or None)."""

    entries: list[tuple[str | None, Node, Pattern | None]]


class Bind(Node):
    """`source as pattern ?// pattern … | body`"""

    source: Node
    patterns: list[Pattern]
    body: Node


class Reduce(Node):
    """`reduce source as pattern (start; update)`"""

    source: Node
    patterns: list[Pattern]
    start: Node
    update: Node


class Foreach(Node):
    """`foreach source as pattern (start; update; extract)`"""

    source: Node
    patterns: list[Pattern]
    start: Node
    update: Node
    extract: Node


class Parameter(Node):
    """A parameter of a function: a closure, or a value for `$name`."""

    name: str
    is_value: bool


class Definition(Node):
    """`def name(parameters): body;`"""

    name: str
    parameters: list[Parameter]
    body: Node

    @property
    def key(self) -> str:
        """What a call finds it by."""
        return f"{self.name}/{len(self.parameters)}"


class Define(Node):
    """A definition and the expression that it is visible in."""

    definition: Definition
    rest: Node


class Call(Node):
    """`name(arguments; …)`"""

    name: str
    arguments: list[Node]
    position: int


class Label(Node):
    """`label $name | body`"""

    name: str
    body: Node


class Break(Node):
    """`break $name`"""

    name: str
    position: int
