"""`tput` (ncurses): the terminal's capabilities."""

from __future__ import annotations

import re

from agentsandbox.command import Arguments, CommandContext, command
from agentsandbox.commands._suites import NCURSES
from agentsandbox.commands._terminals import clearing, expand, is_terminal, parameters_of
from agentsandbox.errors import CommandError, UsageError
from agentsandbox.manners import SILENT, Manners
from agentsandbox.streams import decode, encode
from agentsandbox.usage import OptionParser

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

_MISUSED, _NO_TERMINAL, _UNKNOWN, _NO_DEVICE = 2, 3, 4, 10


@command(
    "tput",
    manners=Manners(write_error=SILENT),
    raw=True,
    usage="""
    Usage: tput [options] [command]
    Print a capability of the terminal: cols, lines, colors, bold, sgr0, setaf N, setab N, cup ROW COLUMN, clear, …
    For a flag such as "am" the status tells.

      -S       read commands from standard input
      -T TERM  the terminal instead of $TERM: dumb, xterm, xterm-256color, screen, tmux, linux, vt100, ansi, …
      -V       print the release that this command follows
      -x       do not clear the scrollback
          --help  display this help and exit
    """,
)
def tput(ctx: CommandContext, args: Arguments) -> int:
    try:
        found = OptionParser(tput.usage).parse(args.operands)
    except UsageError as error:
        ctx.stderr.write(encode(f"{ctx.name}: {error.message}\n{tput.usage}"))
        return _MISUSED
    if found.flag("help"):
        ctx.print(tput.usage, end="")
        return 0
    if found.flag("V"):
        ctx.print(NCURSES)
        return 0
    terminal = found.value("T", ctx.env.get("TERM"))
    if not terminal:
        raise CommandError("No value for $TERM and no -T specified", _MISUSED)
    if not is_terminal(terminal):
        raise CommandError(f'unknown terminal "{terminal}"', _NO_TERMINAL)
    if found.flag("S"):
        requests = [decode(line).split() for line in ctx.stdin.lines()]
    elif found.operands:
        requests = [found.operands]
    else:
        ctx.stderr.write(encode(tput.usage))
        return _MISUSED
    status = failed = 0
    for words in requests:
        try:
            status = _print(ctx, terminal, words, keep=found.flag("x"))
        except CommandError as error:
            if not found.flag("S") or error.status != _UNKNOWN:
                raise
            status = error.status
            ctx.warn(error.message)
        failed += status != 0
    return _UNKNOWN + failed if failed and found.flag("S") else status


def _print(ctx: CommandContext, terminal: str, words: Sequence[str], *, keep: bool) -> int:
    """The capabilities of one line; the status of the last."""
    status = at = 0
    while at < len(words):
        ctx.budget.step()
        name = words[at]
        at += 1
        if name in ("init", "reset"):
            raise CommandError("terminal attributes: No such device or address\n", _NO_DEVICE)
        if name == "clear":
            keep = keep or words[at : at + 1] == ["-x"]
            at += words[at : at + 1] == ["-x"]
            text: str | None = clearing(terminal, scrollback=not keep) or None
        else:
            count = parameters_of(name)
            numbers = [_number(word) for word in words[at : at + count]]
            at += count
            try:
                text = expand(terminal, name, numbers, ctx.host.columns)
            except KeyError:
                raise CommandError(f"unknown terminfo capability '{name}'", _UNKNOWN) from None
        status = (_MISUSED if name == "clear" else 1) if text is None else 0
        ctx.print(text or "", end="")
    return status


def _number(text: str) -> int:
    return int(text) if re.fullmatch("-?[0-9]{1,6}", text) else 0
