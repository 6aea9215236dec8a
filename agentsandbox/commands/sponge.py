"""`sponge` (moreutils 0.67): read all of standard input, then write a file."""

from __future__ import annotations

from agentsandbox.commands._text.lines import read_all
from agentsandbox.contract.command import Arguments, CommandContext, command
from agentsandbox.contract.manners import Manners
from agentsandbox.kernel.streams import encode


@command(
    "sponge",
    manners=Manners(checks_output=True),
    usage="""
    Usage: sponge [-a] [FILE]
    Soak up all of standard input and write it to FILE, or to standard output.

      -a  append to FILE
    """,
)
def sponge(ctx: CommandContext, args: Arguments) -> int:
    data = read_all(ctx.budget, ctx.stdin)
    if not args.operands:
        ctx.stdout.write(data)
        return 0
    path = ctx.path(args.operands[0])
    try:
        with ctx.fs.open(path, "a" if args.flag("a") else "w") as target:
            target.write(data)
    except OSError as error:
        ctx.stderr.write(encode(f"error opening output file: {error.strerror}\n"))
        return 1
    return 0
