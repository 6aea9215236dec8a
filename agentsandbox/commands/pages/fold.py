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
_PIECES = 8192
"""Pieces of a line that are made at a time."""


def _width(text: str) -> int:
    return parse_number(text, "number of columns", low=1, high=2**64 - 10)


def _pieces_of_block(width: int, spaces: bool) -> Callable[[bytes], list[bytes]]:
    """Finds the pieces of many lines at once, every byte one column wide; an empty line is an empty
    piece.
    """
    pieces = (
        rb".{1,%d}+(?!.)|.{0,%d}[ \t]|.{%d}" % (width, width - 1, width)
        if spaces
        else rb".{1,%d}" % width
    )
    return re.compile(pieces + rb"|^(?=\n)", re.MULTILINE).findall


def _fold_plain(line: bytes, width: int, spaces: bool, budget: Budget) -> list[bytes]:
    """A line in which every byte is one column wide."""
    parts = []
    if not spaces:
        step = (
            width * _PIECES
        )  # a long line is joined in pieces, so that they are never all there at once
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
        blank = line.rfind(b" ", start, start + width)
        end = blank + 1 if blank >= 0 else start + width
        parts.append(line[start:end])
        start = end
    parts.append(line[start:])
    return parts


def _is_special(text: bytes) -> bool:
    """Whether a byte of it is not one column wide."""
    return b"\t" in text or b"\b" in text or b"\r" in text


def _advance(column: int, byte: int) -> int:
    if byte == 8:
        return max(0, column - 1)
    if byte == 13:
        return 0
    return column + 8 - column % 8 if byte == 9 else column + 1


def _fold_columns(ctx: CommandContext, line: bytes, width: int, spaces: bool) -> list[bytes]:
    """A line with backspaces or carriage returns, or a very wide one with tabs."""
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


def _fold_tabs(line: bytes, width: int, spaces: bool, budget: Budget) -> list[bytes]:
    """A line with tabs, but nothing that goes back."""
    parts = [] if line else [b""]
    start = 0
    while start < len(line):
        piece = line[start : start + width]
        budget.step(len(piece) // 64 + 1)
        while (over := len(piece.expandtabs()) - width) > 0 and len(piece) > 1:
            piece = piece[: -max(1, over // 8)]  # each byte takes at most eight columns
        start += len(piece)
        if (
            spaces
            and start < len(line)
            and (blank := max(piece.rfind(b" "), piece.rfind(b"\t")) + 1)
        ):
            start -= len(piece) - blank
            piece = piece[:blank]
        parts.append(piece)
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
    lines = block.split(b"\n")
    tabs = not by_bytes and b"\t" in block
    measured = not tabs or len(block) < 1 << 20
    columns = (
        block.expandtabs().split(b"\n") if tabs and measured else lines
    )  # at least as many as there are
    for line, shown in zip(lines, columns, strict=True):
        ctx.budget.step(len(line) // width + 1)
        if measured and len(shown) <= width:
            parts.append(line)
        elif not by_bytes and (
            b"\b" in line or b"\r" in line or (tabs and min(width, len(line)) > _WIDEST)
        ):
            parts += _fold_columns(ctx, line, width, spaces)
        elif tabs:
            parts += _fold_tabs(line, width, spaces, ctx.budget)
        elif by_bytes and spaces and b"\t" in line:
            parts += _fold_at_blanks(line, width, ctx.budget)
        else:
            parts += _fold_plain(line, width, spaces, ctx.budget)
    return b"\n".join(parts)


def _fold_at_blanks(line: bytes, width: int, budget: Budget) -> list[bytes]:
    """`-bs`: a tab is one column wide, and a place to break."""
    marked = line.replace(b"\t", b" ")
    parts = []
    at = 0
    for part in _fold_plain(marked, width, spaces=True, budget=budget):
        parts.append(line[at : at + len(part)])
        at += len(part)
    return parts
