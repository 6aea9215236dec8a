"""`unlink` (POSIX 1003.1-2017, GNU coreutils): remove one name."""

from __future__ import annotations

from agentsandbox.commands._suites import COREUTILS
from agentsandbox.commands._text.quoting import quote, quote_always
from agentsandbox.contract.command import Arguments, CommandContext, command, describe_os_error
from agentsandbox.contract.manners import Manners
from agentsandbox.errors import CommandError, UsageError


@command(
    "unlink",
    manners=Manners(COREUTILS, bytewise=True, long_options="help version"),
    usage="""
    Usage: unlink FILE
    Remove the name FILE.

          --help  display this help and exit
    """,
)
def unlink(ctx: CommandContext, args: Arguments) -> int:
    if not args.operands:
        raise UsageError("missing operand")
    if len(args.operands) > 1:
        raise UsageError(f"extra operand {quote(args.operands[1])}")
    name = args.operands[0]
    try:
        ctx.fs.unlink(ctx.path(name))
    except OSError as error:
        raise CommandError(
            f"cannot unlink {quote_always(name)}: {describe_os_error(error, '')}"
        ) from None
    return 0
