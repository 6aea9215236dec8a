"""`more` (util-linux): without a terminal it copies its files, as there."""

from __future__ import annotations

from agentsandbox.command import Arguments, CommandContext, command
from agentsandbox.commands._lines import blocks
from agentsandbox.streams import encode

_RULE = "::::::::::::::\n"


@command(
    "more",
    usage="""
    Usage: more [OPTION]... FILE...
    Write each FILE, after a header with its name. There is no terminal to page on.

      -s, --squeeze      show several empty lines as one (on a terminal)
      -c, --print-over   do not scroll (nothing scrolls here)
      -d, --silent       tell what to do instead of ringing a bell
      -e, --exit-on-eof  exit at the end
      -f, --logical      count lines, not lines of the screen
      -l, --no-pause     do not stop at form feeds
      -n, --lines=NUM    lines of the screen
      -p, --clean-print  clear the screen first
      -u, --plain        no underlines
      -h, --help         display this help and exit

    -NUM is the same as -n NUM; +NUM and +/PATTERN tell where a terminal would start.
    """,
    digits="lines",
    rewrite=lambda words: [word for word in words if not (word.startswith("+") and len(word) > 1)],
)
def more(ctx: CommandContext, args: Arguments) -> int:
    if args.flag("help"):
        ctx.stdout.write(encode(more.usage))
        return 0
    names = args.operands or ["-"]
    for name in names:
        try:
            source = ctx.open_input(name)
        except IsADirectoryError:
            ctx.stdout.write(encode(f"\n*** {name}: directory ***\n\n"))
            continue
        except OSError as error:
            ctx.stderr.write(encode(f"{ctx.name}: cannot open {name}: {error.strerror}\n"))
            continue
        if args.operands:
            ctx.stdout.write(encode(f"{_RULE}{name}\n{_RULE}"))
        for block in blocks(ctx.budget, source):
            ctx.stdout.write(block)
    return 0
