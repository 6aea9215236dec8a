"""`setsid` (util-linux): run a program in a new session."""

from __future__ import annotations

from agentsandbox.commands._processes.programs import check_program
from agentsandbox.commands._suites import UTIL_LINUX
from agentsandbox.contract.command import Arguments, CommandContext, command
from agentsandbox.contract.manners import Manners
from agentsandbox.errors import CommandError, UsageError


@command(
    "setsid",
    manners=Manners(UTIL_LINUX, long_options="ctty fork wait version help", unbuffered=True),
    usage="""
    Usage: setsid [options] <program> [arguments ...]
    Run a program in a new session.

     -c, --ctty  make the terminal the controlling one: there is none, which fails
     -f, --fork  run it beside the caller, without waiting
     -w, --wait  wait until it ends, and return its status
     -h, --help  display this help
    """,
    permute=False,
)
def setsid(ctx: CommandContext, args: Arguments) -> int:
    if args.flag("help"):
        ctx.print(setsid.usage, end="")
        return 0
    words = args.operands
    if not words:
        raise UsageError("no command specified")
    if args.flag("ctty"):
        raise CommandError("failed to set the controlling terminal: Inappropriate ioctl for device")
    check_program(ctx, words[0], f"failed to execute {words[0]}")
    if not args.flag("fork"):
        return ctx.run(words)
    process = ctx.start(words)
    return (ctx.host.scheduler.wait(process) or 0) if args.flag("wait") else 0
