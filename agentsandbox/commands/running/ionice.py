"""`ionice` (util-linux): run a program with another I/O priority."""

from __future__ import annotations

import re

from agentsandbox.commands._processes.programs import check_program
from agentsandbox.commands._suites import UTIL_LINUX
from agentsandbox.contract.command import Arguments, CommandContext, command
from agentsandbox.contract.manners import SILENT, Manners
from agentsandbox.errors import CommandError, UsageError

_CLASSES = {"none": 0, "realtime": 1, "best-effort": 2, "idle": 3}
_INT = 2**31


def _number(text: str, what: str) -> int:
    if not re.fullmatch(r"\s*[-+]?[0-9]+", text):
        raise CommandError(f"invalid {what} argument: '{text}'")
    if not -_INT <= int(text[:20]) < _INT:
        raise CommandError(f"invalid {what} argument: '{text}': Numerical result out of range")
    return int(text)


def _class_number(text: str) -> int:
    if text.isascii() and text.isdecimal():
        return _number(text, "class")
    if text.lower() not in _CLASSES:
        raise CommandError(f"unknown scheduling class: '{text}'")
    return _CLASSES[text.lower()]


@command(
    "ionice",
    manners=Manners(
        UTIL_LINUX,
        long_options="classdata class help ignore pid pgid uid version",
        unbuffered=True,
        closed_write_error=SILENT,
    ),
    usage="""
    Usage: ionice [options] <command>
    Run a command with another I/O scheduling class. A sandbox has no disk to schedule, so the class
    makes no difference.

     -c, --class=CLASS     0 to 3, or none, realtime, best-effort, idle
     -n, --classdata=NUM   priority 0 to 7
     -t, --ignore          ignore failures
     -h, --help            display this help
    """,
    permute=False,
)
def ionice(ctx: CommandContext, args: Arguments) -> int:
    if args.flag("class"):
        _class_number(args.value("class") or "")
    if args.flag("classdata"):
        _number(args.value("classdata") or "", "class data")
    sets = args.flag("class") or args.flag("classdata")
    if not args.operands:
        if sets:
            raise UsageError("bad usage")
        ctx.print("none: prio 0")
        return 0
    number = _class_number(args.value("class", "best-effort") or "")
    if number not in (0, 2, 3) and not args.flag("ignore"):
        reason = "Operation not permitted" if number == 1 else "Invalid argument"
        raise CommandError(f"ioprio_set failed: {reason}")
    check_program(ctx, args.operands[0], f"failed to execute {args.operands[0]}")
    return ctx.run(args.operands)
