"""C's `long double` on x86, with 64 bits of mantissa: `strtold` and printf's %f %e %g.

bash's and coreutils' `printf`, `seq` and `numfmt` compute with it, and its digits differ from
those of a double. The caller charges width and precision before formatting.
"""

from __future__ import annotations

import re

from agentsandbox.kernel.expressions import lazily

_MANTISSA = 64
_LEAST_EXPONENT = -16445
_MOST_EXPONENT = 16383
_DIGITS = 1200
"""Decimal digits that are read; one more stands for all further digits that are not 0."""

_NUMBER = lazily(
    r"[ \t\n\v\f\r]*([+-]?)"
    r"(?:0[xX](?P<hex>[0-9a-fA-F]+)"
    r"|(?P<digits>[0-9]++(?:\.[0-9]*)?|\.[0-9]+)(?:[eE](?P<exponent>[+-]?[0-9]+))?"
    r"|(?P<word>inf(?:inity)?|nan(?:\([A-Za-z0-9_]*\))?))",
    re.IGNORECASE | re.ASCII,
)


class LongDouble:
    """The value ±mantissa·2^exponent, or `special`: "inf" or "nan"."""

    __slots__ = ("exponent", "mantissa", "negative", "special")

    def __init__(self, negative: bool, mantissa: int, exponent: int, special: str = "") -> None:
        self.negative = negative
        self.mantissa = mantissa
        self.exponent = exponent
        self.special = special

    @classmethod
    def from_int(cls, number: int) -> LongDouble:
        """Return the value nearest to an integer of moderate size."""
        return _round(number < 0, abs(number), 1)


def _round(negative: bool, numerator: int, denominator: int) -> LongDouble:
    """Return the value nearest to a fraction, ties to even."""
    if not numerator:
        return LongDouble(negative, 0, 0)
    exponent = numerator.bit_length() - denominator.bit_length() - _MANTISSA
    while True:
        exponent = max(exponent, _LEAST_EXPONENT)
        if exponent >= 0:
            quotient, rest = divmod(numerator, denominator << exponent)
            whole = denominator << exponent
        else:
            quotient, rest = divmod(numerator << -exponent, denominator)
            whole = denominator
        if quotient.bit_length() <= _MANTISSA:
            break
        exponent += 1
    quotient += 2 * rest > whole or (2 * rest == whole and quotient & 1)
    if quotient.bit_length() > _MANTISSA:
        quotient >>= 1
        exponent += 1
    if exponent + _MANTISSA - 1 > _MOST_EXPONENT:
        return LongDouble(negative, 0, 0, "inf")
    return LongDouble(negative, quotient, exponent)


def _parse_exponent(text: str | None) -> int:
    if not text:
        return 0
    return int(text) if len(text) < 9 else (-99_999_999 if text[0] == "-" else 99_999_999)


def _parse_decimal(digits: str, exponent: int, negative: bool) -> LongDouble:
    whole, _, fraction = digits.partition(".")
    significant = (whole + fraction).lstrip("0")
    exponent -= len(fraction)
    if not significant:
        return LongDouble(negative, 0, 0)
    if len(significant) > _DIGITS:
        exponent += len(significant) - _DIGITS
        more = bool(significant[_DIGITS:].strip("0"))
        significant = significant[: _DIGITS - 1] + (
            "1" if more and significant[_DIGITS - 1] == "0" else significant[_DIGITS - 1]
        )
    magnitude = exponent + len(significant)
    if magnitude > 5000:
        return LongDouble(negative, 0, 0, "inf")
    if magnitude < -5100:
        return LongDouble(negative, 0, 0)
    if exponent >= 0:
        return _round(negative, int(significant) * 10**exponent, 1)
    return _round(negative, int(significant), 10**-exponent)


