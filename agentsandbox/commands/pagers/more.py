"""`more` (util-linux): without a terminal it copies its files, as there."""

from __future__ import annotations

from agentsandbox.commands._suites import UTIL_LINUX
from agentsandbox.commands._text.lines import blocks
from agentsandbox.contract.command import Arguments, CommandContext, command
from agentsandbox.contract.manners import SILENT, Manners
from agentsandbox.kernel.streams import encode

_RULE = "::::::::::::::\n"


@command(
    "more",
    manners=Manners(
        UTIL_LINUX,
        long_options="""
            silent logical no-pause print-over clean-print exit-on-eof squeeze plain
            lines version help
        """,
        write_error=SILENT,
    ),
    usage="""
    Usage: more [OPTION]... FILE...
    Write standard input, then each FILE after a header with its name. There is no terminal to
    page on.

      -s, --squeeze      show several empty lines as one (on a terminal)
      -d, --silent       tell what to do instead of ringing a bell
      -e, --exit-on-eof  exit at the end
      -n, --lines=NUM    lines of the screen
      -h, --help         display this help and exit

    -NUM is the same as -n NUM; +NUM and +/PATTERN tell where a terminal would start.
    """,
    digits="lines",
    rewrite=lambda words: [word for word in words if not (word.startswith("+") and len(word) > 1)],
)
def more(ctx: CommandContext, args: Arguments) -> int:
    if not ctx.stdin.unreadable:
        for block in blocks(ctx.budget, ctx.stdin):
            ctx.stdout.write(block)
    for name in args.operands:
        try:
            source = ctx.keep(ctx.fs.open(ctx.path(name), "r"))
        except IsADirectoryError:
            ctx.stdout.write(encode(f"\n*** {name}: directory ***\n\n"))
            continue
        except OSError as error:
            ctx.stderr.write(encode(f"{ctx.name}: cannot open {name}: {error.strerror}\n"))
            continue
        ctx.stdout.write(encode(f"{_RULE}{name}\n{_RULE}"))
        for block in blocks(ctx.budget, source):
            ctx.stdout.write(block)
    return 0
