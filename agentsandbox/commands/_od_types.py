"""The output types of `od`: `x1`, `d4`, `fD`, `c`, `a`, each with an optional `z`."""

from __future__ import annotations

import re
import struct

from agentsandbox.commands._quoting import quote
from agentsandbox.errors import CommandError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["ElementType", "parse_types"]

_NAME_TEXT = "nul soh stx etx eot enq ack bel bs ht nl vt ff cr so si dle dc1 dc2 dc3 dc4 nak syn etb can em sub esc fs gs rs us sp"
_NAMES = _NAME_TEXT.split()
_ESCAPES = {0: "\\0", 7: "\\a", 8: "\\b", 9: "\\t", 10: "\\n", 11: "\\v", 12: "\\f", 13: "\\r"}
_FIELDS = {
    "d": {1: 4, 2: 6, 4: 11, 8: 20},
    "u": {1: 3, 2: 5, 4: 10, 8: 20},
    "o": {1: 3, 2: 6, 4: 11, 8: 22},
    "x": {1: 2, 2: 4, 4: 8, 8: 16},
    "f": {4: 15, 8: 24, 16: 29},
}
_SIZE_LETTERS = {"C": 1, "S": 2, "I": 4, "L": 8}
_FLOAT_LETTERS = {"F": 4, "D": 8, "L": 16}
_STRUCT = {1: "B", 2: "H", 4: "I", 8: "Q"}
_PRINTABLE = bytes([byte if 32 <= byte < 127 else 46 for byte in range(256)])


class ElementType:
    """One output type. `field` is the least width of an element, `pad` the blanks that a whole line gets beside."""

    __slots__ = ("big", "field", "letter", "pad", "size", "table", "trailer")

    def __init__(self, letter: str, size: int, *, big: bool, trailer: bool) -> None:
        self.letter = letter
        self.size = size
        self.big = big
        self.trailer = trailer
        self.pad = 0
        self.field = 3 if letter in "ac" else _FIELDS[letter][size]
        self.table = [self._text(byte) for byte in range(256)] if size == 1 else None

    def _text(self, value: int) -> str:
        if self.letter == "a":
            low = value & 127
            return _NAMES[low] if low <= 32 else "del" if low == 127 else chr(low)
        if self.letter == "c":
            return chr(value) if 32 <= value < 127 else _ESCAPES.get(value) or f"{value:03o}"
        if self.letter == "d":
            half = 1 << (8 * self.size - 1)
            return str(value - 2 * half if value >= half else value)
        if self.letter == "u":
            return str(value)
        return f"{value:0{self.field}{self.letter}}"

    def _texts(self, block: bytes) -> list[str]:
        if self.table is not None:
            table = self.table
            return [table[byte] for byte in block]
        missing = -len(block) % self.size
        if missing:
            block += bytes(missing)
        order = ">" if self.big else "<"
        count = len(block) // self.size
        if self.letter != "f":
            return [self._text(value) for value in struct.unpack(f"{order}{count}{_STRUCT[self.size]}", block)]
        parts = [block[at : at + self.size] for at in range(0, len(block), self.size)]
        return [_float_text(part[::-1] if self.big else part) for part in parts]

    def show(self, block: bytes, width: int) -> str:
        """The elements of a line; with `z` also its characters, in the last column."""
        fields = width // self.size
        texts = self._texts(block)
        if self.pad == fields:
            size = self.field + 1
            line = "".join([text.rjust(size) for text in texts])
            used = size * len(texts)
            total = size * fields
        else:
            line, used = self._padded(texts, fields)
            total = self.pad + self.field * fields
        if not self.trailer:
            return line
        shown = str(block.translate(_PRINTABLE), "ascii")
        return f"{line}{' ' * (total - used)}  >{shown}<"

    def _padded(self, texts: Sequence[str], fields: int) -> tuple[str, int]:
        """Spread the blanks evenly over the fields, as GNU does."""
        left = self.pad
        parts = []
        used = 0
        for at, text in zip(range(fields, 0, -1), texts, strict=False):
            following = self.pad * (at - 1) // fields
            size = left - following + self.field
            parts.append(text.rjust(size))
            used += size
            left = following
        return "".join(parts), used


def _float_text(part: bytes) -> str:
    if len(part) == 16:
        return _long_double_text(part)
    kind = "<f" if len(part) == 4 else "<d"
    value: float = struct.unpack(kind, part)[0]
    if value != value:
        return "-nan" if part[-1] & 128 else "nan"
    tiny = abs(value) < (1.17549435e-38 if len(part) == 4 else 2.2250738585072014e-308)
    digits = 1 if tiny else 6 if len(part) == 4 else 15
    for precision in range(digits, 18):
        text = f"{value:.{precision}g}"
        if struct.pack("<d", float(text)) == part if len(part) == 8 else _packs_as(float(text), part):
            return text
    return text


def _packs_as(value: float, part: bytes) -> bool:
    try:
        return struct.pack("<f", value) == part
    except OverflowError:
        return False


def _long_double_text(part: bytes) -> str:
    from agentsandbox.languages.long_double import LongDouble, format_long_double, parse_long_double  # rarely needed

    mantissa = int.from_bytes(part[:8], "little")
    bits = int.from_bytes(part[8:10], "little")
    negative, exponent = bool(bits & 0x8000), bits & 0x7FFF
    if exponent == 0x7FFF:
        infinite = not mantissa << 1 & (1 << 64) - 1
        return ("-" if negative else "") + ("inf" if infinite and mantissa >> 63 else "nan")
    if exponent and not mantissa >> 63:
        return "-nan" if negative else "nan"
    value = LongDouble(negative, mantissa, max(exponent, 1) - 16383 - 63)
    for precision in range(18 if exponent else 1, 22):
        text = format_long_double(value, "g", precision)
        again, _, _ = parse_long_double(text)
        if _normal(again.mantissa, again.exponent) == _normal(mantissa, value.exponent):
            return text
    return text


def _normal(mantissa: int, exponent: int) -> tuple[int, int]:
    """The same value with an odd mantissa."""
    if not mantissa:
        return 0, 0
    zeros = (mantissa & -mantissa).bit_length() - 1
    return mantissa >> zeros, exponent + zeros


def _read_size(text: str, at: int, letter: str) -> tuple[int, int]:
    """(size, where it ends)."""
    letters = _FLOAT_LETTERS if letter == "f" else _SIZE_LETTERS
    if text[at : at + 1] in letters and text[at : at + 1]:
        return letters[text[at]], at + 1
    found = re.compile("[0-9]+").match(text, at)
    if found is None:
        return (8 if letter == "f" else 4), at
    if len(found[0]) > 18:
        raise CommandError(f"invalid type string {quote(text)}")
    size = int(found[0])
    if size not in _FIELDS[letter]:
        kind = "floating point" if letter == "f" else "integral"
        raise CommandError(f"invalid type string {quote(text)};\nthis system doesn't provide a {size}-byte {kind} type")
    return size, found.end()


def parse_types(text: str, *, big: bool) -> list[ElementType]:
    """The types of one `-t` string."""
    found = []
    at = 0
    while at < len(text):
        letter = text[at]
        at += 1
        if letter in "ac":
            size = 1
        elif letter in _FIELDS:
            size, at = _read_size(text, at, letter)
        else:
            raise CommandError(f"invalid character '{letter}' in type string {quote(text)}")
        trailer = text[at : at + 1] == "z"
        at += trailer
        found.append(ElementType(letter, size, big=big, trailer=trailer))
    return found
