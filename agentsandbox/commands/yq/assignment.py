"""Changing documents: assignments, merges, deletions, and the values and variables they use."""

from __future__ import annotations

from agentsandbox.commands.yq.evaluation import (
    Context,
    Machine,
    YqError,
    cross,
    guessed_tag,
    is_true,
    operator,
)
from agentsandbox.commands.yq.nodes import ALIAS, MAPPING, SCALAR, SEQUENCE, Node, sequence
from agentsandbox.commands.yq.parser import Expression
from agentsandbox.commands.yq.traversal import create_path, descendants

# taking over another node


def update_attributes(
    node: Node, other: Node, *, anchors: bool = True, clobber: bool = False
) -> None:
    """The node becomes of the other's kind, with its tag, style and comments; what it holds stays,
    if the kind does.
    """
    if node.kind != other.kind:
        node.content = []
        node.value = ""
    node.kind = other.kind
    if clobber or node.tag.startswith("!!") or not node.tag:
        node.tag = other.tag
    node.alias = other.alias
    if anchors:
        node.anchor = other.anchor
    node.style = node.style or other.style
    node.foot = other.foot or node.foot
    node.head = other.head or node.head
    node.line_comment = other.line_comment or node.line_comment


def update_from(
    machine: Machine, node: Node, other: Node, *, anchors: bool = True, clobber: bool = False
) -> None:
    """The node becomes the other in all but its place."""
    if node is other:
        return
    emptied = node.kind != SCALAR and not node.content
    if emptied or guessed_tag(machine, node) != guessed_tag(machine, other):
        node.style = other.style
    copies = Node(other.kind)
    copies.add_all(
        other.content, machine.meter
    )  # before the node changes, which may be a part of the other
    node.kind = other.kind
    node.keep(copies.content)
    node.value = other.value
    update_attributes(node, other, anchors=anchors, clobber=clobber)


@operator("assign")
def _assign(machine: Machine, context: Context, expression: Expression) -> Context:
    options = expression.options
    clobber = "c" in options
    targets = machine.evaluate(context, expression.left).nodes
    if "update" not in options:

        def put(machine: Machine, left: Node | None, right: Node | None) -> Node | None:
            if left is not None and right is not None:
                update_from(machine, left, right, anchors=False, clobber=clobber)
            return left

        cross(machine, context.read_only(), expression, put)
        return context
    for node in reversed(targets):
        results = machine.evaluate(context.single(node), expression.right).nodes
        if results:
            update_from(machine, node, results[0], anchors=False, clobber=clobber)
    return context


def _compound(machine: Machine, context: Context, expression: Expression, name: str) -> Context:
    """`.a += b`: each node becomes what the operator makes of it and the right side."""
    inner = Expression(name, expression.text, "", expression.options)
    inner.right = expression.right
    inner.left = Expression("node")
    for node in machine.evaluate(context, expression.left).nodes:
        copy = node.copy(machine.meter)
        bound = context.binding("", [copy])
        results = machine.evaluate(bound.read_only(), inner).nodes
        for result in results:
            if "n" not in expression.options or node.tag == "!!null" or node.kind != SCALAR:
                update_from(machine, node, result, anchors=False)
    return context


@operator("node")
def _node(machine: Machine, context: Context, expression: Expression) -> Context:
    return context.of(context.variables[""])


@operator("add_assign", "subtract_assign", "multiply_assign")
def _compound_assign(machine: Machine, context: Context, expression: Expression) -> Context:
    return _compound(machine, context, expression, expression.name.removesuffix("_assign"))


# merging


@operator("multiply")
def _multiply(machine: Machine, context: Context, expression: Expression) -> Context:
    options = expression.options

    def calculate(machine: Machine, left: Node | None, right: Node | None) -> Node | None:
        assert left is not None and right is not None
        return merged(machine, left, right, options)

    return cross(machine, context.read_only(), expression, calculate)


def merged(machine: Machine, left: Node, right: Node, options: frozenset[str]) -> Node:
    """The product of two nodes: mappings and sequences merge.

    Options: "+" appends sequences, "d" merges their elements, "?" takes only keys that are there,
    "n" only those that are not, "c" takes tags of one's own making too.
    """
    from agentsandbox.commands.yq.arithmetic import multiplied

    if right.tag == "!!null":
        return left.copy(machine.meter)
    if right.kind in (MAPPING, SEQUENCE) and (left.kind == right.kind or left.tag == "!!null"):
        made = left.copy(machine.meter)
        if not (left.head or left.leading):
            made.head, made.leading = right.head, right.leading
        made.foot = left.foot or right.foot
        _merge(machine, made, right, options)
        return made
    return multiplied(machine, left, right)


