"""Input in large blocks of whole lines, metered, and returning what was read too far."""

from __future__ import annotations

from agentsandbox.kernel.accounts import LARGE
from agentsandbox.kernel.budget import WORK_SHIFT
from agentsandbox.kernel.streams import BLOCK

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from agentsandbox.contract.command import CommandContext
    from agentsandbox.kernel.budget import Budget
    from agentsandbox.kernel.streams import ByteReader

_SPLIT = 1 << 17
_SMALL_PIECE = 1 << 12
_LONG_WORK = 1 << WORK_SHIFT
"""Bytes after which a step is not enough."""


def blocks(budget: Budget, source: ByteReader, size: int = BLOCK) -> Iterator[bytes]:
    """Blocks of at most `size` bytes, each a step."""
    while block := source.read(size):
        budget.left -= 1
        if budget.left < 0:
            budget.tick()
        yield block
        if len(block) >= _LONG_WORK:
            budget.breathe()


def line_blocks(
    budget: Budget, source: ByteReader, end: bytes = b"\n", size: int = 4 * BLOCK
) -> Iterator[bytes]:
    """Yield large blocks that end with `end` (the last may lack it), each limited in size."""
    rest: list[bytes] = []
    waiting = 0
    while block := source.read(size if budget.rest is None else min(size, BLOCK)):
        budget.breathe()
        budget.step(len(block) // 1024 + 1)
        cut = block.rfind(end) + 1
        if not cut:
            rest.append(block)
            waiting += len(block)
            budget.charge(waiting)
            continue
        if rest:
            rest.append(block[:cut])
            yield b"".join(rest)
            rest = []
            waiting = 0
        else:
            yield block if cut == len(block) else block[:cut]
        if cut < len(block):
            rest = [block[cut:]]
            waiting = len(block) - cut
    if rest:
        yield b"".join(rest)


def lines(budget: Budget, source: ByteReader, end: bytes = b"\n") -> Iterator[bytes]:
    """Yield each line without its `end`, a step each.

    It reads ahead, so it is for commands that read all of their input.
    """
    for block in line_blocks(budget, source, end):
        for line in split_lines(block, end):
            budget.left -= 1
            if budget.left < 0:
                budget.tick()
            yield line


def split_lines(block: bytes, end: bytes = b"\n") -> list[bytes]:
    """Return the lines of a block without their `end`."""
    parts = block.split(end)
    if not parts[-1]:
        parts.pop()
    return parts


def short_blocks(budget: Budget, source: ByteReader) -> Iterator[bytes]:
    """Yield blocks of whole lines, letting the event loop run between them.

    Where there is an event loop, the blocks are smaller.
    """
    for block in source.line_blocks():
        start = 0
        while (
            budget.rest is not None
            and len(block) - start > BLOCK
            and (stop := block.find(b"\n", start + BLOCK // 2) + 1)
        ):
            yield block[start:stop]
            budget.breathe()
            start = stop
        if start < len(block):
            yield block[start:] if start else block
            budget.breathe()


def growing_blocks(blocks: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the blocks in pieces, small ones first, for readers that may stop early.

    A block with a NUL, which makes a file binary, stays whole.
    """
    size = _SMALL_PIECE
    for block in blocks:
        start = 0
        while (
            len(block) - start > size
            and b"\0" not in block
            and (stop := block.find(b"\n", start + size) + 1)
        ):
            yield block[start:stop]
            start = stop
            size *= 2
        if start < len(block):
            yield block[start:] if start else block


def split_all(budget: Budget, data: bytes, end: bytes = b"\n") -> list[bytes]:
    """Return the lines of data of any size, split piece by piece."""
    found: list[bytes] = []
    start = 0
    while start < len(data):
        stop = data.find(end, start + _SPLIT) + 1 or len(data)
        found += split_lines(data[start:stop], end)
        budget.breathe()
        start = stop
    return found


def is_regular(source: ByteReader) -> bool:
    """Whether it is a regular file: of known size, and with a position that can be moved."""
    return hasattr(source, "stat") and hasattr(source, "seek") and bool(source.stat().is_file)


def read_all(budget: Budget, source: ByteReader) -> bytes:
    """Return everything up to the end.

    A pipe is limited like any value; a file has a limit of its own.
    """
    if is_regular(source):
        return source.read()
    parts = []
    size = 0
    for block in blocks(budget, source, 4 * BLOCK):
        size += len(block)
        budget.charge(size)
        if size > LARGE:
            budget.hold_input(size)
        parts.append(block)
    return b"".join(parts)


def shown_name(name: str) -> str:
    """Return a file's name as the coreutils show it before a reason.

    It is quoted if a shell would need that, or if it holds a colon.
    """
    from agentsandbox.commands._text.quoting import quote_always, quote_as

    return quote_always(name) if ":" in name else quote_as(name, "shell-escape")


def inputs(ctx: CommandContext, names: Sequence[str]) -> Iterator[tuple[str, ByteReader]]:
    """Yield (name, reader) of each file, reporting failures as the coreutils do."""
    for name in names or ("-",):
        try:
            source = ctx.open_input(name)
        except OSError as error:
            ctx.warn_os(error, shown_name(name))
            continue
        yield name, source


def give_back(source: ByteReader, count: int) -> None:
    """Let the next reader of a file see the last `count` bytes again; a pipe cannot."""
    if count and hasattr(source, "seek"):
        try:
            source.seek(-count, 1)
        except OSError:
            pass
