"""Sorting any number of lines in short steps and with little memory.

No single call may hold the event loop for long, so lines are sorted in runs (`run_size`). A sorted
run is packed into chunks of joined lines, because as objects the lines would take several times the
memory of their text. The first line of each chunk stays at hand as a sample.

The output is made piece by piece. The samples of all runs, sorted, give *splitters* such that about
one run of lines lies between two of them. For each piece, every run unpacks its part between two
splitters; the parts are concatenated and sorted again. Python's sort finds the presorted parts, so
this is a merge in C. A reversed sort takes the pieces from the other end.

`LineSorter` sorts lines by themselves and counts those that occur often. `KeySorter` sorts them by
values; lines with equal values are ordered by their bytes, unless the sort is stable.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from itertools import compress, count, islice, repeat
from operator import eq, ne

from agentsandbox.kernel.budget import PIECE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import Any, TypeAlias

    from agentsandbox.contract.command import CommandContext
    from agentsandbox.kernel.budget import Budget

    _Values: TypeAlias = Callable[[Sequence[Any]], list[Any]]

_RUN = 1 << 17
"""The largest number of lines that are sorted at once."""
_SHORT_RUN = 1 << 13
"""The same if an event loop waits."""

_SAMPLE = 1 << 11
_CHUNK = 1 << 9
"""The number of lines in a chunk."""
_LINEAR = 32
"""The number of equal keys that are counted one by one."""


def run_size(ctx: CommandContext) -> int:
    """Return the number of lines that may be sorted at once."""
    return _RUN if ctx.host.scheduler.pause is None else _SHORT_RUN


class _Run:
    """Sorted lines in packed chunks; `firsts` has the value of the first line of each chunk.

    Lines are taken from either end. `_open` holds lines that were unpacked and not yet taken.
    """

    __slots__ = ("_chunks", "_end", "_high", "_low", "_open", "_paired", "_values", "firsts")

    def __init__(
        self, keys: list[Any], lines: list[Any], end: Any, values: _Values | None, *, paired: bool
    ) -> None:
        self._paired = paired
        firsts = keys[::_CHUNK]
        self.firsts = list(zip(firsts, lines[::_CHUNK], strict=True)) if paired else firsts
        starts = range(0, len(lines), _CHUNK)
        self._chunks = [end.join(lines[start : start + _CHUNK]) for start in starts]
        self._end = end
        self._values = values
        self._low, self._high = 0, len(self._chunks)
        self._open: list[Any] = []

    def _unpack(self, low: int, high: int) -> list[Any]:
        lines: list[Any] = []
        for at in range(low, high):
            lines += self._chunks[at].split(self._end)
            self._chunks[at] = None
        return lines

    def _cut(self, keys: list[Any], lines: list[Any], splitter: Any) -> int:
        """Return how many lines come before the splitter: a value, or a pair of value and line."""
        if not self._paired:
            return bisect_left(keys, splitter)
        key, line = splitter
        start = bisect_left(keys, key)
        return bisect_left(lines, line, start, bisect_right(keys, key, start))

    def below(self, splitter: Any) -> tuple[list[Any], list[Any]]:
        """Return (values, lines) of the lines before the splitter; None means all lines."""
        high = self._high
        if splitter is not None:
            high = bisect_left(self.firsts, splitter, self._low, high)
        lines = self._open + self._unpack(self._low, high)
        self._low = high
        keys = lines if self._values is None else self._values(lines)
        cut = len(keys) if splitter is None else self._cut(keys, lines, splitter)
        self._open = lines[cut:]
        return keys[:cut], lines[:cut]

    def above(self, splitter: Any) -> tuple[list[Any], list[Any]]:
        """Return (values, lines) of the lines from the splitter on; None means all lines."""
        low = 0
        if splitter is not None:
            low = max(bisect_left(self.firsts, splitter, 0, self._high) - 1, 0)
        lines = self._unpack(low, self._high) + self._open
        self._high = min(low, self._high)
        keys = lines if self._values is None else self._values(lines)
        cut = 0 if splitter is None else self._cut(keys, lines, splitter)
        self._open = lines[:cut]
        return keys[cut:], lines[cut:]


class _Sorter:
    """The common part of both sorters: lines come in, are sorted in runs, and leave in pieces."""

    __slots__ = ("_budget", "_end", "_reverse", "_runs", "_size", "_unique", "_waiting")

    def __init__(self, budget: Budget, size: int, end: Any, *, reverse: bool, unique: bool) -> None:
        self._budget = budget
        self._size = size
        self._end = end
        self._reverse = reverse
        self._unique = unique
        self._waiting: list[Any] = []
        self._runs: list[_Run] = []

    def add(self, lines: list[Any]) -> None:
        """Add lines; sort and pack them as soon as they fill a run."""
        self._waiting += lines
        while len(self._waiting) > self._size:
            run, self._waiting = self._waiting[: self._size], self._waiting[self._size :]
            self._breathe(len(run))
            self._close(run)

    def pieces(self) -> Iterator[list[Any]]:
        """Yield all lines in order, in pieces; the sorter is empty afterwards."""
        raise NotImplementedError

    def _close(self, run: list[Any]) -> None:
        raise NotImplementedError

    def _breathe(self, lines: int) -> None:
        self._budget.check_time()
        self._budget.breathe()
        self._budget.step(lines // 16 + 1)

    def _pack(
        self,
        keys: list[Any],
        lines: list[Any],
        values: _Values | None = None,
        *,
        paired: bool = False,
    ) -> None:
        if lines:
            self._runs.append(_Run(keys, lines, self._end, values, paired=paired))

    def _splitters(self) -> list[Any]:
        """Return the splitters in the order of the pieces, and None for the last piece."""
        samples = sorted([first for run in self._runs for first in run.firsts])
        step = max(1, self._size // _CHUNK)
        splitters = samples[step::step]
        if self._reverse:
            splitters.reverse()
        return [*splitters, None]

    def _parts(self, splitter: Any) -> Iterator[tuple[list[Any], list[Any]]]:
        """Yield the part of every run that belongs to the piece up to the splitter."""
        for run in self._runs:
            yield run.above(splitter) if self._reverse else run.below(splitter)


class LineSorter(_Sorter):
    """The sorter of lines by themselves, all str or all bytes; `end` separates them in chunks.

    Lines that occur often are counted, and only one copy is kept.
    """

    __slots__ = ("_counts",)

    def __init__(
        self, budget: Budget, size: int, end: Any, *, reverse: bool = False, unique: bool = False
    ) -> None:
        super().__init__(budget, size, end, reverse=reverse, unique=unique)
        self._counts: Counter[Any] = Counter()

    def _close(self, run: list[Any]) -> None:
        if self._unique:
            run = list(dict.fromkeys(run))
            if len(run) * 2 < self._size:
                self._waiting = run + self._waiting
                return
        elif len(self._counts) < self._size and _is_repetitive(run):
            self._counts.update(run)
            return
        run.sort()
        self._pack(run, run)

    def pieces(self) -> Iterator[list[Any]]:
        """Yield all lines in order, in pieces; the sorter is empty afterwards."""
        waiting, self._waiting = self._waiting, []
        self._breathe(len(waiting))
        if self._unique:
            waiting = list(dict.fromkeys(waiting))
        elif _is_repetitive(waiting):
            self._counts.update(waiting)
            waiting = []
        waiting.sort()
        if self._runs:
            self._pack(waiting, waiting)
            waiting = []
        distinct = sorted(self._counts)
        for splitter in self._splitters():
            lines = waiting if splitter is None else []
            for _, part in self._parts(splitter):
                lines += part
            self._breathe(len(lines))
            lines.sort()
            if self._unique:
                lines = list(dict.fromkeys(lines))
            if splitter is not None:
                cut = bisect_left(distinct, splitter)
            else:
                cut = 0 if self._reverse else len(distinct)
            counted = distinct[cut:] if self._reverse else distinct[:cut]
            distinct = distinct[:cut] if self._reverse else distinct[cut:]
            yield from self._interleaved(lines, counted)

    def _interleaved(self, lines: list[Any], counted: list[Any]) -> Iterator[list[Any]]:
        """Yield the lines, with each counted line as often as it occurs."""
        cuts = [bisect_left(lines, line) for line in counted]
        stretches = list(zip([0, *cuts], [None, *counted], [*cuts, len(lines)], strict=True))
        piece: list[Any] = []
        for low, line, high in reversed(stretches) if self._reverse else stretches:
            times = self._counts.get(line, 0)
            if self._reverse:
                piece += lines[low:high][::-1]
            while times > 0:
                piece += repeat(line, min(times, self._size))
                times -= self._size
                if len(piece) >= self._size:
                    self._breathe(len(piece))
                    yield piece
                    piece = []
            if not self._reverse:
                piece += lines[low:high]
        yield piece


def _is_repetitive(lines: list[Any]) -> bool:
    """Whether most lines seem to occur often."""
    return len(lines) > 4 * _SAMPLE and len(set(lines[:: len(lines) // _SAMPLE])) * 2 < _SAMPLE


class KeySorter(_Sorter):
    """The sorter of lines by their values; equal ones by their bytes unless `stable`."""

    __slots__ = ("_stable", "_values")

    def __init__(
        self,
        budget: Budget,
        size: int,
        end: bytes,
        values: _Values,
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
        for start in range(0, len(run), _SHORT_RUN):  # values may take long to make
            for part in self._parts_by_size(run[start : start + _SHORT_RUN]):
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
