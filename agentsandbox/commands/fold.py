"""`fold` (POSIX 1003.1-2017, GNU coreutils): wrap lines. As in GNU's, a column is a byte."""

from __future__ import annotations

import re

from agentsandbox.command import Arguments, CommandContext, command
from agentsandbox.commands._lines import inputs, line_blocks
from agentsandbox.commands._sizes import parse_number

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from agentsandbox.limits import Budget

_OBSOLETE = re.compile(r"-([bs]*)([0-9].*)", re.DOTALL)


_TAKES_VALUE = re.compile(r"-[bs]*w\Z|--w(?:i(?:d(?:th?)?)?)?\Z")
_PIECES = 8192
"""Pieces of a line that are made at a time."""


def _rewrite(words: Sequence[str]) -> Sequence[str]:
    """`-40` is `-w 40`, and so is what follows a digit among letters."""
    rewritten: list[str] = []
    is_value = False
    for at, word in enumerate(words):
        if word == "--" and not is_value:
            return [*rewritten, *words[at:]]
        found = None if is_value else _OBSOLETE.match(word)
        is_value = not is_value and _TAKES_VALUE.match(word) is not None
        rewritten.append(f"-{found[1]}w{found[2]}" if found else word)
    return rewritten


def _width(text: str) -> int:
    return parse_number(text, "number of columns", low=1, high=2**64 - 10)


def _fold_block(block: bytes, width: int) -> bytes:
    """Many lines at once, none of them empty but perhaps the first, every byte one column wide."""
    parts = re.findall(rb".{1,%d}" % width, block)
    if block.startswith(b"\n"):
        parts.insert(0, b"")
    if block.endswith(b"\n"):
        parts.append(b"")
    return b"\n".join(parts)


def _fold_plain(line: bytes, width: int, spaces: bool, budget: Budget) -> list[bytes]:
    """A line in which every byte is one column wide."""
    parts = []
    if not spaces:
        step = width * _PIECES  # a long line is joined in pieces, so that they are never all there at once
        for start in range(0, len(line), step):
            parts.append(b"\n".join([line[at : at + width] for at in range(start, min(start + step, len(line)), width)]))
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
    """A line with tabs, backspaces or carriage returns."""
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
    rewrite=_rewrite,
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
    for _name, source in inputs(ctx, args.operands):
        for block in line_blocks(ctx.budget, source, size=1 << 16):
            short = len(block) < 1 << 20
            if short and not spaces and width < 2**15 and b"\n\n" not in block and (by_bytes or not _is_special(block)):
                ctx.budget.step(len(block) // 256)
                ctx.stdout.write(_fold_block(block, width))
                continue
            parts: list[bytes] = []
            for line in block.split(b"\n"):
                ctx.budget.step(len(line) // width + 1)
                if not by_bytes and _is_special(line):
                    folded = _fold_columns(ctx, line, width, spaces)
                elif len(line) <= width:
                    folded = [line]
                elif by_bytes and spaces and b"\t" in line:
                    folded = _fold_at_blanks(line, width, ctx.budget)
                else:
                    folded = _fold_plain(line, width, spaces, ctx.budget)
                parts.append(b"\n".join(folded))
            ctx.stdout.write(b"\n".join(parts))
    return ctx.status


def _fold_at_blanks(line: bytes, width: int, budget: Budget) -> list[bytes]:
    """`-bs`: a tab is one column wide, and a place to break."""
    marked = line.replace(b"\t", b" ")
    parts = []
    at = 0
    for part in _fold_plain(marked, width, spaces=True, budget=budget):
        parts.append(line[at : at + len(part)])
        at += len(part)
    return parts
