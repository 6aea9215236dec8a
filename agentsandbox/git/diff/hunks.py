"""Hunks: changes with the lines around them, in the unified form of git."""

from __future__ import annotations

import re

from agentsandbox.git.diff.xdiff import EXACT, Change, Whitespace, diff_lines, split_lines

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from agentsandbox.kernel.budget import Budget

    FindFunction = Callable[[bytes], bytes | None]

_FUNCTION = re.compile(rb"[A-Za-z_$]")


def function_line(line: bytes) -> bytes | None:
    """Return what a line shows behind "@@" if it begins a function, by git's default rule."""
    if not _FUNCTION.match(line):
        return None
    return line[:80].rstrip(b" \t\n\v\f\r")


class Hunk:
    """Lines with their signs; numbers count from 0."""

    __slots__ = ("function", "lines", "new", "new_size", "old", "old_size")

    def __init__(self, old: int, old_size: int, new: int, new_size: int, function: bytes) -> None:
        self.old = old
        self.old_size = old_size
        self.new = new
        self.new_size = new_size
        self.function = function
        self.lines: list[tuple[bytes, bytes]] = []
        """(b" ", b"-" or b"+", the line with its line end)."""

    def header(self) -> bytes:
        """Return the line "@@ -1,2 +1,3 @@", without function and line end."""
        return b"@@ -%s +%s @@" % (_range(self.old, self.old_size), _range(self.new, self.new_size))


def _range(start: int, size: int) -> bytes:
    if size == 0:
        return b"%d,0" % start
    return b"%d" % (start + 1) if size == 1 else b"%d,%d" % (start + 1, size)


class LineDiff:
    """How lines are compared and shown."""

    __slots__ = (
        "algorithm", "anchors", "between", "context", "find_function", "indent", "is_ignored",
        "whitespace", "whole_functions",
    )  # fmt: skip

    def __init__(
        self,
        *,
        algorithm: str = "myers",
        whitespace: Whitespace = EXACT,
        context: int = 3,
        between: int = 0,
        whole_functions: bool = False,
        indent: bool = True,
        find_function: FindFunction = function_line,
        anchors: Sequence[bytes] = (),
        is_ignored: Callable[[bytes], bool] | None = None,
    ) -> None:
        self.algorithm = algorithm
        self.whitespace = whitespace
        self.context = context
        self.between = between
        self.whole_functions = whole_functions
        self.indent = indent
        self.find_function = find_function
        self.anchors = anchors
        self.is_ignored = is_ignored
        """Tells the lines of -I: a change of such lines only is not shown."""

    def changes(self, old: Sequence[bytes], new: Sequence[bytes], budget: Budget) -> list[Change]:
        """Return the changes between lists of lines."""
        found = diff_lines(
            old, new, budget, algorithm=self.algorithm, whitespace=self.whitespace,
            indent=self.indent, anchors=self.anchors,
        )  # fmt: skip
        if self.is_ignored is not None:
            for change in found:
                lines = [
                    *old[change.old : change.old + change.deleted],
                    *new[change.new : change.new + change.inserted],
                ]
                budget.step(1 + len(lines))
                change.ignored = change.ignored or all(map(self.is_ignored, lines))
        return found

    def hunks(self, old: bytes, new: bytes, budget: Budget) -> Iterator[Hunk]:
        """Yield the hunks between two contents."""
        if self.context == 0 and not self.whole_functions:
            old, new = trim_tail(old, new)
        before, after = split_lines(old), split_lines(new)
        changes = self.changes(before, after, budget)
        return _Cutter(self, before, after, changes, budget).hunks()


def trim_tail(old: bytes, new: bytes) -> tuple[bytes, bytes]:
    """Return two contents without most of their common end, as git does without context."""
    smaller, block, trimmed = min(len(old), len(new)), 1024, 0
    while (
        block + trimmed <= smaller
        and old[len(old) - trimmed - block : len(old) - trimmed]
        == new[len(new) - trimmed - block : len(new) - trimmed]
    ):
        trimmed += block
    if not trimmed:
        return old, new
    start = len(old) - trimmed
    found = old.find(b"\n", start)
    recovered = trimmed if found < 0 else found - start + 1
    return old[: start + recovered], new[: len(new) - trimmed + recovered]


