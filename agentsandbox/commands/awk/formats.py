"""`printf` and the text of numbers, as gawk formats them."""

from __future__ import annotations

import math
import re

from agentsandbox.commands.awk.values import AwkFatal, Strnum, Unset, integral_text, to_number
from agentsandbox.kernel.caching import cache_short
from agentsandbox.kernel.streams import encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_DIRECTIVE = re.compile(
    r"%(?:(?P<position>[0-9]+)\$)?(?P<flags>[-+ #0']*)(?P<width>\*(?:[0-9]+\$)?|[0-9]+)?(?:\.(?P<precision>\*(?:[0-9]+\$)?|-?[0-9]*))?"
    r"[hlLjztP]?(?P<letter>[A-Za-z%])"
)
_WIDEST = 1 << 31
_HEXADECIMAL_PLACES = 13


class Directive:
    """One `%` directive. Width and precision are None, a number, "*" or "*N$"; `text` is how it was
    written.
    """

    __slots__ = (
        "end",
        "flags",
        "letter",
        "position",
        "precision",
        "precision_end",
        "text",
        "width",
        "width_end",
    )

    def __init__(self, found: re.Match[str]) -> None:
        self.text = found[0]
        self.end = found.end()
        self.flags = found["flags"]
        self.letter = found["letter"]
        self.position = (
            int(found["position"]) if found["position"] and len(found["position"]) < 6 else None
        )
        self.width = _size(found["width"])
        precision = found["precision"]
        self.precision = (
            0
            if precision == ""
            else None
            if precision and precision[0] == "-"
            else _size(precision)
        )
        self.width_end, self.precision_end = found.end("width"), found.end("precision")


def _size(text: str | None) -> int | str | None:
    if text is None:
        return None
    if text[0] == "*":
        return text
    return int(text) if len(text) < 10 else _WIDEST


