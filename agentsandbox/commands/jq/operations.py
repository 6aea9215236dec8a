"""What is done with values: how messages name them, their order, arithmetic, containment."""

from __future__ import annotations

import math

from agentsandbox.commands._json.printing import dump_prefix
from agentsandbox.commands._json.values import (
    CONTAINERS,
    EXACT,
    KINDS,
    JqError,
    is_number,
    number,
    to_float,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, NoReturn

    from agentsandbox.commands._json.values import Value
    from agentsandbox.kernel.budget import Budget


def truncated(value: Value, limit: int = 11) -> str:
    """The value as JSON, cut to `limit` bytes and "..." if it is longer than `limit` + 3."""
    text = dump_prefix(value, limit + 8)
    if len(text) <= limit + 3 and len(text.encode("utf-8", "surrogatepass")) <= limit + 3:
        return text
    while len(text.encode("utf-8", "surrogatepass")) > limit:
        text = text[: min(limit, len(text) - 1)]
    return text + "..."


def describe(value: Value) -> str:
    """`kind (json)`, as error messages name a value."""
    return f"{KINDS[type(value)]} ({truncated(value)})"


# order

_RUN = 16384
_SIMPLE: tuple[set[type], ...] = ({str}, {int})
_NULL, _FALSE, _TRUE, _NAN, _NUMBER, _STRING, _ARRAY, _OBJECT = range(8)


def sort_key(value: Value) -> tuple[Any, ...]:
    """A key that Python sorts as jq sorts the values."""
    if value is None:
        return (_NULL,)
    if value is True or value is False:
        return (_TRUE,) if value else (_FALSE,)
    if isinstance(value, str):
        return (_STRING, value)
    if isinstance(value, list):
        return (_ARRAY, [sort_key(item) for item in value])
    if isinstance(value, dict):
        names = sorted(value)
        return (_OBJECT, names, [sort_key(value[name]) for name in names])
    return (_NUMBER, value) if value == value else (_NAN,)


def sorted_values(values: list[Value], keys: list[Value], budget: Budget) -> list[Value]:
    """The values in jq's order of their keys; stable."""
    types = set(map(type, keys))
    plain: list[Any] = keys
    if types not in _SIMPLE:
        plain = []
        for at in range(0, len(keys), _RUN):
            plain += map(sort_key, keys[at : at + _RUN])
            budget.step(_RUN // 4)
    elif keys is values and len(values) <= _RUN:
        return sorted(values)
    return [values[at] for at in _order(plain, budget)]


def _order(keys: list[Any], budget: Budget) -> list[int]:
    """Return the indices in the order of the keys, sorted in short runs that are then merged."""
    find = keys.__getitem__
    runs: list[list[int]] = []
    for at in range(0, len(keys), _RUN):
        runs.append(sorted(range(at, min(at + _RUN, len(keys))), key=find))
        budget.step(_RUN // 4)
    while len(runs) > 1:
        merged: list[list[int]] = []
        for at in range(0, len(runs), 2):
            pair = [index for run in runs[at : at + 2] for index in run]
            budget.step(len(pair) // 8)
            pair.sort(key=find)
            merged.append(pair)
        runs = merged
    return runs[0] if runs else []


def compare(left: Value, right: Value) -> int:
    """Negative, zero or positive, as left sorts before, with or after right."""
    kinds = type(left), type(right)
    if kinds == (int, int) or kinds == (str, str):
        return int(left > right) - int(left < right)
    if is_number(left) and is_number(right):
        if left != left:
            return -1
        if right != right:
            return 1
        if type(left) is float or type(right) is float:
            left, right = to_float(left), to_float(right)
        return int(left > right) - int(left < right)
    first, second = sort_key(left), sort_key(right)
    return int(first > second) - int(first < second)


def equals(left: Value, right: Value) -> bool:
    """Whether the two are the same value."""
    if left is right:
        return bool(left == left)
    if type(left) is type(right) and not isinstance(left, CONTAINERS):
        return bool(left == right)
    if isinstance(left, CONTAINERS):
        if KINDS[type(left)] != KINDS[type(right)] or len(left) != len(right):
            return False
        if isinstance(left, list):
            return all(equals(one, other) for one, other in zip(left, right, strict=True))
        return all(name in right and equals(item, right[name]) for name, item in left.items())
    if not (is_number(left) and is_number(right)):
        return False
    # only two literals are compared with all their digits
    return bool(
        left == right
        if type(left) is not float and type(right) is not float
        else to_float(left) == to_float(right)
    )


# arithmetic


def _refuse(left: Value, right: Value, what: str) -> NoReturn:
    raise JqError(f"{describe(left)} and {describe(right)} cannot be {what}")


def add(left: Value, right: Value, budget: Budget) -> Value:
    """`left + right`"""
    if type(left) is int and type(right) is int:
        total = left + right
        if -EXACT <= total <= EXACT and -EXACT <= left <= EXACT:
            return total
        return number(to_float(left) + to_float(right))
    if left is None:
        return right
    if right is None:
        return left
    if isinstance(left, str) and isinstance(right, str):
        budget.charge(len(left) + len(right))
        return left + right
    if is_number(left) and is_number(right):
        return number(to_float(left) + to_float(right))
    if isinstance(left, list) and isinstance(right, list):
        budget.charge((len(left) + len(right)) * 16)
        return left + right
    if isinstance(left, dict) and isinstance(right, dict):
        budget.charge((len(left) + len(right)) * 16)
        return {**left, **right}
    _refuse(left, right, "added")


def subtract(left: Value, right: Value, budget: Budget) -> Value:
    """`left - right`"""
    if type(left) is int and type(right) is int:
        total = left - right
        if -EXACT <= total <= EXACT and -EXACT <= left <= EXACT:
            return total
        return number(to_float(left) - to_float(right))
    if is_number(left) and is_number(right):
        return number(to_float(left) - to_float(right))
    if isinstance(left, list) and isinstance(right, list):
        budget.step(len(left) // 16 + 1)
        simple = {item for item in right if type(item) is str}
        others = [item for item in right if type(item) is not str]
        kept = [item for item in left if not (type(item) is str and item in simple)]
        if not others:
            return kept
        kept_others: list[Value] = []
        for item in kept:
            budget.step(len(others) // 16 + 1)
            if not any(equals(item, other) for other in others):
                kept_others.append(item)
        return kept_others
    _refuse(left, right, "subtracted")


def _merge(left: dict[str, Value], right: dict[str, Value]) -> dict[str, Value]:
    merged = dict(left)
    for name, item in right.items():
        here = merged.get(name)
        merged[name] = (
            _merge(here, item) if isinstance(here, dict) and isinstance(item, dict) else item
        )
    return merged


def _repeat(text: str, times: float, budget: Budget) -> Value:
    if not times >= 0:
        return None
    if len(text.encode("utf-8", "surrogatepass")) * times >= 0x7FFFFFFF:
        raise JqError("Repeat string result too long")
    count = int(times)
    budget.charge(len(text) * count)
    return text * count


def multiply(left: Value, right: Value, budget: Budget) -> Value:
    """`left * right`"""
    if is_number(left) and is_number(right):
        if type(left) is int and type(right) is int and left and right:
            product = (
                left * right if -EXACT <= left <= EXACT and -EXACT <= right <= EXACT else EXACT + 1
            )
            if -EXACT <= product <= EXACT:
                return product
        return number(to_float(left) * to_float(right))
    if isinstance(left, str) and is_number(right):
        return _repeat(left, to_float(right), budget)
    if isinstance(right, str) and is_number(left):
        return _repeat(right, to_float(left), budget)
    if isinstance(left, dict) and isinstance(right, dict):
        budget.step((len(left) + len(right)) // 16 + 1)
        return _merge(left, right)
    _refuse(left, right, "multiplied")


def divide(left: Value, right: Value, budget: Budget) -> Value:
    """`left / right`"""
    if is_number(left) and is_number(right):
        divisor = to_float(right)
        if divisor == 0:
            _refuse(left, right, "divided because the divisor is zero")
        return number(to_float(left) / divisor)
    if isinstance(left, str) and isinstance(right, str):
        budget.step(len(left) // 1000 + 1)
        return split(left, right)
    _refuse(left, right, "divided")


def split(text: str, separator: str) -> list[Value]:
    """The parts of `text` between the separators; each character for an empty one."""
    if not text:
        return []
    return list(text) if not separator else list(text.split(separator))


def _to_integer(value: float) -> int:
    """A double as a 64-bit integer, clamped at the ends."""
    if value >= 9223372036854775807.0:
        return 9223372036854775807
    if value <= -9223372036854775808.0:
        return -9223372036854775808
    return int(value)


def remainder(left: Value, right: Value, budget: Budget) -> Value:
    """`left % right`, both cut to whole numbers; the sign is that of left."""
    if not (is_number(left) and is_number(right)):
        _refuse(left, right, "divided (remainder)")
    dividend, divisor = to_float(left), to_float(right)
    if dividend != dividend or divisor != divisor:
        return math.nan
    whole, by = _to_integer(dividend), abs(_to_integer(divisor))
    if by == 0:
        _refuse(left, right, "divided (remainder) because the divisor is zero")
    rest = abs(whole) % by
    return number(float(-rest if whole < 0 and rest else rest))


def contains(left: Value, right: Value, budget: Budget) -> bool:
    """Whether left contains right, deeply. Raises `JqError` for values of two kinds."""
    if KINDS[type(left)] != KINDS[type(right)]:
        raise JqError(
            f"{describe(left)} and {describe(right)} cannot have their containment checked"
        )
    return _holds(left, right, budget)


def _holds(left: Value, right: Value, budget: Budget) -> bool:
    budget.step()
    if isinstance(left, dict) and isinstance(right, dict):
        return all(
            name in left and _holds(left[name], item, budget) for name, item in right.items()
        )
    if isinstance(left, list) and isinstance(right, list):
        return all(any(_holds(one, item, budget) for one in left) for item in right)
    if isinstance(left, str) and isinstance(right, str):
        return right in left
    return KINDS[type(left)] == KINDS[type(right)] and equals(left, right)
