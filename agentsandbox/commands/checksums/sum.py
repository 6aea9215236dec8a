"""`sum` (GNU coreutils): the checksums of BSD and System V."""

from __future__ import annotations

from agentsandbox.commands._suites import COREUTILS
from agentsandbox.commands._text.lines import inputs
from agentsandbox.commands.checksums.sums import bsd_sum, sysv_sum
from agentsandbox.contract.command import Arguments, CommandContext, command
from agentsandbox.contract.manners import Manners


@command(
    "sum",
    manners=Manners(
        COREUTILS,
        bytewise=True,
        long_options="sysv help version",
        closing_error="NAME: standard input: REASON",
        full_write_error=("NAME: write error", 1),
    ),
    usage="""
    Usage: sum [OPTION]... [FILE]...
    Print checksum and number of blocks of each FILE.

    With no FILE, or when FILE is -, read standard input.

      -r           BSD's sum, blocks of 1024 bytes (the default)
      -s, --sysv   System V's sum, blocks of 512 bytes
          --help   display this help and exit
    """,
)
def sum(ctx: CommandContext, args: Arguments) -> int:
    sysv = args.last("r", "sysv") == "sysv"
    for name, source in inputs(ctx, args.operands):
        total, size = sysv_sum(ctx, source) if sysv else bsd_sum(ctx, source)
        number = -(-size // (512 if sysv else 1024))
        line = f"{total} {number}" if sysv else f"{total:05d} {number:5d}"
        ctx.print(f"{line} {name}" if args.operands else line)
    return ctx.status
