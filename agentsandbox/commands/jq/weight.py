"""What values take in memory, roughly: so that a program that keeps too much of what it makes can be stopped."""

from __future__ import annotations

from sys import getrefcount

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from agentsandbox.limits import Budget

__all__ = ["weigh"]

_LIST, _TUPLE, _DICT, _ENTRY, _TEXT, _NUMBER = 72, 56, 184, 32, 56, 24
_OWNED = 3
"""References to an item that only one container holds, while a loop looks at it."""
_CONTAINERS = frozenset((list, dict, tuple))


def weigh(roots: Iterable[Any], most: int, budget: Budget) -> int:
    """Bytes of all that can be reached from the roots; no further than `most`."""
    pending: list[Any] = [root for root in roots if type(root) in _CONTAINERS]
    seen = set(map(id, pending))
    size = 0
    while pending and size <= most:
        here = pending.pop()
        budget.step(len(here) // 16 + 1)
        items: Iterable[Any] = here
        if type(here) is dict:
            size += _DICT + _ENTRY * len(here)
            items = here.values()
        else:
            size += 8 * len(here) + (_LIST if type(here) is list else _TUPLE)
        kinds = set(map(type, items))
        if kinds & _CONTAINERS or str in kinds:
            for item in items:
                kind = type(item)
                if kind is str:
                    if getrefcount(item) <= _OWNED:
                        size += _TEXT + len(item)
                elif kind in _CONTAINERS and item:
                    if getrefcount(item) > _OWNED:
                        if id(item) in seen:
                            continue
                        seen.add(id(item))
                    pending.append(item)
        if float in kinds or int in kinds:
            size += _NUMBER * len(here)
    return size