def parse_long_double(text: str) -> tuple[LongDouble, int, bool]:
    """Parse as `strtold`: return the value, the characters used (0: no number), and ERANGE."""
    found = _NUMBER.match(text)
    if found is None:
        return LongDouble.from_int(0), 0, False
    negative = found[1] == "-"
    word = found["word"]
    if word:
        return LongDouble(negative, 0, 0, word[:3].lower()), found.end(), False
    if found["hex"]:
        value = _round(negative, int(found["hex"], 16), 1)
        nonzero = found["hex"].strip("0") != ""
    else:
        value = _parse_decimal(found["digits"], _parse_exponent(found["exponent"]), negative)
        nonzero = found["digits"].strip("0.") != ""
    out_of_range = bool(value.special) or (
        nonzero and value.mantissa.bit_length() < _MANTISSA and value.exponent == _LEAST_EXPONENT
    )
    return value, found.end(), out_of_range or (nonzero and not value.mantissa)


def _digits(number: int) -> str:
    """Return all decimal digits of an integer; `str` refuses more than 4300."""
    if number.bit_length() < 13000:
        return str(number)
    high, low = divmod(number, 10**3800)
    parts = [str(low).zfill(3800)]
    while high.bit_length() >= 13000:
        high, low = divmod(high, 10**3800)
        parts.append(str(low).zfill(3800))
    parts.append(str(high))
    return "".join(reversed(parts))


def _divide(numerator: int, denominator: int) -> int:
    """Return the nearest integer, ties to even."""
    quotient, rest = divmod(numerator, denominator)
    return quotient + (2 * rest > denominator or (2 * rest == denominator and quotient & 1))


def _fixed(value: LongDouble, precision: int, point: bool) -> str:
    exact = min(precision, max(0, -value.exponent))
    if value.exponent >= 0:
        digits = _digits(value.mantissa << value.exponent)
    else:
        digits = _digits(_divide(value.mantissa * 10**exact, 1 << -value.exponent))
        digits = digits.zfill(exact + 1)
    if not precision:
        return digits + ("." if point else "")
    cut = len(digits) - exact
    return f"{digits[:cut]}.{digits[cut:]}{'0' * (precision - exact)}"


def _significant(value: LongDouble, count: int) -> tuple[str, int]:
    """Return `count` significant digits, without zeros beyond them, and the decimal exponent."""
    if not value.mantissa:
        return "0" * min(count, 20000), 0
    count = min(count, 20000)
    bits = value.mantissa.bit_length() + value.exponent
    exponent = (bits - 1) * 30103 // 100000
    while True:
        power = count - 1 - exponent
        numerator = value.mantissa << max(0, value.exponent)
        denominator = 1 << max(0, -value.exponent)
        if power >= 0:
            digits = _digits(_divide(numerator * 10**power, denominator))
        else:
            digits = _digits(_divide(numerator, denominator * 10**-power))
        if len(digits) > count:
            exponent += 1
        elif len(digits) < count:
            exponent -= 1
        else:
            return digits, exponent


def _scientific(value: LongDouble, precision: int, point: bool) -> str:
    digits, exponent = _significant(value, precision + 1)
    digits = digits.ljust(precision + 1, "0")
    mantissa = digits[0] + ("." if precision or point else "") + digits[1:]
    return f"{mantissa}e{'-' if exponent < 0 else '+'}{abs(exponent):02d}"


def _general(value: LongDouble, precision: int, point: bool) -> str:
    precision = precision or 1
    _, exponent = _significant(value, precision)
    if -4 <= exponent < precision:
        text = _fixed(value, precision - 1 - exponent, point)
        return text if point or "." not in text else text.rstrip("0").rstrip(".")
    text = _scientific(value, precision - 1, point)
    if point or "." not in text:
        return text
    mantissa, _, power = text.partition("e")
    return f"{mantissa.rstrip('0').rstrip('.')}e{power}"


def format_long_double(
    value: LongDouble,
    conversion: str,
    precision: int | None = None,
    flags: str = "",
    width: int = 0,
) -> str:
    """Format as printf's %f %e %g and their capitals; `flags` of "-+ 0#"."""
    kind = conversion.lower()
    point = "#" in flags
    if value.special:
        text = value.special
    else:
        form = {"f": _fixed, "e": _scientific, "g": _general}[kind]
        text = form(value, 6 if precision is None else precision, point)
    if conversion.isupper():
        text = text.upper()
    sign = "-" if value.negative else "+" if "+" in flags else " " if " " in flags else ""
    if "-" in flags:
        return (sign + text).ljust(width)
    if "0" in flags and not value.special:
        return sign + text.rjust(width - len(sign), "0")
    return (sign + text).rjust(width)
