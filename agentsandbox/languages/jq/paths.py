"""Indexing, slicing and the paths that assignments follow."""

from __future__ import annotations

import math

from agentsandbox.languages.jq.values import KINDS, JqError, equals, is_number, sort_key

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import NoReturn

    from agentsandbox.languages.jq.values import Value
    from agentsandbox.limits import Budget

__all__ = ["Owned", "delete_paths", "get", "get_path", "occurrences", "put", "put_path", "put_path_owned", "slice_bounds", "slice_of"]

_LARGEST_INDEX = (0x7FFFFFFF >> 2) - 1

Owned = dict
"""Containers by id that one update made for itself and may therefore change in place."""


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
    if isinstance(key, dict) and (target is None or isinstance(target, (list, str))):
        return slice_of(target, key.get("start", False), key.get("end", False))
    if isinstance(key, list) and isinstance(target, list):
        return occurrences(target, key, None)
    _refuse(target, key)


def _item(target: list[Value], key: float) -> Value:
    if type(key) is not int:
        if key != key:
            return None
        if math.isinf(key):
            return None
        key = int(key)
    if key < 0:
        key += len(target)
        if key < 0:
            return None
    return target[key] if key < len(target) else None


def occurrences(target: list[Value], wanted: list[Value], budget: Budget | None) -> list[Value]:
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


def slice_bounds(length: int, start: Value, end: Value) -> tuple[int, int]:
    """Where a slice begins and ends in something of that length: floor of the start, ceiling of the end."""
    if not ((start is None or is_number(start)) and (end is None or is_number(end))):
        raise JqError("Array/string slice indices must be integers")
    first = 0.0 if start is None or start != start else float(start)
    last = float(length) if end is None or end != end else float(end)
    if first < 0:
        first += length
    if last < 0:
        last += length
    first = min(max(first, 0.0), float(length))
    last = min(max(last, first), float(length))
    return int(first), math.ceil(last)


def slice_of(target: Value, start: Value, end: Value) -> Value:
    """`target[start:end]`"""
    if target is None:
        return None
    if not isinstance(target, (list, str)):
        raise JqError(f"Cannot index {KINDS[type(target)]} with object")
    first, last = slice_bounds(len(target), start, end)
    return target[first:last]


def _check_index(target: list[Value], key: float, budget: Budget) -> int:
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


def put(target: Value, key: Value, value: Value, budget: Budget, owned: dict[int, Value] | None = None) -> Value:
    """`target` with `value` at `key`; in place when it is among `owned`, else a copy that joins them."""
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
    if isinstance(key, dict) and (target is None or isinstance(target, (list, str))):
        return _put_slice(target, key, value)
    if isinstance(key, list) and isinstance(target, list):
        raise JqError("Cannot update field at array index of array")
    _refuse(target, key)


def _put_slice(target: Value, key: dict[str, Value], value: Value) -> Value:
    if isinstance(target, str):
        raise JqError("Cannot update string slices")
    items: list[Value] = target or []
    first, last = slice_bounds(len(items), key.get("start"), key.get("end"))
    if not isinstance(value, list):
        raise JqError("A slice of an array can only be assigned another array")
    return items[:first] + value + items[last:]


def get_path(target: Value, path: Sequence[Value]) -> Value:
    """What stands at a path; null where there is nothing."""
    for key in path:
        if target is None:
            return None
        target = get(target, key)
    return target


def put_path(target: Value, path: Sequence[Value], value: Value, budget: Budget) -> Value:
    """`target` with `value` at the path; what is missing on the way is made."""
    return put_path_owned(target, path, value, budget, None)


def put_path_owned(
    target: Value, path: Sequence[Value], value: Value, budget: Budget, owned: dict[int, Value] | None
) -> Value:
    """As `put_path`, changing containers in place that are among `owned`."""
    parents: list[Value] = []
    here = target
    for key in path:
        parents.append(here)
        here = get(here, key)
    for key, parent in zip(reversed(path), reversed(parents), strict=True):
        value = put(parent, key, value, budget, owned)
    return value


def _delete_key(target: Value, key: Value) -> Value:
    if target is None:
        return None
    if isinstance(target, list):
        if is_number(key):
            at = math.floor(key) if key == key and not math.isinf(key) else len(target)
            at += len(target) if at < 0 else 0
            return target[:at] + target[at + 1 :] if 0 <= at < len(target) else target
        if isinstance(key, dict):
            first, last = slice_bounds(len(target), key.get("start"), key.get("end"))
            return target[:first] + target[last:]
        raise JqError(f"Cannot delete {KINDS[type(key)]} element of array")
    if isinstance(target, dict):
        if not isinstance(key, str):
            raise JqError(f"Cannot delete {KINDS[type(key)]} field of object")
        if key not in target:
            return target
        return {name: item for name, item in target.items() if name != key}
    raise JqError(f"Cannot delete fields from {KINDS[type(target)]}")


def _delete_path(target: Value, path: Sequence[Value], budget: Budget) -> Value:
    parents: list[Value] = []
    here = target
    for key in path[:-1]:
        parents.append(here)
        here = get(here, key)
        if here is None:
            return target
    made = _delete_key(here, path[-1])
    if made is here:
        return target
    for key, parent in zip(reversed(path[:-1]), reversed(parents), strict=True):
        made = put(parent, key, made, budget)
    return made


def delete_paths(target: Value, paths: Value, budget: Budget) -> Value:
    """`target` without what stands at the paths; the last path goes first, so that indices stay right."""
    if not isinstance(paths, list):
        raise JqError("Paths must be specified as an array")
    for path in paths:
        if not isinstance(path, list):
            raise JqError(f"Path must be specified as array, not {KINDS[type(path)]}")
    together = _delete_siblings(target, paths)
    if together is not None:
        return together[0]
    for path in sorted(paths, key=sort_key, reverse=True):
        budget.step()
        if not path:
            return None
        target = _delete_path(target, path, budget)
    return target


def _delete_siblings(target: Value, paths: list[list[Value]]) -> tuple[Value] | None:
    """Many members of one array or object at once; None when the paths are not of that form."""
    if len(paths) < 2 or any(len(path) != 1 for path in paths):
        return None
    keys = [path[0] for path in paths]
    if isinstance(target, dict) and all(type(key) is str for key in keys):
        gone = set(keys)
        return ({name: item for name, item in target.items() if name not in gone},)
    if isinstance(target, list) and all(type(key) is int for key in keys):
        gone = {key + len(target) if key < 0 else key for key in keys}
        return ([item for at, item in enumerate(target) if at not in gone],)
    return None
