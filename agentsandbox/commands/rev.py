"""`rev` (util-linux): the characters of each line in reverse."""

from __future__ import annotations

import errno
import os
import re

from agentsandbox.command import Arguments, CommandContext, command
from agentsandbox.commands._lines import line_blocks
from agentsandbox.streams import decode, encode

_INVALID = re.compile("[\udc80-\udcff]")


@command(
    "rev",
    late=True,
    usage="""
    Usage: rev [OPTION]... [FILE]...
    Write each line with its characters in reverse.

    With no FILE, read standard input.

          --help   display this help and exit
    """,
)
def rev(ctx: CommandContext, args: Arguments) -> int:
    for name in args.operands or ["-"]:
        try:
            source = ctx.keep(ctx.fs.open(ctx.path(name), "r")) if args.operands else ctx.stdin
        except IsADirectoryError as error:
            ctx.warn(f"{name}: 0: {error.strerror}")
            continue
        except OSError as error:
            ctx.warn(f"cannot open {name}: {error.strerror}")
            continue
        number = 0
        for block in line_blocks(ctx.budget, source):
            text = decode(block)
            bad = _INVALID.search(text)
            whole = text if bad is None else text[: text.rfind("\n", 0, bad.start()) + 1]
            ctx.stdout.write(encode("\n".join([line[::-1] for line in whole.split("\n")])))
            number += whole.count("\n")
            if bad is not None:
                shown = "stdin" if name == "-" else name
                ctx.warn(f"{shown}: {number}: {os.strerror(errno.EILSEQ)}")
                break
    return ctx.status
