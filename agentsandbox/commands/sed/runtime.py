"""Runs a sed script: the cycle, the two spaces, input with its look-ahead, output with its missing
newline.
"""

from __future__ import annotations

from agentsandbox.commands.sed.nodes import SedError
from agentsandbox.kernel.accounts import LARGE
from agentsandbox.kernel.streams import decode, decode_bytewise, encode, position_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import Protocol

    from agentsandbox.kernel.budget import Budget
    from agentsandbox.kernel.regexps import PosixRegex
    from agentsandbox.kernel.streams import ByteReader, ByteWriter

    Operation = Callable[["Editor"], int | None]

    class Range(Protocol):
        """Two addresses, of which the first may have been found."""

        def reset(self) -> None: ...


END = 1 << 30
"""Where to go at the end of a script: the cycle ends as usual."""
DELETE, DELETE_LINE, QUIT, QUIT_SILENTLY = -1, -2, -3, -4
_FLUSH = 400
_MANY = 1 << 14
_ENDLESS = 1 << 60


class Settings:
    """The options of one run that commands look at."""

    __slots__ = (
        "bytewise",
        "decode",
        "line_length",
        "null_lines",
        "quiet",
        "unbuffered",
    )

    def __init__(
        self,
        *,
        quiet: bool = False,
        null_lines: bool = False,
        unbuffered: bool = False,
        line_length: int = 70,
        bytewise: bool = False,
    ) -> None:
        self.bytewise = bytewise
        self.decode = decode_bytewise if bytewise else decode
        self.quiet = quiet
        self.null_lines = null_lines
        self.unbuffered = unbuffered
        self.line_length = line_length


class Program:
    """A compiled script. `busy`: the line numbers, as ranges, at which something happens; None when
    it could at any.

    `last`    whether something happens at the last line.
    `ranges`  the pairs of addresses, which know whether they have begun.
    `where`   the place that errors name.
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
        """How many lines after this one pass without being looked at, and if none do, up to which
        line that is so.
        """
        following = number + 1
        busy = self.busy or ()
        ends = [end for start, end in busy if start <= following <= end]
        if ends:
            return 0, max(ends)
        return min(
            [start - following for start, _ in busy if start > following], default=_ENDLESS
        ), number


class Output:
    """Lines on their way to a writer. A last line without its newline gets one when something
    follows by the same way.
    """

    __slots__ = ("_chunks", "_missing", "end", "writer")

    def __init__(self, writer: ByteWriter, end: str, beside: Output | None = None) -> None:
        self.writer = writer
        self.end = end
        self._chunks: list[str] = [] if beside is None else beside._chunks
        self._missing = False

    def line(self, text: str, *, complete: bool = True) -> None:
        """Write a line; without its end when it is not `complete`."""
        if self._missing or not complete:
            self.text(text + self.end if complete else text)
            self._missing = not complete
            return
        self._chunks.append(text + self.end)
        if len(self._chunks) > _FLUSH:
            self.flush()

    def text(self, text: str) -> None:
        """Write text as it is, after the newline that may be missing."""
        if self._missing:
            self._missing = False
            self._chunks.append(self.end)
        self._chunks.append(text)
        if len(self._chunks) > _FLUSH:
            self.flush()

    def flush(self) -> None:
        """Hand everything to the writer."""
        if self._chunks:
            data = encode("".join(self._chunks))
            self._chunks.clear()
            self.writer.write(data)


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
        """The position that the source was at; None when it has none."""
        self._loaded = 0
        """The bytes of the source's blocks so far."""
        self.lines: list[str] = []
        self.following = 0
        self.complete = True
        """Whether the last line of the block has its end."""
        self.following_name = "-"
        self.name = "-"

    def load(self) -> bool:
        """Make sure that there is a line to take; false at the end of all input."""
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
        """The next line and whether it had its end; None when there is none."""
        if self.following >= len(self.lines) and not self.load():
            return None
        line = self.lines[self.following]
        self.following += 1
        self.name = self.following_name
        return line, self.complete or self.following < len(self.lines)

    def take_many(self, count: int, *, spare_last: bool) -> tuple[list[str], bool] | None:
        """Up to `count` lines that are there already, and whether the last had its end; None when
        there are none.

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
        """Whether no line follows. What follows may be in the next file, whose name counts from
        then on.
        """
        if self.following < len(self.lines):
            return False
        if not self.load():
            return True
        self.name = self.following_name
        return False

    def give_back(self) -> None:
        """Let the next reader of a file see the lines that were not taken; what came through a pipe
        is gone, as on Unix.
        """
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
        """The hold space. What H adds is joined when it is asked for."""
        if len(self._hold) > 1:
            self._hold = ["".join(self._hold)]
        return self._hold[0]

    @hold.setter
    def hold(self, text: str) -> None:
        self._hold = [text]
        self._hold_size = len(text)

    def begin(self, source: Input, output: Output) -> None:
        """Turn to a stream of input of its own: numbers, ranges and the hold space begin anew."""
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
        """The pattern to use: an empty one means the last one used."""
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
        """What comes after the last command: automatic printing, then what a, r and R have
        queued.
        """
        if not self.settings.quiet:
            self.output.line(self.space, complete=self.complete)
        if self.appended:
            self.write_appended()

    def write_appended(self) -> None:
        """Write what a, r and R have queued."""
        queue = self.appended[:]
        self.appended.clear()
        for write in queue:
            write(self)

    def run(self) -> bool:
        """Edit all of the input; whether the script said to quit."""
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
        """Let lines through at which no command does anything; up to which number the next ones are
        not such lines.
        """
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
        """`D`: cut the first line off; whether the cycle starts again without new input."""
        _, newline, rest = self.space.partition(self.output.end)
        if self.appended:
            self.write_appended()
        if newline:
            self.space = rest
        return bool(newline)
