"""Merging hunks into lines: what the file and the patch change both is kept in two versions, between marks, as `patch --merge` does."""

from __future__ import annotations

from agentsandbox.languages.diff.applying import Application, squeezed
from agentsandbox.languages.diff.comparison import shortest_edits

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.languages.diff.patches import Hunk

__all__ = ["Merge"]

_KEPT, _DELETED, _INSERTED, _END = b" ", b"-", b"+", b""


class Merge:
    """One hunk that is merged into a file. `results` says what became of which lines of the output: (what, first, last)."""

    def __init__(self, application: Application, hunk: Hunk, where: int, *, with_old: bool) -> None:
        """`where` is the place at which the hunk fits exactly, 0 for none; `with_old` shows in conflicts what was there before."""
        self.application = application
        self.with_old = with_old
        self.hunk = hunk
        self.olds = [(mark, line) for mark, line in hunk.lines if mark != _INSERTED]
        self.news = [(mark, line) for mark, line in hunk.lines if mark != _DELETED]
        self.results: list[tuple[str, int, int]] = []
        self.failed = False
        self.old = self.new = 0
        self.place = where
        """The next line of the input that is not yet in the output, from 1."""
        matched = len(self.olds)
        if not where:
            self.place, matched = self._locate()
        self.read = self.place - 1
        self.edits = self._edits(matched, exact=bool(where))
        self.edit = 0

    def _compared(self, lines: list[bytes]) -> list[bytes]:
        return [squeezed(line) for line in lines] if self.application.ignore_blanks else lines

    # where

    def _locate(self) -> tuple[int, int]:
        """Where the hunk fits best, and how many lines of the file stand for it."""
        application, hunk = self.application, self.hunk
        guess = hunk.old_start + application.offset
        lines, pattern = application.compared, self._compared([line for _mark, line in self.olds])
        context = sum(mark == _KEPT for mark, _line in self.olds)
        where, matched = guess, 0
        if context:
            most_after = len(lines) - len(pattern) + context + 1 - guess
            most_before = min(guess - (application.taken + 1), guess - 1)
            if hunk.leading() < hunk.trailing() and hunk.old_start <= 1:
                most_after = min(most_after, 1 - guess)
            changes = 2 * context
            least = len(pattern) - context
            to_end = hunk.trailing() < hunk.leading()
            for distance in range(max(most_after, most_before) + 1):
                for start in (guess + distance, guess - distance) if distance else (guess,):
                    if not -most_before <= start - guess <= most_after:
                        continue
                    found = self._best_match(pattern, start, len(lines) - start + 1 if to_end else least, changes)
                    if found is not None and found[1] > matched:
                        where, matched = start, found[1]
                        changes = found[0] - 1
                if changes < 0:
                    break
        return max(where, application.taken + 1), matched

    def _best_match(self, pattern: list[bytes], start: int, least: int, most: int) -> tuple[int, int] | None:
        """(changes, lines) of the best match of the pattern with at least so many lines from `start` on, with so many changes at most."""
        lines, budget = self.application.compared, self.application.budget
        offset, size, end = start - 1, len(pattern), len(self.application.compared)
        if offset + least > end:
            return None
        reached = {0: 0}
        best = -1
        for changes in range(most + 1):
            budget.step(changes // 8 + 1)
            for diagonal in range(changes, -changes - 1, -2):
                if changes:
                    below, above = reached.get(diagonal - 1, -2), reached.get(diagonal + 1, -1)
                    at = max(below + 1, above)
                else:
                    at = 0
                other = at - diagonal + offset
                if at > size or not offset <= other <= end:
                    reached.pop(diagonal, None)
                    continue
                while at < size and other < end and pattern[at] == lines[other]:
                    at += 1
                    other += 1
                reached[diagonal] = at
                if at == size and other >= offset + least and size + other + 1 + start - changes >= 2 * least:  # as GNU's
                    best = max(best, other)
            if best >= 0:
                return changes, best - offset
        return None

    def _edits(self, matched: int, *, exact: bool) -> bytes:
        """What the file changed already in the lines of the hunk."""
        if exact:
            return _KEPT * matched
        at = self.place - 1
        pattern = self._compared([line for _mark, line in self.olds])
        deleted, inserted = shortest_edits(pattern, self.application.compared[at : at + matched], self.application.budget)
        made = bytearray()
        old = new = 0
        while True:
            while old < len(deleted) and deleted[old]:
                made += _DELETED
                old += 1
            while new < len(inserted) and inserted[new]:
                made += _INSERTED
                new += 1
            if old == len(deleted):
                return bytes(made)
            made += _KEPT
            old += 1
            new += 1

    # reading along

    def _old_mark(self) -> bytes:
        return self.olds[self.old][0] if self.old < len(self.olds) else _END

    def _new_mark(self) -> bytes:
        return self.news[self.new][0] if self.new < len(self.news) else _END

    def _edit_mark(self) -> bytes:
        return self.edits[self.edit : self.edit + 1]

    def run(self) -> None:
        """Write the hunk, and the lines of the file before it, to the output."""
        self.application.copy_up_to(self.place - 1)
        while self.old < len(self.olds) or self.new < len(self.news):
            self.application.budget.step()
            agree = self._context()
            first = (self.old, self.new, self.read)
            if not agree or (self._is_change() and not self._change(*first)):
                self._skip_conflict()
                self._conflict(*first)

    def _is_change(self) -> bool:
        """Whether the patch changes something here."""
        return self._old_mark() == _DELETED or self._new_mark() == _INSERTED

    def _change(self, old: int, new: int, read: int) -> bool:
        """Make a change in lines that the file has as the patch; False where it changed them as well."""
        while self._old_mark() == _DELETED:
            if self._edit_mark() in (_DELETED, _INSERTED):
                return False
            self.read += 1
            self.old += 1
            self.edit += 1
        if self._edit_mark() in (_DELETED, _INSERTED):
            return False
        while self._new_mark() == _INSERTED:
            self.new += 1
        lines = [line for _mark, line in self.news[new : self.new]]
        self._tell("merged", len(lines))
        self._replace(self.old - old, lines)
        self.application.growth += self.old - old  # as GNU's counts, for the places that it tells of
        return True

    def _context(self) -> bool:
        """Copy lines that the patch leaves alone, as the file has them; False before changes of the file that touch some of the patch."""
        read = self.read
        agree = True
        while agree and self._old_mark() == self._new_mark() == _KEPT:
            before = (self.old, self.new, self.read, self.edit)
            if self._edit_mark() == _KEPT:
                self._step_over(_KEPT)
                continue
            while self._edit_mark() not in (_KEPT, _END) and not self._is_change():
                self._step_over(self._edit_mark())
            if self._is_change():
                self.old, self.new, self.read, self.edit = before
                agree = False
        self._keep(self.read - read)
        return agree

    def _step_over(self, mark: bytes) -> None:
        """Go on in the file and in what the patch leaves alone."""
        self.edit += 1
        self.read += mark != _DELETED
        if mark != _INSERTED:
            self.old += 1
            self.new += 1

    def _skip_conflict(self) -> None:
        """Go to the end of what is changed both here and there."""
        while True:
            mark = self._edit_mark()
            if mark == _DELETED:
                while self._new_mark() == _INSERTED:
                    self.new += 1
                if self._old_mark() == _KEPT:
                    self.new += 1
                self.old += 1
                self.edit += 1
            elif mark == _INSERTED:
                self.read += 1
                self.edit += 1
            elif self._old_mark() == _DELETED:
                self.read += mark == _KEPT
                self.old += 1
                self.edit += 1
            elif self._new_mark() == _INSERTED:
                self.new += 1
            else:
                return

    # what comes out

    def _conflict(self, old: int, new: int, read: int) -> None:
        theirs = [line for _mark, line in self.news[new : self.new]]
        ours = self.application.lines[read : self.read]
        start = end = 0
        same = list(map(bytes.__eq__, self._compared(ours), self._compared(theirs)))
        if len(theirs) == len(ours) and all(same):
            start = len(ours)
            self._tell("already applied", len(ours))
        elif not self.with_old:
            start = same.index(False) if False in same else len(same)
            most = min(len(ours), len(theirs)) - start
            while end < most and self._compared(ours[-1 - end :][:1]) == self._compared(theirs[-1 - end :][:1]):
                end += 1
        self._keep(start)
        middle = len(ours) - start - end
        if middle or len(theirs) - start - end:
            self.failed = True
            made = [b"<<<<<<<\n", *ours[start : start + middle]]
            if self.with_old:
                made += [b"|||||||\n", *(line for _mark, line in self.olds[old : self.old])]
            made += [b"=======\n", *theirs[start : len(theirs) - end], b">>>>>>>\n"]
            self._tell("NOT MERGED", len(made))
            self._replace(middle, made)
        self._keep(end)

    def _tell(self, what: str, count: int) -> None:
        first = self.place + self.application.growth
        self.results.append((what, first, first + count - 1))

    def _keep(self, count: int) -> None:
        self.place += count
        self.application.copy_up_to(self.place - 1)

    def _replace(self, count: int, lines: list[bytes]) -> None:
        self.place += count
        self.application.taken += count
        self.application.output += lines
        self.application.growth += len(lines) - count
