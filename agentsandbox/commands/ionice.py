"""`ionice` (util-linux): run a program with another I/O priority."""

from __future__ import annotations

from agentsandbox.command import Arguments, CommandContext, command
from agentsandbox.commands._programs import check_program
from agentsandbox.errors import CommandError


@command(
    "ionice",
    usage="""
    Usage: ionice [options] <command>
    Run a command with another I/O scheduling class. A sandbox has no disk to schedule, so the class makes no difference.

     -c, --class=CLASS     0 to 3, or none, realtime, best-effort, idle
     -n, --classdata=NUM   priority 0 to 7
     -t, --ignore          ignore failures
     -h, --help            display this help
    """,
    permute=False,
)
def ionice(ctx: CommandContext, args: Arguments) -> int:
    if args.flag("help"):
        ctx.print(ionice.usage, end="")
        return 0
    chosen = args.value("class")
    if chosen not in (None, "0", "1", "2", "3", "none", "realtime", "best-effort", "idle"):
        raise CommandError(f"unknown scheduling class: '{chosen}'")
    if not args.operands:
        ctx.print("none: prio 0")
        return 0
    check_program(ctx, args.operands[0], f"failed to execute {args.operands[0]}")
    return ctx.run(args.operands)
