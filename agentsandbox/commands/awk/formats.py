"""`printf` and the text of numbers, as gawk formats them."""

from __future__ import annotations

import re

from agentsandbox.commands.awk.values import AwkFatal, Strnum, Unset, integral_text, to_number
from agentsandbox.kernel.caching import cache_short
from agentsandbox.kernel.expressions import lazily
from agentsandbox.kernel.streams import encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from agentsandbox.commands.awk.modes import Mode

_DIRECTIVE = lazily(
    r"%(?P<first>[-+ #0']*+)(?:(?P<position>[0-9]*+)\$(?P<flags>[-+ #0']*+))?"
    r"(?P<width>\*[0-9]*+\$?+|[0-9]++)?"
    r"(?:\.(?P<precision>\*[0-9]*+\$?+|-?[0-9]*+)(?P<misplaced>\$)?)?"
    r"[hlLjztP]?(?P<letter>[A-Za-z%])"
)
_SIZES = frozenset("hlLjztP")
_WIDEST = 1 << 31
_MOST_DIGITS = 1100
"""Digits behind the point that Python formats; no float has more that are not 0."""


_MIXED = "must use `count$' on all formats or none"


class Directive:
    """One `%` directive. Width and precision are None, a number, or "*".

    `position`      is the number of the argument, None for the next one
    `width_at`      and `precision_at` are the numbers of the arguments behind a `*`, None for the
                    next one
    `ends`          are the places in the format behind width, precision and directive
    """

    __slots__ = (
        "ends", "flags", "letter", "misplaced", "position", "precision", "precision_at", "text",
        "width", "width_at",
    )  # fmt: skip

    def __init__(self, found: re.Match[str]) -> None:
        self.text = found[0]
        self.ends = (found.end("width"), found.end("precision"), found.end())
        self.flags = found["first"] + (found["flags"] or "")
        self.letter = found["letter"]
        self.position = None if found["position"] is None else _number(found["position"])
        self.misplaced = found["misplaced"] is not None
        self.width, self.width_at = _size(found["width"])
        precision = found["precision"]
        if precision is not None and precision[:1] in ("", "-"):
            precision = None if precision else "0"
        self.precision, self.precision_at = _size(precision)

    @property
    def is_refused(self) -> bool:
        """Whether gawk has it, but not this awk: hexadecimal fractions."""
        return self.letter in "aA"


def _number(digits: str) -> int:
    return int(digits or "0") if len(digits) < 10 else _WIDEST


def _size(text: str | None) -> tuple[int | str | None, int | None]:
    """Return a width or precision, and the number of the argument behind `*`; -1 without `$`."""
    if text is None:
        return None, None
    if text[0] != "*":
        return _number(text), None
    if len(text) == 1:
        return "*", None
    return "*", _number(text[1:-1]) if text[-1] == "$" else -1


class _Arguments:
    """The arguments of one format, taken one after the other or by their numbers."""

    __slots__ = ("_by_number", "_next", "_template", "_values")

    def __init__(self, template: str, values: Sequence[object]) -> None:
        self._template = template
        self._values = values
        self._next = 0
        self._by_number = False

    def begin(self, part: Directive) -> None:
        """Check the `$` of a directive."""
        position = part.position
        if position is not None:
            self._by_number = True
            if position <= 0:
                raise AwkFatal("argument index with `$' must be > 0")
            if position > len(self._values):
                raise AwkFatal(
                    f"argument index {position} greater than total number of supplied arguments"
                )
        if part.misplaced:
            raise AwkFatal("`$' not permitted after period in format")

    def size(self, number: int | None, end: int) -> int:
        """Return the width or precision of a `*`; `end` is its place in the format."""
        if number is None:
            if self._by_number:
                raise AwkFatal(f"fatal: {_MIXED}")
            return _int_of(self._take(end))
        if number < 0:
            raise AwkFatal("no `$' supplied for positional field width or precision")
        if number > len(self._values):
            raise self._ran_out(end)
        return _int_of(self._values[number - 1] if number else self._template)

    def value(self, part: Directive) -> object:
        """Return the argument of a directive."""
        if part.position is None:
            if self._by_number:
                raise AwkFatal(_MIXED)
            return self._take(part.ends[2])
        if self._next:
            raise AwkFatal(_MIXED)
        return self._values[part.position - 1]

    def _take(self, end: int) -> object:
        if self._next >= len(self._values):
            raise self._ran_out(end)
        self._next += 1
        return self._values[self._next - 1]

    def _ran_out(self, end: int) -> AwkFatal:
        blanks = " " * (end - 2)
        return AwkFatal(
            "not enough arguments to satisfy format string\n"
            f"\t`{self._template}'\n\t{blanks} ^ ran out for this one"
        )


