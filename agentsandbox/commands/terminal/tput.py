"""`tput` (ncurses): the terminal's capabilities."""

from __future__ import annotations

import re

from agentsandbox.commands.terminal.descriptions import (
    capability_text,
    clearing,
    is_terminal,
    parameters_of,
)
from agentsandbox.contract.command import Arguments, CommandContext, command
from agentsandbox.contract.manners import SILENT, Manners
from agentsandbox.errors import CommandError
from agentsandbox.kernel.streams import encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

_MISUSED, _NO_TERMINAL, _UNKNOWN, _NO_DEVICE = 2, 3, 4, 10


@command(
    "tput",
    usage_status=_MISUSED,
    manners=Manners(write_error=SILENT),
    usage="""
    Usage: tput [-T TERM] COMMAND...
    Print a capability of the terminal: cols, lines, colors, bold, sgr0, setaf N, setab N, clear,
    cup ROW COLUMN, …

      -T TERM     the terminal instead of $TERM: dumb, xterm, screen, tmux, each with -256color
          --help  display this help and exit
    """,
)
def tput(ctx: CommandContext, args: Arguments) -> int:
    terminal = args.value("T", ctx.env.get("TERM"))
    if not terminal:
        raise CommandError("No value for $TERM and no -T specified", _MISUSED)
    if not is_terminal(terminal):
        raise CommandError(f'unknown terminal "{terminal}"', _NO_TERMINAL)
    if not args.operands:
        ctx.stderr.write(encode(tput.usage))
        return _MISUSED
    return _print(ctx, terminal, args.operands)


def _print(ctx: CommandContext, terminal: str, words: Sequence[str]) -> int:
    """Print the capabilities; return the status of the last."""
    status = at = 0
    while at < len(words):
        ctx.budget.step()
        name = words[at]
        count = parameters_of(name)
        numbers = [_number(word) for word in words[at + 1 : at + 1 + count]]
        at += 1 + count
        if name in ("init", "reset"):
            raise CommandError("terminal attributes: No such device or address\n", _NO_DEVICE)
        try:
            if name == "clear":
                text: str | None = clearing(terminal, scrollback=True) or None
            else:
                text = capability_text(terminal, name, numbers, ctx.host.columns)
        except KeyError:
            raise CommandError(f"unknown terminfo capability '{name}'", _UNKNOWN) from None
        status = (_MISUSED if name == "clear" else 1) if text is None else 0
        ctx.print(text or "", end="")
    return status


def _number(text: str) -> int:
    return int(text) if re.fullmatch("-?[0-9]{1,6}", text) else 0
