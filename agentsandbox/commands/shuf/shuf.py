"""`shuf` (GNU coreutils): lines, words or numbers in random order."""

from __future__ import annotations

import re

from agentsandbox.commands._suites import COREUTILS
from agentsandbox.commands._text.lines import read_all, shown_name, split_lines
from agentsandbox.commands._text.quoting import quote
from agentsandbox.contract.command import Arguments, CommandContext, command, describe_os_error
from agentsandbox.contract.manners import Manners
from agentsandbox.errors import CommandError, UsageError
from agentsandbox.kernel.streams import InputError, encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from agentsandbox.kernel.streams import ByteWriter

_CHUNK = 4096


def _count(args: Arguments) -> int | None:
    """Return the smallest value of `-n`."""
    counts = [_line_count(text) for text in args.values("head-count")]
    return min(counts) if counts else None


def _line_count(text: str) -> int:
    if not re.fullmatch(r"[ \t]*\+?[0-9]+", text):
        raise CommandError(f"invalid line count: {quote(text)}")
    return int(text) if len(text) < 30 else 2**64


def _range(text: str) -> tuple[int, int]:
    low_text, dash, high_text = text.partition("-")
    if not dash:
        raise CommandError(f"invalid input range: {quote(text)}")
    for part in (low_text, high_text):
        if not re.fullmatch(r"[0-9]{1,40}", part):
            raise CommandError(f"invalid input range: {quote(part)}")
        if int(part) >= 2**64:
            raise CommandError(
                f"invalid input range: {quote(part)}: Value too large for defined data type"
            )
    low, high = int(low_text), int(high_text)
    if low > high + 1 or high - low == 2**64 - 1:
        raise CommandError(f"invalid input range: {quote(text)}")
    return low, high


def _size(items: list[bytes] | range) -> int:
    """Return the number of items; `len` fails for very long ranges."""
    return items.stop - items.start if isinstance(items, range) else len(items)


def _repeated(
    ctx: CommandContext, items: list[bytes] | range, count: int | None
) -> Iterator[list[bytes]]:
    """`-r`: yield any item at any time, `count` times or for ever."""
    size, made, total = 16, 0, _size(items)
    random = ctx.host.random
    while count is None or made < count:
        here = size if count is None else min(size, count - made)
        ctx.budget.step(here)
        yield [_text(items[random.randrange(total)]) for _ in range(here)]
        made += here
        size = min(_CHUNK, size * 2)


def _shuffled(
    ctx: CommandContext, items: list[bytes] | range, count: int | None
) -> Iterator[list[bytes]]:
    """Yield the first `count` items of a shuffle that moves only the items it needs."""
    total = _size(items)
    wanted = total if count is None else min(count, total)
    randrange = ctx.host.random.randrange
    moved: dict[int, int] = {}
    for start in range(0, wanted, _CHUNK):
        stop = min(start + _CHUNK, wanted)
        ctx.budget.step(stop - start)
        picked = []
        for at in range(start, stop):
            other = randrange(at, total)
            picked.append(_text(items[moved.get(other, other)]))
            moved[other] = moved.pop(at, at)
        ctx.budget.charge(len(moved) * 8)
        yield picked


def _text(item: bytes | int) -> bytes:
    return b"%d" % item if isinstance(item, int) else item


def _items(ctx: CommandContext, args: Arguments, end: bytes) -> list[bytes] | range:
    ranges = args.values("input-range")
    if ranges:
        low, high = _range(ranges[-1])
        if args.flag("echo"):
            raise UsageError("cannot combine -e and -i options")
        if args.operands:
            raise UsageError(f"extra operand {quote(args.operands[0])}")
        return range(low, high + 1)
    if args.flag("echo"):
        return [encode(word) for word in args.operands]
    if len(args.operands) > 1:
        raise UsageError(f"extra operand {quote(args.operands[1])}")
    name = args.operands[0] if args.operands else "-"
    try:
        return split_lines(read_all(ctx.budget, ctx.open_input(name)), end)
    except (InputError, IsADirectoryError) as error:
        raise CommandError(f"read error: {error.strerror}") from None
    except OSError as error:
        raise CommandError(describe_os_error(error, shown_name(name))) from None


@command(
    "shuf",
    manners=Manners(
        COREUTILS,
        bytewise=True,
        long_options="""
            echo input-range head-count output random-source repeat zero-terminated help
            version
        """,
        read_error=("NAME: read error: REASON", 1),
    ),
    values={"head-count": _line_count, "input-range": _range},
    usage="""
    Usage: shuf [OPTION]... [FILE]
      or:  shuf -e [OPTION]... [ARG]...
      or:  shuf -i LO-HI [OPTION]...
    Write the input lines in random order.

    With no FILE, or when FILE is -, read standard input.

      -e, --echo               take each ARG as an input line
      -i, --input-range=LO-HI  take the numbers from LO to HI as input lines
      -n, --head-count=COUNT   at most COUNT lines
      -o, --output=FILE        write to FILE
      -r, --repeat             lines may be repeated
      -z, --zero-terminated    lines end with NUL, not newline
          --help               display this help and exit
    """,
)
def shuf(ctx: CommandContext, args: Arguments) -> int:
    end = b"\0" if args.flag("zero-terminated") else b"\n"
    count = _count(args)
    unread = count == 0 and len(args.operands) == 1 and args.last("echo", "input-range") is None
    items = [] if unread else _items(ctx, args, end)
    if args.flag("repeat") and not _size(items) and count != 0:
        raise CommandError("no lines to repeat")
    output = args.value("output")
    out: ByteWriter = ctx.stdout
    opened = None
    if output is not None:
        try:
            out = opened = ctx.fs.open(ctx.path(output), "w", permissions=0o666 & ~ctx.umask)
        except OSError as error:
            raise CommandError(describe_os_error(error, shown_name(output))) from None
    for part in (_repeated if args.flag("repeat") else _shuffled)(ctx, items, count):
        part.append(b"")
        out.write(end.join(part))
    if opened is not None:
        opened.release()
    return 0
