"""Paths: keys, indices, slices, all descendants, and back to parents."""

from __future__ import annotations

from agentsandbox.commands.yq.evaluation import Context, Machine, YqError, each, is_true, operator
from agentsandbox.commands.yq.nodes import (
    ALIAS,
    MAPPING,
    SCALAR,
    SEQUENCE,
    Node,
    null,
    sequence,
    string,
)
from agentsandbox.commands.yq.numbers import parse_index
from agentsandbox.commands.yq.parser import Expression
from agentsandbox.kernel.patterns.filenames import compile_glob

_LARGEST_INDEX = 1_000_000


def matches_key(text: str, pattern: str) -> bool:
    """Whether a text is what a key or a comparison says, in which "*" and "?" stand for any
    characters.
    """
    if "*" not in pattern and "?" not in pattern:
        return text == pattern
    quoted = pattern.replace("\\", "\\\\").replace("[", "\\[")
    return compile_glob(quoted, extglob=False).match(text) is not None


# the descent


def children(
    machine: Machine, node: Node, *, follow: bool = True, keys: bool = False
) -> list[Node]:
    """What a node holds; `follow`: of a merged mapping too."""
    if node.kind == ALIAS and node.alias is not None:
        node = node.alias
    if node.kind == SEQUENCE:
        return list(node.content)
    if node.kind != MAPPING:
        return []
    found: dict[tuple[bool, str], Node] = {}
    _collect_map(machine, node, None, found, follow=follow, keys=keys, values=True)
    return list(found.values())


def _collect_map(
    machine: Machine,
    node: Node,
    wanted: str | None,
    found: dict[tuple[bool, str], Node],
    *,
    follow: bool,
    keys: bool,
    values: bool,
) -> None:
    machine.budget.deeper()
    try:
        for key, value in node.pairs():
            machine.budget.step()
            if follow and key.tag == "!!merge" and wanted != key.value:
                _collect_merged(machine, value, wanted, found, keys=keys, values=values)
            elif wanted is None or matches_key(key.value, wanted):
                if keys:
                    found[True, key.value] = key
                if values:
                    found[False, key.value] = value
    finally:
        machine.budget.shallower()


def _collect_merged(
    machine: Machine,
    value: Node,
    wanted: str | None,
    found: dict[tuple[bool, str], Node],
    *,
    keys: bool,
    values: bool,
) -> None:
    """What a merge key brings in: a mapping, or those of a sequence; nothing of anything else."""
    target = value.alias if value.kind == ALIAS and value.alias is not None else value
    if target.kind == MAPPING:
        _collect_map(machine, target, wanted, found, follow=True, keys=keys, values=values)
    elif target.kind == SEQUENCE:
        machine.budget.deeper()
        try:
            for item in target.content:
                machine.budget.step()
                _collect_merged(machine, item, wanted, found, keys=keys, values=values)
        finally:
            machine.budget.shallower()


def child_of(
    machine: Machine,
    node: Node,
    key: Node,
    *,
    creates: bool,
    follow: bool = True,
    keys: bool = False,
    values: bool = True,
) -> list[Node]:
    """The values (or keys) of a mapping that a key names, made where there are none and
    `creates`.
    """
    found: dict[tuple[bool, str], Node] = {}
    _collect_map(machine, node, key.value, found, follow=follow, keys=keys, values=values)
    if found or not creates:
        return list(found.values())
    machine.meter.copied()
    if not node.content:
        node.style = 0
    made = null()
    own = Node(SCALAR, key.tag, key.value, key.style)
    own.line_comment, own.head, own.foot = key.line_comment, key.head, key.foot
    node.adopt_pair(own, made)
    return ([own] if keys else []) + ([made] if values else [])


def descendants(
    machine: Machine, nodes: list[Node], *, keys: bool, arrays: bool = True
) -> list[Node]:
    """The nodes and all they hold, each before its own."""
    found: list[Node] = []
    pending = list(reversed(nodes))
    while pending:
        machine.meter.copied()
        node = pending.pop()
        found.append(node)
        if node.kind == MAPPING:
            inner = (
                [part for pair in node.pairs() for part in pair]
                if keys
                else [value for _key, value in node.pairs()]
            )
            pending.extend(reversed(inner))
        elif node.kind == SEQUENCE and arrays:
            pending.extend(reversed(node.content))
    return found


