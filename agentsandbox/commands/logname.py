"""`logname` (POSIX 1003.1-2017): the name the user logged in with."""

from __future__ import annotations

from agentsandbox.command import Arguments, CommandContext, command
from agentsandbox.commands._quoting import quote
from agentsandbox.commands._suites import COREUTILS
from agentsandbox.errors import UsageError
from agentsandbox.manners import Manners


@command(
    "logname",
    manners=Manners(COREUTILS, long_options="help version"),
    usage="""
    Usage: logname [OPTION]
    Print the user's login name.

          --help  display this help and exit
    """,
)
def logname(ctx: CommandContext, args: Arguments) -> int:
    if args.operands:
        raise UsageError(f"extra operand {quote(args.operands[0])}")
    ctx.print(ctx.env.get("LOGNAME") or ctx.host.user)
    return 0