def _merge(machine: Machine, target: Node, source: Node, options: frozenset[str]) -> None:
    base = len(source.path())
    for node in descendants(machine, [source], keys=True, arrays="d" in options):
        if node.tag == "!!merge":
            continue
        found = create_path(
            machine, target, node.path()[base:], creates="?" not in options, key=node.is_key
        )
        for place in found:
            _merge_into(machine, place, node, options)


def _merge_into(machine: Machine, place: Node, node: Node, options: frozenset[str]) -> None:
    if "n" in options and place.tag != "!!null":
        return
    if node.kind == SEQUENCE and "+" in options:
        from agentsandbox.commands.yq.arithmetic import added

        update_from(machine, place, added(machine, place.copy(machine.meter), node))
    elif node.kind in (SCALAR, ALIAS) or (node.kind == SEQUENCE and "d" not in options):
        update_from(machine, place, node, clobber="c" in options)
    else:
        update_attributes(place, node, clobber="c" in options)


# deleting


@operator("delete")
def _delete(machine: Machine, context: Context, expression: Expression) -> Context:
    doomed = machine.values(context, expression.right)
    for node in doomed:
        if node.parent is None:
            return context.of([one for one in context.nodes if one is not node])
    _remove(doomed)
    return context


def _remove(doomed: list[Node]) -> None:
    parents: dict[int, tuple[Node, set[int]]] = {}
    for node in doomed:
        assert node.parent is not None
        parents.setdefault(id(node.parent), (node.parent, set()))[1].add(id(node))
    for parent, gone in parents.values():
        if parent.kind == MAPPING:
            names = {node.value for node in parent.content[::2] if id(node) in gone}
            names |= {key.value for key, value in parent.pairs() if id(value) in gone}
            parent.content = [
                part for pair in parent.pairs() if pair[0].value not in names for part in pair
            ]
        else:
            parent.keep([node for node in parent.content if id(node) not in gone])


# sequences of operators


@operator("pipe", "short_pipe")
def _pipe(machine: Machine, context: Context, expression: Expression) -> Context:
    left = expression.left
    if left is not None and left.name == "as":
        return _bind(machine, context, left, expression.right)
    piped = machine.evaluate(context, left)
    inner = context.writable() if piped.creates else context
    results = machine.evaluate(inner.of(piped.nodes), expression.right)
    return (context.writable() if results.creates else context).of(results.nodes)


def _bind(
    machine: Machine, context: Context, binding: Expression, body: Expression | None
) -> Context:
    variable = binding.right
    if variable is None or variable.name != "variable":
        raise YqError("RHS of 'as' operator must be a variable name e.g. $foo")
    results: list[Node] = []
    together = bool(context.nodes) and all(node.together for node in context.nodes)
    for single in [context] if together else [context.single(node) for node in context.nodes]:
        values = machine.values(single, binding.left)
        if not values:
            results += machine.evaluate(single, body).nodes
        for value in values:
            kept = value.copy(machine.meter)
            results += machine.evaluate(single.binding(variable.value, [kept]), body).nodes
    return context.of(results)


@operator("as")
def _as(machine: Machine, context: Context, expression: Expression) -> Context:
    raise YqError("must use variable with a pipe, e.g. `exp as $x | ...`")


@operator("variable")
def _variable(machine: Machine, context: Context, expression: Expression) -> Context:
    nodes = context.variables.get(expression.value)
    return context.of([] if nodes is None else list(nodes))


@operator("ireduce")
def _reduce(machine: Machine, context: Context, expression: Expression) -> Context:
    binding, block = expression.left, expression.right
    if binding is None or binding.name != "as" or binding.right is None:
        raise YqError(
            f"reduce must be given an assign variable, got {binding.name.upper() if binding else ''} instead"
        )
    if block is None or block.name != "block":
        raise YqError(
            f"reduce must be given a block, got {block.name.upper() if block else ''} instead"
        )
    items = machine.evaluate(context, binding.left).nodes
    result = machine.evaluate(context, block.left)
    for item in items:
        machine.budget.step()
        result = machine.evaluate(result.binding(binding.right.value, [item]), block.right)
    return context.of(result.nodes)


