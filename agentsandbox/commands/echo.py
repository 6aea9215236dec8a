"""`echo` (GNU coreutils): print words, under `xargs`, `env` and `find`."""

from __future__ import annotations

from agentsandbox.contract.command import Arguments, CommandContext, command
from agentsandbox.contract.manners import Manners
from agentsandbox.kernel.formats.echo import render_echo
from agentsandbox.kernel.streams import encode


@command(
    "echo",
    manners=Manners(pure=True),
    raw=True,
    usage="""
    Usage: echo [OPTION]... [STRING]...
    Print the STRINGs, separated by blanks.

      -n   no newline at the end
      -e   interpret backslash escapes: \\\\ \\a \\b \\c \\e \\f \\n \\r \\t \\v \\0NNN \\xHH
      -E   do not interpret them (the default)
    """,
)
def echo(ctx: CommandContext, args: Arguments) -> int:
    if args.operands == ["--help"]:
        ctx.stdout.write(encode(echo.usage))
        return 0
    ctx.stdout.write(render_echo(args.operands))
    return 0
