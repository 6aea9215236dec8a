"""The output types of `od`: `x1`, `d4`, `fD`, `c`, `a`, each with an optional `z`."""

from __future__ import annotations

import math
import re
import struct
from itertools import accumulate, pairwise

from agentsandbox.commands._quoting import quote
from agentsandbox.errors import CommandError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from agentsandbox.commands._dumps import Sheet

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
_FLOAT_STRUCT = {4: "f", 8: "d"}
_SINGLE = struct.Struct("<f")
_LEAST_SINGLE = 1.17549435e-38
_LEAST_DOUBLE = 2.2250738585072014e-308
"""What is nearer to 0 has fewer digits than others."""
_PRINTABLE = bytes([byte if 32 <= byte < 127 else 46 for byte in range(256)])


class ElementType:
    """One output type. `field` is the least width of an element, `pad` the blanks that a whole line gets beside."""

    __slots__ = ("_tables", "_texts", "_widths", "big", "field", "letter", "pad", "size", "trailer")

    def __init__(self, letter: str, size: int, *, big: bool, trailer: bool) -> None:
        self.letter = letter
        self.size = size
        self.big = big
        self.trailer = trailer
        self.pad = 0
        self.field = 3 if letter in "ac" else _FIELDS[letter][size]
        self._widths: list[int] = []
        self._texts = [self._name(byte).rjust(self.field) for byte in range(256)] if size == 1 else []
        self._tables = [bytes(map(ord, column)) for column in zip(*self._texts, strict=True)]

    def _name(self, value: int) -> str:
        """The text of a byte."""
        if self.letter == "a":
            low = value & 127
            return _NAMES[low] if low <= 32 else "del" if low == 127 else chr(low)
        if self.letter == "c":
            return chr(value) if 32 <= value < 127 else _ESCAPES.get(value) or f"{value:03o}"
        return self._template(self.field) % (value - 256 if self.letter == "d" and value > 127 else value)

    def _template(self, width: int) -> str:
        """How an element looks in a column of that width."""
        if self.letter in "ox":
            return " " * (width - self.field) + f"%0{self.field}{self.letter}"
        return f"%{width}d" if self.letter in "du" else f"%{width}s"

    def _elements(self, block: bytes) -> Sequence[Any]:
        """What the template takes, from bytes that are whole elements."""
        if self.size == 1:
            return [self._texts[byte] for byte in block]
        if self.size == 16:
            parts = [block[at : at + 16] for at in range(0, len(block), 16)]
            return [_long_double_text(part[::-1] if self.big else part) for part in parts]
        letter = _FLOAT_STRUCT[self.size] if self.letter == "f" else _STRUCT[self.size]
        order = ">" if self.big else "<"
        values = struct.unpack(f"{order}{len(block) // self.size}{letter.lower() if self.letter == 'd' else letter}", block)
        return values if self.letter != "f" else list(map(_single_text if self.size == 4 else _double_text, values))

    def _column_widths(self, width: int) -> list[int]:
        """The blanks of a line are spread evenly over its fields, as GNU does."""
        fields = width // self.size
        if len(self._widths) != fields:
            before = [self.pad * at // fields for at in range(fields, -1, -1)]
            self._widths = [self.field + left - following for left, following in pairwise(before)]
        return self._widths

    def length(self, width: int) -> int:
        """The characters of a whole line, which shows `width` bytes."""
        return self.pad + self.field * (width // self.size) + (width + len("  ><") if self.trailer else 0)

    def fill(self, sheet: Sheet, at: int, block: bytes, width: int) -> None:
        """Put whole lines into a sheet."""
        widths = self._column_widths(width)
        end = at + sum(widths)
        if self.size == 1:
            for place, cell_end in enumerate(accumulate(widths, initial=at)):
                if place:
                    sheet.translate(cell_end - self.field, block[place - 1 :: width], self._tables)
        else:
            line = "".join(map(self._template, widths))
            text = line * (len(block) // width) % tuple(self._elements(block))
            sheet.put(at, bytes(text, "ascii"), end - at)
        if self.trailer:
            count = len(block) // width
            sheet.put(end, b"  >" * count, 3)
            sheet.put(end + 3, block.translate(_PRINTABLE), width)
            sheet.put(end + 3 + width, b"<" * count, 1)

    def show(self, block: bytes, width: int) -> str:
        """The elements of one line, which may be short; with `z` also its characters, in the last column."""
        elements = self._elements(block + bytes(-len(block) % self.size))
        widths = self._column_widths(width)
        shape = "%{}s".format if self.size == 1 else self._template
        line = "".join(map(shape, widths[: len(elements)])) % tuple(elements)
        if not self.trailer:
            return line
        shown = str(block.translate(_PRINTABLE), "ascii")
        return f"{line}{' ' * (self.pad + self.field * (width // self.size) - len(line))}  >{shown}<"


def _single_text(value: float) -> str:
    """A number of four bytes in as few digits as tell it from the others, but for six or more."""
    if value != value:
        return _nan_text(value)
    for precision in range(1 if abs(value) < _LEAST_SINGLE else 6, 10):
        text = f"{value:.{precision}g}"
        if _packs_as(float(text), value):
            return text
    return text


def _packs_as(near: float, value: float) -> bool:
    try:
        packed = _SINGLE.pack(near)
    except OverflowError:
        return False
    return bool(_SINGLE.unpack(packed)[0] == value)


def _double_text(value: float) -> str:
    """As `_single_text`, a number of eight bytes: fifteen digits or more."""
    if value != value:
        return _nan_text(value)
    for precision in range(1 if abs(value) < _LEAST_DOUBLE else 15, 18):
        text = f"{value:.{precision}g}"
        if float(text) == value:
            return text
    return text


def _nan_text(value: float) -> str:
    return "-nan" if math.copysign(1.0, value) < 0 else "nan"


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
    value = LongDouble(negative, mantissa & (1 << 63) - 1 if not exponent else mantissa, max(exponent, 1) - 16383 - 63)
    if value.mantissa != mantissa:  # no number that the machine makes: what is shown never reads as it
        return format_long_double(value, "g", 21)
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
