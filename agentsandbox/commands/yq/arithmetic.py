"""Sums, differences, products, comparisons and truth."""

from __future__ import annotations

import math

from agentsandbox.commands.yq.evaluation import (
    Context,
    Machine,
    YqError,
    cross,
    each,
    guessed_tag,
    is_true,
    operator,
    truth,
)
from agentsandbox.commands.yq.nodes import MAPPING, SCALAR, SEQUENCE, Node
from agentsandbox.commands.yq.numbers import go_float, parse_float, parse_integer, shown, wrap
from agentsandbox.commands.yq.parser import Expression
from agentsandbox.commands.yq.traversal import matches_key

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

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
    machine: Machine,
    left: Node,
    right: Node,
    whole: Callable[[int, int], int],
    real: Callable[[float, float], float],
) -> Node | None:
    """The result of an operator on two numbers; None if they are none."""
    tags = _tags(machine, left, right)
    if tags == ("!!int", "!!int"):
        notation, first = _integer(left)
        return _result(left, left.tag, shown(notation, wrap(whole(first, _integer(right)[1]))))
    if tags[0] in _NUMBERS and tags[1] in _NUMBERS:
        return _result(left, _float_tag(left), go_float(real(_float(left), _float(right))))
    return None


def _on_two(name: str, function: Callable[[Machine, Node, Node], Node]) -> None:
    """Make a function of two nodes the operator of this name."""

    def calculate(machine: Machine, left: Node | None, right: Node | None) -> Node | None:
        assert left is not None and right is not None
        return function(machine, left, right)

    @operator(name)
    def run(machine: Machine, context: Context, expression: Expression) -> Context:
        return cross(machine, context.read_only(), expression, calculate)


# addition


def added(machine: Machine, left: Node, right: Node) -> Node:
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
    return _add_scalars(machine, left, right)


def _cannot_add(left: Node, right: Node) -> YqError:
    return YqError(
        f"{right.tag} ({right.nice_path()}) cannot be added to a {left.tag} ({left.nice_path()})"
    )


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


def _add_scalars(machine: Machine, left: Node, right: Node) -> Node:
    tags = _tags(machine, left, right)
    _refuse_moment(left)
    if tags[0] == "!!str" or tags[1] == "!!str":
        text = left.value if tags[1] == "!!null" else left.value + right.value
        machine.budget.charge(len(text))
        return _result(left, left.tag if tags[0] == "!!str" else right.tag, text)
    made = _numbers(machine, left, right, lambda a, b: a + b, lambda a, b: a + b)
    if made is None:
        raise YqError(f"{tags[0]} cannot be added to {tags[1]}")
    return made


def _refuse_moment(left: Node) -> None:
    if left.tag == "!!timestamp":
        raise YqError("arithmetic on times is not supported by this yq (D-yq)")


# subtraction


def _subtracted(machine: Machine, left: Node, right: Node) -> Node:
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
    _refuse_moment(left)
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


def _divided(machine: Machine, left: Node, right: Node) -> Node:
    if left.tag == "!!null":
        raise YqError(
            f"{left.tag} ({left.nice_path()}) cannot be divided by {right.tag} ({right.nice_path()})"
        )
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
            value = (
                math.nan
                if dividend == 0 or math.isnan(dividend)
                else math.copysign(math.inf, dividend)
            )
        else:
            value = dividend / divisor
        return _result(left, _float_tag(left), go_float(value))
    raise YqError(
        f"{left.tag} ({left.nice_path()}) cannot be divided by {right.tag} ({right.nice_path()})"
    )


def _split(text: str, separator: str) -> list[str]:
    if not text:
        return []
    return text.split(separator) if separator else list(text)


def _remainder(machine: Machine, left: Node, right: Node) -> Node:
    tags = _tags(machine, left, right)
    if (
        left.tag == "!!null"
        or left.kind != SCALAR
        or right.kind != SCALAR
        or not (tags[0] in _NUMBERS and tags[1] in _NUMBERS)
    ):
        raise YqError(
            f"{left.tag} ({left.nice_path()}) cannot modulo by {right.tag} ({right.nice_path()})"
        )
    if tags == ("!!int", "!!int") and _integer(right)[1] == 0:
        raise YqError("cannot modulo by 0")
    made = _numbers(
        machine,
        left,
        right,
        lambda a, b: int(math.copysign(1, a)) * (abs(a) % abs(b)),
        _real_remainder,
    )
    assert made is not None
    return made


