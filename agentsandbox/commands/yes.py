"""`yes` (GNU coreutils): print a line until nobody reads any more."""

from __future__ import annotations

from agentsandbox.command import Arguments, CommandContext, command
from agentsandbox.streams import encode

_BLOCK = 1 << 15


@command(
    "yes",
    usage="""
    Usage: yes [STRING]...
    Print a line with all STRINGs, or 'y', until stopped.

          --help   display this help and exit
    """,
)
def yes(ctx: CommandContext, args: Arguments) -> int:
    line = encode(" ".join(args.operands or ["y"]) + "\n")
    block = line
    while True:
        ctx.budget.step(len(block) // 256 + 1)
        ctx.stdout.write(block)
        if len(block) < _BLOCK:
            block += block
