"""`rev` (util-linux): the characters of each line in reverse."""

from __future__ import annotations

import errno
import os
import re

from agentsandbox.commands._suites import UTIL_LINUX
from agentsandbox.commands._text.lines import line_blocks
from agentsandbox.contract.command import Arguments, CommandContext, command
from agentsandbox.contract.manners import SILENT, Manners
from agentsandbox.kernel.streams import decode, encode

_INVALID = re.compile("[\udc80-\udcff]")


def _before_nul(lines: list[str], held: list[str]) -> list[str]:
    """Return the lines as `rev` sees them.

    A NUL hides the rest of its line and the end of it, so that the next line is `held` for it.
    """
    found = []
    for line in lines[:-1]:
        text, nul, _ = line.partition("\0")
        if text or nul:
            held.append(text)
        if not nul:
            found.append("".join(held))
            held.clear()
    text, nul, _ = lines[-1].partition("\0")
    if text:
        held.append(text)
    return [*found, ""]


@command(
    "rev",
    manners=Manners(
        UTIL_LINUX,
        pure=True,
        long_options="version help",
        read_error=("NAME: stdin: 0: REASON", 1),
        closed_write_error=SILENT,
    ),
    late=True,
    usage="""
    Usage: rev [OPTION]... [FILE]...
    Write each line with its characters in reverse.

    With no FILE, read standard input.

      -h, --help   display this help and exit
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
        held: list[str] = []
        for block in line_blocks(ctx.budget, source):
            text = decode(block)
            bad = _INVALID.search(text)
            whole = text if bad is None else text[: text.rfind("\n", 0, bad.start()) + 1]
            shown_lines = whole.split("\n")
            if held or "\0" in whole:
                ctx.budget.step(len(shown_lines))
                shown_lines = _before_nul(shown_lines, held)
            ctx.stdout.write(encode("\n".join([line[::-1] for line in shown_lines])))
            number += whole.count("\n")
            if bad is not None:
                ctx.stdout.write(encode("".join(held)[::-1]))
                held.clear()
                shown = "stdin" if name == "-" else name
                ctx.warn(f"{shown}: {number}: {os.strerror(errno.EILSEQ)}")
                break
        ctx.stdout.write(encode("".join(held)[::-1]))
    return ctx.status
