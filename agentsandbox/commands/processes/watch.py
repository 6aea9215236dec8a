"""`watch` (procps): run a command again and again; each run is printed below the last."""

from __future__ import annotations

import os
import re

from agentsandbox.commands._processes.programs import find_problem
from agentsandbox.commands._suites import PROCPS
from agentsandbox.contract.command import Arguments, CommandContext, command
from agentsandbox.contract.manners import Manners
from agentsandbox.errors import CommandError
from agentsandbox.kernel.formats.strftime import strftime
from agentsandbox.kernel.streams import Buffer, encode

_SHORTEST = 0.1
_LONGEST = 4294967.0
_NUMBER = re.compile(r"[ \t]*[+-]?(?:[0-9]+(?:[.,][0-9]*)?|[.,][0-9]+)\Z")


def _refuse(text: str, reason: str = "") -> CommandError:
    reason = reason or ("Invalid argument" if text else "No such file or directory")
    return CommandError(f"failed to parse argument: '{text}': {reason}")


def _interval(text: str) -> float:
    """Return the seconds between two runs."""
    if not _NUMBER.match(text) or len(text) > 300:
        raise _refuse(text)
    return min(max(float(text.replace(",", ".")), _SHORTEST), _LONGEST)


def _header(ctx: CommandContext, interval: float, words: list[str]) -> str:
    """Return the header: interval and command at the left, host and time at the right."""
    left = f"Every {interval:.1f}s: "
    right = f"{ctx.host.hostname}: {strftime(int(ctx.host.clock()), '%c', ctx.env.get('TZ', ''))}"
    room = ctx.host.columns - len(left) - len(right) - 1
    shown = " ".join(words)
    if len(shown) > room > 4:
        shown = shown[: room - 4] + "... "
    return f"{(left + shown).ljust(ctx.host.columns - len(right))}{right}\n\n"


def _run(ctx: CommandContext, words: list[str], *, direct: bool) -> tuple[int, bytes]:
    """Run the command; return its status and its output."""
    output = Buffer(ctx.budget.value_bytes)
    if not direct:
        status = ctx.run(["sh", "-c", " ".join(words)], stdout=output, stderr=output)
    elif problem := find_problem(ctx, words[0]):
        output.write(
            encode(f"{ctx.name}: unable to execute '{words[0]}': {os.strerror(problem)}\n")
        )
        status = 4
    else:
        status = ctx.run(words, stdout=output, stderr=output)
    return status, output.getvalue()


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
    Run a command again and again, until it changes, fails, or something ends watch: call it under
    timeout. Each run is printed in full below the last one, under a header; there is no screen to
    redraw.

    Options:
      -c, --color            pass colors on: always so
      -d, --differences[=PERMANENT]  accepted: only a screen could highlight changes
      -e, --errexit          end when the command does, with status 8
      -g, --chgexit          end when the output changes
      -n, --interval=SECS    seconds between two runs: 2 if not given, at least 0.1
      -t, --no-title         print no header
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
    if not words:
        ctx.stderr.write(encode(watch.usage))
        return 1
    ctx.stderr.write(b"watch: there is no screen: each run is printed below the last (D-watch)\n")
    before: bytes | None = None
    while True:
        ctx.budget.step()
        if not args.flag("no-title"):
            ctx.print(_header(ctx, interval, words), end="")
        status, output = _run(ctx, words, direct=args.flag("exec"))
        ctx.stdout.write(output)
        if status and args.flag("errexit"):
            ctx.print("command exit with a non-zero status")
            return 8
        if args.flag("chgexit") and before not in (None, output):
            return 0
        before = output
        ctx.host.scheduler.sleep(interval)
