"""`whoami` (GNU coreutils): the name of the user."""

from __future__ import annotations

from agentsandbox.commands._suites import COREUTILS
from agentsandbox.commands._text.quoting import quote
from agentsandbox.commands.accounts.database import own_account
from agentsandbox.contract.command import Arguments, CommandContext, command
from agentsandbox.contract.manners import Manners
from agentsandbox.errors import UsageError


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
