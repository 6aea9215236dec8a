"""Long arrays whose items are kept packed in blocks: small containers take 10 to 20 times their text as objects of Python.

A block is opened when an item of it is asked for, and only the one opened last stays open. Whoever needs all items at a time
asks for them with `listed`, which refuses what would be too much.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from itertools import chain, islice

from agentsandbox.errors import LimitReached

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import Any, TypeAlias

    from agentsandbox.limits import Budget

    Block: TypeAlias = tuple[Callable[[Any], list[Any]], Any, int, int]
    """What makes the list of the items, of what; what that takes, and what the items would take, in bytes."""
    Pack: TypeAlias = Callable[[list[Any]], Block]

__all__ = ["LONG", "ROW", "Rows", "loose"]

LONG = 16384
"""So many items has an array that is worth packing."""
ROW = 1024
"""Items that are packed together."""
_WEIGHT = 12
"""So many values of the largest size may the items of an array take."""
_PATIENCE = 4
"""So often is each block opened for single items, on average, before all of them are left open …"""
_OPEN = 128 << 20
"""… unless they take more than that."""


def _same(items: list[Any]) -> list[Any]:
    return items


def loose(items: list[Any]) -> Block:
    """A block that is not packed."""
    return _same, items, 0, 0


class Rows:
    """An array that can only grow at its end, made by `packing.rows`.

    size  what its packed items take
    full  what they would take unpacked
    """

    __slots__ = ("_blocks", "_budget", "_ends", "_here", "_opened", "_pack", "_start", "_tail", "full", "size")

    def __init__(self, budget: Budget, pack: Pack, items: Iterable[Any] = ()) -> None:
        self._budget = budget
        self._pack = pack
        self._blocks: list[Block] = []
        self._ends: list[int] = []
        self._tail: list[Any] = []
        self._here: list[Any] = []
        self._start = 0
        self._opened = 0
        self.size = 0
        self.full = 0
        self.extend(items)

    # growing

    def add(self, block: Block, count: int) -> None:
        """Append a block of `count` items."""
        if self._tail:
            tail, self._tail = self._tail, []
            self.add(self._pack(tail), len(tail))
        self._blocks.append(block)
        self._ends.append((self._ends[-1] if self._ends else 0) + count)
        self.size += block[2]
        self.full += block[3]

    def append(self, item: Any) -> None:
        """Append one item."""
        self._tail.append(item)
        if len(self._tail) >= ROW:
            tail, self._tail = self._tail, []
            self.add(self._pack(tail), len(tail))

    def extend(self, items: Iterable[Any]) -> None:
        """Append the items."""
        if isinstance(items, Rows):
            start = 0
            for block, end in zip(items._blocks, items._ends, strict=True):
                self.add(block, end - start)
                start = end
            items = items._tail
        source = chain(self._tail, items)
        while len(row := list(islice(source, ROW))) == ROW:
            self._tail = []
            self.add(self._pack(row), len(row))
        self._tail = row

    # reading

    def blocks(self) -> Iterator[list[Any]]:
        """The items in lists."""
        for unpack, packed, _size, _full in self._blocks:
            yield unpack(packed)
        if self._tail:
            yield self._tail

    def loose(self) -> list[list[Any]]:
        """The lists that are not packed."""
        return [self._tail, *(block[1] for block in self._blocks if block[0] is _same)]

    def listed(self) -> list[Any]:
        """All items, if that is not too much."""
        if self.full > _WEIGHT * self._budget.value_bytes:
            raise LimitReached("value_bytes")
        made: list[Any] = []
        for block in self.blocks():
            self._budget.step(len(block) // 16 + 1)
            made += block
        return made

    def drained(self) -> Iterator[Any]:
        """The items, of which none is kept: each block goes when it is opened."""
        blocks, tail = self._blocks[::-1], self._tail
        self._blocks, self._ends, self._tail = [], [], []
        self.size = self.full = 0
        while blocks:
            unpack, packed, _size, _full = blocks.pop()
            yield from unpack(packed)
        yield from tail

    def __iter__(self) -> Iterator[Any]:
        return chain.from_iterable(self.blocks())

    def __reversed__(self) -> Iterator[Any]:
        yield from reversed(self._tail)
        for unpack, packed, _size, _full in reversed(self._blocks):
            yield from reversed(unpack(packed))

    def __len__(self) -> int:
        return (self._ends[-1] if self._ends else 0) + len(self._tail)

    def __getitem__(self, at: int | slice) -> Any:
        if isinstance(at, slice):
            first, last, _step = at.indices(len(self))
            part = self._part(first, last)
            return part if len(part) >= LONG else part.listed()
        if at < 0:
            at += len(self)
        place = at - self._start
        if 0 <= place < len(self._here):
            return self._here[place]
        packed = self._ends[-1] if self._ends else 0
        return self._tail[at - packed] if at >= packed else self._open(bisect_right(self._ends, at))[at - self._start]

    def _open(self, number: int) -> list[Any]:
        """The items of a block, which stays open until another one is opened."""
        unpack, packed, _size, _full = self._blocks[number]
        self._start = self._ends[number - 1] if number else 0
        self._here = unpack(packed)
        if unpack is not _same:
            self._budget.step(len(self._here) // 16 + 1)
            self._opened += 1
            if self._opened > _PATIENCE * len(self._blocks) and self.full < _OPEN:
                self._blocks = [loose(block[0](block[1])) for block in self._blocks]
                self.size = self.full = 0
        return self._here

    def _part(self, first: int, last: int) -> Rows:
        """The items from `first` on before `last`."""
        made = Rows(self._budget, self._pack)
        start = 0
        for block, end in zip(self._blocks, self._ends, strict=True):
            if first <= start and end <= last:
                made.add(block, end - start)
            elif end > first and start < last:
                made.extend(block[0](block[1])[max(first - start, 0) : last - start])
            start = end
        made.extend(self._tail[max(first - start, 0) : max(last - start, 0)])
        return made

    def spliced(self, first: int, last: int, items: Iterable[Any]) -> Rows:
        """The array with other items in place of those from `first` on before `last`."""
        made = self._part(0, first)
        made.extend(items)
        made.extend(self._part(last, len(self)))
        return made

    def without(self, gone: set[int]) -> Rows:
        """The array without the items at these indices."""
        made = Rows(self._budget, self._pack)
        places = sorted(gone)
        start = 0
        for block, end in zip(self._blocks, self._ends, strict=True):
            if bisect_left(places, start) == bisect_left(places, end):
                made.add(block, end - start)
            else:
                made.extend([item for at, item in enumerate(block[0](block[1]), start) if at not in gone])
            start = end
        made.extend([item for at, item in enumerate(self._tail, start) if at not in gone])
        return made

    def __add__(self, other: Iterable[Any]) -> Rows:
        made = Rows(self._budget, self._pack, self)
        made.extend(other)
        return made

    def __radd__(self, other: Iterable[Any]) -> Rows:
        made = Rows(self._budget, self._pack, other)
        made.extend(self)
        return made
