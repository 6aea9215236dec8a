"""`tput` (ncurses): the terminal's capabilities, those of xterm."""

from __future__ import annotations

import re

from agentsandbox.command import Arguments, CommandContext, command
from agentsandbox.errors import CommandError
from agentsandbox.streams import decode

_NUMBERS = {"colors": "8", "lines": "24", "it": "8", "pairs": "64"}
_STRINGS = {
    "bel": "\a", "blink": "\x1b[5m", "bold": "\x1b[1m", "civis": "\x1b[?25l", "clear": "\x1b[H\x1b[2J\x1b[3J",
    "cnorm": "\x1b[?12l\x1b[?25h",
    "cr": "\r", "cub1": "\b", "cud1": "\n", "cuf1": "\x1b[C", "cuu1": "\x1b[A", "dim": "\x1b[2m",
    "ed": "\x1b[J", "el": "\x1b[K", "el1": "\x1b[1K",
    "longname": "xterm terminal emulator (X Window System)",
    "home": "\x1b[H", "invis": "\x1b[8m", "op": "\x1b[39;49m", "rc": "\x1b8", "rev": "\x1b[7m", "rmcup": "\x1b[?1049l\x1b[23;0;0t",
    "ritm": "\x1b[23m", "rmso": "\x1b[27m", "rmul": "\x1b[24m", "sc": "\x1b7", "sgr0": "\x1b(B\x1b[m", "sitm": "\x1b[3m",
    "smcup": "\x1b[?1049h\x1b[22;0;0t", "smso": "\x1b[7m", "smul": "\x1b[4m", "reset": "\x1bc\x1b]104\x07\x1b[!p\x1b[?3;4l\x1b[4l\x1b>",
}  # fmt: skip
_TERMINALS = re.compile(
    r"dumb|(?:ansi|cons25|cygwin|hurd|konsole|linux|mach|pcansi|rxvt|screen|sun|tmux|vt(?:52|100|102|220)|wsvt25|xterm)(?:-[a-z0-9-]+)?"
)
_MOVES = {"cuu": "A", "cud": "B", "cuf": "C", "cub": "D", "il": "L", "dl": "M", "dch": "P", "ich": "@", "ech": "X"}


_DUMB = {
    "bel": "\a", "cols": "80\n", "colors": "-1\n", "cr": "\r", "cud1": "\n", "ind": "\n", "longname": "80-column dumb tty",
    "lines": "24\n",
}  # fmt: skip
"""All that the terminal "dumb" can do; what else is asked for has status 1 and prints nothing."""


def _capability(name: str, parameters: list[str], columns: int) -> str | None:
    numbers = [int(text) if text.isascii() and text.isdigit() and len(text) < 7 else 0 for text in parameters] + [0, 0]
    if name == "cols":
        return f"{columns}\n"
    if name in _NUMBERS:
        return f"{_NUMBERS[name]}\n"
    if name in _STRINGS:
        return _STRINGS[name]
    if name in ("setaf", "setab", "setf", "setb"):
        return f"\x1b[{3 if name.endswith('f') else 4}{numbers[0]}m"
    if name == "cup":
        return f"\x1b[{numbers[0] + 1};{numbers[1] + 1}H"
    if name == "hpa":
        return f"\x1b[{numbers[0] + 1}G"
    if name in _MOVES:
        return f"\x1b[{numbers[0]}{_MOVES[name]}"
    return None


def _colors(terminal: str) -> str:
    """How many colours a terminal of that name shows."""
    if terminal.startswith("vt"):
        return "-1"
    return "256" if terminal.endswith("256color") else "8"


@command(
    "tput",
    usage="""
    Usage: tput [options] [command]
    Print a capability of the terminal: cols, lines, colors, bold, sgr0, setaf N, setab N, cup ROW COLUMN, clear, …

      -S       read commands from standard input
      -T TERM  the terminal: "dumb", or one like an xterm
          --help  display this help and exit
    """,
    permute=False,
    usage_status=2,
)
def tput(ctx: CommandContext, args: Arguments) -> int:
    if not ctx.env.get("TERM") and args.value("T") is None:
        raise CommandError("No value for $TERM and no -T specified", 2)
    terminal = args.value("T") or ctx.env.get("TERM") or ""
    if not _TERMINALS.fullmatch(terminal):
        raise CommandError(f'unknown terminal "{terminal}"', 3)
    dumb = terminal == "dumb"
    requests = [args.operands]
    if args.flag("S"):
        requests = [decode(line).split() for line in ctx.stdin.lines()]
    elif not args.operands:
        raise CommandError("missing capability", 2)
    for words in requests:
        at = 0
        while at < len(words):
            ctx.budget.step()
            name = words[at]
            count = 2 if name == "cup" else 1 if name in _MOVES or name in ("setaf", "setab", "setf", "setb", "hpa") else 0
            if name == "colors" and not dumb:
                ctx.print(_colors(terminal))
                at += 1
                continue
            text = _capability(name, words[at + 1 : at + 1 + count], ctx.host.columns)
            if text is None:
                raise CommandError(f"unknown terminfo capability '{name}'", 4)
            if dumb and name not in _DUMB:
                return 1
            ctx.print(_DUMB[name] if dumb else text, end="")
            at += 1 + count
    return 0