@operator("union")
def _union(machine: Machine, context: Context, expression: Expression) -> Context:
    left = machine.evaluate(context, expression.left).nodes
    return context.of(left + machine.evaluate(context, expression.right).nodes)


@operator("block", "empty")
def _empty(machine: Machine, context: Context, expression: Expression) -> Context:
    return context.of([])


@operator("with")
def _with(machine: Machine, context: Context, expression: Expression) -> Context:
    block = expression.right
    if block is None or block.name != "block":
        raise YqError(
            f"with must be given a block (;), got {block.name.upper() if block else ''} instead"
        )
    for node in machine.evaluate(context, block.left).nodes:
        machine.evaluate(context.single(node), block.right)
    return context


@operator("alternative")
def _alternative(machine: Machine, context: Context, expression: Expression) -> Context:
    def choose(machine: Machine, left: Node | None, right: Node | None) -> Node | None:
        return right if left is None else left if right is None or is_true(left) else right

    def alone(left: Node | None) -> Node | None:
        return left if is_true(left) else None

    return cross(machine, context, expression, choose, when_empty=True, left_alone=alone)


# making values


@operator("number")
def _number(machine: Machine, context: Context, expression: Expression) -> Context:
    tag = "!!int" if "int" in expression.options else "!!float"
    return _constant(machine, context, tag, expression.value)


@operator("value")
def _value(machine: Machine, context: Context, expression: Expression) -> Context:
    return _constant(
        machine, context, "!!bool" if "bool" in expression.options else "!!null", expression.value
    )


def _constant(machine: Machine, context: Context, tag: str, value: str) -> Context:
    return context.of([Node(SCALAR, tag, value) for _ in range(max(1, len(context.nodes)))])


@operator("collect")
def _collect(machine: Machine, context: Context, expression: Expression) -> Context:
    if not context.nodes:
        return context.single(Node(SEQUENCE, "!!seq", "[]"))
    if all(node.together for node in context.nodes):
        made = sequence()
        for node in context.nodes:
            _gathered(machine, context.read_only(node), expression.right, made)
        return context.single(made)
    return context.of(
        [
            _gathered(machine, context.read_only(node), expression.right, node.replaced(sequence()))
            for node in context.nodes
        ]
    )


def _gathered(
    machine: Machine, context: Context, expression: Expression | None, made: Node
) -> Node:
    for node in machine.evaluate(context, expression).nodes:
        made.adopt(node.copy(machine.meter))
    return made


@operator("create_map")
def _create_map(machine: Machine, context: Context, expression: Expression) -> Context:
    """For each node the mappings of one entry that it gives; `collect_object` puts those of the
    same node together.
    """
    outer = Node(SEQUENCE, "!!seq")
    owners: list[Node | None] = [*context.nodes]
    for node in owners or [None]:
        inner = context.of([] if node is None else [node])

        def pair(
            machine: Machine, left: Node | None, right: Node | None, owner: Node | None = node
        ) -> Node | None:
            assert left is not None and right is not None
            made = Node(MAPPING, "!!map")
            made.add_pair(left, right, machine.meter)
            if owner is not None:
                root = owner.root()
                made.document, made.filename, made.file_index = (
                    root.document,
                    root.filename,
                    root.file_index,
                )
            return made

        group = Node(SEQUENCE, "!!seq")
        group.content = cross(machine, inner, expression, pair).nodes
        outer.content.append(group)
    return context.single(outer)


@operator("collect_object")
def _collect_object(machine: Machine, context: Context, expression: Expression) -> Context:
    context = context.writable()  # what is made here is nobody's document
    if not context.nodes:
        return context.single(Node(MAPPING, "!!map", "{}"))
    results: list[Node] = []
    size = len(context.nodes[0].content)
    if any(len(entry.content) < size for entry in context.nodes):
        raise YqError(
            "CollectObject: mismatching node sizes; are you creating a map with mismatching key value pairs?"
        )
    for at in range(size):
        made: list[Node] = []
        for entry in context.nodes:
            choices = entry.content[at].content
            if not made:
                made = list(choices)
            else:
                made = [
                    merged(machine, one, choice, frozenset()) for one in made for choice in choices
                ]
        for node in made:
            copy = node.copy(machine.meter)
            copy.parent = None
            copy.key = None
            results.append(copy)
    return context.of(results)
