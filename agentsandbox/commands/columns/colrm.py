"""`colrm` (util-linux): remove columns from lines."""

from __future__ import annotations

import re

from agentsandbox.commands._suites import UTIL_LINUX
from agentsandbox.commands._text.lines import line_blocks
from agentsandbox.commands._text.widths import character_width
from agentsandbox.contract.command import Arguments, CommandContext, command
from agentsandbox.contract.manners import Manners
from agentsandbox.errors import CommandError
from agentsandbox.kernel.streams import decode, encode


def _position(words: list[str], at: int) -> int:
    text = words[at] if at < len(words) else "0"
    if not re.fullmatch(r"\+?[0-9]{1,18}", text):
        raise CommandError(f"{('first', 'second')[at]} argument: '{text}'")
    return int(text)


def _remove(line: str, first: int, last: int) -> str:
    """Return a line without the columns from `first` to `last`, counted from 1.

    Blanks stand for what is left of a character that is cut in two.
    """
    kept: list[str] = []
    column = 0
    for character in line:
        before = column
        wide = 8 - column % 8 if character == "\t" else max(0, character_width(character))
        column += wide
        if column < first or before >= max(first, last):
            kept.append(character)
        else:
            kept.append(" " * (max(0, first - 1 - before) + max(0, column - last)))
    return "".join(kept)


@command(
    "colrm",
    manners=Manners(
        UTIL_LINUX,
        long_options="version help",
        unreadable_is_empty=("", ""),
        write_error=("NAME: write error", 1),
    ),
    usage="""
    Usage: colrm [FIRST [LAST]]
    Copy standard input without the columns from FIRST to LAST, or to the end of the line.

      -h, --help   display this help and exit
    """,
)
def colrm(ctx: CommandContext, args: Arguments) -> int:
    first, last = _position(args.operands, 0), _position(args.operands, 1) or 2**62
    for block in line_blocks(ctx.budget, ctx.stdin):
        ctx.budget.step(len(block) // 16 + 1)
        if not first:
            ctx.stdout.write(block)
            continue
        lines = [_remove(line, first, last) for line in decode(block).split("\n")]
        ctx.stdout.write(encode("\n".join(lines)))
    return 0
