"""Patterns in the URLs of curl: {a,b}, [1-9], [01-10:3], [a-z]; "#1" in the names of files."""

from __future__ import annotations

import re

from agentsandbox.commands.network.curl_options import CurlError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from agentsandbox.kernel.budget import Budget

__all__ = ["expand", "with_parts"]

_MOST = 100_000
"""URLs of one pattern."""
_RANGE = re.compile(r"\[(?:([A-Za-z])-([A-Za-z])|(\d{1,15})-(\d{1,15}))(?::(\d{1,15}))?\]")
_ADDRESS = re.compile(r"\[[0-9A-Fa-f.%]*+:[0-9A-Fa-f:.%]*+\]")


def expand(pattern: str, budget: Budget) -> Iterator[tuple[str, Sequence[str]]]:
    """Yield each URL of a pattern with the texts that its parts have in it."""
    fixed, parts = _parse(pattern)
    count = 1
    for part in parts:
        count *= len(part)
        if count > _MOST:
            raise CurlError("(3) too many URLs in the pattern", 3)
    chosen = [0] * len(parts)
    while True:
        budget.step()
        words = [part[index] for part, index in zip(parts, chosen, strict=True)]
        url = fixed[0] + "".join(a + b for a, b in zip(words, fixed[1:], strict=True))
        yield url, words
        for place in range(len(parts) - 1, -1, -1):
            chosen[place] += 1
            if chosen[place] < len(parts[place]):
                break
            chosen[place] = 0
        else:
            return


def _parse(pattern: str) -> tuple[list[str], list[Sequence[str]]]:
    """Return the fixed texts of a pattern and, between them, the texts of each part."""
    fixed, parts = [""], []
    at = 0
    while at < len(pattern):
        character = pattern[at]
        if character == "\\" and pattern[at + 1 : at + 2] in ("{", "[", "}", "]"):
            fixed[-1] += pattern[at + 1]
            at += 2
        elif character == "{":
            at, words = _set(pattern, at)
            parts.append(words)
            fixed.append("")
        elif character == "[":
            address = _ADDRESS.match(pattern, at)
            if address is not None and not _RANGE.match(pattern, at):
                fixed[-1] += address[0]
                at = address.end()
                continue
            at, words = _range(pattern, at)
            parts.append(words)
            fixed.append("")
        elif character in "}]":
            raise _error("unmatched close brace/bracket", pattern, at + 1)
        else:
            fixed[-1] += character
            at += 1
    return fixed, parts


def _error(what: str, pattern: str, position: int) -> CurlError:
    return CurlError(
        f"(3) {what} in URL position {position}:\n{pattern}\n{' ' * (position - 1)}^", 3
    )


def _set(pattern: str, start: int) -> tuple[int, Sequence[str]]:
    words: list[str] = []
    word, at = "", start + 1
    while at < len(pattern):
        character = pattern[at]
        if character == "\\" and at + 1 < len(pattern):
            word += pattern[at + 1]
            at += 2
            continue
        if character == "}":
            if not word and not words:
                raise _error("empty string within braces", pattern, at + 1)
            return at + 1, [*words, word]
        if character in "{[":
            raise _error("nested brace", pattern, at + 1)
        if character == "]":
            raise _error("unexpected close bracket", pattern, at + 1)
        if character == ",":
            words.append(word)
            word = ""
        else:
            word += character
        at += 1
    raise _error("unmatched brace", pattern, start + 1)


def _range(pattern: str, start: int) -> tuple[int, Sequence[str]]:
    found = _RANGE.match(pattern, start)
    if found is None:
        close = pattern.find("]", start)
        raise _error("bad range", pattern, (len(pattern) if close < 0 else close + 1) + 1)
    step = int(found[5] or 1)
    if found[1]:
        first, last = ord(found[1]), ord(found[2])
        if first > last or not step or found[1].isupper() != found[2].isupper():
            raise _error("bad range", pattern, found.end() + 1)
        return found.end(), [chr(code) for code in range(first, last + 1, step)]
    low, high = int(found[3]), int(found[4])
    if low > high or not step:
        raise _error("bad range", pattern, found.end() + 1)
    if (high - low) // step >= _MOST:
        raise CurlError("(3) too many URLs in the pattern", 3)
    width = len(found[3]) if found[3].startswith("0") else 0
    return found.end(), [f"{number:0{width}d}" for number in range(low, high + 1, step)]


def with_parts(name: str, parts: Sequence[str]) -> str:
    """Return a file's name with the parts of the pattern for "#1", "#2" …"""

    def part(match: re.Match[str]) -> str:
        number = int(match[1])
        return parts[number - 1] if 0 < number <= len(parts) else match[0]

    return re.sub(r"#(\d{1,9})", part, name) if parts else name
