"""`tty` (POSIX 1003.1-2017): the terminal connected to standard input."""

from __future__ import annotations

from agentsandbox.commands._suites import COREUTILS
from agentsandbox.commands._text.quoting import quote
from agentsandbox.contract.command import Arguments, CommandContext, command
from agentsandbox.contract.manners import Manners
from agentsandbox.errors import UsageError


@command(
    "tty",
    manners=Manners(
        COREUTILS, long_options="silent help version", write_error=("NAME: write error: REASON", 3)
    ),
    usage="""
    Usage: tty [OPTION]...
    Print the file name of the terminal connected to standard input.

      -s, --silent, --quiet  print nothing, only return an exit status
          --help  display this help and exit
    """,
    usage_status=2,
)
def tty(ctx: CommandContext, args: Arguments) -> int:
    if args.operands:
        raise UsageError(f"extra operand {quote(args.operands[0])}")
    terminal = bool(getattr(ctx.stdin, "is_terminal", False))
    if not args.flag("silent"):
        ctx.print("/dev/tty" if terminal else "not a tty")
    return 0 if terminal else 1
