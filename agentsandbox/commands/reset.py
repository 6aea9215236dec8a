"""`reset` (ncurses): put the terminal back into a sane state."""

from __future__ import annotations

from agentsandbox.command import Arguments, CommandContext, command


@command(
    "reset",
    usage="""
    Usage: reset
    Send the terminal's reset string.
    """,
)
def reset(ctx: CommandContext, args: Arguments) -> int:
    ctx.stdout.write(b"\x1bc\x1b]104\x07\x1b[!p\x1b[?3;4l\x1b[4l\x1b>")
    return 0
