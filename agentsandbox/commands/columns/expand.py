"""`expand` (POSIX 1003.1-2017, GNU coreutils): tabs to spaces. As in GNU's, a column is a byte."""

from __future__ import annotations

from agentsandbox.commands._suites import COREUTILS
from agentsandbox.commands.columns.tab_stops import TabStops, joined_blocks, rewrite_digits
from agentsandbox.contract.command import Arguments, CommandContext, command
from agentsandbox.contract.manners import Manners
from agentsandbox.kernel.expressions import lazily_bytes

_PARTS = lazily_bytes(rb"\t|\x08|[^\t\x08]+")
_LINE = lazily_bytes(rb"[^\n]*\n|[^\n]+")
_ROOM = 1 << 22
"""Bytes that a block may become in one go."""


def _expand_line(ctx: CommandContext, line: bytes, stops: TabStops) -> bytes:
    """Return a line with blanks for its tabs; a backspace goes back a column."""
    column = size = 0
    found = []
    for part in _PARTS.findall(line):
        ctx.budget.step()
        if part == b"\t":
            stop = stops.find(column) or column + 1
            size += stop - column
            ctx.budget.charge(size)
            part = b" " * (stop - column)
            column = stop
        else:
            column = max(0, column - 1) if part == b"\b" else column + len(part)
        found.append(part)
    return b"".join(found)


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
      -t, --tabs=LIST   tab stops every N columns (8), or at the columns of a LIST, of which the
                        last may be /N or +N
          --help        display this help and exit
    """,
)
def expand(ctx: CommandContext, args: Arguments) -> int:
    stops = TabStops(args.values("tabs"))
    initial = args.flag("initial")
    for block in joined_blocks(ctx, args.operands):
        size = len(block) + block.count(b"\t") * stops.every
        if b"\t" not in block:
            ctx.stdout.write(block)
        elif initial or not stops.every or size > _ROOM or b"\b" in block or b"\r" in block:
            for line in _LINE.findall(block):
                end = len(line) - len(line.lstrip(b" \t")) if initial else len(line)
                ctx.stdout.write(_expand_line(ctx, line[:end], stops) + line[end:])
        else:
            ctx.budget.charge(size)
            ctx.stdout.write(block.expandtabs(stops.every))
    return ctx.status
