"""The edit script between two lists of lines, the same that git finds.

Many scripts are equally short, and users compare the one they see with git's, so the steps and the
constants are those of its library (LibXDiff):

1. Equal lines at both ends are set aside; then lines without a match, and lines with very many
   matches among them (`_kept`).
2. Myers' linear-space search from both corners (`_split`), which settles for a good point when a
   long snake was found or the cost is high. `patience` and `histogram` look for rare common lines
   first, and fall back to Myers between them.
3. `_compact` slides each group of changed lines: to a group of the other file if there is one, else
   to where indentation says that a block begins or ends.

Lines are numbers here, equal for equal lines.
"""

from __future__ import annotations

import re
from collections import defaultdict
from itertools import count

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from agentsandbox.kernel.budget import Budget

_FAR = 1 << 60
_SNAKE, _HEURISTIC_FACTOR, _HEURISTIC_AFTER, _LEAST_COST = 20, 4, 4, 256
_MOST_EQUAL, _WINDOW, _RUN = 1024, 100, 4
_MOST_INDENT, _MOST_BLANK, _MOST_SLIDING = 200, 20, 100
_CHAIN = 64


class Change:
    """Lines `old`…`old + deleted` become `new`…`new + inserted`, counted from 0."""

    __slots__ = ("deleted", "ignored", "inserted", "new", "old")

    def __init__(self, old: int, new: int, deleted: int, inserted: int) -> None:
        self.old = old
        self.new = new
        self.deleted = deleted
        self.inserted = inserted
        self.ignored = False


class Whitespace:
    """Which differences of spaces do not count."""

    __slots__ = ("all", "at_end", "blank_lines", "change", "cr_at_end")

    def __init__(
        self,
        *,
        all: bool = False,
        change: bool = False,
        at_end: bool = False,
        cr_at_end: bool = False,
        blank_lines: bool = False,
    ) -> None:
        self.all = all
        self.change = change
        self.at_end = at_end
        self.cr_at_end = cr_at_end
        self.blank_lines = blank_lines

    def key(self) -> Callable[[bytes], bytes] | None:
        """Return a function that makes lines equal that count as equal; None for the lines."""
        if self.all:
            return lambda line: re.sub(rb"[ \t\n\v\f\r]+", b"", line)
        if self.change:
            return lambda line: re.sub(rb"[ \t\n\v\f\r]+", b" ", line.rstrip(b" \t\n\v\f\r"))
        if self.at_end:
            return lambda line: line.rstrip(b" \t\n\v\f\r")
        if self.cr_at_end:
            return lambda line: re.sub(rb"\r?\n?\Z", b"", line)
        return None


EXACT = Whitespace()


def split_lines(data: bytes) -> list[bytes]:
    """Return the lines of a content, each with its line end."""
    lines = data.split(b"\n")
    last = lines.pop()
    found = [line + b"\n" for line in lines]
    if last:
        found.append(last)
    return found


