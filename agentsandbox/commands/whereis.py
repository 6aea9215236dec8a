"""`whereis` (util-linux): where the program of a name is; there are no sources and manual pages."""

from __future__ import annotations

from agentsandbox.command import Arguments, CommandContext, command
from agentsandbox.errors import UsageError


@command(
    "whereis",
    usage="""
    Usage: whereis [OPTION]... NAME...
    Print where programs are.

      -b          only programs
      -m          only manual pages: there are none
      -s          only sources: there are none
          --help  display this help and exit
    """,
)
def whereis(ctx: CommandContext, args: Arguments) -> int:
    if not args.operands:
        raise UsageError("not enough arguments")
    only = args.last("b", "m", "s")
    for name in args.operands:
        ctx.budget.step()
        base = name.rpartition("/")[2]
        paths = [f"{directory}/{base}" for directory in ("/usr/bin", "/usr/local/bin")] if only in (None, "b") and base else []
        found = [path for path in paths if ctx.fs.is_file(path)]
        ctx.print(" ".join([f"{base}:", *found]))
    return 0
