"""Dates as text: the conversions of GNU `date` and of C's `strftime`, in the locale C.

Formats come from scripts, so the caller charges `longest_width` before it formats.
"""

from __future__ import annotations

import re

from agentsandbox.kernel.caching import cache_short
from agentsandbox.kernel.expressions import lazily
from agentsandbox.kernel.formats.timezones import civil_from_days, days_from_civil, find_zone

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

WEEKDAYS = ("Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday")
MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September",
    "October", "November", "December",
)  # fmt: skip
NANO = 1_000_000_000


class Moment:
    """A moment in the calendar of a zone: C's `struct tm`, with what `date` needs in addition."""

    __slots__ = (
        "abbreviation", "daylight", "hour", "mday", "minute", "month", "nanosecond", "offset",
        "second", "seconds", "wday", "yday", "year",
    )  # fmt: skip

    def __init__(self, nanoseconds: int, zone: str) -> None:
        """`nanoseconds` are since the epoch; `zone` is a value of $TZ."""
        self.seconds, self.nanosecond = divmod(nanoseconds, NANO)
        self.offset, self.abbreviation, self.daylight = find_zone(zone).at(self.seconds)
        days, clock = divmod(self.seconds + self.offset, 86400)
        self.year, self.month, self.mday = civil_from_days(days)
        self.hour, rest = divmod(clock, 3600)
        self.minute, self.second = divmod(rest, 60)
        self.wday = (days + 4) % 7
        self.yday = days - days_from_civil(self.year, 1, 1)

    def iso_week(self) -> tuple[int, int]:
        """Return (year, week) by ISO 8601."""
        thursday = self.yday - (self.wday - 1) % 7 + 3
        year = self.year
        if thursday < 0:
            year -= 1
            thursday += days_from_civil(year + 1, 1, 1) - days_from_civil(year, 1, 1)
        elif thursday >= (length := days_from_civil(year + 1, 1, 1) - days_from_civil(year, 1, 1)):
            year += 1
            thursday -= length
        return year, thursday // 7 + 1

    def hour12(self) -> int:
        """Return the hour on a twelve-hour clock."""
        return self.hour % 12 or 12


class _Spec:
    """A conversion: `pad` is "", "-", "_", "0" or "+"; `width` is −1 when none was given."""

    __slots__ = ("colons", "conversion", "modified", "pad", "swap", "text", "upper", "width")

    def __init__(
        self,
        conversion: str,
        text: str = "",
        pad: str = "",
        width: int = -1,
        *,
        upper: bool = False,
        swap: bool = False,
        colons: int = 0,
        modified: bool = False,
    ) -> None:
        self.text = text
        self.pad = pad
        self.upper = upper
        self.swap = swap
        self.width = width
        self.colons = colons
        self.conversion = conversion
        self.modified = modified


_CONVERSION = lazily(r"%([_\-+0^#]*)(\d*)(?:([EO])|(:{1,3})(?=z))?(.|\Z)", re.ASCII | re.DOTALL)