def diff_lines(
    old: Sequence[bytes],
    new: Sequence[bytes],
    budget: Budget,
    *,
    algorithm: str = "myers",
    whitespace: Whitespace = EXACT,
    indent: bool = True,
    anchors: Sequence[bytes] = (),
) -> list[Change]:
    """Return the changes from `old` to `new`, in order.

    algorithm  "myers", "minimal", "patience" or "histogram"
    """
    numbers: defaultdict[bytes, int] = defaultdict(count().__next__)
    key = whitespace.key()
    one = [numbers[line] for line in (old if key is None else map(key, old))]
    two = [numbers[line] for line in (new if key is None else map(key, new))]
    budget.step(1 + (len(one) + len(two)) // 4)
    budget.charge(32 * (len(one) + len(two)))
    work = _Work(one, two, budget, algorithm)
    work.anchors = (
        frozenset(numbers[line] for line in numbers if line.startswith(tuple(anchors)))
        if anchors
        else frozenset()
    )
    work.search()
    compact = _Compaction(budget, indent)
    compact.slide(work.old_marks, one, old, work.new_marks)
    compact.slide(work.new_marks, two, new, work.old_marks)
    changes = changes_of(work.old_marks, work.new_marks, len(one), len(two))
    if whitespace.blank_lines:
        blank = _blank_test(whitespace)
        for change in changes:
            change.ignored = all(
                blank(line) for line in old[change.old : change.old + change.deleted]
            ) and all(blank(line) for line in new[change.new : change.new + change.inserted])
    return changes


def _blank_test(whitespace: Whitespace) -> Callable[[bytes], bool]:
    if whitespace.all or whitespace.change or whitespace.at_end or whitespace.cr_at_end:
        return lambda line: not line.strip(b" \t\n\v\f\r")
    return lambda line: len(line) <= 1


def changes_of(
    old_marks: bytearray, new_marks: bytearray, old_size: int, new_size: int
) -> list[Change]:
    """Return marks of changed lines as changes."""
    found: list[Change] = []
    old = new = 0
    while old < old_size or new < new_size:
        first = old_marks.find(1, old, old_size)
        second = new_marks.find(1, new, new_size)
        first = old_size if first < 0 else first
        second = new_size if second < 0 else second
        same = min(first - old, second - new)
        old += same
        new += same
        if old >= old_size and new >= new_size:
            break
        old_end, new_end = old, new
        while old_marks[old_end]:
            old_end += 1
        while new_marks[new_end]:
            new_end += 1
        found.append(Change(old, new, old_end - old, new_end - new))
        old, new = old_end, new_end
    return found


def _rough_root(number: int) -> int:
    root = 1
    while number > 0:
        root <<= 1
        number >>= 2
    return root


class _Work:
    """Two lists of numbers and the marks of their changed lines (with a 0 at the end)."""

    def __init__(self, old: list[int], new: list[int], budget: Budget, algorithm: str) -> None:
        self.old = old
        self.new = new
        self.budget = budget
        self.algorithm = algorithm
        self.old_marks = bytearray(len(old) + 1)
        self.new_marks = bytearray(len(new) + 1)
        self.anchors: frozenset[int] = frozenset()

    def search(self) -> None:
        """Mark the changed lines."""
        if self.algorithm == "histogram":
            self._histogram(1, len(self.old), 1, len(self.new))
        elif self.algorithm == "patience":
            self._patience(0, len(self.old), 0, len(self.new))
        else:
            self._myers()

    def _mark_old(self, start: int, size: int) -> None:
        self.old_marks[start : start + size] = b"\1" * size

    def _mark_new(self, start: int, size: int) -> None:
        self.new_marks[start : start + size] = b"\1" * size

    def _fall_back(self, old: int, old_size: int, new: int, new_size: int) -> None:
        """Compare two pieces by Myers' algorithm."""
        part = _Work(
            self.old[old : old + old_size], self.new[new : new + new_size], self.budget, "myers"
        )
        part._myers()
        self.old_marks[old : old + old_size] = part.old_marks[:-1]
        self.new_marks[new : new + new_size] = part.new_marks[:-1]

    # Myers

    def _myers(self) -> None:
        old, new = self.old, self.new
        most = min(len(old), len(new))
        start = 0
        while start < most and old[start] == new[start]:
            start += 1
        most -= start
        end = 0
        while end < most and old[-1 - end] == new[-1 - end]:
            end += 1
        kept_old, kept_new = self._kept(start, end)
        search = _Search(
            [old[at] for at in kept_old],
            [new[at] for at in kept_new],
            self.budget,
            exact=self.algorithm == "minimal",
        )
        for at in search.old_changed():
            self.old_marks[kept_old[at]] = 1
        for at in search.new_changed:
            self.new_marks[kept_new[at]] = 1

    def _kept(self, start: int, end: int) -> tuple[list[int], list[int]]:
        """Return the places of the lines to compare, and mark the others as changed."""
        counts: tuple[defaultdict[int, int], defaultdict[int, int]] = (
            defaultdict(int), defaultdict(int),
        )  # fmt: skip
        for side, lines in enumerate((self.old, self.new)):
            for number in lines:
                counts[side][number] += 1
        kept = []
        for side, (lines, marks) in enumerate(
            ((self.old, self.old_marks), (self.new, self.new_marks))
        ):
            others = counts[1 - side]
            limit = min(_rough_root(len(lines)), _MOST_EQUAL)
            last = len(lines) - end
            kinds = [1] * len(lines)
            for at in range(start, last):
                matches = others.get(lines[at], 0)
                if not matches:
                    kinds[at] = 0
                elif matches >= limit and self.algorithm != "minimal":
                    kinds[at] = 2
            here = []
            for at in range(start, last):
                if kinds[at] == 1 or (
                    kinds[at] == 2 and not self._is_noise(kinds, at, start, last - 1)
                ):
                    here.append(at)
                else:
                    marks[at] = 1
            kept.append(here)
            self.budget.step(1 + len(lines) // 8)
        return kept[0], kept[1]

    def _is_noise(self, kinds: list[int], at: int, first: int, last: int) -> bool:
        """Whether a line with many matches is among lines without one."""
        first, last = max(first, at - _WINDOW), min(last, at + _WINDOW)
        single, many = [0, 0], [1, 1]
        for side, places in enumerate((range(at - 1, first - 1, -1), range(at + 1, last + 1))):
            for place in places:
                if kinds[place] == 0:
                    single[side] += 1
                elif kinds[place] == 2:
                    many[side] += 1
                else:
                    break
            if not single[side]:
                return False
        self.budget.step(sum(single) // 8 + 1)
        return sum(many) * _RUN < sum(many) + sum(single)

    # histogram: split at the longest common piece with the rarest lines

    def _histogram(self, old: int, old_size: int, new: int, new_size: int) -> None:
        pending = [(old, old_size, new, new_size)]
        while pending:
            old, old_size, new, new_size = pending.pop()
            self.budget.step(1 + (old_size + new_size) // 4)
            if old_size <= 0 and new_size <= 0:
                continue
            if not old_size:
                self._mark_new(new - 1, new_size)
                continue
            if not new_size:
                self._mark_old(old - 1, old_size)
                continue
            found = _RarePiece(self, old, old_size, new, new_size)
            if found.is_hopeless:
                self._fall_back(old - 1, old_size, new - 1, new_size)
            elif not found.old and not found.new:
                self._mark_old(old - 1, old_size)
                self._mark_new(new - 1, new_size)
            else:
                pending.append((
                    found.old_end + 1, old + old_size - 1 - found.old_end,
                    found.new_end + 1, new + new_size - 1 - found.new_end,
                ))  # fmt: skip
                pending.append((old, found.old - old, new, found.new - new))

    # patience: split at the lines that are unique in both

    def _patience(self, old: int, old_size: int, new: int, new_size: int) -> None:
        pending = [(old, old_size, new, new_size)]
        while pending:
            old, old_size, new, new_size = pending.pop()
            self.budget.step(1 + (old_size + new_size) // 4)
            if not old_size:
                self._mark_new(new, new_size)
                continue
            if not new_size:
                self._mark_old(old, old_size)
                continue
            pairs, has_matches = self._unique_pairs(old, old_size, new, new_size)
            if not has_matches:
                self._mark_old(old, old_size)
                self._mark_new(new, new_size)
            elif not pairs:
                self._fall_back(old, old_size, new, new_size)
            else:
                pending += self._between(pairs, old, old_size, new, new_size)

    def _between(
        self, pairs: list[tuple[int, int]], old: int, old_size: int, new: int, new_size: int
    ) -> list[tuple[int, int, int, int]]:
        """Return the pieces between pairs of equal lines, without what is equal around these."""
        one, two = self.old, self.new
        old_end, new_end = old + old_size, new + new_size
        found = []
        number = 0
        while True:
            if number < len(pairs):
                next_old, next_new = pairs[number]
                while next_old > old and next_new > new and one[next_old - 1] == two[next_new - 1]:
                    next_old -= 1
                    next_new -= 1
            else:
                next_old, next_new = old_end, new_end
            while old < next_old and new < next_new and one[old] == two[new]:
                old += 1
                new += 1
            if next_old > old or next_new > new:
                found.append((old, next_old - old, new, next_new - new))
            if number >= len(pairs):
                return found
            while number + 1 < len(pairs) and pairs[number + 1] == (
                pairs[number][0] + 1, pairs[number][1] + 1,
            ):  # fmt: skip
                number += 1
            old, new = pairs[number][0] + 1, pairs[number][1] + 1
            number += 1

    def _unique_pairs(
        self, old: int, old_size: int, new: int, new_size: int
    ) -> tuple[list[tuple[int, int]], bool]:
        """Return the longest rising row of lines unique in both, and whether any line matches."""
        places: dict[int, list[int]] = {}
        for at in range(old, old + old_size):
            kept = places.get(self.old[at])
            if kept is None:
                places[self.old[at]] = [at, -1, 1]
            else:
                kept[2] = 2
        matches = False
        for at in range(new, new + new_size):
            kept = places.get(self.new[at])
            if kept is not None:
                matches = True
                if kept[1] >= 0 or kept[2] > 1:
                    kept[2] = 2
                else:
                    kept[1] = at
        rows: list[tuple[int, int, int]] = []
        tails: list[int] = []
        anchored = -1
        for number, (first, second, how_many) in places.items():
            if how_many != 1 or second < 0:
                continue
            low, high = 0, len(tails)
            while low < high:
                middle = (low + high) // 2
                if rows[tails[middle]][1] < second:
                    low = middle + 1
                else:
                    high = middle
            if low <= anchored:
                continue
            rows.append((first, second, tails[low - 1] if low else -1))
            if number in self.anchors:
                anchored = low
                del tails[low:]
                tails.append(len(rows) - 1)
            elif low == len(tails):
                tails.append(len(rows) - 1)
            else:
                tails[low] = len(rows) - 1
        found: list[tuple[int, int]] = []
        at = tails[-1] if tails else -1
        while at >= 0:
            found.append(rows[at][:2])
            at = rows[at][2]
        return found[::-1], matches


class _RarePiece:
    """The longest common piece whose rarest line is rarest, of two ranges counted from 1."""

    def __init__(self, work: _Work, old: int, old_size: int, new: int, new_size: int) -> None:
        one, two = work.old, work.new
        self.old = self.new = self.old_end = self.new_end = 0
        old_last, new_last = old + old_size - 1, new + new_size - 1
        places: dict[int, list[int]] = {}
        for at in range(old, old_last + 1):
            places.setdefault(one[at - 1], []).append(at)
        rarest = _CHAIN + 1
        common = False
        here = new
        while here <= new_last:
            following = here + 1
            group = places.get(two[here - 1])
            if group is None:
                here = following
                continue
            common = True
            if len(group) > rarest:
                here = following
                continue
            number = 0
            while number < len(group):
                start = end = group[number]
                new_start = new_end = here
                rare = len(group)
                while old < start and new < new_start and one[start - 2] == two[new_start - 2]:
                    start -= 1
                    new_start -= 1
                    if rare > 1:
                        rare = min(rare, len(places[one[start - 1]]))
                while end < old_last and new_end < new_last and one[end] == two[new_end]:
                    end += 1
                    new_end += 1
                    if rare > 1:
                        rare = min(rare, len(places[one[end - 1]]))
                work.budget.step(1 + (end - start) // 8)
                following = max(following, new_end + 1)
                if self.old_end - self.old < end - start or rare < rarest:
                    self.old, self.new, self.old_end, self.new_end = start, new_start, end, new_end
                    rarest = rare
                number += 1
                while number < len(group) and group[number] <= end:
                    number += 1
            here = following
        self.is_hopeless = common and rarest > _CHAIN


class _Search:
    """Myers' search on the lines that were kept."""

    def __init__(self, old: list[int], new: list[int], budget: Budget, *, exact: bool) -> None:
        self.old = old
        self.new = new
        self.budget = budget
        size = len(old) + len(new) + 3
        self.shift = len(new) + 1
        self.ahead = [0] * (size + 1)
        self.back = [0] * (size + 1)
        self.most_cost = max(_rough_root(size), _LEAST_COST)
        self.new_changed: list[int] = []
        self._old_changed: list[int] = []
        pending = [(0, len(old), 0, len(new), exact)]
        while pending:
            first, last, new_first, new_last, exactly = pending.pop()
            while first < last and new_first < new_last and old[first] == new[new_first]:
                first += 1
                new_first += 1
            while first < last and new_first < new_last and old[last - 1] == new[new_last - 1]:
                last -= 1
                new_last -= 1
            budget.step()
            if first == last:
                self.new_changed += range(new_first, new_last)
            elif new_first == new_last:
                self._old_changed += range(first, last)
            else:
                at, new_at, low, high = self._split(first, last, new_first, new_last, exactly)
                pending.append((at, last, new_at, new_last, high))
                pending.append((first, at, new_first, new_at, low))

    def old_changed(self) -> list[int]:
        """Return the places of the changed old lines."""
        return self._old_changed

    def _split(
        self, first: int, last: int, new_first: int, new_last: int, exact: bool
    ) -> tuple[int, int, bool, bool]:
        """Return a point on an edit path, and whether the two halves must be exact."""
        # long: the two searches share all of their state, and their inner loops are the hot ones
        old, new, shift = self.old, self.new, self.shift
        ahead, back = self.ahead, self.back
        lowest, highest = first - new_last, last - new_first
        start, end = first - new_first, last - new_last
        odd = (start - end) & 1
        ahead_low = ahead_high = start
        back_low = back_high = end
        ahead[start + shift] = first
        back[end + shift] = last
        cost = 0
        while True:
            cost += 1
            self.budget.step(1 + cost // 8)
            snake = False
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
                at = below + 1 if below >= above else above
                before = at
                other = at - diagonal
                while at < last and other < new_last and old[at] == new[other]:
                    at += 1
                    other += 1
                if at - before > _SNAKE:
                    snake = True
                ahead[diagonal + shift] = at
                if odd and back_low <= diagonal <= back_high and back[diagonal + shift] <= at:
                    return at, other, True, True
            if back_low > lowest:
                back_low -= 1
                back[back_low - 1 + shift] = _FAR
            else:
                back_low += 1
            if back_high < highest:
                back_high += 1
                back[back_high + 1 + shift] = _FAR
            else:
                back_high -= 1
            for diagonal in range(back_high, back_low - 1, -2):
                below, above = back[diagonal - 1 + shift], back[diagonal + 1 + shift]
                at = below if below < above else above - 1
                before = at
                other = at - diagonal
                while at > first and other > new_first and old[at - 1] == new[other - 1]:
                    at -= 1
                    other -= 1
                if before - at > _SNAKE:
                    snake = True
                back[diagonal + shift] = at
                if (
                    not odd
                    and ahead_low <= diagonal <= ahead_high
                    and at <= ahead[diagonal + shift]
                ):
                    return at, other, True, True
            if exact:
                continue
            bounds = (first, last, new_first, new_last)
            diagonals = (ahead_low, ahead_high, back_low, back_high)
            if snake and cost > _HEURISTIC_AFTER:
                found = self._by_snake(bounds, diagonals, cost)
                if found is not None:
                    return found
            if cost >= self.most_cost:
                return self._farthest(bounds, diagonals)

    def _by_snake(
        self, bounds: tuple[int, int, int, int], diagonals: tuple[int, int, int, int], cost: int
    ) -> tuple[int, int, bool, bool] | None:
        """Return the end of a long snake on a path that got far for its cost."""
        old, new, shift = self.old, self.new, self.shift
        first, last, new_first, new_last = bounds
        ahead_low, ahead_high, back_low, back_high = diagonals
        best, found = 0, None
        for diagonal in range(ahead_high, ahead_low - 1, -2):
            at = self.ahead[diagonal + shift]
            other = at - diagonal
            value = (at - first) + (other - new_first) - abs(diagonal - (first - new_first))
            if (
                value > _HEURISTIC_FACTOR * cost and value > best
                and first + _SNAKE <= at < last and new_first + _SNAKE <= other < new_last
                and old[at - _SNAKE : at] == new[other - _SNAKE : other]
            ):  # fmt: skip
                best, found = value, (at, other, True, False)
        if found is not None:
            return found
        for diagonal in range(back_high, back_low - 1, -2):
            at = self.back[diagonal + shift]
            other = at - diagonal
            value = (last - at) + (new_last - other) - abs(diagonal - (last - new_last))
            if (
                value > _HEURISTIC_FACTOR * cost and value > best
                and first < at <= last - _SNAKE and new_first < other <= new_last - _SNAKE
                and old[at : at + _SNAKE] == new[other : other + _SNAKE]
            ):  # fmt: skip
                best, found = value, (at, other, False, True)
        return found

    def _farthest(
        self, bounds: tuple[int, int, int, int], diagonals: tuple[int, int, int, int]
    ) -> tuple[int, int, bool, bool]:
        """Return the farthest point so far, forwards or backwards."""
        shift = self.shift
        first, last, new_first, new_last = bounds
        ahead_low, ahead_high, back_low, back_high = diagonals
        best = best_at = -1
        for diagonal in range(ahead_high, ahead_low - 1, -2):
            at = min(self.ahead[diagonal + shift], last)
            other = at - diagonal
            if new_last < other:
                at, other = new_last + diagonal, new_last
            if best < at + other:
                best, best_at = at + other, at
        worst = worst_at = _FAR
        for diagonal in range(back_high, back_low - 1, -2):
            at = max(first, self.back[diagonal + shift])
            other = at - diagonal
            if other < new_first:
                at, other = new_first + diagonal, new_first
            if at + other < worst:
                worst, worst_at = at + other, at
        if last + new_last - worst < best - (first + new_first):
            return best_at, best - best_at, True, False
        return worst_at, worst - worst_at, False, True


# sliding groups of changed lines


class _Group:
    """A run of changed lines, perhaps empty, between two lines that are not changed."""

    __slots__ = ("end", "marks", "numbers", "size", "start")

    def __init__(self, marks: bytearray, size: int, numbers: list[int]) -> None:
        self.marks = marks
        self.size = size
        self.numbers = numbers
        self.start = self.end = 0
        while marks[self.end]:
            self.end += 1

    def go_on(self) -> bool:
        """Move to the next group; False at the end."""
        if self.end == self.size:
            return False
        self.start = self.end = self.end + 1
        marks = self.marks
        while marks[self.end]:
            self.end += 1
        return True

    def go_back(self) -> bool:
        """Move to the group before; False at the beginning."""
        if self.start == 0:
            return False
        self.start = self.end = self.start - 1
        marks = self.marks
        while self.start and marks[self.start - 1]:
            self.start -= 1
        return True

    def slide_down(self) -> bool:
        """Slide by one line; False if this is not possible."""
        if self.end >= self.size or self.numbers[self.start] != self.numbers[self.end]:
            return False
        marks = self.marks
        marks[self.start] = 0
        marks[self.end] = 1
        self.start += 1
        self.end += 1
        while marks[self.end]:
            self.end += 1
        return True

    def slide_up(self) -> bool:
        """Slide back by one line; False if this is not possible."""
        if self.start == 0 or self.numbers[self.start - 1] != self.numbers[self.end - 1]:
            return False
        marks = self.marks
        self.start -= 1
        self.end -= 1
        marks[self.start] = 1
        marks[self.end] = 0
        while self.start and marks[self.start - 1]:
            self.start -= 1
        return True


class _Compaction:
    def __init__(self, budget: Budget, indent: bool) -> None:
        self.budget = budget
        self.indent = indent

    def slide(
        self, marks: bytearray, numbers: list[int], lines: Sequence[bytes], others: bytearray
    ) -> None:
        """Move each group of changed lines of one file to its best place."""
        group = _Group(marks, len(numbers), numbers)
        other = _Group(others, len(others) - 1, [])
        while True:
            if group.end != group.start:
                self._place(group, other, lines)
            if not group.go_on():
                return
            other.go_on()

    def _place(self, group: _Group, other: _Group, lines: Sequence[bytes]) -> None:
        while True:
            self.budget.step()
            size = group.end - group.start
            matching = -1
            while group.slide_up():
                other.go_back()
            earliest = group.end
            if other.end > other.start:
                matching = group.end
            while group.slide_down():
                other.go_on()
                if other.end > other.start:
                    matching = group.end
            if size == group.end - group.start:
                break
        if group.end == earliest:
            return
        if matching >= 0:
            while other.end == other.start:
                group.slide_up()
                other.go_back()
        elif self.indent:
            best = self._best_place(group, earliest, lines)
            while group.end > best:
                group.slide_up()
                other.go_back()

    def _best_place(self, group: _Group, earliest: int, lines: Sequence[bytes]) -> int:
        size = group.end - group.start
        place = max(earliest, group.end - size - 1, group.end - _MOST_SLIDING)
        best = -1
        best_indent = best_penalty = 0
        while place <= group.end:
            self.budget.step()
            indent, penalty = 0, 0
            for split in (place, place - size):
                more, fine = _judge_split(lines, split)
                indent += more
                penalty += fine
            worse = 60 * ((indent > best_indent) - (indent < best_indent)) + penalty - best_penalty
            if best < 0 or worse <= 0:
                best, best_indent, best_penalty = place, indent, penalty
            place += 1
        return best


def _indent_of(line: bytes) -> int:
    """Return the width of a line's indentation, -1 for a blank one."""
    width = 0
    for byte in line:
        if byte == 32:
            width += 1
        elif byte == 9:
            width += 8 - width % 8
        elif byte not in (10, 11, 12, 13):
            return width
        if width >= _MOST_INDENT:
            return _MOST_INDENT
    return -1


def _judge_split(lines: Sequence[bytes], split: int) -> tuple[int, int]:
    """Return (indentation, penalty) of a border between lines."""
    size = len(lines)
    at_end = split >= size
    own = -1 if at_end else _indent_of(lines[split])
    before, blank_before = -1, 0
    for at in range(split - 1, -1, -1):
        before = _indent_of(lines[at])
        if before != -1:
            break
        blank_before += 1
        if blank_before == _MOST_BLANK:
            before = 0
            break
    after, blank_after = -1, 0
    for at in range(split + 1, size):
        after = _indent_of(lines[at])
        if after != -1:
            break
        blank_after += 1
        if blank_after == _MOST_BLANK:
            after = 0
            break
    penalty = 1 if before == -1 and blank_before == 0 else 0
    if at_end:
        penalty += 21
    below = 1 + blank_after if own == -1 else 0
    blanks = blank_before + below
    penalty += -30 * blanks + 6 * below
    indent = own if own != -1 else after
    if indent != -1 and before != -1:
        if indent > before:
            penalty += 10 if blanks else -4
        elif indent < before:
            if after != -1 and after > indent:
                penalty += 17 if blanks else 24
            else:
                penalty += 17 if blanks else 23
    return indent, penalty
