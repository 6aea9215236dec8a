"""`nohup` (POSIX 1003.1-2017, GNU coreutils): run a program immune to hangups."""

from __future__ import annotations

from agentsandbox.commands._processes.programs import check_program
from agentsandbox.commands._suites import COREUTILS
from agentsandbox.commands._text.quoting import quote_always
from agentsandbox.contract.command import Arguments, CommandContext, command
from agentsandbox.contract.manners import Manners
from agentsandbox.errors import UsageError
from agentsandbox.kernel.processes import SIGNAL_NUMBERS


@command(
    "nohup",
    manners=Manners(COREUTILS, bytewise=True, long_options="help version", unbuffered=True),
    usage="""
    Usage: nohup COMMAND [ARG]...
      or:  nohup OPTION
    Run COMMAND, ignoring hangup signals. A sandbox has no terminal to hang up, so the streams stay
    as they are.

          --help  display this help and exit
    """,
    permute=False,
    usage_status=125,
)
def nohup(ctx: CommandContext, args: Arguments) -> int:
    if not args.operands:
        raise UsageError("missing operand")
    check_program(ctx, args.operands[0], f"failed to run command {quote_always(args.operands[0])}")
    return ctx.run(
        args.operands, ignoring=ctx.host.scheduler.current.ignored() | {SIGNAL_NUMBERS["HUP"]}
    )
