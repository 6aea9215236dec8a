"""Sorting lines by values in runs (see `runs`).

Lines with equal values are ordered by their bytes, unless the sort is stable.
"""

from __future__ import annotations

from itertools import compress, count, islice
from operator import eq, ne

from agentsandbox.commands.sort.runs import SHORT_RUN, LineSorter, Sorter
from agentsandbox.kernel.budget import PIECE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from agentsandbox.commands.sort.runs import Values
    from agentsandbox.kernel.budget import Budget

_LINEAR = 32
"""The number of equal keys that are counted one by one."""


class KeySorter(Sorter):
    """The sorter of lines by their values; equal ones by their bytes unless `stable`."""

    __slots__ = ("_stable", "_values")

    def __init__(
        self,
        budget: Budget,
        size: int,
        end: bytes,
        values: Values,
        *,
        reverse: bool = False,
        unique: bool = False,
        stable: bool = False,
    ) -> None:
        super().__init__(budget, size, end, reverse=reverse, unique=unique)
        self._values = values
        self._stable = stable

    def _sorted(self, run: list[bytes]) -> tuple[list[Any], list[bytes]]:
        if self._reverse:
            run.reverse()  # a stable reversed sort is a stable sort, read from the end
        keys: list[Any] = []
        for start in range(0, len(run), SHORT_RUN):  # values may take long to make
            for part in self._parts_by_size(run[start : start + SHORT_RUN]):
                keys += self._values(part)
        return sort_by(keys, run)

    def _parts_by_size(self, lines: list[bytes]) -> Iterator[list[bytes]]:
        """Yield a short run in parts of not too many bytes, looking at the clock before each."""
        self._breathe(len(lines))
        if len(lines) == 1 or sum(map(len, lines)) <= PIECE:
            yield lines
            return
        half = len(lines) // 2
        yield from self._parts_by_size(lines[:half])
        yield from self._parts_by_size(lines[half:])

    def _close(self, run: list[bytes]) -> None:
        self._pack_ordered(*self._sorted(run))

    def _pack_ordered(self, keys: list[Any], lines: list[bytes]) -> None:
        """Pack a run.

        Unless the sort is stable, splitters hold lines too: many equal keys make no large piece.
        """
        if not self._stable:
            self._sort_ties(keys, lines)
        elif self._unique:
            keys, lines = self._without_repeats(keys, lines)
        self._pack(keys, lines, self._values, paired=not self._stable)

    def pieces(self) -> Iterator[list[bytes]]:
        """Yield all lines in order, in pieces; the sorter is empty afterwards."""
        waiting, self._waiting = self._waiting, []
        self._breathe(4 * len(waiting))
        keys, lines = self._sorted(waiting)
        if not self._runs:
            yield self._finished(keys, lines)
            return
        self._pack_ordered(keys, lines)
        if self._reverse:
            self._runs.reverse()
        for splitter in self._splitters():
            keys, lines = [], []
            for part_keys, part in self._parts(splitter):
                keys += part_keys
                lines += part
            self._breathe(4 * len(lines))
            yield self._finished(*sort_by(keys, lines))

    def _finished(self, keys: list[Any], lines: list[bytes]) -> list[bytes]:
        """Return a piece, given in the order of its keys, in its final order."""
        if not self._stable:
            self._sort_ties(keys, lines)
        if self._unique:
            keys, lines = self._without_repeats(keys, lines)
        if self._reverse:
            lines.reverse()
        return lines

    def _without_repeats(
        self, keys: list[Any], lines: list[bytes]
    ) -> tuple[list[Any], list[bytes]]:
        """Keep the first of the lines with equal keys: in a reversed sort it is the last here."""
        differs = list(map(ne, keys, islice(keys, 1, None)))
        chosen = [*differs, True] if self._reverse else [True, *differs]
        return list(compress(keys, chosen)), list(compress(lines, chosen))

    def _sort_ties(self, keys: list[Any], lines: list[bytes]) -> None:
        """Order lines with equal keys by their bytes, in place."""
        same = list(compress(count(), map(eq, keys, islice(keys, 1, None))))
        same.append(-2)
        at = 0
        last = len(same) - 1
        budget = self._budget
        while at < last:
            budget.left -= 1
            if budget.left < 0:
                budget.tick()
            start = same[at]
            at += 1
            end = start + 2
            while same[at] == end - 1 and end - start < _LINEAR:
                at += 1
                end += 1
            if end == start + 2:
                if lines[start + 1] < lines[start]:
                    lines[start], lines[start + 1] = lines[start + 1], lines[start]
                continue
            if end - start == _LINEAR:
                first = at - 1
                at = _run_end(same, first)
                end += at - first - 1
            if end - start <= self._size:
                group = lines[start:end]
                group.sort()
                lines[start:end] = group
                continue
            many = LineSorter(budget, self._size, self._end)
            many.add(lines[start:end])
            for piece in many.pieces():
                lines[start : start + len(piece)] = piece
                start += len(piece)


def sort_by(keys: list[Any], lines: list[bytes]) -> tuple[list[Any], list[bytes]]:
    """Return both in the order of the keys; equal keys keep their order."""
    order = sorted(range(len(keys)), key=keys.__getitem__)
    return list(map(keys.__getitem__, order)), list(map(lines.__getitem__, order))


def _run_end(places: list[int], first: int) -> int:
    """Return the end of the run of consecutive numbers that begins at `first`."""
    end = len(places) - 1  # the last place is no number
    offset = places[first] - first
    step = 1
    while first + step < end and places[first + step] - first - step == offset:
        step *= 2
    low, high = first + step // 2, min(first + step, end)
    while high - low > 1:
        middle = (low + high) // 2
        if places[middle] - middle == offset:
            low = middle
        else:
            high = middle
    return high
