"""Shared by `od` and `hexdump`: several files as one stream, and repeated lines as `*`."""

from __future__ import annotations

import errno
import os
import stat

from agentsandbox.commands._text.lines import inputs, shown_name
from agentsandbox.errors import CommandError
from agentsandbox.kernel.fs.base import File
from agentsandbox.kernel.streams import BLOCK

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from agentsandbox.contract.command import CommandContext


def can_open_one(ctx: CommandContext, names: Sequence[str]) -> bool:
    """Whether at least one of the files can be opened."""
    return not names or any(
        name == "-" or (name and ctx.fs.access(ctx.path(name), os.R_OK)) for name in names
    )


def concatenated(
    ctx: CommandContext, names: Sequence[str], skip: int, limit: int | None, *, as_od: bool
) -> Iterator[bytes]:
    """Yield the bytes of all files after the first `skip`, at most `limit` of them.

    With `as_od`, names are quoted in messages, and it is an error to skip more than there is.
    """
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
            ctx.warn_os(error, shown_name(name) if as_od else name)
            if error.errno == errno.EISDIR:
                skip = 0
                opened = True
            continue
        opened = True
        if skip and isinstance(source, File) and stat.S_ISCHR(source.stat().mode):
            skip = 0  # a device has no end
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
    if skip and opened and as_od:
        raise CommandError("cannot skip past end of combined input")


def dump_lines(
    ctx: CommandContext, source: Iterator[bytes], width: int, *, all_lines: bool
) -> Iterator[tuple[int, bytes | None]]:
    """Yield (offset, bytes) of each line of `width` bytes; the last line may be shorter.

    Unless `all_lines` is set, a run of lines that repeat the line before it is yielded once, as
    (offset, None), which is shown as "*". The last pair is (length of the input, b"").
    """
    rest = previous = b""
    position = 0
    skipping = False
    for block in source:
        data = rest + block
        ctx.budget.charge(len(data))
        cut = len(data) - len(data) % width
        rest = data[cut:]
        ctx.budget.step(cut // width + 1)
        for at in range(0, cut, width):
            line = data[at : at + width]
            if line != previous or all_lines:
                yield position, line
                skipping = False
            elif not skipping:
                yield position, None
                skipping = True
            previous = line
            position += width
    if rest:
        yield position, rest
    yield position + len(rest), b""
