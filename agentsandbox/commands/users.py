"""`users` (GNU coreutils): who is logged in."""

from __future__ import annotations

from agentsandbox.command import Arguments, CommandContext, command


@command(
    "users",
    usage="""
    Usage: users [OPTION]... [FILE]
    Output who is currently logged in: nobody is, a sandbox has no terminal.

          --help  display this help and exit
    """,
)
def users(ctx: CommandContext, args: Arguments) -> int:
    return 0
