"""`true` (POSIX 1003.1-2017): succeed."""

from __future__ import annotations

from agentsandbox.contract.command import Arguments, CommandContext, command


@command(
    "true",
    usage="""
    Usage: true [ignored command line arguments]
    Exit with a status that indicates success.
    """,
    raw=True,
)
def true(ctx: CommandContext, args: Arguments) -> int:
    return 0
