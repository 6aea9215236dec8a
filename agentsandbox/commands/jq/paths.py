"""Indexing, slicing and the paths that assignments follow."""

from __future__ import annotations

import math

from agentsandbox.commands._json.values import CONTAINERS, KINDS, JqError, is_number
from agentsandbox.commands.jq.operations import equals, sort_key

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import NoReturn

    from agentsandbox.commands._json.values import Value
    from agentsandbox.kernel.budget import Budget

_SLICED = (list, str)
_LARGEST_INDEX = (0x7FFFFFFF >> 2) - 1


def _refuse(target: Value, key: Value) -> NoReturn:
    if isinstance(key, str):
        raise JqError(f'Cannot index {KINDS[type(target)]} with string "{key}"')
    raise JqError(f"Cannot index {KINDS[type(target)]} with {KINDS[type(key)]}")


def get(target: Value, key: Value) -> Value:
    """`target[key]`"""
    if type(key) is str:
        if type(target) is dict:
            return target.get(key)
        if target is None:
            return None
        _refuse(target, key)
    if is_number(key):
        if type(target) is list:
            return _item(target, key)
        if target is None:
            return None
        _refuse(target, key)
    if isinstance(key, dict) and (target is None or isinstance(target, _SLICED)):
        return slice_of(target, key.get("start", False), key.get("end", False))
    if isinstance(key, list) and isinstance(target, list):
        return occurrences(target, key, None)
    _refuse(target, key)


def _item(target: Value, key: float) -> Value:
    if type(key) is not int:
        if not math.isfinite(key):
            return None
        key = int(key)
    if key < 0:
        key += len(target)
        if key < 0:
            return None
    return target[key] if key < len(target) else None


