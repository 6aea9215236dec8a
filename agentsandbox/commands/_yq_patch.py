"""A changed YAML document as an edit of its source, so that comments, anchors, quotes and flow style stay.

What the source says besides values is not in the values that an expression computes. Where the result is the document
with some values changed, added or taken out, only those places of the source are rewritten.
"""

from __future__ import annotations

import json
import re

from agentsandbox.commands._yq_yaml import Source, dump_yaml, inline_text, read_yaml
from agentsandbox.errors import CommandError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from agentsandbox.languages.jq.values import Value
    from agentsandbox.limits import Budget

__all__ = ["patched"]

_COMMENT = re.compile(r"(?m)(?:^|[ \t])#")
_DASH = re.compile(r"([ ]*(?:- +)*)- +\Z")
_LONGEST = 1024 * 1024
"""Characters of a source that is read once more to be edited."""


class _Node:
    """A value in the source: where it begins and ends, and what it holds."""

    __slots__ = ("end", "flow", "items", "keys", "kind", "last", "start", "style")

    def __init__(self, kind: str, start: tuple[int, int], end: tuple[int, int], style: str | None = None, *, flow: bool = False) -> None:
        self.kind = kind
        self.start = start
        self.end = end
        self.style = style
        self.flow = flow
        self.items: list[_Node] = []
        self.keys: list[str] = []
        """The keys of a mapping; `items` are then keys and values by turns."""
        self.last = max(start[0], end[0] - (end[1] == 0 and end[0] > start[0]))


class _Impossible(Exception):
    """The change is none that can be made in place."""


def patched(text: str, old: Value, value: Value, indent: int, budget: Budget) -> str | None:
    """The source of the document `old` changed to `value`; None if it has nothing to lose or cannot be changed in place."""
    if len(text) > _LONGEST or not isinstance(value, (dict, list)) or not value or type(old) is not type(value):
        return None
    try:
        root, worth = _tree(text, budget)
        if root is None or not (worth or _COMMENT.search(text)):
            return None
        patch = _Patch(text, max(indent, 1), budget)
        patch.change(root, old, value, 0)
        made = patch.text()
        again = list(read_yaml(made, "-", budget))
    except (_Impossible, CommandError):
        return None
    same = len(again) == 1 and dump_yaml(again[0], 2, budget) == dump_yaml(value, 2, budget)
    return made if same else None


def _tree(text: str, budget: Budget) -> tuple[_Node | None, bool]:
    """The nodes of the only document, and whether there is more in it than plain block style."""
    import yaml

    open_nodes: list[_Node] = []
    root: _Node | None = None
    worth = False
    for event in yaml.parse(Source(text, budget), Loader=yaml.SafeLoader):
        budget.step()
        if isinstance(event, (yaml.MappingEndEvent, yaml.SequenceEndEvent)):
            node = open_nodes.pop()
            node.end = _place(event.end_mark)
            node.last = node.end[0] if node.flow or not node.items else node.items[-1].last
            continue
        if not isinstance(event, yaml.NodeEvent):
            continue
        start, end = _place(event.start_mark), _place(event.end_mark)
        worth = worth or event.anchor is not None
        if isinstance(event, yaml.ScalarEvent):
            node = _Node("scalar", start, end, event.style)
            worth = worth or event.style in ("'", '"', ">")
        elif isinstance(event, yaml.AliasEvent):
            node = _Node("alias", start, end)
        else:
            assert isinstance(event, yaml.CollectionStartEvent)
            kind = "mapping" if isinstance(event, yaml.MappingStartEvent) else "sequence"
            node = _Node(kind, start, end, flow=bool(event.flow_style))
            worth = worth or node.flow
        if event.anchor is not None and not isinstance(event, yaml.AliasEvent):
            node.style = "&"  # what others refer to is not changed piece by piece
        if open_nodes:
            parent = open_nodes[-1]
            if parent.kind == "mapping" and len(parent.items) % 2 == 0:
                parent.keys.append(event.value if isinstance(event, yaml.ScalarEvent) else "")
            parent.items.append(node)
        else:
            root = node
        if node.kind in ("mapping", "sequence"):
            open_nodes.append(node)
    return root, worth


def _place(mark: Any) -> tuple[int, int]:
    """(line, column) of a mark, which is of PyYAML's own or of the C library's kind."""
    return mark.line, mark.column


