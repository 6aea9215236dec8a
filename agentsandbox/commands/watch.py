"""`watch` (procps): run a command again and again. There is no screen to redraw here: each run is printed below the last."""

from __future__ import annotations

import os
import re

from agentsandbox.command import Arguments, CommandContext, command
from agentsandbox.commands._programs import find_problem
from agentsandbox.commands._suites import PROCPS
from agentsandbox.errors import CommandError
from agentsandbox.languages.strftime import strftime
from agentsandbox.manners import Manners
from agentsandbox.streams import Buffer, decode, encode

_SHORTEST = 0.1
_LONGEST = 4294967.0
_NUMBER = re.compile(r"[ \t]*[+-]?(?:[0-9]+(?:[.,][0-9]*)?|[.,][0-9]+)\Z")
_CYCLES = re.compile(r"[ \t]*\+?[0-9]{1,9}\Z")


def _refuse(text: str, reason: str = "") -> CommandError:
    reason = reason or ("Invalid argument" if text else "No such file or directory")
    return CommandError(f"failed to parse argument: '{text}': {reason}")


def _interval(text: str) -> float:
    """Seconds between two runs."""
    if not _NUMBER.match(text) or len(text) > 300:
        raise _refuse(text)
    return min(max(float(text.replace(",", ".")), _SHORTEST), _LONGEST)


def _cycles(text: str) -> int:
    if not _CYCLES.match(text):
        raise _refuse(text)
    return max(int(text), 1)


def _header(ctx: CommandContext, interval: float, words: list[str]) -> str:
    """The interval and the command at the left, host and time at the right."""
    left = f"Every {interval:.1f}s: "
    right = f"{ctx.host.hostname}: {strftime(int(ctx.host.clock()), '%c', ctx.env.get('TZ', ''))}"
    room = ctx.host.columns - len(left) - len(right) - 1
    shown = " ".join(words)
    if len(shown) > room > 4:
        shown = shown[: room - 4] + "... "
    return f"{(left + shown).ljust(ctx.host.columns - len(right))}{right}\n\n"


def _run(ctx: CommandContext, words: list[str], *, direct: bool) -> tuple[int, bytes]:
    """The status and everything the command wrote."""
    output = Buffer(ctx.budget.value_bytes)
    if not direct:
        status = ctx.run(["sh", "-c", " ".join(words)], stdout=output, stderr=output)
    elif problem := find_problem(ctx, words[0]):
        output.write(encode(f"{ctx.name}: unable to execute '{words[0]}': {os.strerror(problem)}\n"))
        status = 4
    else:
        status = ctx.run(words, stdout=output, stderr=output)
    return status, output.getvalue()


def _cut_lines(ctx: CommandContext, data: bytes) -> bytes:
    """No line longer than the terminal is wide."""
    ctx.budget.step(len(data) // 1024 + 1)
    return encode("\n".join([line[: ctx.host.columns] for line in decode(data).split("\n")]))


@command(
    "watch",
    manners=Manners(
        PROCPS,
        long_options="""
            color differences help interval beep errexit chgexit equexit exec precise
            no-title no-wrap version
        """,
    ),
    usage="""
    Usage:
     watch [options] command
    Run a command again and again, until it changes, fails, or something ends watch: call it under timeout. Each run is printed
    in full below the last one, under a header; there is no screen to redraw.

    Options:
      -b, --beep             write a BEL if the command ends with another status than 0
      -c, --color            pass colors on: always so
      -d, --differences[=PERMANENT]  accepted: only a screen could highlight changes
      -e, --errexit          end when the command does, with status 8
      -g, --chgexit          end when the output changes
      -q, --equexit=CYCLES   end when the output has not changed for so many runs
      -n, --interval=SECS    seconds between two runs: 2 if not given, at least 0.1
      -p, --precise          count the time of a run as part of the interval
      -t, --no-title         print no header
      -w, --no-wrap          cut lines that are longer than the terminal is wide
      -x, --exec             run the command itself, not "sh -c"

     -h, --help     display this help and exit
     -v, --version  show the release that this command follows
    """,
    permute=False,
)
def watch(ctx: CommandContext, args: Arguments) -> int:
    if args.flag("version"):
        ctx.stdout.write(encode(watch.version()))
        return 0
    words = list(args.operands)
    interval = _interval(args.value("interval", ctx.env.get("WATCH_INTERVAL") or "2") or "")
    equal = args.value("equexit")
    cycles = None if equal is None else _cycles(equal)
    if not words:
        ctx.stderr.write(encode(watch.usage))
        return 1
    ctx.stderr.write(b"watch: there is no screen: each run is printed below the last (D-watch)\n")
    precise, scheduler = args.flag("precise"), ctx.host.scheduler
    before: bytes | None = None
    same = 0
    while True:
        ctx.budget.step()
        began = ctx.budget.remaining()
        if not args.flag("no-title"):
            ctx.print(_header(ctx, interval, words), end="")
        status, output = _run(ctx, words, direct=args.flag("exec"))
        ctx.stdout.write(_cut_lines(ctx, output) if args.flag("no-wrap") else output)
        if status and args.flag("beep"):
            ctx.stdout.write(b"\a")
        if status and args.flag("errexit"):
            ctx.print("command exit with a non-zero status")
            return 8
        if before is not None:
            same = same + 1 if before == output else 0
            if (args.flag("chgexit") and not same) or (cycles is not None and same >= cycles):
                return 0
        before = output
        scheduler.sleep(max(0.0, interval - (began - ctx.budget.remaining())) if precise else interval)
