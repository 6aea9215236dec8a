"""Runs a sed script: the cycle, the pattern and the hold space, the input.

The input reads ahead, because `$` must know whether a line is the last one. Line numbers at which
no command applies (`busy`) are passed in blocks: 6 times as fast.
"""

from __future__ import annotations

from agentsandbox.commands.sed.nodes import SedError
from agentsandbox.kernel.accounts import LARGE
from agentsandbox.kernel.streams import encode, position_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import Protocol

    from agentsandbox.commands.sed.output import Output, Settings
    from agentsandbox.kernel.budget import Budget
    from agentsandbox.kernel.regexps import PosixRegex
    from agentsandbox.kernel.streams import ByteReader

    Operation = Callable[["Editor"], int | None]

    class Range(Protocol):
        """Two addresses, of which the first may have been found."""

        def reset(self) -> None: ...


END = 1 << 30
"""The number of a command behind all others: the cycle ends."""
DELETE, DELETE_LINE, QUIT, QUIT_SILENTLY = -1, -2, -3, -4
_MANY = 1 << 14
_ENDLESS = 1 << 60


class Program:
    """A compiled script.

    `busy`    the ranges of line numbers at which a command applies; None if they are not known
    `last`    whether a command applies at the last line
    `ranges`  the pairs of addresses, which hold whether they have begun
    `where`   the place that errors name
    """

    __slots__ = ("busy", "last", "operations", "ranges", "where")

    def __init__(
        self,
        operations: Sequence[Operation],
        busy: list[tuple[int, int]] | None,
        *,
        last: bool,
        ranges: Sequence[Range],
        where: str,
    ) -> None:
        self.operations = operations
        self.busy = busy
        self.last = last
        self.ranges = ranges
        self.where = where

    def idle_after(self, number: int) -> tuple[int, int]:
        """Return (the idle lines after this one, the end of the busy range if there are none)."""
        following = number + 1
        busy = self.busy or ()
        ends = [end for start, end in busy if start <= following <= end]
        if ends:
            return 0, max(ends)
        return min(
            [start - following for start, _ in busy if start > following], default=_ENDLESS
        ), number


