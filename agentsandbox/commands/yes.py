"""`yes` (GNU coreutils): print a line until nobody reads any more."""

from __future__ import annotations

from agentsandbox.commands._suites import COREUTILS
from agentsandbox.contract.command import Arguments, CommandContext, command
from agentsandbox.contract.manners import Manners
from agentsandbox.kernel.streams import encode

_BLOCK = 1 << 15


@command(
    "yes",
    manners=Manners(COREUTILS, pure=True, write_error=("NAME: standard output: REASON", 1)),
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
