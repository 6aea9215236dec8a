"""`stty` (POSIX 1003.1-2017): terminal settings; no stream of a sandbox is a terminal."""

from __future__ import annotations

from agentsandbox.commands._suites import COREUTILS
from agentsandbox.contract.command import Arguments, CommandContext, command
from agentsandbox.contract.manners import Manners
from agentsandbox.errors import CommandError


@command(
    "stty",
    manners=Manners(COREUTILS),
    usage="""
    Usage: stty [-a|--all] [-g|--save] [SETTING]...
    Print or change the settings of a terminal. A sandbox has none, so this always fails.

          --help         display this help and exit
    """,
    raw=True,
)
def stty(ctx: CommandContext, args: Arguments) -> int:
    if "--help" in args.operands:
        ctx.print(stty.usage, end="")
        return 0
    raise CommandError("'standard input': Inappropriate ioctl for device")
