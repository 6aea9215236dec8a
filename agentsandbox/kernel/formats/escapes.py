"""The escapes of `printf`: `\\n`, `\\NNN`, `\\xHH`, `\\uHHHH` and their like."""

from __future__ import annotations

from agentsandbox.kernel.expressions import lazily
from agentsandbox.kernel.streams import encode

_SIMPLE_ESCAPES = {
    "a": b"\a", "b": b"\b", "e": b"\x1b", "E": b"\x1b", "f": b"\f", "n": b"\n", "r": b"\r",
    "t": b"\t", "v": b"\v", "\\": b"\\",
}  # fmt: skip
_HEX = lazily(r"[0-9a-fA-F]{1,2}")
_UNICODE = {"u": lazily(r"[0-9a-fA-F]{1,4}"), "U": lazily(r"[0-9a-fA-F]{1,8}")}
_OCTAL = lazily(r"[0-7]{1,3}")
_OCTAL_AFTER_ZERO = lazily(r"[0-7]{0,3}")


def encode_code_point(number: int) -> bytes:
    """Encode as UTF-8 of up to six bytes, surrogates included, as bash's \\U."""
    if number < 0x80:
        return bytes([number])
    for count, limit in ((2, 0x800), (3, 0x10000), (4, 0x200000), (5, 0x4000000), (6, 0x80000000)):
        if number < limit:
            tail = [0x80 | (number >> 6 * at) & 0x3F for at in range(count - 2, -1, -1)]
            return bytes([(0xFF00 >> count) & 0xFF | number >> 6 * (count - 1), *tail])
    return b""


def read_escape(text: str, at: int, notices: list[str], in_argument: bool) -> tuple[bytes, int]:
    """Return the bytes of the escape at `at` and the position after it. `\\c` is the caller's."""
    letter = text[at + 1 : at + 2]
    simple = _SIMPLE_ESCAPES.get(letter)
    if simple is not None:
        return simple, at + 2
    if letter and letter in "01234567":
        if in_argument and letter == "0":
            found = _OCTAL_AFTER_ZERO.match(text, at + 2)
            assert found is not None
            return bytes([int(found[0] or "0", 8) & 0xFF]), found.end()
        found = _OCTAL.match(text, at + 1)
        assert found is not None
        return bytes([int(found[0], 8) & 0xFF]), found.end()
    if letter == "x":
        found = _HEX.match(text, at + 2)
        if found is not None:
            return bytes([int(found[0], 16)]), found.end()
        notices.append("missing hex digit for \\x")
    elif letter in _UNICODE:
        found = _UNICODE[letter].match(text, at + 2)
        if found is not None:
            return encode_code_point(int(found[0], 16)), found.end()
        notices.append(f"missing unicode digit for \\{letter}")
    elif letter and letter in "'\"?" and not in_argument:
        return encode(letter), at + 2
    return b"\\", at + 1
