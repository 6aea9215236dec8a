"""$'…': the escapes of C that bash knows."""

from __future__ import annotations

from agentsandbox.kernel.expressions import lazily
from agentsandbox.kernel.streams import decode, encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re

_ANSI_C = lazily(
    r"\\(?:([abeEfnrtv\\'\"?])|([0-7]{1,3})|x([0-9A-Fa-f]{1,2})|x\{([0-9A-Fa-f]*)\}?"
    r"|u([0-9A-Fa-f]{1,4})|U([0-9A-Fa-f]{1,8})|c(\\\\|[\x00-\U0010ffff]))"
)
_ANSI_C_LETTERS = {
    "a": "\a", "b": "\b", "e": "\x1b", "E": "\x1b", "f": "\f", "n": "\n", "r": "\r", "t": "\t",
    "v": "\v", "\\": "\\", "'": "'", '"': '"', "?": "?",
}  # fmt: skip


def _byte(number: int) -> str:
    number &= 255
    return chr(number) if number < 128 else chr(0xDC00 + number)


def _old_utf8(number: int) -> list[int]:
    """Encode a number that is no character, by the rules of UTF-8 when it had up to six bytes."""
    size = next(
        (
            size
            for size, limit in ((3, 1 << 16), (4, 1 << 21), (5, 1 << 26), (6, 1 << 31))
            if number < limit
        ),
        0,
    )
    tail = [0x80 | (number >> shift) & 0x3F for shift in range(6 * (size - 2), -1, -6)]
    return [(0xFF00 >> size) & 0xFF | (number >> 6 * (size - 1)), *tail] if size else []


def decode_ansi_c(text: str) -> str:
    """Return what $'text' means. Bytes above 127 become surrogates; NUL ends the text."""

    def replace(match: re.Match[str]) -> str:
        letter, octal, hexadecimal, braced, short, long, control = match.groups()
        if letter is not None:
            return _ANSI_C_LETTERS[letter]
        if octal is not None:
            return _byte(int(octal, 8))
        if hexadecimal is not None:
            return _byte(int(hexadecimal, 16))
        if braced is not None:
            return _byte(int(braced[-8:] or "0", 16))
        if control is not None:
            return chr(ord(control[0]) & 31) if control != "?" else "\x7f"
        number = int(short or long, 16)
        return (
            chr(number)
            if number < 0xD800 or 0xE000 <= number < 0x110000
            else "".join(map(_byte, _old_utf8(number)))
        )

    decoded = _ANSI_C.sub(replace, text).partition("\0")[0]
    if any("\udc80" <= char <= "\udcff" for char in decoded):
        return decode(encode(decoded))  # bytes that together are a character become one
    return decoded
