"""`unexpand` (POSIX 1003.1-2017, GNU coreutils): spaces to tabs. As in GNU's, a column is a byte."""

from __future__ import annotations

import re

from agentsandbox.command import Arguments, CommandContext, command
from agentsandbox.commands._lines import inputs, line_blocks
from agentsandbox.commands._tab_stops import TabStops

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

_DIGITS = re.compile(r"-([0-9,]+)\Z")


def _rewrite(words: Sequence[str]) -> list[str]:
    """`-4,8` is `-t 4,8 --first-only`."""
    rewritten = []
    for word in words:
        found = _DIGITS.match(word)
        rewritten += [f"-t{found[1]}", "--first-only"] if found else [word]
    return rewritten


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
    for _name, source in inputs(ctx, args.operands):
        for block in line_blocks(ctx.budget, source):
            found = []
            for line in block.split(b"\n"):
                ctx.budget.step()
                if (b" " in line or b"\t" in line) and (whole or line[:1] in (b" ", b"\t")):
                    line = _unexpand_line(ctx, line, stops, whole=whole)
                found.append(line)
            ctx.stdout.write(b"\n".join(found))
    return ctx.status
