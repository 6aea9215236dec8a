"""The directives of `printf`: what a format holds beside text, and the conversion `%s`."""

from __future__ import annotations

import re

from agentsandbox.kernel.budget import PIECE
from agentsandbox.kernel.expressions import lazily
from agentsandbox.kernel.streams import encode, encode_pieces

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeAlias

    from agentsandbox.kernel.formats.rendering import Rendering

    Conversion: TypeAlias = "Callable[[Rendering, Directive], bytes]"

INT_MAX = 2**31 - 1
LOWEST, HIGHEST = -(2**63), 2**63 - 1
_INTEGER = lazily(r"[ \t\n\v\f\r]*+([+-]?)(0[xX][0-9a-fA-F]+|0[0-7]*|[1-9][0-9]*)", re.ASCII)


class Directive:
    """A conversion specification. A width or precision `STAR` comes from the arguments."""

    __slots__ = ("conversion", "convert", "flags", "precision", "text", "time_format", "width")

    STAR = -1
    takes = 1

    def __init__(
        self,
        text: str,
        flags: str,
        width: int,
        precision: int | None,
        conversion: str,
        convert: Conversion,
        time_format: str = "",
    ) -> None:
        self.text = text
        self.flags = flags
        self.width = width
        self.precision = precision
        self.conversion = conversion
        self.convert = convert
        self.time_format = time_format


class Notice:
    """A mistake in the format, reported when rendering reaches it; `fatal` ends with status 1.

    `text` is what is written in its place.
    """

    __slots__ = ("fatal", "message", "text")

    takes = 0

    def __init__(self, message: str, *, fatal: bool, text: bytes = b"") -> None:
        self.message = message
        self.fatal = fatal
        self.text = text

    @staticmethod
    def convert(run: Rendering, notice: Notice) -> bytes:
        """Report the mistake."""
        run.warn(notice.message)
        if notice.fatal:
            run.failed = run.stopped = True
        return notice.text


def string(run: Rendering, directive: Directive) -> bytes:
    if directive.width == 0 and directive.precision is None:
        argument = run.next_argument() or ""
        if len(argument) > PIECE:
            return encode_pieces(run.budget.pieces(argument))
        return encode(argument)
    flags, width, precision = measures(run, directive)
    return pad(encode(run.next_argument() or "")[:precision], flags, width)


def pad(text: bytes, flags: str, width: int) -> bytes:
    """Pad with blanks to `width` bytes."""
    return text.ljust(width) if "-" in flags else text.rjust(width)


# arguments


def measures(run: Rendering, directive: Directive) -> tuple[str, int, int | None]:
    """Return flags, width and precision, charged, with the arguments of `*`."""
    flags, width, precision = directive.flags, directive.width, directive.precision
    if width == Directive.STAR:
        width = _star(run, 0)
        if width < 0:
            flags, width = flags + "-", -width
    if precision == Directive.STAR:
        precision = _star(run, -1)
        if precision < 0:
            precision = None
    run.budget.charge(run.size + width)
    if precision and directive.conversion not in "sbqQT":
        run.budget.charge(run.size + precision)
    return flags, width, precision


def _star(run: Rendering, default: int) -> int:
    """Return a width or precision from the arguments.

    bash reports one that is too large together with the next argument, or forgets it.
    """
    number = integer(run, LOWEST, HIGHEST)
    if -INT_MAX - 1 <= number <= INT_MAX:
        return number
    if run.position >= len(run.arguments):
        return default
    out_of_range(run, run.arguments[run.position])
    return INT_MAX if number > 0 else -INT_MAX - 1


def integer(run: Rendering, low: int, high: int) -> int:
    """Return the next argument as an integer, cut to the range with a warning."""
    text = run.next_argument()
    if text is None:
        return 0
    if text[:1] in ("'", '"') and text:
        return character_code(text)
    number, end = parse_integer(text)
    limited = min(max(number, low), high)
    if end < len(text) or (not end and text):
        invalid(run, text)
    elif limited != number:
        out_of_range(run, text)
    return limited


def invalid(run: Rendering, text: str) -> None:
    """Report an argument that is not wholly a number."""
    run.failed = True
    kind = "octal " if re.match(r"0[0-9]", text) else "hex " if text.startswith("0x") else ""
    run.warn(f"{text}: invalid {kind}number")


def out_of_range(run: Rendering, text: str) -> None:
    """Report a number that is out of range."""
    run.warn(f"warning: {text}: Numerical result out of range")


def character_code(text: str) -> int:
    """Return the code of the character after a quote, of its byte if it is not UTF-8, or 0."""
    if len(text) < 2:
        return 0
    code = ord(text[1])
    return code - 0xDC00 if 0xDC80 <= code <= 0xDCFF else code


def parse_integer(text: str) -> tuple[int, int]:
    """Parse as `strtoimax` with base 0: return the value, not cut to 64 bits, and its length."""
    found = _INTEGER.match(text)
    if found is None:
        return 0, 0
    digits = found[2]
    if len(digits) > 40:
        stripped = digits.lstrip("0xX")
        number = 2**80 if len(stripped) > 40 else _base_zero(digits)
    else:
        number = _base_zero(digits)
    return (-number if found[1] == "-" else number), found.end()


def _base_zero(digits: str) -> int:
    if digits[:2] in ("0x", "0X"):
        return int(digits, 16)
    return int(digits, 8 if digits[0] == "0" else 10)
