"""XML in: elements as mappings, attributes and mixed content under names with a prefix, comments with what they stand at.

Read without a validating parser, as yq reads it: entities that a document declares stay as they are written, so none can
multiply; tags are not compared.
"""

from __future__ import annotations

import re

from agentsandbox.languages.yq.evaluation import YqError
from agentsandbox.languages.yq.nodes import SCALAR, SEQUENCE, Node, mapping, sequence, string

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.limits import Budget

__all__ = ["DIRECTIVE", "INSTRUCTION", "read_xml"]

INSTRUCTION = "+p_"
DIRECTIVE = "+directive"
_DEEPEST = 500
_NAME = r"[^\s<>/=?!\"'&]+"
_START = re.compile(rf"<({_NAME})")
_END = re.compile(rf"</({_NAME})\s*>")
_ATTRIBUTE = re.compile(rf"\s*({_NAME})(?:\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|([^\s<>/=\"']+)))?")
_CLOSE = re.compile(r"\s*(/?)>")
_INSTRUCTION = re.compile(rf"<\?({_NAME})\s*")
_TEXT = re.compile(r"[^<]+")
_ENTITY = re.compile(r"&(?:#([0-9]{1,7})|#x([0-9A-Fa-f]{1,6})|(lt|gt|amp|quot|apos));")
_ENTITIES = {"lt": "<", "gt": ">", "amp": "&", "quot": '"', "apos": "'"}
_EDGES = "".join(map(chr, range(33))) + "\x7f\x85\xa0\u2028\u2029\u3000"


class _Element:
    """An element that is read: its parts by name, its texts, and its comments."""

    __slots__ = ("children", "feet", "foot", "head", "line_comment", "name", "state", "texts")

    def __init__(self, name: str = "", text: str | None = None) -> None:
        self.name = name
        self.children: dict[str, list[_Element]] = {}
        self.feet: dict[str, str] = {}
        """Comments below the parts of a name."""
        self.texts = [] if text is None else [text]
        self.head = self.line_comment = self.foot = ""
        self.state = ""

    def add(self, name: str, child: _Element) -> None:
        self.children.setdefault(name, []).append(child)

    def comment(self, text: str) -> None:
        """A comment within the element: below its last part, beside its text or above its first part."""
        if self.state == "started":
            self._comment_below(text)
        elif self.state == "text":
            self.line_comment = _joined(self.line_comment, text)
        else:
            self.head = _joined(self.head, text)

    def _comment_below(self, text: str) -> None:
        if not self.children:
            self.foot = _joined(self.foot, text)
            return
        name, last = next(reversed(self.children.items()))
        if last[0].children:
            self.feet[name] = _joined(self.feet.get(name, ""), text)
        else:
            last[-1].foot = _joined(last[-1].foot, text)


def _joined(first: str, second: str) -> str:
    return f"{first} {second}" if first and second else first or second


def _entity(found: re.Match[str]) -> str:
    if found[3]:
        return _ENTITIES[found[3]]
    code = int(found[1]) if found[1] else int(found[2], 16)
    return chr(code) if code < 0x110000 and not 0xD800 <= code < 0xE000 else found[0]


def _plain(text: str) -> str:
    return _ENTITY.sub(_entity, text) if "&" in text else text


