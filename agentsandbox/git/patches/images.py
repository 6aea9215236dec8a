"""Applying hunks to the lines of a file.

A hunk has lines that must be there (context and removed ones) and lines that take their place. They
are looked for where the hunk says, then ever further away on both sides. A hunk at the beginning or
without context behind it must be at the file's beginning or end. Only with `-C` may context be left
out. Lines that a hunk wrote are not touched by another one.
"""

from __future__ import annotations

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from agentsandbox.git.patches.parsing import Hunk
    from agentsandbox.git.patches.whitespace import Rules
    from agentsandbox.kernel.budget import Budget

_BLANK = re.compile(rb"\s*+\Z")


def split(data: bytes) -> list[bytes]:
    """Return the lines of a text with their ends."""
    lines = data.split(b"\n")
    last = lines.pop()
    made = [line + b"\n" for line in lines]
    return [*made, last] if last else made


class HowToApply:
    """What decides how hunks are applied."""

    def __init__(self) -> None:
        self.reverse = False
        self.context = 1 << 30
        """The least lines of context (-C)."""
        self.no_context = False
        """Whether hunks without context are in order (--unidiff-zero)."""
        self.no_add = False
        self.overlaps = False
        self.ignores_space = False
        self.inaccurate_end = False
        self.whitespace = "nowarn"
        self.mended = 0
        """The lines whose whitespace was mended."""
        self.blank_end: Callable[[int], None] = lambda line: None
        """Is called with the line of a hunk that adds blank lines at the end."""
        self.say: Callable[[str], None] = lambda text: None
        self.explain: Callable[[str], None] | None = None
        """Prints what only --verbose prints."""


class Image:
    """The lines of a file while hunks are applied."""

    def __init__(self, data: bytes, rules: Rules, how: HowToApply, budget: Budget) -> None:
        self.lines = split(data)
        self.rules = rules
        self.how = how
        self.budget = budget
        self.patched = [False] * len(self.lines)

    def data(self) -> bytes:
        return b"".join(self.lines)

    def apply(self, hunk: Hunk, number: int) -> bool:
        """Apply a hunk; return whether its place was found."""
        # long: git's search with ever less context
        how = self.how
        sides = _Sides(hunk, self)
        leading, trailing = hunk.leading, hunk.trailing
        at_start = not hunk.old or (hunk.old == 1 and not how.no_context)
        at_end = not how.no_context and not trailing
        wanted = hunk.new - 1 if hunk.new else 0
        while True:
            place = self._find(sides, wanted, at_start, at_end)
            if place is not None or (leading <= how.context and trailing <= how.context):
                break
            if at_start or at_end:
                at_start = at_end = False
                continue
            if leading >= trailing:
                sides.drop_first()
                wanted -= 1
                leading -= 1
            if trailing > leading:
                sides.drop_last()
                trailing -= 1
        if place is None:
            if how.explain is not None:
                from agentsandbox.kernel.streams import decode

                how.explain("error: while searching for:\n" + decode(b"".join(sides.before)))
            return False
        self._report(sides, hunk, number, place, wanted)
        if (leading, trailing) != (hunk.leading, hunk.trailing):
            how.say(f"Context reduced to ({leading}/{trailing}) to apply fragment at {place + 1}")
        end = min(place + len(sides.before), len(self.lines))
        self.lines[place:end] = sides.after
        self.patched[place:end] = [not how.overlaps] * len(sides.after)
        return True

    def _report(self, sides: _Sides, hunk: Hunk, number: int, place: int, wanted: int) -> None:
        how = self.how
        if (
            sides.blank_end
            and len(sides.before) + place >= len(self.lines)
            and "blank-at-eof" in self.rules
            and how.whitespace != "nowarn"
        ):
            how.blank_end(sides.blank_line)
            if how.whitespace == "fix":
                del sides.after[len(sides.after) - sides.blank_end :]
        if how.explain is not None and place != wanted:
            offset = wanted - place if how.reverse else place - wanted
            plural = "" if offset == 1 else "s"
            how.explain(
                f"Hunk #{number} succeeded at {place + 1} (offset {offset} line{plural})."
            )

    def _find(self, sides: _Sides, wanted: int, at_start: bool, at_end: bool) -> int | None:
        """Return the line at which the old side of a hunk is."""
        count, size = len(sides.before), len(self.lines)
        if self.how.overlaps and at_start and at_end and size != count:
            at_start = False
        if at_start:
            wanted = 0
        elif at_end:
            wanted = size - count
        if not 0 <= wanted <= size:
            wanted = size
        if self._matches(sides, wanted, at_start, at_end):
            return wanted
        down, up = wanted, wanted
        forward = True
        while down > 0 or up < size:
            self.budget.step()
            if forward and up < size:
                up += 1
                if self._matches(sides, up, at_start, at_end):
                    return up
            elif not forward and down > 0:
                down -= 1
                if self._matches(sides, down, at_start, at_end):
                    return down
            forward = not forward
        return None

    def _matches(self, sides: _Sides, place: int, at_start: bool, at_end: bool) -> bool:
        before, lines = sides.before, self.lines
        count = len(before)
        if count + place <= len(lines):
            if at_end and count + place != len(lines):
                return False
            limit = count
        elif self.how.whitespace == "fix" and "blank-at-eof" in self.rules:
            limit = len(lines) - place
        else:
            return False
        if at_start and place:
            return False
        there = lines[place : place + limit]
        if any(self.patched[place : place + limit]):
            return False
        if limit == count:
            if there == before:
                return True
        elif not any(line.strip() for line in before[:limit]):
            return False
        if self.how.ignores_space:
            return self._matches_loosely(sides, there, limit)
        return self.how.whitespace == "fix" and self._matches_mended(sides, there, limit)

    def _matches_loosely(self, sides: _Sides, there: list[bytes], limit: int) -> bool:
        """Compare without looking at blanks; context becomes that of the file."""
        before = sides.before
        for one, two in zip(there, before, strict=False):
            if _without_blanks(one) != _without_blanks(two):
                return False
        if not all(_BLANK.match(line) for line in before[limit:]):
            return False
        sides.use_context([*there, *before[limit:]])
        return True

    def _matches_mended(self, sides: _Sides, there: list[bytes], limit: int) -> bool:
        """Compare lines whose whitespace is mended."""
        mended = [self.rules.mended(line) for line in sides.before]
        for one, two in zip(there, mended, strict=False):
            if self.rules.mended(one) != two:
                return False
        if not all(_BLANK.match(line) for line in mended[limit:]):
            return False
        sides.use_context(mended)
        return True


