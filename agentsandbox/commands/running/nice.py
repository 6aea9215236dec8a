"""`nice` (POSIX 1003.1-2017, GNU coreutils): run a program with another scheduling priority."""

from __future__ import annotations

import re

from agentsandbox.commands._processes.programs import check_program
from agentsandbox.commands._suites import COREUTILS
from agentsandbox.commands._text.quoting import quote
from agentsandbox.contract.command import Arguments, CommandContext, command
from agentsandbox.contract.manners import Manners
from agentsandbox.errors import CommandError, UsageError

_DEFAULT, _NICEST, _RANGE = 10, 19, 39


@command(
    "nice",
    manners=Manners(
        COREUTILS,
        bytewise=True,
        long_options="adjustment help version",
        unbuffered=True,
        write_error=("NAME: write error: REASON", 125),
    ),
    usage="""
    Usage: nice [OPTION] [COMMAND [ARG]...]
    Run COMMAND with an adjusted niceness; without one, print the niceness. All processes of a
    sandbox take turns evenly, so it makes a difference to the output of `nice` and `ps` only.

      -n, --adjustment=N  add the integer N to the niceness (10 if not given)
          --help          display this help and exit
    """,
    permute=False,
    usage_status=125,
    digits="adjustment",
)
def nice(ctx: CommandContext, args: Arguments) -> int:
    adjustment = args.value("adjustment")
    if adjustment is not None and not re.fullmatch(r"[ \t]*[-+]?[0-9]+", adjustment):
        raise CommandError(f"invalid adjustment {quote(adjustment)}", 125)
    process = ctx.host.scheduler.current
    if not args.operands:
        if adjustment is not None:
            raise UsageError("a command must be given with an adjustment")
        ctx.print(str(process.niceness))
        return 0
    wanted = min(process.niceness + _number(adjustment), _NICEST)
    if wanted < process.niceness:
        ctx.warn("cannot set niceness: Permission denied", 0)
        wanted = process.niceness
    check_program(ctx, args.operands[0], quote(args.operands[0]))
    before, process.niceness = process.niceness, wanted
    try:
        return ctx.run(args.operands)
    finally:
        process.niceness = before


def _number(text: str | None) -> int:
    """Return the adjustment, cut to the range that makes a difference."""
    number = _DEFAULT if text is None else int(text.strip()[:18])
    return max(-_RANGE, min(number, _RANGE))
