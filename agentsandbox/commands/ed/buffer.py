"""The buffer of `ed`: the lines, marks, what was cut, and what `u` brings back."""

from __future__ import annotations

from agentsandbox.commands.ed.errors import EdError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from agentsandbox.kernel.budget import Budget

_LINE_BYTES = 120
"""What a line takes in memory beside its characters."""
_SOME = 1 << 20
_MOST_LINES = 10_000_000


class Line:
    """A line without its newline. Marks and global commands refer to the object."""

    __slots__ = ("text",)

    def __init__(self, text: str) -> None:
        self.text = text


class Buffer:
    """The lines, numbered from 1, and the current one; 0 is before the first.

    `begin` starts what one `u` takes back. The lines are copied at the first change after it.
    """

    def __init__(self, budget: Budget) -> None:
        self.budget = budget
        self.lines: list[Line] = []
        self.current = 0
        self.modified = False
        self.binary = False
        """Whether a NUL was read: then the last line may lack its newline."""
        self.unterminated: Line | None = None
        self.marks: dict[str, Line] = {}
        self.cut: list[str] = []
        self.active: list[Line] = []
        """The lines that a global command has still to visit, last first."""
        self._removed: set[int] = set()
        self._before: tuple[list[Line], int, bool] | None = None
        self._start: tuple[int, bool] | None = None
        self._held = budget.hold(0)
        self._measured = 0

    @property
    def last(self) -> int:
        """The number of the last line."""
        return len(self.lines)

    # undo

    def begin(self) -> None:
        """Start a group of changes that are taken back together."""
        self._start = (self.current, self.modified)
        self._before = None

    def forget(self) -> None:
        """Make the last change permanent."""
        self._start = self._before = None

    def _change(self) -> None:
        """Keep the lines as they are before the first change of a group."""
        self.budget.step(len(self.lines) // 512 + 1)
        if self._before is None and self._start is not None:
            self._before = (list(self.lines), *self._start)

    def undo(self) -> None:
        """Take the last group of changes back; again, bring them back."""
        if self._before is None:
            raise EdError("Nothing to undo")
        now = (self.lines, self.current, self.modified)
        self.lines, self.current, self.modified = self._before
        self._before = now

    # lines

    def insert(self, at: int, texts: Iterable[str]) -> None:
        """Put lines behind line `at`; the last of them becomes the current one."""
        self._change()
        made = []
        for text in texts:
            self.budget.step()
            self._held.grow(len(text) + _LINE_BYTES)
            made.append(Line(text))
        self.lines[at:at] = made
        self.current = at + len(made)
        if self._held.size > 2 * self._measured + _SOME:
            self._measure()
        if len(self.lines) > _MOST_LINES:
            raise EdError("Too many lines in buffer")

    def _measure(self) -> None:
        """Count again what is held: deleted lines are gone."""
        before = self._before[0] if self._before is not None else ()
        size = 0
        for line in {id(line): line for line in (*self.lines, *before)}.values():
            size += len(line.text) + _LINE_BYTES
        self.budget.step(len(self.lines) // 8 + 1)
        self._held.shrink(size)
        self._measured = size
        self.budget.charge(size)

    def delete(self, first: int, last: int, *, in_global: bool = False) -> None:
        """Cut lines; the line behind them becomes the current one."""
        self.yank(first, last)
        self._change()
        gone = self.lines[first - 1 : last]
        if in_global:
            self._removed.update(map(id, gone))
        del self.lines[first - 1 : last]
        self.current = min(first, self.last)
        self.modified = True

    def yank(self, first: int, last: int) -> None:
        """Copy lines to the place that `x` puts them from."""
        self.budget.step(last - first + 1)
        self.cut = [line.text for line in self.lines[first - 1 : last]]

    def move(self, first: int, last: int, at: int) -> None:
        """Move lines behind line `at`, which is not one of them."""
        if at in (first - 1, last):
            self.current = last
            return
        self._change()
        moved = self.lines[first - 1 : last]
        del self.lines[first - 1 : last]
        if at > last:
            at -= len(moved)
        self.lines[at:at] = moved
        self.current = at + len(moved)
        self.modified = True

    def number_of(self, line: Line) -> int:
        """Return the number of a line that was marked, near the current one if possible."""
        for start in (max(self.current - 2, 0), 0):
            self.budget.step(64)
            try:
                return self.lines.index(line, start) + 1
            except ValueError:
                self.budget.step(len(self.lines) // 16)
        raise EdError("Invalid address")

    # global commands

    def activate(self, lines: list[Line]) -> None:
        """Set the lines that a global command visits."""
        lines.reverse()
        self.active = lines
        self._removed = set()

    def deactivate(self) -> None:
        """Visit no further lines."""
        self.active = []

    def next_active(self) -> Line | None:
        """Return the next line that was not deleted meanwhile."""
        while self.active:
            line = self.active.pop()
            if id(line) not in self._removed:
                return line
        return None
