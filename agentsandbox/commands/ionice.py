"""`ionice` (util-linux): run a program with another I/O priority."""

from __future__ import annotations

import re

from agentsandbox.command import Arguments, CommandContext, command
from agentsandbox.commands._processes import running
from agentsandbox.commands._programs import check_program
from agentsandbox.commands._suites import UTIL_LINUX
from agentsandbox.errors import CommandError, UsageError
from agentsandbox.manners import SILENT, Manners

_CLASSES = {"none": 0, "realtime": 1, "best-effort": 2, "idle": 3}
_INT = 2**31
_SUBJECTS = {"pid": "PID", "pgid": "PGID", "uid": "UID"}


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


def _check_class(ctx: CommandContext, args: Arguments) -> None:
    """Refuse what the kernel would refuse, unless failures are ignored."""
    number = _class_number(args.value("class", "best-effort") or "")
    text = args.value("classdata")
    data = 4 if text is None else _number(text, "class data")
    ignore = args.flag("ignore")
    if number in (0, 3) and text is not None and not ignore:
        ctx.warn(f"ignoring given class data for {'idle' if number else 'none'} class", 0)
    elif number not in _CLASSES.values() and not ignore:
        ctx.warn(f"unknown prio class {number}", 0)
    if ignore:
        return
    if number & 7 == 1:
        raise CommandError("ioprio_set failed: Operation not permitted")
    if number & 7 > 3 or data < 0:  # the bits that the kernel looks at
        raise CommandError("ioprio_set failed: Invalid argument")


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
      or:  ionice -p PID | -P PGID | -u UID
    Run a command with another I/O scheduling class, or tell that of a process. A sandbox has no disk to schedule, so
    the class makes no difference, and that of a running process cannot be changed.

     -c, --class=CLASS     0 to 3, or none, realtime, best-effort, idle
     -n, --classdata=NUM   priority 0 to 7
     -p, --pid=PID         tell the class of this process, and of those that follow
     -P, --pgid=PGID       tell the class of this group
     -u, --uid=UID         tell the class of this user's processes
     -t, --ignore          ignore failures
     -h, --help            display this help
    """,
    permute=False,
)
def ionice(ctx: CommandContext, args: Arguments) -> int:
    subjects = [(key, value or "") for key, value in args.given if key in _SUBJECTS]
    numbers = [_number(value, _SUBJECTS[key]) for key, value in subjects]
    if len(subjects) > 1:
        raise CommandError("can handle only one of pid, pgid or uid at once")
    sets = args.flag("class") or args.flag("classdata")
    if subjects:
        numbers += [_number(word, _SUBJECTS[subjects[0][0]]) for word in args.operands]
        if sets:
            _class_number(args.value("class", "none") or "")
            raise CommandError("ioprio_set failed: Operation not permitted")
        for number in numbers:
            ctx.budget.step()
            _tell(ctx, subjects[0][0], number)
        return 0
    if not args.operands:
        if sets:
            raise UsageError("bad usage")
        ctx.print("none: prio 0")
        return 0
    if sets:
        _check_class(ctx, args)
    check_program(ctx, args.operands[0], f"failed to execute {args.operands[0]}")
    return ctx.run(args.operands)


def _tell(ctx: CommandContext, kind: str, number: int) -> None:
    known = {1000} if kind == "uid" else {0, 1, *(process.pid for process in running(ctx))}
    if number not in known:
        raise CommandError("ioprio_get failed: No such process")
    ctx.print("none: prio 0")
