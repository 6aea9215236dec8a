"""The conversions from text to numbers where more texts are numbers than by default."""

from __future__ import annotations

import math
import re

from agentsandbox.commands.awk.values import Strnum, from_input, parse_number, to_number
from agentsandbox.kernel.expressions import lazily

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

_BLANKS = " \t\n\r\f\v"
_HEXADECIMAL = lazily(
    r"[+-]?0[xX](?:([0-9a-fA-F]++)(?:\.([0-9a-fA-F]*+))?|\.([0-9a-fA-F]++))"
    r"(?:[pP]([+-]?[0-9]{1,6}))?"
)
_NAMED = lazily(r"([+-]?)(?:(inf(?:inity)?)|nan(?:\([0-9a-z_]*+\))?)", re.IGNORECASE)
_INTEGER = lazily(r"0(?:[xX]([0-9a-fA-F]++)|([0-7]++)(?![0-9.eE]))")


class Converted(Strnum):
    """Input that is a number in this mode only."""

    __slots__ = ("number",)
    number: float

    def __float__(self) -> float:
        return self.number

    def __bool__(self) -> bool:
        return self.number != 0.0


def _posix_number(text: str) -> tuple[float, int]:
    """Return a number as the C library's `strtod` reads it, and where it ends; 0 for none."""
    negative = text.startswith("-")
    found = _HEXADECIMAL.match(text)
    if found is not None:
        whole, fraction, lone, exponent = found.groups()
        fraction = fraction or lone or ""
        digits = int((whole or "") + fraction, 16)
        try:
            number = math.ldexp(digits, int(exponent or 0) - 4 * len(fraction))
        except OverflowError:
            number = math.inf
        return (-number if negative else number), found.end()
    found = _NAMED.match(text)
    if found is None:
        return 0.0, 0
    number = math.inf if found[2] else math.nan
    return (-number if negative else number), found.end()


def _non_decimal_number(text: str) -> tuple[float, int]:
    """Return an octal or hexadecimal number, and where it ends; 0 for none."""
    found = _INTEGER.match(text)
    if found is None:
        is_signed = text.startswith(("-0x", "+0x", "-0X", "+0X"))
        return _posix_number(text) if is_signed else (0.0, 0)
    digits, base = (found[1], 16) if found[1] else (found[2], 8)
    return float(int(digits, base)) if len(digits) < 250 else math.inf, found.end()


def conversions(*, posix: bool) -> dict[str, Callable[..., Any]]:
    """Return the conversions of a mode that reads such numbers: `--posix`, or the other one."""
    parse = _posix_number if posix else _non_decimal_number

    def looks(text: str) -> Any:
        bare = text.strip(_BLANKS)
        number, end = parse(bare)
        if not end or end < len(bare):
            return from_input(text)
        made = Converted(text)
        made.number = number
        return made

    def as_number(text: str) -> float:
        number, end = parse(text.lstrip(_BLANKS))
        return number if end else parse_number(text)

    def num(value: Any) -> float:
        return as_number(value) if type(value) is str else to_number(value)

    def numeric(text: str) -> float | None:
        value = looks(text)
        return to_number(value) if isinstance(value, Strnum) else None

    return {"from_input": looks, "numeric_input": numeric, "field_number": as_number, "num": num}
