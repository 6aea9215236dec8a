"""`kill` (procps) as a program, for `xargs`, `find` and `env`; scripts get the shell's builtin."""

from __future__ import annotations

import re

from agentsandbox.command import Arguments, CommandContext, command
from agentsandbox.commands._processes import running
from agentsandbox.processes import SIGNAL_NUMBERS, SIGNALS
from agentsandbox.releases import release_of
from agentsandbox.streams import encode

_NAMES = SIGNALS | {SIGNAL_NUMBERS["IO"]: "POLL"}
_NUMBERS = SIGNAL_NUMBERS | {"POLL": SIGNAL_NUMBERS["IO"]}
_COLUMNS = 7
_UNKNOWN = -1


@command(
    "kill",
    usage="""
    Usage:
     kill [options] <pid> [...]

    Options:
     <pid> [...]            the processes to send a signal to
     -<signal>, -s, --signal <signal>
                            which signal: a name or a number; TERM if not given
     -l, --list=[<signal>]  the names of all signals, or the name of one
     -L, --table            a table of all signals
     -h, --help             display this help and exit
     -V, --version          show the release that this command follows
    """,
    raw=True,
)
def kill(ctx: CommandContext, args: Arguments) -> int:
    words = list(args.operands)
    first = words[0] if words else ""
    if first in ("-h", "--help"):
        ctx.print(kill.usage, end="")
        return 0
    if first in ("-V", "--version"):
        ctx.stdout.write(encode(release_of("kill")))
        return 0
    if first in ("-L", "--table"):
        _print_table(ctx)
        return 0
    if first.startswith(("-l", "--list")):
        return _list(ctx, words)
    signal = SIGNAL_NUMBERS["TERM"]
    if first in ("-s", "--signal") or first.startswith("--signal="):
        words.pop(0)
        text = first.partition("=")[2] if "=" in first else words.pop(0) if words else None
        if text is None:
            return _refuse(ctx, "invalid argument s")
        signal = _number(text)
    elif first == "--":
        words.pop(0)
    elif len(first) > 1 and first[0] == "-":
        words.pop(0)
        signal = _number(first[1:])
        if signal == _UNKNOWN:
            return _refuse(ctx, f"invalid argument {first[1]}")
    if words[:1] == ["--"]:
        words.pop(0)
    if not words:
        return _refuse(ctx, "")
    for word in words:
        _send(ctx, word, signal)
    return ctx.status


def _refuse(ctx: CommandContext, message: str) -> int:
    start = f"{ctx.name}: {message}\n" if message else ""
    ctx.stderr.write(encode(f"{start}\n{kill.usage}"))
    return 1


def _number(text: str) -> int:
    """The number of a signal, 0 for none at all, `_UNKNOWN`."""
    if re.fullmatch("[0-9]{1,4}", text):
        return int(text) if int(text) <= 64 else _UNKNOWN
    return _NUMBERS.get(text.upper().removeprefix("SIG"), _UNKNOWN)


def _list(ctx: CommandContext, words: list[str]) -> int:
    first = words.pop(0)
    attached = first.removeprefix("--list").removeprefix("-l").removeprefix("=")
    names = [attached] if attached else words[:1]
    if not names or (not attached and names[0].startswith("-")):
        names = []
        shown = [_NAMES[number] for number in sorted(_NAMES)]
        ctx.print(f"{' '.join(shown[:16])}\n{' '.join(shown[16:])}")
    for name in names:
        if re.fullmatch("[0-9]{1,4}", name) and int(name) in _NAMES:
            ctx.print(_NAMES[int(name)])
        elif name.upper().removeprefix("SIG") in _NUMBERS:
            ctx.print(str(_NUMBERS[name.upper().removeprefix("SIG")]))
        else:
            ctx.warn(f"unknown signal name {name}", 0)
    return 0


def _print_table(ctx: CommandContext) -> None:
    cells = [f"{number:2d} {name}" for number, name in sorted(_NAMES.items())]
    rows = [cells[at : at + _COLUMNS] for at in range(0, len(cells), _COLUMNS)]
    for row in rows:
        padded = [cell.ljust(11) for cell in row]
        ctx.print("".join(padded).rstrip() if len(row) == _COLUMNS else "".join(padded))


def _send(ctx: CommandContext, text: str, signal: int) -> None:
    if not re.fullmatch(r"\s*[-+]?[0-9]+", text):
        ctx.warn(f"failed to parse argument: '{text}'" + ("" if text else ": No such file or directory"))
        return
    pid = int(text) if len(text) < 11 else 0
    scheduler = ctx.host.scheduler
    found = [process for process in running(ctx) if process.pid == abs(pid)] if pid else [scheduler.main]
    problem = ""
    if signal == _UNKNOWN:
        problem = "Invalid argument"
    elif pid == 1:
        problem = "Operation not permitted"
    elif not found:
        problem = "No such process"
    if problem:
        ctx.warn(f"({text.strip()}): {problem}")
        return
    for process in found:
        if signal in SIGNALS:
            process.kill(signal)
            if process is scheduler.current:
                scheduler.turn()
