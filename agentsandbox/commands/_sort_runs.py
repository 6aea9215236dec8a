"""Sorting many lines in steps that are each short: sorted runs, then merged piece by piece.

No single call may hold the event loop for long, so lines are sorted in runs of `RUN`; pieces of all runs that lie between
two splitters are then concatenated and sorted again, which for presorted runs is a merge in C.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from itertools import compress, count, islice, repeat
from operator import eq, itemgetter

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import Any, TypeVar

    from agentsandbox.command import CommandContext
    from agentsandbox.limits import Budget

    Line = TypeVar("Line", str, bytes)

__all__ = ["run_size", "sorted_by_key", "sorted_lines"]

_RUN = 1 << 17
"""Lines that are sorted at a time."""
_SHORT_RUN = 1 << 13
"""The same where an event loop waits."""

_SAMPLE = 1 << 11
_LINEAR = 32
"""So many equal keys are counted one by one."""


def _breathe(budget: Budget, count: int) -> None:
    budget.check_time()
    budget.breathe()
    budget.step(count // 16 + 1)


def run_size(ctx: CommandContext, *, slow: bool) -> int:
    """How many lines may be sorted in one go."""
    return _RUN if ctx.host.scheduler.pause is None and not slow else _SHORT_RUN


def sorted_lines(budget: Budget, lines: list[Line], size: int) -> Iterator[list[Line]]:
    """The lines in ascending order, in pieces; `lines` is used up. Not more than `size` are sorted in one go."""
    if len(lines) <= size:
        _breathe(budget, len(lines))
        yield _sorted(lines)
        return
    runs = []
    while lines:
        run = lines[-size:]
        del lines[-size:]
        _breathe(budget, len(run))
        run.sort()
        runs.append(run)
    for bounds in _pieces(runs, size):
        piece: list[Line] = []
        for run, (start, end) in zip(runs, bounds, strict=True):
            piece += run[start:end]
        _breathe(budget, len(piece))
        piece.sort()
        yield piece


def _sorted(lines: list[Line]) -> list[Line]:
    """The lines of one run in order: where most occur often, only the different ones are compared."""
    if len(lines) > 4 * _SAMPLE and len(set(lines[:: len(lines) // _SAMPLE])) * 2 < _SAMPLE:
        counts = Counter(lines)
        lines.clear()
        for line in sorted(counts):
            lines += repeat(line, counts[line])
    else:
        lines.sort()
    return lines


def sorted_by_key(
    budget: Budget, lines: list[bytes], size: int, values: Callable[[Sequence[bytes]], list[Any]], *, stable: bool
) -> Iterator[tuple[list[Any], list[bytes]]]:
    """(values, lines) in ascending order of the values, in pieces; equal ones by the lines unless `stable`."""
    runs = []
    for start in range(0, len(lines), size):
        run = lines[start : start + size]
        _breathe(budget, 4 * len(run))
        runs.append(_sort_run(values(run), run))
    lines.clear()
    if len(runs) == 1:
        pieces: Iterator[tuple[list[Any], list[bytes]]] = iter(runs)
    else:
        pieces = _merged(budget, runs, size)
    for keys, piece in pieces:
        if not stable:
            _sort_ties(budget, keys, piece, size)
        yield keys, piece


def _sort_run(keys: list[Any], lines: list[bytes]) -> tuple[list[Any], list[bytes]]:
    order = sorted(range(len(keys)), key=keys.__getitem__)
    if len(order) < 2:
        return keys, lines
    choose = itemgetter(*order)
    return list(choose(keys)), list(choose(lines))


def _merged(budget: Budget, runs: list[tuple[list[Any], list[bytes]]], size: int) -> Iterator[tuple[list[Any], list[bytes]]]:
    for bounds in _pieces([keys for keys, _ in runs], size):
        keys: list[Any] = []
        lines: list[bytes] = []
        for (run_keys, run_lines), (start, end) in zip(runs, bounds, strict=True):
            keys += run_keys[start:end]
            lines += run_lines[start:end]
        _breathe(budget, len(keys))
        yield _sort_run(keys, lines)


def _pieces(runs: Sequence[list[Any]], size: int) -> Iterator[list[tuple[int, int]]]:
    """For each piece the slice of every run; equal values never lie in two pieces."""
    samples: list[Any] = []
    for run in runs:
        samples += run[_SAMPLE - 1 :: _SAMPLE]
    samples.sort()
    starts = [0] * len(runs)
    step = max(1, size // _SAMPLE // 4)
    for splitter in samples[step::step]:
        ends = [bisect_left(run, splitter, start) for run, start in zip(runs, starts, strict=True)]
        if ends != starts:
            yield list(zip(starts, ends, strict=True))
            starts = ends
    yield [(start, len(run)) for run, start in zip(runs, starts, strict=True)]


def _sort_ties(budget: Budget, keys: list[Any], lines: list[bytes], size: int) -> None:
    """Order lines with equal keys by their bytes, in place."""
    same = list(compress(count(), map(eq, keys, islice(keys, 1, None))))
    same.append(-2)
    at = 0
    last = len(same) - 1
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
        if end - start <= size:
            group = lines[start:end]
            group.sort()
            lines[start:end] = group
            continue
        position = start
        for piece in sorted_lines(budget, lines[start:end], size):
            lines[position : position + len(piece)] = piece
            position += len(piece)


def _run_end(places: list[int], first: int) -> int:
    """Where the run of consecutive numbers that begins at `first` ends: galloping, then by halves."""
    offset = places[first] - first
    step = 1
    while first + step < len(places) and places[first + step] - first - step == offset:
        step *= 2
    low, high = first + step // 2, min(first + step, len(places))
    while high - low > 1:
        middle = (low + high) // 2
        if places[middle] - middle == offset:
            low = middle
        else:
            high = middle
    return high
