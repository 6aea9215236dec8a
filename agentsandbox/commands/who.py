"""`who` (GNU coreutils): who is logged in."""

from __future__ import annotations

from agentsandbox.command import Arguments, CommandContext, command


@command(
    "who",
    usage="""
    Usage: who [OPTION]... [FILE]
    Print information about users who are logged in: nobody is, a sandbox has no terminal.

          --help  display this help and exit
    """,
)
def who(ctx: CommandContext, args: Arguments) -> int:
    return 0
