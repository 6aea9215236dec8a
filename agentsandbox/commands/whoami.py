"""`whoami` (GNU coreutils): the name of the user."""

from __future__ import annotations

from agentsandbox.command import Arguments, CommandContext, command
from agentsandbox.commands._accounts import own_account
from agentsandbox.commands._quoting import quote
from agentsandbox.commands._suites import COREUTILS
from agentsandbox.errors import UsageError
from agentsandbox.manners import Manners


@command(
    "whoami",
    manners=Manners(COREUTILS, pure=True, long_options="help version"),
    usage="""
    Usage: whoami [OPTION]...
    Print the user name.

          --help  display this help and exit
    """,
)
def whoami(ctx: CommandContext, args: Arguments) -> int:
    if args.operands:
        raise UsageError(f"extra operand {quote(args.operands[0])}")
    ctx.print(own_account(ctx).name)
    return 0
