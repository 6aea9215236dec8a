"""`man`: the help text of a command."""

from __future__ import annotations

from agentsandbox.command import Arguments, CommandContext, command
from agentsandbox.commands import find_command
from agentsandbox.streams import encode


@command(
    "man",
    usage="""
    Usage: man [OPTION...] [SECTION] PAGE...
    Show the help text of each command PAGE: a sandbox has no other manual.

      -f, --whatis  one line about each command
      -h, --help    display this help and exit
    """,
)
def man(ctx: CommandContext, args: Arguments) -> int:
    if args.flag("help"):
        ctx.print(man.usage, end="")
        return 0
    pages = args.operands
    if pages and pages[0].isdecimal():
        pages = pages[1:]
    if not pages:
        ctx.stderr.write(b"What manual page do you want?\nFor example, try 'man man'.\n")
        return 1
    for page in pages:
        found = find_command(page)
        if args.flag("whatis"):
            if found is None:
                ctx.stderr.write(encode(f"{page}: nothing appropriate.\n"))
                ctx.status = 16
            else:
                ctx.print(f"{page + ' (1)':<20} - {found.summary}")
        elif found is None:
            ctx.stderr.write(encode(f"No manual entry for {page}\n"))
            ctx.status = 16
        else:
            ctx.print(found.usage, end="")
    return ctx.status
