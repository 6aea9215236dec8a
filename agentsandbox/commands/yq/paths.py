"""Paths and what changes along them: steps, assignment, merging, deletion, aliases."""

from __future__ import annotations

from agentsandbox.commands.yq.evaluation import (
    Context,
    Expression,
    Machine,
    each,
    operator,
    pairs,
    value_tag,
)
from agentsandbox.commands.yq.language import go_quoted
from agentsandbox.commands.yq.nodes import (
    ALIAS,
    MAPPING,
    SCALAR,
    SEQUENCE,
    Node,
    YqError,
    integer,
    null,
    sequence,
    string,
)
from agentsandbox.commands.yq.scalars import parse_integer
from agentsandbox.kernel.patterns.filenames import compile_glob

_LARGEST_INDEX = 1_000_000


# steps


def matches_key(text: str, pattern: str) -> bool:
    """Whether a text is what a key or a comparison names; "*" and "?" stand for any characters."""
    if "*" not in pattern and "?" not in pattern:
        return text == pattern
    quoted = pattern.replace("\\", "\\\\").replace("[", "\\[")
    return compile_glob(quoted, extglob=False).match(text) is not None


def target_of(node: Node) -> Node:
    """Return the node that an alias stands for, or any other node itself."""
    while node.kind == ALIAS and node.alias is not None:
        node = node.alias
    return node


def children(machine: Machine, node: Node) -> list[Node]:
    """Return the elements or the values of a node, merged ones too."""
    node = target_of(node)
    if node.kind == SEQUENCE:
        return list(node.content)
    return [value for _key, value in entries(machine, node).values()]


def entries(
    machine: Machine, node: Node, wanted: str | None = None
) -> dict[str, tuple[Node, Node]]:
    """Return the entries of a mapping, or those that a key names, with those of merge keys.

    The mapping's own entries win over merged ones, and earlier sources over later ones.
    """
    return machine.budget.nested(lambda: _merged_entries(machine, node, wanted))


def _merged_entries(
    machine: Machine, node: Node, wanted: str | None
) -> dict[str, tuple[Node, Node]]:
    found: dict[str, tuple[Node, Node]] = {}
    own = {key.value for key, _value in node.pairs()}
    for key, value in node.pairs():
        machine.budget.step()
        if key.tag == "!!merge" and wanted != key.value:
            for source in map(target_of, merge_sources(value)):
                for name, entry in entries(machine, source, wanted).items():
                    if name not in own:
                        found.setdefault(name, entry)
        elif wanted is None or matches_key(key.value, wanted):
            found[key.value] = (key, value)
    return found


def merge_sources(value: Node) -> list[Node]:
    """Return the mappings that a merge key names: one, or those in a sequence."""
    target = target_of(value)
    return target.content if target.kind == SEQUENCE else [target]


def _create(node: Node, kind: str) -> None:
    """Make a collection of a null that a path leads through."""
    node.kind = kind
    node.content = []
    node.tag = "!!map" if kind == MAPPING else "!!seq"
    node.value = ""
    node.style = 0


def _values_of(machine: Machine, node: Node, key: Node, *, creates: bool) -> list[Node]:
    found = [value for _key, value in entries(machine, node, key.value).values()]
    return found if found or not creates else [_new_entry(machine, node, key)]


def _new_entry(machine: Machine, node: Node, key: Node) -> Node:
    machine.meter.copied()
    if not node.content:
        node.style = 0
    own, made = Node(SCALAR, key.tag, key.value, key.style), null()
    node.add_entry(own, made)
    return made


def _element(machine: Machine, node: Node, wanted: str, *, optional: bool) -> list[Node]:
    index = parse_integer(wanted)
    if index is None:
        if optional:
            return []
        reason = f"strconv.ParseInt: parsing {go_quoted(wanted)}: invalid syntax"
        raise YqError(f"cannot index array with '{wanted}' ({reason})")
    if index > _LARGEST_INDEX:
        raise YqError(f"array index {index} is too large (D-yq)")
    size = len(node.content)
    if index >= size:
        if not node.content:
            node.style = 0
        machine.budget.charge(index * 200)
        for _ in range(index + 1 - size):
            machine.meter.copied()
            node.add(null())
    elif index < -size:
        raise YqError(f"index [{index}] out of range, array size is {size}")
    return [node.content[index]]


