"""`unexpand` (POSIX 1003.1-2017, GNU coreutils): spaces to tabs. As in GNU's, a column is a byte."""

from __future__ import annotations

import re

from agentsandbox.command import Arguments, CommandContext, command
from agentsandbox.commands._tab_stops import TabStops, joined_blocks
from agentsandbox.errors import CommandError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

_CLUSTER = re.compile(r"-([a0-9,]*)(.*)\Z", re.DOTALL)
_LONG = re.compile(r"--[at]")
_TAKES_VALUE = re.compile(r"-[a0-9,]*t\Z|--t(?:a(?:bs?)?)?\Z")


def _rewrite(words: Sequence[str]) -> list[str]:
    """Digits among the letters are tab stops, also over several words, unless a comma ends them; without -a or -t `--first-only`."""
    rewritten: list[str] = []
    operands: Sequence[str] = ()
    number = ""
    digits = whole = is_value = False
    for at, word in enumerate(words):
        if word == "--" and not is_value:
            operands = words[at:]
            break
        found = None if is_value or _LONG.match(word) else _CLUSTER.match(word)
        whole = whole or (not is_value and _LONG.match(word) is not None)
        is_value = not is_value and _TAKES_VALUE.match(word) is not None
        if found is None or word == "-":
            rewritten.append(word)
            continue
        for letter in found[1]:
            if letter == "a":
                rewritten.append("-a")
            elif letter != ",":
                number += letter
                digits = True
                if int(number) >= 2**64:
                    raise CommandError("tab stop value is too large")
            elif number:
                rewritten.append(f"-t{number}")
                number = ""
        if found[2]:
            rewritten.append(f"-{found[2]}")
        whole = whole or "a" in found[1] or found[2].startswith("t")
    if number:
        rewritten.append(f"-t{number}")
    if digits and not whole:
        rewritten.append("--first-only")
    return [*rewritten, *operands]


def _unexpand_line(ctx: CommandContext, line: bytes, stops: TabStops, *, whole: bool) -> bytes:
    """Runs of blanks become tabs where they reach a tab stop; a single blank just before one stays as it is."""
    parts = bytearray()
    pending = bytearray()  # blanks of which is not known yet whether a tab replaces them
    column = 0
    previous_blank = True
    before_stop = False  # the first pending blank is a single one just before a tab stop
    for at, byte in enumerate(line):
        ctx.budget.step()
        blank = byte in (32, 9)
        if blank:
            stop = stops.find(column)
            if stop is None:
                return bytes(parts + pending + line[at:])
            if byte == 9:
                column = stop
                pending[:1] = b"\t" if pending else b""
            else:
                column += 1
                if not (previous_blank and column == stop):
                    before_stop = before_stop or column == stop
                    pending.append(byte)
                    previous_blank = True
                    continue
                byte = 9
                pending[:1] = b"\t"
            del pending[int(before_stop) :]
        else:
            column = max(0, column - 1) if byte == 8 else column + 1
        if pending:
            if len(pending) > 1 and before_stop:
                pending[0] = 9
            parts += pending
            pending.clear()
            before_stop = False
        previous_blank = blank
        parts.append(byte)
        if not (whole or blank):
            return bytes(parts + line[at + 1 :])
    if len(pending) > 1 and before_stop:
        pending[0] = 9
    return bytes(parts + pending)


@command(
    "unexpand",
    rewrite=_rewrite,
    usage="""
    Usage: unexpand [OPTION]... [FILE]...
    Convert blanks at the beginning of the lines of each FILE to tabs, writing to standard output.

    With no FILE, or when FILE is -, read standard input.

      -a, --all          convert all blanks
          --first-only   convert only blanks at the beginning (overrides -a)
      -t, --tabs=LIST    tab stops every N columns (8), or at the columns of a LIST; implies -a
          --help         display this help and exit
    """,
)
def unexpand(ctx: CommandContext, args: Arguments) -> int:
    stops = TabStops(args.values("tabs"))
    whole = (args.flag("all") or args.flag("tabs")) and not args.flag("first-only")
    for block in joined_blocks(ctx, args.operands):
        found = []
        for line in block.split(b"\n"):
            ctx.budget.step()
            if (b" " in line or b"\t" in line) and (whole or line[:1] in (b" ", b"\t")):
                line = _unexpand_line(ctx, line, stops, whole=whole)
            found.append(line)
        ctx.stdout.write(b"\n".join(found))
    return ctx.status
