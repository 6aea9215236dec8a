"""`clear` (ncurses): clear the terminal screen."""

from __future__ import annotations

from agentsandbox.command import Arguments, CommandContext, command


@command(
    "clear",
    usage="""
    Usage: clear [options]
    Clear the terminal screen and its scrollback.

      -x  do not clear the scrollback
    """,
)
def clear(ctx: CommandContext, args: Arguments) -> int:
    if ctx.env.get("TERM") == "dumb":  # it cannot be cleared
        return 1
    ctx.stdout.write(b"\x1b[H\x1b[2J" if args.flag("x") else b"\x1b[H\x1b[2J\x1b[3J")
    return 0
