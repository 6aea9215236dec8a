"""The operators of the language but for paths: control, arithmetic, comparison, collections, texts.

Importing this module and `paths` fills the table of operators.
"""

from __future__ import annotations

import math
import re
from functools import cmp_to_key

from agentsandbox.commands._json.regexes import Pattern, compile_pattern, searches
from agentsandbox.commands._json.values import JqError
from agentsandbox.commands.yq.evaluation import (
    Context,
    Expression,
    Machine,
    binary,
    collected,
    each,
    is_true,
    operator,
    pairs,
    truth,
    value_tag,
)
from agentsandbox.commands.yq.json_format import json_text, read_json
from agentsandbox.commands.yq.nodes import (
    DOUBLE,
    MAPPING,
    SCALAR,
    SEQUENCE,
    Node,
    YqError,
    integer,
    mapping,
    null,
    sequence,
    string,
)
from agentsandbox.commands.yq.paths import children, explode, matches_key, merge
from agentsandbox.commands.yq.reader import read_yaml
from agentsandbox.commands.yq.scalars import format_float, parse_float, parse_integer, wrapped
from agentsandbox.commands.yq.writer import write_yaml

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

_NUMBERS = ("!!int", "!!float")
_PART_BYTES = 64
_TEMPLATE = re.compile(r"\$(?:(\$)|\{(\w+)\}|(\w+))", re.ASCII)
_INTERPOLATION = re.compile(r"(?<!\\)\\\(")
_HINT = "Hint: Most often you'll want to use '|=' over '=' for this operation"


# control


@operator("|", arity=2, precedence=30)
@operator("THEN", arity=2, precedence=45)
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
    if variable is None or variable.name != "VARIABLE":
        raise YqError("RHS of 'as' operator must be a variable name e.g. $foo")
    results: list[Node] = []
    for group in context.groups():
        for value in machine.values(group, binding.left):
            bound = group.binding(variable.value, [value.copy(machine.meter)])
            results += machine.evaluate(bound, body).nodes
    return context.of(results)


@operator("as", arity=2, precedence=40)
def _as(machine: Machine, context: Context, expression: Expression) -> Context:
    raise YqError("must use variable with a pipe, e.g. `exp as $x | ...`")


@operator("VARIABLE")
def _variable(machine: Machine, context: Context, expression: Expression) -> Context:
    return context.of(list(context.variables.get(expression.value, ())))


@operator("ireduce", arity=2, precedence=35)
def _reduce(machine: Machine, context: Context, expression: Expression) -> Context:
    binding, block = expression.left, expression.right
    if binding is None or binding.name != "as" or binding.right is None:
        raise YqError("reduce must be given an assign variable")
    if block is None or block.name != ";":
        raise YqError("reduce must be given a block")
    items = machine.evaluate(context, binding.left).nodes
    result = machine.evaluate(context, block.left)
    for item in items:
        result = machine.evaluate(result.binding(binding.right.value, [item]), block.right)
    return context.of(result.nodes)


@operator(",", arity=2, precedence=10)
def _union(machine: Machine, context: Context, expression: Expression) -> Context:
    left = machine.evaluate(context, expression.left).nodes
    return context.of(left + machine.evaluate(context, expression.right).nodes)


@operator(";", arity=2, precedence=10)
@operator("EMPTY")
def _empty(machine: Machine, context: Context, expression: Expression) -> Context:
    return context.of([])


@operator("//", arity=2, precedence=42)
def _alternative(machine: Machine, context: Context, expression: Expression) -> Context:
    found: list[Node] = []
    for left, right in pairs(machine, context, expression, empty=True, decided=is_true):
        # evaluating the right side may have changed the left node
        chosen = left if right is None or is_true(left) else right
        if chosen is not None:
            found.append(chosen)
    return context.of(found)


@operator("select", arity=1)
def _select(machine: Machine, context: Context, expression: Expression) -> Context:
    chosen = [node for node in context.nodes if machine.holds(context, node, expression.right)]
    return context.of(chosen)


# new values


@operator("CONSTANT")
def _constant(machine: Machine, context: Context, expression: Expression) -> Context:
    tag, count = expression.options, max(1, len(context.nodes))
    return context.of([Node(SCALAR, tag, expression.value) for _ in range(count)])


