"""`more` (util-linux): without a terminal it copies its files, as there."""

from __future__ import annotations

from agentsandbox.command import Arguments, CommandContext, command
from agentsandbox.commands._lines import blocks
from agentsandbox.streams import encode

_RULE = "::::::::::::::\n"


@command(
    "more",
    usage="""
    Usage: more [OPTION]... FILE...
    Write each FILE, after a header with its name. There is no terminal to page on.

      -s, --squeeze   show several empty lines as one
      -h, --help      display this help and exit
    """,
)
def more(ctx: CommandContext, args: Arguments) -> int:
    if args.flag("help"):
        ctx.stdout.write(encode(more.usage))
        return 0
    names = args.operands or ["-"]
    squeeze = args.flag("squeeze")
    for name in names:
        try:
            source = ctx.open_input(name)
        except IsADirectoryError:
            ctx.stdout.write(encode(f"\n*** {name}: directory ***\n\n"))
            continue
        except OSError as error:
            ctx.stderr.write(encode(f"{ctx.name}: cannot open {name}: {error.strerror}\n"))
            continue
        if args.operands:
            ctx.stdout.write(encode(f"{_RULE}{name}\n{_RULE}"))
        if not squeeze:
            for block in blocks(ctx.budget, source):
                ctx.stdout.write(block)
            continue
        empty = False
        for line in source.lines():
            ctx.budget.step()
            if line != b"\n" or not empty:
                ctx.stdout.write(line)
            empty = line == b"\n"
    return 0
