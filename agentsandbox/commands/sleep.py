"""`sleep` (POSIX 1003.1-2017, GNU coreutils): wait."""

from __future__ import annotations

from agentsandbox.commands._suites import COREUTILS
from agentsandbox.commands._text.quoting import quote
from agentsandbox.commands._time.durations import parse_duration
from agentsandbox.contract.command import Arguments, CommandContext, command
from agentsandbox.contract.manners import Manners
from agentsandbox.errors import UsageError


@command(
    "sleep",
    manners=Manners(COREUTILS, bytewise=True, long_options="help version"),
    usage="""
    Usage: sleep NUMBER[SUFFIX]...
    Pause for NUMBER seconds; SUFFIX may be s, m (minutes), h (hours) or d (days). Several are added
    up.

          --help  display this help and exit
    """,
)
def sleep(ctx: CommandContext, args: Arguments) -> int:
    if not args.operands:
        raise UsageError("missing operand")
    total = 0.0
    for text in args.operands:
        seconds = parse_duration(text)
        if seconds is None:
            ctx.warn(f"invalid time interval {quote(text)}")
        else:
            total += seconds
    if ctx.status:
        ctx.stderr.write(b"Try 'sleep --help' for more information.\n")
        return 1
    ctx.host.scheduler.sleep(min(total, 1e9))
    return 0
