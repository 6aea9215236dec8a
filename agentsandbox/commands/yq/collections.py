"""Operators on mappings and sequences as a whole."""

from __future__ import annotations

from functools import cmp_to_key

from agentsandbox.commands.yq.arithmetic import order
from agentsandbox.commands.yq.assignment import update_from
from agentsandbox.commands.yq.evaluation import (
    Context,
    Machine,
    YqError,
    collected,
    each,
    is_true,
    operator,
    truth,
)
from agentsandbox.commands.yq.nodes import (
    ALIAS,
    MAPPING,
    SCALAR,
    SEQUENCE,
    Node,
    mapping,
    null,
    sequence,
    string,
)
from agentsandbox.commands.yq.numbers import parse_index
from agentsandbox.commands.yq.parser import Expression
from agentsandbox.commands.yq.traversal import children
from agentsandbox.commands.yq.writer import write_yaml

__all__: list[str] = []


def _same_place(node: Node, made: Node) -> Node:
    """A collection in the place of another, with its comments."""
    node.replaced(made)
    made.leading, made.head, made.line_comment, made.foot = (
        node.leading,
        node.head,
        node.line_comment,
        node.foot,
    )
    return made


def _array(node: Node) -> list[Node]:
    if node.kind != SEQUENCE:
        raise YqError(f"node at path [{node.nice_path()}] is not an array (it's a {node.tag})")
    return node.content


@each("length")
def _length(machine: Machine, context: Context, node: Node, expression: Expression) -> Node:
    if node.kind == SCALAR:
        size = 0 if node.tag == "!!null" else len(node.value)
    else:
        size = len(node.content) // 2 if node.kind == MAPPING else len(node.content)
    return node.scalar("!!int", str(size))


@each("keys")
def _keys(machine: Machine, context: Context, node: Node, expression: Expression) -> Node:
    made = node.replaced(sequence())
    if node.kind == MAPPING:
        for key in node.content[::2]:
            made.adopt(key.copy(machine.meter))
    elif node.kind == SEQUENCE:
        for at in range(len(node.content)):
            made.adopt(Node(SCALAR, "!!int", str(at)))
    else:
        raise YqError(f"cannot get keys of {node.tag}, keys only works for maps and arrays")
    return made


@operator("has")
def _has(machine: Machine, context: Context, expression: Expression) -> Context:
    wanted = machine.values(context, expression.right)
    key = wanted[0] if wanted else null()
    found: list[Node] = []
    for node in context.nodes:
        has = False
        if node.kind == MAPPING:
            has = any(own.value == key.value for own in node.content[::2])
        elif node.kind == SEQUENCE and key.tag == "!!int":
            index = parse_index(key.value)
            has = index is not None and -1 < index < len(node.content)
        found.append(truth(node, has))
    return context.of(found)


# entries


def _entry(machine: Machine, key: Node, value: Node) -> Node:
    entry = mapping()
    entry.add_pair(string("key"), key, machine.meter)
    entry.add_pair(string("value"), value, machine.meter)
    return entry


def _entries(machine: Machine, node: Node) -> Node | None:
    made = _same_place(node, sequence())
    if node.kind == MAPPING:
        for key, value in node.pairs():
            made.adopt(_entry(machine, key, value))
    elif node.kind == SEQUENCE:
        for at, value in enumerate(node.content):
            made.adopt(_entry(machine, Node(SCALAR, "!!int", str(at)), value))
    elif node.tag == "!!null":
        return None
    else:
        raise YqError(f"{node.tag} has no keys")
    return made


@operator("to_entries")
def _to_entries(machine: Machine, context: Context, expression: Expression) -> Context:
    made = [_entries(machine, node) for node in context.nodes]
    return context.of([node for node in made if node is not None])


def _from_entries(machine: Machine, node: Node) -> Node:
    if node.kind != SEQUENCE:
        raise YqError("from entries only runs against arrays")
    made = node.bare_copy()
    made.kind, made.tag = MAPPING, "!!map"
    for at, entry in enumerate(node.content):
        parts: list[Node] = []
        for name in ("key", "value"):
            values = (
                [value for key, value in entry.pairs() if key.value == name]
                if entry.kind == MAPPING
                else []
            )
            if len(values) != 1:
                raise YqError(
                    f"expected to find one '{name}' entry but found {len(values)} in position {at}"
                )
            parts.append(values[0])
        made.add_pair(parts[0], parts[1], machine.meter)
    return made


