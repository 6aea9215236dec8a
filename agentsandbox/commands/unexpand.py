"""`unexpand` (POSIX 1003.1-2017, GNU coreutils): spaces to tabs. As in GNU's, a column is a byte."""

from __future__ import annotations

import re

from agentsandbox.command import Arguments, CommandContext, command
from agentsandbox.commands._suites import COREUTILS
from agentsandbox.commands._tab_stops import TabStops, joined_blocks
from agentsandbox.errors import CommandError
from agentsandbox.manners import Manners

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from agentsandbox.limits import Budget

_WIDEST = 64
"""Columns of a cell; where tab stops are further apart, runs of blanks are looked at one by one."""
_ROOM = 1 << 22
"""Bytes that a block may become when its tabs are made blanks."""
_MARKS = (b"\1", b"\2", b"\3", b"\4")
_PIECE = 1 << 14
_PIECES = re.compile(rb".{%d}[^ \t]*+[ \t]*+|.+" % _PIECE, re.DOTALL)
"""A long line in pieces that end with a run of blanks."""
_RUNS = re.compile(rb"([ \t]+)")
_INDENT = re.compile(rb"^[ \t]+", re.MULTILINE)
_LONG_RUN = 256
"""Blanks in a run that is hardly ever the same in many lines."""
_MOST_KNOWN = 4096
_CLUSTER = re.compile(r"-([a0-9,]*)(.*)\Z", re.DOTALL)
_LONG = re.compile(r"--[at]")
_TAKES_VALUE = re.compile(r"-[a0-9,]*t\Z|--t(?:a(?:bs?)?)?\Z")


def _rewrite(words: Sequence[str]) -> list[str]:
    """Digits among the letters are tab stops, also over several words, unless a comma ends them; without -a or -t `--first-only`."""
    rewritten: list[str] = []
    operands: Sequence[str] = ()
    number = ""
    digits = whole = is_value = False
    for at, word in enumerate(words):
        if word == "--" and not is_value:
            operands = words[at:]
            break
        found = None if is_value or _LONG.match(word) else _CLUSTER.match(word)
        whole = whole or (not is_value and _LONG.match(word) is not None)
        is_value = not is_value and _TAKES_VALUE.match(word) is not None
        if found is None or word == "-":
            rewritten.append(word)
            continue
        for letter in found[1]:
            if letter == "a":
                rewritten.append("-a")
            elif letter != ",":
                number += letter
                digits = True
                if int(number) >= 2**64:
                    raise CommandError("tab stop value is too large")
            elif number:
                rewritten.append(f"-t{number}")
                number = ""
        if found[2]:
            rewritten.append(f"-{found[2]}")
        whole = whole or "a" in found[1] or found[2].startswith("t")
    if number:
        rewritten.append(f"-t{number}")
    if digits and not whole:
        rewritten.append("--first-only")
    return [*rewritten, *operands]


