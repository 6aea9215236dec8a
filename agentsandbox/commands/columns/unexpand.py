"""`unexpand` (POSIX 1003.1-2017, GNU coreutils): spaces to tabs. A column is a byte."""

from __future__ import annotations

from agentsandbox.commands._suites import COREUTILS
from agentsandbox.commands.columns.tab_stops import TabStops, joined_blocks
from agentsandbox.contract.command import Arguments, CommandContext, command
from agentsandbox.contract.manners import Manners
from agentsandbox.kernel.expressions import lazily, lazily_bytes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

_OBSOLETE = lazily(r"-([0-9][0-9,]*)\Z")
_PARTS = lazily_bytes(rb"[ \t]+|\x08|[^ \t\x08]+")
_INDENT = lazily_bytes(rb"[ \t]*")
_LINE = lazily_bytes(rb"[^\n]*\n|[^\n]+")


def _rewrite(words: Sequence[str]) -> list[str]:
    """`-4` and `-4,8` are `-t 4` and `-t 4,8`, of the beginnings of lines."""
    rewritten: list[str] = []
    for at, word in enumerate(words):
        if word == "--":
            return [*rewritten, *words[at:]]
        found = None if at and words[at - 1] in ("-t", "--tabs") else _OBSOLETE.match(word)
        rewritten += [word] if found is None else [f"-t{found[1]}", "--first-only"]
    return rewritten


def _convert(run: bytes, column: int, stops: TabStops) -> tuple[bytes, int]:
    """Return what a run of blanks at a column becomes, and the column behind it."""
    end, at = column, 0
    while at < len(run) and (stop := stops.find(end)) is not None:
        end = stop if run[at] == 9 else end + 1
        at += 1
    if run[:at] in (b"", b" "):
        return run, column + len(run)
    tabs = 0
    while (stop := stops.find(column)) is not None and stop <= end:
        column = stop
        tabs += 1
    rest = run[at:]
    return b"\t" * tabs + b" " * (end - column) + rest, end + len(rest)


def _unexpand_line(ctx: CommandContext, line: bytes, stops: TabStops) -> bytes:
    column = 0
    found = []
    for part in _PARTS.findall(line):
        ctx.budget.step(len(part) // 16 + 1)
        if part[0] in b" \t":
            part, column = _convert(part, column, stops)
        else:
            column = max(0, column - 1) if part == b"\b" else column + len(part)
        found.append(part)
    return b"".join(found)


@command(
    "unexpand",
    manners=Manners(
        COREUTILS,
        bytewise=True,
        long_options="tabs all first-only help version",
        closing_error="NAME: -: REASON",
    ),
    rewrite=_rewrite,
    usage="""
    Usage: unexpand [OPTION]... [FILE]...
    Convert blanks at the beginning of the lines of each FILE to tabs, writing to standard output.

    With no FILE, or when FILE is -, read standard input.

      -a, --all          convert all blanks
          --first-only   convert only blanks at the beginning (overrides -a)
      -t, --tabs=LIST    tab stops every N columns (8), or at the columns of a LIST; implies -a
          --help         display this help and exit
    """,
)
def unexpand(ctx: CommandContext, args: Arguments) -> int:
    stops = TabStops(args.values("tabs"))
    whole = (args.flag("all") or args.flag("tabs")) and not args.flag("first-only")
    for block in joined_blocks(ctx, args.operands):
        if b"  " not in block and b"\t" not in block:
            ctx.stdout.write(block)
            continue
        found = []
        for line in _LINE.findall(block):
            end = len(line) if whole else _INDENT.match(line).end()  # type: ignore[union-attr]
            found.append(_unexpand_line(ctx, line[:end], stops) + line[end:])
        ctx.stdout.write(b"".join(found))
    return ctx.status