class _Patch:
    """The edits of one source."""

    def __init__(self, text: str, step: int, budget: Budget) -> None:
        self.lines = text.split("\n")
        if self.lines[-1] == "":
            self.lines.pop()
        self.step = step
        self.budget = budget
        self.edits: list[tuple[tuple[int, int], tuple[int, int], str]] = []
        """(start, end, text): positions as (line, column)."""

    def text(self) -> str:
        """The source with all edits."""
        lines = [line + "\n" for line in self.lines]
        starts = [0]
        for line in lines:
            starts.append(starts[-1] + len(line))
        source = "".join(lines)
        parts: list[str] = []
        at = 0
        for start, end, made in sorted(self.edits, key=lambda edit: (edit[0], edit[1])):
            first, last = starts[start[0]] + start[1], starts[end[0]] + end[1]
            if first < at:
                raise _Impossible
            parts += [source[at:first], made]
            at = last
        parts.append(source[at:])
        return "".join(parts)

    def _same(self, old: Value, new: Value) -> bool:
        return old is new or dump_yaml(old, 2, self.budget) == dump_yaml(new, 2, self.budget)

    def change(self, node: _Node, old: Value, new: Value, depth: int) -> None:
        """Note the edits that make `new` of the node, whose value is `old`. Raises `_Impossible`."""
        self.budget.step()
        if self._same(old, new):
            return
        if node.kind == "alias" or node.style == "&" or depth > 200:
            raise _Impossible
        if isinstance(old, dict) and isinstance(new, dict) and node.kind == "mapping":
            self._change_mapping(node, old, new, depth)
        elif isinstance(old, list) and isinstance(new, list) and node.kind == "sequence":
            self._change_sequence(node, old, new, depth)
        elif node.kind == "scalar" and not isinstance(new, (dict, list)):
            self._change_scalar(node, new)
        else:
            raise _Impossible

    def _change_scalar(self, node: _Node, new: Value) -> None:
        if node.style in ("|", ">") or (isinstance(new, str) and "\n" in new):
            raise _Impossible
        text = inline_text(new)
        if isinstance(new, str) and node.style == '"':
            text = json.dumps(new, ensure_ascii=False)
        elif isinstance(new, str) and node.style == "'" and new.isprintable():
            text = "'" + new.replace("'", "''") + "'"
        if node.start == node.end:
            text = " " + text
        self.edits.append((node.start, node.end, text))

    def _change_mapping(self, node: _Node, old: dict[str, Value], new: dict[str, Value], depth: int) -> None:
        own = dict(zip(node.keys, zip(node.items[::2], node.items[1::2], strict=True), strict=True))
        kept = [name for name in new if name in old]
        if not kept or kept != [name for name in old if name in new] or len(own) != len(node.keys):
            raise _Impossible
        for name, value in old.items():
            entry = own.get(name)
            if name not in new:
                if entry is None:
                    raise _Impossible  # it comes from a merge
                self._remove(entry[0], entry[1], node)
            elif entry is not None:
                self._change_entry(node, entry, name, value, new[name], depth)
            elif not self._same(value, new[name]):
                raise _Impossible
        added = {name: value for name, value in new.items() if name not in old}
        if added:
            if node.flow or list(new)[-len(added) :] != list(added):
                raise _Impossible
            self._insert_after(node.last, node.items[0].start[1], dump_yaml(added, self.step, self.budget))

    def _change_entry(self, node: _Node, entry: tuple[_Node, _Node], name: str, old: Value, new: Value, depth: int) -> None:
        before = len(self.edits)
        try:
            self.change(entry[1], old, new, depth + 1)
        except _Impossible:
            del self.edits[before:]
            self._remove(entry[0], entry[1], node, dump_yaml({name: new}, self.step, self.budget))

    def _remove(self, first: _Node, last: _Node, parent: _Node, instead: str = "") -> None:
        """Take out the lines of an entry, or replace them."""
        line, column = first.start
        if parent.flow or self.lines[line][:column].strip():
            raise _Impossible
        self.edits.append(((line, 0), (last.last + 1, 0), _indented(instead, column)))

    def _insert_after(self, line: int, column: int, text: str) -> None:
        self.edits.append(((line + 1, 0), (line + 1, 0), _indented(text, column)))

    def _change_sequence(self, node: _Node, old: list[Value], new: list[Value], depth: int) -> None:
        if not new:
            raise _Impossible
        if len(new) < len(old):
            self._remove_items(node, old, new)
            return
        for item, value, changed in zip(node.items, old, new, strict=False):
            self.change(item, value, changed, depth + 1)
        if len(new) > len(old):
            if node.flow or not node.items:
                raise _Impossible
            self._insert_after(node.last, self._dash(node.items[0]), dump_yaml(new[len(old) :], self.step, self.budget))

    def _dash(self, item: _Node) -> int:
        """The column of the dash before an item."""
        found = _DASH.match(self.lines[item.start[0]][: item.start[1]])
        if found is None:
            raise _Impossible
        return len(found[1])

    def _remove_items(self, node: _Node, old: list[Value], new: list[Value]) -> None:
        at = 0
        for item, value in zip(node.items, old, strict=True):
            if at < len(new) and self._same(value, new[at]):
                at += 1
                continue
            column = self._dash(item)
            if node.flow or self.lines[item.start[0]][:column].strip():
                raise _Impossible
            self.edits.append(((item.start[0], 0), (item.last + 1, 0), ""))
        if at < len(new):
            raise _Impossible


def _indented(text: str, column: int) -> str:
    margin = " " * column
    return "".join(margin + line if line.strip() else line for line in text.splitlines(keepends=True))
