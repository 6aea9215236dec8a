"""The syntax tree of a jq program. Positions are offsets into the source text, for messages."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.commands._json.values import Value


class Node:
    """Any expression."""

    __slots__ = ()

    def children(self) -> tuple[Node, ...]:
        """The expressions directly inside."""
        return ()


class Identity(Node):
    """`.`"""

    __slots__ = ()


class Constant(Node):
    """A number, or a string without interpolation, or true, false, null."""

    __slots__ = ("value",)

    def __init__(self, value: Value) -> None:
        self.value = value


class Text(Node):
    """A string with interpolations; `format` names the escape that interpolated values go
    through.
    """

    __slots__ = ("format", "parts")

    def __init__(self, format: str | None, parts: list[str | Node]) -> None:
        self.format = format
        self.parts = parts

    def children(self) -> tuple[Node, ...]:
        return tuple(part for part in self.parts if isinstance(part, Node))


class Format(Node):
    """`@name` alone."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name


class Variable(Node):
    """`$name`"""

    __slots__ = ("name", "position")

    def __init__(self, name: str, position: int) -> None:
        self.name = name
        self.position = position


class Index(Node):
    """`target[key]`; the key is evaluated against the same input as the target."""

    __slots__ = ("key", "target")

    def __init__(self, target: Node, key: Node) -> None:
        self.target = target
        self.key = key

    def children(self) -> tuple[Node, ...]:
        return self.target, self.key


class Slice(Node):
    """`target[start:end]`; either bound may be missing."""

    __slots__ = ("end", "start", "target")

    def __init__(self, target: Node, start: Node | None, end: Node | None) -> None:
        self.target = target
        self.start = start
        self.end = end

    def children(self) -> tuple[Node, ...]:
        return tuple(node for node in (self.target, self.start, self.end) if node is not None)


class _Unary(Node):
    __slots__ = ("body",)

    def __init__(self, body: Node) -> None:
        self.body = body

    def children(self) -> tuple[Node, ...]:
        return (self.body,)


class Iterate(_Unary):
    """`body[]`"""

    __slots__ = ()


class Negate(_Unary):
    """`-body`"""

    __slots__ = ()


class ArrayOf(Node):
    """`[body]`, or `[]`."""

    __slots__ = ("body",)

    def __init__(self, body: Node | None) -> None:
        self.body = body

    def children(self) -> tuple[Node, ...]:
        return () if self.body is None else (self.body,)


class ObjectOf(Node):
    """`{key: value, …}`; keys are expressions as well."""

    __slots__ = ("entries",)

    def __init__(self, entries: list[tuple[Node, Node]]) -> None:
        self.entries = entries

    def children(self) -> tuple[Node, ...]:
        return tuple(node for entry in self.entries for node in entry)


class _Pair(Node):
    __slots__ = ("left", "right")

    def __init__(self, left: Node, right: Node) -> None:
        self.left = left
        self.right = right

    def children(self) -> tuple[Node, ...]:
        return self.left, self.right


class Pipe(_Pair):
    """`left | right`"""

    __slots__ = ()


class Comma(_Pair):
    """`left, right`"""

    __slots__ = ()


class Alternative(_Pair):
    """`left // right`"""

    __slots__ = ()


class _Operation(_Pair):
    __slots__ = ("operator",)

    def __init__(self, operator: str, left: Node, right: Node) -> None:
        super().__init__(left, right)
        self.operator = operator


class Binary(_Operation):
    """Arithmetic or a comparison."""

    __slots__ = ()


class Logical(_Operation):
    """`and`, `or`"""

    __slots__ = ()


class Assign(_Operation):
    """`=`, `|=`, `+=` and the like; `operator` is the whole sign."""

    __slots__ = ()


class If(Node):
    """`if condition then consequence else alternative end`"""

    __slots__ = ("alternative", "condition", "consequence")

    def __init__(self, condition: Node, consequence: Node, alternative: Node) -> None:
        self.condition = condition
        self.consequence = consequence
        self.alternative = alternative

    def children(self) -> tuple[Node, ...]:
        return self.condition, self.consequence, self.alternative


class Try(Node):
    """`try body catch handler`; without a handler, `body?`."""

    __slots__ = ("body", "handler")

    def __init__(self, body: Node, handler: Node | None) -> None:
        self.body = body
        self.handler = handler

    def children(self) -> tuple[Node, ...]:
        return (self.body,) if self.handler is None else (self.body, self.handler)


