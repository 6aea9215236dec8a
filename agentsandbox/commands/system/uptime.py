"""`uptime` (procps): how long the sandbox has been there."""

from __future__ import annotations

from agentsandbox.commands._suites import PROCPS
from agentsandbox.contract.command import Arguments, CommandContext, command
from agentsandbox.contract.manners import Manners
from agentsandbox.kernel.formats.strftime import strftime


def _pretty(seconds: int) -> str:
    days, rest = divmod(seconds, 86400)
    parts = [
        (days // 7, "week"),
        (days % 7, "day"),
        (rest // 3600, "hour"),
        (rest % 3600 // 60, "minute"),
    ]
    shown = [f"{count} {unit}{'' if count == 1 else 's'}" for count, unit in parts if count]
    return f"up {', '.join(shown) or '0 minutes'}"


@command(
    "uptime",
    manners=Manners(PROCPS, long_options="pretty help since version"),
    usage="""
    Usage: uptime [options]
    Tell how long the system has been running.

     -p, --pretty  show uptime in pretty format
     -s, --since   system up since
     -h, --help    display this help and exit
    """,
)
def uptime(ctx: CommandContext, args: Arguments) -> int:
    zone = ctx.env.get("TZ", "")
    now = ctx.host.clock()
    seconds = max(0, int(now - ctx.host.started))
    if args.flag("help"):
        ctx.print(uptime.usage, end="")
    elif args.flag("since"):
        ctx.print(strftime(int(ctx.host.started), "%Y-%m-%d %H:%M:%S", zone))
    elif args.flag("pretty"):
        ctx.print(_pretty(seconds))
    else:
        hours, minutes = seconds % 86400 // 3600, seconds % 3600 // 60
        clock = f"{hours:2d}:{minutes:02d}" if hours else f"{minutes} min"
        days = seconds // 86400
        shown = (f"{days} day{'' if days == 1 else 's'}, " if days else "") + clock
        at = strftime(int(now), "%H:%M:%S", zone)
        ctx.print(f" {at} up {shown},  0 users,  load average: 0.00, 0.00, 0.00")
    return 0