@each("from_entries")
def _from_entries_operator(
    machine: Machine, context: Context, node: Node, expression: Expression
) -> Node:
    return _from_entries(machine, node)


@operator("with_entries")
def _with_entries(machine: Machine, context: Context, expression: Expression) -> Context:
    found: list[Node] = []
    for node in context.nodes:
        entries = _entries(machine, node)
        if entries is None:
            continue
        changed = [
            found
            for entry in entries.content
            for found in machine.evaluate(context.single(entry), expression.right).nodes
        ]
        again = collected(machine, changed, node)
        again.leading, again.head, again.foot = node.leading, node.head, node.foot
        found.append(_from_entries(machine, again))
    return context.of(found)


# element by element


@operator("map")
def _map(machine: Machine, context: Context, expression: Expression) -> Context:
    found: list[Node] = []
    for node in context.nodes:
        items = children(machine, node)
        if not items:
            found.append(node.copy(machine.meter))
            continue
        made = collected(machine, machine.evaluate(context.of(items), expression.right).nodes, node)
        made.style = node.style
        found.append(made)
    return context.of(found)


@each("filter")
def _filter(machine: Machine, context: Context, node: Node, expression: Expression) -> Node:
    kept = [
        item
        for item in children(machine, node)
        if _chosen(machine, context, item, expression.right)
    ]
    made = collected(machine, kept, node)
    made.style = node.style
    return made


def _chosen(machine: Machine, context: Context, node: Node, condition: Expression | None) -> bool:
    results = machine.values(context.single(node), condition)
    return bool(results) and is_true(results[0])


@operator("map_values")
def _map_values(machine: Machine, context: Context, expression: Expression) -> Context:
    for node in context.nodes:
        for value in children(machine, node):
            results = machine.evaluate(context.single(value), expression.right).nodes
            if results:
                update_from(machine, value, results[0], anchors=False)
    return context


@operator("first", "first_of")
def _first(machine: Machine, context: Context, expression: Expression) -> Context:
    found: list[Node] = []
    for node in context.nodes:
        for item in children(machine, node):
            if expression.right is None or _chosen(machine, context, item, expression.right):
                found.append(item)
                break
    return context.of(found)


# parts


@operator("pick", "omit")
def _pick(machine: Machine, context: Context, expression: Expression) -> Context:
    wanted = machine.values(context, expression.right)
    names = wanted[0].content if wanted else []
    pick = expression.name == "pick"
    return context.of([_picked(machine, node, names, pick) for node in context.nodes])


def _picked(machine: Machine, node: Node, names: list[Node], pick: bool) -> Node:
    if node.kind == MAPPING:
        made = _same_place(node, node.bare_copy())
        own = {key.value: (key, value) for key, value in node.pairs()}
        if pick:
            chosen = [own[name.value] for name in names if name.value in own]
        else:
            unwanted = {name.value for name in names}
            chosen = [pair for pair in node.pairs() if pair[0].value not in unwanted]
        for key, value in chosen:
            made.add_pair(key, value, machine.meter)
        return made
    if node.kind != SEQUENCE:
        raise YqError(
            f"cannot {'pick' if pick else 'omit'} indices from type {node.tag} ({node.nice_path()})"
        )
    made = _same_place(node, node.bare_copy())
    indices: list[int] = []
    for name in names:
        index = parse_index(name.value)
        if index is None:
            raise YqError(f"cannot index array with {name.value}")
        indices.append(index)
    size = len(node.content)
    order_of = (
        [at for at in indices if 0 <= at < size]
        if pick
        else [at for at in range(size) if at not in indices]
    )
    for at in order_of:
        made.adopt(node.content[at].copy(machine.meter))
    return made


