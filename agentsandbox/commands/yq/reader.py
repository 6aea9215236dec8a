"""YAML texts as trees of nodes, with their comments.

PyYAML reads the text. Its scanner drops comments, so `_Source` records them, each with its place.
Its composer recurses and forgets styles, so `_Composer` builds the nodes from PyYAML's events, on a
stack of its own.

Comments are attached as yq's own reader (Go's yaml.v3) does it, because that decides where they are
printed when the document changes:

* a comment after something on its line is the line comment of that node (of the key, where the
  value is a block below it);
* comment lines above an entry are the head comment of its key or element;
* comment lines below the last entry of a block, indented like it, are the foot comment of that
  entry; so are lines directly below any entry that an empty line parts from the next one.

Comments stand in the order of the text. Before each node and each end of a block, the composer
takes those that begin before it; those it cannot place wait for the next node.
"""

from __future__ import annotations

import re
from itertools import takewhile

from yaml import (
    AliasEvent,
    DocumentEndEvent,
    DocumentStartEvent,
    MappingStartEvent,
    MarkedYAMLError,
    NodeEvent,
    ScalarEvent,
    ScalarToken,
    SequenceStartEvent,
    StreamEndEvent,
    parser,
    reader,
    scanner,
)
from yaml import YAMLError as LibraryError

from agentsandbox.commands.yq.nodes import (
    ALIAS,
    DEEPEST,
    DOUBLE,
    FLOW,
    FOLDED,
    LITERAL,
    MAPPING,
    SCALAR,
    SEQUENCE,
    SINGLE,
    TAGGED,
    Node,
    YamlError,
)
from agentsandbox.commands.yq.scalars import resolve, short_tag

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import TypeAlias

    from yaml import Event, _yaml, error

    from agentsandbox.kernel.budget import Budget

    Mark: TypeAlias = error.Mark | _yaml.Mark

