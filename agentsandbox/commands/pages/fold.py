"""`fold` (POSIX 1003.1-2017, GNU coreutils): wrap lines. As in GNU's, a column is a byte."""

from __future__ import annotations

import re

from agentsandbox.commands._suites import COREUTILS
from agentsandbox.commands._text.lines import inputs, line_blocks
from agentsandbox.commands._text.sizes import parse_number
from agentsandbox.contract.command import Arguments, CommandContext, command
from agentsandbox.contract.manners import Manners

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from agentsandbox.kernel.budget import Budget

_WIDEST = 2**15
_PIECES = 2048
"""Pieces of a line that are made at a time."""


def _width(text: str) -> int:
    return parse_number(text, "number of columns", low=1, high=2**64 - 10)


def _pieces_of_block(width: int, spaces: bool) -> Callable[[bytes], list[bytes]]:
    """Return a function that cuts many lines in pieces where a byte is a column."""
    pieces = (
        rb".{1,%d}+(?!.)|.{0,%d}[ \t]|.{%d}" % (width, width - 1, width)
        if spaces
        else rb".{1,%d}" % width
    )
    return re.compile(pieces + rb"|^(?=\n)", re.MULTILINE).findall


def _fold_plain(line: bytes, width: int, spaces: bool, budget: Budget) -> list[bytes]:
    """Fold a line in which every byte is one column wide."""
    if len(line) <= width:
        return [line]
    parts = []
    if not spaces:
        step = width * _PIECES  # a long line is joined in parts, to hold few pieces at a time
        for start in range(0, len(line), step):
            parts.append(
                b"\n".join(
                    [
                        line[at : at + width]
                        for at in range(start, min(start + step, len(line)), width)
                    ]
                )
            )
            budget.breathe()
        return parts
    start = 0
    while len(line) - start > width:
        budget.left -= 1
        if budget.left < 0:
            budget.tick()
        blank = max(line.rfind(mark, start, start + width) for mark in (b" ", b"\t"))
        end = blank + 1 if blank >= 0 else start + width
        parts.append(line[start:end])
        start = end
    parts.append(line[start:])
    return parts


def _is_special(text: bytes) -> bool:
    """Whether some byte is not one column wide."""
    return b"\t" in text or b"\b" in text or b"\r" in text


def _advance(column: int, byte: int) -> int:
    if byte == 8:
        return max(0, column - 1)
    if byte == 13:
        return 0
    return column + 8 - column % 8 if byte == 9 else column + 1


def _fold_columns(ctx: CommandContext, line: bytes, width: int, spaces: bool) -> list[bytes]:
    """Fold a line with tabs, backspaces or carriage returns byte by byte."""
    if len(line.expandtabs()) <= width and b"\b" not in line and b"\r" not in line:
        return [line]
    parts = []
    start = column = at = 0
    while at < len(line):
        ctx.budget.step()
        after = _advance(column, line[at])
        if after <= width or at == start:
            column = after
            at += 1
            continue
        cut = at
        if spaces:
            blank = max(line.rfind(b" ", start, at), line.rfind(b"\t", start, at))
            if blank >= 0:
                cut = blank + 1
        parts.append(line[start:cut])
        start, column = cut, 0
        for byte in line[cut:at]:
            column = _advance(column, byte)
    parts.append(line[start:])
    return parts


@command(
    "fold",
    manners=Manners(
        COREUTILS,
        pure=True,
        bytewise=True,
        long_options="bytes spaces width help version",
        closing_error="NAME: -: REASON",
    ),
    digits="width",
    values={"width": _width},
    usage="""
    Usage: fold [OPTION]... [FILE]...
    Wrap the lines of each FILE, writing to standard output.

    With no FILE, or when FILE is -, read standard input.

      -b, --bytes         count bytes, not columns
      -s, --spaces        break at spaces
      -w, --width=WIDTH   use WIDTH columns, not 80
          --help          display this help and exit
    """,
)
def fold(ctx: CommandContext, args: Arguments) -> int:
    width = 80
    for text in args.values("width"):
        width = _width(text)
    spaces, by_bytes = args.flag("spaces"), args.flag("bytes")
    find = _pieces_of_block(width, spaces) if width <= _WIDEST else None
    for _name, source in inputs(ctx, args.operands):
        for block in line_blocks(ctx.budget, source, size=1 << 16):
            if find is not None and len(block) < 1 << 20 and (by_bytes or not _is_special(block)):
                ctx.budget.step(len(block) // 256)
                parts = find(block)
                if block.endswith(b"\n"):
                    parts.append(b"")
                ctx.stdout.write(b"\n".join(parts))
            else:
                ctx.stdout.write(_fold_lines(ctx, block, width, spaces=spaces, by_bytes=by_bytes))
    return ctx.status


def _fold_lines(
    ctx: CommandContext, block: bytes, width: int, *, spaces: bool, by_bytes: bool
) -> bytes:
    parts: list[bytes] = []
    for line in block.split(b"\n"):
        ctx.budget.step(len(line) // width + 1)
        if by_bytes or not _is_special(line):
            parts += _fold_plain(line, width, spaces, ctx.budget)
        else:
            parts += _fold_columns(ctx, line, width, spaces)
    return b"\n".join(parts)
