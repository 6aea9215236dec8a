"""The nodes of a document: besides its value each knows its style, tag, anchor, comments and place.

Expressions change nodes in place and the writer prints what they carry, so whatever an expression
does not touch stays as it was written. Measured against values (dicts and lists) beside an edited
source: reading costs a quarter more, but one tree answers `style`, `anchor`, `lineComment`, `line`
and `key` alike, and no edit has to be refused.
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

_MOST_NODES = 1_000_000
"""Nodes that one call may make by copying: what aliases and merges could multiply."""


class Meter:
    """Counts the nodes that are copied, so that aliases of aliases cannot fill the memory."""

    __slots__ = ("budget", "left")

    def __init__(self, budget: Budget) -> None:
        self.budget = budget
        self.left = _MOST_NODES

    def copied(self) -> None:
        """One more node is made of another. Raises `LimitReached`."""
        self.left -= 1
        if self.left < 0:
            raise LimitReached("value_bytes")
        self.budget.step()


_new = object.__new__


class Node:
    """A mapping (`content` are keys and values by turns), a sequence, a scalar or an alias of
    another node.
    """

    __slots__ = (
        "alias", "anchor", "content", "document", "file_index", "filename", "foot", "head", "is_key", "key", "kind",
        "leading", "line_comment", "parent", "style", "tag", "together", "value",
    )  # fmt: skip

    def __init__(self, kind: str, tag: str = "", value: str = "", style: int = 0) -> None:
        self.kind = kind
        self.tag = tag
        self.value = value
        self.style = style
        self.anchor = ""
        self.alias: Node | None = None
        self.content: list[Node] = []
        self.head = ""
        self.line_comment = ""
        self.foot = ""
        self.leading = ""
        """The comments and separators before the document, as they were written."""
        self.parent: Node | None = None
        self.key: Node | int | None = None
        """The node of a mapping's key, or the index in a sequence, under which this node is
        found."""
        self.is_key = False
        self.document = 0
        self.filename = ""
        self.file_index = 0
        self.together = False
        """All documents are taken together by operators of two sides (`eval-all`)."""

    # where it is

    def root(self) -> Node:
        """The outermost node, which knows its document and file."""
        node = self
        while node.parent is not None:
            node = node.parent
        return node

    def path(self) -> list[str | int]:
        """The keys and indices that lead here."""
        parts: list[str | int] = []
        node: Node | None = self
        while node is not None:
            part = node.own_key()
            if part is None:
                break
            parts.append(part)
            node = node.parent
        parts.reverse()
        return parts

    def own_key(self) -> str | int | None:
        """The last step of the path: of a key, the key itself."""
        if self.is_key:
            return self.value
        key = self.key
        if key is None or isinstance(key, int):
            return key
        if key.tag == "!!int" and key.value.lstrip("-").isdecimal() and len(key.value) < 19:
            return int(key.value)
        return key.value

    def nice_path(self) -> str:
        """The path as error messages show it."""
        text = ""
        for at, part in enumerate(self.path()):
            if isinstance(part, int) or (at and "." in part):
                text += f"[{part}]"
            else:
                text += f".{part}" if at else part
        return text

    # copies

    def bare_copy(self) -> Node:
        """The node without what it holds."""
        copy: Node = _new(Node)
        copy.kind = self.kind
        copy.tag = self.tag
        copy.value = self.value
        copy.style = self.style
        copy.content = []
        copy.anchor = self.anchor
        copy.alias = self.alias
        copy.head = self.head
        copy.line_comment = self.line_comment
        copy.foot = self.foot
        copy.leading = self.leading
        copy.parent = self.parent
        copy.key = self.key
        copy.is_key = self.is_key
        copy.document = self.document
        copy.filename = self.filename
        copy.file_index = self.file_index
        copy.together = self.together
        return copy

    def copy(self, meter: Meter) -> Node:
        """The node and all it holds."""
        meter.copied()
        copy = self.bare_copy()
        if self.content:
            copy.add_all(self.content, meter)
        return copy

    def key_node(self) -> Node | None:
        """The key as a node: that of the mapping itself, or a new one of an index."""
        if not isinstance(self.key, int):
            return self.key
        node = Node(SCALAR, "!!int", str(self.key))
        node.parent = self.parent
        return node

    def replaced(self, other: Node) -> Node:
        """`other`, in the place of this node; without a parent it is of no document, so none is
        marked off from the next.
        """
        other.parent = self.parent
        other.key = self if self.is_key else self.key
        return other

    def scalar(self, tag: str, value: str) -> Node:
        """A new scalar in the place of this node."""
        return self.replaced(Node(SCALAR, tag, value))

    # contents

    def pairs(self) -> Iterator[tuple[Node, Node]]:
        """The entries of a mapping."""
        content = self.content
        return zip(content[::2], content[1::2], strict=True)

    def values(self) -> list[Node]:
        """What a mapping or a sequence holds, without keys."""
        return (
            self.content[1::2]
            if self.kind == MAPPING
            else self.content
            if self.kind == SEQUENCE
            else []
        )

    def adopt_pair(self, key: Node, value: Node) -> None:
        """Append an entry, as it is."""
        key.parent = value.parent = self
        key.is_key = True
        value.is_key = False
        value.key = key
        self.content += (key, value)

    def adopt(self, value: Node) -> None:
        """Append an element, as it is."""
        value.parent = self
        value.is_key = False
        value.key = len(self.content)
        self.content.append(value)

    def add_pair(self, key: Node, value: Node, meter: Meter) -> None:
        """Append a copy of an entry."""
        self.adopt_pair(key.copy(meter), value.copy(meter))

    def add_all(self, nodes: list[Node], meter: Meter) -> None:
        """Append copies of what another node of this kind holds."""
        if self.kind == MAPPING:
            for key, value in zip(nodes[::2], nodes[1::2], strict=True):
                self.adopt_pair(key.copy(meter), value.copy(meter))
        else:
            for node in nodes:
                self.adopt(node.copy(meter))

    def keep(self, nodes: list[Node]) -> None:
        """Hold these nodes, in this order, with their new places."""
        self.content = []
        if self.kind == MAPPING:
            for key, value in zip(nodes[::2], nodes[1::2], strict=True):
                self.adopt_pair(key, value)
        else:
            for node in nodes:
                self.adopt(node)


def string(value: str) -> Node:
    """A string."""
    return Node(SCALAR, "!!str", value)


def null() -> Node:
    """A null."""
    return Node(SCALAR, "!!null", "null")


def boolean(value: bool) -> Node:
    """A boolean."""
    return Node(SCALAR, "!!bool", "true" if value else "false")


def sequence() -> Node:
    """An empty sequence."""
    return Node(SEQUENCE, "!!seq")


def mapping() -> Node:
    """An empty mapping."""
    return Node(MAPPING, "!!map")
