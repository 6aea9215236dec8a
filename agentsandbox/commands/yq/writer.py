"""A node as YAML text, laid out as yq's own writer (Go's yaml.v3) does it.

What was not changed reads as before, but for empty lines and the width of indentation. A node's
comments go where the reader took them from: the head above its line, the line comment at the end of
its line, the foot below its entry, and an empty line parts a foot from what follows.
"""

from __future__ import annotations

import re
from itertools import pairwise

from agentsandbox.commands.yq.nodes import (
    ALIAS,
    DOUBLE,
    FLOW,
    FOLDED,
    LITERAL,
    MAPPING,
    QUOTED,
    SCALAR,
    SINGLE,
    TAGGED,
    Node,
    YamlError,
)
from agentsandbox.commands.yq.scalars import resolve

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.kernel.budget import Budget

_BREAKS = "\r\n\x85\u2028\u2029"
_BREAK = re.compile(f"[{_BREAKS}]")
_UNPRINTABLE = r"[^\n\t\x20-\x7e\xa0-\ud7ff\ue000-\ufefe\uff00-\ufffd]"
_DOUBLE_ONLY = re.compile(rf" [{_BREAKS}]|{_UNPRINTABLE}")
_NOT_SINGLE = re.compile(rf"\t|[{_BREAKS}] ")
_ESCAPED = re.compile(rf'["\\\t{_BREAKS}]|{_UNPRINTABLE}')
_INDICATOR = re.compile(r"---|\.\.\.|[#,\[\]{}&*!|>'\"%@`]|[-?:](?:[ \t]|\Z)")
_NOT_IN_BLOCK = re.compile(r":(?:[ \t]|\Z)|[ \t]#")
_NOT_IN_FLOW = re.compile(r"[,?\[\]{}:]")
_ESCAPES = {
    "\0": "0", "\a": "a", "\b": "b", "\t": "t", "\n": "n", "\v": "v", "\f": "f", "\r": "r",
    "\x1b": "e", '"': '"', "\\": "\\", "\x85": "N", "\xa0": "_", "\u2028": "L", "\u2029": "P",
}  # fmt: skip
_LONGEST_KEY = 128


def write_yaml(node: Node, indent: int, budget: Budget) -> str:
    """Return the text, with its last newline. Raises `YamlError`."""
    writer = _Writer(indent if 2 <= indent <= 9 else 2, budget)
    writer.document(node)
    return "".join(writer.parts)


