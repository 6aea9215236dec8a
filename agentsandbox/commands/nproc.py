"""`nproc` (GNU coreutils): how many processors there are. A sandbox has one."""

from __future__ import annotations

from agentsandbox.command import Arguments, CommandContext, command
from agentsandbox.commands._quoting import quote
from agentsandbox.errors import CommandError, UsageError


@command(
    "nproc",
    usage="""
    Usage: nproc [OPTION]...
    Print the number of processing units available.

          --all       print the number of installed processors
          --ignore=N  if possible, exclude N processing units
          --help      display this help and exit
    """,
)
def nproc(ctx: CommandContext, args: Arguments) -> int:
    ignored = args.value("ignore")
    if ignored is not None and not (ignored.isascii() and ignored.isdigit()):
        raise CommandError(f"invalid number: {quote(ignored)}")
    if args.operands:
        raise UsageError(f"extra operand {quote(args.operands[0])}")
    ctx.print("1")
    return 0
