"""XML out: mappings as elements; comments where they fit."""

from __future__ import annotations

import re

from agentsandbox.languages.yq.evaluation import YqError
from agentsandbox.languages.yq.markup import DIRECTIVE, INSTRUCTION
from agentsandbox.languages.yq.nodes import MAPPING, SCALAR, SEQUENCE, Node

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.limits import Budget

__all__ = ["xml_text"]

_DEEPEST = 500
_SPECIAL = re.compile(r"[\"'&<>\t\r]|[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
_NAMES = {'"': "&#34;", "'": "&#39;", "&": "&amp;", "<": "&lt;", ">": "&gt;", "\t": "&#x9;", "\r": "&#xD;"}
_MANY_LINES = re.compile(r"(^|\n) *# ?(.*)")
_ONE_LINE = re.compile(r"^\s*#(.*)\n?")


def _escaped(text: str) -> str:
    return _SPECIAL.sub(lambda found: _NAMES.get(found[0], "\ufffd"), text)


def _bare(comment: str) -> str:
    return comment.replace("#", "", 1)


class _Writer:
    """The text so far. An element begins on a line of its own; it ends there too, if it holds others."""

    def __init__(self, indent: int, budget: Budget, prefix: str, content: str) -> None:
        self.step = " " * indent
        self.budget = budget
        self.prefix = prefix
        self.content = content
        self.parts: list[str] = []
        self.depth = 0
        self.inside = False
        self.begun = False

    def _margin(self) -> None:
        if self.step:
            if self.begun:
                self.parts.append("\n")
            self.begun = True
            self.parts.append(self.step * self.depth)

    def start(self, name: str, attributes: str = "") -> None:
        self._margin()
        self.depth += 1
        self.inside = True
        if self.depth > _DEEPEST:
            raise YqError("nested too deeply (D-yq)")
        self.parts.append(f"<{name}{attributes}>")

    def end(self, name: str) -> None:
        self.depth -= 1
        if not self.inside:
            self._margin()
        self.inside = False
        self.parts.append(f"</{name}>")

    def comment(self, text: str) -> None:
        if not text:
            return
        if "\n" in text[1:-1]:
            text = _MANY_LINES.sub(r"\1\2", text.removesuffix("\n"))
            if text[:1] not in ("\n", " "):
                text = " " + text
        else:
            text = _ONE_LINE.sub(r"\1", text)
        if not text.endswith((" ", "\n")):
            text += " "
        self.parts.append("<!--" + text.replace("--", "- -") + "-->")

    def element(self, name: str, node: Node) -> None:
        self.budget.step()
        if node.kind == MAPPING:
            self.mapping(name, node)
        elif node.kind == SEQUENCE:
            self.comment(_bare(node.head) + _bare(node.line_comment))
            for item in node.content:
                self.element(name, item)
            self.comment(_bare(node.foot))
        elif node.kind == SCALAR:
            self.start(name)
            self.comment(_bare(node.head))
            self.parts.append("" if node.tag == "!!null" and not node.value else _escaped(node.value))
            self.comment(_bare(node.line_comment))
            self.end(name)
            self.comment(_bare(node.foot))
        else:
            raise YqError(f"unsupported type {node.tag}")

    def _is_attribute(self, name: str) -> bool:
        return (
            name.startswith(self.prefix)
            and name not in (self.content, DIRECTIVE)
            and not name.startswith(INSTRUCTION)
            and name != self.prefix
        )

    def mapping(self, name: str, node: Node) -> None:
        attributes = ""
        for key, value in node.pairs():
            if self._is_attribute(key.value):
                if value.kind != SCALAR:
                    raise YqError(f"cannot use {value.tag} as attribute, only scalars are supported")
                attributes += f' {key.value[len(self.prefix) :]}="{_escaped(value.value).replace(chr(10), "&#xA;")}"'
        self.start(name, attributes)
        self.comment(_bare(node.head))
        for key, value in node.pairs():
            self.comment(_bare(key.head) + _bare(key.line_comment))
            if not self._special(key.value, value):
                if key.value == self.content:
                    self.comment(_bare(value.head) + _bare(value.line_comment))
                    self.parts.append(_escaped(value.value))
                    self.comment(_bare(value.foot))
                elif not self._is_attribute(key.value):
                    self.element(key.value, value)
            self.comment(_bare(key.foot))
        self.end(name)
        self.comment(_bare(node.foot))

    def _special(self, name: str, value: Node) -> bool:
        """Write what is no element: an instruction or a directive."""
        if name.startswith(INSTRUCTION):
            self.parts.append(f"<?{name[len(INSTRUCTION) :]} {value.value}?>")
        elif name == DIRECTIVE:
            self.parts.append(f"<!{value.value}>")
        else:
            return False
        return True

    def document(self, node: Node) -> None:
        declaration = INSTRUCTION + "xml"
        for key, value in node.pairs():
            if key.value == declaration:
                self._special(key.value, value)
                self.parts.append("\n")
        if node.leading:
            self.comment(node.leading.strip("\n"))
            self.parts.append("\n")
        self.comment(_bare(node.head) + _bare(node.line_comment))
        for key, value in node.pairs():
            above = _bare(key.head) + _bare(key.line_comment)
            if above:
                self.comment(above)
                self.parts.append("\n")
            if key.value == declaration:
                continue
            if self._special(key.value, value):
                self.parts.append("\n")
            else:
                self.element(key.value, value)
            self.comment(_bare(key.foot))
        self.comment(_bare(node.foot))


def xml_text(node: Node, indent: int, budget: Budget, prefix: str, content: str) -> str:
    """A mapping as elements; a scalar as text. Raises `YqError`."""
    writer = _Writer(indent, budget, prefix, content)
    if node.kind == MAPPING:
        writer.document(node)
    elif node.kind == SCALAR:
        writer.parts.append(_escaped(node.value))
    else:
        raise YqError(f"cannot encode {node.tag} to XML - only maps can be encoded")
    return "".join(writer.parts) + "\n"
