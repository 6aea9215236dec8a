"""The output of `echo`, as bash's builtin writes it."""

from __future__ import annotations

import re

from agentsandbox.kernel.expressions import lazily
from agentsandbox.kernel.formats.escapes import encode_code_point
from agentsandbox.kernel.streams import encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

_OPTIONS = lazily("-[neE]+")
_SIMPLE = {
    "a": b"\a", "b": b"\b", "e": b"\x1b", "E": b"\x1b", "f": b"\f", "n": b"\n", "r": b"\r",
    "t": b"\t", "v": b"\v", "\\": b"\\",
}  # fmt: skip
_BASH_ESCAPE = lazily(
    r"\\(?:([abeEfnrtv\\])|(c)|0([0-7]{0,3})"
    r"|x([0-9A-Fa-f]{1,2})|u([0-9A-Fa-f]{1,4})|U([0-9A-Fa-f]{1,8}))"
)


def _expand(text: str) -> tuple[bytes, bool]:
    """Return the text with its escapes expanded, and whether `\\c` ended it."""
    if "\\" not in text:
        return encode(text), False
    parts = []
    end = 0
    for found in _BASH_ESCAPE.finditer(text):
        parts.append(encode(text[end : found.start()]))
        if found[2]:
            return b"".join(parts), True
        parts.append(_SIMPLE[found[1]] if found[1] else _bash_value(found))
        end = found.end()
    parts.append(encode(text[end:]))
    return b"".join(parts), False


def _bash_value(found: re.Match[str]) -> bytes:
    _, _, octal, hexadecimal, short, long = found.groups()
    if octal is not None:
        return bytes([int(octal or "0", 8) & 255])
    if hexadecimal is not None:
        return bytes([int(hexadecimal, 16)])
    return encode_code_point(int(short or long, 16))


def render_echo(words: Sequence[str], *, xpg: bool = False, posix: bool = False) -> bytes:
    """Return the output of `echo` with these words.

    `xpg` is the option xpg_echo: escapes without -e, in POSIX mode no options.
    """
    escapes, operands = xpg, xpg and posix
    newline = True
    at = 0
    while (
        not operands and at < len(words) and words[at][:1] == "-" and _OPTIONS.fullmatch(words[at])
    ):
        for letter in words[at][1:]:
            if letter == "n":
                newline = False
            else:
                escapes = letter == "e"
        at += 1
    text = " ".join(words[at:])
    if not escapes:
        return encode(text + "\n" if newline else text)
    data, ended = _expand(text)
    return data + b"\n" if newline and not ended else data
