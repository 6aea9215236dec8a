"""How much memory values take, roughly, so that a program that keeps too much can be stopped."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from agentsandbox.kernel.budget import Budget

_LIST, _TUPLE, _DICT, _ENTRY, _TEXT, _NUMBER = 72, 56, 184, 32, 56, 24
_LARGE = 256
"""Characters of a text from which on it is recognized when it comes again."""
_CONTAINERS = frozenset((list, dict, tuple))


def weigh(roots: Iterable[Any], most: int, budget: Budget) -> int:
    """Return the bytes of all that can be reached from the roots; no further than `most`.

    What is shared is first counted as often as it is met, which needs no memory; if that is too
    much, once.
    """
    containers = [root for root in roots if type(root) in _CONTAINERS]
    size = _weigh(containers, most, budget, None)
    return size if size <= most else _weigh(containers, most, budget, set())


def _weigh(roots: list[Any], most: int, budget: Budget, seen: set[int] | None) -> int:
    pending = list(roots)
    size = 0
    while pending and size <= most:
        here = pending.pop()
        if seen is not None:
            if id(here) in seen:
                continue
            seen.add(id(here))
        budget.step(len(here) // 16 + 1)
        items: Iterable[Any] = here
        if type(here) is dict:
            size += _DICT + _ENTRY * len(here)
            items = here.values()
        else:
            size += 8 * len(here) + (_LIST if type(here) is list else _TUPLE)
        kinds = set(map(type, items))
        if str in kinds:
            size += _weigh_texts(items, seen)
        if kinds & _CONTAINERS:
            pending += [item for item in items if type(item) in _CONTAINERS and item]
        if float in kinds or int in kinds:
            size += _NUMBER * len(here)
    return size


def _weigh_texts(items: Iterable[Any], seen: set[int] | None) -> int:
    size = 0
    for item in items:
        if type(item) is str:
            if seen is not None and len(item) > _LARGE:
                if id(item) in seen:
                    continue
                seen.add(id(item))
            size += _TEXT + len(item)
    return size
