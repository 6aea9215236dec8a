"""`kill` (procps) as a program, for `xargs`, `find` and `env`; scripts get the shell's builtin."""

from __future__ import annotations

import re

from agentsandbox.commands._processes.listing import running
from agentsandbox.commands._suites import PROCPS
from agentsandbox.contract.command import Arguments, CommandContext, command
from agentsandbox.contract.manners import Manners
from agentsandbox.errors import CommandError
from agentsandbox.kernel.processes import SIGNAL_NUMBERS, SIGNALS
from agentsandbox.kernel.streams import encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

_NAMES = {
    number: "POLL" if name == "IO" else name for number, name in SIGNALS.items() if number < 32
}
"""Those for real time have no names for procps."""
_NUMBERS = {name: number for number, name in _NAMES.items()} | {"IO": SIGNAL_NUMBERS["IO"]}
_UNKNOWN = -1
_LONG_NUMBER = 11
"""More characters than the number of a process has."""


@command(
    "kill",
    manners=Manners(PROCPS),
    usage="""
    Usage:
     kill [options] <pid> [...]

    Options:
     <pid> [...]            the processes to send a signal to
     -<signal>, -s, --signal <signal>
                            which signal: a name or a number; TERM if not given
     -l, --list=[<signal>]  the names of all signals, or the name of one
     -h, --help             display this help and exit
     -V, --version          show the release that this command follows
    """,
    raw=True,
)
def kill(ctx: CommandContext, args: Arguments) -> int:
    words = list(args.operands)
    signal = _take_signal(words)
    pids: list[str] = []
    while words:
        word = words.pop(0)
        if word == "--":
            pids += words
            break
        if len(word) < 2 or word[0] != "-" or word[1].isdecimal():
            pids.append(word)
        elif word[1:2] == "s" or word.partition("=")[0] == "--signal":
            name, equals, value = (
                word.partition("=") if word[1] == "-" else (word[:2], word[2:], word[2:])
            )
            if not equals and not words:
                return _refuse(ctx, f"invalid argument {name.strip('-')[0]}")
            signal = _number(value if equals else words.pop(0))
        elif word.startswith("-l") or word.partition("=")[0] == "--list":
            return _list(ctx, [word, *words])
        else:
            inform = _INFORMING.get(word)
            if inform is None:
                return _refuse(ctx, f"invalid argument {word[1] if word[1] != '-' else chr(0)}")
            inform(ctx)
            return 0
    if not pids:
        return _refuse(ctx, "")
    for pid in pids:
        _send(ctx, pid, signal)
    return ctx.status


def _take_signal(words: list[str]) -> int:
    """Remove the first word that is a dash and a signal; return its number, or TERM's."""
    for at, word in enumerate(words):
        if len(word) > 1 and word[0] == "-" and (signal := _number(word[1:])) != _UNKNOWN:
            del words[at]
            return signal
    return SIGNAL_NUMBERS["TERM"]


def _refuse(ctx: CommandContext, message: str) -> int:
    start = f"{ctx.name}: {message}\n" if message else ""
    ctx.stderr.write(encode(f"{start}\n{kill.usage}"))
    return 1


def _number(text: str) -> int:
    """Return the number of a signal, 0 for no signal, or `_UNKNOWN`."""
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


def _send(ctx: CommandContext, text: str, signal: int) -> None:
    if not re.fullmatch(r"\s*[-+]?[0-9]+", text):
        raise CommandError(
            f"failed to parse argument: '{text}'" + ("" if text else ": No such file or directory")
        )
    pid = int(text) if len(text) < _LONG_NUMBER else None
    scheduler = ctx.host.scheduler
    found = (
        [scheduler.main]
        if pid == 0
        else [process for process in running(ctx) if pid is not None and process.pid == abs(pid)]
    )
    problem = ""
    if not found and pid != 1:
        problem = "No such process"
    elif signal == _UNKNOWN:
        problem = "Invalid argument"
    elif pid == 1:
        problem = "Operation not permitted"
    if problem:
        ctx.warn(f"({text.strip()}): {problem}")
        return
    for process in found:
        if signal in SIGNALS:
            process.kill(signal)
            if process is scheduler.current:
                scheduler.turn()


_INFORMING: dict[str, Callable[[CommandContext], None]] = {
    "-h": lambda ctx: ctx.print(kill.usage, end=""),
    "-V": lambda ctx: ctx.stdout.write(encode(kill.version())),
}
_INFORMING |= {"--help": _INFORMING["-h"], "--version": _INFORMING["-V"]}
