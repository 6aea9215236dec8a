"""`users` (GNU coreutils): who is logged in."""

from __future__ import annotations

from agentsandbox.commands._suites import COREUTILS
from agentsandbox.commands._text.quoting import quote
from agentsandbox.commands.accounts.who import refuse_records
from agentsandbox.contract.command import Arguments, CommandContext, command
from agentsandbox.contract.manners import SILENT, Manners
from agentsandbox.errors import UsageError


@command(
    "users",
    manners=Manners(COREUTILS, long_options="help version", write_error=SILENT),
    usage="""
    Usage: users [OPTION]... [FILE]
    Output who is currently logged in: nobody is, a sandbox has no terminal.

          --help  display this help and exit
    """,
)
def users(ctx: CommandContext, args: Arguments) -> int:
    if len(args.operands) > 1:
        raise UsageError(f"extra operand {quote(args.operands[1])}")
    if args.operands:
        refuse_records(ctx, args.operands[0])
    return 0