@operator("STRING")
def _string(machine: Machine, context: Context, expression: Expression) -> Context:
    if _INTERPOLATION.search(expression.value):
        raise YqError("\\(...) in a string is not supported by this yq (D-yq)")
    text = expression.value.replace("\\\\(", "\\(")
    return context.of([string(text) for _ in range(max(1, len(context.nodes)))])


@operator("COLLECT", arity=1)
def _collect(machine: Machine, context: Context, expression: Expression) -> Context:
    if not context.nodes:
        return context.of([Node(SEQUENCE, "!!seq", "[]")])
    made: list[Node] = []
    for group in context.groups():
        nodes = machine.evaluate(group.read_only(), expression.right).nodes
        made.append(collected(machine, nodes, None if group is context else group.nodes[0]))
    return context.of(made)


@operator(":", arity=2, precedence=15)
def _pair(machine: Machine, context: Context, expression: Expression) -> Context:
    """Make, for each node, the mappings of one entry that it gives: a sequence of sequences."""
    outer = sequence()
    for single in [context.of([node]) for node in context.nodes] or [context]:
        group = sequence()
        for key, value in pairs(machine, single, expression):
            assert key is not None and value is not None
            made = mapping()
            made.add_entry(key.copy(machine.meter), value.copy(machine.meter))
            if single.nodes:
                root = single.nodes[0].root()
                made.document, made.filename = root.document, root.filename
                made.file_index = root.file_index
            group.content.append(made)
        outer.content.append(group)
    return context.of([outer])


@operator("OBJECT")
def _object(machine: Machine, context: Context, expression: Expression) -> Context:
    """Merge the mappings of `_pair`, those of the same node together."""
    context = context.writable()
    if not context.nodes:
        return context.of([Node(MAPPING, "!!map", "{}")])
    if any(len(part.content) < len(context.nodes[0].content) for part in context.nodes):
        raise YqError(
            "CollectObject: mismatching node sizes; "
            "are you creating a map with mismatching key value pairs?"
        )
    results: list[Node] = []
    for position in range(len(context.nodes[0].content)):
        choices = [part.content[position].content for part in context.nodes]
        made = choices[0]
        for following in choices[1:]:
            made = [merge(machine, one, other) for one in made for other in following]
        for node in made:
            copy = node.copy(machine.meter)
            copy.parent = copy.key = None
            results.append(copy)
    return context.of(results)


@each("env", "strenv")
def _environment(machine: Machine, context: Context, node: Node, expression: Expression) -> Node:
    name = expression.value
    value = machine.environment.get(name)
    if value is None:
        raise YqError(f"value for env variable '{name}' not provided in env()")
    if expression.name == "strenv":
        return string(value)
    document = next(iter(read_yaml(value, machine.budget)), None)
    return document if document is not None else Node(SCALAR, "!!null", "")


# arithmetic


def _integer(node: Node) -> int:
    parsed = parse_integer(node.value)
    if parsed is None:
        raise YqError(f'strconv.ParseInt: parsing "{node.value}": invalid syntax')
    return parsed


def _float(node: Node) -> float:
    value = parse_float(node.value)
    if value is None:
        raise YqError(f'strconv.ParseFloat: parsing "{node.value}": invalid syntax')
    return value


def _tags(left: Node, right: Node) -> tuple[str, str]:
    return value_tag(left), value_tag(right)


def _result(left: Node, tag: str, value: str) -> Node:
    made = left.bare_copy()
    made.kind, made.tag, made.value = SCALAR, tag, value
    return made


def _numbers(
    left: Node,
    right: Node,
    on_integers: Callable[[int, int], int] | None,
    on_floats: Callable[[float, float], float],
) -> Node | None:
    """Return the result of an operator on two numbers, or None if one of them is not a number."""
    tags = _tags(left, right)
    if left.kind != SCALAR or right.kind != SCALAR or not set(tags) <= set(_NUMBERS):
        return None
    if tags == ("!!int", "!!int") and on_integers is not None:
        value = on_integers(_integer(left), _integer(right))
        return _result(left, left.tag, str(wrapped(value)))
    tag = "!!float" if left.tag.startswith("!!") else left.tag
    return _result(left, tag, format_float(on_floats(_float(left), _float(right))))


def _refuse_times(left: Node) -> None:
    if left.tag == "!!timestamp":
        raise YqError("arithmetic on times is not supported by this yq (D-yq)")