class _Writer:
    """Writes a tree into `parts`.

    continues   the line has an indicator such as "- ", after which the next entry goes
    parted      the indentation of the last foot comment; an empty line parts it from an entry
    """

    def __init__(self, step: int, budget: Budget) -> None:
        self.step = step
        self.budget = budget
        self.parts: list[str] = []
        self.continues = False
        self.parted = -1

    def document(self, node: Node) -> None:
        """Write a whole document."""
        self._comment(node.head, 0)
        if not _is_block(node):
            self._inline("", node, self.step, node.line_comment)
            return
        properties = _properties(node)
        if properties:
            self._line(properties, node.line_comment)
        self._block(node, 0)

    # lines

    def _start(self, indent: int) -> None:
        """Begin an entry: at the indentation, or after an indicator."""
        if self.parted == indent:
            self.parts.append("\n")
        self.parted = -1
        if not self.continues:
            self.parts.append(" " * indent)
        self.continues = False

    def _line(self, text: str, comment: str) -> None:
        """End a line."""
        self.parts.append(f"{text} {_commented(comment)}\n" if comment else text + "\n")

    def _comment(self, text: str, indent: int, *, is_foot: bool = False) -> None:
        if not text:
            return
        for line in text.split("\n"):
            if line:
                self._start(indent)
                self.parts.append(_commented(line))
            self.parts.append("\n")
        if is_foot:
            self.parted = indent

    def _deeper(self, indent: int) -> int:
        """Return the indentation of what a mapping's entry holds: a multiple of the step."""
        return self.step * ((indent + self.step) // self.step)

    # block collections

    def _block(self, node: Node, indent: int) -> None:
        self.budget.nested(
            lambda: (self._mapping if node.kind == MAPPING else self._sequence)(node, indent)
        )

    def _sequence(self, node: Node, indent: int) -> None:
        for child in node.content:
            self._comment(child.head, indent)
            self._start(indent)
            self._after_indicator("-", child, indent)
            self._comment(child.foot, indent, is_foot=True)

    def _mapping(self, node: Node, indent: int) -> None:
        for key, value in node.pairs():
            self.budget.step()
            has_block = _is_block(value)
            self._comment(key.head or ("" if has_block else value.head), indent)
            self._start(indent)
            if not self._is_simple(key):
                self._after_indicator("?", key, indent)
                self._start(indent)
                self._after_indicator(":", value, indent)
            else:
                self.parts.append(self._text(key, indent, is_key=True))
                if has_block:
                    self._below_key(value, indent, key.line_comment)
                else:
                    comment = value.line_comment or key.line_comment
                    self._inline(":", value, self._deeper(indent), comment)
            self._comment(key.foot, indent, is_foot=True)
            self._comment(value.foot, indent, is_foot=True)

    def _below_key(self, value: Node, indent: int, comment: str) -> None:
        properties = _properties(value)
        self._line(f": {properties}" if properties else ":", comment or value.line_comment)
        inner = self._deeper(indent)
        self._comment(value.head, inner)
        self._block(value, inner)

    def _after_indicator(self, indicator: str, node: Node, indent: int) -> None:
        """Write an element of a sequence, or a complex key or its value."""
        if not _is_block(node):
            self._inline(indicator, node, indent + 2, node.line_comment)
            return
        properties = _properties(node)
        if properties:
            self._line(f"{indicator} {properties}", node.line_comment)
        else:
            self.parts.append(indicator + " ")
            self.continues = True
        self._block(node, indent + 2)

    def _inline(self, prefix: str, node: Node, inner: int, comment: str) -> None:
        """Write a scalar, an alias or a flow collection to the end of its line."""
        text = self._text(node, inner)
        separator = " " if prefix and text else ""
        header, _, rest = text.partition("\n") if text.endswith("\n") else (text, "", "")
        self._line(prefix + separator + header, comment)  # that of a block scalar
        self.parts.append(rest)

    def _is_simple(self, key: Node) -> bool:
        if key.content:
            return False
        return not _BREAK.search(key.value) and len(key.value) <= _LONGEST_KEY

    # texts

    def _text(self, node: Node, inner: int, *, is_key: bool = False, in_flow: bool = False) -> str:
        """Return a scalar, an alias or a flow collection; its further lines start at `inner`."""
        self.budget.step()
        if node.kind == ALIAS:
            return "*" + node.value + (" " if is_key else "")
        if node.kind == SCALAR:
            return self._scalar(node, inner, is_key=is_key, in_flow=in_flow)
        flow = self.budget.nested(lambda: self._flow(node, inner))
        return " ".join(filter(None, (_properties(node), flow)))

    def _flow(self, node: Node, inner: int) -> str:
        """Return a flow collection: on one line, but that a comment ends its line."""
        first, last = "{}" if node.kind == MAPPING else "[]"
        parts = [first]
        separator = comment = ""
        for position, child in enumerate(node.content):
            is_value = node.kind == MAPPING and position % 2 == 1
            is_key = node.kind == MAPPING and not is_value
            text = self._text(child, inner + self.step, is_key=is_key, in_flow=True)
            if is_value:
                parts.append(": " + text if text else ":")
                comment = child.line_comment or comment
            else:
                parts.append(separator + self._flow_head(child, inner, separator) + text)
                comment = child.line_comment
            if not is_key:
                separator = f", {_commented(comment)}\n{' ' * inner}" if comment else ", "
        if "\n" in separator:
            parts.append(separator[: -self.step])
        return "".join([*parts, last])

    def _flow_head(self, node: Node, inner: int, separator: str) -> str:
        """Return the head comment of an element, with the line break that must precede it."""
        if not node.head:
            return ""
        margin = " " * inner
        text = "".join(f"{_commented(line)}\n{margin}" for line in node.head.split("\n"))
        return text if separator.endswith(margin) else f"\n{margin}{text}"

    def _scalar(self, node: Node, inner: int, *, is_key: bool, in_flow: bool) -> str:
        text = node.value
        if not text.isascii() and any("\ud800" <= c <= "\udfff" for c in text):
            raise YamlError(f"cannot marshal invalid UTF-8 data as {node.tag or '!!str'}")
        tag, must_quote = _shown_tag(node)
        style = _style(node, must_quote=must_quote, is_key=is_key, in_flow=in_flow)
        if style == SINGLE:
            text = self._single(text, " " * inner)
        elif style == DOUBLE:
            text = '"' + _ESCAPED.sub(_escape, text) + '"'
        elif style in (LITERAL, FOLDED):
            text = self._block_scalar(text, " " * inner, folded=style == FOLDED)
        return " ".join(filter(None, (node.anchor and "&" + node.anchor, tag, text)))

    def _single(self, text: str, margin: str) -> str:
        lines = text.replace("'", "''").split("\n")
        folded = lines[0]
        for previous, line in pairwise(lines):
            folded += ("\n" if previous else "") + "\n" + (margin + line if line else "")
        return f"'{folded}'"

    def _block_scalar(self, text: str, margin: str, *, folded: bool) -> str:
        header = ">" if folded else "|"
        if text[0] in " " + _BREAKS:
            header += str(self.step)
        if text[-1] not in _BREAKS:
            header += "-"
        elif len(text) == 1 or text[-2] in _BREAKS:
            header += "+"
        written = [header]
        text_before = ""
        for line in text.removesuffix("\n").split("\n"):
            self.budget.step()
            if line and folded and text_before and not {text_before[0], line[0]} & {" ", "\t"}:
                written.append("")
            written.append(margin + line if line else "")
            text_before = line or text_before
        return "\n".join(written) + "\n"


def _is_block(node: Node) -> bool:
    return bool(node.content) and not node.style & FLOW


def _commented(line: str) -> str:
    return line if line.startswith("#") else "# " + line


def _properties(node: Node) -> str:
    """Return the anchor and the tag of a collection."""
    default = "!!map" if node.kind == MAPPING else "!!seq"
    tag = node.tag if node.style & TAGGED or node.tag != default else ""
    return " ".join(filter(None, (node.anchor and "&" + node.anchor, _written_tag(tag))))


def _written_tag(tag: str) -> str:
    return tag if not tag or tag.startswith("!") else f"!<{tag}>"


def _shown_tag(node: Node) -> tuple[str, bool]:
    """Return the tag that is written, and whether the value needs quotes instead."""
    tag = node.tag
    if not tag or node.style & TAGGED:
        return _written_tag(tag), False
    if (tag == "!!str" and node.style & QUOTED) or resolve(node.value) == tag:
        return "", False
    return ("", True) if tag == "!!str" else (_written_tag(tag), False)


def _style(node: Node, *, must_quote: bool, is_key: bool, in_flow: bool) -> int:
    """Return the style that a scalar can be written in: its own, if that holds the text."""
    text = node.value
    has_breaks = _BREAK.search(text) is not None
    needs_double = _DOUBLE_ONLY.search(text) is not None
    style = node.style & QUOTED
    if not style:
        style = LITERAL if "\n" in text else DOUBLE if must_quote else 0
    if is_key and has_breaks:
        return DOUBLE
    if style in (LITERAL, FOLDED):
        holds = text and text[-1] != " " and not needs_double and "\r" not in text
        return style if holds and not in_flow and not is_key else DOUBLE
    fits_single = not needs_double and not _NOT_SINGLE.search(text)
    if style == 0:
        plain = (
            fits_single
            and not has_breaks
            and text.strip(" ") == text
            and not _INDICATOR.match(text)
            and not _NOT_IN_BLOCK.search(text)
            and not (in_flow and _NOT_IN_FLOW.search(text))
            and (text or not (in_flow or is_key))
        )
        style = 0 if plain else SINGLE
    return DOUBLE if style == SINGLE and not fits_single else style


def _escape(found: re.Match[str]) -> str:
    c = found[0]
    if c in _ESCAPES:
        return "\\" + _ESCAPES[c]
    code = ord(c)
    if code <= 0xFF:
        return f"\\x{code:02X}"
    return f"\\u{code:04X}" if code <= 0xFFFF else f"\\U{code:08X}"
