"""`logname` (POSIX 1003.1-2017): the name the user logged in with."""

from __future__ import annotations

from agentsandbox.commands._suites import COREUTILS
from agentsandbox.commands._text.quoting import quote
from agentsandbox.contract.command import Arguments, CommandContext, command
from agentsandbox.contract.manners import Manners
from agentsandbox.errors import UsageError


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
