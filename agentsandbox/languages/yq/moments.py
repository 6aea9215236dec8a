"""Points in time as Go writes them: a layout is an example, the second of January 2006 at 15:04:05."""

from __future__ import annotations

import re

from agentsandbox.languages.timezones import civil_from_days, days_from_civil

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["DurationError", "Moment", "add_duration", "format_moment", "parse_moment", "read_moment"]

Moment = tuple[int, int, int, str]
"""Seconds since 1970 in UTC, nanoseconds, seconds east of Greenwich, and the zone's name if it has one."""

_MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December",
)  # fmt: skip
_DAYS = ("Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday")
_LENGTHS = (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
_CHUNK = re.compile(
    r"January|Jan(?![a-z])|Monday|Mon(?![a-z])|MST|002|0[1-6]|15|2006|__2|_2(?!006)|PM|pm"
    r"|[-Z]07(?::00:00|0000|:00|00)?|[.,](?:0+|9+)(?![0-9])|[12345]"
)
_NAME = {"January": _MONTHS, "Jan": tuple(name[:3] for name in _MONTHS), "Monday": _DAYS, "Mon": tuple(name[:3] for name in _DAYS)}
_ONE_OR_TWO = re.compile(r"[0-9]{1,2}")
_DIGITS = {"2006": re.compile(r"[0-9]{4}"), "002": re.compile(r"[0-9]{3}"), "two": re.compile(r"[0-9]{2}")}
_OFFSETS = {
    "07": re.compile(r"[-+][0-9]{2}"), "0700": re.compile(r"[-+][0-9]{4}"), "07:00": re.compile(r"[-+][0-9]{2}:[0-9]{2}"),
    "070000": re.compile(r"[-+][0-9]{6}"), "07:00:00": re.compile(r"[-+][0-9]{2}:[0-9]{2}:[0-9]{2}"),
}  # fmt: skip
_ZONE = re.compile(r"[A-Z]{3,5}(?:[-+][0-9]{1,2})?")
_FRACTION = re.compile(r"[.,]([0-9]+)")
_DURATION = re.compile(r"([0-9]*)(?:\.([0-9]*))?(ns|us|µs|μs|ms|s|m|h)")
_UNITS = {
    "ns": 1, "us": 1000, "µs": 1000, "μs": 1000, "ms": 1_000_000, "s": 10**9, "m": 60 * 10**9, "h": 3600 * 10**9,
}  # fmt: skip
_LIMITS = {"month": 12, "hour": 24, "minute": 60, "second": 60}
_EARLIEST, _LATEST = days_from_civil(1, 1, 1) * 86400, days_from_civil(9999, 12, 31) * 86400


class DurationError(Exception):
    """A text is no duration, or leads out of the years that there are."""


def _chunks(layout: str) -> Iterator[tuple[str, str]]:
    """The parts of a layout: the plain text before each, and what it stands for ("" at the end)."""
    at = 0
    for found in _CHUNK.finditer(layout[:4096]):
        yield layout[at : found.start()], found[0]
        at = found.end()
    yield layout[at:4096], ""


# writing


def format_moment(moment: Moment, layout: str) -> str:
    """The moment as the layout says."""
    seconds, nanoseconds, offset, zone = moment
    local = seconds + offset
    days, clock = divmod(local, 86400)
    year, month, day = civil_from_days(days)
    hour, minute, second = clock // 3600, clock // 60 % 60, clock % 60
    yearday = days - days_from_civil(year, 1, 1) + 1
    weekday = (days + 4) % 7
    shown = {
        "January": _MONTHS[month - 1], "Jan": _MONTHS[month - 1][:3], "Monday": _DAYS[weekday], "Mon": _DAYS[weekday][:3],
        "MST": zone or _offset_text(offset, "0700"), "002": f"{yearday:03d}",
        "__2": f"{yearday:3d}", "01": f"{month:02d}", "1": str(month), "02": f"{day:02d}", "2": str(day), "_2": f"{day:2d}",
        "15": f"{hour:02d}", "03": f"{(hour + 11) % 12 + 1:02d}", "3": str((hour + 11) % 12 + 1), "04": f"{minute:02d}",
        "4": str(minute), "05": f"{second:02d}", "5": str(second), "2006": f"{year:04d}", "06": f"{year % 100:02d}",
        "PM": "PM" if hour >= 12 else "AM", "pm": "pm" if hour >= 12 else "am",
    }  # fmt: skip
    parts: list[str] = []
    for text, chunk in _chunks(layout):
        parts.append(text)
        if chunk in shown:
            parts.append(shown[chunk])
        elif chunk[:1] in (".", ","):
            digits = f"{nanoseconds:09d}".ljust(len(chunk) - 1, "0")[: len(chunk) - 1]
            if chunk[1] == "9":
                digits = digits.rstrip("0")
            parts.append(chunk[0] + digits if digits else "")
        elif chunk[:1] in ("-", "Z"):
            parts.append("Z" if chunk[0] == "Z" and offset == 0 else _offset_text(offset, chunk[1:]))
    return "".join(parts)


def _offset_text(offset: int, form: str) -> str:
    size = abs(offset)
    text = ("-" if offset < 0 else "+") + f"{size // 3600:02d}"
    separator = ":" if ":" in form else ""
    if len(form) > 2:
        text += f"{separator}{size // 60 % 60:02d}"
    if len(form) > 5:
        text += f"{separator}{size % 60:02d}"
    return text


# reading


class _Reading:
    """What was found out so far of a time that is read."""

    def __init__(self, layout: str, text: str) -> None:
        self.layout = layout
        self.text = text
        self.rest = text
        self.fields: dict[str, int] = {}
        self.nanoseconds = 0
        self.offset: int | None = None
        self.zone = ""

    def error(self, chunk: str) -> str:
        rest = self.rest or ""
        return f'parsing time "{self.text}" as "{self.layout}": cannot parse "{rest}" as "{chunk}"'

    def out_of_range(self, what: str) -> str:
        return f'parsing time "{self.text}": {what} out of range'

    def take(self, pattern: re.Pattern[str]) -> str | None:
        found = pattern.match(self.rest)
        if found is None:
            return None
        self.rest = self.rest[found.end() :]
        return found[0]


def parse_moment(layout: str, text: str) -> Moment | str:
    """The moment that a text tells in a layout; the error's message if it tells none."""
    result = _parse(layout, text)
    if isinstance(result, str) and layout == "2006-01-02T15:04:05Z07:00":
        return _parse("2006-01-02", text)
    return result


def _parse(layout: str, text: str) -> Moment | str:
    reading = _Reading(layout, text[:4096])
    for plain, chunk in _chunks(layout):
        if not reading.rest.startswith(plain):
            return reading.error(plain)
        reading.rest = reading.rest[len(plain) :]
        if not chunk:
            break
        failure = _read_chunk(reading, chunk)
        if failure:
            return failure
        if chunk in ("05", "5") and _FRACTION.match(reading.rest) and "." + "0" not in layout and ".9" not in layout:
            _read_fraction(reading)
    if reading.rest:
        return f'parsing time "{text}": extra text: "{reading.rest}"'
    return _assembled(reading)


def _read_fraction(reading: _Reading) -> None:
    digits = reading.take(_FRACTION) or ".0"
    reading.nanoseconds = int(digits[1:10].ljust(9, "0"))


_NUMERIC = {"01": "month", "1": "month", "02": "day", "2": "day", "_2": "day", "15": "hour", "03": "hour12", "3": "hour12",
            "04": "minute", "4": "minute", "05": "second", "5": "second", "06": "short", "002": "yearday", "2006": "year"}  # fmt: skip


def _read_chunk(reading: _Reading, chunk: str) -> str:
    if chunk in _NUMERIC:
        if chunk == "_2" and reading.rest[:1] == " ":
            reading.rest = reading.rest[1:]
        pattern = _DIGITS.get(chunk) or (_DIGITS["two"] if chunk in ("01", "02", "03", "04", "05", "06", "15") else _ONE_OR_TWO)
        if chunk == "15":
            pattern = _ONE_OR_TWO
        digits = reading.take(pattern)
        if digits is None:
            return reading.error(chunk)
        name = _NUMERIC[chunk]
        value = int(digits)
        if value >= _LIMITS.get(name, 10_000) + (name == "month") or (name == "month" and value == 0):
            return reading.out_of_range(name)
        reading.fields[name] = value
        return ""
    if chunk in _NAME:
        for at, name in enumerate(_NAME[chunk]):
            if reading.rest[: len(name)].lower() == name.lower():
                reading.rest = reading.rest[len(name) :]
                if chunk[0] == "J":
                    reading.fields["month"] = at + 1
                return ""
        return reading.error(chunk)
    if chunk in ("PM", "pm"):
        half = reading.rest[:2]
        if half not in (("AM", "PM") if chunk == "PM" else ("am", "pm")):
            return reading.error(chunk)
        reading.rest = reading.rest[2:]
        reading.fields["half"] = int(half[0] in "pP")
        return ""
    if chunk[0] in ".,":
        if chunk[1] == "0" or _FRACTION.match(reading.rest):
            if _FRACTION.match(reading.rest) is None:
                return reading.error(chunk)
            _read_fraction(reading)
        return ""
    return _read_zone(reading, chunk)


def _read_zone(reading: _Reading, chunk: str) -> str:
    if chunk == "MST":
        name = reading.take(_ZONE)
        if name is None:
            return reading.error(chunk)
        reading.zone = name
        if reading.offset is None:
            reading.offset = int(name[3:] or "0") * 3600 if name.startswith("GMT") else 0
        return ""
    if chunk[0] == "Z" and reading.rest[:1] == "Z":
        reading.rest = reading.rest[1:]
        reading.offset, reading.zone = 0, "UTC"
        return ""
    text = reading.take(_OFFSETS[chunk[1:]])
    if text is None:
        return reading.error(chunk)
    digits = text[1:].replace(":", "").ljust(6, "0")
    size = int(digits[:2]) * 3600 + int(digits[2:4]) * 60 + int(digits[4:])
    reading.offset = -size if text[0] == "-" else size
    reading.zone = reading.zone or ("UTC" if reading.offset == 0 else "")
    return ""


def _assembled(reading: _Reading) -> Moment | str:
    fields = reading.fields
    year = fields.get("year", 0)
    if "short" in fields:
        year = fields["short"] + (1900 if fields["short"] >= 69 else 2000)
    month, day = fields.get("month", 1), fields.get("day", 1)
    longest = 29 if month == 2 and (year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)) else _LENGTHS[month - 1]
    if not 1 <= day <= longest:
        return reading.out_of_range("day")
    hour = fields.get("hour", 0)
    if "hour12" in fields:
        hour = fields["hour12"] % 12 + (12 if fields.get("half") else 0) if "half" in fields else fields["hour12"]
    elif fields.get("half") and hour < 12:
        hour += 12
    seconds = days_from_civil(year, month, day) * 86400 + hour * 3600 + fields.get("minute", 0) * 60 + fields.get("second", 0)
    if "yearday" in fields and "month" not in fields:
        seconds += (fields["yearday"] - 1) * 86400
    offset = reading.offset or 0
    return seconds - offset, reading.nanoseconds, offset, reading.zone or ("" if offset else "UTC")


