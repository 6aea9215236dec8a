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
    """An expression; its parts are given in the order of its annotations."""

    __slots__ = ()

    def __init__(self, *parts: Any) -> None:
        names: tuple[str, ...] = tuple(type(self).__annotations__)
        for name, part in zip(names, parts, strict=True):
            setattr(self, name, part)

    def children(self) -> Iterator[Node]:
        """Yield the expressions directly inside, those in patterns included."""
        pending: list[object] = [getattr(self, name) for name in self.__slots__]
        while pending:
            part = pending.pop()
            if isinstance(part, Pattern):
                pending.extend(getattr(part, name) for name in part.__slots__)
            elif isinstance(part, Definition):
                yield part.body
            elif isinstance(part, Node):
                yield part
            elif isinstance(part, (list, tuple)):
                pending.extend(part)


class Identity(Node):
    """`.`"""

    __slots__ = ()


class Constant(Node):
    """A number, a string without interpolation, `true`, `false` or `null`."""

    __slots__ = ("value",)
    value: Value


class Text(Node):
    """A string with interpolations; `format` names the escape that their values go through."""

    __slots__ = ("format", "parts")
    format: str | None
    parts: list[str | Node]


class Format(Node):
    """`@name` alone."""

    __slots__ = ("name",)
    name: str


class Variable(Node):
    """`$name`"""

    __slots__ = ("name", "position")
    name: str
    position: int


class Index(Node):
    """`target[key]`; the key is evaluated against the same input as the target."""

    __slots__ = ("key", "target")
    target: Node
    key: Node


class Slice(Node):
    """`target[start:end]`; either bound may be missing."""

    __slots__ = ("end", "start", "target")
    target: Node
    start: Node | None
    end: Node | None


class Iterate(Node):
    """`body[]`"""

    __slots__ = ("body",)
    body: Node


class Negate(Node):
    """`-body`"""

    __slots__ = ("body",)
    body: Node


class ArrayOf(Node):
    """`[body]`, or `[]`."""

    __slots__ = ("body",)
    body: Node | None


class ObjectOf(Node):
    """`{key: value, …}`; the keys are expressions as well."""

    __slots__ = ("entries",)
    entries: list[tuple[Node, Node]]


class Pipe(Node):
    """`left | right`"""

    __slots__ = ("left", "right")
    left: Node
    right: Node


class Comma(Node):
    """`left, right`"""

    __slots__ = ("left", "right")
    left: Node
    right: Node


class Alternative(Node):
    """`left // right`"""

    __slots__ = ("left", "right")
    left: Node
    right: Node


class Binary(Node):
    """Arithmetic or a comparison."""

    __slots__ = ("left", "operator", "right")
    operator: str
    left: Node
    right: Node


class Logical(Node):
    """`and`, `or`"""

    __slots__ = ("left", "operator", "right")
    operator: str
    left: Node
    right: Node


class Assign(Node):
    """`=`, `|=`, `+=` and the like; `operator` is the whole sign."""

    __slots__ = ("left", "operator", "right")
    operator: str
    left: Node
    right: Node


class If(Node):
    """`if condition then consequence else alternative end`"""

    __slots__ = ("alternative", "condition", "consequence")
    condition: Node
    consequence: Node
    alternative: Node


class Try(Node):
    """`try body catch handler`; without a handler, `body?`."""

    __slots__ = ("body", "handler")
    body: Node
    handler: Node | None


class Pattern:
    """The left side of a destructuring."""

    __slots__: tuple[str, ...] = ()


class VariablePattern(Pattern):
    """`$name`"""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name


class ArrayPattern(Pattern):
    """`[pattern, …]`"""

    __slots__ = ("items",)

    def __init__(self, items: list[Pattern]) -> None:
        self.items = items


class ObjectPattern(Pattern):
    """`{key: pattern, $name, $name: pattern}`: (variable or None, key, pattern or None)."""

    __slots__ = ("entries",)

    def __init__(self, entries: list[tuple[str | None, Node, Pattern | None]]) -> None:
        self.entries = entries


class Bind(Node):
    """`source as pattern ?// pattern … | body`"""

    __slots__ = ("body", "patterns", "source")
    source: Node
    patterns: list[Pattern]
    body: Node


class Reduce(Node):
    """`reduce source as pattern (start; update)`"""

    __slots__ = ("patterns", "source", "start", "update")
    source: Node
    patterns: list[Pattern]
    start: Node
    update: Node


class Foreach(Node):
    """`foreach source as pattern (start; update; extract)`"""

    __slots__ = ("extract", "patterns", "source", "start", "update")
    source: Node
    patterns: list[Pattern]
    start: Node
    update: Node
    extract: Node


class Parameter:
    """A parameter of a function: a closure, or a value for `$name`."""

    __slots__ = ("is_value", "name")

    def __init__(self, name: str, is_value: bool) -> None:
        self.name = name
        self.is_value = is_value


class Definition:
    """`def name(parameters): body;`"""

    __slots__ = ("body", "key", "name", "parameters")

    def __init__(self, name: str, parameters: list[Parameter], body: Node) -> None:
        self.name = name
        self.parameters = parameters
        self.body = body
        self.key = f"{name}/{len(parameters)}"
        """What a call finds it by."""


class Define(Node):
    """A definition and the expression that it is visible in."""

    __slots__ = ("definition", "rest")
    definition: Definition
    rest: Node


class Call(Node):
    """`name(arguments; …)`"""

    __slots__ = ("arguments", "name", "position")
    name: str
    arguments: list[Node]
    position: int


class Label(Node):
    """`label $name | body`"""

    __slots__ = ("body", "name")
    name: str
    body: Node


class Break(Node):
    """`break $name`"""

    __slots__ = ("name", "position")
    name: str
    position: int
