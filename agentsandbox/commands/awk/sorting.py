"""Loops over arrays in the order that PROCINFO["sorted_in"] asks for; `asort` and `asorti`."""

from __future__ import annotations

from functools import cmp_to_key

from agentsandbox.commands.awk.values import Array, AwkFatal, Strnum, Unset, to_number
from agentsandbox.commands.awk.walks import walk_order

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

    from agentsandbox.commands.awk.protocols import Run

_ORDERS = frozenset(
    f"@{what}_{how}_{way}"
    for what in ("ind", "val")
    for how in ("str", "num", "type")
    for way in ("asc", "desc")
) - {"@ind_type_asc", "@ind_type_desc"}


def functions(rt: Run) -> dict[str, Callable[..., Any]]:
    """Return what a program with such loops calls."""

    def walk(array: Array) -> Iterable[str]:
        """Return the keys for `for (key in array)`."""
        step = rt.budget.step
        step(len(array) // 8 + 1)
        how = _order(rt)
        if how is None:
            keys = array.ascending()
            return walk_order(array, step) if keys is None else keys
        return sorted_keys(rt, array, how)

    return {"walk": walk}


def _order(rt: Run) -> str | None:
    """Return PROCINFO["sorted_in"], None if it is not set."""
    knows = "PROCINFO" in rt.arrays and not rt.mode.traditional
    how = rt.arrays["PROCINFO"].get("sorted_in") if knows else None
    return None if how is None or isinstance(how, Unset) else rt.text(how)


def sorted_keys(rt: Run, array: Array, how: str) -> list[str]:
    """Return the keys in an order: one of gawk's `@…` orders, or a function of the program."""
    keys = walk_order(array, rt.budget.step)
    rt.budget.step(len(keys))
    if how in ("", "@unsorted"):
        return keys
    if how in _ORDERS:
        _, what, kind, way = how.replace("@", "@_").split("_")
        key = _key(rt, array, what == "ind", kind)
        return sorted(keys, key=key, reverse=way == "desc")
    found = rt.functions.get(how)
    if found is None:
        raise AwkFatal(f"sort comparison function `{how}' is not defined")
    function = found[0]

    def compare(left: str, right: str) -> int:
        rt.budget.step()
        result = to_number(function(left, array[left], right, array[right]))
        return -1 if result < 0 else 1 if result > 0 else 0

    return sorted(keys, key=cmp_to_key(compare))


def _key(rt: Run, array: Array, by_index: bool, kind: str) -> Callable[[str], Any]:
    plain = rt.text
    text = (lambda value: plain(value).casefold()) if rt.IGNORECASE else plain
    if by_index:
        return text if kind == "str" else (lambda key: (to_number(key), text(key)))

    def rank(key: str) -> Any:
        value = array[key]
        if isinstance(value, Array):
            return (2, 0.0, key)
        if kind == "str":
            return (0, text(value), key)
        if kind == "num":
            return (0, to_number(value), text(value), key)
        if isinstance(value, (float, Strnum)):
            return (0, to_number(value), "", key)
        return (1, 0.0, text(value), key)

    return rank


def sort_elements(rt: Run, source: Array, how: str | None, by_index: bool) -> list[Any]:
    """Return the values in order, or for `asorti` the keys."""
    if how is None:
        how = "@ind_str_asc" if by_index else "@val_type_asc"
    keys = sorted_keys(rt, source, how)
    if by_index:
        return list(keys)
    return [source[key] for key in keys]
