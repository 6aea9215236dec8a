"""`dirname` (POSIX 1003.1-2017, GNU coreutils): names without their last component."""

from __future__ import annotations

from agentsandbox.commands._suites import COREUTILS
from agentsandbox.contract.command import Arguments, CommandContext, command
from agentsandbox.contract.manners import Manners
from agentsandbox.errors import UsageError
from agentsandbox.kernel.streams import encode


@command(
    "dirname",
    manners=Manners(COREUTILS, pure=True, long_options="zero help version"),
    usage="""
    Usage: dirname [OPTION] NAME...
    Print each NAME without its last component; "." if it has no other.

      -z, --zero  end each line with NUL, not newline
          --help  display this help and exit
    """,
)
def dirname(ctx: CommandContext, args: Arguments) -> int:
    if not args.operands:
        raise UsageError("missing operand")
    end = "\0" if args.flag("zero") else "\n"
    for name in args.operands:
        ctx.budget.step()
        head = name.rstrip("/").rpartition("/")[0].rstrip("/")
        ctx.stdout.write(encode((head or ("/" if name.startswith("/") else ".")) + end))
    return 0
