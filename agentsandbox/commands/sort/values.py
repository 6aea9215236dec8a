"""The values by which `sort` compares: one for each text of a key.

Python compares the values instead of the texts, so values of one ordering must compare as GNU
compares the texts. A converter works on a column, the texts of many lines at once. Where all texts
of a column have a simple form, which is the common case, one regular expression over the joined
column finds the numbers; otherwise each text is read by itself. Both give values that compare with
each other, since the runs of one sort may take different ways.

Numbers are int or float where these are exact enough, and Decimal where they are not.
"""

from __future__ import annotations

import re

from agentsandbox.kernel.expressions import lazily_bytes

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
_NUMBER = lazily_bytes(rb"[ \t\n]*(-?)([0-9]*)(?:\.([0-9]*))?(.?)", re.DOTALL)
_LONG = 1 << 16
"""Bytes of a text from which on it is read by itself."""
_ONLY_INTEGERS = b"0123456789- \t\n"
_LEADING_INTEGER = lazily_bytes(rb"^[ \t]*+(-?[0-9]{1,18}+)(?![0-9.])", re.MULTILINE)
_DECIMAL = rb"^[ \t]*+(-?(?:[0-9]{1,9}+(?:\.[0-9]{0,6}+)?+|\.[0-9]{1,6}+))"
_LEADING_DECIMAL = lazily_bytes(_DECIMAL + rb"(?![0-9.])", re.MULTILINE)
"""Numbers short enough for a float to tell any two of them apart."""
_LEADING_PLAIN = lazily_bytes(_DECIMAL + rb"(?![0-9.eExX])", re.MULTILINE)
"""The same numbers, with no exponent or hexadecimal digits behind them."""
_LEADING_HUMAN = lazily_bytes(
    rb"^[ \t]*+(-?[0-9]{1,9}+(?:\.[0-9]{1,2}+)?+)(?![0-9.])([KMGTPEZYk]?)", re.MULTILINE
)
_GENERAL = lazily_bytes(
    rb"[ \t\n\v\f\r]*(?:\+|(-))?(?:(nan(?:\([a-z0-9_]*\))?)"
    rb"|(0x(?:[0-9a-f]+\.?[0-9a-f]*|\.[0-9a-f]+)(?:p[+-]?[0-9]+)?)"
    rb"|(inf(?:inity)?|(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:e[+-]?[0-9]+)?))",
    re.IGNORECASE,
)
_UNITS = {letter: power for power, letter in enumerate(b"KMGTPEZY", 1)} | {ord("k"): 1}
_HUMAN_BASE = 2.0**40
_HUMAN_BASES = {b"": 0.0} | {
    bytes([letter]): power * _HUMAN_BASE for letter, power in _UNITS.items()
}
"""The amount that a unit adds to a short number (nine digits, two after the point): the sums
compare as the numbers with their units do."""


def as_text(values: list[Any]) -> list[Any]:
    """Return bytes as str of one character a byte, which is faster; other values unchanged."""
    if not values or not isinstance(values[0], bytes):
        return values
    found = str(b"\n".join(values), "latin-1").split("\n")
    return found if len(found) == len(values) else [str(value, "latin-1") for value in values]


def converter(flags: set[str], salt: tuple[bytes, bytes]) -> Callable[[Sequence[bytes]], list[Any]]:
    """Return the function from texts to values for these orderings."""
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

        def simple(texts: Sequence[bytes]) -> list[Any]:
            return list(texts)

    if "R" in flags:
        from hashlib import md5  # to shuffle, not for security

        before, after = salt
        return lambda texts: [
            md5(before + text + after, usedforsecurity=False).digest() for text in simple(texts)
        ]
    if "V" in flags:
        from agentsandbox.commands._text.versions import version_keys

        return lambda texts: version_keys(simple(texts))
    return simple


def _integers(texts: Sequence[bytes]) -> list[Any]:
    """Return numbers for `-n`. Most columns hold plain integers."""
    joined = b"\n".join(texts)
    if not joined.translate(None, _ONLY_INTEGERS):
        try:
            return list(map(int, texts))
        except ValueError:  # an empty text, two numbers, too many digits
            pass
    # the patterns read each text to its end, the expression for one only its number
    if joined.count(b"\n") >= len(texts) or len(joined) > _LONG * len(texts):
        return [_value(*_NUMBER.match(text).groups()) for text in texts]  # type: ignore[union-attr]
    for pattern, convert in ((_LEADING_INTEGER, int), (_LEADING_DECIMAL, float)):
        found = pattern.findall(joined)
        if len(found) == len(texts):  # at most one for each text, so that it is one for each
            return list(map(convert, found))
    return [_value(*_NUMBER.match(text).groups()) for text in texts]  # type: ignore[union-attr]


def _value(sign: bytes, digits: bytes, fraction: bytes | None, _rest: bytes = b"") -> Any:
    """Return an int, a float if it is exact enough to compare, else a Decimal."""
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
    """Return numbers with units for `-h`. Most columns hold short ones."""
    joined = b"\n".join(texts)
    simple = joined.count(b"\n") < len(texts) and len(joined) <= _LONG * len(texts)
    found = _LEADING_HUMAN.findall(joined) if simple else ()
    if len(found) != len(texts):
        return [_human(text) for text in texts]
    if b"-" in joined and any(text.startswith(b"-") for text, _ in found):
        return [_whole(float(text), unit) for text, unit in found]
    return [(number := float(text)) and number + _HUMAN_BASES[unit] for text, unit in found]


def _whole(number: float, unit: bytes) -> float:
    """Return a short number and its unit as one float."""
    if not number:
        return 0.0
    return number + _HUMAN_BASES[unit] if number > 0 else number - _HUMAN_BASES[unit]


def _human(text: bytes) -> Any:
    """Return the value of one text for `-h`: the unit decides first, then the number."""
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
    """A long number with a unit. It compares also with the floats of short ones."""

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


def _generals(texts: Sequence[bytes]) -> list[tuple[int, float]]:
    """Return numbers for `-g`. Most columns hold short ones without an exponent."""
    joined = b"\n".join(texts)
    simple = joined.count(b"\n") < len(texts) and len(joined) <= _LONG * len(texts)
    found = _LEADING_PLAIN.findall(joined) if simple else ()
    if len(found) == len(texts):
        return [(2, number) for number in map(float, found)]
    return [_general(text) for text in texts]


def _general(text: bytes) -> tuple[int, float]:
    """Return the value of one text for `-g`: no number, then NaN, then numbers."""
    found = _GENERAL.match(text)
    if found is None:
        return 0, 0.0
    sign, nan, hexadecimal, decimal = found.groups()
    if nan:
        return 1, float(sign is not None)
    try:
        number = float.fromhex(str(hexadecimal[:400], "ascii")) if hexadecimal else float(decimal)
    except (OverflowError, ValueError):
        number = float("inf")
    return 2, -number if sign else number


def mirror(flags: set[str], terminator: bytes) -> Callable[[list[Any]], list[Any]]:
    """Return the function that turns the order of the values round."""
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
    """A value that compares the other way round."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value

    def __lt__(self, other: _Opposite) -> bool:
        return bool(other.value < self.value)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Opposite) and bool(self.value == other.value)
