"""The documents of a YAML text, as trees of nodes."""

from __future__ import annotations

import re

from agentsandbox.commands.yq.nodes import ALIAS, FLOW, MAPPING, SCALAR, SEQUENCE, TAGGED, Node
from agentsandbox.commands.yq.scanner import Scanner, Token, YamlError
from agentsandbox.commands.yq.tags import resolve, short_tag

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from agentsandbox.kernel.budget import Budget

__all__ = ["YamlError", "read_documents"]

DEEPEST = 500
"""Levels of a document; yq's own reader takes ten thousand."""
_FORBIDDEN = re.compile(r"[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_DEFAULT_TAGS = {"!": "!", "!!": "tag:yaml.org,2002:"}
_NO_VALUE = frozenset(("?", ":", "block-end"))


def read_documents(text: str, budget: Budget) -> Iterator[Node]:
    """Each document in turn. Raises `YamlError`."""
    text = text.removeprefix("\ufeff")
    budget.charge(len(text))
    found = _FORBIDDEN.search(text)
    if found is not None:
        raise YamlError(
            "invalid leading UTF-8 octet"
            if "\udc80" <= found[0] <= "\udcff"
            else "control characters are not allowed"
        )
    return _Reader(Scanner(text, budget)).documents()


def _empty() -> Node:
    return Node(SCALAR, "!!null")


class _Reader:
    """Follows the grammar; comments that are not yet given to a node wait here."""

    def __init__(self, scanner: Scanner) -> None:
        self.scanner = scanner
        self.seen = 0
        self.head = self.line_comment = self.foot = self.stem = ""
        self.tags = dict(_DEFAULT_TAGS)
        self.anchors: dict[str, Node] = {}
        self.depth = 0

    # tokens and comments

    def peek(self) -> Token:
        """The next token; the comments before it are now waiting for a node."""
        scanner = self.scanner
        scanner.fill()
        token = scanner.tokens[scanner.head]
        comments = scanner.comments
        if self.seen < len(comments):
            self._unfold(token)
        return token

    def _unfold(self, token: Token) -> None:
        comments = self.scanner.comments
        while self.seen < len(comments):
            comment = comments[self.seen]
            assert comment is not None
            if token.at < comment.token:
                return
            if comment.head:
                if token.kind == "block-end":
                    return
                self.head = f"{self.head}\n{comment.head}" if self.head else comment.head
            if comment.foot:
                self.foot = f"{self.foot}\n{comment.foot}" if self.foot else comment.foot
            if comment.line_comment:
                self.line_comment = (
                    f"{self.line_comment}\n{comment.line_comment}"
                    if self.line_comment
                    else comment.line_comment
                )
            comments[self.seen] = None
            self.seen += 1

    def _give(self, node: Node) -> None:
        """The waiting comments are this node's."""
        node.head, node.line_comment, node.foot = self.head, self.line_comment, self.foot
        self.head = self.line_comment = self.foot = self.stem = ""

    def _error(self, problem: str, context: int, token: Token) -> YamlError:
        line = context or token.line
        return YamlError(f"line {line}: {problem}" if line else problem)

    # documents

    def documents(self) -> Iterator[Node]:
        scanner = self.scanner
        self.peek()
        scanner.take()
        first = True
        while True:
            token = self.peek()
            while not first and token.kind == "document-end":
                scanner.take()
                token = self.peek()
            if token.kind == "end":
                return
            if first and token.kind not in ("version", "tag-directive", "document"):
                head = self._split_head()
                node = self._node(block=True, indentless=False)
            else:
                head = ""
                node = self._explicit()
            if self.peek().kind == "document-end":
                scanner.take()
            self.tags = dict(_DEFAULT_TAGS)
            end = Node(SCALAR)
            self._give(end)
            node.head = head + node.head
            node.foot = (end.foot or end.head) + node.foot
            yield node
            first = False

    def _split_head(self) -> str:
        """The part of the first comments that an empty line divides from the document's own."""
        head = self.head
        for at in range(len(head) - 1, 0, -1):
            if head[at] != "\n":
                continue
            if at == len(head) - 1:
                self.head = ""
                return head[:at]
            if head[at - 1] == "\n":
                self.head = head[at + 1 :]
                return head[: at - 1]
        return ""

    def _explicit(self) -> Node:
        token = self.peek()
        version = False
        while token.kind in ("version", "tag-directive"):
            if token.kind == "version":
                if version:
                    raise self._error("found duplicate %YAML directive", 0, token)
                if token.value != "1.1":
                    raise self._error("found incompatible YAML document", 0, token)
                version = True
            else:
                handle, _, prefix = token.value.partition("\0")
                self.tags[handle] = prefix
            self.scanner.take()
            token = self.peek()
        if token.kind != "document":
            raise self._error("did not find expected <document start>", 0, token)
        self.scanner.take()
        token = self.peek()
        if token.kind in ("version", "tag-directive", "document", "document-end", "end"):
            return _empty()
        return self._node(block=True, indentless=False)

    # nodes

    def _made(self, kind: str, tag: str, default: str, value: str, style: int) -> Node:
        if tag and tag != "!":
            tag = short_tag(tag)
            style |= TAGGED
        else:
            tag = default
        return Node(kind, tag, value, style)

    def _tag(self, token: Token, line: int) -> str:
        handle, _, suffix = token.value.partition("\0")
        if not handle:
            return suffix
        if handle not in self.tags:
            raise self._error("found undefined tag handle", line, token)
        return self.tags[handle] + suffix

    def _node(self, *, block: bool, indentless: bool) -> Node:
        scanner = self.scanner
        token = self.peek()
        line = token.line
        if token.kind == "alias":
            return self._alias(token)
        anchor = tag = ""
        if token.kind == "anchor" or token.kind == "tag":
            for _ in range(2):
                if token.kind == "anchor" and not anchor:
                    anchor = token.value
                elif token.kind == "tag" and not tag:
                    tag = self._tag(token, line)
                else:
                    break
                scanner.take()
                token = self.peek()
        kind = token.kind
        if kind == "scalar":
            node = self._scalar(token, tag)
        elif kind == "[" or kind == "{":
            node = self._made(
                *((SEQUENCE, tag, "!!seq") if kind == "[" else (MAPPING, tag, "!!map")), "", FLOW
            )
            self._give(node)
        elif (kind == "-" and indentless) or (
            block and kind in ("block-sequence", "block-mapping")
        ):
            node = self._made(
                *((MAPPING, tag, "!!map") if kind == "block-mapping" else (SEQUENCE, tag, "!!seq")),
                "",
                0,
            )
            if kind != "-":
                node.head, self.stem = self.stem, ""
        elif anchor or tag:
            node = self._made(SCALAR, tag, "!!null", "", 0)
        else:
            raise self._error("did not find expected node content", line, token)
        if anchor:
            node.anchor = anchor
            self.anchors[anchor] = node
        if node.kind != SCALAR:
            self.depth += 1
            if self.depth > DEEPEST:
                raise YamlError(f"nested too deeply (D-yq): more than {DEEPEST} levels")
            _COLLECTIONS[kind](self, node, token)
            self.depth -= 1
        return node

    def _alias(self, token: Token) -> Node:
        node = Node(ALIAS, "", token.value)
        self._give(node)
        self.scanner.take()
        node.alias = self.anchors.get(token.value)
        if node.alias is None:
            raise YamlError(f"unknown anchor '{token.value}' referenced")
        return node

    def _scalar(self, token: Token, tag: str) -> Node:
        value, style = token.value, token.style
        if style:
            default = "!!str"
        else:
            default = "!!merge" if value == "<<" else resolve(value)
        node = self._made(SCALAR, tag, default, value, style)
        self._give(node)
        self.scanner.take()
        return node

    # block collections

    def _block_sequence(self, node: Node, start: Token) -> None:
        scanner = self.scanner
        scanner.take()
        while True:
            token = self.peek()
            if token.kind == "-":
                self._entry(node, token, ("-", "block-end"))
            elif token.kind == "block-end":
                scanner.take()
                return
            else:
                raise self._error("did not find expected '-' indicator", start.line, token)

    def _indentless_sequence(self, node: Node, start: Token) -> None:
        while True:
            token = self.peek()
            if token.kind != "-":
                return
            self._entry(node, token, ("-", "?", ":", "block-end"))

    def _entry(self, node: Node, token: Token, empty: tuple[str, ...]) -> None:
        before = len(self.head)
        self.scanner.take()
        following = self.peek()
        if before and following.kind in ("block-sequence", "block-mapping"):
            self.stem = self.head[:before]
            self.head = self.head[before + 1 :]
        if following.kind in empty:
            node.adopt(_empty())
        else:
            node.adopt(self._node(block=True, indentless=False))

    def _block_mapping(self, node: Node, start: Token) -> None:
        scanner = self.scanner
        scanner.take()
        while True:
            token = self.peek()
            if token.kind == "block-end":
                break
            if token.kind != "?":
                raise self._error("did not find expected key", start.line, token)
            scanner.take()
            if self.peek().kind in _NO_VALUE:
                key = _empty()
            else:
                key = self._node(block=True, indentless=True)
            if key.foot and node.content:
                node.content[-2].foot = key.foot  # it stands dedented below the entry before
                key.foot = ""
            value = self._block_value()
            if not key.foot and value.foot:
                key.foot, value.foot = value.foot, ""
            node.adopt_pair(key, value)
        end = Node(SCALAR)
        self._give(end)
        scanner.take()
        node.line_comment = end.line_comment
        if end.foot and node.content:
            node.content[-2].foot = end.foot
        else:
            node.foot = end.foot

    def _block_value(self) -> Node:
        token = self.peek()
        if token.kind != ":":
            return _empty()
        self.scanner.take()
        if self.peek().kind in _NO_VALUE:
            return _empty()
        return self._node(block=True, indentless=True)

    # flow collections

    def _flow_sequence(self, node: Node, start: Token) -> None:
        scanner = self.scanner
        scanner.take()
        first = True
        while True:
            token = self.peek()
            if token.kind == "]":
                break
            if not first:
                if token.kind != ",":
                    raise self._error("did not find expected ',' or ']'", start.line, token)
                scanner.take()
                token = self.peek()
            first = False
            if token.kind == "?":
                node.adopt(self._single_pair(token))
            elif token.kind != "]":
                node.adopt(self._node(block=False, indentless=False))
            else:
                break
        self._close(node)

    def _close(self, node: Node) -> None:
        end = Node(SCALAR)
        self._give(end)
        node.line_comment, node.foot = end.line_comment, end.foot
        self.scanner.take()

    def _single_pair(self, token: Token) -> Node:
        """`key: value` as an element of a sequence."""
        node = self._made(MAPPING, "", "!!map", "", FLOW)
        self.scanner.take()
        token = self.peek()
        if token.kind in (":", ",", "]"):
            key = _empty()
            self.scanner.take()
        else:
            key = self._node(block=False, indentless=False)
        value = self._flow_value(("]", ","))
        if not key.foot and value.foot:
            key.foot, value.foot = value.foot, ""
        node.adopt_pair(key, value)
        return node

    def _flow_value(self, empty: tuple[str, ...]) -> Node:
        token = self.peek()
        if token.kind == ":":
            self.scanner.take()
            token = self.peek()
            if token.kind not in empty:
                return self._node(block=False, indentless=False)
        return _empty()

    def _flow_mapping(self, node: Node, start: Token) -> None:
        scanner = self.scanner
        scanner.take()
        first = True
        while True:
            token = self.peek()
            if token.kind == "}":
                break
            if not first:
                if token.kind != ",":
                    raise self._error("did not find expected ',' or '}'", start.line, token)
                scanner.take()
                token = self.peek()
            first = False
            if token.kind == "}":
                break
            bare = token.kind != "?"
            if not bare:
                scanner.take()
                token = self.peek()
            if token.kind in (":", ",", "}") and not bare:
                key = _empty()
            else:
                key = self._node(block=False, indentless=False)
            if bare:
                self.peek()  # comments before the next token belong to the key
                value = _empty()
            else:
                value = self._flow_value((",", "}"))
            if not key.foot and value.foot:
                key.foot, value.foot = value.foot, ""
            node.adopt_pair(key, value)
        self._close(node)


_COLLECTIONS = {
    "block-sequence": _Reader._block_sequence,
    "block-mapping": _Reader._block_mapping,
    "-": _Reader._indentless_sequence,
    "[": _Reader._flow_sequence,
    "{": _Reader._flow_mapping,
}