SEPARATOR = "$yqDocSeparator$"
"""Stands for `---` in `Node.leading`."""
_FORBIDDEN = re.compile(r"[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_BREAK = re.compile(r"[\r\n\x85\u2028\u2029\ufeff]")
_SPACES = re.compile(r" *")
_BLANKS = re.compile(r"[ \t]*")
_LINE = re.compile(r"[^\r\n\x85\u2028\u2029\0]*")
_NAME = re.compile(r"[^ \t\r\n]*")
_LONGEST_NAME = 65_536
_LEADING = re.compile(r"\n|--- |---\n|[ \t]*(?:#|%YAML)[^\n]*\n?")
_END = r"\0 \t\r\n\x85\u2028\u2029"
_CHARACTER = rf"(?:[^{_END}:]|:(?![{_END}]))"
_LONGEST_PASS = 1 << 19
"""Characters of a line of a scalar, or of a comment."""
_PLAIN = re.compile(rf"{_CHARACTER}++(?:[ ]++(?!#){_CHARACTER}++)*+")
_PLAIN_IN_FLOW = re.compile(rf"(?:[^{_END}:,?\[\]{{}}]|:(?![{_END},\[\]{{}}]))++")
_STYLES = {"'": SINGLE, '"': DOUBLE, "|": LITERAL, ">": FOLDED}
_MESSAGES = (
    ("expected <block end>", "did not find expected key"),
    ("expected '<document start>'", "did not find expected <document start>"),
    ("expected the node content", "did not find expected node content"),
    ("expected ',' or ']'", "did not find expected ',' or ']'"),
    ("expected ',' or '}'", "did not find expected ',' or '}'"),
    ("mapping values are not allowed", "mapping values are not allowed in this context"),
    ("found character", "found character that cannot start any token"),
)
"""How PyYAML's messages begin, and what yq says."""


def read_yaml(text: str, budget: Budget, *, keep_leading: bool = True) -> Iterator[Node]:
    """Yield each document. Raises `YamlError`.

    `keep_leading` keeps what precedes the first document in its `leading`. A text of comments alone
    is a null.
    """
    leading, rest = _split_leading(text) if keep_leading else ("", text)
    count = 0
    for node in _read_documents(rest, budget):
        node.document = count
        if count == 0:
            node.leading = leading
        count += 1
        yield node
    if count == 0 and (leading or (text and not keep_leading)):
        node = Node(SCALAR, "!!null")
        node.leading = leading or text
        yield node


def _split_leading(text: str) -> tuple[str, str]:
    parts: list[str] = []
    position = 0
    while found := _LEADING.match(text, position):
        separates = found[0].startswith("---")
        parts.append(SEPARATOR + "\n" if separates else found[0])
        position = found.end()
    return "".join(parts), text[position:]


def _read_documents(text: str, budget: Budget) -> Iterator[Node]:
    text = text.removeprefix("\ufeff")
    budget.charge(len(text))
    found = next(filter(None, map(_FORBIDDEN.search, budget.pieces(text))), None)
    if found is not None:
        raise YamlError(
            "invalid leading UTF-8 octet"
            if "\udc80" <= found[0] <= "\udcff"
            else "control characters are not allowed"
        )
    try:
        yield from _Composer(_Source(text, budget)).documents()
    except MarkedYAMLError as error:
        raise YamlError(_message(error)) from None
    except (LibraryError, ValueError) as error:
        raise YamlError(str(error)) from None


def _message(error: MarkedYAMLError) -> str:
    """Return an error of PyYAML in yq's words; lines count from 0 and the first goes unnamed."""
    problem, context = error.problem or "", error.context or ""
    for beginning, message in _MESSAGES:
        if problem.startswith(beginning):
            problem = message
            break
    if context == "while parsing a block collection":
        problem = "did not find expected '-' indicator"
    mark = error.problem_mark
    if isinstance(error, parser.ParserError) or context == "while scanning a simple key":
        mark = error.context_mark or mark
        if not (mark and mark.line):
            mark = error.problem_mark
    line = mark.line if mark else 0
    if line and not isinstance(error, parser.ParserError):
        line += 1
    return f"line {line}: {problem}" if line else problem


class _Comment:
    """A comment: its place, its text, and whether it is alone on its line."""

    __slots__ = ("alone", "column", "index", "line", "text")

    def __init__(self, source: _Source, text: str) -> None:
        self.index, self.line, self.column = source.index, source.line, source.column
        self.text = text
        before = source.buffer[source.pointer - source.column : source.pointer]
        self.alone = not before.strip(" \t")


class _Source(reader.Reader, scanner.Scanner, parser.Parser):
    """PyYAML's reader, scanner and parser, which draw on the budget and record comments."""

    def __init__(self, text: str, budget: Budget) -> None:
        reader.Reader.__init__(self, text)
        scanner.Scanner.__init__(self)
        parser.Parser.__init__(self)
        self.buffer += "\0\0\0"  # the scanner looks up to three characters ahead
        self.budget = budget
        self.comments: list[_Comment] = []

    def check_printable(self, data: str) -> None:
        """Do nothing: `_read_documents` has looked for characters that are not allowed."""

    def fetch_more_tokens(self) -> None:
        self.budget.step()
        super().fetch_more_tokens()

    def forward(self, length: int = 1) -> None:
        self.budget.step(1 + (length >> 6))
        end = self.pointer + length
        if length < 8 or _BREAK.search(self.buffer, self.pointer, end):
            super().forward(length)
            return
        self.pointer = end
        self.index += length
        self.column += length

    def scan_to_next_token(self) -> None:
        while True:
            blanks = _BLANKS if self.flow_level or not self.allow_simple_key else _SPACES
            self._pass(blanks)
            self._record_comment()
            if not self.scan_line_break():  # type: ignore[no-untyped-call]
                self._refuse_long_name()
                return
            self.budget.step()
            if not self.flow_level:
                self.allow_simple_key = True

    def _refuse_long_name(self) -> None:
        """Refuse a tag, an anchor or a directive that takes PyYAML seconds without a checkpoint."""
        if self.peek() in "!&*%":
            found = _NAME.match(self.buffer, self.pointer)
            if found is not None and found.end() - found.start() > _LONGEST_NAME:
                raise YamlError("a name is too long (D-yq)")

    def scan_plain(self) -> ScalarToken:
        """Scan a plain scalar: PyYAML's rules, with a pattern instead of a loop over characters."""
        start = end = self.get_mark()
        pattern = _PLAIN_IN_FLOW if self.flow_level else _PLAIN
        indent = self.indent + 1
        parts: list[str] = []
        spaces: list[str] | None = []
        while self.peek() != "#" and (text := self._pass(pattern)):
            self.allow_simple_key = False
            parts += [*(spaces or ()), text]
            end = self.get_mark()
            spaces = self.scan_plain_spaces(indent, start)
            if not spaces or (not self.flow_level and self.column < indent):
                break
        return ScalarToken("".join(parts), True, start, end)

    def scan_block_scalar_ignored_line(self, start_mark: object) -> None:
        self._pass(_BLANKS)
        self._record_comment()
        super().scan_block_scalar_ignored_line(start_mark)

    def _pass(self, pattern: re.Pattern[str]) -> str:
        """Move past what the pattern matches here, and return it."""
        found = pattern.match(self.buffer, self.pointer, self.pointer + _LONGEST_PASS + 1)
        text = found[0] if found else ""
        if len(text) > _LONGEST_PASS:
            raise YamlError("a scalar is too long (D-yq)")
        if text:
            self.forward(len(text))
        return text

    def _record_comment(self) -> None:
        if self.peek() == "#":
            comment = _Comment(self, "")
            comment.text = self._pass(_LINE)
            self.comments.append(comment)


class _Composer:
    """Builds nodes from events.

    open       the collections being read
    columns    the column of each
    pending    the key of each open mapping that waits for its value
    last       the node that ended most recently, and the line where it ended
    """

    def __init__(self, source: _Source) -> None:
        self.source = source
        self.open: list[Node] = []
        self.columns: list[int] = []
        self.pending: list[Node | None] = []
        self.anchors: dict[str, Node] = {}
        self.taken = 0
        self.last: Node | None = None
        self.last_line = -1
        self.result: Node | None = None

    def documents(self) -> Iterator[Node]:
        """Yield each document."""
        while True:
            event: Event = self.source.get_event()  # type: ignore[no-untyped-call]
            start, end = event.start_mark, event.end_mark
            assert start is not None and end is not None
            if isinstance(event, StreamEndEvent):
                return
            if isinstance(event, DocumentStartEvent):
                self.last, self.last_line = None, -1
            elif isinstance(event, DocumentEndEvent):
                node = self.result or Node(SCALAR, "!!null")
                self._take_line_comments(start.index)
                node.foot = _text_of(self._take(start.index)) or node.foot
                yield node
            elif isinstance(event, NodeEvent):
                self._begin(event, start, end)
            elif self.open:
                self._end(start, end)

    # nodes

    def _begin(self, event: NodeEvent, start: Mark, end: Mark) -> None:
        node = self._node(event)
        is_block = node.kind in (MAPPING, SEQUENCE) and not node.style & FLOW
        self._take_line_comments(start.index)
        parent = self.open[-1] if self.open else None
        is_value = bool(self.pending) and self.pending[-1] is not None
        if not is_block or (parent is not None and parent.kind == SEQUENCE):
            self._take_head(node, start.index, start.line, is_value=is_value)
        self._place(node, parent)
        if event.anchor and node.kind != ALIAS:
            node.anchor = event.anchor
            self.anchors[event.anchor] = node
        if node.kind in (MAPPING, SEQUENCE):
            if len(self.open) >= DEEPEST:
                raise YamlError(f"nested too deeply (D-yq): more than {DEEPEST} levels")
            self.open.append(node)
            # the event ends where the block begins, or after the first "-" in its parent's column
            is_indentless = node.kind == SEQUENCE and self.source.buffer[end.index] != "-"
            self.columns.append(end.column - is_indentless)
            self.pending.append(None)
            return
        if isinstance(event, ScalarEvent) and event.style in ("|", ">"):
            node.line_comment = _text_of(self._take(end.index))
        self._ended(node, start, end)

    def _node(self, event: NodeEvent) -> Node:
        if isinstance(event, AliasEvent):
            node = Node(ALIAS, "", event.anchor or "")
            node.alias = self.anchors.get(node.value)
            if node.alias is None:
                raise YamlError(f"unknown anchor '{event.anchor}' referenced")
            return node
        if isinstance(event, ScalarEvent):
            style = _STYLES.get(event.style or "", 0)
            default = "!!str"
            if not style:
                default = "!!merge" if event.value == "<<" else resolve(event.value)
            node = Node(SCALAR, default, event.value, style)
        elif isinstance(event, MappingStartEvent):
            node = Node(MAPPING, "!!map", "", FLOW if event.flow_style else 0)
        else:
            assert isinstance(event, SequenceStartEvent)
            node = Node(SEQUENCE, "!!seq", "", FLOW if event.flow_style else 0)
        if event.tag and event.tag != "!":
            node.tag = short_tag(event.tag)
            node.style |= TAGGED
        return node

    def _place(self, node: Node, parent: Node | None) -> None:
        if parent is None:
            self.result = node
        elif parent.kind == SEQUENCE:
            parent.add(node)
        elif self.pending[-1] is None:
            self.pending[-1] = node
        else:
            parent.add_entry(self.pending[-1], node)
            self.pending[-1] = None

    def _ended(self, node: Node, start: Mark, end: Mark) -> None:
        self.last = node
        is_below = end.column == 0 and end.line > start.line
        self.last_line = end.line - 1 if is_below else end.line

    def _end(self, start: Mark, end: Mark) -> None:
        """Close the innermost collection; comments in its column belong to its last entry."""
        self._take_line_comments(start.index)
        node, column = self.open.pop(), self.columns.pop()
        self.pending.pop()
        if node.style & FLOW:
            node.foot = _text_of(self._take(start.index))
            self._ended(node, start, end)
            return
        is_indentless = node.kind == SEQUENCE and self.columns and self.columns[-1] == column
        if node.content and not (is_indentless and self.open[-1].kind == MAPPING):
            within = self._take(start.index, lambda comment: comment.column >= column)
            entry = _last_entry(node)
            entry.foot = "\n".join(filter(None, (entry.foot, _text_of(within))))

    # comments

    def _take(self, index: int, wanted: Callable[[_Comment], bool] | None = None) -> list[_Comment]:
        """Take the comments before a place, up to the first that is not wanted."""
        waiting = self.source.comments[self.taken :]
        found = list(
            takewhile(
                lambda comment: comment.index < index and (wanted is None or wanted(comment)),
                waiting,
            )
        )
        self.taken += len(found)
        if self.taken > 1000:
            del self.source.comments[: self.taken]
            self.taken = 0
        return found

    def _take_line_comments(self, index: int) -> None:
        """Give the last node the comment that follows it on its line."""
        node, line = self.last, self.last_line
        if node is not None:
            found = self._take(index, lambda comment: not comment.alone and comment.line == line)
            if found:
                node.line_comment = _text_of(found)

    def _take_head(self, node: Node, index: int, line: int, *, is_value: bool) -> None:
        """Give a node the comments above it, and the entry before it those that are parted."""
        comments = self._take(index)
        parent = self.open[-1] if self.open else None
        if comments and parent is not None and parent.content and not is_value:
            below: list[_Comment] = []
            expected = self.last_line + 1
            for comment in comments:
                if comment.line != expected:
                    break
                below.append(comment)
                expected += 1
            rest = comments[len(below) :]
            following = rest[0].line if rest else line
            if below and following > expected and not parent.style & FLOW:
                _last_entry(parent).foot = _text_of(below)
                comments = rest
        node.head = _text_of(comments)


def _last_entry(collection: Node) -> Node:
    """Return the node that carries the comments of the last entry: the key or the element."""
    return collection.content[-2 if collection.kind == MAPPING else -1]


def _text_of(comments: list[_Comment]) -> str:
    """Return the lines of comments, with an empty line where the text has some."""
    lines: list[str] = []
    previous: _Comment | None = None
    for comment in comments:
        if previous is not None and comment.line > previous.line + 1:
            lines.append("")
        lines.append(comment.text)
        previous = comment
    return "\n".join(lines)
