"""How `xargs` splits its input: blanks and quotes, lines for -I, a delimiter for -0 and -d."""

from __future__ import annotations

import re
from itertools import chain

from agentsandbox.errors import CommandError
from agentsandbox.kernel.budget import PIECE
from agentsandbox.kernel.expressions import lazily_bytes
from agentsandbox.kernel.streams import BytesReader, encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from agentsandbox.kernel.budget import Budget
    from agentsandbox.kernel.streams import ByteReader

    Argument = tuple[bytes, bool]
    """An argument, and whether its input line ends with it (for -L)."""

_MARKS = b"'", b'"', b"\\", b"\0"
_SPECIAL = lazily_bytes(rb"[\\'\"\0]")
_TOKEN = lazily_bytes(rb"[^\\'\" \t\n]+|\\(?s:.)|'[^'\n]*'|\"[^\"\n]*\"|[ \t]+|\n|(?s:.)")
_TO_SPACES = bytes.maketrans(b"\t\n", b"  ")
_ESCAPES = {"a": 7, "b": 8, "f": 12, "n": 10, "r": 13, "t": 9, "v": 11, "\\": 92}


class UnmatchedQuoteError(CommandError):
    """A quote is not closed on its line; what was read before is still run."""

    def __init__(self, mark: bytes) -> None:
        kind = "single" if mark == b"'" else "double"
        hint = "by default quotes are special to xargs unless you use the -0 option"
        super().__init__(f"unmatched {kind} quote; {hint}")


def parse_delimiter(text: str) -> int:
    """Return the byte that `-d` names: a character or an escape sequence."""
    if len(encode(text)) == 1:
        return encode(text)[0]
    if not text.startswith("\\"):
        wrong = "the delimiter must be either a single character or an escape sequence"
        raise CommandError(
            f"Invalid input delimiter specification {text}: {wrong} starting with \\."
        )
    if text[1:] in _ESCAPES:
        return _ESCAPES[text[1:]]
    found = re.fullmatch(r"\\(?:x([0-9a-fA-F]{1,2})|([0-3]?[0-7]{1,2}))", text)
    if found is None:
        raise CommandError(f"Invalid escape sequence {text} in input delimiter specification.")
    return int(found[1], 16) if found[1] else int(found[2], 8)


def delimited(source: ByteReader, end: int, budget: Budget) -> Iterator[Argument]:
    """Yield arguments that end with one byte each, without special characters."""
    mark = bytes([end])
    for line in source.lines(mark):
        budget.step()
        text = line[:-1] if line.endswith(mark) else line
        nul = text.find(b"\0")
        yield (text if nul < 0 else text[:nul]), True


def word_lists(source: ByteReader, budget: Budget) -> Iterator[list[bytes]]:
    """Yield what `words` gives, many at a time as long as nothing in them is special."""
    blocks = source.line_blocks()
    for block in blocks:
        if _is_special(block):
            lines = (line for part in chain([block], blocks) for line in BytesReader(part).lines())
            yield from ([word] for word, _ in words(lines, budget))
            return
        budget.step(len(block) // 64 + 1)
        for parts in _split(block, budget):
            yield [part for part in parts if part]


def _is_special(text: bytes) -> bool:
    """Whether quotes, backslashes or nulls are in a text."""
    return any(mark in text for mark in _MARKS)


def _split(text: bytes, budget: Budget) -> Iterator[list[bytes]]:
    """Yield the texts between blanks and newlines, with a look at the clock after each piece."""
    text = text.translate(_TO_SPACES)
    start = 0
    while start < len(text):
        end = text.find(b" ", start + PIECE) + 1 or len(text)
        yield text[start:end].split(b" ")
        start = end
        if start < len(text):
            budget.breathe()


def _logical_lines(lines: Iterable[bytes], budget: Budget) -> Iterator[bytes]:
    """Yield lines; one with an escaped newline continues in the next."""
    pending = b""
    for line in lines:
        budget.step()
        whole = pending + line
        if whole.endswith(b"\\\n") and _ends_escaped(whole, budget):
            budget.charge(len(whole))
            pending = whole
            continue
        pending = b""
        yield whole
    if pending:
        yield pending


def _ends_escaped(line: bytes, budget: Budget) -> bool:
    """Whether the last newline belongs to a backslash that is not itself quoted or escaped."""
    if not _SPECIAL.search(line, 0, len(line) - 2):
        return True
    last = b""
    for found in _TOKEN.finditer(line):
        budget.step()
        last = found[0]
    return last == b"\\\n"


def _quoted_words(line: bytes, budget: Budget) -> Iterator[tuple[bytes, bool]]:
    """Yield (word, whether a blank follows it) of a line that holds quotes or backslashes."""
    word: list[bytes] = []
    for found in _TOKEN.finditer(line):
        budget.step()
        token = found[0]
        first = token[:1]
        if token in (b"'", b'"'):
            raise UnmatchedQuoteError(token)
        if first in (b" ", b"\t", b"\n"):
            if word:
                yield b"".join(word), first != b"\n"
                word = []
            continue
        if first == b"\\":
            token = token[1:]
        elif first in (b"'", b'"'):
            token = token[1:-1]
        word.append(token)
    if any(word):  # an empty one counts only if something follows
        yield b"".join(word), False


def words(lines: Iterable[bytes], budget: Budget) -> Iterator[Argument]:
    """Yield words between blanks and newlines; a line that ends with a blank continues."""
    for line in _logical_lines(lines, budget):
        if _is_special(line):
            for word, goes_on in _quoted_words(line, budget):
                yield word, not goes_on
            continue
        text = line.rstrip(b"\n")
        goes_on = text.endswith((b" ", b"\t"))
        if len(text) <= PIECE:
            short = [part for part in text.replace(b"\t", b" ").split(b" ") if part]
            budget.step(len(short))
            for at, part in enumerate(short, 1):
                yield part, at == len(short) and not goes_on
            continue
        last = None
        for fields in _split(text, budget):
            budget.step(len(fields))
            for part in fields:
                if part:
                    if last is not None:
                        yield last, False
                    last = part
        if last is not None:
            yield last, not goes_on


def whole_lines(source: ByteReader, budget: Budget) -> Iterator[Argument]:
    """For -I: each line without its leading blanks; quotes and backslashes are still special."""
    for line in _logical_lines(source.lines(), budget):
        text = line.rstrip(b"\n").lstrip(b" \t\v\f\r")
        if not text:
            continue
        if _SPECIAL.search(text):
            parts: list[bytes] = []
            for found in _TOKEN.finditer(text):
                budget.step()
                token = found[0]
                if token in (b"'", b'"'):
                    raise UnmatchedQuoteError(token)
                if token[:1] in (b"'", b'"'):
                    token = token[1:-1]
                parts.append(token.removeprefix(b"\\") if found[0][:1] == b"\\" else token)
            text = b"".join(parts)
            if not text and not any(parts) and not line.endswith(b"\n"):
                continue
        yield text, True
