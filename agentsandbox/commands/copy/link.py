"""`link` (POSIX 1003.1-2017, GNU coreutils): make one hard link."""

from __future__ import annotations

from agentsandbox.commands._suites import COREUTILS
from agentsandbox.commands._text.quoting import quote, quote_always
from agentsandbox.contract.command import Arguments, CommandContext, command, describe_os_error
from agentsandbox.contract.manners import Manners
from agentsandbox.errors import CommandError, UsageError


@command(
    "link",
    manners=Manners(COREUTILS, bytewise=True, long_options="help version"),
    usage="""
    Usage: link FILE1 FILE2
    Give the existing FILE1 the second name FILE2.

          --help  display this help and exit
    """,
)
def link(ctx: CommandContext, args: Arguments) -> int:
    operands = args.operands
    if len(operands) < 2:
        raise UsageError(
            f"missing operand after {quote(operands[0])}" if operands else "missing operand"
        )
    if len(operands) > 2:
        raise UsageError(f"extra operand {quote(operands[2])}")
    source, target = operands
    try:
        ctx.fs.link(ctx.path(source), ctx.path(target))
    except OSError as error:
        message = f"cannot create link {quote_always(target)} to {quote_always(source)}"
        raise CommandError(f"{message}: {describe_os_error(error, '')}") from None
    return 0
