"""`expand` (POSIX 1003.1-2017, GNU coreutils): tabs to spaces. As in GNU's, a column is a byte."""

from __future__ import annotations

import re

from agentsandbox.command import Arguments, CommandContext, command
from agentsandbox.commands._suites import COREUTILS
from agentsandbox.commands._tab_stops import TabStops, joined_blocks, rewrite_digits
from agentsandbox.manners import Manners

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


_INDENT = re.compile(rb"^[ \t]*\t", re.MULTILINE)
_ROOM = 1 << 22
"""Bytes that a block may become at once."""
_PIECE = 1 << 14
_LONG = 256
"""Bytes of blanks that are hardly ever the same in many lines."""


def _column(part: bytes, column: int) -> int:
    """The column behind a part of a line that begins at a column; a backspace goes back one."""
    for byte in part:
        column = max(0, column - 1) if byte == 8 else column + 1
    return column


def _expanded_pieces(ctx: CommandContext, block: bytes, stops: TabStops) -> Iterator[bytes]:
    """Tabs as blanks, wherever the stops are."""
    charge, following = ctx.budget.charge, stops.next
    backspaces = b"\b" in block
    column = 0
    for at in range(0, len(block), _PIECE):
        parts = block[at : at + _PIECE].split(b"\t")
        ctx.budget.step(len(parts) // 4 + 1)
        size = 0
        stop = column
        found = []
        for part in parts:
            charge(stop)  # the whole line so far
            found.append(b" " * (stop - column))
            found.append(part)
            size += stop - column
            start = part.rfind(b"\n") + 1
            column = 0 if start else stop
            column = _column(part[start:], column) if backspaces else column + len(part) - start
            stop = following(column)
            if size > _ROOM:
                yield b"".join(found)
                found.clear()
                size = 0
        yield b"".join(found)


def _expand_block(ctx: CommandContext, block: bytes, stops: TabStops) -> Iterable[bytes]:
    size = len(block) + block.count(b"\t") * stops.every
    if not stops.every or size > _ROOM or b"\b" in block or b"\r" in block:
        return _expanded_pieces(ctx, block, stops)
    ctx.budget.charge(size)
    return (block.expandtabs(stops.every),)


def _expand_indents(ctx: CommandContext, block: bytes, stops: TabStops) -> Iterator[bytes]:
    """`-i`: only the blanks that lines begin with; many lines have the same ones."""
    known: dict[bytes, bytes] = {}
    found = []
    size = at = 0
    ctx.budget.step(block.count(b"\n") // 8 + 1)
    for match in _INDENT.finditer(block):
        indent = match[0]
        if (done := known.get(indent)) is None:
            done = b"".join(_expanded_pieces(ctx, indent, stops))
            if len(done) < _LONG:
                known[indent] = done
        found.append(block[at : match.start()])
        found.append(done)
        at = match.end()
        size += len(done)
        if size > _ROOM:
            yield b"".join(found)
            found.clear()
            size = 0
    found.append(block[at:])
    yield b"".join(found)


@command(
    "expand",
    manners=Manners(
        COREUTILS,
        bytewise=True,
        long_options="tabs initial help version",
        closing_error="NAME: -: REASON",
    ),
    rewrite=rewrite_digits,
    usage="""
    Usage: expand [OPTION]... [FILE]...
    Convert tabs in each FILE to spaces, writing to standard output.

    With no FILE, or when FILE is -, read standard input.

      -i, --initial     convert only tabs before the first character that is not blank
      -t, --tabs=LIST   tab stops every N columns (8), or at the columns of a LIST; the last may be /N or +N
          --help        display this help and exit
    """,
)
def expand(ctx: CommandContext, args: Arguments) -> int:
    stops = TabStops(args.values("tabs"))
    expand_block = _expand_indents if args.flag("initial") else _expand_block
    for block in joined_blocks(ctx, args.operands):
        for piece in expand_block(ctx, block, stops) if b"\t" in block else (block,):
            ctx.stdout.write(piece)
    return ctx.status
