"""Sorting any number of lines in short steps and with little memory.

No single call may hold the event loop for long, so lines are sorted in runs (`run_size`). A sorted
run is packed into chunks of joined lines, because as objects the lines would take several times the
memory of their text. The first line of each chunk stays at hand as a sample.

The output is made piece by piece. The samples of all runs, sorted, give *splitters* such that about
one run of lines lies between two of them. For each piece, every run unpacks its part between two
splitters; the parts are concatenated and sorted again. Python's sort finds the presorted parts, so
this is a merge in C. A reversed sort takes the pieces from the other end.

`LineSorter` sorts lines by themselves and counts those that occur often. `key_runs.KeySorter` sorts
them by values.
"""

from __future__ import annotations

from bisect import bisect_left
from itertools import repeat

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import Any, TypeAlias

    from agentsandbox.commands.sort.packed_runs import PackedRun
    from agentsandbox.contract.command import CommandContext
    from agentsandbox.kernel.budget import Budget

    Values: TypeAlias = Callable[[Sequence[Any]], list[Any]]

_RUN = 1 << 17
"""The largest number of lines that are sorted at once."""
SHORT_RUN = 1 << 13
"""The same if an event loop waits."""

_SAMPLE = 1 << 11
_CHUNK = 1 << 9
"""The number of lines in a chunk."""


def run_size(ctx: CommandContext) -> int:
    """Return the number of lines that may be sorted at once."""
    return _RUN if ctx.host.scheduler.pause is None else SHORT_RUN


class Sorter:
    """The common part of both sorters: lines come in, are sorted in runs, and leave in pieces."""

    __slots__ = ("_budget", "_end", "_reverse", "_runs", "_size", "_unique", "_waiting")

    def __init__(self, budget: Budget, size: int, end: Any, *, reverse: bool, unique: bool) -> None:
        self._budget = budget
        self._size = size
        self._end = end
        self._reverse = reverse
        self._unique = unique
        self._waiting: list[Any] = []
        self._runs: list[PackedRun] = []

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
        values: Values | None = None,
        *,
        paired: bool = False,
    ) -> None:
        if lines:
            from agentsandbox.commands.sort.packed_runs import PackedRun

            run = PackedRun(keys, lines, self._end, values, _CHUNK, paired=paired)
            self._runs.append(run)

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


class LineSorter(Sorter):
    """The sorter of lines by themselves, all str or all bytes; `end` separates them in chunks.

    Lines that occur often are counted, and only one copy is kept.
    """

    __slots__ = ("_counts",)

    def __init__(
        self, budget: Budget, size: int, end: Any, *, reverse: bool = False, unique: bool = False
    ) -> None:
        super().__init__(budget, size, end, reverse=reverse, unique=unique)
        self._counts: dict[Any, int] = {}
        """How often the lines occur that are counted."""

    def _close(self, run: list[Any]) -> None:
        if self._unique:
            run = list(dict.fromkeys(run))
            if len(run) * 2 < self._size:
                self._waiting = run + self._waiting
                return
        elif len(self._counts) < self._size and _is_repetitive(run):
            self._count(run)
            return
        run.sort()
        self._pack(run, run)

    def _count(self, lines: list[Any]) -> None:
        from collections import Counter

        counts = self._counts
        for line, times in Counter(lines).items():
            counts[line] = counts.get(line, 0) + times

    def pieces(self) -> Iterator[list[Any]]:
        """Yield all lines in order, in pieces; the sorter is empty afterwards."""
        waiting, self._waiting = self._waiting, []
        self._breathe(len(waiting))
        if self._unique:
            waiting = list(dict.fromkeys(waiting))
        elif _is_repetitive(waiting):
            self._count(waiting)
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