class Input:
    """The lines of one source after the other, each with its end cut off."""

    def __init__(
        self,
        sources: Iterator[tuple[str, ByteReader]],
        settings: Settings,
        before_read: Callable[[], None],
        budget: Budget,
    ) -> None:
        self._sources = sources
        self._settings = settings
        self._before_read = before_read
        self._budget = budget
        self._end = "\0" if settings.null_lines else "\n"
        self._end_byte = self._end.encode("ascii")
        self._blocks: Iterator[bytes] | None = None
        self._source: ByteReader | None = None
        self._begin: int | None = None
        """The position of the source when it was opened; None if it has none."""
        self._loaded = 0
        """The bytes that were read from the source."""
        self.lines: list[str] = []
        self.following = 0
        self.complete = True
        """Whether the last line of the block has its end."""
        self.following_name = "-"
        self.name = "-"

    def load(self) -> bool:
        """Read until there is a line to take; false at the end of all input."""
        while self.following >= len(self.lines):
            if self._blocks is None:
                source = next(self._sources, None)
                if source is None:
                    return False
                self.following_name, self._source = source
                self._begin, self._loaded = position_of(source[1]), 0
                self._blocks = self._blocks_of(source[1])
            self._before_read()
            block = next(self._blocks, None)
            if block is None:
                self._blocks = None
                continue
            self._loaded += len(block)
            self.complete = block.endswith(self._end_byte)
            view = memoryview(block)
            self.lines = self._settings.decode(view[:-1] if self.complete else view).split(
                self._end
            )
            self.following = 0
            self._budget.step(len(self.lines) // 16 + 1)
        return True

    def _blocks_of(self, source: ByteReader) -> Iterator[bytes]:
        if self._settings.unbuffered or self._settings.null_lines:
            return source.lines(self._end_byte)
        return source.line_blocks()

    def take(self) -> tuple[str, bool] | None:
        """Take the next line; return (the line, whether it had its end), None at the end."""
        if self.following >= len(self.lines) and not self.load():
            return None
        line = self.lines[self.following]
        self.following += 1
        self.name = self.following_name
        return line, self.complete or self.following < len(self.lines)

    def take_many(self, count: int, *, spare_last: bool) -> tuple[list[str], bool] | None:
        """Take up to `count` lines; return them and whether the last had its end, None for none.

        With `spare_last` the last line of a block is left: it may be the last of all.
        """
        if self.following >= len(self.lines) and not self.load():
            return None
        stop = min(self.following + count, len(self.lines) - spare_last)
        if stop <= self.following:
            return None
        lines = self.lines[self.following : stop]
        self.following = stop
        self.name = self.following_name
        return lines, self.complete or stop < len(self.lines)

    def is_last(self) -> bool:
        """Whether no line follows, in this file or a later one."""
        if self.following < len(self.lines):
            return False
        if not self.load():
            return True
        self.name = self.following_name
        return False

    def give_back(self) -> None:
        """Move the source back to the first line that was not taken; a pipe has no way back."""
        if self._source is None or self._begin is None:
            return
        left = self.lines[self.following :]
        unread = len(encode(self._end.join(left))) + self.complete if left else 0
        self._source.seek(self._begin + self._loaded - unread)  # type: ignore[attr-defined]


class Editor:
    """One run of a compiled script over one stream of input.

    `space`, `hold`  the pattern and the hold space.
    `number`         the number of the current line.
    """

    def __init__(self, program: Program, settings: Settings, budget: Budget) -> None:
        self.program = program
        self.operations = program.operations
        self.settings = settings
        self.budget = budget
        self.space = ""
        self._hold: list[str] = [""]
        self._hold_size = 0
        self.complete = True
        """Whether the pattern space is printed with a newline: its line had one."""
        self.hold_complete = True
        self.number = 0
        self.substituted = False
        self.status = 0
        self.appended: list[Callable[[Editor], None]] = []
        self.last_regex: PosixRegex | None = None
        self.input: Input
        self.output: Output
        self.standard_output: Output
        self.outputs: dict[str, Output] = {}
        self.flush_all: Callable[[], None] = lambda: None
        self.read_file: Callable[[str], bytes] = lambda _name: b""

    @property
    def hold(self) -> str:
        """The hold space; what H adds is joined when it is needed."""
        if len(self._hold) > 1:
            self._hold = ["".join(self._hold)]
        return self._hold[0]

    @hold.setter
    def hold(self, text: str) -> None:
        self._hold = [text]
        self._hold_size = len(text)

    def begin(self, source: Input, output: Output) -> None:
        """Begin a stream of input: line numbers, ranges and the hold space begin again."""
        self.input = source
        self.output = output
        self.number = 0
        self.hold = ""
        self.hold_complete = True
        for each in self.program.ranges:
            each.reset()

    def append_to_hold(self) -> None:
        """`H`."""
        self._hold_size += len(self.space) + 1
        self.budget.charge(self._hold_size)
        if self._hold_size > LARGE:
            self.budget.hold_input(self._hold_size)
        self._hold += (self.output.end, self.space)
        self.hold_complete = self.complete

    def regex(self, regex: PosixRegex | None) -> PosixRegex:
        """Return the pattern to use: an empty one means the last one used."""
        if regex is None:
            if self.last_regex is None:
                raise SedError(f"{self.program.where}: no previous regular expression")
            return self.last_regex
        self.last_regex = regex
        return regex

    def next_line(self) -> bool:
        """Put the next line of input into the pattern space; false at the end."""
        source = self.input
        following = source.following
        if following >= len(source.lines):
            if not source.load():
                return False
            following = source.following
        self.space = source.lines[following]
        source.following = following = following + 1
        source.name = source.following_name
        self.complete = source.complete or following < len(source.lines)
        self.number += 1
        return True

    def append_line(self) -> bool:
        """Add the next line to the pattern space, after a newline."""
        taken = self.input.take()
        if taken is None:
            return False
        line, self.complete = taken
        size = len(self.space) + len(line)
        self.budget.charge(size)
        if size > LARGE:
            self.budget.hold_input(2 * size)
        self.space = f"{self.space}{self.output.end}{line}"
        self.number += 1
        return True

    def append_lines(self) -> None:
        """Add all lines that are left to the pattern space."""
        end = self.output.end
        parts = [self.space]
        size = len(self.space)
        while (taken := self.input.take_many(_MANY, spare_last=False)) is not None:
            lines, self.complete = taken
            self.number += len(lines)
            self.budget.step(len(lines))
            parts.append(end.join(lines))
            size += len(parts[-1]) + 1
            self.budget.charge(size)
            if size > LARGE:
                self.budget.hold_input(2 * size)
        self.space = end.join(parts)

    def print_space(self) -> None:
        """Write the pattern space."""
        self.output.line(self.space, complete=self.complete)

    def end_cycle(self) -> None:
        """End a cycle: print the pattern space, then what a and r have queued."""
        if not self.settings.quiet:
            self.output.line(self.space, complete=self.complete)
        if self.appended:
            self.write_appended()

    def write_appended(self) -> None:
        """Write what a and r have queued."""
        queue = self.appended[:]
        self.appended.clear()
        for write in queue:
            write(self)

    def run(self) -> bool:
        """Edit all of the input; return whether the script quits."""
        operations = self.operations
        count = len(operations)
        budget = self.budget
        unbuffered = self.settings.unbuffered
        restart = False
        cost = 1 + count // 16
        busy_until = 0 if self.program.busy is not None and not unbuffered else _ENDLESS
        while True:
            if not restart:
                if self.number >= busy_until:
                    busy_until = self._pass_idle_lines()
                if not self.next_line():
                    break
            restart = False
            budget.left -= cost
            if budget.left < 0:
                budget.tick()
            self.substituted = False
            at = 0
            while at < count:
                target = operations[at](self)
                if target is None:
                    at += 1
                    continue
                if target <= at:
                    if target < 0:
                        at = target
                        break
                    budget.left -= 1
                    if budget.left < 0:
                        budget.tick()
                at = target
            if at >= 0:
                self.end_cycle()
            elif at == DELETE_LINE:
                restart = self._delete_line()
            elif at == DELETE:
                if self.appended:
                    self.write_appended()
            else:
                if at == QUIT:
                    self.end_cycle()
                    self.output.text("")  # the last line gets the newline that it lacks
                elif self.appended:
                    self.appended.clear()
                return True
            if unbuffered:
                self.flush_all()
        return False

    def _pass_idle_lines(self) -> int:
        """Pass the lines at which no command applies; return the end of the next busy range."""
        program = self.program
        while True:
            idle, busy_until = program.idle_after(self.number)
            taken = self.input.take_many(idle, spare_last=program.last) if idle else None
            if taken is None:
                return busy_until
            lines, complete = taken
            self.number += len(lines)
            if not self.settings.quiet:
                self.output.line(self.output.end.join(lines), complete=complete)

    def _delete_line(self) -> bool:
        """`D`: remove the first line; return whether the cycle starts again without new input."""
        _, newline, rest = self.space.partition(self.output.end)
        if self.appended:
            self.write_appended()
        if newline:
            self.space = rest
        return bool(newline)
