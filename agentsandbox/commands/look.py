"""`look` (util-linux): the lines of a sorted file that begin with a string."""

from __future__ import annotations

import re

from agentsandbox.command import Arguments, CommandContext, command, describe_os_error
from agentsandbox.commands._lines import read_all
from agentsandbox.commands._suites import UTIL_LINUX
from agentsandbox.errors import CommandError, UsageError
from agentsandbox.manners import SILENT, Manners
from agentsandbox.streams import encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

_WORDS, _OTHER_WORDS = "/usr/share/dict/words", "/usr/share/dict/web2"
_NOT_ALPHANUMERIC = bytes([byte for byte in range(256) if not (byte < 128 and (chr(byte).isalnum() or byte in b" \t\n"))])


@command(
    "look",
    manners=Manners(
        UTIL_LINUX,
        long_options="alternative alphanum ignore-case terminate version help",
        closed_write_error=SILENT,
    ),
    usage="""
    Usage: look [OPTION]... STRING [FILE]
    Print the lines of a sorted FILE that begin with STRING.

      -a, --alternative      use the alternative dictionary
      -d, --alphanum         compare only blanks, letters and digits
      -f, --ignore-case      compare without regard to case
      -t, --terminate=CHAR   compare up to and including the first CHAR of STRING
      -h, --help             display this help and exit

    Without FILE, look in the system's dictionary, with -d and -f.
    """,
)
def look(ctx: CommandContext, args: Arguments) -> int:
    if args.flag("help"):
        ctx.stdout.write(encode(look.usage))
        return 0
    if not 1 <= len(args.operands) <= 2:
        raise UsageError("bad usage")
    has_file = len(args.operands) == 2
    name = args.operands[1] if has_file else _OTHER_WORDS if args.flag("alternative") else _WORDS
    fold = args.flag("ignore-case") or not has_file
    alphanumeric = args.flag("alphanum") or not has_file
    text = encode(args.operands[0])
    stop = args.value("terminate")
    if stop:
        text = re.match(re.escape(encode(stop[0])).join([b"(?s)[^", b"]*.?"]), text)[0]  # type: ignore[index]
    try:
        data = read_all(ctx.budget, ctx.keep(ctx.fs.open(ctx.path(name), "r")))
    except IsADirectoryError:
        raise CommandError(f"{name}: No such device") from None
    except OSError as error:
        raise CommandError(f"{name}: {describe_os_error(error, '')}") from None

    if not data:
        raise CommandError(f"{name}: Invalid argument")
    wanted = text.translate(None, _NOT_ALPHANUMERIC) if alphanumeric else text
    wanted = wanted.upper() if fold else wanted

    def key(start: int) -> bytes:
        ctx.budget.step()
        line = data[start : _line_end(data, start)].removesuffix(b"\n")
        shown = line.translate(None, _NOT_ALPHANUMERIC) if alphanumeric else line
        return (shown.upper() if fold else shown)[: len(wanted)]

    start = _search(data, wanted, key)
    while start < len(data) and key(start) < wanted:
        start = _line_end(data, start)
    end = start
    while end < len(data) and key(end) == wanted:
        end = _line_end(data, end)
    ctx.stdout.write(data[start:end])
    return 0 if end > start else 1


def _line_end(data: bytes, start: int) -> int:
    """Where the line ends that begins at `start`, or goes on there."""
    return data.find(b"\n", start) + 1 or len(data)


def _search(data: bytes, wanted: bytes, key: Callable[[int], bytes]) -> int:
    """The beginning of a line before which, in a sorted file, nothing is found: halves are made of bytes."""
    low, high = 0, len(data)
    middle = _line_end(data, high // 2)
    while middle < high:
        if wanted > key(middle):
            low = middle
        else:
            high = middle
        middle = min(_line_end(data, low + (high - low) // 2), high)
    return low
