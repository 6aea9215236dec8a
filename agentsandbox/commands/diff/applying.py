"""The application of hunks to lines: the search for the place of a hunk, and the new lines.

The place of a hunk is where its old lines are. The search begins where the hunk should be, moved by
the offset of the hunks before it, and goes away from there in both directions. With *fuzz*, some
lines of context at the ends need not match. A hunk with less context at one end than at the other
was at the beginning or end of its file, and must be there again.
"""

from __future__ import annotations

import re

from agentsandbox.commands.diff.patches import Hunk

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.kernel.budget import Budget

_BLANKS = re.compile(rb"[ \t]+")


class Application:
    """One file that is being patched. Positions count from 1."""

    def __init__(
        self,
        lines: list[bytes],
        budget: Budget,
        *,
        ignore_blanks: bool = False,
        symbol: bytes | None = None,
    ) -> None:
        self.lines = lines
        self.budget = budget
        self.ignore_blanks = ignore_blanks
        self.symbol = symbol
        """The macro that selects the new lines (-D), or None."""
        self.compared = [squeezed(line) for line in lines] if ignore_blanks else lines
        self.output: list[bytes] = []
        self.taken = 0
        """The number of input lines that were copied or replaced."""
        self.offset = 0
        """The distance of the last hunk from where it should be."""
        self.growth = 0
        """The number of lines that the output has more than the input."""
        self.creates = False
        """Whether the patch creates a file that exists: a hunk without old lines fits nowhere."""

    def _fits(self, pattern: list[bytes], where: int, prefix: int, suffix: int) -> bool:
        """Whether the pattern is at `where`, except for lines of context at its ends."""
        wanted = pattern[prefix : len(pattern) - suffix if suffix > 0 else None]
        start = where - 1 + prefix
        if start < 0 or start + len(wanted) > len(self.compared):
            return False
        self.budget.step(1 + len(wanted) // 64)
        return self.compared[start : start + len(wanted)] == wanted

    def locate(self, hunk: Hunk, fuzz: int) -> int:
        """Return the nearest place where the hunk fits, or 0; note the offset."""
        pattern = hunk.old_lines()
        guess = hunk.old_start + self.offset
        if not pattern:
            return 0 if self.creates else guess
        if self.ignore_blanks:
            pattern = [squeezed(line) for line in pattern]
        leading, trailing = hunk.leading(), hunk.trailing()
        context = max(leading, trailing)
        prefix, suffix = fuzz + leading - context, fuzz + trailing - context
        highest = len(self.lines) - (len(pattern) - suffix) + 1
        most_after = highest - guess
        most_before = min(guess - (self.taken + 1), guess - 1)
        if prefix < 0 and hunk.old_start <= 1:
            if suffix < 0 and (len(pattern) != len(self.lines) or leading < self.taken):
                return 0
            if self.taken > leading or 1 - guess > most_after:
                return 0
            return self._try(pattern, guess, 1, 0, max(suffix, 0))
        prefix = max(prefix, 0)
        if suffix < 0:
            end = len(self.lines) - len(pattern) + 1
            return self._try(pattern, guess, end, prefix, 0) if guess - end <= most_before else 0
        least = guess - highest if most_after < 0 else 0
        for distance in range(max(least, 0), max(most_after, most_before) + 1):
            if distance <= most_after and self._try(
                pattern, guess, guess + distance, prefix, suffix
            ):
                return guess + distance
            if distance <= most_before and self._try(
                pattern, guess, guess - distance, prefix, suffix
            ):
                return guess - distance
        return 0

    def _try(self, pattern: list[bytes], guess: int, where: int, prefix: int, suffix: int) -> int:
        if not self._fits(pattern, where, prefix, suffix):
            return 0
        self.offset += where - guess
        return where

    def apply(self, hunk: Hunk, where: int) -> None:
        """Replace the lines that the hunk changes. The context comes from the file."""
        if self.symbol is not None:
            self._apply_conditionally(hunk, where, self.symbol)
            return
        at = where - 1
        for mark, line in hunk.lines:
            if mark == b" ":
                at += 1
                continue
            self.copy_up_to(at)
            if mark == b"-":
                at += 1
                self.taken = at
                self.growth -= 1
            else:
                self.output.append(line)
                self.growth += 1

    def _apply_conditionally(self, hunk: Hunk, where: int, symbol: bytes) -> None:
        """Keep the old lines in `#ifndef`."""
        at = where - 1
        removed: list[bytes] = []
        added: list[bytes] = []
        for mark, line in [*hunk.lines, (b" ", b"")]:
            if mark == b"-":
                removed.append(line)
            elif mark == b"+":
                added.append(line)
            else:
                if removed or added:
                    self.copy_up_to(at)
                    self.output += [
                        (b"#ifndef " if removed else b"#ifdef ") + symbol + b"\n",
                        *removed,
                    ]
                    if removed and added:
                        # the newline comes late
                        self.output.append(
                            b"#else\n" if removed[-1].endswith(b"\n") else b"#else\n\n"
                        )
                    self.output += [*added, b"#endif\n"]
                    at += len(removed)
                    self.taken = at
                    self.growth += len(added) - len(removed)
                    removed, added = [], []
                at += 1

    def copy_up_to(self, end: int) -> None:
        """Copy lines of the input to the output."""
        if end > self.taken:
            self.output.extend(self.lines[self.taken : end])
            self.taken = end

    def result(self) -> bytes:
        """Return the whole output; only the last line may lack its newline."""
        lines = self.output + self.lines[self.taken :]
        for at in range(len(lines) - 1):
            if not lines[at].endswith(b"\n"):
                lines[at] += b"\n"
        return b"".join(lines)


def squeezed(line: bytes) -> bytes:
    """Return the line with each run of blanks as one."""
    return _BLANKS.sub(b" ", line.rstrip(b" \t\r\n"))


def _line(mark: bytes, text: bytes) -> bytes:
    return (
        mark + text if text.endswith(b"\n") else mark + text + b"\n\\ No newline at end of file\n"
    )


def print_reject(hunk: Hunk, growth: int) -> bytes:
    """Return a hunk that did not fit, for the file of rejects, as a unified difference."""
    olds, news = len(hunk.old_lines()), hunk.new_count()

    def place(start: int, count: int) -> bytes:
        start -= not count
        return b"%d" % start if count == 1 else b"%d,%d" % (start, count)

    head = (
        b"@@ -"
        + place(hunk.old_start, olds)
        + b" +"
        + place(hunk.new_start + growth, news)
        + b" @@\n"
    )
    return head + b"".join(_line(mark, text) for mark, text in hunk.lines)