class Pattern:
    """The left side of a destructuring."""

    __slots__ = ()


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


def _pattern_nodes(patterns: list[Pattern]) -> tuple[Node, ...]:
    found: list[Node] = []
    pending = list(patterns)
    while pending:
        pattern = pending.pop()
        if isinstance(pattern, ArrayPattern):
            pending.extend(pattern.items)
        elif isinstance(pattern, ObjectPattern):
            for _name, key, inner in pattern.entries:
                found.append(key)
                if inner is not None:
                    pending.append(inner)
    return tuple(found)


class Bind(Node):
    """`source as pattern ?// pattern … | body`"""

    __slots__ = ("body", "patterns", "source")

    def __init__(self, source: Node, patterns: list[Pattern], body: Node) -> None:
        self.source = source
        self.patterns = patterns
        self.body = body

    def children(self) -> tuple[Node, ...]:
        return self.source, self.body, *_pattern_nodes(self.patterns)


class Reduce(Node):
    """`reduce source as pattern (start; update)`"""

    __slots__ = ("patterns", "source", "start", "update")

    def __init__(self, source: Node, patterns: list[Pattern], start: Node, update: Node) -> None:
        self.source = source
        self.patterns = patterns
        self.start = start
        self.update = update

    def children(self) -> tuple[Node, ...]:
        return self.source, self.start, self.update, *_pattern_nodes(self.patterns)


class Foreach(Node):
    """`foreach source as pattern (start; update; extract)`"""

    __slots__ = ("extract", "patterns", "source", "start", "update")

    def __init__(
        self, source: Node, patterns: list[Pattern], start: Node, update: Node, extract: Node | None
    ) -> None:
        self.source = source
        self.patterns = patterns
        self.start = start
        self.update = update
        self.extract = extract

    def children(self) -> tuple[Node, ...]:
        inner = (self.source, self.start, self.update, *_pattern_nodes(self.patterns))
        return inner if self.extract is None else (*inner, self.extract)


class Parameter:
    """A parameter of a function: a closure, or a value for `$name`."""

    __slots__ = ("is_value", "name")

    def __init__(self, name: str, is_value: bool) -> None:
        self.name = name
        self.is_value = is_value


class Definition:
    """`def name(parameters): body;`"""

    __slots__ = ("body", "name", "parameters")

    def __init__(self, name: str, parameters: list[Parameter], body: Node) -> None:
        self.name = name
        self.parameters = parameters
        self.body = body


class Define(Node):
    """A definition and the expression that it is visible in."""

    __slots__ = ("definition", "rest")

    def __init__(self, definition: Definition, rest: Node) -> None:
        self.definition = definition
        self.rest = rest

    def children(self) -> tuple[Node, ...]:
        return self.definition.body, self.rest


class Call(Node):
    """`name(arguments; …)`"""

    __slots__ = ("arguments", "name", "position")

    def __init__(self, name: str, arguments: list[Node], position: int) -> None:
        self.name = name
        self.arguments = arguments
        self.position = position

    def children(self) -> tuple[Node, ...]:
        return tuple(self.arguments)


class Label(Node):
    """`label $name | body`"""

    __slots__ = ("body", "name")

    def __init__(self, name: str, body: Node) -> None:
        self.name = name
        self.body = body

    def children(self) -> tuple[Node, ...]:
        return (self.body,)


class Break(Node):
    """`break $name`"""

    __slots__ = ("name", "position")

    def __init__(self, name: str, position: int) -> None:
        self.name = name
        self.position = position


class Import:
    """`import "path" as name;`, `import "path" as $name;` (data) or `include "path";` (no name)."""

    __slots__ = ("is_data", "metadata", "name", "path", "position")

    def __init__(
        self, path: str, name: str | None, is_data: bool, metadata: Value, position: int
    ) -> None:
        self.path = path
        self.name = name
        self.is_data = is_data
        self.metadata = metadata
        self.position = position


class Program:
    """A whole file: what it imports, what it defines, and its main expression (None for a
    library).
    """

    __slots__ = ("definitions", "imports", "main", "metadata", "source")

    def __init__(
        self,
        source: str,
        metadata: Value,
        imports: list[Import],
        definitions: list[Definition],
        main: Node | None,
    ) -> None:
        self.source = source
        self.metadata = metadata
        self.imports = imports
        self.definitions = definitions
        self.main = main
