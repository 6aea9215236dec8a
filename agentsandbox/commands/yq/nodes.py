"""The nodes of a YAML document: values that know their style, tag, anchor, comments and place.

Expressions change nodes in place and the writer prints what they carry, so whatever an expression
does not touch keeps its form. One tree answers values, paths and comments alike.
"""

from __future__ import annotations

from agentsandbox.errors import LimitReached

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from agentsandbox.kernel.budget import Budget

SCALAR, MAPPING, SEQUENCE, ALIAS = "scalar", "map", "seq", "alias"
TAGGED, DOUBLE, SINGLE, LITERAL, FOLDED, FLOW = 1, 2, 4, 8, 16, 32
QUOTED = DOUBLE | SINGLE | LITERAL | FOLDED
DEEPEST = 500
"""The deepest nesting of a document; yq's own reader takes ten thousand levels."""
_MOST_NODES = 1_000_000
"""The number of nodes that one call may copy; aliases and merges can multiply them."""


class YamlError(Exception):
    """A text is not YAML, or a node cannot be written as YAML."""


class YqError(Exception):
    """An expression, an option or a file is refused; the message follows `Error: `."""


class Meter:
    """Counts copied nodes, so that aliases of aliases cannot fill the memory."""

    __slots__ = ("budget", "left")

    def __init__(self, budget: Budget) -> None:
        self.budget = budget
        self.left = _MOST_NODES

    def copied(self) -> None:
        """Count one copied node. Raises `LimitReached`."""
        self.left -= 1
        if self.left < 0:
            raise LimitReached("value_bytes")
        self.budget.step()


class Node:
    """A mapping, a sequence, a scalar, or an alias of another node.

    content       the elements of a sequence; the keys and values of a mapping, alternating
    leading       comments and separators before the first document, as they were written
    key           the key's node in a mapping, or the index in a sequence
    joined        binary operators take all documents at once (`eval-all`)
    """

    __slots__ = (
        "alias", "anchor", "content", "document", "file_index", "filename", "foot", "head",
        "is_key", "joined", "key", "kind", "leading", "line_comment", "parent", "style", "tag",
        "value",
    )  # fmt: skip

    def __init__(self, kind: str, tag: str = "", value: str = "", style: int = 0) -> None:
        self.kind = kind
        self.tag = tag
        self.value = value
        self.style = style
        self.anchor = ""
        self.alias: Node | None = None
        self.content: list[Node] = []
        self.head = self.line_comment = self.foot = self.leading = ""
        self.parent: Node | None = None
        self.key: Node | int | None = None
        self.is_key = False
        self.document = 0
        self.filename = ""
        self.file_index = 0
        self.joined = False

    # place

    def root(self) -> Node:
        """Return the outermost node, which knows its document and file."""
        node = self
        while node.parent is not None:
            node = node.parent
        return node

    def path(self) -> list[str | int]:
        """Return the keys and indices that lead to this node."""
        parts: list[str | int] = []
        node: Node | None = self
        while node is not None:
            part = node._step()
            if part is None:
                break
            parts.append(part)
            node = node.parent
        parts.reverse()
        return parts

    def _step(self) -> str | int | None:
        """Return the last step of the path; for a key, the key itself."""
        if self.is_key:
            return self.value
        key = self.key
        if key is None or isinstance(key, int):
            return key
        if key.tag == "!!int" and key.value.lstrip("-").isdecimal() and len(key.value) < 19:
            return int(key.value)
        return key.value

    def displayed_path(self) -> str:
        """Return the path in the form of yq's error messages."""
        text = ""
        for position, part in enumerate(self.path()):
            if isinstance(part, int) or (position and "." in part):
                text += f"[{part}]"
            else:
                text += f".{part}" if position else part
        return text

    def key_node(self) -> Node | None:
        """Return the key as a node: the mapping's own, or a new one for an index."""
        if not isinstance(self.key, int):
            return self.key
        node = Node(SCALAR, "!!int", str(self.key))
        node.parent = self.parent
        return node

    # copies

    def bare_copy(self) -> Node:
        """Return a copy without contents."""
        copy = Node(self.kind, self.tag, self.value, self.style)
        copy.anchor, copy.alias = self.anchor, self.alias
        copy.head, copy.line_comment, copy.foot = self.head, self.line_comment, self.foot
        copy.leading, copy.document, copy.joined = self.leading, self.document, self.joined
        copy.filename, copy.file_index = self.filename, self.file_index
        copy.parent, copy.key, copy.is_key = self.parent, self.key, self.is_key
        return copy

    def copy(self, meter: Meter) -> Node:
        """Return a copy with copies of all contents."""
        meter.copied()
        copy = self.bare_copy()
        copy.extend(self.content, meter)
        return copy

    def replaced(self, other: Node) -> Node:
        """Return `other` in the place of this node."""
        other.parent = self.parent
        other.key = self if self.is_key else self.key
        return other

    def replaced_collection(self, other: Node) -> Node:
        """Return `other` in the place of this node, with its comments."""
        other.leading, other.head = self.leading, self.head
        other.line_comment, other.foot = self.line_comment, self.foot
        return self.replaced(other)

    def scalar(self, tag: str, value: str) -> Node:
        """Return a new scalar in the place of this node."""
        return self.replaced(Node(SCALAR, tag, value))

    # contents

    def pairs(self) -> Iterator[tuple[Node, Node]]:
        """Yield the key and the value of each entry of a mapping."""
        content = self.content
        return zip(content[::2], content[1::2], strict=True)

    def values(self) -> list[Node]:
        """Return the values of a mapping or the elements of a sequence."""
        return self.content[1::2] if self.kind == MAPPING else list(self.content)

    def add_entry(self, key: Node, value: Node) -> None:
        """Append an entry to a mapping."""
        key.parent = value.parent = self
        key.is_key = True
        value.is_key = False
        value.key = key
        self.content += (key, value)

    def add(self, value: Node) -> None:
        """Append an element to a sequence."""
        value.parent = self
        value.is_key = False
        value.key = len(self.content)
        self.content.append(value)

    def extend(self, nodes: list[Node], meter: Meter) -> None:
        """Append copies of the contents of another node of this kind."""
        if self.kind == MAPPING:
            for key, value in zip(nodes[::2], nodes[1::2], strict=True):
                self.add_entry(key.copy(meter), value.copy(meter))
        else:
            for node in nodes:
                self.add(node.copy(meter))

    def hold(self, nodes: list[Node]) -> None:
        """Replace the contents by these nodes."""
        self.content = []
        if self.kind == MAPPING:
            for key, value in zip(nodes[::2], nodes[1::2], strict=True):
                self.add_entry(key, value)
        else:
            for node in nodes:
                self.add(node)


def string(value: str) -> Node:
    """Return a string."""
    return Node(SCALAR, "!!str", value)


def null() -> Node:
    """Return a null."""
    return Node(SCALAR, "!!null", "null")


def boolean(value: bool) -> Node:
    """Return a boolean."""
    return Node(SCALAR, "!!bool", "true" if value else "false")


def integer(value: int) -> Node:
    """Return an integer."""
    return Node(SCALAR, "!!int", str(value))


def sequence() -> Node:
    """Return an empty sequence."""
    return Node(SEQUENCE, "!!seq")


def mapping() -> Node:
    """Return an empty mapping."""
    return Node(MAPPING, "!!map")
