"""`head` (POSIX 1003.1-2017, GNU coreutils): the first part of files."""

from __future__ import annotations

from collections import deque

from agentsandbox.commands._suites import COREUTILS
from agentsandbox.commands._text.lines import blocks, give_back
from agentsandbox.commands._text.quoting import quote_always
from agentsandbox.commands._text.sizes import parse_size
from agentsandbox.contract.command import Arguments, CommandContext, command
from agentsandbox.contract.manners import Manners
from agentsandbox.kernel.streams import encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from agentsandbox.kernel.streams import ByteReader

_READ = 8192


def _rewrite(words: Sequence[str]) -> Sequence[str]:
    """`-5c` as the first word is `-c 5`."""
    word = words[0] if words else ""
    count = word[1:-1]
    is_old = word[:1] == "-" and word[-1:] == "c" and count.isdecimal() and count.isascii()
    return ["-c", count, *words[1:]] if is_old else words


def _count(text: str, unit: str) -> int:
    return parse_size(text.removeprefix("-"), f"number of {unit}")


def _first_lines(ctx: CommandContext, source: ByteReader, count: int, end: bytes) -> None:
    if not count:
        return
    for block in blocks(ctx.budget, source, _READ if count < 1000 else 8 * _READ):
        here = block.count(end)
        if here < count:
            count -= here
            ctx.stdout.write(block)
            continue
        cut = -1
        if count == here:
            cut = block.rfind(end)
        else:
            for _ in range(count):
                cut = block.find(end, cut + 1)
        give_back(source, len(block) - cut - 1)
        ctx.stdout.write(block[: cut + 1])
        return


def _first_bytes(ctx: CommandContext, source: ByteReader, count: int) -> None:
    while count:
        block = source.read(min(count, 8 * _READ))
        if not block:
            return
        ctx.budget.step()
        count -= len(block)
        ctx.stdout.write(block)


def _all_but_lines(ctx: CommandContext, source: ByteReader, count: int, end: bytes) -> None:
    """Print all but the last `count` lines; blocks wait until that many lines follow them."""
    waiting: deque[tuple[bytes, int]] = deque()
    total = size = 0
    last = b""
    for block in blocks(ctx.budget, source):
        here = block.count(end)
        waiting.append((block, here))
        total += here
        size += len(block)
        last = block
        while total - waiting[0][1] > count:
            first, its_lines = waiting.popleft()
            total -= its_lines
            size -= len(first)
            ctx.stdout.write(first)
        ctx.budget.charge(size)
    if last and not last.endswith(end):
        total += 1
    rest = b"".join([block for block, _ in waiting])
    cut = -1
    for _ in range(total - count):
        cut = rest.find(end, cut + 1)
        if cut < 0:
            cut = len(rest)
    if total > count:
        give_back(source, max(0, len(rest) - cut - 1))
        ctx.stdout.write(rest[: cut + 1])


def _all_but_bytes(ctx: CommandContext, source: ByteReader, count: int) -> None:
    waiting: deque[bytes] = deque()
    size = 0
    for block in blocks(ctx.budget, source):
        waiting.append(block)
        size += len(block)
        while waiting and size - len(waiting[0]) >= count:
            first = waiting.popleft()
            size -= len(first)
            ctx.stdout.write(first)
        ctx.budget.charge(size)
    if size > count:
        rest = b"".join(waiting)
        ctx.stdout.write(rest[: size - count])


@command(
    "head",
    manners=Manners(
        COREUTILS,
        pure=True,
        bytewise=True,
        long_options="""
            bytes lines -presume-input-pipe quiet silent verbose zero-terminated help
            version
        """,
        read_error=("NAME: error reading 'standard input': REASON", 1),
        closing_error="NAME: -: REASON",
    ),
    rewrite=_rewrite,
    digits="lines",
    values={
        "lines": lambda text: _count(text, "lines"),
        "bytes": lambda text: _count(text, "bytes"),
    },
    usage="""
    Usage: head [OPTION]... [FILE]...
    Print the first 10 lines of each FILE, after a header with its name if there are several.

    With no FILE, or when FILE is -, read standard input.

      -c, --bytes=[-]NUM       print the first NUM bytes; with '-', all but the last NUM
      -n, --lines=[-]NUM       print the first NUM lines; with '-', all but the last NUM
      -q, --quiet, --silent    never print headers
      -v, --verbose            always print headers
      -z, --zero-terminated    lines end with NUL, not newline
          --help               display this help and exit

    NUM may have a suffix: b 512, kB 1000, K 1024, MB 1000*1000, M 1024*1024, and so on.
    """,
)
def head(ctx: CommandContext, args: Arguments) -> int:
    end = b"\0" if args.flag("zero-terminated") else b"\n"
    unit, count, all_but = "lines", 10, False
    for key, value in args.given:
        if key in ("lines", "bytes"):
            unit, text = key, value or ""
            all_but = text.startswith("-")
            count = _count(text, key)
    names = args.operands or ["-"]
    last = args.last("quiet", "verbose")
    headers = last == "verbose" or (last is None and len(names) > 1)
    separator = ""
    for name in names:
        try:
            source = ctx.open_input(name)
        except IsADirectoryError:
            source = None
        except OSError as error:
            ctx.warn(f"cannot open {quote_always(name)} for reading: {error.strerror}")
            continue
        if headers:
            ctx.stdout.write(
                encode(f"{separator}==> {'standard input' if name == '-' else name} <==\n")
            )
            separator = "\n"
        if source is None and not count and not all_but:
            continue
        if source is None:
            ctx.warn(
                f"error reading {quote_always(name if name != '-' else 'standard input')}: "
                "Is a directory"
            )
        elif unit == "lines":
            (_all_but_lines if all_but else _first_lines)(ctx, source, count, end)
        else:
            (_all_but_bytes if all_but else _first_bytes)(ctx, source, count)
    return ctx.status
