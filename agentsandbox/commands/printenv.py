"""`printenv` (GNU coreutils): print environment variables."""

from __future__ import annotations

from agentsandbox.commands._suites import COREUTILS
from agentsandbox.contract.command import Arguments, CommandContext, command
from agentsandbox.contract.manners import Manners


@command(
    "printenv",
    manners=Manners(
        COREUTILS, long_options="null help version", write_error=("NAME: write error: REASON", 2)
    ),
    permute=False,
    usage_status=2,
    usage="""
    Usage: printenv [OPTION]... [VARIABLE]...
    Print the values of the environment VARIABLEs, or all names and values.

      -0, --null   end each line with NUL, not newline
          --help   display this help and exit
    """,
)
def printenv(ctx: CommandContext, args: Arguments) -> int:
    end = "\0" if args.flag("null") else "\n"
    if not args.operands:
        for name, value in ctx.env.items():
            ctx.budget.step()
            ctx.print(f"{name}={value}", end)
        return 0
    status = 0
    for name in args.operands:
        found = ctx.env.get(name) if "=" not in name else None
        if found is None:
            status = 1
        else:
            ctx.print(found, end)
    return status
