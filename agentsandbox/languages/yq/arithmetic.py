"""Sums, differences, products, comparisons and truth."""

from __future__ import annotations

import math

from agentsandbox.languages.yq.evaluation import RFC3339, Context, Machine, YqError, cross, guessed_tag, is_true, operator, truth
from agentsandbox.languages.yq.moments import add_duration, parse_moment
from agentsandbox.languages.yq.nodes import MAPPING, SCALAR, SEQUENCE, Node
from agentsandbox.languages.yq.numbers import go_float, parse_float, parse_integer, shown, wrap
from agentsandbox.languages.yq.parser import Expression
from agentsandbox.languages.yq.traversal import matches_key

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["added", "equal", "multiplied", "order"]

_NUMBERS = ("!!int", "!!float")
_MOST_REPEATS = 10_000_000


def _integer(node: Node) -> tuple[str, int]:
    parsed = parse_integer(node.value)
    if parsed is None:
        raise YqError(f'strconv.ParseInt: parsing "{node.value}": invalid syntax')
    return parsed


def _float(node: Node) -> float:
    value = parse_float(node.value)
    if value is None:
        raise YqError(f'strconv.ParseFloat: parsing "{node.value}": invalid syntax')
    return value


def _tags(machine: Machine, left: Node, right: Node) -> tuple[str, str]:
    return guessed_tag(machine, left), guessed_tag(machine, right)


def _result(left: Node, tag: str, value: str) -> Node:
    made = left.bare_copy()
    made.kind = SCALAR
    made.tag = tag
    made.value = value
    return made


def _float_tag(left: Node) -> str:
    return "!!float" if left.tag.startswith("!!") else left.tag


def _numbers(
    machine: Machine, left: Node, right: Node, whole: Callable[[int, int], int], real: Callable[[float, float], float]
) -> Node | None:
    """The result of an operator on two numbers; None if they are none."""
    tags = _tags(machine, left, right)
    if tags == ("!!int", "!!int"):
        notation, first = _integer(left)
        return _result(left, left.tag, shown(notation, wrap(whole(first, _integer(right)[1]))))
    if tags[0] in _NUMBERS and tags[1] in _NUMBERS:
        return _result(left, _float_tag(left), go_float(real(_float(left), _float(right))))
    return None


def _on_two(
    machine: Machine, context: Context, expression: Expression, function: Callable[[Machine, Context, Node, Node], Node]
) -> Context:
    def calculate(machine: Machine, context: Context, left: Node | None, right: Node | None) -> Node | None:
        assert left is not None and right is not None
        return function(machine, context, left, right)

    return cross(machine, context.read_only(), expression, calculate)


# addition


@operator("add")
def _add(machine: Machine, context: Context, expression: Expression) -> Context:
    return _on_two(machine, context, expression, lambda machine, context, left, right: added(machine, left, right, context.layout))


def added(machine: Machine, left: Node, right: Node, layout: str = RFC3339) -> Node:
    """The sum of two nodes."""
    if left.tag == "!!null":
        copy = right.copy(machine.meter)
        copy.parent, copy.key = left.parent, left.key
        copy.is_key = False
        return copy
    if left.kind == MAPPING:
        return _add_maps(machine, left, right)
    made = left.bare_copy()
    if left.kind == SEQUENCE:
        if not left.content:
            made.style = 0
        made.add_all(left.content, machine.meter)
        for node in _extra(machine, left, right):
            made.adopt(node)
        return made
    if left.kind != SCALAR:
        return made
    if right.kind != SCALAR:
        raise _cannot_add(left, right)
    return _add_scalars(machine, left, right, layout)


def _cannot_add(left: Node, right: Node) -> YqError:
    return YqError(f"{right.tag} ({right.nice_path()}) cannot be added to a {left.tag} ({left.nice_path()})")


def _extra(machine: Machine, left: Node, right: Node) -> list[Node]:
    if right.tag == "!!null":
        return []
    copy = right.copy(machine.meter)
    if right.kind == SEQUENCE:
        return list(copy.content)
    if left.content:
        copy.style = left.content[0].style
    return [copy]


