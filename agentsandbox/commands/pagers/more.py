"""`more` (util-linux): without a terminal it copies its files, as there."""

from __future__ import annotations

import re

from agentsandbox.commands._suites import UTIL_LINUX
from agentsandbox.commands._text.lines import blocks
from agentsandbox.contract.command import Arguments, CommandContext, command
from agentsandbox.contract.manners import SILENT, Manners
from agentsandbox.errors import CommandError
from agentsandbox.kernel.streams import encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.kernel.streams import ByteReader

_PROGRAMS = frozenset((b"\x05\x01", b"\x07\x01", b"\x08\x01", b"\x09\x01", b"\x0b\x01", b"\x7fE"))
"""How programs begin, which are not shown."""
_MOST = 2**16 - 1
_RULE = "::::::::::::::\n"


def _lines(text: str) -> int:
    if not re.fullmatch(r"[ \t]*\+?[0-9]+", text):
        raise CommandError(f"argument error: '{text}'")
    if int(text[:40]) > _MOST:
        raise CommandError(f"argument error: '{text}': Numerical result out of range")
    return int(text)


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
    values={"lines": _lines},
    usage="""
    Usage: more [OPTION]... FILE...
    Write standard input, then each FILE after a header with its name. There is no terminal to page on.

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
    if args.flag("help"):
        ctx.stdout.write(encode(more.usage))
        return 0
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
        _show(ctx, name, source)
    return 0


def _show(ctx: CommandContext, name: str, source: ByteReader) -> None:
    start = source.read(2)
    if start in _PROGRAMS:
        ctx.stdout.write(encode(f"\n******** {name}: Not a text file ********\n\n"))
        return
    ctx.stdout.write(encode(f"{_RULE}{name}\n{_RULE}") + start)
    for block in blocks(ctx.budget, source):
        ctx.stdout.write(block)
