"""Java's properties: paths of names, each with a string."""

from __future__ import annotations

import re

from agentsandbox.languages.yq.evaluation import YqError
from agentsandbox.languages.yq.nodes import MAPPING, SCALAR, SEQUENCE, Node, mapping, sequence, string

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.limits import Budget

__all__ = ["properties_text", "read_properties"]

_DEEPEST = 500
_LARGEST_INDEX = 100_000
_LINE = re.compile(r"((?:[^\\ \t\f=:]+|\\.)*+)[ \t\f]*(?:[=:][ \t\f]*)?(.*)", re.DOTALL)
_ESCAPE = re.compile(r"\\(?:u([0-9A-Fa-f]{4})|(.))", re.DOTALL)
_NAMES = {"t": "\t", "n": "\n", "r": "\r", "f": "\f"}
_WRITTEN = {"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r", "\f": "\\f"}
_BLANK = re.compile(r"\s")
_VALUE = re.compile(r"[\\\t\n\r\f]")
_KEY = re.compile(r"[\\\t\n\r\f :=]")


def _plain(text: str) -> str:
    return _ESCAPE.sub(lambda found: chr(int(found[1], 16)) if found[1] else _NAMES.get(found[2], found[2]), text)


def read_properties(text: str, budget: Budget) -> Node:
    """The names as a tree; what is a number in a name is an index. Comments are kept. Raises `YqError`."""
    top = mapping()
    comments: list[str] = []
    lines = iter(text.splitlines())
    for line in lines:
        budget.step()
        stripped = line.lstrip(" \t\f")
        if not stripped:
            continue
        if stripped[0] in "#!":
            comments.append("# " + stripped[1:].strip())
            continue
        while (len(stripped) - len(stripped.rstrip("\\"))) % 2:
            stripped = stripped[:-1] + next(lines, "").lstrip(" \t\f")
        found = _LINE.match(stripped)
        assert found is not None
        value = string(_plain(found[2]))
        path = _plain(found[1]).split(".")
        if len(path) > _DEEPEST:
            raise YqError("nested too deeply (D-yq)")
        _put(top, path, value, "\n".join(comments), budget)
        comments = []
    return top


def _put(top: Node, path: list[str], value: Node, comment: str, budget: Budget) -> None:
    here = top
    for at, name in enumerate(path):
        last = at == len(path) - 1
        following = value if last else (sequence() if _is_index(path[at + 1]) else mapping())
        if here.kind == SEQUENCE and _is_index(name):
            here = _put_element(here, int(name), following, last, budget)
            if last:
                here.head = comment
        else:
            if here.kind == SEQUENCE:
                here.kind, here.tag, here.content = MAPPING, "!!map", []
            here = _put_entry(here, name, following, last, comment)


def _is_index(name: str) -> bool:
    return name.isascii() and name.isdecimal() and len(name) < 6


def _put_element(here: Node, index: int, following: Node, last: bool, budget: Budget) -> Node:
    if index > _LARGEST_INDEX:
        raise YqError(f"array index {index} is too large (D-yq)")
    budget.charge(index * 200)
    while len(here.content) <= index:
        here.adopt(Node(SCALAR, "!!null", "null"))
    old = here.content[index]
    if last or old.kind == SCALAR:
        following.parent, following.key = here, old.key
        here.content[index] = following
    return here.content[index]


def _put_entry(here: Node, name: str, following: Node, last: bool, comment: str) -> Node:
    for at in range(0, len(here.content), 2):
        if here.content[at].value == name:
            old = here.content[at + 1]
            if last or old.kind == SCALAR:
                following.parent, following.key = here, here.content[at]
                here.content[at + 1] = following
            return here.content[at + 1]
    key = string(name)
    if last:
        key.head = comment
    here.adopt_pair(key, following)
    return following


def properties_text(node: Node, budget: Budget, *, unwrap: bool, brackets: bool, separator: str = " = ") -> str:
    """The scalars with their paths, a line each; their comments above them, after an empty line but for the first."""
    if node.kind == SCALAR:
        return node.value + "\n"
    lines: list[str] = []
    pending: list[tuple[str, Node, list[str]]] = [("", node, [])]
    while pending:
        budget.step()
        path, item, comments = pending.pop()
        if item.kind == SCALAR:
            comments = comments + _comments(item)
            if comments:
                lines += (["\n"] if lines else []) + [f"# {comment}\n" for comment in comments]
            lines.append(_name(path) + separator + _written(item, unwrap) + "\n")
        elif item.kind == MAPPING:
            entries = [(f"{path}.{key.value}" if path else key.value, value, _comments(key)) for key, value in item.pairs()]
            pending.extend(reversed(entries))
        else:
            step = "[{}]" if brackets else ".{}"
            steps: list[tuple[str, Node, list[str]]] = [
                (path + step.replace("{}", str(at)) if path else str(at), one, []) for at, one in enumerate(item.content)
            ]
            pending.extend(reversed(steps))
    return "".join(lines)


def _comments(node: Node) -> list[str]:
    lines = (node.head + "\n" + node.line_comment).split("\n")
    return [line.lstrip("#").strip() for line in lines if line]


def _name(path: str) -> str:
    return _KEY.sub(lambda found: _WRITTEN.get(found[0]) or "\\" + found[0], path)


def _written(node: Node, unwrap: bool) -> str:
    value = _VALUE.sub(lambda found: _WRITTEN[found[0]], node.value)
    if not unwrap and node.tag == "!!str" and _BLANK.search(node.value):
        return '"' + value.replace('"', '\\"') + '"'
    return value