@operator("STEP")
def _path(machine: Machine, context: Context, expression: Expression) -> Context:
    key = string(expression.value)
    found: list[Node] = []
    for node in context.nodes:
        if node.tag == "!!null" and context.creates:
            _create(node, MAPPING)
        found += _indexed(machine, context, node, key, expression.options)
    return context.of(found)


def _indexed(machine: Machine, context: Context, node: Node, key: Node, options: str) -> list[Node]:
    node = target_of(node)
    if node.kind == MAPPING:
        return _values_of(machine, node, key, creates=context.creates)
    if node.kind == SEQUENCE:
        return _element(machine, node, key.value, optional="?" in options)
    return []


@operator("INDEX", arity=2, precedence=50)
def _index(machine: Machine, context: Context, expression: Expression) -> Context:
    brackets = expression.right
    if brackets is not None and brackets.right is not None and brackets.right.name == ":":
        raise YqError("slices are not supported by this yq (D-yq)")
    nodes = machine.evaluate(context, expression.left).nodes
    collection = machine.values(context, brackets)
    keys = collection[0].content if collection else []
    found: list[Node] = []
    for node in map(target_of, nodes):
        if node.tag == "!!null":
            _create(node, MAPPING if keys and keys[0].tag != "!!int" else SEQUENCE)
        if not keys:
            found += children(machine, node)
        for key in keys:
            found += _indexed(machine, context, node, key, expression.options)
    return context.of(found)


@operator(".")
def _self(machine: Machine, context: Context, expression: Expression) -> Context:
    return context


@operator("..")
def _recurse(machine: Machine, context: Context, expression: Expression) -> Context:
    return context.of(descendants(machine, context.nodes))


def descendants(machine: Machine, nodes: list[Node], *, arrays: bool = True) -> list[Node]:
    """Return nodes and all that they hold, parents first; `arrays` descends into sequences."""
    found: list[Node] = []
    pending = list(reversed(nodes))
    while pending:
        machine.meter.copied()
        node = pending.pop()
        found.append(node)
        if arrays or node.kind == MAPPING:
            pending.extend(reversed(node.values()))
    return found


# what a node says of its place


@operator("key")
def _key(machine: Machine, context: Context, expression: Expression) -> Context:
    keys = [node if node.is_key else node.key_node() for node in context.nodes]
    return context.of([key for key in keys if key is not None])


@each("path")
def _get_path(machine: Machine, context: Context, node: Node, expression: Expression) -> Node:
    made = node.replaced(sequence())
    for part in node.path():
        made.add(integer(part) if isinstance(part, int) else string(part))
    return made


@each("filename", "fileindex", "fi")
def _origin(machine: Machine, context: Context, node: Node, expression: Expression) -> Node:
    root = node.root()
    if expression.name == "filename":
        return node.scalar("!!str", root.filename)
    return node.scalar("!!int", str(root.file_index))


@each("tag", "type")
def _tag(machine: Machine, context: Context, node: Node, expression: Expression) -> Node:
    return node.scalar("!!str", node.tag)


# assignment


def update(machine: Machine, node: Node, other: Node, *, anchors: bool = False) -> None:
    """Make a node equal to another in all but its place."""
    if node is other:
        return
    emptied = node.kind != SCALAR and not node.content
    if emptied or value_tag(node) != value_tag(other):
        node.style = other.style
    copies = Node(other.kind)
    copies.extend(other.content, machine.meter)  # first, for `other` may be a part of `node`
    _take_form(node, other, anchors=anchors)
    node.hold(copies.content)
    node.value = other.value


def _take_form(node: Node, other: Node, *, anchors: bool) -> None:
    """Give a node the kind, the tag, the style and the comments of another."""
    if node.kind != other.kind:
        node.content = []
        node.value = ""
    node.kind = other.kind
    if node.tag.startswith("!!") or not node.tag:
        node.tag = other.tag
    node.alias = other.alias
    if anchors:
        node.anchor = other.anchor
    node.style = node.style or other.style
    node.foot = other.foot or node.foot
    node.head = other.head or node.head
    node.line_comment = other.line_comment or node.line_comment


@operator("=", arity=2, precedence=40)
def _assign(machine: Machine, context: Context, expression: Expression) -> Context:
    machine.evaluate(context, expression.left)  # creates the paths that the right side may read
    for left, right in pairs(machine, context.read_only(), expression):
        if left is not None and right is not None:
            update(machine, left, right)
    return context


