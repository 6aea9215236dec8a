"""XML: elements as mappings, attributes and mixed content under names with a prefix."""

from __future__ import annotations

from agentsandbox.languages.yq.evaluation import YqError
from agentsandbox.languages.yq.nodes import MAPPING, SCALAR, SEQUENCE, Node, mapping, sequence, string
from agentsandbox.streams import encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.limits import Budget

__all__ = ["read_xml", "xml_text"]

_DEEPEST = 500
_INSTRUCTION = "+p_"
_DIRECTIVE = "+directive"


class _Builder:
    """Builds nodes of a document's parts."""

    def __init__(self, budget: Budget, prefix: str, content: str) -> None:
        self.budget = budget
        self.prefix = prefix
        self.content = content
        self.open: list[tuple[Node, list[str]]] = [(mapping(), [])]
        self.comments: list[str] = []

    def start(self, name: str, attributes: dict[str, str]) -> None:
        self.budget.step()
        if len(self.open) > _DEEPEST:
            raise YqError("nested too deeply (D-yq)")
        node = mapping()
        for key, value in attributes.items():
            node.adopt_pair(string(self.prefix + key), string(value))
        if self.comments:
            node.head = "\n".join(self.comments)
            self.comments = []
        self.open.append((node, []))

    def end(self, name: str) -> None:
        node, texts = self.open.pop()
        text = "".join(texts).strip()
        head = node.head
        if not node.content:
            node = string(text) if text else Node(SCALAR, "!!null")
        elif text:
            entries = node.content
            node.content = []
            node.adopt_pair(string(self.content), string(text))
            node.keep(node.content + entries)
        node.head = ""
        if self.comments:
            node.foot = "\n".join(self.comments)
            self.comments = []
        self._add(name, node, head)

    def _add(self, name: str, node: Node, comment: str) -> None:
        parent = self.open[-1][0]
        for at in range(0, len(parent.content), 2):
            if parent.content[at].value == name:
                old = parent.content[at + 1]
                if old.kind != SEQUENCE:
                    many = sequence()
                    many.adopt(old)
                    many.parent, many.key = parent, parent.content[at]
                    parent.content[at + 1] = old = many
                old.adopt(node)
                return
        key = string(name)
        key.head = comment
        parent.adopt_pair(key, node)

    def text(self, data: str) -> None:
        self.budget.step()
        self.open[-1][1].append(data)

    def comment(self, data: str) -> None:
        self.budget.step()
        self.comments += ["# " + line.strip() for line in data.strip().splitlines()]

    def instruction(self, target: str, data: str) -> None:
        self.open[-1][0].adopt_pair(string(_INSTRUCTION + target), string(data))

    def declaration(self, version: str, encoding: str | None, standalone: int) -> None:
        text = f'version="{version}"' + (f' encoding="{encoding}"' if encoding else "")
        if standalone >= 0:
            text += f' standalone="{"yes" if standalone else "no"}"'
        self.instruction("xml", text)


def read_xml(text: str, budget: Budget, prefix: str, content: str) -> Node:
    """The document as a mapping. Raises `YqError`."""
    from xml.parsers import expat

    builder = _Builder(budget, prefix, content)
    parser = expat.ParserCreate("utf-8")

    def refuse(*_arguments: object) -> None:
        raise YqError("XML entity declarations are not supported (D-yq)")

    parser.StartElementHandler = builder.start
    parser.EndElementHandler = builder.end
    parser.CharacterDataHandler = builder.text
    parser.CommentHandler = builder.comment
    parser.ProcessingInstructionHandler = builder.instruction
    parser.XmlDeclHandler = builder.declaration
    parser.EntityDeclHandler = refuse
    parser.ExternalEntityRefHandler = refuse  # type: ignore[assignment]
    try:
        parser.Parse(encode(text), True)
    except expat.ExpatError as error:
        raise YqError(f"XML syntax error on line {error.lineno}: {expat.ErrorString(error.code)}") from None
    return builder.open[0][0]


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _attribute(text: str) -> str:
    return _escaped(text).replace('"', "&#34;").replace("'", "&#39;").replace("\n", "&#xA;").replace("\t", "&#x9;")


def _content(text: str) -> str:
    return _escaped(text).replace('"', "&#34;").replace("'", "&#39;")


def _commented(text: str) -> str:
    lines = [line.lstrip("#").strip() for line in text.splitlines()]
    return "<!-- " + "\n".join(lines).replace("--", "- -") + " -->"


class _Writer:
    """Writes elements; `step` is the indentation of a level, none for a document on one line."""

    def __init__(self, indent: int, budget: Budget, prefix: str, content: str) -> None:
        self.step = " " * indent
        self.budget = budget
        self.prefix = prefix
        self.content = content
        self.parts: list[str] = []

    def line(self, margin: str, text: str) -> None:
        self.parts.append(margin + text + "\n" if self.step else text)

    def element(self, name: str, node: Node, margin: str, depth: int) -> None:
        self.budget.step()
        if depth > _DEEPEST:
            raise YqError("nested too deeply (D-yq)")
        if node.kind == SEQUENCE:
            for item in node.content:
                self.element(name, item, margin, depth + 1)
            return
        if node.head:
            self.line(margin, _commented(node.head))
        if node.kind != MAPPING:
            text = "" if node.tag == "!!null" else _content(node.value)
            self.line(margin, f"<{name}>{text}</{name}>" + (_commented(node.line_comment) if node.line_comment else ""))
            return
        attributes, content, inner = "", "", []
        for key, value in node.pairs():
            if key.value == self.content:
                content = _content(value.value)
            elif key.value.startswith(self.prefix) and len(key.value) > len(self.prefix):
                if value.kind != SCALAR:
                    raise YqError(f"cannot use {value.tag} as attribute, only scalars are supported")
                attributes += f' {key.value[len(self.prefix) :]}="{_attribute(value.value)}"'
            else:
                inner.append((key, value))
        if not inner:
            self.line(margin, f"<{name}{attributes}>{content}</{name}>")
            return
        self.line(margin, f"<{name}{attributes}>{content}")
        self.entries(inner, margin + self.step, depth + 1)
        self.line(margin, f"</{name}>")

    def entries(self, pairs: list[tuple[Node, Node]], margin: str, depth: int) -> None:
        for key, value in pairs:
            if key.head:
                self.line(margin, _commented(key.head))
            name = key.value
            if name.startswith(_INSTRUCTION):
                self.line(margin, f"<?{name[len(_INSTRUCTION) :]} {value.value}?>")
            elif name == _DIRECTIVE:
                self.line(margin, f"<!{value.value}>")
            else:
                self.element(name, value, margin, depth)


def xml_text(node: Node, indent: int, budget: Budget, prefix: str, content: str) -> str:
    """A mapping as elements; a scalar as text."""
    writer = _Writer(indent, budget, prefix, content)
    if node.kind == MAPPING:
        writer.entries(list(node.pairs()), "", 0)
    elif node.kind == SCALAR:
        writer.parts.append(_content(node.value))
    else:
        raise YqError(f"cannot encode {node.tag} to XML - only maps can be encoded")
    text = "".join(writer.parts)
    return text if text.endswith("\n") else text + "\n"