def _add_maps(machine: Machine, left: Node, right: Node) -> Node:
    if right.kind != MAPPING:
        raise _cannot_add(left, right)
    made = left.bare_copy()
    if not left.content:
        made.style = 0
    made.add_all(left.content, machine.meter)
    places = {key.value: at for at, (key, _value) in enumerate(made.pairs())}
    for key, value in right.pairs():
        at = places.get(key.value)
        if at is None:
            places[key.value] = len(made.content) // 2
            made.add_pair(key, value, machine.meter)
        else:
            copy = value.copy(machine.meter)
            copy.parent, copy.key = made, made.content[2 * at]
            made.content[2 * at + 1] = copy
    return made


def _add_scalars(machine: Machine, left: Node, right: Node, layout: str) -> Node:
    tags = _tags(machine, left, right)
    if _is_moment(left, tags[0], layout):
        return _result(left, left.tag, add_duration(left.value, right.value, layout, 1))
    if tags[0] == "!!str" or tags[1] == "!!str":
        text = left.value if tags[1] == "!!null" else left.value + right.value
        machine.budget.charge(len(text))
        return _result(left, left.tag if tags[0] == "!!str" else right.tag, text)
    made = _numbers(machine, left, right, lambda a, b: a + b, lambda a, b: a + b)
    if made is None:
        raise YqError(f"{tags[0]} cannot be added to {tags[1]}")
    return made


def _is_moment(left: Node, tag: str, layout: str) -> bool:
    if left.tag == "!!timestamp":
        return True
    return tag == "!!str" and layout != RFC3339 and isinstance(parse_moment(layout, left.value), tuple)


# subtraction


@operator("subtract")
def _subtract(machine: Machine, context: Context, expression: Expression) -> Context:
    return _on_two(machine, context, expression, _subtracted)


def _subtracted(machine: Machine, context: Context, left: Node, right: Node) -> Node:
    if left.tag == "!!null":
        copy = right.copy(machine.meter)
        copy.parent, copy.key = left.parent, left.key
        return copy
    if left.kind == MAPPING:
        raise YqError("maps not yet supported for subtraction")
    if left.kind == SEQUENCE:
        if right.kind != SEQUENCE:
            raise YqError(f"{right.tag} ({right.nice_path()}) cannot be subtracted from {left.tag}")
        made = left.bare_copy()
        for node in left.content:
            if not any(equal(machine, node, other) for other in right.content):
                made.adopt(node.copy(machine.meter))
        return made
    if right.kind != SCALAR:
        raise YqError(f"{right.tag} ({right.nice_path()}) cannot be subtracted from {left.tag}")
    tags = _tags(machine, left, right)
    if _is_moment(left, tags[0], context.layout):
        return _result(left, left.tag, add_duration(left.value, right.value, context.layout, -1))
    if tags[0] == "!!str":
        raise YqError("strings cannot be subtracted")
    difference = _numbers(machine, left, right, lambda a, b: a - b, lambda a, b: a - b)
    if difference is None:
        raise YqError(f"{tags[0]} cannot be added to {tags[1]}")
    return difference


# multiplication and division


def multiplied(machine: Machine, left: Node, right: Node) -> Node:
    """The product of two scalars."""
    tags = _tags(machine, left, right)
    if tags in (("!!str", "!!int"), ("!!int", "!!str")):
        text, times = (left, right) if tags[0] == "!!str" else (right, left)
        count = _integer(times)[1]
        if count < 0:
            raise YqError(f"cannot repeat string by a negative number ({count})")
        if count > _MOST_REPEATS:
            raise YqError(f"cannot repeat string by more than 100 million ({count})")
        machine.budget.charge(len(text.value) * count)
        made = _result(left, text.tag, text.value * count)
        made.style = left.style or text.style
        return made
    product = _numbers(machine, left, right, lambda a, b: a * b, lambda a, b: a * b)
    if product is None:
        raise YqError(f"cannot multiply {left.tag} with {right.tag}")
    return product


