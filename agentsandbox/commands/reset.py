"""`reset` (ncurses): put the terminal back into a sane state. There is none, so it fails, as without one elsewhere."""

from __future__ import annotations

from agentsandbox.command import Arguments, CommandContext, command
from agentsandbox.commands._suites import NCURSES
from agentsandbox.errors import UsageError
from agentsandbox.streams import encode
from agentsandbox.usage import OptionParser

_NO_DEVICE = 10


@command(
    "reset",
    raw=True,
    usage="""
    Usage: reset [options] [terminal]
    Reset the terminal. A sandbox has none, so all but -V fails.

      -c          set control characters
      -e CH       erase character
      -I          no initialization strings
      -i CH       interrupt character
      -k CH       kill character
      -m MAPPING  map identifier to type
      -Q          do not output control key settings
      -q          display term only, do no changes
      -r          display term on stderr
      -s          output TERM set command
      -V          print the release that this command follows
      -w          set window-size
          --help  display this help and exit
    """,
)
def reset(ctx: CommandContext, args: Arguments) -> int:
    try:
        found = OptionParser(reset.usage).parse(args.operands)
    except UsageError as error:
        ctx.warn(error.message)
        ctx.stderr.write(encode(reset.usage))
        return ctx.status
    if found.flag("help"):
        ctx.print(reset.usage, end="")
        return 0
    if found.flag("V"):
        ctx.print(NCURSES)
        return 0
    ctx.stderr.write(encode(f"{ctx.name}: terminal attributes: No such device or address\n\n"))
    return _NO_DEVICE
