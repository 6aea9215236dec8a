"""`pwd` (POSIX, GNU coreutils): the current directory."""

from __future__ import annotations

from agentsandbox.contract.command import Arguments, CommandContext, command
from agentsandbox.contract.manners import Manners


@command(
    "pwd",
    manners=Manners(pure=True, long_options="logical physical help version"),
    usage="""
    Usage: pwd [OPTION]...
    Print the name of the current directory.

      -L, --logical   $PWD from the environment, if it is right, even if it holds links
      -P, --physical  without links (default)
          --help      display this help and exit
    """,
)
def pwd(ctx: CommandContext, args: Arguments) -> int:
    if args.operands:
        ctx.warn("ignoring non-option arguments", ctx.status)
    logical = ctx.env.get("PWD", "")
    default = "logical" if "POSIXLY_CORRECT" in ctx.env else "physical"
    physical = ctx.fs.realpath(ctx.cwd)
    if (
        (args.last("logical", "physical") or default) == "logical"
        and logical.startswith("/")
        and not {".", ".."} & set(logical.split("/"))
    ):
        try:
            if ctx.fs.realpath(logical) == physical:
                ctx.print(logical)
                return 0
        except OSError:
            pass
    ctx.print(physical)
    return 0
