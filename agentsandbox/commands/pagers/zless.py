"""`zless` and `zmore` (gzip 1.12): show files that gzip compressed.

There is no terminal, so they are copied, as by `less`.
"""

from __future__ import annotations

from agentsandbox.contract.command import Arguments, Command, CommandContext, command
from agentsandbox.contract.manners import Manners, Release
from agentsandbox.errors import CommandError


def _pager(name: str) -> Command:
    @command(
        name,
        manners=Manners(Release("NAME (gzip) 1.12"), unbuffered=True),
        permute=False,
        usage=f"""
    Usage: {name} [OPTION]... [FILE]...
    Show files, expanded if they are compressed. There is no terminal, so they are copied.

      -e                           quit at the end of file
      -F                           quit if all fits on one screen
      -N                           show line numbers on the screen
      -R                           show color sequences
      -S                           chop long lines
      -X                           do not initialise the terminal
          --help                   display this help and exit
    """,
    )
    def run(ctx: CommandContext, args: Arguments) -> int:
        for file in args.operands or ["-"]:
            ctx.budget.step()
            status = ctx.run(["gzip", "-cdfq", "--", file])
            if status:
                raise CommandError("", status)
        return 0

    return run


zless = _pager("zless")
zmore = _pager("zmore")
