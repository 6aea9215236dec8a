"""`groups` (GNU coreutils): the groups a user is in."""

from __future__ import annotations

from agentsandbox.commands._suites import COREUTILS
from agentsandbox.commands._text.quoting import quote
from agentsandbox.commands.accounts.database import find_account, own_account
from agentsandbox.contract.command import Arguments, CommandContext, command
from agentsandbox.contract.manners import Manners


@command(
    "groups",
    manners=Manners(COREUTILS, long_options="help version"),
    usage="""
    Usage: groups [OPTION]... [USERNAME]...
    Print group memberships for each USERNAME, or for the current user.

          --help  display this help and exit
    """,
)
def groups(ctx: CommandContext, args: Arguments) -> int:
    if not args.operands:
        ctx.print(" ".join([name for _, name in own_account(ctx).groups]))
    for operand in args.operands:
        account = find_account(ctx, operand)
        if account is None:
            ctx.warn(f"{quote(operand)}: no such user")
        else:
            ctx.print(f"{operand} : {' '.join([name for _, name in account.groups])}")
    return ctx.status