class _Reader:
    """Reads the parts of a text one by one."""

    def __init__(self, text: str, budget: Budget) -> None:
        self.text = text
        self.budget = budget
        self.at = 0
        self.open = [_Element()]
        self.started = False

    def fail(self, problem: str) -> YqError:
        return YqError(f"XML syntax error on line {self.text.count(chr(10), 0, self.at) + 1}: {problem}")

    def until(self, end: str, begin: int, problem: str) -> str:
        """The text from `begin` to a delimiter, which is passed."""
        found = self.text.find(end, begin)
        if found < 0:
            raise self.fail(problem)
        self.at = found + len(end)
        return self.text[begin:found]

    def read(self, prefix: str) -> _Element:
        text = self.text
        while self.at < len(text):
            self.budget.step()
            if text[self.at] != "<":
                found = _TEXT.match(text, self.at)
                assert found is not None
                self.at = found.end()
                self.characters(_plain(found[0]))
            elif text.startswith("<!--", self.at):
                self.open[-1].comment(self.until("-->", self.at + 4, "unexpected EOF"))
            elif text.startswith("<![CDATA[", self.at):
                self.characters(self.until("]]>", self.at + 9, "unexpected EOF in CDATA section"))
            elif text.startswith("<!", self.at):
                self.directive()
            elif text.startswith("<?", self.at):
                self.instruction()
            elif text.startswith("</", self.at):
                self.end()
            else:
                self.start(prefix)
        if len(self.open) > 1:
            raise self.fail("unexpected EOF")
        return self.open[0]

    def characters(self, text: str) -> None:
        text = text.strip(_EDGES)
        if not text:
            return
        if not self.started:
            raise YqError(f"invalid XML: Encountered chardata [{text}] outside of XML node")
        self.open[-1].texts.append(text)
        self.open[-1].state = "text"

    def directive(self) -> None:
        depth, quote, begin = 0, "", self.at + 2
        for at in range(begin, len(self.text)):
            c = self.text[at]
            if quote:
                quote = "" if c == quote else quote
            elif c in "\"'":
                quote = c
            elif c == "<":
                depth += 1
            elif c == ">":
                if depth == 0:
                    self.at = at + 1
                    self.open[-1].add(DIRECTIVE, _Element(text=self.text[begin:at]))
                    return
                depth -= 1
        raise self.fail("unexpected EOF")

    def instruction(self) -> None:
        found = _INSTRUCTION.match(self.text, self.at)
        if found is None:
            raise self.fail("expected target name after <?")
        self.open[-1].add(INSTRUCTION + found[1], _Element(text=self.until("?>", found.end(), "unexpected EOF")))

    def start(self, prefix: str) -> None:
        found = _START.match(self.text, self.at)
        if found is None:
            raise self.fail("expected element name after <")
        if len(self.open) > _DEEPEST:
            raise YqError("nested too deeply (D-yq)")
        self.started = True
        self.open[-1].state = "started"
        element = _Element(found[1])
        self.at = found.end()
        while True:
            self.budget.step()
            close = _CLOSE.match(self.text, self.at)
            if close is not None:
                break
            attribute = _ATTRIBUTE.match(self.text, self.at)
            if attribute is None or attribute.end() == self.at:
                raise self.fail("expected attribute name in element" if self.at < len(self.text) else "unexpected EOF")
            value = next((part for part in attribute.groups()[1:] if part is not None), attribute[1])
            element.add(prefix + attribute[1], _Element(text=_plain(value)))
            self.at = attribute.end()
        self.at = close.end()
        self.open.append(element)
        if close[1]:
            self.finish()

    def end(self) -> None:
        found = _END.match(self.text, self.at)
        if found is None:
            raise self.fail("invalid characters in end element")
        if len(self.open) < 2:
            raise self.fail(f"unexpected end element </{found[1]}>")
        self.at = found.end()
        self.finish()

    def finish(self) -> None:
        element = self.open.pop()
        self.open[-1].add(element.name, element)


def _comment(text: str) -> str:
    return "#" + text.replace("\n", "\n# ").rstrip(" ") if text else ""


def _value(texts: list[str]) -> Node:
    if len(texts) == 1:
        return string(texts[0])
    if not texts:
        return Node(SCALAR, "!!null")
    made = sequence()
    for text in texts:
        made.adopt(string(text))
    return made


class _Builder:
    """Makes nodes of elements."""

    def __init__(self, content: str, budget: Budget) -> None:
        self.content = content
        self.budget = budget

    def node(self, element: _Element) -> Node:
        self.budget.step()
        if element.children:
            return self.mapping(element)
        made = _value(element.texts)
        made.head, made.line_comment, made.foot = (_comment(text) for text in (element.head, element.line_comment, element.foot))
        if made.kind == SEQUENCE:
            made.head, made.line_comment = made.line_comment, ""
        return made

    def mapping(self, element: _Element) -> Node:
        made = mapping()
        if element.texts:
            key = string(self.content)
            key.head, key.line_comment, key.foot = (_comment(text) for text in (element.head, element.line_comment, element.foot))
            made.adopt_pair(key, _value(element.texts))
        for at, (name, children) in enumerate(element.children.items()):
            key = string(name)
            if at == 0 and not element.texts:
                key.head = _comment(element.head)
            key.foot = _comment(element.feet.get(name, ""))
            made.adopt_pair(key, self.entry(key, children))
        return made

    def entry(self, key: Node, children: list[_Element]) -> Node:
        if len(children) > 1:
            made = sequence()
            for child in children:
                made.adopt(self.node(child))
            return made
        child = children[0]
        if not child.children and child.head:
            if child.texts:
                key.head = "\n".join(part for part in (key.head, _comment(" " + child.head.strip())) if part)
            else:
                child.line_comment = child.head
            child.head = ""
        return self.node(child)


def read_xml(text: str, budget: Budget, prefix: str, content: str) -> Node:
    """The document as a mapping. Raises `YqError`."""
    budget.charge(len(text))
    return _Builder(content, budget).node(_Reader(text.removeprefix("\ufeff"), budget).read(prefix))