@binary("+", precedence=42)
def _added(machine: Machine, left: Node, right: Node, expression: Expression) -> Node:
    if left.tag == "!!null":
        return left.replaced(right.copy(machine.meter))
    if left.kind == SEQUENCE:
        made = left.copy(machine.meter)
        if not left.content:
            made.style = 0
        extra = right.content if right.kind == SEQUENCE else [right]
        for node in extra if right.tag != "!!null" else []:
            copy = node.copy(machine.meter)
            if right.kind != SEQUENCE and left.content:
                copy.style = left.content[0].style
            made.add(copy)
        return made
    if left.kind != right.kind:
        raise YqError(
            f"{right.tag} ({right.displayed_path()}) cannot be added to a "
            f"{left.tag} ({left.displayed_path()})"
        )
    if left.kind == MAPPING:
        return _added_mappings(machine, left, right)
    _refuse_times(left)
    tags = _tags(left, right)
    if "!!str" in tags:
        text = left.value if tags[1] == "!!null" else left.value + right.value
        machine.budget.charge(len(text))
        return _result(left, left.tag if tags[0] == "!!str" else right.tag, text)
    total = _numbers(left, right, lambda a, b: a + b, lambda a, b: a + b)
    if total is None:
        raise YqError(f"{tags[0]} cannot be added to {tags[1]}")
    return total


def _added_mappings(machine: Machine, left: Node, right: Node) -> Node:
    made = left.copy(machine.meter)
    if not left.content:
        made.style = 0
    pairs = {key.value: (key, value) for key, value in made.pairs()}
    for key, value in right.copy(machine.meter).pairs():
        pairs[key.value] = (pairs.get(key.value, (key, value))[0], value)
    made.hold([part for pair in pairs.values() for part in pair])
    return made


@binary("-", precedence=42)
def _subtracted(machine: Machine, left: Node, right: Node, expression: Expression) -> Node:
    if left.tag == "!!null":
        return left.replaced(right.copy(machine.meter))
    if left.kind == MAPPING:
        raise YqError("maps not yet supported for subtraction")
    if left.kind != right.kind:
        raise YqError(
            f"{right.tag} ({right.displayed_path()}) cannot be subtracted from {left.tag}"
        )
    if left.kind == SEQUENCE:
        raise YqError("subtraction of arrays is not supported by this yq (D-yq)")
    _refuse_times(left)
    tags = _tags(left, right)
    if tags[0] == "!!str":
        raise YqError("strings cannot be subtracted")
    difference = _numbers(left, right, lambda a, b: a - b, lambda a, b: a - b)
    if difference is None:
        raise YqError(f"{tags[0]} cannot be added to {tags[1]}")
    return difference


@binary("*", precedence=42)
def _multiplied(machine: Machine, left: Node, right: Node, expression: Expression) -> Node:
    if right.tag == "!!null":
        return left.copy(machine.meter)
    if right.kind in (MAPPING, SEQUENCE) and (left.kind == right.kind or left.tag == "!!null"):
        return merge(machine, left, right, expression.options)
    product = _numbers(left, right, lambda a, b: a * b, lambda a, b: a * b)
    if product is None:
        raise YqError(f"cannot multiply {left.tag} with {right.tag}")
    return product


@binary("/", precedence=42)
def _divided(machine: Machine, left: Node, right: Node, expression: Expression) -> Node:
    made = _numbers(left, right, None, _quotient)
    if made is None:
        raise YqError(
            f"{left.tag} ({left.displayed_path()}) cannot be divided by "
            f"{right.tag} ({right.displayed_path()})"
        )
    return made


def _quotient(dividend: float, divisor: float) -> float:
    if divisor:
        return dividend / divisor
    return math.nan if not dividend or math.isnan(dividend) else math.copysign(math.inf, dividend)


# comparison


@operator("==", "!=", arity=2, precedence=40)
def _equals(machine: Machine, context: Context, expression: Expression) -> Context:
    found: list[Node] = []
    for left, right in pairs(machine, context.read_only(), expression, empty=True):
        if left is None or right is None or left.tag == "!!null":
            same = all(side is None or side.tag == "!!null" for side in (left, right))
        else:
            same = left.kind == right.kind == SCALAR and matches_key(left.value, right.value)
        found.append(truth(left or right, same == (expression.name == "==")))
    return context.of(found)


@operator("<", "<=", ">", ">=", arity=2, precedence=40)
def _compare(machine: Machine, context: Context, expression: Expression) -> Context:
    found: list[Node] = []
    for left, right in pairs(machine, context.read_only(), expression, empty=True):
        holds = "=" in expression.name and left is right
        if left is not None and right is not None:
            holds = _compared(left, right, expression.name)
        found.append(truth(left or right, holds))
    return context.of(found)


