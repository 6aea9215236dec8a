"""`printf` and the text of numbers, as gawk formats them."""

from __future__ import annotations

import math
import re
from functools import lru_cache

from agentsandbox.languages.awk.values import AwkFatal, Strnum, Unset, integral_text, to_number

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = ["Directive", "as_bytes", "format_one", "format_text", "format_values", "parse_format"]

_DIRECTIVE = re.compile(
    r"%(?:(?P<position>[0-9]+)\$)?(?P<flags>[-+ #0']*)(?P<width>\*(?:[0-9]+\$)?|[0-9]+)?(?:\.(?P<precision>\*(?:[0-9]+\$)?|[0-9]*))?"
    r"[hlLjztP]?(?P<letter>[A-Za-z%])"
)
_WIDEST = 1 << 31
_HEXADECIMAL_PLACES = 13


class Directive:
    """One `%` directive. Width and precision are None, a number, or "*"; `text` is how it was written."""

    __slots__ = ("end", "flags", "letter", "position", "precision", "text", "width")

    def __init__(self, found: re.Match[str]) -> None:
        self.text = found[0]
        self.end = found.end()
        self.flags = found["flags"]
        self.letter = found["letter"]
        self.position = int(found["position"]) if found["position"] and len(found["position"]) < 6 else None
        self.width = _size(found["width"])
        precision = found["precision"]
        self.precision = 0 if precision == "" else _size(precision)


def _size(text: str | None) -> int | str | None:
    if text is None:
        return None
    if text[0] == "*":
        return "*"
    return int(text) if len(text) < 10 else _WIDEST


@lru_cache(maxsize=256)
def parse_format(template: str) -> tuple[str | Directive, ...]:
    """Literal text and directives in turn; what is no directive stays literal, as gawk leaves it."""
    parts: list[str | Directive] = []
    position = 0
    pending = ""
    while True:
        start = template.find("%", position)
        if start < 0:
            break
        pending += template[position:start]
        found = _DIRECTIVE.match(template, start)
        if found is None or found["letter"] not in "diouxXeEfFgGaAcs%":
            end = found.end() if found is not None else start + 1
            pending += template[start:end]
            position = end
            continue
        position = found.end()
        if found["letter"] == "%":
            pending += "%"
            continue
        if pending:
            parts.append(pending)
            pending = ""
        parts.append(Directive(found))
    pending += template[position:]
    if pending:
        parts.append(pending)
    return tuple(parts)


def format_values(
    template: str,
    values: Sequence[object],
    text_of: Callable[[object], str],
    charge: Callable[[int], None],
    sound: Callable[[str], str] = str,
) -> str:
    """`sprintf`: `text_of` words a value, `charge` refuses sizes that are too large before they are made.

    sound  what counts of a text that is padded or cut
    """
    pieces: list[str] = []
    total = 0
    taken = 0
    parts = parse_format(template)
    counted = any(type(part) is Directive and part.position is not None for part in parts[:2])
    for part in parts:
        if type(part) is str:
            pieces.append(part)
            continue
        directive: Directive = part  # type: ignore[assignment]
        width, precision, flags = directive.width, directive.precision, directive.flags
        if width == "*":
            width = int_of(_argument(values, taken, template, directive))
            taken += 1
            if width < 0:
                flags, width = flags + "-", -width
        if precision == "*":
            precision = int_of(_argument(values, taken, template, directive))
            taken += 1
            if precision < 0:
                precision = None
        if (directive.position is not None) != counted:
            raise AwkFatal("must use `count$' on all formats or none")
        if directive.position is not None:
            if not directive.position:
                raise AwkFatal("argument index with `$' must be > 0")
            if directive.position > len(values):
                raise AwkFatal(f"argument index {directive.position} greater than total number of supplied arguments")
            value = values[directive.position - 1]
        else:
            value = _argument(values, taken, template, directive)
            taken += 1
        charge(max(int(width or 0), int(precision or 0)))
        if directive.letter == "s" and (width or precision is not None):
            value = sound(text_of(value))
        piece = format_one(directive.letter, flags, int(width or 0), precision, value, text_of)  # type: ignore[arg-type]
        total += len(piece)
        charge(total)
        pieces.append(piece)
    return "".join(pieces)


def _argument(values: Sequence[object], number: int, template: str, directive: Directive) -> object:
    if 0 <= number < len(values):
        return values[number]
    blanks = " " * (directive.end - 2)
    raise AwkFatal(f"not enough arguments to satisfy format string\n\t`{template}'\n\t{blanks} ^ ran out for this one")


def int_of(value: object) -> int:
    """A width or precision."""
    number = to_number(value)
    return int(number) if abs(number) < _WIDEST else _WIDEST


