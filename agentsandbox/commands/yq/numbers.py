"""Numbers as yq reads and writes them: 64 bits, and floating-point numbers in Go's shortest
form.
"""

from __future__ import annotations

import math
import re

from agentsandbox.commands.yq.tags import number

_DECIMAL = re.compile(r"[-+]?[0-9]{1,30}\Z")
_HEXADECIMAL = re.compile(r"0[xX]([-+]?[0-9a-fA-F]{1,30})\Z")
_OCTAL = re.compile(r"0o([-+]?[0-7]{1,30})\Z")
_GO_FLOAT = re.compile(r"[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?\Z")
_RANGE = 1 << 63


def wrap(value: int) -> int:
    """An integer as 64 bits hold it."""
    return (value + _RANGE) % (2 * _RANGE) - _RANGE


def parse_integer(text: str) -> tuple[str, int] | None:
    """The notation ("", "0x", "0o") and the value of an integer of 64 bits; None if it is none."""
    for pattern, base, sign in ((_DECIMAL, 10, ""), (_HEXADECIMAL, 16, "0x"), (_OCTAL, 8, "0o")):
        found = pattern.match(text)
        if found is not None:
            value = int(found[found.lastindex or 0], base)
            return (sign, value) if -_RANGE <= value < _RANGE else None
    return None


def shown(notation: str, value: int) -> str:
    """An integer in a notation."""
    if notation == "0x":
        return f"0x{value:X}"
    return f"0o{value:o}" if notation == "0o" else str(value)


def parse_index(text: str) -> int | None:
    """The value of an integer."""
    parsed = parse_integer(text)
    return parsed[1] if parsed is not None else None


def parse_float(text: str) -> float | None:
    """The value of a number; None if it is none."""
    if len(text) < 400 and _GO_FLOAT.match(text):
        return float(text)
    parsed = parse_integer(text)
    if parsed is not None:
        return float(parsed[1])
    return number(text)


def go_float(value: float, *, exponent_from: int = 6, exponent_below: int = -4) -> str:
    """A floating-point number in the fewest digits that tell it apart, with an exponent outside
    those powers of ten.
    """
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "+Inf" if value > 0 else "-Inf"
    text = repr(value)
    sign = "-" if text[0] == "-" else ""
    mantissa, _, power = text.lstrip("-").partition("e")
    whole, _, fraction = mantissa.partition(".")
    digits = (whole + fraction).lstrip("0")
    exponent = (
        int(power or "0")
        + len(whole)
        - 1
        - (len(whole + fraction) - len((whole + fraction).lstrip("0")))
    )
    digits = digits.rstrip("0")
    if not digits:
        return sign + "0"
    if exponent < exponent_below or exponent >= exponent_from:
        rest = digits[1:]
        return f"{sign}{digits[0]}{'.' + rest if rest else ''}e{'-' if exponent < 0 else '+'}{abs(exponent):02d}"
    if exponent < 0:
        return f"{sign}0.{'0' * (-exponent - 1)}{digits}"
    if len(digits) <= exponent + 1:
        return sign + digits + "0" * (exponent + 1 - len(digits))
    return f"{sign}{digits[: exponent + 1]}.{digits[exponent + 1 :]}"
