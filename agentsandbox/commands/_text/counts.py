"""Words, characters and the widest line of a text, as `wc` counts them."""

from __future__ import annotations

import codecs
import re

from agentsandbox.commands._text.lines import line_blocks
from agentsandbox.commands._text.quoting import is_printable
from agentsandbox.commands._text.widths import text_width
from agentsandbox.kernel.expressions import lazily
from agentsandbox.kernel.streams import decode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from agentsandbox.contract.command import CommandContext
    from agentsandbox.kernel.budget import Budget
    from agentsandbox.kernel.streams import ByteReader

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


def count_text(
    ctx: CommandContext, source: ByteReader, wanted: Sequence[str], counts: dict[str, int]
) -> None:
    """Add to `counts` what is wanted of a source: bytes and lines besides."""
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
