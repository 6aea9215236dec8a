"""`false` (POSIX 1003.1-2017): fail."""

from __future__ import annotations

from agentsandbox.contract.command import Arguments, CommandContext, command


@command(
    "false",
    usage="""
    Usage: false [ignored command line arguments]
    Exit with a status that indicates failure.
    """,
    raw=True,
)
def false(ctx: CommandContext, args: Arguments) -> int:
    return 1
