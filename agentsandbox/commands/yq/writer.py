"""A node as YAML text, laid out as yq's own writer (Go's yaml.v3) does it, so that what was not
changed reads as before.
"""

from __future__ import annotations

import re

from agentsandbox.commands.yq.nodes import (
    ALIAS,
    DOUBLE,
    FLOW,
    FOLDED,
    LITERAL,
    MAPPING,
    QUOTED,
    SCALAR,
    SEQUENCE,
    SINGLE,
    TAGGED,
    Node,
)
from agentsandbox.commands.yq.scanner import YamlError
from agentsandbox.commands.yq.tags import long_tag, resolve, short_tag
from agentsandbox.kernel.streams import encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.kernel.budget import Budget

_BREAK = re.compile(r"[\r\n\x85\u2028\u2029]")
_LINES = re.compile(r"([\r\n\x85\u2028\u2029])")
_SPECIAL = re.compile(r"[^\n\t\x20-\x7e\xa0-\ud7ff\ue000-\ufefe\uff00-\ufffd]")
_ESCAPED = re.compile(
    r'["\\\r\n\x85\u2028\u2029]|[^\x20-\x7e\xa0-\ud7ff\ue000-\ufefe\uff00-\ufffd]'
)
_BREAK_SPACE = re.compile(r"[\r\n\x85\u2028\u2029] ")
_SPACE_BREAK = re.compile(r" [\r\n\x85\u2028\u2029]")
_FIRST = re.compile(r"---|\.\.\.|[#,\[\]{}&*!|>'\"%@`]|[-?:](?:[ \t]|\Z)")
_WITHIN_BLOCK = re.compile(r":(?:[ \t]|\Z)|[ \t\r\n\x85\u2028\u2029]#")
_WITHIN_FLOW = re.compile(r"[,?\[\]{}:]")
_NAMES = {
    "\0": "0", "\a": "a", "\b": "b", "\t": "t", "\n": "n", "\v": "v", "\f": "f", "\r": "r", "\x1b": "e", '"': '"', "\\": "\\",
    "\x85": "N", "\xa0": "_", "\u2028": "L", "\u2029": "P",
}  # fmt: skip
_TAG_SAFE = re.compile(r"[^0-9A-Za-z_\-;/?:@&=+$,.~*'()\[\]]")
_ANCHOR = re.compile(r"[0-9A-Za-z_-]+\Z")
_LONGEST_KEY = 128


class _Analysis:
    """Which styles a text can be written in."""

    __slots__ = ("block", "block_plain", "flow_plain", "multiline", "single")

    def __init__(self, text: str) -> None:
        self.multiline = False
        self.flow_plain, self.block_plain, self.single, self.block = False, True, True, False
        if not text:
            return
        self.multiline = _BREAK.search(text) is not None
        at_edge = (
            text[0] == " "
            or text[-1] == " "
            or (self.multiline and bool(_BREAK.match(text[0]) or _BREAK.match(text[-1])))
        )
        space_break = self.multiline and _SPACE_BREAK.search(text) is not None
        special = _SPECIAL.search(text) is not None
        broken = (
            space_break
            or special
            or "\t" in text
            or (self.multiline and _BREAK_SPACE.search(text) is not None)
        )
        self.single = not broken
        self.block = not (text[-1] == " " or space_break or special)
        plain = not (at_edge or broken or self.multiline)
        self.block_plain = plain and not (_FIRST.match(text) or _WITHIN_BLOCK.search(text))
        self.flow_plain = self.block_plain and not (_WITHIN_FLOW.search(text))


def write_yaml(node: Node, indent: int, budget: Budget) -> str:
    """The text, with its last newline. Raises `YamlError`."""
    writer = _Writer(indent if 2 <= indent <= 9 else 2, budget)
    writer.document(node)
    return "".join(writer.parts)


