"""Escapes for one character in sed's replacements, texts and `y`."""

from __future__ import annotations

__all__ = ["unescape"]

_ESCAPES = {"a": "\a", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}
_CODES = {"d": (10, 3, "0123456789"), "o": (8, 3, "01234567"), "x": (16, 2, "0123456789abcdefABCDEF")}


def unescape(source: str, position: int) -> tuple[str, int]:
    """What the escape whose letter is at `position` means, and the position after it."""
    letter = source[position]
    if letter in _ESCAPES:
        return _ESCAPES[letter], position + 1
    if letter == "c" and position + 1 < len(source):
        return chr(ord(source[position + 1].upper()) ^ 64) if source[position + 1].isascii() else source[position + 1], position + 2
    if letter in _CODES:
        base, width, digits = _CODES[letter]
        end = position + 1
        while end < len(source) and end - position <= width and source[end] in digits:
            end += 1
        if end > position + 1:
            code = int(source[position + 1 : end], base) & 255
            return chr(code) if code < 128 else chr(0xDC00 + code), end
    return letter, position + 1