def _without_blanks(line: bytes) -> bytes:
    """Return a line with each run of blanks as one space, and without its end."""
    return re.sub(rb"\s++", b" ", line.rstrip(b"\r\n"))


class _Sides:
    """The lines of a hunk, as they must be and as they become."""

    def __init__(self, hunk: Hunk, image: Image) -> None:
        # long: one kind of line after the other
        how, rules = image.how, image.rules
        self.before: list[bytes] = []
        self.after: list[bytes] = []
        self.common: list[tuple[int, int]] = []
        """The numbers of the lines that both sides have."""
        self.blank_end = 0
        """The number of blank lines that are added at the end."""
        self.blank_line = 0
        lines = hunk.lines
        for number, line in enumerate(lines):
            kind = line[:1]
            text = line[1:] if kind != b"\n" else line
            if number + 1 < len(lines) and lines[number + 1][:1] == b"\\":
                text = text.removesuffix(b"\n")
            if how.reverse:
                kind = {b"-": b"+", b"+": b"-"}.get(kind, kind)
            blank = "blank-at-eof" in rules and not text.strip()
            added_blank = kept_blank = False
            if kind in (b" ", b"\n"):
                kept_blank = kind == b"\n" or blank
                if text or kind == b" ":
                    self.common.append((len(self.before), len(self.after)))
                    self.before.append(text)
                    self.after.append(text)
            elif kind == b"-":
                self.before.append(text)
            elif kind == b"+" and not how.no_add:
                if how.whitespace == "fix":
                    mended = rules.mended(text)
                    how.mended += mended != text
                    self.after.append(mended)
                else:
                    self.after.append(text)
                added_blank = blank
            if added_blank:
                if not self.blank_end:
                    self.blank_line = hunk.line + number
                self.blank_end += 1
            elif not kept_blank and kind != b"@":
                self.blank_end = 0
        if how.inaccurate_end and self.before and self.after:
            if self.before[-1].endswith(b"\n") and self.after[-1].endswith(b"\n"):
                self.before[-1] = self.before[-1][:-1]
                self.after[-1] = self.after[-1][:-1]

    def drop_first(self) -> None:
        """Leave out the first line of both sides."""
        del self.before[:1], self.after[:1]
        self.common = [(one - 1, two - 1) for one, two in self.common if one]

    def drop_last(self) -> None:
        """Leave out the last line of both sides."""
        del self.before[-1:], self.after[-1:]
        size = len(self.before)
        self.common = [(one, two) for one, two in self.common if one < size]

    def use_context(self, before: list[bytes]) -> None:
        """Take other lines for what must be there, in both sides."""
        self.before = before
        for one, two in self.common:
            self.after[two] = before[one]