class _Cutter:
    def __init__(
        self,
        settings: LineDiff,
        old: list[bytes],
        new: list[bytes],
        changes: list[Change],
        budget: Budget,
    ) -> None:
        self.settings = settings
        self.old = old
        self.new = new
        self.changes = changes
        self.budget = budget

    def hunks(self) -> Iterator[Hunk]:
        changes = self.changes
        at = 0
        function = b""
        searched = -1
        while at < len(changes):
            at, last = self._together(at)
            if at >= len(changes):
                return
            first = at
            at, start, new_start = self._beginning(first)
            last, end, new_end = self._ending(max(last, at))
            found = self._function_before(start - 1, searched)
            if found is not None:
                function = found
            searched = start - 1
            hunk = Hunk(start, end - start, new_start, new_end - new_start, function)
            self._fill(hunk, changes[at : last + 1], new_start, new_end)
            self.budget.step(1 + len(hunk.lines) // 4)
            yield hunk
            at = last + 1

    def _function_before(self, start: int, limit: int) -> bytes | None:
        find = self.settings.find_function
        if start <= limit:
            return None
        for at in range(start, limit, -1):
            if at < len(self.old):
                found = find(self.old[at])
                if found is not None:
                    return found
        self.budget.step(1 + (start - limit) // 8)
        return None

    def _together(self, at: int) -> tuple[int, int]:
        """Return the numbers of the first and last change of the next hunk."""
        changes, settings = self.changes, self.settings
        most = 2 * settings.context + settings.between
        near = settings.context
        first = at
        while at < len(changes) and changes[at].ignored:
            following = changes[at + 1] if at + 1 < len(changes) else None
            if following is None or (
                following.old - (changes[at].old + changes[at].deleted) >= near
            ):
                first = at + 1
            at += 1
        if first >= len(changes):
            return first, first
        last = first
        ignored = 0
        for number in range(first + 1, len(changes)):
            before, change = changes[number - 1], changes[number]
            distance = change.old - (before.old + before.deleted)
            if distance > most:
                break
            if distance < near and (not change.ignored or last == number - 1):
                last, ignored = number, 0
            elif distance < near and change.ignored:
                ignored += change.inserted
            elif last != number - 1 and (
                change.old + ignored - (changes[last].old + changes[last].deleted) > most
            ):
                break
            elif not change.ignored:
                last, ignored = number, 0
            else:
                ignored += change.inserted
        return first, last

    def _beginning(self, first: int) -> tuple[int, int, int]:
        change, settings = self.changes[first], self.settings
        start = max(change.old - settings.context, 0)
        new_start = max(change.new - settings.context, 0)
        if not settings.whole_functions:
            return first, start, new_start
        at = change.old
        if at >= len(self.old):
            for other in range(change.new, len(self.new)):
                if settings.find_function(self.new[other]) is not None:
                    return first, start, new_start
            at = len(self.old) - 1
        while at >= 0 and settings.find_function(self.old[at]) is None:
            at -= 1
        while (
            at > 0
            and self.old[at - 1].strip()
            and (settings.find_function(self.old[at - 1]) is None)
        ):
            at -= 1
        at = max(at, 0)
        if at < start:
            new_start = max(new_start - (start - at), 0)
            start = at
        return first, start, new_start

    def _ending(self, last: int) -> tuple[int, int, int]:
        settings = self.settings
        while True:
            change = self.changes[last]
            old_end, new_end = change.old + change.deleted, change.new + change.inserted
            after = min(settings.context, len(self.old) - old_end, len(self.new) - new_end)
            end, new_last = old_end + after, new_end + after
            if not settings.whole_functions:
                return last, end, new_last
            at = old_end
            while at < len(self.old) and settings.find_function(self.old[at]) is None:
                at += 1
            while 0 < at <= len(self.old) and not self.old[at - 1].strip():
                at -= 1
            if at > end:
                new_last = min(new_last + (at - end), len(self.new))
                end = at
            if last + 1 < len(self.changes):
                following = min(self.changes[last + 1].old, len(self.old) - 1)
                if following - settings.context <= end or not any(
                    settings.find_function(line) is not None
                    for line in self.old[end + 1 : following + 1]
                ):
                    last += 1
                    continue
            return last, end, new_last

    def _fill(self, hunk: Hunk, changes: list[Change], start: int, end: int) -> None:
        lines = hunk.lines
        at = start
        for change in changes:
            lines += [(b" ", line) for line in self.new[at : change.new]]
            lines += [(b"-", line) for line in self.old[change.old : change.old + change.deleted]]
            at = change.new + change.inserted
            lines += [(b"+", line) for line in self.new[change.new : at]]
        lines += [(b" ", line) for line in self.new[at:end]]
