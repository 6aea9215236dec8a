"""What the dumping commands share: files as one stream, blocks in which equal lines are left out, and lines made by columns."""

from __future__ import annotations

import errno
import stat
from itertools import chain
from operator import eq

from agentsandbox.commands._lines import inputs, shown_name
from agentsandbox.errors import CommandError
from agentsandbox.fs.base import File
from agentsandbox.streams import BLOCK

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from agentsandbox.command import CommandContext

__all__ = ["Sheet", "Skipped", "block_lines", "concatenated"]


class Skipped:
    """Lines of together `size` bytes that equal the one before; the `first` of several is shown as "*"."""

    __slots__ = ("first", "size")

    def __init__(self, size: int, *, first: bool) -> None:
        self.size = size
        self.first = first


def concatenated(ctx: CommandContext, names: Sequence[str], skip: int, limit: int | None) -> Iterator[bytes]:
    """The bytes of all files after the first `skip`, at most `limit` of them."""
    if limit == 0 and not skip:
        next(inputs(ctx, names), None)
        return
    left = limit
    opened = False
    for name in names or ("-",):
        if opened and left == 0:
            break
        try:
            source = ctx.open_input(name)
        except OSError as error:
            ctx.warn_os(error, shown_name(name))
            if error.errno == errno.EISDIR:
                skip = 0  # its size is no matter
                opened = True
            continue
        opened = True
        if skip and isinstance(source, File) and stat.S_ISCHR(source.stat().mode):
            skip = 0  # a device can be gone on in without end
        while left is None or left > 0:
            block = source.read(BLOCK if left is None or skip else min(BLOCK, left))
            if not block:
                break
            ctx.budget.step()
            if skip:
                skipped = min(skip, len(block))
                skip -= skipped
                block = block[skipped:]
            if left is not None:
                block = block[:left]
                left -= len(block)
            if block:
                yield block
    if skip and opened:
        raise CommandError("cannot skip past end of combined input")


def block_lines(ctx: CommandContext, source: Iterator[bytes], width: int, *, all_lines: bool) -> Iterator[bytes | Skipped]:
    """Bytes of whole lines of `width` (the last line may be shorter), and `Skipped` for lines that repeat."""
    rest = b""
    previous: bytes | None = None
    skipping = False
    for block in source:
        data = rest + block
        ctx.budget.charge(len(data))
        cut = len(data) - len(data) % width
        rest = data[cut:]
        ctx.budget.step(cut // width // 4 + 1)
        if all_lines:
            if cut:
                yield data[:cut]
            continue
        lines = [data[at : at + width] for at in range(0, cut, width)]
        if not lines:
            continue
        repeats = list(map(eq, lines, chain((previous,), lines)))
        previous = lines[-1]
        start = 0
        while start < len(lines):
            repeated = repeats[start]
            end = _index(repeats, not repeated, start)
            yield Skipped((end - start) * width, first=not skipping) if repeated else data[start * width : end * width]
            skipping = repeated
            start = end
    if rest:
        yield rest


def _index(marks: list[bool], wanted: bool, start: int) -> int:
    """Where the next mark of that kind is; the end if there is none."""
    try:
        return marks.index(wanted, start)
    except ValueError:
        return len(marks)


class Sheet:
    """Lines of one length, filled column by column: a column is one character of each line."""

    __slots__ = ("length", "text")

    def __init__(self, count: int, length: int) -> None:
        self.length = length
        self.text = bytearray(b" " * (length - 1) + b"\n") * count

    def put(self, at: int, text: bytes, width: int) -> None:
        """Text that takes `width` characters of each line from `at` on."""
        for offset in range(width):
            self.text[at + offset :: self.length] = text[offset::width]

    def translate(self, at: int, column: bytes, tables: Sequence[bytes]) -> None:
        """A byte of each line as several characters from `at` on: a table for each of them."""
        for offset, table in enumerate(tables, at):
            self.text[offset :: self.length] = column.translate(table)