@operator("divide")
def _divide(machine: Machine, context: Context, expression: Expression) -> Context:
    return _on_two(machine, context, expression, _divided)


def _divided(machine: Machine, context: Context, left: Node, right: Node) -> Node:
    if left.tag == "!!null":
        raise YqError(f"{left.tag} ({left.nice_path()}) cannot be divided by {right.tag} ({right.nice_path()})")
    tags = _tags(machine, left, right)
    if tags == ("!!str", "!!str"):
        made = left.replaced(Node(SEQUENCE, "!!seq"))
        for part in _split(left.value, right.value):
            made.adopt(Node(SCALAR, "!!str", part))
        return made
    if tags[0] in _NUMBERS and tags[1] in _NUMBERS and left.kind == right.kind == SCALAR:
        divisor = _float(right)
        dividend = _float(left)
        if divisor == 0:
            value = math.nan if dividend == 0 or math.isnan(dividend) else math.copysign(math.inf, dividend)
        else:
            value = dividend / divisor
        return _result(left, _float_tag(left), go_float(value))
    raise YqError(f"{left.tag} ({left.nice_path()}) cannot be divided by {right.tag} ({right.nice_path()})")


def _split(text: str, separator: str) -> list[str]:
    if not text:
        return []
    return text.split(separator) if separator else list(text)


@operator("modulo")
def _modulo(machine: Machine, context: Context, expression: Expression) -> Context:
    return _on_two(machine, context, expression, _remainder)


def _remainder(machine: Machine, context: Context, left: Node, right: Node) -> Node:
    tags = _tags(machine, left, right)
    if left.tag == "!!null" or left.kind != SCALAR or right.kind != SCALAR or not (tags[0] in _NUMBERS and tags[1] in _NUMBERS):
        raise YqError(f"{left.tag} ({left.nice_path()}) cannot modulo by {right.tag} ({right.nice_path()})")
    if tags == ("!!int", "!!int") and _integer(right)[1] == 0:
        raise YqError("cannot modulo by 0")
    made = _numbers(machine, left, right, lambda a, b: int(math.copysign(1, a)) * (abs(a) % abs(b)), _real_remainder)
    assert made is not None
    return made


def _real_remainder(left: float, right: float) -> float:
    return math.nan if right == 0 or math.isinf(left) else math.fmod(left, right)


# comparison


def equal(machine: Machine, left: Node, right: Node) -> bool:
    """Whether two nodes hold the same."""
    machine.budget.step()
    if left.kind != right.kind:
        return False
    if left.kind == SCALAR and guessed_tag(machine, left) != guessed_tag(machine, right):
        return False
    if left.tag == "!!null":
        return True
    if left.kind == SCALAR:
        return left.value == right.value
    if len(left.content) != len(right.content):
        return False
    if left.kind == SEQUENCE:
        return all(equal(machine, one, other) for one, other in zip(left.content, right.content, strict=True))
    if left.kind != MAPPING:
        return False
    others = {key.value: value for key, value in right.pairs()}
    return all(key.value in others and equal(machine, value, others[key.value]) for key, value in left.pairs())


@operator("equals", "not_equals")
def _equals(machine: Machine, context: Context, expression: Expression) -> Context:
    wanted = expression.name == "equals"

    def compare(machine: Machine, context: Context, left: Node | None, right: Node | None) -> Node | None:
        if left is None or right is None:
            other = left if right is None else right
            return truth(other, (other is None or other.tag == "!!null") == wanted)
        if left.tag == "!!null":
            same = right.tag == "!!null"
        else:
            same = left.kind == right.kind == SCALAR and matches_key(left.value, right.value)
        return truth(left, same == wanted)

    return cross(machine, context if wanted else context.read_only(), expression, compare, when_empty=True)


