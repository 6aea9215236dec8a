"""`nproc` (GNU coreutils): how many processors there are. A sandbox has one."""

from __future__ import annotations

import re

from agentsandbox.commands._suites import COREUTILS
from agentsandbox.commands._text.quoting import quote
from agentsandbox.commands._text.sizes import parse_number
from agentsandbox.contract.command import Arguments, CommandContext, command
from agentsandbox.contract.manners import Manners
from agentsandbox.errors import UsageError


def _ignored(text: str) -> int:
    return parse_number(text, "number")


@command(
    "nproc",
    manners=Manners(COREUTILS, long_options="all ignore help version"),
    values={"ignore": _ignored},
    usage="""
    Usage: nproc [OPTION]...
    Print the number of processing units available.

          --all       print the number of installed processors
          --ignore=N  if possible, exclude N processing units
          --help      display this help and exit
    """,
)
def nproc(ctx: CommandContext, args: Arguments) -> int:
    if args.operands:
        raise UsageError(f"extra operand {quote(args.operands[0])}")
    ctx.print(
        "1"
        if args.flag("all")
        else str(max(1, _processors(ctx) - _ignored(args.value("ignore", "0") or "")))
    )
    return 0


def _processors(ctx: CommandContext) -> int:
    """One, unless OpenMP's variables say otherwise."""
    wanted, limit = (
        _threads(ctx.env.get(name, "")) for name in ("OMP_NUM_THREADS", "OMP_THREAD_LIMIT")
    )
    return min(wanted or 1, limit or wanted or 1)


def _threads(text: str) -> int:
    found = re.match(r"[ \t\n\v\f\r]*([0-9]{1,18})[ \t\n\v\f\r]*(?:,|\Z)", text)
    return int(found[1]) if found is not None else 0
