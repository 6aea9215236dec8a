"""`clear` (ncurses): clear the terminal screen."""

from __future__ import annotations

from agentsandbox.commands.terminal.descriptions import clearing, is_terminal
from agentsandbox.contract.command import Arguments, CommandContext, command
from agentsandbox.kernel.streams import encode


@command(
    "clear",
    usage="""
    Usage: clear [options]
    Clear the terminal screen and its scrollback.

      -T TERM     use this instead of $TERM
      -x          do not clear the scrollback
          --help  display this help and exit
    """,
)
def clear(ctx: CommandContext, args: Arguments) -> int:
    terminal = args.value("T", ctx.env.get("TERM"))
    if terminal is None:
        ctx.stderr.write(b"TERM environment variable not set.\n")
        return 1
    if not is_terminal(terminal):
        ctx.stderr.write(encode(f"'{terminal}': unknown terminal type.\n"))
        return 1
    text = clearing(terminal, scrollback=not args.flag("x"))
    ctx.print(text, end="")
    return 0 if text else 1
