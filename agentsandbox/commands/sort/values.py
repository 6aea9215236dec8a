"""The values that stand for the texts of a sort key: those of one key compare with each other as
GNU compares the texts.
"""

from __future__ import annotations

import re

from agentsandbox.commands._text.versions import version_keys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

_MONTHS = {
    name: number
    for number, name in enumerate(b"JAN FEB MAR APR MAY JUN JUL AUG SEP OCT NOV DEC".split(), 1)
}
_NOT_DICTIONARY = bytes(
    [b for b in range(256) if not (chr(b).isalnum() and b < 128) and b not in b" \t"]
)
_NOT_PRINTABLE = bytes([b for b in range(256) if not 32 <= b < 127])
_NUMBER = re.compile(rb"[ \t\n]*(-?)([0-9]*)(?:\.([0-9]*))?(.?)", re.DOTALL)
_ONLY_INTEGERS = b"0123456789- \t\n"
_LEADING_INTEGER = re.compile(rb"^[ \t]*+(-?[0-9]{1,18}+)(?![0-9.])", re.MULTILINE)
_LEADING_DECIMAL = re.compile(
    rb"^[ \t]*+(-?(?:[0-9]{1,9}+(?:\.[0-9]{0,6}+)?+|\.[0-9]{1,6}+))(?![0-9.])", re.MULTILINE
)
"""Numbers that a float holds exactly enough to tell any two of them apart."""
_LEADING_PLAIN = re.compile(
    _LEADING_DECIMAL.pattern.replace(b"(?![0-9.])", b"(?![0-9.eExX])"), re.MULTILINE
)
"""The same, where an exponent or hexadecimal digits may follow others."""
_FLOAT_POWER = 290
"""Numbers with such exponents are not too large or small for a float."""
_LEADING_HUMAN = re.compile(
    rb"^[ \t]*+(-?[0-9]{1,9}+(?:\.[0-9]{1,2}+)?+)(?![0-9.])([KMGTPEZYk]?)", re.MULTILINE
)
_GENERAL = re.compile(
    rb"[ \t\n\v\f\r]*(?:\+|(-))?(?:(inf(?:inity)?)|(nan(?:\([a-z0-9_]*\))?)|(0x(?:[0-9a-f]+\.?[0-9a-f]*|\.[0-9a-f]+)(?:p[+-]?[0-9]+)?)"
    rb"|((?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:e[+-]?[0-9]+)?))",
    re.IGNORECASE,
)
_UNITS = {letter: power for power, letter in enumerate(b"KMGTPEZY", 1)} | {ord("k"): 1}
_HUMAN_BASE = 2.0**40
_HUMAN_BASES = {b"": 0.0} | {
    bytes([letter]): power * _HUMAN_BASE for letter, power in _UNITS.items()
}
"""What a unit adds to its number so that the sums compare as they do: exact enough for nine digits
and two after the point."""


def as_text(values: list[Any]) -> list[Any]:
    """Bytes as text of one character a byte, which Python compares quicker; other values as they
    are.
    """
    if not values or not isinstance(values[0], bytes):
        return values
    found = str(b"\n".join(values), "latin-1").split("\n")
    return found if len(found) == len(values) else [str(value, "latin-1") for value in values]


def converter(flags: set[str], salt: tuple[bytes, bytes]) -> Callable[[Sequence[bytes]], list[Any]]:
    """A function from texts to values that compare as the orderings ask."""
    if "n" in flags:
        return _integers
    if "h" in flags:
        return _humans
    if "g" in flags:
        return _generals
    if "M" in flags:
        return lambda texts: [_MONTHS.get(text.lstrip(b" \t")[:3].upper(), 0) for text in texts]
    fold = "f" in flags
    dropped = _NOT_DICTIONARY if "d" in flags else _NOT_PRINTABLE if "i" in flags else b""
    if dropped or fold:
        upper = bytes(range(256)).upper() if fold else None

        def simple(texts: Sequence[bytes]) -> list[Any]:
            return [text.translate(upper, dropped) for text in texts]

    else:
        simple = list
    if "R" in flags:
        from hashlib import md5  # chance, not security

        before, after = salt
        return lambda texts: [
            md5(before + text + after, usedforsecurity=False).digest() for text in simple(texts)
        ]
    if "V" in flags:
        return lambda texts: version_keys(simple(texts))
    return simple


def _integers(texts: Sequence[bytes]) -> list[Any]:
    """Numbers for `-n`. Most columns hold plain integers, which `int` reads in one go."""
    joined = b"\n".join(texts)
    if not joined.translate(None, _ONLY_INTEGERS):
        try:
            return list(map(int, texts))
        except ValueError:  # an empty text, two numbers, too many digits
            pass
    if joined.count(b"\n") >= len(texts):
        return [_value(*_NUMBER.match(text).groups()) for text in texts]  # type: ignore[union-attr]
    for pattern, convert in ((_LEADING_INTEGER, int), (_LEADING_DECIMAL, float)):
        found = pattern.findall(joined)
        if len(found) == len(texts):  # at most one for each text, so that it is one for each
            return list(map(convert, found))
    return [_value(*_NUMBER.match(text).groups()) for text in texts]  # type: ignore[union-attr]


def _value(sign: bytes, digits: bytes, fraction: bytes | None, _rest: bytes = b"") -> Any:
    """An exact number: an int, a float where it is exact enough to compare, else a Decimal."""
    fraction = fraction.rstrip(b"0") if fraction else b""
    if not fraction:
        if len(digits) <= 18:
            return (-int(digits) if sign else int(digits)) if digits else 0
    elif len(digits) + len(fraction) <= 15:
        number = float(digits + b"." + fraction)
        return -number if sign else number
    from decimal import Decimal  # exact for any number of digits, and linear

    return Decimal(str(sign + (digits or b"0") + b"." + (fraction or b"0"), "ascii"))


