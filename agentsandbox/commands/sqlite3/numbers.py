"""Numbers as SQLite 3.40 prints them: with 15 digits for people, with 20 for SQL and JSON.

The 20 digits come from the extended precision of the processor, 64 bits of a number, and are not
all right: they are computed here the same way, with a number as (mantissa below 2**64, exponent).
"""

from __future__ import annotations

import math

_Extended = tuple[int, int]

_ROUNDERS = {14: 5.0e-05 * 1.0e-10, 19: 5.0e-10 * 1.0e-10}
"""What is added before the rest is cut off, by the number of digits after the first."""


def number_text(value: float) -> str:
    """A float with 15 digits, always with a point."""
    if value != value:
        return ""
    if math.isinf(value):
        return "Inf" if value > 0 else "-Inf"
    if not value:
        return "0.0"
    text = f"{value:.15g}"
    if float(text) != value:
        return _decimal(value, 14)
    mantissa, e, exponent = text.partition("e")
    if "." not in mantissa:
        mantissa += ".0"
    return mantissa + e + exponent


def exact_text(value: float) -> str:
    """A float with 20 digits, always with a point."""
    if math.isinf(value):
        return "1e999" if value > 0 else "-1e999"
    return _decimal(value, 19) if value else "0.0"


def _decimal(value: float, precision: int) -> str:
    sign = "-" if value < 0 else ""
    number, exponent = _normalized(_extended(abs(value)))
    number = _add(number, _extended(_ROUNDERS[precision]))
    if not _less(number, (10, 0)):
        number = _multiply(number, _extended(0.1))
        exponent += 1
    digits: list[int] = []
    for _ in range(precision + 1):
        digit = number[0] << number[1] if number[1] >= 0 else number[0] >> -number[1]
        digits.append(digit)
        number = _multiply(_subtract(number, digit), (10, 0))
    return sign + _placed("".join(map(str, digits)), exponent, precision)


def _placed(digits: str, exponent: int, precision: int) -> str:
    if exponent < -4 or exponent > precision:
        fraction = digits[1:].rstrip("0") or "0"
        return f"{digits[0]}.{fraction}e{'-' if exponent < 0 else '+'}{abs(exponent):02d}"
    if exponent < 0:
        return "0." + ("0" * (-exponent - 1) + digits).rstrip("0")
    return f"{digits[: exponent + 1]}.{digits[exponent + 1 :].rstrip('0') or '0'}"


def _normalized(number: _Extended) -> tuple[_Extended, int]:
    """The number between 1 and 10, and the power of ten that it lacks."""
    scale: _Extended = (1, 0)
    exponent = 0
    for step, power in ((1e100, 100), (1e10, 10), (10.0, 1)):
        factor = _extended(step)
        while not _less(number, _multiply(factor, scale)):
            scale = _multiply(scale, factor)
            exponent += power
    number = _divide(number, scale)
    while _less(number, _extended(1e-8)):
        number = _multiply(number, _extended(1e8))
        exponent -= 8
    while _less(number, (1, 0)):
        number = _multiply(number, (10, 0))
        exponent -= 1
    return number, exponent


def _extended(value: float) -> _Extended:
    fraction, exponent = math.frexp(value)
    return int(fraction * 2**53), exponent - 53


def _rounded(mantissa: int, exponent: int) -> _Extended:
    """To 64 bits, a half to even."""
    surplus = mantissa.bit_length() - 64
    if surplus <= 0:
        return mantissa, exponent
    kept = mantissa >> surplus
    rest = mantissa - (kept << surplus)
    half = 1 << (surplus - 1)
    if rest > half or (rest == half and kept & 1):
        kept += 1
    return kept, exponent + surplus


def _multiply(one: _Extended, other: _Extended) -> _Extended:
    return _rounded(one[0] * other[0], one[1] + other[1])


def _divide(one: _Extended, other: _Extended) -> _Extended:
    quotient, rest = divmod(one[0] << 160, other[0])
    return _rounded(quotient << 1 | (1 if rest else 0), one[1] - other[1] - 161)


def _add(one: _Extended, other: _Extended) -> _Extended:
    lowest = min(one[1], other[1])
    return _rounded((one[0] << (one[1] - lowest)) + (other[0] << (other[1] - lowest)), lowest)


def _subtract(one: _Extended, digit: int) -> _Extended:
    if one[1] >= 0:
        return _rounded((one[0] << one[1]) - digit, 0)
    return _rounded(one[0] - (digit << -one[1]), one[1])


def _less(one: _Extended, other: _Extended) -> bool:
    lowest = min(one[1], other[1])
    return one[0] << (one[1] - lowest) < other[0] << (other[1] - lowest)