def occurrences(target: Value, wanted: Value, budget: Budget | None) -> list[Value]:
    """Where an array stands in another."""
    size = len(wanted)
    found: list[Value] = []
    for at in range(len(target) - size + 1) if size else ():
        more = 0
        while more < size and equals(target[at + more], wanted[more]):
            more += 1
        if budget is not None:
            budget.step(more // 8 + 1)
        if more == size:
            found.append(at)
    return found


def slice_bounds(length: int, low: Value, high: Value) -> tuple[int, int]:
    """Return where a slice begins and ends in a value of that length."""
    if not ((low is None or is_number(low)) and (high is None or is_number(high))):
        raise JqError("Array/string slice indices must be integers")
    first = 0.0 if low is None or low != low else float(low)
    last = float(length) if high is None or high != high else float(high)
    if first < 0:
        first += length
    if last < 0:
        last += length
    start = int(min(max(first, 0.0), float(length)))
    if last < 0:
        return start, start
    return start, max(start, math.ceil(min(last, float(length))))


def slice_of(target: Value, start: Value, end: Value) -> Value:
    """`target[start:end]`"""
    if target is None:
        return None
    if not isinstance(target, _SLICED):
        raise JqError(f"Cannot index {KINDS[type(target)]} with object")
    first, last = slice_bounds(len(target), start, end)
    return target[first:last]


def _check_index(target: Value, key: float, budget: Budget) -> int:
    if key != key:
        raise JqError("Cannot set array element at NaN index")
    at = math.floor(max(min(key, 1e18), -1e18))
    if at < 0:
        at += len(target)
        if at < 0:
            raise JqError("Out of bounds negative array index")
    if at > _LARGEST_INDEX:
        raise JqError("Array index too large")
    if at >= len(target):
        budget.charge(at * 16)
    return at


def put(
    target: Value, key: Value, value: Value, budget: Budget, owned: dict[int, Value] | None = None
) -> Value:
    """Return `target` with `value` at `key`: changed in place if owned, else a copy to own."""
    if type(key) is str:
        if target is None:
            target = {}
        elif type(target) is not dict:
            _refuse(target, key)
        if owned is None or id(target) not in owned:
            budget.step(len(target) // 64 + 1)
            target = dict(target)
            if owned is not None:
                owned[id(target)] = target
        target[key] = value
        return target
    if is_number(key):
        if target is None:
            target = []
        elif type(target) is not list:
            _refuse(target, key)
        at = _check_index(target, key, budget)
        if owned is None or id(target) not in owned:
            budget.step(len(target) // 64 + 1)
            target = list(target)
            if owned is not None:
                owned[id(target)] = target
        if at >= len(target):
            target.extend([None] * (at - len(target) + 1))
        target[at] = value
        return target
    if isinstance(key, dict) and (target is None or isinstance(target, _SLICED)):
        return _put_slice(target, key, value)
    if isinstance(key, list) and isinstance(target, list):
        raise JqError("Cannot update field at array index of array")
    _refuse(target, key)


def _put_slice(target: Value, key: dict[str, Value], value: Value) -> Value:
    if isinstance(target, str):
        raise JqError("Cannot update string slices")
    items: Value = [] if target is None else target
    first, last = slice_bounds(len(items), key.get("start"), key.get("end"))
    if not isinstance(value, list):
        raise JqError("A slice of an array can only be assigned another array")
    return items[:first] + value + items[last:]


def get_path(target: Value, path: Iterable[Value]) -> Value:
    """What stands at a path; null where there is nothing."""
    for key in path:
        if target is None:
            return None
        target = get(target, key)
    return target


def put_path(
    target: Value, path: Value, value: Value, budget: Budget, owned: dict[int, Value] | None = None
) -> Value:
    """Return `target` with `value` at the path; containers in `owned` are changed in place.

    owned  the containers by id that one update made for itself
    """
    parents: list[Value] = []
    here = target
    for key in path:
        parents.append(here)
        here = get(here, key)
    for key, parent in zip(reversed(path), reversed(parents), strict=True):
        value = put(parent, key, value, budget, owned)
    return value


def _delete_items(target: Value, keys: list[Value], budget: Budget) -> Value:
    gone: set[int] = set()
    for key in keys:
        if is_number(key):
            at = int(key) if key == key and not math.isinf(key) else len(target)
            gone.add(at + len(target) if key < 0 else at)
        elif isinstance(key, dict):
            first, last = slice_bounds(len(target), key.get("start"), key.get("end"))
            budget.step((last - first) // 16 + 1)
            gone.update(range(first, last))
        else:
            raise JqError(f"Cannot delete {KINDS[type(key)]} element of array")
    return [item for at, item in enumerate(target) if at not in gone]


def _delete_keys(target: Value, keys: list[Value], budget: Budget) -> Value:
    """Members of one container, all at once: the indices are those of before."""
    if target is None or not keys:
        return target
    budget.step(len(target) // 16 + 1 if isinstance(target, CONTAINERS) else 1)
    if isinstance(target, list):
        return _delete_items(target, keys, budget)
    if isinstance(target, dict):
        for key in keys:
            if not isinstance(key, str):
                raise JqError(f"Cannot delete {KINDS[type(key)]} field of object")
        if len(keys) == 1 and keys[0] not in target:
            return target
        gone = set(keys)
        return {name: item for name, item in target.items() if name not in gone}
    raise JqError(f"Cannot delete fields from {KINDS[type(target)]}")


def _delete_sorted(
    target: Value, paths: list[Sequence[Value]], depth: int, budget: Budget
) -> Value:
    """Return `target` without the sorted paths, which agree in their first `depth` keys."""
    keys: list[Value] = []
    at = 0
    budget.deeper()
    try:
        while at < len(paths):
            budget.step()
            path, key = paths[at], paths[at][depth]
            end = at + 1
            while end < len(paths) and equals(paths[end][depth], key):
                end += 1
            if len(path) == depth + 1:
                keys.append(key)
            else:
                below = get(target, key)
                if below is not None:
                    target = put(
                        target, key, _delete_sorted(below, paths[at:end], depth + 1, budget), budget
                    )
            at = end
        return _delete_keys(target, keys, budget)
    finally:
        budget.shallower()


def delete_paths(target: Value, paths: Value, budget: Budget) -> Value:
    """`target` without what stands at the paths."""
    if not isinstance(paths, list):
        raise JqError("Paths must be specified as an array")
    for path in paths:
        if not isinstance(path, list):
            raise JqError(f"Path must be specified as array, not {KINDS[type(path)]}")
    if not paths:
        return target
    ordered = sorted(paths, key=sort_key) if len(paths) > 1 else paths
    return None if not ordered[0] else _delete_sorted(target, ordered, 0, budget)
