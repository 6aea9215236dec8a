"""The conversions of `printf` beside `%s`: numbers, escapes, quoting, times, counts.

Each is a function from a run and its directive to bytes; it takes its arguments from the run.
"""

from __future__ import annotations

import re

from agentsandbox.kernel.formats.directives import (
    HIGHEST,
    LOWEST,
    Directive,
    character_code,
    integer,
    invalid,
    measures,
    out_of_range,
    pad,
    parse_integer,
)
from agentsandbox.kernel.formats.escapes import read_escape
from agentsandbox.kernel.quoting import backslash_quote
from agentsandbox.kernel.streams import bytewise, encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from agentsandbox.kernel.formats.directives import Conversion
    from agentsandbox.kernel.formats.long_double import LongDouble
    from agentsandbox.kernel.formats.rendering import Rendering

_WRAP = 2**64


def expand_escapes(text: str, warn: Callable[[str], None]) -> tuple[bytes, bool]:
    """Expand the escapes of a `%b` argument; return also whether `\\c` ends all output."""
    at = text.find("\\")
    if at < 0:
        return encode(text), False
    parts: list[bytes] = []
    start = 0
    notices: list[str] = []
    while at >= 0:
        parts.append(encode(text[start:at]))
        if text.startswith("c", at + 1):
            return b"".join(parts), True
        part, start = read_escape(text, at, notices, in_argument=True)
        parts.append(part)
        at = text.find("\\", start)
    parts.append(encode(text[start:]))
    for notice in notices:
        warn(notice)
    return b"".join(parts), False


def real(run: Rendering) -> LongDouble:
    """Return the next argument as a floating-point number."""
    from agentsandbox.kernel.formats.long_double import LongDouble, parse_long_double

    text = run.next_argument()
    if text is None:
        return LongDouble.from_int(0)
    if text[:1] in ("'", '"') and text:
        return LongDouble.from_int(character_code(text))
    number, end, is_beyond = parse_long_double(text)
    if end < len(text):
        invalid(run, text)
    elif is_beyond:
        out_of_range(run, text)
    return number


def character(run: Rendering, directive: Directive) -> bytes:
    flags, width, _ = measures(run, directive)
    return pad(encode((run.next_argument() or "")[:1])[:1] or b"\0", flags, width)


def escaped(run: Rendering, directive: Directive) -> bytes:
    flags, width, precision = measures(run, directive)
    text, run.stopped = expand_escapes(run.next_argument() or "", run.warn)
    return pad(text[:precision], flags, width)


def quoted(run: Rendering, directive: Directive) -> bytes:
    flags, width, precision = measures(run, directive)
    text = run.next_argument()
    if run.quote is not None:
        if text is None:
            return b""
        run.budget.charge(8 * len(text))
        shown = run.quote(bytewise(text) if run.in_bytes else text)
        return pad(encode(shown)[:precision], flags, width)
    text = text or ""
    if directive.conversion == "Q":
        text = str(encode(text)[:precision], "utf-8", "surrogateescape")
        precision = None
    run.budget.charge(8 * len(text))
    shown = backslash_quote(bytewise(text) if run.in_bytes else text)
    return pad(encode(shown)[:precision], flags, width)


def signed(run: Rendering, directive: Directive) -> bytes:
    flags, width, precision = measures(run, directive)
    number = integer(run, LOWEST, HIGHEST)
    if not flags and not width and precision is None:
        return b"%d" % number
    sign = "-" if number < 0 else "+" if "+" in flags else " " if " " in flags else ""
    return pad_number(sign, "0" if not number else str(abs(number)), flags, width, precision)


def unsigned(run: Rendering, directive: Directive) -> bytes:
    flags, width, precision = measures(run, directive)
    number = integer(run, 1 - _WRAP, _WRAP - 1) % _WRAP if not _past_unsigned(run) else _WRAP - 1
    conversion = directive.conversion
    digits = str(number) if conversion == "u" else f"{number:{conversion}}"
    prefix = ""
    if "#" in flags and number:
        if conversion == "o":
            if precision is None or precision <= len(digits):
                digits = f"0{digits}"
        elif conversion != "u":
            prefix = f"0{conversion}"
    elif "#" in flags and conversion == "o" and precision == 0:
        precision = 1
    return pad_number(prefix, digits, flags, width, precision)


def _past_unsigned(run: Rendering) -> bool:
    """Whether the next argument is below −(2^64 − 1), for which `strtoumax` gives its maximum.

    If so the argument is used and a warning written.
    """
    if run.position >= len(run.arguments):
        return False
    text = run.arguments[run.position]
    if not text.lstrip(" \t\n\v\f\r").startswith("-"):
        return False
    if parse_integer(text)[0] > -_WRAP:
        return False
    integer(run, 1 - _WRAP, _WRAP - 1)
    return True


def floating(run: Rendering, directive: Directive) -> bytes:
    from agentsandbox.kernel.formats.long_double import format_long_double

    flags, width, precision = measures(run, directive)
    return format_long_double(real(run), directive.conversion, precision, flags, width).encode(
        "ascii"
    )


def time(run: Rendering, directive: Directive) -> bytes:
    from agentsandbox.kernel.formats.strftime import longest_width, strftime

    flags, width, precision = measures(run, directive)
    run.budget.charge(
        run.size + longest_width(directive.time_format) + 64 * len(directive.time_format)
    )
    seconds = integer(run, LOWEST, HIGHEST) if run.position < len(run.arguments) else -1
    if seconds < 0:
        seconds = {-1: int(run.now), -2: int(run.started)}.get(seconds, seconds)
    text = strftime(seconds, directive.time_format or "%X", run.zone)
    if len(encode(text)) > 127:  # the room that bash has for it
        text = ""
    return pad(encode(text)[:precision], flags, width)


def count(run: Rendering, _directive: Directive) -> bytes:
    name = run.next_argument() or ""
    if name and run.assign is not None:
        if re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name):
            run.assign(name, run.size)
        else:
            run.warn(f"`{name}': not a valid identifier")
            run.failed = run.stopped = True
    return b""


def pad_number(prefix: str, digits: str, flags: str, width: int, precision: int | None) -> bytes:
    """Pad digits with zeros, to the precision or with the flag 0 to the width, then with blanks."""
    if precision is not None:
        digits = "" if not precision and digits == "0" else digits.rjust(precision, "0")
    elif "0" in flags and "-" not in flags:
        digits = digits.rjust(width - len(prefix), "0")
    return pad((prefix + digits).encode("ascii"), flags, width)


CONVERSIONS: dict[str, Conversion] = {
    "c": character,
    "b": escaped,
    "q": quoted,
    "Q": quoted,
    "n": count,
    "T": time,
    **dict.fromkeys("di", signed),
    **dict.fromkeys("uoxX", unsigned),
    **dict.fromkeys("eEfFgG", floating),
}