@cache_short(256)
def parse_format(template: str) -> tuple[str | Directive, ...]:
    """Literal text and directives in turn; what is no directive stays literal, as gawk leaves
    it.
    """
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
    """`sprintf`: `text_of` words a value, `charge` refuses sizes that are too large before they are
    made.

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
        if (directive.position is not None) != counted:
            raise AwkFatal("must use `count$' on all formats or none")
        if directive.position is not None:
            _positional(values, directive.position)
        if isinstance(width, str):
            star, width = (
                width,
                int_of(_star(values, taken, template, directive, width, directive.width_end)),
            )
            taken += star == "*"
            if width < 0:
                flags, width = flags + "-", -width
        if isinstance(precision, str):
            star, precision = (
                precision,
                int_of(
                    _star(values, taken, template, directive, precision, directive.precision_end)
                ),
            )
            taken += star == "*"
            if precision < 0:
                precision = None
        if directive.position is not None:
            value = _positional(values, directive.position)
        else:
            value = _argument(values, taken, template, directive.end)
            taken += 1
        charge(max(int(width or 0), int(precision or 0)))
        if directive.letter == "s" and (width or precision is not None):
            value = sound(text_of(value))
        piece = format_one(directive.letter, flags, int(width or 0), precision, value, text_of)
        total += len(piece)
        charge(total)
        pieces.append(piece)
    return "".join(pieces)


def _argument(values: Sequence[object], number: int, template: str, end: int) -> object:
    if 0 <= number < len(values):
        return values[number]
    blanks = " " * (end - 2)
    raise AwkFatal(
        f"not enough arguments to satisfy format string\n\t`{template}'\n\t{blanks} ^ ran out for this one"
    )


def _positional(values: Sequence[object], position: int) -> object:
    """The argument with a number."""
    if not position:
        raise AwkFatal("argument index with `$' must be > 0")
    if position > len(values):
        raise AwkFatal(f"argument index {position} greater than total number of supplied arguments")
    return values[position - 1]


def _star(
    values: Sequence[object], taken: int, template: str, directive: Directive, star: str, end: int
) -> object:
    """The width or precision that an argument gives."""
    if star != "*":
        number = int(star[1:-1])
        return _argument(values, number - 1, template, end) if number else 0.0
    if directive.position is not None:
        raise AwkFatal("fatal: must use `count$' on all formats or none")
    return _argument(values, taken, template, end)


def int_of(value: object) -> int:
    """A width or precision."""
    number = to_number(value)
    return int(number) if abs(number) < _WIDEST else _WIDEST


def format_one(
    letter: str,
    flags: str,
    width: int,
    precision: int | None,
    value: object,
    text_of: Callable[[object], str],
) -> str:
    """One value by one directive."""
    if letter == "s":
        text = text_of(value)
        return format_text(text if precision is None else text[:precision], flags, width)
    if letter == "c":
        value = to_number(value) if type(value) is Strnum else value
        text = _character(value, text_of)
        if not text.isascii() and isinstance(value, float):
            width -= len(encode(text)) - len(text)  # the bytes of a number's character count
        return format_text(text, flags, width)
    number = to_number(value)
    if number - number != 0.0:
        special = integral_text(number) or ""
        return special.upper() if letter.isupper() else special
    if letter in "di":
        return _integer(flags, width, precision, int(number))
    if letter in "ouxX":
        return _natural(letter, flags, width, precision, number)
    return _real(letter, flags, width, precision, number)


def as_bytes(text: str) -> str:
    """What `%c` made of numbers above 127, in the locale C: one byte each."""
    if text.isascii():
        return text
    codes = [
        code if code < 128 or 0xDC80 <= code < 0xDD00 else code & 255 for code in map(ord, text)
    ]
    return "".join([chr(code if code < 128 or code > 255 else 0xDC00 + code) for code in codes])


def format_text(text: str, flags: str, width: int) -> str:
    """Padded to `width` characters with blanks."""
    if len(text) >= width:
        return text
    return text.ljust(width) if "-" in flags else text.rjust(width)


def _character(value: object, text_of: Callable[[object], str]) -> str:
    if isinstance(value, float) and not isinstance(value, Unset):
        return _numbered_character(int(value) & 0xFFFFFFFF if abs(value) < _WIDEST**2 else 0)
    return text_of(value)[:1] or "\0"


def _numbered_character(code: int) -> str:
    """The character with a number: up to 31 bits as UTF-8 once was, else a byte."""
    if code < 0x110000 and not 0xD800 <= code < 0xE000:
        return chr(code)
    if code >= _WIDEST or code < 0x110000:
        low = code & 255
        return chr(low) if low < 128 else chr(0xDC00 + low)
    count = 3 + (code >= 1 << 21) + (code >= 1 << 26)
    head = (0xF00, 0xF80, 0xFC0)[count - 3] >> 4 | code >> 6 * count
    return "".join(
        [
            chr(0xDC00 + byte)
            for byte in (head, *[128 | code >> 6 * place & 63 for place in reversed(range(count))])
        ]
    )


def _integer(flags: str, width: int, precision: int | None, number: int) -> str:
    if precision == 0 and not number:
        return " " * width
    sign = "-" if number < 0 else "+" if "+" in flags else " " if " " in flags else ""
    return _padded(sign, str(abs(number)), flags, width, precision)


def _natural(letter: str, flags: str, width: int, precision: int | None, number: float) -> str:
    """By %o, %u, %x and %X; what 64 bits don't hold by %g."""
    whole = int(number)
    if not -(1 << 63) <= whole < 1 << 64:
        return _real("g", flags, width, precision, number)
    marked = "#" in flags and letter != "u"
    if precision == 0 and not number:
        return format_text("0" if marked else "", flags, width)
    digits = format(whole & (1 << 64) - 1, "d" if letter == "u" else letter).rjust(
        precision or 0, "0"
    )
    marked = marked and number != 0
    if letter == "o" and marked:
        digits = "0" + digits
    return _padded(
        f"0{letter}" if marked and letter != "o" else "", digits, flags, width, precision
    )


def _padded(sign: str, digits: str, flags: str, width: int, precision: int | None) -> str:
    if precision is not None:
        digits = digits.rjust(precision, "0")
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
        mantissa, exponent = (
            (text, "")
            if letter in "fF"
            else (text[: text.lower().index("e")], text[text.lower().index("e") :])
        )
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
    sign = (
        "-"
        if math.copysign(1.0, number) < 0
        else "+"
        if "+" in flags
        else " "
        if " " in flags
        else ""
    )
    text = f"{first}{point}{others}p{exponent}"
    if "0" in flags and "-" not in flags:
        text = text.rjust(width - len(sign) - 2, "0")
    text = f"{sign}0x{text}"
    return format_text(text.upper() if letter == "A" else text, flags, width)