def _compared(left: Node, right: Node, name: str) -> bool:
    for side in (left, right):
        if side.kind in (MAPPING, SEQUENCE):
            what = "maps" if side.kind == MAPPING else "arrays"
            raise YqError(f"{what} not yet supported for comparison")
    tags = _tags(left, right)
    if "!!null" in tags:
        return tags[0] == tags[1] and "=" in name
    if "!!bool" in tags or not (tags[0] == tags[1] or set(tags) <= set(_NUMBERS)):
        raise YqError(f"{tags[0]} not yet supported for comparison")
    order = _order(left, right)
    return "=" in name if order == 0 else (order > 0) == (">" in name)


def _order(left: Node, right: Node) -> int:
    """Return -1, 0 or 1 as `left` sorts before, with or after `right`: null, booleans, the rest."""
    tags = _tags(left, right)
    ranks = [{"!!null": 0, "!!bool": 1}.get(tag, 2) for tag in tags]
    first: float | str = left.value
    second: float | str = right.value
    if ranks[0] != ranks[1] or ranks[0] == 0:
        first, second = ranks
    elif ranks[0] == 1:
        first, second = is_true(left), is_true(right)
    elif tags == ("!!int", "!!int"):
        first, second = _integer(left), _integer(right)
    elif set(tags) <= set(_NUMBERS):
        first, second = _float(left), _float(right)
    return (first > second) - (first < second)  # type: ignore[operator]


@operator("or", "and", arity=2, precedence=20)
def _either(machine: Machine, context: Context, expression: Expression) -> Context:
    decisive = expression.name == "or"

    def decided(left: Node | None) -> bool:
        return is_true(left) == decisive

    found: list[Node] = []
    for left, right in pairs(machine, context.read_only(), expression, empty=True, decided=decided):
        value = decisive if decided(left) else is_true(right)
        found.append(truth(left or right, value))
    return context.of(found)


@each("not")
def _not(machine: Machine, context: Context, node: Node, expression: Expression) -> Node:
    return truth(node, not is_true(node))


# collections


@each("length")
def _length(machine: Machine, context: Context, node: Node, expression: Expression) -> Node:
    size = len(node.values())
    if node.kind == SCALAR:
        size = 0 if node.tag == "!!null" else len(node.value)
    return node.scalar("!!int", str(size))


@each("keys")
def _keys(machine: Machine, context: Context, node: Node, expression: Expression) -> Node:
    made = node.replaced(sequence())
    if node.kind == MAPPING:
        made.extend(node.content[::2], machine.meter)
    elif node.kind == SEQUENCE:
        made.hold([integer(position) for position in range(len(node.content))])
    else:
        raise YqError(f"cannot get keys of {node.tag}, keys only works for maps and arrays")
    return made


@each("has", arity=1)
def _has(machine: Machine, context: Context, node: Node, expression: Expression) -> Node:
    key = next(iter(machine.values(context, expression.right)), null())
    has = False
    if node.kind == MAPPING:
        has = any(own.value == key.value for own in node.content[::2])
    elif node.kind == SEQUENCE and key.tag == "!!int":
        has = parse_integer(key.value) in range(len(node.content))
    return truth(node, has)


@each("toentries")
def _to_entries(
    machine: Machine, context: Context, node: Node, expression: Expression
) -> Node | None:
    """Return a collection as a sequence of mappings with "key" and "value"."""
    if node.tag == "!!null":
        return None
    if node.kind == SCALAR:
        raise YqError(f"{node.tag} has no keys")
    made = node.replaced_collection(sequence())
    keys = node.content[::2] if node.kind == MAPPING else map(integer, range(len(node.content)))
    for key, value in zip(keys, node.values(), strict=True):
        entry = mapping()
        parts = [string("key"), key.copy(machine.meter), string("value")]
        entry.hold([*parts, value.copy(machine.meter)])
        made.add(entry)
    return made


@each("fromentries")
def _from_entries(machine: Machine, context: Context, node: Node, expression: Expression) -> Node:
    if node.kind != SEQUENCE:
        raise YqError("from entries only runs against arrays")
    made = node.bare_copy()
    made.kind, made.tag = MAPPING, "!!map"
    for position, entry in enumerate(node.content):
        parts: list[Node] = []
        for name in ("key", "value"):
            pairs = entry.pairs() if entry.kind == MAPPING else ()
            values = [value for key, value in pairs if key.value == name]
            if len(values) != 1:
                raise YqError(
                    f"expected to find one '{name}' entry but found {len(values)} "
                    f"in position {position}"
                )
            parts.append(values[0].copy(machine.meter))
        made.add_entry(parts[0], parts[1])
    return made