class _Runs:
    """What becomes of runs of blanks: tabs where they reach a tab stop; a single blank just before one stays as it is."""

    __slots__ = ("_known", "_stops")

    def __init__(self, stops: TabStops) -> None:
        self._stops = stops
        self._known: dict[tuple[int, bytes], tuple[bytes, int]] = {}

    def convert(self, column: int, run: bytes) -> tuple[bytes, int]:
        """The run that begins behind a column, -1 for the beginning of a line; and the column after it, -1 behind the last stop."""
        key = (column, run)
        if (done := self._known.get(key)) is None:
            done = self._convert(max(column, 0), run, previous_blank=column < 0)
            if len(run) < _LONG_RUN:
                if len(self._known) == _MOST_KNOWN:
                    self._known.clear()
                self._known[key] = done
        return done

    def _convert(self, column: int, run: bytes, *, previous_blank: bool) -> tuple[bytes, int]:
        parts = bytearray()
        pending = bytearray()  # blanks of which is not known yet whether a tab replaces them
        before_stop = False  # the first pending blank is a single one just before a tab stop
        for at, byte in enumerate(run):
            stop = self._stops.find(column)
            if stop is None:
                return bytes(parts + pending + run[at:]), -1
            if byte == 9:
                column = stop
                pending[:1] = b"\t" if pending else b""
            else:
                column += 1
                if not (previous_blank and column == stop):
                    before_stop = before_stop or column == stop
                    pending.append(byte)
                    previous_blank = True
                    continue
                pending[:1] = b"\t"
            del pending[int(before_stop) :]
            parts += pending
            pending.clear()
            before_stop = False
            previous_blank = True
            parts.append(9)
        if len(pending) > 1 and before_stop:
            pending[0] = 9
        return bytes(parts + pending), column

    def convert_line(self, budget: Budget, line: bytes) -> bytes:
        """All the runs of a line."""
        known, every = self._known.get, self._stops.every
        column = -1
        found: list[bytes] = []
        for piece in _PIECES.findall(line) if len(line) > _PIECE else (line,):
            budget.step(len(piece) // 64 + 1)
            parts = _RUNS.split(piece)
            for at in range(1, len(parts) if column >= 0 or not found else 0, 2):
                text, run = parts[at - 1], parts[at]
                if text:
                    column = max(column, 0) + len(text) if b"\b" not in text else _retreating(text, max(column, 0))
                base = column - column % every if every and column > 0 else 0
                parts[at], column = known((column - base, run)) or self.convert(column - base, run)
                if column < 0:
                    break
                column += base
            found.append(b"".join(parts))
        return b"".join(found)


def _retreating(text: bytes, column: int) -> int:
    """The column behind text that begins at a column; each backspace goes back one."""
    for byte in text:
        column = max(0, column - 1) if byte == 8 else column + 1
    return column


def _unexpand_indents(budget: Budget, block: bytes, runs: _Runs) -> bytes:
    """Only the blanks that lines begin with."""
    convert = runs.convert
    budget.step(block.count(b"\n") // 8 + 1)
    return _INDENT.sub(lambda found: convert(-1, found[0])[0], block)


def _unexpand_lines(budget: Budget, block: bytes, runs: _Runs) -> bytes:
    found = []
    for line in block.split(b"\n"):
        found.append(runs.convert_line(budget, line) if b" " in line or b"\t" in line else line)
    return b"\n".join(found)


class _Cells:
    """Tab stops that are equally far apart cut lines into cells of as many columns.

    A cell ends with a tab if its last two columns are blank, or the last one is and was made by a tab or has a blank behind it.
    Tabs are made blanks first; a byte that the block does not have stands for those that were typed.
    """

    __slots__ = ("_every", "_find")

    def __init__(self, every: int) -> None:
        self._every = every
        self._find: dict[bytes, Callable[[bytes], list[bytes]]] = {}

    def _pattern(self, typed: bytes) -> Callable[[bytes], list[bytes]]:
        """Finds what ends with a cell that ends with a tab: other cells and ends of lines, and the rest of the block."""
        before, blank = b".{%d}" % (self._every - 1), b" %b" % typed
        wide = before + b"[^\\n%b]" % blank
        single = b".{%d}[^\\n%b]%b(?![%b])" % (self._every - 2, blank, typed, blank)
        return re.compile(b"(?:%b|%b|%b?\\n)*+(?:%b.|\\Z)" % (wide, single, before.replace(b"{", b"{0,"), before)).findall

    def convert(self, budget: Budget, block: bytes) -> bytes | None:
        """All blanks of a block; None for one that is not so simple or would grow too much."""
        typed = next((mark for mark in _MARKS if mark not in block), None)
        size = len(block) + block.count(b"\t") * self._every
        if typed is None or size > _ROOM or b"\b" in block or b"\r" in block:
            return None
        budget.charge(size)
        budget.step(size // 64 + 1)
        find = self._find.get(typed)
        if find is None:
            find = self._find[typed] = self._pattern(typed)
        found = find(block.replace(b" ", typed).expandtabs(self._every) + b"\n")
        found.pop()
        blanks = b" " + typed
        return b"\t".join([piece.rstrip(blanks) for piece in found])[:-1].replace(typed, b" ")


@command(
    "unexpand",
    manners=Manners(
        COREUTILS,
        bytewise=True,
        long_options="tabs all first-only help version",
        closing_error="NAME: -: REASON",
    ),
    rewrite=_rewrite,
    usage="""
    Usage: unexpand [OPTION]... [FILE]...
    Convert blanks at the beginning of the lines of each FILE to tabs, writing to standard output.

    With no FILE, or when FILE is -, read standard input.

      -a, --all          convert all blanks
          --first-only   convert only blanks at the beginning (overrides -a)
      -t, --tabs=LIST    tab stops every N columns (8), or at the columns of a LIST; implies -a
          --help         display this help and exit
    """,
)
def unexpand(ctx: CommandContext, args: Arguments) -> int:
    stops = TabStops(args.values("tabs"))
    whole = (args.flag("all") or args.flag("tabs")) and not args.flag("first-only")
    runs = _Runs(stops)
    cells = _Cells(stops.every) if whole and 1 < stops.every <= _WIDEST else None
    for block in joined_blocks(ctx, args.operands):
        done = cells.convert(ctx.budget, block) if cells is not None else None
        if done is None:
            done = (_unexpand_lines if whole else _unexpand_indents)(ctx.budget, block, runs)
        ctx.stdout.write(done)
    return ctx.status
