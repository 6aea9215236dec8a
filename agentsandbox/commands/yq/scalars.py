"""What scalars mean: tags of plain scalars, and numbers as yq reads and writes them.

Plain scalars have the tags of YAML 1.2's core schema, with the dates and the bases of 1.1.
Integers have 64 bits; floating-point numbers print in Go's shortest form.
"""

from __future__ import annotations

import math
import re
from decimal import Decimal

_LONG_PREFIX = "tag:yaml.org,2002:"
_WORDS = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL"), "!!null"),
    **dict.fromkeys(("true", "True", "TRUE", "false", "False", "FALSE"), "!!bool"),
    **dict.fromkeys((".nan", ".NaN", ".NAN"), "!!float"),
    **dict.fromkeys(
        (sign + word for sign in ("", "+", "-") for word in (".inf", ".Inf", ".INF")), "!!float"
    ),
}
_INTEGER = re.compile(
    r"(?P<sign>[-+]?)(?:(?P<decimal>0|[1-9][0-9]*)|0[xX](?P<hex>[0-9a-fA-F]+)"
    r"|0[oO]?(?P<octal>[0-7]+)|0[bB](?P<binary>[01]+))\Z"
)
_BASES = {"decimal": 10, "hex": 16, "octal": 8, "binary": 2}
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?\Z")
_DATE = re.compile(
    r"[0-9]{4}-(?:0?[1-9]|1[0-2])-(?:0?[1-9]|[12][0-9]|3[01])"
    r"(?:(?:[Tt]|[ ]+)[0-9]{1,2}:[0-9]{2}:[0-9]{2}(?:[.,][0-9]+)?"
    r"(?:[ ]*(?:Z|[-+][0-9]{1,2}(?::?[0-9]{2})?))?)?\Z"
)
_SIGNED = re.compile(r"(0[xXo])?([-+]?[0-9a-fA-F]{1,30})\Z")
_LONGEST = 400
_RANGE = 1 << 63


def short_tag(tag: str) -> str:
    """Return `tag:yaml.org,2002:str` as `!!str`."""
    return "!!" + tag[len(_LONG_PREFIX) :] if tag.startswith(_LONG_PREFIX) else tag


def resolve(text: str) -> str:
    """Return the tag of a plain scalar."""
    if text in _WORDS:
        return _WORDS[text]
    if text[0] not in "0123456789+-." or len(text) > _LONGEST:
        return "!!str"
    if _DATE.match(text):
        return "!!timestamp"
    plain = text.replace("_", "")
    found = _INTEGER.match(plain)
    if found is not None:
        kind = found.lastgroup or "decimal"
        value = int(found["sign"] + found[kind], _BASES[kind])
        if -_RANGE <= value < 2 * _RANGE:
            return "!!int"
    return "!!float" if _FLOAT.match(plain) else "!!str"


def parse_integer(text: str) -> int | None:
    """Return the value of an integer of 64 bits, or None."""
    found = _SIGNED.match(text)
    if found is None:
        return None
    try:
        value = int(found[2], {"": 10, "0x": 16, "0o": 8}[(found[1] or "").lower()])
    except ValueError:
        return None
    return value if -_RANGE <= value < _RANGE else None


def wrapped(value: int) -> int:
    """Return an integer wrapped to 64 bits."""
    return (value + _RANGE) % (2 * _RANGE) - _RANGE


def parse_float(text: str) -> float | None:
    """Return the value of a number, or None."""
    plain = text.replace("_", "")
    if len(plain) < _LONGEST and _FLOAT.match(plain):
        return float(plain)
    parsed = parse_integer(plain)
    if parsed is not None:
        return float(parsed)
    special = text.lower().lstrip("+-.")
    if special in ("inf", "nan"):
        return float("-inf") if special == "inf" and text[0] == "-" else float(special)
    return None


def format_float(value: float, *, exponent_from: int = 6, exponent_below: int = -4) -> str:
    """Return the fewest digits that tell a number apart, as Go's `%v` does.

    Powers of ten outside the two bounds are written with an exponent.
    """
    if not math.isfinite(value):
        return "NaN" if math.isnan(value) else "+Inf" if value > 0 else "-Inf"
    if value == 0:
        return "0"
    shown = Decimal(repr(value))
    exponent, sign = shown.adjusted(), "-" if value < 0 else ""
    shortest = "".join(map(str, shown.as_tuple().digits)).rstrip("0")
    if exponent < exponent_below or exponent >= exponent_from:
        fraction = f".{shortest[1:]}" if len(shortest) > 1 else ""
        return f"{sign}{shortest[0]}{fraction}e{exponent:+03d}"
    if exponent < 0:
        return f"{sign}0.{'0' * (-exponent - 1)}{shortest}"
    if len(shortest) <= exponent + 1:
        return sign + shortest.ljust(exponent + 1, "0")
    return f"{sign}{shortest[: exponent + 1]}.{shortest[exponent + 1 :]}"