@each("withentries", arity=1)
def _with_entries(
    machine: Machine, context: Context, node: Node, expression: Expression
) -> Node | None:
    entries = _to_entries(machine, context, node, expression)
    if entries is None:
        return None
    changed: list[Node] = []
    for entry in entries.content:
        changed += machine.evaluate(context.of([entry]), expression.right).nodes
    made = collected(machine, changed, node)
    made.leading, made.head, made.foot = node.leading, node.head, node.foot
    return _from_entries(machine, context, made, expression)


@each("map", arity=1)
def _map(machine: Machine, context: Context, node: Node, expression: Expression) -> Node:
    items = children(machine, node)
    if items:
        items = machine.evaluate(context.of(items), expression.right).nodes
    made = collected(machine, items, node)
    made.style = node.style
    return made


@operator("sortkeys", arity=1)
def _sort_keys(machine: Machine, context: Context, expression: Expression) -> Context:
    for node in machine.evaluate(context, expression.right).nodes:
        if node.kind == MAPPING:
            pairs = sorted(node.pairs(), key=lambda pair: pair[0].value)
            machine.budget.step(len(pairs))
            node.content = [part for pair in pairs for part in pair]
    return context


@each("sort")
@each("sortby", arity=1)
def _sort(machine: Machine, context: Context, node: Node, expression: Expression) -> Node:
    if node.kind not in (MAPPING, SEQUENCE):
        raise YqError(
            f"node at path [{node.displayed_path()}] is not an array or map (it's a {node.tag})"
        )
    keyed = [(machine.values(context.of([item]), expression.right), item) for item in node.values()]
    machine.budget.step(len(keyed) * max(1, len(keyed).bit_length()))
    keyed.sort(key=cmp_to_key(_order_of_keys))
    made = node.replaced_collection(node.bare_copy())
    parts = [part for _keys, item in keyed for part in (item.key, item) if isinstance(part, Node)]
    made.extend(parts, machine.meter)
    return made


def _order_of_keys(left: tuple[list[Node], Node], right: tuple[list[Node], Node]) -> int:
    for one, other in zip(left[0], right[0], strict=False):
        compared = _order(one, other) if one.kind == other.kind == SCALAR else 0
        if compared:
            return compared
    return (len(left[0]) > len(right[0])) - (len(left[0]) < len(right[0]))


# texts


def _require_text(node: Node, verb: str, hint: str = "") -> None:
    if value_tag(node) != "!!str":
        raise YqError(
            f"cannot {verb} {node.tag}, can only {verb.split(maxsplit=1)[0]} strings{hint}"
        )


@each("upcase", "downcase", "asciiupcase", "asciidowncase", "trim")
def _change_text(machine: Machine, context: Context, node: Node, expression: Expression) -> Node:
    name = expression.name.removeprefix("ascii")
    if value_tag(node) != "!!str":
        what = f"trim {node.tag}" if name == "trim" else f"change case with {node.tag}"
        raise YqError(f"cannot {what}, can only operate on strings. ")
    text = node.value.strip()
    if name != "trim":
        text = node.value.upper() if name == "upcase" else node.value.lower()
    made = node.scalar(node.tag, text)
    made.style = node.style
    return made


@each("tostring")
def _to_string(machine: Machine, context: Context, node: Node, expression: Expression) -> Node:
    text = node.value
    if node.kind != SCALAR:
        text = write_yaml(node, 2, machine.budget).removesuffix("\n")
    made = node.scalar("!!str", text)
    made.style = node.style if node.tag == "!!str" else DOUBLE
    return made


@each("join", arity=1)
def _join(machine: Machine, context: Context, node: Node, expression: Expression) -> Node:
    separator = machine.text(context, expression.right)
    if node.kind != SEQUENCE:
        raise YqError(f"cannot join with {node.tag}, can only join arrays of scalars")
    texts = ["" if item.tag == "!!null" else item.value for item in node.content]
    machine.budget.charge(sum(map(len, texts)) + len(separator) * len(texts))
    return node.scalar("!!str", separator.join(texts))