@operator("flatten")
def _flatten(machine: Machine, context: Context, expression: Expression) -> Context:
    depth = int(expression.value) if expression.value else -1
    for node in context.nodes:
        if node.kind != SEQUENCE:
            raise YqError("only arrays are supported for flatten")
        flat: list[Node] = []
        pending = [(item, depth) for item in reversed(node.content)]
        while pending:
            machine.meter.copied()
            item, left = pending.pop()
            if item.kind == SEQUENCE and left != 0:
                pending.extend((inner, left - 1) for inner in reversed(item.content))
            else:
                flat.append(item)
        node.keep(flat)
    return context


@each("reverse")
def _reverse(machine: Machine, context: Context, node: Node, expression: Expression) -> Node:
    made = _same_place(node, node.bare_copy())
    for item in reversed(_array(node)):
        made.adopt(item.copy(machine.meter))
    return made


@operator("min", "max")
def _extreme(machine: Machine, context: Context, expression: Expression) -> Context:
    sign = -1 if expression.name == "min" else 1
    found: list[Node] = []
    for node in context.nodes:
        best: Node | None = None
        for item in _array(node):
            if item.kind != SCALAR:
                raise YqError(
                    f"{'min' if sign < 0 else 'max'} only works for scalars, got {item.tag}"
                )
            if best is None or order(item, best) == sign:
                best = item
        if best is not None:
            found.append(best)
    return context.of(found)


# order and groups


@operator("sort_keys")
def _sort_keys(machine: Machine, context: Context, expression: Expression) -> Context:
    for node in context.nodes:
        for one in machine.evaluate(context.single(node), expression.right).nodes:
            if one.kind == MAPPING:
                pairs = sorted(one.pairs(), key=lambda pair: pair[0].value)
                machine.budget.step(len(pairs))
                one.content = [part for pair in pairs for part in pair]
    return context


@each("sort", "sort_by")
def _sort(machine: Machine, context: Context, node: Node, expression: Expression) -> Node:
    if node.kind == SCALAR or node.kind == ALIAS:
        raise YqError(
            f"node at path [{node.nice_path()}] is not an array or map (it's a {node.tag})"
        )
    keyed: list[tuple[list[Node], Node]] = []
    for item in node.values():
        keys = (
            [item]
            if expression.right is None
            else machine.values(context.single(item), expression.right)
        )
        keyed.append((keys, item))
    machine.budget.step(len(keyed) * max(1, len(keyed).bit_length()))
    keyed.sort(key=cmp_to_key(_order_of_keys))
    made = _same_place(node, node.bare_copy())
    for _keys_of, item in keyed:
        if isinstance(item.key, Node):
            made.add_pair(item.key, item, machine.meter)
        else:
            made.adopt(item.copy(machine.meter))
    return made


def _order_of_keys(left: tuple[list[Node], Node], right: tuple[list[Node], Node]) -> int:
    for one, other in zip(left[0], right[0], strict=False):
        if one.kind != SCALAR or other.kind != SCALAR:
            continue
        compared = order(one, other)
        if compared:
            return compared
    return (len(left[0]) > len(right[0])) - (len(left[0]) < len(right[0]))


def _key_of(machine: Machine, context: Context, item: Node, expression: Expression | None) -> str:
    keys = [item] if expression is None else machine.values(context.single(item), expression)
    if not keys:
        return "null"
    if keys[0].kind == SCALAR:
        return "null" if keys[0].tag == "!!null" else keys[0].value
    return write_yaml(keys[0], 2, machine.budget)


@each("unique", "unique_by")
def _unique(machine: Machine, context: Context, node: Node, expression: Expression) -> Node:
    if node.kind != SEQUENCE:
        raise YqError("only arrays are supported for unique")
    first: dict[str, Node] = {}
    for item in node.content:
        first.setdefault(_key_of(machine, context, item, expression.right), item)
    made = _same_place(node, sequence())
    made.style = node.style
    for item in first.values():
        made.adopt(item.copy(machine.meter))
    return made


@each("group_by")
def _group_by(machine: Machine, context: Context, node: Node, expression: Expression) -> Node:
    if node.kind != SEQUENCE:
        raise YqError("only arrays are supported for group by")
    groups: dict[str, list[Node]] = {}
    for item in node.content:
        groups.setdefault(_key_of(machine, context, item, expression.right), []).append(item)
    made = node.replaced(sequence())
    for group in groups.values():
        made.adopt(collected(machine, group))
    return made