class _Writer:
    """The text so far; comments wait here until the place comes where they are written."""

    def __init__(self, indent: int, budget: Budget) -> None:
        self.parts: list[str] = []
        self.budget = budget
        self.step = indent
        self.indent = -1
        self.indents: list[int] = []
        self.column = 0
        self.whitespace = True
        self.indention = True
        self.foot_indent = -1
        self.flow = 0
        self.head = self.line_comment = self.foot = self.tail = self.key_comment = ""

    # characters

    def _break(self, sign: str = "\n") -> None:
        self.parts.append(sign)
        self.column = 0
        self.indention = True

    def _put(self, text: str) -> None:
        self.parts.append(text)
        self.column += len(text)

    def _write_indent(self) -> None:
        indent = max(self.indent, 0)
        if (
            not self.indention
            or self.column > indent
            or (self.column == indent and not self.whitespace)
        ):
            self._break()
        if self.foot_indent == indent:
            self._break()
        if self.column < indent:
            self._put(" " * (indent - self.column))
        self.whitespace = True
        self.foot_indent = -1

    def _indicator(
        self, text: str, *, spaced: bool = False, white: bool = False, indention: bool = False
    ) -> None:
        self._put(" " + text if spaced and not self.whitespace else text)
        self.whitespace = white
        self.indention = self.indention and indention

    def _deeper(self, *, flow: bool, item: bool) -> None:
        self.indents.append(self.indent)
        if self.indent < 0:
            self.indent = self.step if flow else 0
        elif item:
            self.indent += 2
        else:
            self.indent = self.step * ((self.indent + self.step) // self.step)

    # comments

    def _await(self, head: str, line: str, foot: str, tail: str = "") -> None:
        """These comments are to be written when their place comes."""
        self.head = head or self.head
        self.line_comment = line or self.line_comment
        self.foot = foot or self.foot
        self.tail = tail or self.tail

    def _comment(self, text: str) -> None:
        breaks = False
        for at, line in enumerate(_LINES.split(text)):
            if at % 2:
                self._break(line)
                breaks = True
            elif line:
                if breaks:
                    self._write_indent()
                self._put(line if line[0] == "#" else "# " + line)
                self.indention = False
                breaks = False
        if not breaks:
            self._break()
        self.whitespace = True

    def _head_comment(self) -> None:
        if self.tail:
            self._write_indent()
            self._comment(self.tail)
            self.tail = ""
            self.foot_indent = max(self.indent, 0)
        if self.head:
            self._write_indent()
            self._comment(self.head)
            self.head = ""

    def _after(self) -> None:
        """The comments in the line of what was just written, and below it."""
        if self.line_comment:
            self._write_line_comment()
        if self.foot:
            self._write_indent()
            self._comment(self.foot)
            self.foot = ""
            self.foot_indent = max(self.indent, 0)

    def _write_line_comment(self) -> None:
        if self.line_comment:
            if not self.whitespace:
                self._put(" ")
            self._comment(self.line_comment)
            self.line_comment = ""

    def _commented(self) -> bool:
        return bool(self.line_comment or self.foot or self.tail)

    # nodes

    def document(self, node: Node) -> None:
        """Write a whole document."""
        self._announce(node)
        self._head_comment()
        self._node(node)
        self.foot_indent = 0
        if self.foot:
            self._write_indent()
            self._comment(self.foot)
            self.foot = ""
        self.foot_indent = -1
        self._write_indent()

    def _announce(self, node: Node, tail: str = "", *, key: bool = False) -> None:
        """The comments that go with the beginning of a node."""
        self.budget.step()
        if node.kind in (SCALAR, ALIAS):
            self._await(
                node.head,
                node.line_comment,
                "" if key else node.foot,
                tail if node.kind == SCALAR else "",
            )
        else:
            self._await(node.head, "", "", tail if node.kind == MAPPING else "")

    def _node(
        self,
        node: Node,
        *,
        item: bool = False,
        simple: bool = False,
        nested: bool = False,
        comma: bool = False,
    ) -> None:
        """A node, what comes after it and what it holds.

        nested  what comes after is written elsewhere.
        comma   there is one before comments.
        """
        if node.kind == ALIAS:
            self._name("*", node.value)
        elif node.kind == SCALAR:
            self._scalar(node, item=item, simple=simple)
        else:
            if node.anchor:
                self._name("&", node.anchor)
            tag = node.tag
            if (
                tag
                and not (node.style & TAGGED)
                and short_tag(tag) == ("!!map" if node.kind == MAPPING else "!!seq")
            ):
                tag = ""
            if tag:
                self._tag(long_tag(tag))
            if comma and self._commented():
                self._indicator(",")
            if not nested:
                self._after()
            if self.flow or node.style & FLOW or not node.content:
                (self._flow_mapping if node.kind == MAPPING else self._flow_sequence)(node, item)
            else:
                (self._block_mapping if node.kind == MAPPING else self._block_sequence)(node, item)
            return
        if comma and self._commented():
            self._indicator(",")
        if not nested:
            self._after()

    def _name(self, sign: str, name: str) -> None:
        if not _ANCHOR.match(name):
            what = "alias" if sign == "*" else "anchor"
            raise YamlError(
                f"{what} value must {'contain alphanumerical characters only' if name else 'not be empty'}"
            )
        self._indicator(sign, spaced=True)
        self._put(name)

    def _tag(self, tag: str) -> None:
        if tag.startswith("!"):
            handle, suffix = "!", tag[1:]
        elif tag.startswith("tag:yaml.org,2002:"):
            handle, suffix = "!!", tag[18:]
        else:
            handle, suffix = "!<", tag + ">"
        if not self.whitespace:
            handle = " " + handle
        end = ">" if handle.endswith("<") else ""
        self._put(handle + _TAG_SAFE.sub(_percent, suffix[: len(suffix) - len(end)]) + end)
        self.whitespace = self.indention = False

    # block collections

    def _block_sequence(self, node: Node, item: bool) -> None:
        self._deeper(flow=False, item=item)
        for child in node.content:
            self._announce(child)
            self._head_comment()
            self._write_indent()
            self._indicator("-", spaced=True, indention=True)
            self._node(child, item=True)
        self._await("", node.line_comment, node.foot)
        self.indent = self.indents.pop()

    def _block_mapping(self, node: Node, item: bool) -> None:
        self._deeper(flow=False, item=item)
        tail = ""
        for key, value in node.pairs():
            self._announce(key, tail, key=True)
            tail = key.foot
            self._head_comment()
            self._write_indent()
            if self.line_comment:
                self.key_comment, self.line_comment = self.line_comment, ""
            if self._is_simple(key):
                self._key(key, simple=True)
                self._announce(value)
                self._indicator(":")
            else:
                self._indicator("?", spaced=True, indention=True)
                self._key(key, simple=False)
                self._announce(value)
                self._write_indent()
                self._indicator(":", spaced=True, indention=True)
            if self.key_comment:
                self._key_comment(value)
            self._node(value)
        self._await("", node.line_comment, node.foot, tail)
        self._head_comment()
        self.indent = self.indents.pop()

    def _key(self, key: Node, *, simple: bool) -> None:
        """A key, without the comment below it: that follows the value."""
        foot, key.foot = key.foot, ""
        try:
            self._node(key, simple=simple, nested=True)
        finally:
            key.foot = foot

    def _key_comment(self, value: Node) -> None:
        """The comment in the line of a key goes after ":", or after a scalar."""
        if value.kind == SCALAR:
            if not self.line_comment:
                self.line_comment, self.key_comment = self.key_comment, ""
        elif value.kind != ALIAS and not value.style & FLOW:
            self.line_comment, self.key_comment = self.key_comment, self.line_comment
            self._write_line_comment()
            self.line_comment, self.key_comment = self.key_comment, self.line_comment

    def _is_simple(self, node: Node) -> bool:
        if node.kind in (MAPPING, SEQUENCE) and node.content:
            return False
        size = len(encode(node.anchor))
        if node.kind == ALIAS:
            return len(node.value) <= _LONGEST_KEY
        tag = self._shown_tag(node)[0] if node.kind == SCALAR else ""
        if node.kind == SCALAR:
            if _BREAK.search(node.value):
                return False
            size += len(encode(node.value))
        return size + len(short_tag(tag)) <= _LONGEST_KEY

    # flow collections

    def _flow_sequence(self, node: Node, item: bool) -> None:
        self._indicator("[", spaced=True, white=True)
        self._deeper(flow=True, item=item)
        self.flow += 1
        trail = True
        for child in node.content:
            self._announce(child)
            if not trail:
                self._indicator(",")
            self._head_comment()
            if self.column == 0:
                self._write_indent()
            trail = self._flow_child(child)
        self._await("", node.line_comment, node.foot)
        self.flow -= 1
        self.indent = self.indents.pop()
        if self.column == 0:
            self._write_indent()
        self._indicator("]")
        self._after()

    def _flow_child(self, child: Node) -> bool:
        """An element or a value, and its comma where comments follow; whether that was written."""
        trail = self._commented()
        self._node(child, comma=True)
        return trail

    def _flow_mapping(self, node: Node, item: bool) -> None:
        self._indicator("{", spaced=True, white=True)
        self._deeper(flow=True, item=item)
        self.flow += 1
        trail = True
        tail = ""
        for key, value in node.pairs():
            self._announce(key, tail, key=True)
            tail = key.foot
            if not trail:
                self._indicator(",")
            self._head_comment()
            if self.column == 0:
                self._write_indent()
            if self._is_simple(key):
                self._key(key, simple=True)
                self._announce(value)
                self._indicator(":")
            else:
                self._indicator("?", spaced=True)
                self._key(key, simple=False)
                self._announce(value)
                self._indicator(":", spaced=True)
            trail = self._flow_child(value)
        self._await("", node.line_comment, node.foot, tail)
        if (self.head or self.foot or self.tail) and not trail:
            self._indicator(",")
        self._head_comment()
        self.flow -= 1
        self.indent = self.indents.pop()
        self._indicator("}")
        self._after()

    # scalars

    def _shown_tag(self, node: Node) -> tuple[str, bool]:
        """The tag that is written, and whether the value needs quotes to keep the one that is
        not.
        """
        tag = node.tag
        if not tag or node.style & TAGGED:
            return tag, False
        short = short_tag(tag)
        if short == "!!str" and node.style & QUOTED:
            return "", False
        if resolve(node.value) == short:
            return "", False
        return ("", True) if short == "!!str" else (tag, False)

    def _style(self, node: Node, tag: str, forced: bool, simple: bool, analysis: _Analysis) -> int:
        style = node.style & QUOTED
        if style & DOUBLE:
            style = DOUBLE
        elif style & SINGLE:
            style = SINGLE
        elif not style:
            style = LITERAL if "\n" in node.value else DOUBLE if forced else 0
        if simple and analysis.multiline:
            return DOUBLE
        if style == 0:
            plain = analysis.flow_plain if self.flow else analysis.block_plain
            if not plain or (not node.value and (self.flow or simple)):
                style = SINGLE
        if style == SINGLE and not analysis.single:
            return DOUBLE
        if style in (LITERAL, FOLDED) and (not analysis.block or self.flow or simple):
            return DOUBLE
        return style

    def _scalar(self, node: Node, *, item: bool, simple: bool) -> None:
        text = node.value
        if not text.isascii() and any("\ud800" <= c <= "\udfff" for c in text):
            raise YamlError(
                f"cannot marshal invalid UTF-8 data as {short_tag(node.tag) or '!!str'}"
            )
        tag, forced = self._shown_tag(node)
        style = self._style(node, tag, forced, simple, _Analysis(text))
        if node.anchor:
            self._name("&", node.anchor)
        if tag:
            self._tag(long_tag(tag))
        self._deeper(flow=True, item=item)
        if style == 0:
            if text:
                self._put(text if self.whitespace else " " + text)
                self.whitespace = False
            self.indention = False
        elif style == SINGLE:
            self._single(text)
        elif style == DOUBLE:
            self._indicator('"', spaced=True)
            self._put(_ESCAPED.sub(_escape, text) + '"')
            self.whitespace = self.indention = False
        else:
            self._block(text, folded=style == FOLDED)
        self.indent = self.indents.pop()

    def _single(self, text: str) -> None:
        self._indicator("'", spaced=True)
        breaks = False
        for at, line in enumerate(_LINES.split(text)):
            if at % 2:
                if not breaks and line == "\n":
                    self._break()
                self._break(line)
                breaks = True
            elif line:
                if breaks:
                    self._write_indent()
                self._put(line.replace("'", "''"))
                self.indention = False
                breaks = False
        self._put("'")
        self.whitespace = self.indention = False

    def _block(self, text: str, *, folded: bool) -> None:
        self._indicator(">" if folded else "|", spaced=True)
        hints = str(self.step) if text[:1] == " " or _BREAK.match(text) else ""
        if not text or not _BREAK.match(text[-1]):
            hints += "-"
        elif len(text) == 1 or _BREAK.match(text[-2]):
            hints += "+"
        if hints:
            self._indicator(hints)
        self._write_line_comment()
        self.whitespace = True
        breaks = leading = True
        first = text.lstrip("\r\n\x85\u2028\u2029")[
            :1
        ]  # the original looks here, wherever in the text it is
        for at, line in enumerate(_LINES.split(text)):
            if at % 2:
                if (
                    folded
                    and line == "\n"
                    and not breaks
                    and not leading
                    and first
                    and first not in " \t"
                ):
                    self._break()
                self._break(line)
                breaks = True
            elif line:
                self.budget.step()
                if breaks:
                    self._write_indent()
                    leading = line[0] in " \t"
                self._put(line)
                self.indention = False
                breaks = False


def _percent(found: re.Match[str]) -> str:
    return "".join(f"%{byte:02X}" for byte in encode(found[0]))


def _escape(found: re.Match[str]) -> str:
    c = found[0]
    if c in _NAMES:
        return "\\" + _NAMES[c]
    code = ord(c)
    return (
        f"\\x{code:02X}"
        if code <= 0xFF
        else f"\\u{code:04X}"
        if code <= 0xFFFF
        else f"\\U{code:08X}"
    )
