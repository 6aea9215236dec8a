"""Merging three versions of a text, with git's idea of which changes conflict.

Both sides are compared with the base. Changes that neither overlap nor touch are taken from their
side; the others make a conflict, which covers the same lines of the base on both sides. A conflict
is then made smaller: the sides are compared with each other, and lines that are equal in both leave
it. Conflicts with at most three equal lines between them are joined again. With the base shown
(style "diff3") nothing is made smaller, as the base has no place for equal lines; "zdiff3" only
cuts equal lines at both ends.
"""

from __future__ import annotations

from agentsandbox.git.diff.xdiff import diff_lines, split_lines
from agentsandbox.kernel.streams import encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from agentsandbox.kernel.budget import Budget

_NEAR = 3
_OURS, _THEIRS = 1, 2


class _Region:
    """Lines of the three versions that belong together. `side` 0 is a conflict, -1 is equal."""

    __slots__ = ("base", "base_size", "ours", "ours_size", "side", "theirs", "theirs_size")

    def __init__(
        self, side: int, base: int, base_size: int, ours: int, ours_size: int, theirs: int,
        theirs_size: int,
    ) -> None:  # fmt: skip
        self.side = side
        self.base, self.base_size = base, base_size
        self.ours, self.ours_size = ours, ours_size
        self.theirs, self.theirs_size = theirs, theirs_size


