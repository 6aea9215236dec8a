"""`strings` (GNU binutils): the printable runs in files."""

from __future__ import annotations

import re
from itertools import islice

from agentsandbox.commands._text.lines import read_all
from agentsandbox.contract.command import Arguments, CommandContext, command
from agentsandbox.contract.manners import SILENT, Manners, Release
from agentsandbox.errors import CommandError
from agentsandbox.kernel.budget import PIECE
from agentsandbox.kernel.expressions import lazily_bytes
from agentsandbox.kernel.streams import encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from agentsandbox.kernel.budget import Budget

_PLAIN = rb"\t -~"
_NO_RUN = lazily_bytes(rb"[^%b]" % _PLAIN)
_BATCH = 256


def _least(text: str) -> int:
    """Return the least length of a string; 2**32 for a number that no string can reach."""
    found = re.fullmatch(r"[ \t]*([+-]?)(0[xX][0-9a-fA-F]+|[0-9]*)", text)
    if found is None:
        raise CommandError(f"invalid integer argument {text}")
    digits = found[2]
    if len(digits) > 9 or found[1] == "-":
        return 2**32
    octal = digits.startswith("0") and not digits.strip("01234567")
    return int(digits or "0", 16 if digits[:2] in ("0x", "0X") else 8 if octal else 10)


@command(
    "strings",
    manners=Manners(
        Release("GNU NAME (GNU Binutils for Debian) 2.40", "-v, -V, --version"),
        long_options="""
            all bytes data encoding help include-all-whitespace output-separator
            print-file-name radix target unicode version
        """,
        write_error=SILENT,
    ),
    digits="bytes",
    values={"bytes": _least},
    usage="""
    Usage: strings [option(s)] [file(s)]
    Print the runs of printable characters in each file (standard input without one).

      -a, -d, --all, --data          scan the whole file (always)
      -f, --print-file-name          print the name of the file before each string
      -n, --bytes=NUMBER             at least NUMBER (4) characters
      -t, --radix=RADIX              print where a string stands, in o, d or x
      -o                             the same as -t o
      -s, --output-separator=STRING  write STRING after each string, not a newline
      -h, --help                     display this help and exit
    """,
)
def strings(ctx: CommandContext, args: Arguments) -> int:
    if args.flag("help"):
        ctx.stdout.write(encode(strings.usage))
        return 0
    least = _least(args.value("bytes") or "") if args.flag("bytes") else 4
    if least < 1:
        raise CommandError(f"invalid minimum string length {least}")
    radix = "o" if args.last("o", "radix") == "o" else args.value("radix")
    names = [name for name in args.operands if name != "-"]  # as an operand "-" means -a
    if radix not in (None, "o", "d", "x") or (args.operands and not names):
        ctx.stderr.write(encode(strings.usage))
        return 1
    pattern = re.compile(rb"[%b]{%d,}" % (_PLAIN, least)) if least < 2**31 else None
    separator = encode(args.value("output-separator", "\n") or "")
    for name in names or ["-"]:
        data = _read(ctx, name)
        shown = b""
        if args.flag("print-file-name"):
            shown = encode("{standard input}: " if name == "-" else f"{name}: ")
        runs = _runs(data, pattern, least, ctx.budget) if pattern is not None else iter(())
        while batch := list(islice(runs, _BATCH)):
            ctx.budget.step(len(batch))
            ctx.budget.breathe()
            for at, found in batch:
                offset = encode(f"{at:7{radix}} ") if radix is not None else b""
                ctx.stdout.write(shown + offset + found + separator)
    return ctx.status


def _runs(
    data: bytes, pattern: re.Pattern[bytes], least: int, budget: Budget
) -> Iterator[tuple[int, bytes]]:
    """Yield the runs of at least `least` characters, and where they begin, piece by piece."""
    start = 0
    while start < len(data):
        budget.work(16 * PIECE)
        last = None
        for last in _NO_RUN.finditer(data, start, start + PIECE):  # noqa: B007
            pass
        begin = start if last is None else last.end()  # of the run that the piece's end cuts
        for found in pattern.finditer(data, start, begin):
            yield found.start(), found[0]
        start = _end_of_run(data, begin, budget)
        if start > begin and start - begin >= least:
            budget.work(start - begin)
            yield begin, data[begin:start]


def _end_of_run(data: bytes, at: int, budget: Budget) -> int:
    """Return where the run ends in which `at` is, a piece at a time."""
    while at < len(data):
        border = _NO_RUN.search(data, at, at + PIECE)
        if border is not None:
            return border.start()
        at += PIECE
        budget.work(16 * PIECE)
        budget.breathe()
    return len(data)


def _read(ctx: CommandContext, name: str) -> bytes:
    """Return the bytes of a file; b"" after a message if it cannot be read."""
    try:
        if name == "-" and ctx.stdin.unreadable:
            return b""
        return read_all(ctx.budget, ctx.open_input(name))
    except IsADirectoryError:
        ctx.warn(f"Warning: '{name}' is a directory")
    except FileNotFoundError:
        ctx.warn(f"'{name}': No such file")
    except OSError as error:
        ctx.warn(f"{name}: {error.strerror}")
    return b""
