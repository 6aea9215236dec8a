"""`look` (util-linux): the lines of a sorted file that begin with a string."""

from __future__ import annotations

import re
from bisect import bisect_left

from agentsandbox.command import Arguments, CommandContext, command, describe_os_error
from agentsandbox.commands._lines import read_all, split_lines
from agentsandbox.errors import CommandError, UsageError
from agentsandbox.streams import encode

_WORDS = "/usr/share/dict/words"
_NOT_ALPHANUMERIC = bytes([byte for byte in range(256) if not (byte < 128 and (chr(byte).isalnum() or byte in b" \t\n"))])


@command(
    "look",
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
    name = args.operands[1] if has_file else f"{_WORDS}2" if args.flag("alternative") else _WORDS
    fold = args.flag("ignore-case") or not has_file
    alphanumeric = args.flag("alphanum") or not has_file
    text = encode(args.operands[0])
    stop = args.value("terminate")
    if stop:
        text = re.match(re.escape(encode(stop[0])).join([b"(?s)[^", b"]*.?"]), text)[0]  # type: ignore[index]
    try:
        found = split_lines(read_all(ctx.budget, ctx.keep(ctx.fs.open(ctx.path(name), "r"))))
    except IsADirectoryError:
        raise CommandError(f"{name}: No such device") from None
    except OSError as error:
        raise CommandError(f"{name}: {describe_os_error(error, '')}") from None

    if not found:
        raise CommandError(f"{name}: Invalid argument")

    def key(line: bytes) -> bytes:
        ctx.budget.step()
        shown = line.translate(None, _NOT_ALPHANUMERIC) if alphanumeric else line
        return (shown.upper() if fold else shown)[: len(wanted)]

    wanted = text.translate(None, _NOT_ALPHANUMERIC) if alphanumeric else text
    wanted = wanted.upper() if fold else wanted
    start = bisect_left(found, wanted, key=key)
    end = start
    while end < len(found) and key(found[end]) == wanted:
        end += 1
    ctx.stdout.write(b"".join([line + b"\n" for line in found[start:end]]))
    return 0 if end > start else 1