def _real_remainder(left: float, right: float) -> float:
    return math.nan if right == 0 or math.isinf(left) else math.fmod(left, right)


for _name, _function in (
    ("add", added),
    ("subtract", _subtracted),
    ("divide", _divided),
    ("modulo", _remainder),
):
    _on_two(_name, _function)


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
        return all(
            equal(machine, one, other)
            for one, other in zip(left.content, right.content, strict=True)
        )
    if left.kind != MAPPING:
        return False
    others = {key.value: value for key, value in right.pairs()}
    return all(
        key.value in others and equal(machine, value, others[key.value])
        for key, value in left.pairs()
    )


@operator("equals", "not_equals")
def _equals(machine: Machine, context: Context, expression: Expression) -> Context:
    wanted = expression.name == "equals"

    def compare(machine: Machine, left: Node | None, right: Node | None) -> Node | None:
        if left is None or right is None:
            other = left if right is None else right
            return truth(other, (other is None or other.tag == "!!null") == wanted)
        if left.tag == "!!null":
            same = right.tag == "!!null"
        else:
            same = left.kind == right.kind == SCALAR and matches_key(left.value, right.value)
        return truth(left, same == wanted)

    return cross(
        machine, context if wanted else context.read_only(), expression, compare, when_empty=True
    )


@operator("compare")
def _compare(machine: Machine, context: Context, expression: Expression) -> Context:
    greater, or_equal = "greater" in expression.options, "equal" in expression.options

    def compare(machine: Machine, left: Node | None, right: Node | None) -> Node | None:
        if left is None or right is None:
            return truth(left or right, left is right and or_equal)
        if left.kind in (MAPPING, SEQUENCE):
            raise YqError(
                f"{'maps' if left.kind == MAPPING else 'arrays'} not yet supported for comparison"
            )
        if right.kind != SCALAR:
            raise YqError(f"{right.tag} ({right.nice_path()}) cannot be subtracted from {left.tag}")
        return truth(left, _compared(machine, left, right, greater, or_equal))

    return cross(machine, context.read_only(), expression, compare, when_empty=True)


def _compared(machine: Machine, left: Node, right: Node, greater: bool, or_equal: bool) -> bool:
    tags = _tags(machine, left, right)
    first: str | float
    second: str | float
    if left.tag == "!!timestamp":
        first, second = _seconds(left), _seconds(right)
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


def _seconds(node: Node) -> float:
    """Return the time that a timestamp names, in seconds since 1970."""
    from datetime import UTC, datetime

    try:
        moment = datetime.fromisoformat(node.value)
    except ValueError:
        raise YqError(f'parsing time "{node.value}": not in the form of RFC 3339') from None
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


_RANKS = {"!!null": 0, "!!bool": 1}


def order(left: Node, right: Node) -> int:
    """Return -1, 0 or 1 as `left` sorts before, with or after `right`: null, booleans, then all
    else.
    """
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
    elif left.tag == right.tag == "!!timestamp":
        first, second = _seconds(left), _seconds(right)
    return (first > second) - (first < second)  # type: ignore[operator]


# truth


@operator("or", "and")
def _either(machine: Machine, context: Context, expression: Expression) -> Context:
    decisive = expression.name == "or"

    def second(machine: Machine, left: Node | None, right: Node | None) -> Node | None:
        return truth(left if left is not None else right, is_true(right))

    def alone(left: Node | None) -> Node | None:
        return truth(left, decisive) if is_true(left) == decisive else None

    return cross(
        machine, context.read_only(), expression, second, when_empty=True, left_alone=alone
    )


@each("not")
def _not(machine: Machine, context: Context, node: Node, expression: Expression) -> Node:
    return truth(node, not is_true(node))


@operator("any", "any_c", "all", "all_c")
def _any(machine: Machine, context: Context, expression: Expression) -> Context:
    wanted = expression.name.startswith("any")
    found: list[Node] = []
    for node in context.nodes:
        if node.kind != SEQUENCE:
            raise YqError(f"{'any' if wanted else 'all'} only supports arrays, was {node.tag}")
        seen = False
        for item in node.content:
            tested = (
                [item]
                if expression.right is None
                else machine.values(context.single(item), expression.right)
            )
            if tested and is_true(tested[0]) == wanted:
                seen = True
                break
        found.append(truth(node, seen == wanted))
    return context.of(found)