def _humans(texts: Sequence[bytes]) -> list[Any]:
    """Numbers with units for `-h`; most columns hold short ones."""
    joined = b"\n".join(texts)
    found = _LEADING_HUMAN.findall(joined) if joined.count(b"\n") < len(texts) else ()
    if len(found) != len(texts):
        return [_human(text) for text in texts]
    if b"-" in joined and any(text.startswith(b"-") for text, _ in found):
        return [_whole(float(text), unit) for text, unit in found]
    return [(number := float(text)) and number + _HUMAN_BASES[unit] for text, unit in found]


def _whole(number: float, unit: bytes) -> float:
    """A short number and its unit as one float."""
    return (
        number + _HUMAN_BASES[unit]
        if number > 0
        else number - _HUMAN_BASES[unit]
        if number
        else 0.0
    )


def _human(text: bytes) -> Any:
    """`-h`: first by unit, then by number."""
    short = _LEADING_HUMAN.match(text)
    if short is not None:
        return _whole(float(short[1]), short[2])
    sign, digits, fraction, rest = _NUMBER.match(text).groups()  # type: ignore[union-attr]
    value = _value(sign, digits, fraction)
    if not value:
        return 0.0
    order = _UNITS.get(rest[0], 0) if rest else 0
    return _Human((-order if sign else order), value)


class _Human:
    """A number with a unit that is too long for one float; compares with such floats too."""

    __slots__ = ("order", "value")

    def __init__(self, order: int, value: Any) -> None:
        self.order = order
        self.value = value

    def _pair(self, other: object) -> tuple[int, Any]:
        if isinstance(other, _Human):
            return other.order, other.value
        assert isinstance(other, float)
        order = int(abs(other) // _HUMAN_BASE)
        number = round(abs(other) - order * _HUMAN_BASE, 2)  # there were no more digits
        value = _value(b"-" if other < 0 else b"", *repr(number).encode("ascii").split(b"."))
        return (-order if other < 0 else order), value

    def __lt__(self, other: object) -> bool:
        return bool((self.order, self.value) < self._pair(other))

    def __gt__(self, other: object) -> bool:
        return bool((self.order, self.value) > self._pair(other))

    def __eq__(self, other: object) -> bool:
        return (self.order, self.value) == self._pair(other)

    def __neg__(self) -> _Human:
        return _Human(-self.order, -self.value)


def _generals(texts: Sequence[bytes]) -> list[tuple[int, Any]]:
    """Numbers for `-g`; most columns hold short ones without an exponent."""
    joined = b"\n".join(texts)
    found = _LEADING_PLAIN.findall(joined) if joined.count(b"\n") < len(texts) else ()
    if len(found) == len(texts):
        return [(2, number) for number in map(float, found)]
    return [_general(text) for text in texts]


def _general(text: bytes) -> tuple[int, Any]:
    """`-g`: no number, then NaN, then numbers; as `strtold` reads them."""
    found = _GENERAL.match(text)
    if found is None:
        return 0, 0
    sign, infinity, nan, hexadecimal, decimal = found.groups()
    if nan:
        return 1, int(sign is not None)
    if infinity:
        return 2, float("-inf" if sign else "inf")
    if hexadecimal:
        try:
            number = float.fromhex(str(hexadecimal[:400], "ascii"))
        except (OverflowError, ValueError):
            number = float("inf")
        return 2, -number if sign else number
    return 2, _decimal(sign, decimal)


def _decimal(sign: bytes | None, text: bytes) -> Any:
    """A float where that tells the number from all others that are as short, else a Decimal."""
    mantissa, letter, exponent = text.lower().partition(b"e")
    if len(exponent.lstrip(b"+-0")) > 6:
        zero = not mantissa.strip(b"0.") or exponent.startswith(b"-")
        return 0.0 if zero else float("-inf" if sign else "inf")
    if b"." in mantissa:
        mantissa = mantissa.rstrip(b"0")
    if len(mantissa) <= 15 and len(exponent) <= 4 and abs(int(exponent or b"0")) < _FLOAT_POWER:
        number = float(mantissa + letter + exponent) if mantissa != b"." else 0.0
        return -number if sign else number
    from decimal import Decimal

    return Decimal(str(mantissa + letter + exponent, "ascii")).copy_sign(-1 if sign else 1)


def mirror(flags: set[str], terminator: bytes) -> Callable[[list[Any]], list[Any]]:
    """Values in the opposite order."""
    if flags & set("nMh"):
        return lambda values: [-value for value in values]
    if "g" in flags:
        return lambda values: [(-first, -second) for first, second in values]
    if "V" in flags:
        return lambda values: [_Opposite(value) for value in values]
    skipped = terminator[0]
    ranks = [byte - (byte > skipped) for byte in range(256)]
    table = bytes([254 - rank if byte != skipped else 255 for byte, rank in enumerate(ranks)])
    if "R" in flags:
        return lambda values: [value.translate(bytes(range(255, -1, -1))) for value in values]
    return lambda values: [value.translate(table) + b"\xff" for value in values]


class _Opposite:
    """Compares the other way round."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value

    def __lt__(self, other: _Opposite) -> bool:
        return bool(other.value < self.value)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Opposite) and bool(self.value == other.value)