def _become(node: Node, kind: str) -> None:
    """A null that a path leads through is what the path says."""
    if node.kind != kind:
        node.kind = kind
        node.content = []
    node.tag = "!!map" if kind == MAPPING else "!!seq"
    node.value = ""
    node.style = 0


def _step(machine: Machine, context: Context, node: Node, expression: Expression) -> list[Node]:
    if node.kind == ALIAS:
        return _step(machine, context, node.alias, expression) if node.alias is not None else []
    if node.tag == "!!null" and context.creates:
        _become(node, MAPPING)
    if node.kind == MAPPING:
        return child_of(machine, node, string(expression.value), creates=context.creates)
    if node.kind == SEQUENCE:
        return _elements(
            machine, node, [string(expression.value)], "optional" in expression.options
        )
    return []


@operator("path")
def _path(machine: Machine, context: Context, expression: Expression) -> Context:
    return context.of(
        [found for node in context.nodes for found in _step(machine, context, node, expression)]
    )


def _elements(
    machine: Machine, node: Node, indices: list[Node], optional: bool, *, creates: bool = True
) -> list[Node]:
    found: list[Node] = []
    for wanted in indices:
        index = parse_index(wanted.value)
        if index is None:
            if optional:
                continue
            reason = f"strconv.ParseInt: parsing {_go_quoted(wanted.value)}: invalid syntax"
            raise YqError(f"cannot index array with '{wanted.value}' ({reason})")
        if index > _LARGEST_INDEX:
            raise YqError(f"array index {index} is too large (D-yq)")
        if len(node.content) <= index:
            if not creates:
                continue
            if not node.content:
                node.style = 0
            machine.budget.charge(index * 200)
            while len(node.content) <= index:
                machine.meter.copied()
                node.adopt(null())
        place = index if index >= 0 else len(node.content) + index
        if place < 0:
            raise YqError(f"index [{index}] out of range, array size is {len(node.content)}")
        found.append(node.content[place])
    return found


def _go_quoted(text: str) -> str:
    from agentsandbox.commands.yq.lexer import quoted

    return quoted(text)


@operator("traverse_array")
def _traverse_array(machine: Machine, context: Context, expression: Expression) -> Context:
    indices_expression = expression.right
    if (
        indices_expression is not None
        and indices_expression.right is not None
        and indices_expression.right.name == "create_map"
    ):
        return _slice(machine, context, expression.left, indices_expression.right)
    nodes = machine.evaluate(context, expression.left).nodes
    collection = machine.values(context, indices_expression)
    indices = collection[0].content if collection else []
    optional = "optional" in expression.options
    found: list[Node] = []
    for node in nodes:
        found += _indexed(machine, context, node, indices, optional)
    return context.of(found)


def _indexed(
    machine: Machine, context: Context, node: Node, indices: list[Node], optional: bool
) -> list[Node]:
    if node.kind == ALIAS:
        return (
            _indexed(machine, context, node.alias, indices, optional)
            if node.alias is not None
            else []
        )
    if node.tag == "!!null":
        _become(node, MAPPING if indices and indices[0].tag != "!!int" else SEQUENCE)
    if not indices:
        return children(machine, node)
    if node.kind == SEQUENCE:
        return _elements(machine, node, indices, optional)
    if node.kind == MAPPING:
        return [
            found
            for key in indices
            for found in child_of(machine, node, key, creates=context.creates)
        ]
    return []


