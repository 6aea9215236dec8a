"""`clear` (ncurses): clear the terminal screen."""

from __future__ import annotations

from agentsandbox.command import Arguments, CommandContext, command
from agentsandbox.commands._suites import NCURSES
from agentsandbox.commands._terminals import clearing, is_terminal
from agentsandbox.errors import UsageError
from agentsandbox.streams import encode
from agentsandbox.usage import OptionParser


@command(
    "clear",
    raw=True,
    usage="""
    Usage: clear [options]
    Clear the terminal screen and its scrollback.

      -T TERM     use this instead of $TERM
      -V          print the release that this command follows
      -x          do not clear the scrollback
          --help  display this help and exit
    """,
)
def clear(ctx: CommandContext, args: Arguments) -> int:
    try:
        found = OptionParser(clear.usage).parse(args.operands)
        if found.operands:
            raise UsageError("")
    except UsageError as error:
        ctx.stderr.write(encode((f"{ctx.name}: {error.message}\n" if error.message else "") + clear.usage))
        return 1
    if found.flag("help"):
        ctx.print(clear.usage, end="")
        return 0
    if found.flag("V"):
        ctx.print(NCURSES)
        return 0
    terminal = found.value("T", ctx.env.get("TERM"))
    if terminal is None or not is_terminal(terminal):
        problem = "TERM environment variable not set." if terminal is None else f"'{terminal}': unknown terminal type."
        ctx.stderr.write(encode(f"{problem}\n"))
        return 1
    text = clearing(terminal, scrollback=not found.flag("x"))
    ctx.print(text, end="")
    return 0 if text else 1