def format_one(letter: str, flags: str, width: int, precision: int | None, value: object, text_of: Callable[[object], str]) -> str:
    """One value by one directive."""
    if letter == "s":
        text = text_of(value)
        return format_text(text if precision is None else text[:precision], flags, width)
    if letter == "c":
        return format_text(_character(value, text_of), flags, width)
    number = to_number(value)
    if number - number != 0.0:
        return format_text(integral_text(number) or "", flags, width)
    if letter in "diouxX":
        return _integer(letter, flags, width, precision, int(number))
    return _real(letter, flags, width, precision, number)


def as_bytes(text: str) -> str:
    """What `%c` made of numbers above 127, in the locale C: one byte each."""
    if text.isascii():
        return text
    codes = [code if code < 128 or 0xDC80 <= code < 0xDD00 else code & 255 for code in map(ord, text)]
    return "".join([chr(code if code < 128 or code > 255 else 0xDC00 + code) for code in codes])


def format_text(text: str, flags: str, width: int) -> str:
    """Padded to `width` characters with blanks."""
    if len(text) >= width:
        return text
    return text.ljust(width) if "-" in flags else text.rjust(width)


def _character(value: object, text_of: Callable[[object], str]) -> str:
    if type(value) is Strnum:
        value = to_number(value)
    if isinstance(value, float) and not isinstance(value, Unset):
        code = int(value) if abs(value) < 1e15 else 0
        if 0 <= code < 0x110000 and not 0xD800 <= code < 0xE000:
            return chr(code)
        low = code & 255
        return chr(low) if low < 128 else chr(0xDC00 + low)
    return text_of(value)[:1] or "\0"


def _integer(letter: str, flags: str, width: int, precision: int | None, number: int) -> str:
    if letter in "di":
        digits = str(abs(number))
        sign = "-" if number < 0 else "+" if "+" in flags else " " if " " in flags else ""
    else:
        if number < 0:
            number += 1 << 64
            if number < 0:  # below what 64 bits hold
                return _real("g", flags, width, precision, float(number - (1 << 64)))
        sign = ""
        digits = {"u": "d"}.get(letter, letter)
        digits = format(number, digits)
        if "#" in flags and number:
            if letter == "o":
                digits = "0" + digits
            elif letter in "xX":
                sign = "0" + letter
    if precision is not None:
        digits = digits.rjust(precision, "0") if number or precision else ""
    elif "0" in flags and "-" not in flags:
        digits = digits.rjust(width - len(sign), "0")
    return format_text(sign + digits, flags, width)


def _real(letter: str, flags: str, width: int, precision: int | None, number: float) -> str:
    marks = "".join(mark for mark in "+ #" if mark in flags)
    digits = 6 if precision is None else precision
    if letter in "aA":
        return _hexadecimal(letter, flags, width, precision, number)
    text = f"%{marks}.{min(digits, 1100)}{letter}" % number
    if digits > 1100 and letter in "fFeE":
        mantissa, exponent = (text, "") if letter in "fF" else (text[: text.lower().index("e")], text[text.lower().index("e") :])
        text = mantissa + "0" * (digits - 1100) + exponent
    if "0" in flags and "-" not in flags and len(text) < width:
        sign = text[0] if text[0] in "+- " else ""
        text = sign + text[len(sign) :].rjust(width - len(sign), "0")
    return format_text(text, flags, width)


def _hexadecimal(letter: str, flags: str, width: int, precision: int | None, number: float) -> str:
    """`%a`: 53 binary digits, the first before the point, the others in groups of four."""
    head, exponent = abs(number).hex().split("p")
    whole = int(head.replace(".", ""), 16) << (0 if "." in head and len(head) > 5 else 48)
    places = _HEXADECIMAL_PLACES
    if precision is not None and precision < places:
        dropped = 4 * (places - precision)
        half, rest = 1 << (dropped - 1), whole & ((1 << dropped) - 1)
        whole >>= dropped
        whole += rest > half or (rest == half and whole & 1)
        places = precision
    digits = f"{whole:0{places + 1}x}"
    first, others = digits[: len(digits) - places], digits[len(digits) - places :]
    others = others.rstrip("0") if precision is None else others.ljust(precision, "0")
    point = "." if others or "#" in flags else ""
    sign = "-" if math.copysign(1.0, number) < 0 else "+" if "+" in flags else " " if " " in flags else ""
    text = f"{first}{point}{others}p{exponent}"
    if "0" in flags and "-" not in flags:
        text = text.rjust(width - len(sign) - 2, "0")
    text = f"{sign}0x{text}"
    return format_text(text.upper() if letter == "A" else text, flags, width)