@operator("compare")
def _compare(machine: Machine, context: Context, expression: Expression) -> Context:
    greater, or_equal = "greater" in expression.options, "equal" in expression.options

    def compare(machine: Machine, context: Context, left: Node | None, right: Node | None) -> Node | None:
        if left is None or right is None:
            return truth(left or right, left is right and or_equal)
        if left.kind in (MAPPING, SEQUENCE):
            raise YqError(f"{'maps' if left.kind == MAPPING else 'arrays'} not yet supported for comparison")
        if right.kind != SCALAR:
            raise YqError(f"{right.tag} ({right.nice_path()}) cannot be subtracted from {left.tag}")
        return truth(left, _compared(machine, context.layout, left, right, greater, or_equal))

    return cross(machine, context.read_only(), expression, compare, when_empty=True)


def _compared(machine: Machine, layout: str, left: Node, right: Node, greater: bool, or_equal: bool) -> bool:
    tags = _tags(machine, left, right)
    first: tuple[float, ...] | str | float
    second: tuple[float, ...] | str | float
    if _is_moment(left, tags[0], layout):
        moments = (parse_moment(layout, left.value), parse_moment(layout, right.value))
        for moment in moments:
            if isinstance(moment, str):
                raise YqError(moment)
        first, second = (moment[:2] for moment in moments if not isinstance(moment, str))
    elif tags == ("!!int", "!!int"):
        first, second = _integer(left)[1], _integer(right)[1]
    elif tags[0] in _NUMBERS and tags[1] in _NUMBERS:
        first, second = _float(left), _float(right)
    elif tags == ("!!str", "!!str"):
        first, second = left.value, right.value
    elif tags == ("!!null", "!!null"):
        return or_equal
    elif "!!null" in tags:
        return False
    else:
        raise YqError(f"{tags[0]} not yet supported for comparison")
    if or_equal and first == second:
        return True
    return first > second if greater else first < second  # type: ignore[operator]


_RANKS = {"!!null": 0, "!!bool": 1}


def order(left: Node, right: Node, layout: str = RFC3339) -> int:
    """Which of two nodes sorts first: -1, 0 or 1. Null, booleans, then all else; times in the layout by when they are."""
    ranks = _RANKS.get(left.tag, 2), _RANKS.get(right.tag, 2)
    if ranks[0] != ranks[1]:
        return -1 if ranks[0] < ranks[1] else 1
    first: float | str | bool = left.value
    second: float | str | bool = right.value
    if left.tag == "!!bool":
        first, second = is_true(left), is_true(right)
    elif left.tag in _NUMBERS and right.tag in _NUMBERS:
        first, second = _float(left), _float(right)
    elif left.tag == "!!null":
        return 0
    elif left.tag == right.tag == "!!timestamp" or (left.tag == "!!str" and layout != RFC3339):
        moments = parse_moment(layout, left.value), parse_moment(layout, right.value)
        if isinstance(moments[0], tuple) and isinstance(moments[1], tuple):
            return (moments[0][:2] > moments[1][:2]) - (moments[0][:2] < moments[1][:2])
    return (first > second) - (first < second)  # type: ignore[operator]


# truth


@operator("or", "and")
def _either(machine: Machine, context: Context, expression: Expression) -> Context:
    decisive = expression.name == "or"

    def second(machine: Machine, context: Context, left: Node | None, right: Node | None) -> Node | None:
        return truth(left if left is not None else right, is_true(right))

    def alone(left: Node | None) -> Node | None:
        return truth(left, decisive) if is_true(left) == decisive else None

    return cross(machine, context.read_only(), expression, second, when_empty=True, left_alone=alone)


@operator("not")
def _not(machine: Machine, context: Context, expression: Expression) -> Context:
    return context.of([truth(node, not is_true(node)) for node in context.nodes])


@operator("any", "any_c", "all", "all_c")
def _any(machine: Machine, context: Context, expression: Expression) -> Context:
    wanted = expression.name.startswith("any")
    found: list[Node] = []
    for node in context.nodes:
        if node.kind != SEQUENCE:
            raise YqError(f"{'any' if wanted else 'all'} only supports arrays, was {node.tag}")
        seen = False
        for item in node.content:
            tested = [item] if expression.right is None else machine.values(context.single(item), expression.right)
            if tested and is_true(tested[0]) == wanted:
                seen = True
                break
        found.append(truth(node, seen == wanted))
    return context.of(found)
