"""`wc` (POSIX 1003.1-2017, GNU coreutils): count lines, words, characters and bytes."""

from __future__ import annotations

import codecs
import errno
import re
import stat as stat_module

from agentsandbox.commands._suites import COREUTILS
from agentsandbox.commands._text.lines import line_blocks, shown_name
from agentsandbox.commands._text.quoting import is_printable, quote_always
from agentsandbox.commands._text.widths import text_width
from agentsandbox.contract.command import Arguments, CommandContext, command
from agentsandbox.contract.manners import Manners
from agentsandbox.kernel.expressions import lazily
from agentsandbox.kernel.streams import BLOCK, InputError, decode, encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from agentsandbox.kernel.budget import Budget
    from agentsandbox.kernel.streams import ByteReader

_COLUMNS = ("lines", "words", "chars", "bytes", "max-line-length")
_NOTHING = dict.fromkeys(_COLUMNS, 0)
"""What was counted in one file, or in all of them, before anything was."""
_OF_TEXT = frozenset(("words", "chars", "max-line-length"))
_PAGE = 4096
_PRINTABLE_AND_SPACE = bytes(range(9, 14)) + bytes(range(32, 127))
_PLAIN = b"\n" + bytes(range(32, 127))
_NEITHER = bytes([*range(9), *range(14, 32), *range(127, 256)])
"""Bytes that are neither white space nor graphic."""
_BEYOND = bytes(range(128, 256))
_CONTINUATION = bytes(range(0x80, 0xC0))
_SPACES = "\t\n\v\f\r \xa0\u1680\u2000-\u200a\u202f\u205f\u2060\u3000"
_UNLIKE_SPLIT = lazily("[\x1c-\x1f\x85\u2028\u2029\u2060]")
"""Only one of `str.split` and wc takes these for white space."""
_WORD = lazily(f"[^{_SPACES}]+")
_PIECE = 1 << 16
"""Bytes whose words are counted in one go."""


def _count_words(budget: Budget, block: bytes) -> int:
    """Return the number of words, in pieces that end behind a blank or newline."""
    if len(block) <= _PIECE:
        return _count_short(block)
    count = start = 0
    while start < len(block):
        budget.step(_PIECE // 256)
        stop = start + _PIECE
        end = max(block.rfind(b" ", start, stop), block.rfind(b"\n", start, stop)) + 1
        if not end and len(block) > stop:
            return count + _count_long_words(budget, block, start)
        end = end or len(block)
        count += _count_short(block[start:end])
        start = end
    return count


def _count_long_words(budget: Budget, block: bytes, start: int) -> int:
    """Count the words from `start` on, each of which may reach over several pieces."""
    decoder = codecs.getincrementaldecoder("utf-8")("surrogateescape")
    count = 0
    is_open = counted = False  # a word at the end of the last piece, and whether it is printable
    for piece in budget.pieces(memoryview(block)[start:]):
        text = decoder.decode(piece)
        words = _WORD.findall(text)
        for number, word in enumerate(words):
            goes_on = not number and is_open and text.startswith(word)
            if not (goes_on and counted):
                counted = word.isprintable() or any(map(is_printable, set(word)))
                count += counted
        if text:
            is_open = bool(words) and text.endswith(words[-1])
    return count


def _count_short(block: bytes) -> int:
    """Words are runs without white space that hold a printable character."""
    if not block.translate(None, _PRINTABLE_AND_SPACE):
        return len(block.split())
    text = decode(block)
    words = _WORD.findall(text) if _UNLIKE_SPLIT.search(text) else text.split()
    if "".join(words).isprintable():
        return len(words)
    return sum([word.isprintable() or any(map(is_printable, set(word))) for word in words])


def _count_characters(block: bytes) -> int:
    if block.isascii():
        return len(block)
    try:
        str(block, "utf-8")
    except UnicodeDecodeError:
        return len(str(block, "utf-8", "ignore"))
    return len(block.translate(None, _CONTINUATION))


def _widest(budget: Budget, block: bytes) -> int:
    """Return the width of the widest line; tabs stop every 8, `\\r` and `\\f` start again."""
    if not block.translate(None, _PLAIN):
        return max(map(len, block.split(b"\n")))
    widest = 0
    for line in re.split("[\n\r\f]", decode(block)):
        *parts, last = line.split("\t")
        column = 0
        for part in parts:
            column = (column + text_width(part, budget)) // 8 * 8 + 8
        widest = max(widest, column + text_width(last, budget))
    return widest


def _count_bytewise(
    budget: Budget, block: bytes, wanted: Sequence[str], counts: dict[str, int]
) -> None:
    """Count words and widths in the locale C, where only ASCII is printable."""
    counts["chars"] += len(block)
    if "words" in wanted:
        counts["words"] += len(block.translate(None, _NEITHER).split())
    if "max-line-length" in wanted:
        widest = _widest(budget, block.translate(None, _BEYOND))
        counts["max-line-length"] = max(counts["max-line-length"], widest)


def _count(ctx: CommandContext, source: ByteReader, wanted: Sequence[str]) -> dict[str, int]:
    counts = _NOTHING.copy()
    if _OF_TEXT.isdisjoint(wanted):
        while block := source.read(4 * BLOCK):
            ctx.budget.step()
            counts["bytes"] += len(block)
            counts["lines"] += block.count(b"\n")
        return counts
    bytewise = ctx.is_bytewise()
    for block in line_blocks(ctx.budget, source):
        counts["bytes"] += len(block)
        counts["lines"] += block.count(b"\n")
        if bytewise and not block.isascii():
            ctx.budget.step(len(block) // 1024)
            _count_bytewise(ctx.budget, block, wanted, counts)
            continue
        if "words" in wanted:
            counts["words"] += _count_words(ctx.budget, block)
        if "chars" in wanted:
            counts["chars"] += _count_characters(block)
        if "max-line-length" in wanted:
            ctx.budget.step(len(block) // 64)
            widest = _widest(ctx.budget, block)
            counts["max-line-length"] = max(counts["max-line-length"], widest)
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
            ctx.warn_os(
                error, shown_name(name) if args.operands else quote_always("standard input")
            )
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
                ctx.warn(
                    f"{name if args.operands else quote_always('standard input')}: {error.strerror}"
                )
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
