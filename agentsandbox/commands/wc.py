"""`wc` (POSIX 1003.1-2017, GNU coreutils): count lines, words, characters and bytes."""

from __future__ import annotations

import errno
import stat as stat_module

from agentsandbox.commands._suites import COREUTILS
from agentsandbox.commands._text.lines import shown_name
from agentsandbox.contract.command import Arguments, CommandContext, command
from agentsandbox.contract.manners import Manners
from agentsandbox.kernel.streams import BLOCK, InputError, encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from agentsandbox.kernel.streams import ByteReader

_COLUMNS = ("lines", "words", "chars", "bytes", "max-line-length")
_NOTHING = dict.fromkeys(_COLUMNS, 0)
"""What was counted in one file, or in all of them, before anything was."""
_OF_TEXT = frozenset(("words", "chars", "max-line-length"))
_PAGE = 4096
_STDIN = "'standard input'"


def _count(ctx: CommandContext, source: ByteReader, wanted: Sequence[str]) -> dict[str, int]:
    counts = _NOTHING.copy()
    if _OF_TEXT.isdisjoint(wanted):
        while block := source.read(4 * BLOCK):
            ctx.budget.step()
            counts["bytes"] += len(block)
            counts["lines"] += block.count(b"\n")
        return counts
    from agentsandbox.commands._text.counts import count_text

    count_text(ctx, source, wanted, counts)
    return counts


def _size_at_once(source: ByteReader) -> int | None:
    """`wc -c` of a regular file needs no reading; None otherwise."""
    if not hasattr(source, "stat") or not hasattr(source, "seek"):
        return None
    info = source.stat()
    if not info.is_file or not info.size:
        return None
    try:
        position: int = source.seek(0, 1)
        if info.size % _PAGE == 0:  # GNU trusts other sizes, and leaves the position where it is
            source.seek(0, 2)
    except OSError:
        return None
    return max(0, int(info.size) - position)


def _number_width(ctx: CommandContext, names: Sequence[str], wanted: Sequence[str]) -> int:
    """Return GNU's column width: the digits of all sizes together, 7 if one is unknown."""
    if len(names) == 1 and len(wanted) == 1:
        return 1
    smallest, total = 1, 0
    for name in names:
        try:
            if name == "-" and ctx.stdin.unreadable == errno.EBADF:
                continue
            if name != "-":
                info = ctx.fs.stat(ctx.path(name))
            elif hasattr(ctx.stdin, "stat"):
                info = ctx.stdin.stat()
            else:
                smallest = 7
                continue
        except OSError:
            continue
        if stat_module.S_ISREG(info.mode):
            total += info.size
        else:
            smallest = 7
    return max(smallest, len(str(total)))


def _write(
    ctx: CommandContext,
    counts: dict[str, int],
    wanted: Sequence[str],
    width: int,
    name: str | None,
) -> None:
    shown = " ".join([str(counts[column]).rjust(width) for column in wanted])
    if name is not None:
        shown += (
            f" {name}" if "\n" not in name else " " + "'" + name.replace("\n", "'$'\\n''") + "'"
        )
    ctx.stdout.write(encode(shown + "\n"))


@command(
    "wc",
    manners=Manners(
        COREUTILS,
        pure=True,
        bytewise=True,
        long_options="""
            bytes chars lines words debug files0-from max-line-length help version
        """,
        closing_error="NAME: -: REASON",
        full_write_error=("NAME: write error", 1),
    ),
    usage="""
    Usage: wc [OPTION]... [FILE]...
    Print newline, word and byte counts for each FILE, and a total line for several.

    With no FILE, or when FILE is -, read standard input. A word is a run of characters between
    white space.

      -c, --bytes             print the byte counts
      -m, --chars             print the character counts
      -l, --lines             print the newline counts
      -L, --max-line-length   print the widest display column of a line
      -w, --words             print the word counts
          --help              display this help and exit
    """,
)
def wc(ctx: CommandContext, args: Arguments) -> int:
    given = dict(args.given)
    wanted = [column for column in _COLUMNS if column in given] or ["lines", "words", "bytes"]
    names = args.operands or ["-"]
    width = _number_width(ctx, names, wanted)
    total = _NOTHING.copy()
    for name in names:
        if not name:
            ctx.warn("invalid zero-length file name")
            continue
        try:
            source = ctx.open_input(name)
        except IsADirectoryError as error:
            ctx.warn_os(error, shown_name(name) if args.operands else _STDIN)
            _write(ctx, _NOTHING, wanted, width, name if args.operands else None)
            continue
        except OSError as error:
            ctx.warn_os(error, shown_name(name))
            continue
        size = _size_at_once(source) if wanted == ["bytes"] else None
        if size is None:
            try:
                counts = _count(ctx, source, wanted)
            except InputError as error:
                ctx.warn(f"{name if args.operands else _STDIN}: {error.strerror}")
                counts = _NOTHING
        else:
            counts = {**_NOTHING, "bytes": size}
        _write(ctx, counts, wanted, width, name if args.operands else None)
        if len(names) > 1:
            for column in wanted:
                added = total[column], counts[column]
                total[column] = max(added) if column == "max-line-length" else sum(added)
    if len(names) > 1:
        _write(ctx, total, wanted, width, "total")
    return ctx.status
