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

_INVALID = re.compile("[\udc80-\udcff]")
_PLAIN = re.compile(r"[ -~]*\Z")


def _position(text: str, what: str) -> int:
    found = re.fullmatch(r"[ \t\n\v\f\r]*\+?([0-9]+)", text)
    if found is None:
        raise CommandError(f"{what} argument: '{text}'")
    if int(found[1][:40]) >= 2**64:
        raise CommandError(f"{what} argument: '{text}': Numerical result out of range")
    return int(found[1])


def _after(column: int, character: str) -> int:
    """The column that a character leads to."""
    if character == "\t":
        return (column + 8) & ~7
    if character == "\b":
        return max(0, column - 1)
    return column + max(0, character_width(character))


def _remove(line: str, first: int, last: int | None) -> str:
    """A line without the columns from `first` to `last`, counted from 1; blanks stand for what is cut in two."""
    if last is None or last >= first:
        if _PLAIN.match(line):
            return line[: first - 1] + ("" if last is None else line[last:])
    column = at = before = 0
    while at < len(line):
        before, column = column, _after(column, line[at])
        if column >= first:
            break
        at += 1
    else:
        return line
    kept = line[:at] + " " * max(0, first - 1 - before)
    at += 1
    while last is None or column < last:
        if at >= len(line):
            return kept
        column = _after(column, line[at])
        at += 1
    return kept + " " * (column - last) + line[at:] if at < len(line) else kept


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
    if args.flag("help"):
        ctx.stdout.write(encode(colrm.usage))
        return 0
    words = ["--", *args.operands] if "--" in ctx.words else args.operands
    first = _position(words[0], "first") if words else None
    last = (_position(words[1], "second") if len(words) > 1 else None) or None
    for block in line_blocks(ctx.budget, ctx.stdin):
        ctx.budget.step(len(block) // 64 + 1)
        text = decode(block)
        wrong = None if text.isascii() else _INVALID.search(text)
        if wrong is not None:
            text = text[: wrong.start()]
        ctx.stdout.write(encode("\n".join([_remove(line, first, last) for line in text.split("\n")]) if first else text))
        if wrong is not None:
            break  # bytes that are no character end the input
    return 0