@cache_short(256)
def parse_format(template: str) -> tuple[str | Directive, ...]:
    """Return literal text and directives in turn; other `%` stay literal, as in gawk."""
    parts: list[str | Directive] = []
    position = 0
    pending = ""
    while True:
        start = template.find("%", position)
        if start < 0:
            break
        pending += template[position:start]
        found = _DIRECTIVE.match(template, start)
        position = found.end() if found is not None else start + 1
        if found is None or found["letter"] not in "diouxXeEfFgGaAcs%":
            pending += template[start:position]
        elif found["letter"] == "%":
            pending += "%"
        else:
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
    """`sprintf`.

    text_of  gives the text of a value
    charge   refuses a size that is too large before the text is made
    sound    cuts a text that is padded or cut at a byte that is no character
    """
    pieces: list[str] = []
    total = 0
    arguments = _Arguments(template, values)
    for part in parse_format(template):
        if isinstance(part, str):
            pieces.append(part)
            continue
        if part.is_refused:
            raise AwkFatal(f"gawk's `{part.text}' is not available here")
        if part.position is not None or part.misplaced:
            arguments.begin(part)
        flags, ends = part.flags, part.ends
        width = (
            int(part.width or 0) if part.width != "*" else arguments.size(part.width_at, ends[0])
        )
        if width < 0:
            flags, width = flags + "-", -width
        precision = part.precision
        if precision == "*":
            precision = arguments.size(part.precision_at, ends[1])
        if precision is not None and int(precision) < 0:
            precision = None
        value = arguments.value(part)
        digits = None if precision is None else int(precision)
        charge(max(width, digits or 0))
        if part.letter == "s" and (width or digits is not None):
            value = sound(text_of(value))
        piece = format_one(part.letter, flags, width, digits, value, text_of)
        total += len(piece)
        charge(total)
        pieces.append(piece)
    return "".join(pieces)


def check_format(template: str, mode: Mode) -> None:
    """Refuse what gawk adds to formats."""
    for part in parse_format(template):
        if isinstance(part, str):
            continue
        if "$" in part.text:
            raise AwkFatal("`$' is not permitted in awk formats")
        if mode.posix and (size := part.text[-2:-1]) in _SIZES:
            raise AwkFatal(f"`{size}' is not permitted in POSIX awk formats")


def _int_of(value: object) -> int:
    """Return a width or precision."""
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
    """Return one value by one directive."""
    if letter == "s":
        return _pad(text_of(value)[:precision], flags, width)
    if letter == "c":
        value = to_number(value) if isinstance(value, Strnum) else value
        text = _character(value, text_of)
        if not text.isascii() and isinstance(value, float):
            width -= len(encode(text)) - len(text)  # the bytes of a number's character count
        return _pad(text, flags, width)
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
    """Return what `%c` made of numbers above 127 in the locale C: one byte each."""
    if text.isascii():
        return text
    codes = [
        code if code < 128 or 0xDC80 <= code < 0xDD00 else code & 255 for code in map(ord, text)
    ]
    return "".join([chr(code if code < 128 or code > 255 else 0xDC00 + code) for code in codes])


def _pad(text: str, flags: str, width: int) -> str:
    return text.ljust(width) if "-" in flags else text.rjust(width)


def _character(value: object, text_of: Callable[[object], str]) -> str:
    """Return the character with a number, or the first of a text."""
    if not isinstance(value, float) or isinstance(value, Unset):
        return text_of(value)[:1] or "\0"
    code = int(value) & 0xFFFFFFFF if abs(value) < _WIDEST**2 else 0
    if code < 0x110000 and not 0xD800 <= code < 0xE000:
        return chr(code)
    low = code & 255
    return chr(low) if low < 128 else chr(0xDC00 + low)


def _integer(flags: str, width: int, precision: int | None, number: int) -> str:
    if precision == 0 and not number:
        return " " * width
    sign = "-" if number < 0 else "+" if "+" in flags else " " if " " in flags else ""
    return _padded(sign, str(abs(number)), flags, width, precision)


def _natural(letter: str, flags: str, width: int, precision: int | None, number: float) -> str:
    """Return a number by %o, %u, %x or %X; beyond 64 bits by %g."""
    whole = int(number)
    if not -(1 << 63) <= whole < 1 << 64:
        return _real("g", flags, width, precision, number)
    marked = "#" in flags and letter != "u"
    if precision == 0 and not number:
        return _pad("0" if marked else "", flags, width)
    digits = format(whole & (1 << 64) - 1, "d" if letter == "u" else letter)
    digits = digits.rjust(precision or 0, "0")
    prefix = f"0{letter}" if marked and number else ""
    if prefix == "0o":
        prefix, digits = "", f"0{digits}"
    return _padded(prefix, digits, flags, width, precision)


def _padded(sign: str, digits: str, flags: str, width: int, precision: int | None) -> str:
    if precision is not None:
        digits = digits.rjust(precision, "0")
    elif "0" in flags and "-" not in flags:
        digits = digits.rjust(width - len(sign), "0")
    return _pad(sign + digits, flags, width)


def _real(letter: str, flags: str, width: int, precision: int | None, number: float) -> str:
    marks = "".join(mark for mark in "+ #" if mark in flags)
    digits = 6 if precision is None else precision
    text = f"%{marks}.{min(digits, _MOST_DIGITS)}{letter}" % number
    if digits > _MOST_DIGITS and letter in "fFeE":
        mantissa, mark, exponent = text.partition("E" if letter == "E" else "e")
        text = mantissa + "0" * (digits - _MOST_DIGITS) + mark + exponent
    if "0" in flags and "-" not in flags and len(text) < width:
        sign = text[0] if text[0] in "+- " else ""
        text = sign + text[len(sign) :].rjust(width - len(sign), "0")
    return _pad(text, flags, width)
