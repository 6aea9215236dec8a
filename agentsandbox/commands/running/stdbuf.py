"""`stdbuf` (GNU coreutils): run a program with other buffering of its streams."""

from __future__ import annotations

import re

from agentsandbox.commands._processes.programs import check_program
from agentsandbox.commands._suites import COREUTILS
from agentsandbox.commands._text.quoting import quote
from agentsandbox.contract.command import Arguments, CommandContext, command
from agentsandbox.contract.manners import Manners
from agentsandbox.errors import CommandError, UsageError


@command(
    "stdbuf",
    manners=Manners(COREUTILS, long_options="input output error help version", unbuffered=True),
    usage="""
    Usage: stdbuf OPTION... COMMAND
    Run COMMAND with modified buffering of its standard streams. The streams of a sandbox hold
    nothing back, so the modes are checked and then make no difference.

      -i, --input=MODE   adjust standard input
      -o, --output=MODE  adjust standard output
      -e, --error=MODE   adjust standard error
          --help         display this help and exit

    MODE is L for lines, 0 for no buffering, or a size in bytes.
    """,
    permute=False,
    usage_status=125,
)
def stdbuf(ctx: CommandContext, args: Arguments) -> int:
    for key, value in args.given:
        if value == "L" and key == "input":
            raise UsageError("line buffering stdin is meaningless")
        if value != "L":
            found = re.fullmatch(r"[0-9]+([A-Za-z]*)", value or "")
            if found is None or found[1] not in ("", "K", "KB", "M", "MB", "G", "GB"):
                raise CommandError(f"invalid mode {quote(value or '')}", 125)
    if not args.operands:
        raise UsageError("missing operand")
    if not args.given:
        raise UsageError("you must specify a buffering mode option")
    check_program(ctx, args.operands[0], f"failed to run command {quote(args.operands[0])}")
    return ctx.run(args.operands)
