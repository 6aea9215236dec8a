"""Inputs that are sorted already: to be merged (`-m`), or checked (`-c`, `-C`).

`values` makes of lines what is compared, with the line itself unless the sort is stable.
"""

from __future__ import annotations

from heapq import merge
from itertools import islice
from operator import itemgetter, lt

from agentsandbox.commands._text.lines import line_blocks, split_lines

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import Any, TypeAlias

    from agentsandbox.contract.command import CommandContext
    from agentsandbox.kernel.streams import ByteReader

    _Values: TypeAlias = Callable[[Sequence[bytes]], list[Any]]

_MERGE_LINES = 1 << 9


def merge_sources(
    ctx: CommandContext,
    sources: Sequence[ByteReader],
    values: _Values,
    terminator: bytes,
    *,
    reverse: bool,
    unique: bool,
) -> Iterator[list[bytes]]:
    """Yield the lines of sorted files in order (`-m`)."""

    def read(source: ByteReader) -> Iterator[tuple[Any, bytes]]:
        for block in line_blocks(ctx.budget, source, terminator):
            found = split_lines(block, terminator)
            yield from zip(values(found), found, strict=True)

    last: list[Any] = []
    merged = merge(*map(read, sources), key=itemgetter(0), reverse=reverse)
    while part := list(islice(merged, _MERGE_LINES)):
        ctx.budget.step(len(part))
        ctx.budget.breathe()
        lines = []
        for key, line in part:
            if not unique or [key] != last:
                lines.append(line)
            last = [key]
        if lines:
            yield lines


def find_disorder(
    ctx: CommandContext,
    source: ByteReader,
    values: _Values,
    terminator: bytes,
    *,
    reverse: bool,
    unique: bool,
) -> tuple[int, bytes] | None:
    """Return the number of the first line out of order, and the line; None if all are in order."""
    line_number = 0
    last: list[Any] = []
    for block in line_blocks(ctx.budget, source, terminator):
        found = split_lines(block, terminator)
        ctx.budget.step(len(found) // 16 + 1)
        keys = last + values(found)
        pair = (keys, keys[1:]) if reverse != unique else (keys[1:], keys)
        marks = list(map(lt, *pair))  # with -u those in order, else those out of order
        if (mark := not unique) in marks:
            at = marks.index(mark) + 1 - len(last)
            return line_number + at + 1, found[at]
        line_number += len(found)
        last = keys[-1:]
    return None
