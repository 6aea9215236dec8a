"""`expand` (POSIX 1003.1-2017, GNU coreutils): tabs to spaces. As in GNU's, a column is a byte."""

from __future__ import annotations

from agentsandbox.command import Arguments, CommandContext, command
from agentsandbox.commands._tab_stops import TabStops, joined_blocks, rewrite_digits


def _expand_line(ctx: CommandContext, line: bytes, stops: TabStops, *, initial: bool) -> bytes:
    parts = []
    column = start = 0
    for at, byte in enumerate(line):
        if byte == 9:
            ctx.budget.step()
            part = line[start:at]
            parts.append(part)
            following = stops.next(column)
            ctx.budget.charge(following)  # the whole line so far
            parts.append(b" " * (following - column))
            column = following
            start = at + 1
        elif byte == 8:
            column = max(0, column - 1)
        else:
            column += 1
            if initial and byte != 32:
                break
    parts.append(line[start:])
    return b"".join(parts)


@command(
    "expand",
    rewrite=rewrite_digits,
    usage="""
    Usage: expand [OPTION]... [FILE]...
    Convert tabs in each FILE to spaces, writing to standard output.

    With no FILE, or when FILE is -, read standard input.

      -i, --initial     convert only tabs before the first character that is not blank
      -t, --tabs=LIST   tab stops every N columns (8), or at the columns of a LIST; the last may be /N or +N
          --help        display this help and exit
    """,
)
def expand(ctx: CommandContext, args: Arguments) -> int:
    stops = TabStops(args.values("tabs"))
    initial = args.flag("initial")
    for block in joined_blocks(ctx, args.operands):
        if b"\t" not in block:
            ctx.stdout.write(block)
            continue
        found = []
        for line in block.split(b"\n"):
            ctx.budget.step(len(line) // 64 + 1)
            if b"\t" not in line:
                found.append(line)
            elif b"\b" not in line and b"\r" not in line and not initial and stops.every:
                ctx.budget.charge(len(line) + line.count(b"\t") * stops.every)
                found.append(line.expandtabs(stops.every))
            else:
                found.append(_expand_line(ctx, line, stops, initial=initial))
        ctx.stdout.write(b"\n".join(found))
    return ctx.status