class TextMerge:
    """How texts are merged and conflicts are shown."""

    def __init__(
        self,
        budget: Budget,
        *,
        labels: tuple[str, str, str] = ("", "", ""),
        style: str = "merge",
        favor: str = "",
        algorithm: str = "histogram",
        marker: int = 7,
        join_signs: bool = False,
    ) -> None:
        self.budget = budget
        self.labels = labels
        """The names of our, the base's and their version behind the markers."""
        self.style = style
        self.favor = favor
        """"" or the side that wins conflicts: "ours", "theirs", "union"."""
        self.algorithm = algorithm
        self.marker = marker
        self.join_signs = join_signs
        """Whether lines without letters and digits never part two conflicts."""
        self.conflicts = 0

    def merge(self, base: bytes, ours: bytes, theirs: bytes) -> bytes:
        """Return the merged text; `conflicts` is the number of conflicts in it."""
        self.conflicts = 0
        lines = [split_lines(text) for text in (base, ours, theirs)]
        self.base, self.ours, self.theirs = lines
        regions = self._regions()
        if self.style == "merge":
            regions = self._joined(self._refined(regions))
        elif self.style == "zdiff3":
            for region in regions:
                self._cut_ends(region)
        return b"".join(self._filled(regions))

    def _changes(self, old: Sequence[bytes], new: Sequence[bytes]):  # type: ignore[no-untyped-def]
        return diff_lines(old, new, self.budget, algorithm=self.algorithm, indent=False)

    def _regions(self) -> list[_Region]:
        # long: the cases of two changes that meet
        ours, theirs = (self._changes(self.base, side) for side in (self.ours, self.theirs))
        found: list[_Region] = []
        at = to = 0
        while at < len(ours) or to < len(theirs):
            self.budget.step()
            one = ours[at] if at < len(ours) else None
            two = theirs[to] if to < len(theirs) else None
            if one is not None and (two is None or one.old + one.deleted < two.old):
                shift = self._shift(theirs, to, len(self.theirs))
                _append(
                    found,
                    _Region(_OURS, one.old, one.deleted, one.new, one.inserted,
                            one.old + shift, one.deleted),
                )  # fmt: skip
                at += 1
                continue
            assert two is not None
            if one is None or two.old + two.deleted < one.old:
                shift = self._shift(ours, at, len(self.ours))
                _append(
                    found,
                    _Region(_THEIRS, two.old, two.deleted, two.old + shift, two.deleted,
                            two.new, two.inserted),
                )  # fmt: skip
                to += 1
                continue
            same = (one.old, one.deleted, one.inserted) == (two.old, two.deleted, two.inserted)
            if not (
                same
                and self.ours[one.new : one.new + one.inserted]
                == self.theirs[two.new : two.new + two.inserted]
            ):
                start = min(one.old, two.old)
                end = max(one.old + one.deleted, two.old + two.deleted)
                left = one.new - (one.old - start)
                right = two.new - (two.old - start)
                _append(
                    found,
                    _Region(
                        0, start, end - start,
                        left, one.new + one.inserted + end - one.old - one.deleted - left,
                        right, two.new + two.inserted + end - two.old - two.deleted - right,
                    ),
                )  # fmt: skip
            one_end, two_end = one.old + one.deleted, two.old + two.deleted
            at += two_end >= one_end
            to += one_end >= two_end
        return found

    def _shift(self, changes, at: int, size: int) -> int:  # type: ignore[no-untyped-def]
        """Return how far the lines of a side are from those of the base, before a change."""
        if at < len(changes):
            return int(changes[at].new - changes[at].old)
        return size - len(self.base)

    def _refined(self, regions: list[_Region]) -> list[_Region]:
        made: list[_Region] = []
        for one in regions:
            if one.side or not one.ours_size or not one.theirs_size:
                made.append(one)
                continue
            left = self.ours[one.ours : one.ours + one.ours_size]
            right = self.theirs[one.theirs : one.theirs + one.theirs_size]
            changes = self._changes(left, right)
            if not changes:
                one.side = -1
                made.append(one)
            for change in changes:
                made.append(
                    _Region(0, one.base, one.base_size, one.ours + change.old, change.deleted,
                            one.theirs + change.new, change.inserted)
                )  # fmt: skip
        return made

    def _joined(self, regions: list[_Region]) -> list[_Region]:
        made: list[_Region] = []
        for one in regions:
            last = made[-1] if made else None
            if last is None or last.side or one.side:
                made.append(one)
                continue
            begin, end = last.ours + last.ours_size, one.ours
            between = self.ours[begin:end]
            if len(between) > _NEAR and (
                not self.join_signs or any(bytes(line).strip(_SIGNS) for line in between)
            ):
                made.append(one)
                continue
            last.ours_size = one.ours + one.ours_size - last.ours
            last.theirs_size = one.theirs + one.theirs_size - last.theirs
        return made

    def _cut_ends(self, one: _Region) -> None:
        """Take equal lines at the beginning and the end out of a conflict."""
        if one.side:
            return
        ours, theirs = self.ours, self.theirs
        while (
            one.ours_size and one.theirs_size and ours[one.ours] == theirs[one.theirs]
        ):  # fmt: skip
            one.ours, one.ours_size = one.ours + 1, one.ours_size - 1
            one.theirs, one.theirs_size = one.theirs + 1, one.theirs_size - 1
        while (
            one.ours_size
            and one.theirs_size
            and ours[one.ours + one.ours_size - 1] == theirs[one.theirs + one.theirs_size - 1]
        ):
            one.ours_size -= 1
            one.theirs_size -= 1

    # the text

    def _filled(self, regions: list[_Region]) -> list[bytes]:
        out: list[bytes] = []
        at = 0
        for one in regions:
            side = one.side
            if not side and self.favor:
                side = {"ours": _OURS, "theirs": _THEIRS, "union": _OURS | _THEIRS}[self.favor]
            if side < 0:
                continue
            out += self.ours[at : one.ours]
            at = one.ours + one.ours_size
            left = self.ours[one.ours : at]
            right = self.theirs[one.theirs : one.theirs + one.theirs_size]
            if side == 0:
                self.conflicts += 1
                self._conflict(out, one, left, right)
                continue
            if side & _OURS:
                out += _ended(left, b"\n") if side & _THEIRS else left
            if side & _THEIRS:
                out += right
        out += self.ours[at:]
        return out

    def _conflict(
        self, out: list[bytes], one: _Region, left: list[bytes], right: list[bytes]
    ) -> None:
        end = b"\r\n" if self._has_returns(one) else b"\n"

        def mark(sign: bytes, label: str) -> None:
            text = b" " + encode(label) if label else b""
            out.append(sign * self.marker + text + end)

        mark(b"<", self.labels[0])
        out.extend(_ended(left, end))
        if self.style != "merge":
            mark(b"|", self.labels[1])
            out.extend(_ended(self.base[one.base : one.base + one.base_size], end))
        mark(b"=", "")
        out.extend(_ended(right, end))
        mark(b">", self.labels[2])

    def _has_returns(self, one: _Region) -> bool:
        """Whether the lines around a conflict end with CR LF."""
        found = None
        for lines, at in (
            (self.ours, one.ours), (self.theirs, one.theirs), (self.base, 0),
        ):  # fmt: skip
            line = lines[at - 1] if at > 0 else lines[0] if lines else b""
            if line.endswith(b"\n"):
                found = line.endswith(b"\r\n")
                if not found:
                    return False
        return bool(found)


_SIGNS = bytes(byte for byte in range(256) if not (byte < 128 and chr(byte).isalnum()))


def _append(regions: list[_Region], one: _Region) -> None:
    """Add a region, or join it with the last one that it touches."""
    if regions:
        last = regions[-1]
        if (
            one.ours <= last.ours + last.ours_size or one.theirs <= last.theirs + last.theirs_size
        ):  # fmt: skip
            if one.side != last.side:
                last.side = 0
            last.base_size = one.base + one.base_size - last.base
            last.ours_size = one.ours + one.ours_size - last.ours
            last.theirs_size = one.theirs + one.theirs_size - last.theirs
            return
    regions.append(one)


def _ended(lines: list[bytes], end: bytes) -> list[bytes]:
    """Return lines of which the last one has a line end."""
    if lines and not lines[-1].endswith(b"\n"):
        return [*lines[:-1], lines[-1] + end]
    return lines
