"""`arch` (GNU coreutils): the machine's architecture."""

from __future__ import annotations

from agentsandbox.commands._suites import COREUTILS
from agentsandbox.commands._text.quoting import quote
from agentsandbox.contract.command import Arguments, CommandContext, command
from agentsandbox.contract.manners import Manners
from agentsandbox.errors import UsageError


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
