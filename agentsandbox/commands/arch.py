"""`arch` (GNU coreutils): the machine's architecture."""

from __future__ import annotations

from agentsandbox.command import Arguments, CommandContext, command
from agentsandbox.commands._quoting import quote
from agentsandbox.commands._suites import COREUTILS
from agentsandbox.errors import UsageError
from agentsandbox.manners import Manners


@command(
    "arch",
    manners=Manners(COREUTILS, long_options="help version"),
    usage="""
    Usage: arch [OPTION]...
    Print machine architecture.

          --help  display this help and exit
    """,
)
def arch(ctx: CommandContext, args: Arguments) -> int:
    if args.operands:
        raise UsageError(f"extra operand {quote(args.operands[0])}")
    ctx.print("x86_64")
    return 0
