"""What `echo` writes: bash's builtin, and the slightly different command of GNU coreutils."""

from __future__ import annotations

import re

from agentsandbox.kernel.formats.printf import encode_code_point
from agentsandbox.kernel.streams import encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = ["render_echo", "render_gnu_echo"]

_OPTIONS = re.compile("-[neE]+")
_SIMPLE = {"a": b"\a", "b": b"\b", "e": b"\x1b", "E": b"\x1b", "f": b"\f", "n": b"\n", "r": b"\r", "t": b"\t", "v": b"\v", "\\": b"\\"}
_BASH_ESCAPE = re.compile(r"\\(?:([abeEfnrtv\\])|(c)|0([0-7]{0,3})|x([0-9A-Fa-f]{1,2})|u([0-9A-Fa-f]{1,4})|U([0-9A-Fa-f]{1,8}))")
_GNU_ESCAPE = re.compile(r"\\(?:([abefnrtv\\])|(c)|(0[0-7]{0,3}|[1-7][0-7]{0,2})|x([0-9A-Fa-f]{1,2}))")


def _expand(text: str, pattern: re.Pattern[str], value: Callable[[re.Match[str]], bytes]) -> tuple[bytes, bool]:
    """The text with its escapes expanded, and whether `\\c` ended it."""
    if "\\" not in text:
        return encode(text), False
    parts = []
    end = 0
    for found in pattern.finditer(text):
        parts.append(encode(text[end : found.start()]))
        if found[2]:
            return b"".join(parts), True
        parts.append(_SIMPLE[found[1]] if found[1] else value(found))
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


def _gnu_value(found: re.Match[str]) -> bytes:
    octal, hexadecimal = found[3], found[4]
    return bytes([int(octal, 8) & 255 if octal is not None else int(hexadecimal, 16)])


def _render(
    words: Sequence[str], pattern: re.Pattern[str], value: Callable[[re.Match[str]], bytes], *, escapes: bool, operands: bool = False
) -> bytes:
    newline = True
    at = 0
    while not operands and at < len(words) and words[at][:1] == "-" and _OPTIONS.fullmatch(words[at]):
        for letter in words[at][1:]:
            if letter == "n":
                newline = False
            else:
                escapes = letter == "e"
        at += 1
    text = " ".join(words[at:])
    if not escapes:
        return encode(text + "\n" if newline else text)
    data, ended = _expand(text, pattern, value)
    return data + b"\n" if newline and not ended else data


def render_echo(words: Sequence[str], *, xpg: bool = False, posix: bool = False) -> bytes:
    """The output of bash's `echo` with these words; `xpg` is the option xpg_echo: escapes without -e, in POSIX mode no options."""
    return _render(words, _BASH_ESCAPE, _bash_value, escapes=xpg, operands=xpg and posix)


def render_gnu_echo(words: Sequence[str]) -> bytes:
    """The output of /bin/echo: no `\\E`, `\\u`, `\\U`, but `\\1` to `\\377`."""
    return _render(words, _GNU_ESCAPE, _gnu_value, escapes=False)
