"""`nice` (POSIX 1003.1-2017, GNU coreutils): run a program with another scheduling priority."""

from __future__ import annotations

import re

from agentsandbox.command import Arguments, CommandContext, command
from agentsandbox.commands._programs import check_program
from agentsandbox.commands._quoting import quote
from agentsandbox.errors import CommandError, UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence


def _rewrite(words: Sequence[str]) -> Sequence[str]:
    """`-5`, `--5` and `-+5` as the first words."""
    rewritten: list[str] = []
    rest = list(words)
    while rest and (found := re.fullmatch(r"-([-+]?[0-9]+)", rest[0])):
        rewritten += ["-n", found[1]]
        del rest[0]
    return rewritten + rest


@command(
    "nice",
    usage="""
    Usage: nice [OPTION] [COMMAND [ARG]...]
    Run COMMAND with an adjusted niceness; without one, print the niceness. All processes of a sandbox take turns
    evenly, so the adjustment is checked and then makes no difference.

      -n, --adjustment=N  add the integer N to the niceness (10 if not given)
          --help          display this help and exit
    """,
    permute=False,
    usage_status=125,
    rewrite=_rewrite,
)
def nice(ctx: CommandContext, args: Arguments) -> int:
    adjustment = args.value("adjustment")
    if adjustment is not None and not re.fullmatch(r"[ \t]*[-+]?[0-9]+", adjustment):
        raise CommandError(f"invalid adjustment {quote(adjustment)}", 125)
    if not args.operands:
        if adjustment is not None:
            raise UsageError("a command must be given with an adjustment")
        ctx.print("0")
        return 0
    check_program(ctx, args.operands[0], quote(args.operands[0]))
    return ctx.run(args.operands)