def read_moment(layout: str, text: str, wrong: Callable[[str], Exception]) -> Moment:
    """The moment that a text tells; `wrong` makes the error of its message."""
    moment = parse_moment(layout, text)
    if isinstance(moment, str):
        raise wrong(moment)
    return moment


# durations


def _duration(text: str) -> int | None:
    sign = -1 if text[:1] == "-" else 1
    rest = text[1:] if text[:1] in ("-", "+") else text
    if rest == "0":
        return 0
    total, at = 0, 0
    while at < len(rest):
        found = _DURATION.match(rest, at)
        if found is None or not (found[1] or found[2]) or len(found[0]) > 40:
            return None
        unit = _UNITS[found[3]]
        total += int(found[1] or "0") * unit + int(int((found[2] or "0")[:15] or "0") * unit / 10 ** len((found[2] or "0")[:15] or "0"))
        at = found.end()
    return sign * total if rest else None


def add_duration(text: str, duration: str, layout: str, sign: int) -> str:
    """A time moved by a duration such as "3h10m". Raises `DurationError`."""
    length = _duration(duration) if len(duration) < 200 else None
    if length is None or abs(length) >= 1 << 63:
        raise DurationError(f'unable to parse duration [{duration}]: time: invalid duration "{duration}"')
    moment = parse_moment(layout, text)
    if isinstance(moment, str):
        raise DurationError(moment)
    total = moment[0] * 10**9 + moment[1] + sign * length
    seconds, nanoseconds = divmod(total, 10**9)
    if not _EARLIEST <= seconds < _LATEST:
        raise DurationError(f'time "{text}" out of range')
    return format_moment((seconds, nanoseconds, moment[2], moment[3]), layout)
