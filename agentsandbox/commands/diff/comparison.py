"""The edit script between two sequences, the same that GNU diff finds.

Many edit scripts are equally short; users compare the one they see with GNU's. So the three steps
are those of GNU diff, with its constants:

1. `_set_aside`: lines without a match in the other file are changes anyway, and lines with very
many matches confuse the comparison. They are left out, unless they are near the lines that are
kept. 2. `_compare_ranges`: Myers' linear-space algorithm ("An O(ND) Difference Algorithm and Its
Variations", 1986). A point of the grid is a pair of places, a diagonal the difference of both.
`_middle` searches from both corners at once, one more edit step in each round, until the paths
meet; then the two halves are compared on their own. After many steps (`_PATIENCE`) the farthest
point so far must do. 3. `_settle`: a run of changes between equal lines can be moved up or down. It
is joined with its neighbors, moved to a change of the other file if there is one, else as far down
as possible.

Lines are compared as numbers (`_numbered`), equal for equal lines.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from itertools import compress, count, groupby
from operator import not_

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from agentsandbox.kernel.budget import Budget

_PATIENCE = 4096
"""The edit steps after which a middle may be one that is not the best."""
_NOWHERE = 1 << 60
_PROVISIONAL = 2
_BLOCK = 16384
"""The number of lines between two checks of the time, at about a microsecond each."""


class Change:
    """Lines `old`…`old + deleted` become `new`…`new + inserted`, counted from 0."""

    __slots__ = ("deleted", "ignored", "inserted", "new", "old")

    def __init__(self, old: int, new: int, deleted: int, inserted: int) -> None:
        self.old = old
        self.new = new
        self.deleted = deleted
        self.inserted = inserted
        self.ignored = False


def compare(
    left: Sequence[object],
    right: Sequence[object],
    budget: Budget,
    *,
    minimal: bool = False,
    horizon: int = 0,
    files: tuple[Sequence[object], Sequence[object]] | None = None,
) -> list[Change]:
    """Return the changes from `left` to `right`, in order.

    horizon  the number of common lines at both ends that take part in the analysis
    files    the lines themselves, if `left` and `right` are the keys to compare them by: common
             lines at the ends are equal byte by byte
    """
    old, new = files or (left, right)
    start = max(_common_start(old, new, budget) - horizon, 0)
    end = max(_common_end(old, new, start, budget) - horizon, 0)
    numbers: defaultdict[object, int] = defaultdict(count().__next__)
    olds = _numbered(left, start, len(left) - end, numbers, budget)
    news = _numbered(right, start, len(right) - end, numbers, budget)
    analysis = _Analysis(olds, news, len(numbers), budget, minimal)
    return analysis.script(start)


def _numbered(
    items: Sequence[object], start: int, end: int, numbers: defaultdict[object, int], budget: Budget
) -> list[int]:
    """Return the items as numbers, equal for equal items."""
    found: list[int] = []
    for at in range(start, end, _BLOCK):
        found += map(numbers.__getitem__, items[at : min(at + _BLOCK, end)])
        budget.step(_BLOCK // 8)
        budget.breathe()
    return found


def _common_start(left: Sequence[object], right: Sequence[object], budget: Budget) -> int:
    most = min(len(left), len(right))
    count = 0
    while count < most:
        block = min(_BLOCK, most - count)
        if left[count : count + block] != right[count : count + block]:
            while left[count] == right[count]:
                count += 1
            return count
        count += block
        budget.step(block // 16)
    return count


def _common_end(left: Sequence[object], right: Sequence[object], start: int, budget: Budget) -> int:
    most = min(len(left), len(right)) - start
    count = 0
    while count < most and left[-1 - count] == right[-1 - count]:
        count += 1
        if not count % _BLOCK:
            budget.step(_BLOCK // 16)
    return count


def _same_ahead(x: list[int], at: int, end: int, y: list[int], other: int, other_end: int) -> int:
    """Return how many lines are equal from two places on; the compared pieces grow."""
    most = min(end - at, other_end - other)
    done, step = 0, 1
    while done < most:
        size = min(step, most - done)
        if x[at + done : at + done + size] != y[other + done : other + done + size]:
            while x[at + done] == y[other + done]:
                done += 1
            return done
        done += size
        step = min(2 * step, _BLOCK)
    return done


def _next_mark(marks: list[bool], start: int) -> int:
    """Return the place of the next mark, or the last place, which is never marked."""
    try:
        return marks.index(True, start)
    except ValueError:
        return len(marks) - 1


class _Analysis:
    """The marks of the changed lines of both files, with one more False at either end."""

    def __init__(
        self, olds: list[int], news: list[int], classes: int, budget: Budget, minimal: bool
    ) -> None:
        self.budget = budget
        self.minimal = minimal
        self.lines = (olds, news)
        self.changed: tuple[list[bool], list[bool]] = (
            [False] * (len(olds) + 2),
            [False] * (len(news) + 2),
        )
        kept_old, kept_new = self._set_aside(classes)
        self.x, self.old_at = list(map(olds.__getitem__, kept_old)), kept_old
        self.y, self.new_at = list(map(news.__getitem__, kept_new)), kept_new
        size = len(self.x) + len(self.y) + 3
        self.shift = len(self.y) + 1  # diagonals run from -len(y) - 1
        self.forward = [0] * size
        self.backward = [0] * size
        patience = 1
        diagonals = size
        while diagonals:
            patience <<= 1
            diagonals >>= 2
        self.patience = max(_PATIENCE, patience)
        budget.breathe()
        self._compare_ranges()
        budget.breathe()
        self._settle(0)
        budget.breathe()
        self._settle(1)
        budget.breathe()

    def script(self, start: int) -> list[Change]:
        """Return the marks as changes; `start` lines precede."""
        old_marks, new_marks = self.changed
        changes: list[Change] = []
        old = new = 0
        old_size, new_size = len(self.lines[0]), len(self.lines[1])
        next_old, next_new = _next_mark(old_marks, 1), _next_mark(new_marks, 1)
        while True:
            if next_old <= old:
                next_old = _next_mark(old_marks, old + 1)
            if next_new <= new:
                next_new = _next_mark(new_marks, new + 1)
            same = min(next_old - old, next_new - new) - 1
            old += same
            new += same
            if old >= old_size and new >= new_size:
                break
            first_old, first_new = old, new
            while old_marks[old + 1]:
                old += 1
            while new_marks[new + 1]:
                new += 1
            changes.append(
                Change(first_old + start, first_new + start, old - first_old, new - first_new)
            )
        return changes

    # lines that cannot match, or match far too often

    def _set_aside(self, classes: int) -> tuple[list[int], list[int]]:
        """Return the places of the lines to compare; mark the others as changed."""
        counts = ([0] * classes, [0] * classes)
        for side in (0, 1):
            self.budget.step(len(self.lines[side]) // 16)
            for number in self.lines[side]:
                counts[side][number] += 1
            self.budget.breathe()
        kept: list[list[int]] = []
        for side in (0, 1):
            lines, others = self.lines[side], counts[1 - side]
            self.budget.step(len(lines) // 16)
            marks = self._doubts(lines, others)
            self.budget.step(len(lines) // 16)
            changed = self.changed[side]
            here = list(range(len(marks)))
            if any(marks) and not self.minimal:
                here = list(compress(here, map(not_, marks)))
                changed[1:-1] = map(bool, marks)
            kept.append(here)
            self.budget.breathe()
        return kept[0], kept[1]

    def _doubts(self, lines: list[int], others: list[int]) -> list[int]:
        """Return for each line 0 to keep it, 1 without a match, 2 with too many matches."""
        many = 5
        scale = len(lines) // 64
        while (scale := scale >> 2) > 0:
            many *= 2
        marks = [
            1 if not others[number] else _PROVISIONAL if others[number] > many else 0
            for number in lines
        ]
        done = 0
        for at in list(compress(count(), marks)):
            if at < done:
                continue
            if marks[at] == _PROVISIONAL:
                marks[at] = 0
            elif marks[at]:
                done = self._judge_run(marks, at) + 1
        return marks

    def _judge_run(self, marks: list[int], start: int) -> int:
        """Decide about the doubtful lines in a run behind one without a match; return its end."""
        end = start
        while end < len(marks) and marks[end]:
            end += 1
        while marks[end - 1] == _PROVISIONAL:
            end -= 1
            marks[end] = 0
        length = end - start
        self.budget.step(length)
        doubtful = marks[start:end].count(_PROVISIONAL)
        if not doubtful:
            return end - 1
        if doubtful * 4 > length:
            for at in range(start, end):
                if marks[at] == _PROVISIONAL:
                    marks[at] = 0
            return start
        self._keep_long_doubts(marks, start, length)
        self._keep_edge(marks, start, length, 1)
        self._keep_edge(marks, end - 1, length, -1)
        return end - 1

    def _keep_long_doubts(self, marks: list[int], start: int, length: int) -> None:
        """Keep doubtful lines in rows of at least about the square root of a quarter of the run."""
        short = 1
        quarter = length >> 2
        while (quarter := quarter >> 2) > 0:
            short *= 2
        at = start
        for mark, row in groupby(marks[start : start + length]):
            size = len(list(row))
            if mark == _PROVISIONAL and size > short:
                marks[at : at + size] = [0] * size
            at += size

    def _keep_edge(self, marks: list[int], edge: int, length: int, direction: int) -> None:
        """Keep doubtful lines near an edge: up to three sure ones in a row, or one after eight."""
        row = 0
        for distance in range(length):
            at = edge + distance * direction
            if distance >= 8 and marks[at] == 1:
                break
            if marks[at] == 1:
                row += 1
            else:
                row = 0
                marks[at] = 0
            if row == 3:
                break

    # Myers

    def _compare_ranges(self) -> None:
        x, y = self.x, self.y
        old_marks, new_marks = self.changed
        pending = [(0, len(x), 0, len(y), self.minimal)]
        while pending:
            x_low, x_high, y_low, y_high, exact = pending.pop()
            same = _same_ahead(x, x_low, x_high, y, y_low, y_high)
            x_low += same
            y_low += same
            while x_low < x_high and y_low < y_high and x[x_high - 1] == y[y_high - 1]:
                x_high -= 1
                y_high -= 1
            if x_low == x_high:
                for at in range(y_low, y_high):
                    new_marks[self.new_at[at] + 1] = True
            elif y_low == y_high:
                for at in range(x_low, x_high):
                    old_marks[self.old_at[at] + 1] = True
            else:
                x_middle, y_middle, low_exact, high_exact = self._middle(
                    x_low, x_high, y_low, y_high, exact
                )
                pending.append((x_middle, x_high, y_middle, y_high, high_exact))
                pending.append((x_low, x_middle, y_low, y_middle, low_exact))

    def _middle(
        self, x_low: int, x_high: int, y_low: int, y_high: int, exact: bool
    ) -> tuple[int, int, bool, bool]:
        """Return a point on a shortest edit path, and whether the halves must be exact."""
        # long: the two searches share all of their state, and their inner loops are the hot ones
        x, y, budget = self.x, self.y, self.budget
        ahead, back, shift = self.forward, self.backward, self.shift
        lowest, highest = x_low - y_high, x_high - y_low
        ahead_low = ahead_high = x_low - y_low
        back_low = back_high = x_high - y_high
        odd = bool((ahead_low - back_low) & 1)
        ahead[ahead_low + shift] = x_low
        back[back_low + shift] = x_high
        cost = 0
        while True:
            cost += 1
            budget.step(cost // 8 + 1)
            if ahead_low > lowest:
                ahead_low -= 1
                ahead[ahead_low - 1 + shift] = -1
            else:
                ahead_low += 1
            if ahead_high < highest:
                ahead_high += 1
                ahead[ahead_high + 1 + shift] = -1
            else:
                ahead_high -= 1
            for diagonal in range(ahead_high, ahead_low - 1, -2):
                below, above = ahead[diagonal - 1 + shift], ahead[diagonal + 1 + shift]
                at = above if below < above else below + 1
                other = at - diagonal
                while at < x_high and other < y_high and x[at] == y[other]:
                    at += 1
                    other += 1
                ahead[diagonal + shift] = at
                if odd and back_low <= diagonal <= back_high and back[diagonal + shift] <= at:
                    return at, other, True, True
            if back_low > lowest:
                back_low -= 1
                back[back_low - 1 + shift] = _NOWHERE
            else:
                back_low += 1
            if back_high < highest:
                back_high += 1
                back[back_high + 1 + shift] = _NOWHERE
            else:
                back_high -= 1
            for diagonal in range(back_high, back_low - 1, -2):
                below, above = back[diagonal - 1 + shift], back[diagonal + 1 + shift]
                at = below if below < above else above - 1
                other = at - diagonal
                while x_low < at and y_low < other and x[at - 1] == y[other - 1]:
                    at -= 1
                    other -= 1
                back[diagonal + shift] = at
                if (
                    not odd
                    and ahead_low <= diagonal <= ahead_high
                    and at <= ahead[diagonal + shift]
                ):
                    return at, other, True, True
            if not exact and cost >= self.patience:
                return self._best_so_far(
                    (x_low, x_high, y_low, y_high), (ahead_low, ahead_high), (back_low, back_high)
                )

    def _best_so_far(
        self, bounds: tuple[int, int, int, int], ahead: tuple[int, int], back: tuple[int, int]
    ) -> tuple[int, int, bool, bool]:
        """Return the farthest point so far, forwards or backwards."""
        x_low, x_high, y_low, y_high = bounds
        shift = self.shift
        best, best_x = -1, x_low
        for diagonal in range(ahead[1], ahead[0] - 1, -2):
            at = min(self.forward[diagonal + shift], x_high)
            other = at - diagonal
            if y_high < other:
                at, other = y_high + diagonal, y_high
            if best < at + other:
                best, best_x = at + other, at
        worst, worst_x = _NOWHERE, x_high
        for diagonal in range(back[1], back[0] - 1, -2):
            at = max(x_low, self.backward[diagonal + shift])
            other = at - diagonal
            if other < y_low:
                at, other = y_low + diagonal, y_low
            if at + other < worst:
                worst, worst_x = at + other, at
        if (x_high + y_high) - worst < best - (x_low + y_low):
            return best_x, best - best_x, True, False
        return worst_x, worst - worst_x, False, True

    # where to put runs of changes

    def _settle(self, side: int) -> None:
        """Move each run of changes of one file: to a change of the other file, or down."""
        # long: one walk over two lists of marks with four indices
        changed, others, lines = self.changed[side], self.changed[1 - side], self.lines[side]
        size = len(lines)
        at = other = 0  # lines of the two files; their marks stand one further
        marked = list(compress(count(), others))
        marked.append(len(others) - 1)
        while True:
            following = _next_mark(changed, at + 1)
            while at < size and at + 1 < following:
                while others[other + 1]:
                    other += 1
                same = max(
                    min(
                        following - at,
                        marked[bisect_right(marked, other, 0, len(marked) - 1)] - other,
                    )
                    - 1,
                    1,
                )
                other += same
                at += same
            if at == size:
                return
            self.budget.step()
            start = at
            while changed[at + 1]:
                at += 1
            while others[other + 1]:
                other += 1
            while True:
                length = at - start
                while start and lines[start - 1] == lines[at - 1]:
                    start -= 1
                    at -= 1
                    changed[start + 1], changed[at + 1] = True, False
                    while changed[start]:
                        start -= 1
                    other -= 1
                    while others[other + 1]:
                        other -= 1
                matched = at if others[other] else size
                while at != size and lines[start] == lines[at]:
                    changed[start + 1], changed[at + 1] = False, True
                    start += 1
                    at += 1
                    while changed[at + 1]:
                        at += 1
                    other += 1
                    while others[other + 1]:
                        matched = at
                        other += 1
                if length == at - start:
                    break
            while matched < at:
                start -= 1
                at -= 1
                changed[start + 1], changed[at + 1] = True, False
                other -= 1
                while others[other + 1]:
                    other -= 1