@operator("|=", arity=2, precedence=40)
def _update(machine: Machine, context: Context, expression: Expression) -> Context:
    for node in reversed(machine.evaluate(context, expression.left).nodes):
        results = machine.evaluate(context.of([node]), expression.right).nodes
        if results:
            update(machine, node, results[0])
    return context


@operator("+=", "-=", "*=", arity=2, precedence=40)
def _compound(machine: Machine, context: Context, expression: Expression) -> Context:
    """`.a += b`: each node becomes what the operator makes of it and the right side."""
    inner = Expression(expression.name[0], expression.text, "", expression.options)
    inner.left, inner.right = Expression("VARIABLE"), expression.right
    for node in machine.evaluate(context, expression.left).nodes:
        bound = context.binding("", [node.copy(machine.meter)])
        for result in machine.evaluate(bound.read_only(), inner).nodes:
            update(machine, node, result)
    return context


# merging


def merge(machine: Machine, left: Node, right: Node, options: str = "") -> Node:
    """Return a copy of a collection with another of its kind merged in; "+" joins sequences."""
    made = left.copy(machine.meter)
    if not (left.head or left.leading):
        made.head, made.leading = right.head, right.leading
    made.foot = left.foot or right.foot
    base = len(right.path())
    for node in descendants(machine, [right], arrays=False):
        key = node.key if isinstance(node.key, Node) else None
        if key is not None and key.tag == "!!merge":
            continue
        place = _place(machine, made, node.path()[base:])
        if key is not None and isinstance(place.key, Node):
            _take_form(place.key, key, anchors=False)
        if "+" in options and node.kind == place.kind == SEQUENCE:
            place.extend(node.content, machine.meter)
        elif node.kind == MAPPING:
            _take_form(place, node, anchors=True)
        else:
            update(machine, place, node, anchors=True)
    return made


def _place(machine: Machine, node: Node, path: list[str | int]) -> Node:
    """Return the node at a path of keys; a new one if there is none."""
    for part in path:
        machine.budget.step()
        name = str(part)
        found = next((value for key, value in node.pairs() if key.value == name), None)
        node = found or _new_entry(machine, node, string(name))
    return node


# deleting


@operator("del", arity=1, precedence=40)
def _delete(machine: Machine, context: Context, expression: Expression) -> Context:
    doomed = machine.values(context, expression.right)
    parents: dict[int, tuple[Node, set[int]]] = {}
    for node in doomed:
        if node.parent is None:
            return context.of([one for one in context.nodes if one is not node])
        parents.setdefault(id(node.parent), (node.parent, set()))[1].add(id(node))
    for parent, gone in parents.values():
        if parent.kind == MAPPING:
            kept = [pair for pair in parent.pairs() if not {id(pair[0]), id(pair[1])} & gone]
            parent.content = [part for pair in kept for part in pair]
        else:
            parent.hold([node for node in parent.content if id(node) not in gone])
    return context


# aliases


@operator("explode", arity=1)
def _explode(machine: Machine, context: Context, expression: Expression) -> Context:
    for node in machine.evaluate(context, expression.right).nodes:
        explode(machine, node)
    return context


def explode(machine: Machine, node: Node) -> None:
    """Replace the aliases in a node by what they stand for, and resolve merge keys."""
    machine.budget.step()
    machine.budget.nested(lambda: _explode_node(machine, node))


def _explode_node(machine: Machine, node: Node) -> None:
    node.anchor = ""
    if node.kind == ALIAS and node.alias is not None:
        target = node.alias
        node.kind, node.style, node.tag = target.kind, target.style, target.tag
        node.value, node.alias = target.value, None
        node.extend(target.content, machine.meter)
    if node.kind == MAPPING and any(key.tag == "!!merge" for key in node.content[::2]):
        _resolve_merges(machine, node)
    for child in node.content:
        explode(machine, child)


def _resolve_merges(machine: Machine, node: Node) -> None:
    """Write the entries that merge keys bring in as entries of the mapping."""
    for key, value in node.pairs():
        for source in map(target_of, merge_sources(value) if key.tag == "!!merge" else ()):
            if source.kind != MAPPING:
                raise YqError(f"merge anchor only supports maps, got {source.tag} instead")
    parts = [part for entry in entries(machine, node).values() for part in entry]
    node.hold([part if part.parent is node else part.copy(machine.meter) for part in parts])