_YEARS: dict[str, Callable[[Moment], int]] = {"Y": lambda m: m.year, "G": lambda m: m.iso_week()[0]}
_NUMBERS: dict[str, tuple[int, str, Callable[[Moment], int]]] = {
    "d": (2, "0", lambda m: m.mday),
    "e": (2, "_", lambda m: m.mday),
    "g": (2, "0", lambda m: abs(m.iso_week()[0]) % 100),
    "H": (2, "0", lambda m: m.hour),
    "I": (2, "0", lambda m: m.hour12()),
    "k": (2, "_", lambda m: m.hour),
    "l": (2, "_", lambda m: m.hour12()),
    "j": (3, "0", lambda m: m.yday + 1),
    "M": (2, "0", lambda m: m.minute),
    "m": (2, "0", lambda m: m.month),
    "S": (2, "0", lambda m: m.second),
    "s": (1, "0", lambda m: m.seconds),
    "U": (2, "0", lambda m: (m.yday - m.wday + 7) // 7),
    "u": (1, "0", lambda m: (m.wday - 1) % 7 + 1),
    "V": (2, "0", lambda m: m.iso_week()[1]),
    "W": (2, "0", lambda m: (m.yday - (m.wday - 1) % 7 + 7) // 7),
    "w": (1, "0", lambda m: m.wday),
    "y": (2, "0", lambda m: abs(m.year) % 100),
    "q": (1, "0", lambda m: (m.month + 2) // 3),
}
_TEXTS: dict[str, Callable[[Moment], str]] = {
    "a": lambda m: WEEKDAYS[m.wday][:3],
    "A": lambda m: WEEKDAYS[m.wday],
    "b": lambda m: MONTHS[m.month - 1][:3],
    "B": lambda m: MONTHS[m.month - 1],
    "h": lambda m: MONTHS[m.month - 1][:3],
    "n": lambda _: "\n",
    "t": lambda _: "\t",
    "P": lambda m: "am" if m.hour < 12 else "pm",
}
_COMPOUND = {"D": "%m/%d/%y", "R": "%H:%M", "T": "%H:%M:%S"}
_LOCALE = {"c": "%a %b %e %H:%M:%S ", "x": "%m/%d/%y", "X": "%H:%M:%S", "r": "%I:%M:%S %p"}
_WITHOUT_E = frozenset("aAbBhdDeFgGHIjklmMNSUVwW")
_WITHOUT_O = frozenset("aAcDFqxXY")
_GNU_ONLY = frozenset("Nq")


@cache_short(256)
def _compile(format: str, gnu: bool) -> tuple[str | _Spec, ...]:
    pieces: list[str | _Spec] = []
    start = 0
    while (at := format.find("%", start)) >= 0:
        if at > start:
            pieces.append(format[start:at])
        found = _CONVERSION.match(format, at)
        assert found is not None
        flags, width, modifier, colons, conversion = found.groups()
        start = found.end()
        swap, upper = "#" in flags, "^" in flags
        pad = flags.replace("#", "").replace("^", "")[-1:]
        known = conversion in _KNOWN and (
            gnu or (conversion not in _GNU_ONLY and not colons and "+" not in flags)
        )
        if known and modifier:
            known = conversion not in (_WITHOUT_E if modifier == "E" else _WITHOUT_O)
        number = min(int(width[:10]), 2**31 - 1) if width else -1
        if known:
            modified = modifier is not None and conversion in _MODIFIED
            pieces.append(
                _Spec(
                    conversion,
                    found[0],
                    pad,
                    number,
                    upper=upper,
                    swap=swap,
                    colons=len(colons or ""),
                    modified=modified,
                )
            )
        else:
            doubled = conversion == "%"
            text = "%" if found[0] == "%%" else found[0]
            pieces.append(_Spec("", text, pad, number + doubled, upper=upper, swap=swap))
    if start < len(format):
        pieces.append(format[start:])
    return tuple(pieces)


_MODIFIED = frozenset([*_YEARS, *_NUMBERS, "C"]) - frozenset("qu")
_KNOWN = frozenset([*_YEARS, *_NUMBERS, *_TEXTS, *_COMPOUND, *_LOCALE, *"CFNpzZ"])


def _number(value: int, spec: _Spec, digits: int, pad: str, always_sign: bool = False) -> str:
    """Pad a number to `digits` or to the width."""
    if not spec.pad and spec.width < 0 and value >= 0 and not always_sign:
        return str(value).rjust(digits, "0" if pad == "0" else " ")
    pad = spec.pad or pad
    width = spec.width if spec.width >= 0 else digits
    sign = "-" if value < 0 else "+" if always_sign else ""
    text = str(abs(value))
    if pad == "-":
        return sign + text
    if pad == "_":
        return (sign + text).rjust(width)
    return sign + text.rjust(max(width, digits if pad == "+" else 0) - len(sign), "0")


def _year(value: int, spec: _Spec, digits: int) -> str:
    shown = len(str(abs(value)))
    signed = spec.pad == "+" and value >= 0 and (shown > digits or spec.width > digits)
    return _number(value, spec, digits, "0", signed)


def _text(text: str, spec: _Spec, keep_case: bool = False) -> str:
    if spec.upper and not keep_case:
        text = text.upper()
    if spec.pad == "-" or spec.width <= len(text):
        return text
    return text.rjust(spec.width, "0" if spec.pad in ("0", "+") else " ")


def _iso_date(moment: Moment, spec: _Spec) -> str:
    """Format %F: years of more than four digits get a sign unless a padding is given."""
    rest = f"-{moment.month:02d}-{moment.mday:02d}"
    pad, width = (spec.pad, spec.width - 6) if spec.pad or spec.width >= 0 else ("+", 4)
    return _text(_year(moment.year, _Spec("Y", "", pad, max(0, width)), 4) + rest, spec)


def _nanoseconds(moment: Moment, spec: _Spec) -> str:
    width = spec.width if spec.width > 0 else 9
    digits = f"{moment.nanosecond:09d}"[:width]
    if spec.pad == "_" or (spec.pad == "-" and spec.width > 0):
        digits = digits[:1] + digits[1:].rstrip("0")
        return digits if spec.pad == "-" else digits.ljust(width)
    return digits.ljust(width, "0")


def _zone_offset(moment: Moment, spec: _Spec) -> str:
    sign = "-" if moment.offset < 0 else "+"
    hours, rest = divmod(abs(moment.offset), 3600)
    minutes, seconds = divmod(rest, 60)
    colons = spec.colons
    if colons == 3:
        colons = 2 if seconds else 1 if minutes else 0
        tail = "" if not colons else f":{minutes:02d}" + (f":{seconds:02d}" if seconds else "")
    else:
        tail = "" if not colons else f":{minutes:02d}" + (f":{seconds:02d}" if colons == 2 else "")
    if spec.colons:
        head, digits = str(hours), 3
    else:
        head, digits = str(hours * 100 + minutes), 5
    width = max(spec.width - len(tail), 0) if spec.width >= 0 else digits
    width = max(width, digits) if spec.pad != "-" and spec.width < 0 else width
    if spec.pad == "-":
        return sign + head + tail
    if spec.pad == "_":
        return (sign + head).rjust(width) + tail
    return sign + head.rjust(width - 1, "0") + tail


def _day_half(moment: Moment, spec: _Spec) -> str:
    text = "AM" if moment.hour < 12 else "PM"
    return _text(text.lower() if spec.swap else text, spec, keep_case=spec.swap)


def _zone_name(moment: Moment, spec: _Spec) -> str:
    return _text(
        moment.abbreviation.lower() if spec.swap else moment.abbreviation, spec, keep_case=spec.swap
    )


_SPECIAL: dict[str, Callable[[Moment, _Spec], str]] = {
    "C": lambda m, s: _year(m.year // 100 if m.year >= 0 else -(-m.year // 100), s, 2),
    "F": _iso_date,
    "N": _nanoseconds,
    "p": _day_half,
    "z": _zone_offset,
    "Z": _zone_name,
}


def _expand(moment: Moment, spec: _Spec, gnu: bool) -> str:
    conversion = spec.conversion
    if spec.modified:  # the alternative form of the locale: padded as text
        plain = _Spec(conversion, pad="-" if conversion in "YGC" else "")
        return _text(_expand(moment, plain, gnu), spec)
    if conversion in _NUMBERS:
        digits, pad, value = _NUMBERS[conversion]
        if conversion in "gy":
            return _year(value(moment), spec, digits)
        return _number(value(moment), spec, digits, pad)
    if conversion in _TEXTS:
        text = _TEXTS[conversion](moment)
        return _text(
            text.upper() if spec.swap and conversion != "P" else text,
            spec,
            keep_case=conversion == "P",
        )
    if conversion in _YEARS:
        return _year(_YEARS[conversion](moment), spec, 4)
    if conversion in _COMPOUND:
        return _text(_render(moment, _COMPOUND[conversion], gnu), spec)
    if conversion in _LOCALE:
        text = _render(moment, _LOCALE[conversion], gnu)
        return _text(text + str(moment.year) if conversion == "c" else text, spec)
    if conversion in _SPECIAL:
        return _SPECIAL[conversion](moment, spec)
    return _text(spec.text, spec)


def _render(moment: Moment, format: str, gnu: bool) -> str:
    return "".join(
        [
            piece if isinstance(piece, str) else _expand(moment, piece, gnu)
            for piece in _compile(format, gnu)
        ]
    )


def longest_width(format: str) -> int:
    """Return the sum of all widths of a format."""
    return sum(int(digits[:12]) for digits in re.findall(r"%[_\-+0^#]*(\d+)", format))


def format_date(nanoseconds: int, format: str, zone: str) -> str:
    """Format a moment, in nanoseconds since the epoch, as `date +FORMAT` with $TZ set to `zone`."""
    return _render(Moment(nanoseconds, zone), format, gnu=True)


def strftime(seconds: int, format: str, zone: str) -> str:
    """Format as C's `strftime`: without %N, %q, %:z and the flag "+"."""
    return _render(Moment(seconds * NANO, zone), format, gnu=False)
