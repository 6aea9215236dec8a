"""`reset` (ncurses): put the terminal back into a sane state. There is none, so it fails."""

from __future__ import annotations

from agentsandbox.contract.command import Arguments, CommandContext, command
from agentsandbox.kernel.streams import encode

_NO_DEVICE = 10


@command(
    "reset",
    usage="""
    Usage: reset [terminal]
    Reset the terminal. A sandbox has none, so this always fails.

          --help  display this help and exit
    """,
)
def reset(ctx: CommandContext, args: Arguments) -> int:
    ctx.stderr.write(encode(f"{ctx.name}: terminal attributes: No such device or address\n\n"))
    return _NO_DEVICE
