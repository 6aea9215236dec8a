"""`fmt` (GNU coreutils): reformat paragraphs so that lines have nearly equal lengths."""

from __future__ import annotations

import re

from agentsandbox.commands._suites import COREUTILS
from agentsandbox.commands._text.lines import read_all
from agentsandbox.commands._text.quoting import quote_always
from agentsandbox.commands._text.sizes import parse_number
from agentsandbox.commands.pages.paragraphs import Formatter
from agentsandbox.contract.command import Arguments, CommandContext, command
from agentsandbox.contract.manners import Manners
from agentsandbox.errors import UsageError
from agentsandbox.kernel.streams import InputError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

_DEFAULT_WIDTH, _MAX_WIDTH = 75, 2500
_OBSOLETE = re.compile(r"-([0-9].*)", re.DOTALL)
_DIGIT = re.compile(r"-s*([0-9])")


def _rewrite(words: Sequence[str]) -> Sequence[str]:
    """`-60` as the first word."""
    found = _OBSOLETE.match(words[0]) if words else None
    if found is None:
        for word in words:
            if word == "--":
                break
            if (digit := _DIGIT.match(word)) is not None:
                only = "-WIDTH is recognized only when it is the first\noption; use -w N instead"
                raise UsageError(f"invalid option -- {digit[1]}; {only}")
        return words
    return [f"-w{found[1]}", *words[1:]]


@command(
    "fmt",
    manners=Manners(
        COREUTILS,
        bytewise=True,
        long_options="""
            crown-margin prefix split-only tagged-paragraph uniform-spacing width goal
            help version
        """,
        read_error=("NAME: read error", 1),
        closing_error="NAME: closing standard input: REASON",
    ),
    rewrite=_rewrite,
    usage="""
    Usage: fmt [-WIDTH] [OPTION]... [FILE]...
    Reformat each paragraph in the FILEs, writing to standard output.

    With no FILE, or when FILE is -, read standard input.

      -s, --split-only        split long lines, but do not join short ones
      -w, --width=WIDTH       at most WIDTH columns (75)
          --help              display this help and exit
    """,
)
def fmt(ctx: CommandContext, args: Arguments) -> int:
    text = args.value("width")
    width = _DEFAULT_WIDTH if text is None else parse_number(text, "width", high=_MAX_WIDTH)
    formatter = Formatter(ctx, width=width, split_only=args.flag("split-only"))
    for name in args.operands or ["-"]:
        try:
            data = read_all(ctx.budget, ctx.open_input(name))
        except InputError:
            raise
        except IsADirectoryError:
            ctx.warn("read error")
            continue
        except OSError as error:
            ctx.warn(f"cannot open {quote_always(name)} for reading: {error.strerror}")
            continue
        formatter.run(data)
    return ctx.status
