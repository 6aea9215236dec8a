"""Sorting long arrays: runs of items with their keys, sorted and packed, that are then merged."""

from __future__ import annotations

from heapq import merge
from itertools import islice
from operator import itemgetter

from agentsandbox.languages.jq.code import EMPTY
from agentsandbox.languages.jq.operations import equals, sort_key
from agentsandbox.languages.jq.packing import rows
from agentsandbox.languages.jq.rows import LONG, Rows

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from agentsandbox.languages.jq.values import Value
    from agentsandbox.limits import Budget

__all__ = ["grouped", "in_order"]

_RUN = 1 << 14
"""Items that are sorted together."""
_SIMPLE: tuple[set[type], ...] = ({str}, {int})


def _key(pair: list[Value]) -> tuple[Any, ...]:
    return sort_key(pair[0])


def in_order(array: Rows, key: Callable[[Value], Value], budget: Budget) -> Iterator[list[Value]]:
    """The items behind their keys, in jq's order of the keys; stable."""
    runs: list[Rows] = []
    kinds: set[type] = set()
    items = iter(array)
    while pairs := [[key(item), item] for item in islice(items, _RUN)]:
        here = {type(pair[0]) for pair in pairs}
        kinds |= here
        budget.step(len(pairs))
        pairs.sort(key=itemgetter(0) if here in _SIMPLE else _key)
        runs.append(rows(budget, pairs))
    return merge(*(run.drained() for run in runs), key=itemgetter(0) if kinds in _SIMPLE else _key)


def grouped(pairs: Iterator[list[Value]], budget: Budget) -> Iterator[Value]:
    """The items with equal keys together."""
    last: Value = EMPTY
    group: Value = []
    for key, item in pairs:
        budget.step()
        if last is not EMPTY and not equals(key, last):
            yield group
            group = []
        group.append(item)
        if len(group) == LONG and type(group) is list:
            group = rows(budget, group)
        last = key
    if last is not EMPTY:
        yield group
