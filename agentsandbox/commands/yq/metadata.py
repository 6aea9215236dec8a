"""What nodes carry besides values: comments, styles, tags, anchors."""

from __future__ import annotations

import re

from agentsandbox.commands.yq.evaluation import Context, Machine, YqError, each, operator
from agentsandbox.commands.yq.nodes import (
    ALIAS,
    DOUBLE,
    FLOW,
    FOLDED,
    LITERAL,
    MAPPING,
    SEQUENCE,
    SINGLE,
    TAGGED,
    Node,
)
from agentsandbox.commands.yq.parser import Expression

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

SEPARATOR = "$yqDocSeparator$"
"""Stands for "---" in the text before a document."""
_STYLES = {
    "": 0,
    "tagged": TAGGED,
    "double": DOUBLE,
    "single": SINGLE,
    "literal": LITERAL,
    "folded": FOLDED,
    "flow": FLOW,
}
_STYLE_NAMES = {number: name for name, number in _STYLES.items()}
_COMMENT_SIGN = re.compile(r"(?:^|(?<=\n))# ")


def leading_text(leading: str, *, separators: bool) -> str:
    """The comments and separators before a document as they are printed."""
    if not leading:
        return ""
    parts: list[str] = []
    for line in leading.splitlines(keepends=True):
        if SEPARATOR in line:
            if separators:
                parts.append("---\n")
        else:
            stripped = line.lstrip()
            parts.append(line if not stripped or stripped[0] in "#%" else "# " + line)
    text = "".join(parts)
    return text if not text or text.endswith("\n") else text + "\n"


def _assign_each(
    machine: Machine, context: Context, expression: Expression, put: Callable[[Node, str], None]
) -> Context:
    """Give every node of the left side the right side's value: once and for all, or each its
    own.
    """
    update = "update" in expression.options
    value = "" if update else machine.text(context, expression.right)
    for node in machine.evaluate(context, expression.left).nodes:
        if update:
            values = machine.values(context.single(node), expression.right)
            value = values[0].value if values else value
        put(node, value)
    return context


# comments


@operator("assign_comment")
def _assign_comment(machine: Machine, context: Context, expression: Expression) -> Context:
    options = expression.options
    everything = "all" in options

    def put(node: Node, comment: str) -> None:
        if everything or "line" in options:
            node.line_comment = comment
        if everything or "head" in options:
            node.head = comment
            node.leading = ""
        if everything or "foot" in options:
            node.foot = comment

    return _assign_each(machine, context, expression, put)


@each("get_comment")
def _get_comment(machine: Machine, context: Context, node: Node, expression: Expression) -> Node:
    if "line" in expression.options:
        comment = node.line_comment
    elif "head" in expression.options:
        comment = (
            leading_text(node.leading, separators=False).removesuffix("\n")
            if node.leading
            else node.head
        )
    else:
        comment = node.foot
    return node.scalar("!!str", _COMMENT_SIGN.sub("", comment))


# styles, tags, kinds


@operator("assign_style")
def _assign_style(machine: Machine, context: Context, expression: Expression) -> Context:
    def put(node: Node, name: str) -> None:
        if name not in _STYLES:
            raise YqError(f"unknown style {name}")
        node.style = _STYLES[name]

    return _assign_each(machine, context, expression, put)


@each("get_style")
def _get_style(machine: Machine, context: Context, node: Node, expression: Expression) -> Node:
    return node.scalar("!!str", _STYLE_NAMES.get(node.style, "<unknown>"))


@operator("assign_tag")
def _assign_tag(machine: Machine, context: Context, expression: Expression) -> Context:
    def put(node: Node, tag: str) -> None:
        node.tag = tag

    return _assign_each(machine, context, expression, put)


@each("get_tag")
def _get_tag(machine: Machine, context: Context, node: Node, expression: Expression) -> Node:
    return node.scalar("!!str", node.tag)


@each("kind")
def _kind(machine: Machine, context: Context, node: Node, expression: Expression) -> Node:
    return node.scalar("!!str", node.kind)


# anchors


@each("get_anchor")
def _get_anchor(machine: Machine, context: Context, node: Node, expression: Expression) -> Node:
    return node.scalar("!!str", node.anchor)


@each("get_alias")
def _get_alias(machine: Machine, context: Context, node: Node, expression: Expression) -> Node:
    return node.scalar("!!str", node.value)


@operator("explode")
def _explode(machine: Machine, context: Context, expression: Expression) -> Context:
    for node in context.nodes:
        for one in machine.evaluate(context.single(node), expression.right).nodes:
            explode(machine, one)
    return context


def explode(machine: Machine, node: Node) -> None:
    """Replace aliases in a node by what they stand for, and merge what is to be merged."""
    machine.budget.step()
    machine.budget.deeper()
    try:
        node.anchor = ""
        if node.kind == ALIAS:
            target = node.alias
            if target is not None:
                node.kind, node.style, node.tag, node.value, node.alias = (
                    target.kind,
                    target.style,
                    target.tag,
                    target.value,
                    None,
                )
                node.add_all(target.content, machine.meter)
                for child in node.content:
                    explode(machine, child)
        elif node.kind == SEQUENCE:
            for child in node.content:
                explode(machine, child)
        elif node.kind == MAPPING:
            if any(_merges(key) for key in node.content[::2]):
                _merge_aliases(machine, node)
            else:
                for child in node.content:
                    explode(machine, child)
    finally:
        machine.budget.shallower()


def _merges(key: Node) -> bool:
    return key.value == "<<" and key.tag != "!!str"


def _merge_aliases(machine: Machine, node: Node) -> None:
    """A mapping with "<<" as one without: its own entries win over merged ones that stand before
    them.
    """
    content = list(node.content)
    last = {part.value: at for at, part in enumerate(content) if part.alias is None}
    made: dict[str, tuple[Node, Node]] = {}

    def override(key: Node, value: Node, start: int) -> None:
        machine.meter.copied()
        explode(machine, value)
        if key.value in made:
            made[key.value] = (made[key.value][0], value)
        elif last.get(key.value, -1) <= start or not any(
            part.value == key.value and part.alias is None for part in content[start + 2 :: 2]
        ):
            explode(machine, key)
            made[key.value] = (key, value)

    for at, (key, value) in enumerate(node.pairs()):
        if not _merges(key):
            override(key, value, 2 * at)
            continue
        sources = value.content if value.kind == SEQUENCE else [value]
        for place, source in reversed(list(enumerate(sources))):
            target = (
                source.alias if source.kind == ALIAS else source if source.kind == MAPPING else None
            )
            if target is None:
                continue
            if target.kind != MAPPING:
                raise YqError(f"merge anchor only supports maps, got {target.tag} instead")
            copy = target.copy(machine.meter)
            explode(machine, copy)
            for own, inner in copy.pairs():
                # in a list yq looks for later entries from its own place in the list, not from that of "<<"
                override(own, inner, place if value.kind == SEQUENCE else 2 * at)
    node.keep([part for pair in made.values() for part in pair])
