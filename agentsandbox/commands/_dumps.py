"""What the dumping commands share: files as one stream, and blocks in which equal lines are left out."""

from __future__ import annotations

import errno
import stat

from agentsandbox.commands._lines import inputs, shown_name
from agentsandbox.errors import CommandError
from agentsandbox.fs.base import File
from agentsandbox.streams import BLOCK

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from agentsandbox.command import CommandContext

__all__ = ["Skipped", "block_lines", "concatenated"]


class Skipped:
    """A line of `size` bytes that equals the one before; the `first` of several is shown as "*"."""

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
        if all_lines:
            ctx.budget.step(cut // width // 4 + 1)
            if cut:
                yield data[:cut]
            continue
        start = 0
        for at in range(0, cut, width):
            ctx.budget.left -= 1
            if ctx.budget.left < 0:
                ctx.budget.tick()
            line = data[at : at + width]
            if line == previous:
                if start < at:
                    yield data[start:at]
                yield Skipped(width, first=not skipping)
                skipping = True
                start = at + width
            else:
                skipping = False
                previous = line
        if start < cut:
            yield data[start:cut]
    if rest:
        yield rest