def _slice(
    machine: Machine, context: Context, left: Expression | None, bounds: Expression
) -> Context:
    results: list[Node] = []
    for node in machine.evaluate(context, left).nodes:
        inner = context.read_only(node)
        first, last = (machine.values(inner, side) for side in (bounds.left, bounds.right))
        start = parse_index(first[0].value) if first else 0
        end = parse_index(last[0].value) if last else 0
        if start is None or end is None:
            bad = (first if start is None else last)[0].value
            raise YqError(f"strconv.ParseInt: parsing {_go_quoted(bad)}: invalid syntax")
        if node.kind == SCALAR and node.tag == "!!str":
            results.append(
                node.scalar(
                    "!!str", node.value[_bound(start, node.value) : _bound(end, node.value)]
                )
            )
            continue
        if node.kind != SEQUENCE:
            continue
        made = node.replaced(sequence())
        for item in node.content[_bound(start, node.content) : _bound(end, node.content)]:
            made.adopt(item.copy(machine.meter))
        results.append(made)
    return context.of(results)


def _bound(index: int, what: str | list[Node]) -> int:
    size = len(what)
    return max(0, min(size + index if index < 0 else index, size))


@operator("recurse")
def _recurse(machine: Machine, context: Context, expression: Expression) -> Context:
    return context.of(descendants(machine, context.nodes, keys="keys" in expression.options))


@operator("self")
def _self(machine: Machine, context: Context, expression: Expression) -> Context:
    return context


def create_path(
    machine: Machine, node: Node, path: list[str | int], *, creates: bool, key: bool = False
) -> list[Node]:
    """The nodes at a path below a node, keys of mappings exactly; `key`: the key of the last step
    itself.
    """
    nodes = [node]
    for at, part in enumerate(path):
        last = key and at == len(path) - 1
        found: list[Node] = []
        for here in nodes:
            if here.tag == "!!null" and creates:
                _become(here, SEQUENCE if isinstance(part, int) else MAPPING)
            if here.kind == MAPPING:
                found += _exact(machine, here, str(part), creates=creates, key=last)
            elif here.kind == SEQUENCE:
                found += _elements(machine, here, [string(str(part))], False, creates=creates)
        nodes = found
    return nodes


def _exact(machine: Machine, node: Node, name: str, *, creates: bool, key: bool) -> list[Node]:
    for own, value in node.pairs():
        machine.budget.step()
        if own.value == name:
            return [own if key else value]
    if not creates:
        return []
    machine.meter.copied()
    if not node.content:
        node.style = 0
    own, made = string(name), null()
    node.adopt_pair(own, made)
    return [own if key else made]


# what a node says of its place


@operator("key")
def _key(machine: Machine, context: Context, expression: Expression) -> Context:
    found: list[Node] = []
    for node in context.nodes:
        if node.is_key:
            found.append(node)
        else:
            key = node.key_node()
            if key is not None:
                found.append(key)
    return context.of(found)


@operator("parent")
def _parent(machine: Machine, context: Context, expression: Expression) -> Context:
    level = int(expression.value or "1")
    found: list[Node] = []
    for node in context.nodes:
        line: list[Node] = [node]
        while line[-1].parent is not None:
            line.append(line[-1].parent)
        if level < 0:
            found.append(line[max(level, -len(line))])
        elif level < len(line):
            found.append(line[level])
    return context.of(found)


@each("get_path")
def _get_path(machine: Machine, context: Context, node: Node, expression: Expression) -> Node:
    made = node.replaced(sequence())
    for part in node.path():
        made.adopt(Node(SCALAR, "!!int" if isinstance(part, int) else "!!str", str(part)))
    return made


@each("filename")
def _filename(machine: Machine, context: Context, node: Node, expression: Expression) -> Node:
    return node.scalar("!!str", node.root().filename)


@each("file_index")
def _file_index(machine: Machine, context: Context, node: Node, expression: Expression) -> Node:
    return node.scalar("!!int", str(node.root().file_index))


@each("document_index")
def _document_index(machine: Machine, context: Context, node: Node, expression: Expression) -> Node:
    return node.scalar("!!int", str(node.root().document))


@operator("split_doc")
def _split_doc(machine: Machine, context: Context, expression: Expression) -> Context:
    for at, node in enumerate(context.nodes):
        node.parent = None
        node.key = None
        node.document = at
    return context


@operator("select")
def _select(machine: Machine, context: Context, expression: Expression) -> Context:
    found: list[Node] = []
    for node in context.nodes:
        results = machine.values(context.single(node), expression.right)
        if results and is_true(results[0]):
            found.append(node)
    return context.of(found)