@each("split", arity=1)
def _split(machine: Machine, context: Context, node: Node, expression: Expression) -> Node | None:
    if node.tag == "!!null":
        return None
    _require_text(node, "split")
    separator = machine.text(context, expression.right)
    made = node.replaced(sequence())
    text = node.value
    machine.budget.charge(_PART_BYTES * (text.count(separator) if separator else len(text)))
    for part in text.split(separator) if separator and text else text:
        machine.meter.copied()
        made.add(string(part))
    return made


@operator("contains", arity=1)
def _contains(machine: Machine, context: Context, expression: Expression) -> Context:
    found: list[Node] = []
    for node in context.nodes:
        for part in machine.values(context.of([node]), expression.right):
            found.append(truth(node, _holds(machine, node, part)))
    return context.of(found)


def _holds(machine: Machine, left: Node, right: Node) -> bool:
    """Whether a text has a part, or a collection has elements or entries that hold the other's."""
    machine.budget.step()
    return machine.budget.nested(lambda: _holds_all(machine, left, right))


def _holds_all(machine: Machine, left: Node, right: Node) -> bool:
    if left.kind == SEQUENCE:
        return all(
            any(item.kind == one.kind and _holds(machine, item, one) for item in left.content)
            for one in (right.content if right.kind == SEQUENCE else [right])
        )
    if left.kind == right.kind == MAPPING:
        own = {key.value: value for key, value in left.pairs()}
        return all(
            key.value in own and _holds(machine, own[key.value], value)
            for key, value in right.pairs()
        )
    if left.kind == right.kind == SCALAR:
        is_part = left.tag == "!!str" and right.value in left.value
        return left.tag == right.tag and (is_part or left.value == right.value)
    raise YqError(f"{left.tag} cannot check contained in {right.tag}")


def _pattern(machine: Machine, context: Context, expression: Expression | None) -> Pattern:
    source = machine.text(context, expression)
    try:
        return compile_pattern(source.replace("(?P<", "(?<"), "")
    except JqError as error:
        message = str(error.value).removeprefix("Regex failure: ")
        raise YqError(f"error parsing regexp: {message}: `{source}`") from None


@each("test", arity=1)
def _test(machine: Machine, context: Context, node: Node, expression: Expression) -> Node:
    pattern = _pattern(machine, context, expression.right)
    _require_text(node, "match with", ". " + _HINT)
    return truth(node, any(searches(machine.budget, node.value, pattern, "")))


@each("sub", arity=1)
def _sub(machine: Machine, context: Context, node: Node, expression: Expression) -> Node:
    block = expression.right
    if block is None or block.name not in (";", ","):
        raise YqError("sub must be given a block (;)")
    pattern = _pattern(machine, context, block.left)
    template = machine.text(context, block.right)
    _require_text(node, "substitute with", ". " + _HINT)
    parts: list[str] = []
    position = size = 0
    for match in searches(machine.budget, node.value, pattern, "g"):
        start, end = match.span()
        parts += (node.value[position:start], _expanded(template, match, pattern))
        size += len(parts[-1])
        machine.budget.charge(size)
        position = end
    parts.append(node.value[position:])
    return node.scalar("!!str", "".join(parts))


def _expanded(template: str, match: Any, pattern: Pattern) -> str:
    """Return the replacement for a match, with `$1` and `${name}` replaced by groups."""

    def group(found: re.Match[str]) -> str:
        name = found[2] or found[3]
        if found[1]:
            return "$"
        if name.isdecimal() and len(name) < 6:
            return (match[int(name)] or "") if int(name) <= pattern.groups else ""
        return (match[name] or "") if name in pattern.names.values() else ""

    return _TEMPLATE.sub(group, template) if "$" in template else template


# formats in strings


@each("tojson", "@json")
def _to_json(machine: Machine, context: Context, node: Node, expression: Expression) -> Node:
    copy = node.copy(machine.meter)
    explode(machine, copy)
    indent = int(expression.value or ("0" if expression.name == "@json" else "2"))
    text = json_text(copy, indent, machine.budget) + ("\n" if indent else "")
    machine.budget.charge(len(text))
    return node.scalar("!!str", text)


@each("fromjson", "@jsond")
def _from_json(machine: Machine, context: Context, node: Node, expression: Expression) -> Node:
    document = next(iter(read_json(node.value, machine.budget)), None)
    if document is None:
        raise YqError("EOF")
    return node.replaced(document)
