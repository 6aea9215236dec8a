"""Dates: broken down time, strftime, strptime. The time zone is UTC; nothing is asked of the host.

Broken down time is [year, month from 0, day, hours, minutes, seconds, day of the week from Sunday, day of the year from 0].
"""

from __future__ import annotations

import math
import re

from agentsandbox.languages.jq.values import JqError, is_number, number, to_float

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from agentsandbox.languages.jq.machine import Machine
    from agentsandbox.languages.jq.values import Value

__all__ = ["DATES"]

_DAYS = ("Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday")
_MONTHS = (
    "January", "February", "March", "April", "May", "June",
    "July", "August", "September", "October", "November", "December",
)  # fmt: skip
_BEFORE_MONTH = (0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334)
_LARGEST = 67768036191676799
"""Seconds at the end of the last year that a C `int` counts."""


def _is_leap(year: int) -> bool:
    return year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)


def _days_from_epoch(year: int, month: int, day: int) -> int:
    """Days since 1970-01-01; months count from 0 and may overflow, days as well."""
    year += month // 12
    month %= 12
    before = year - 1
    days = before * 365 + before // 4 - before // 100 + before // 400 - 719162
    return days + _BEFORE_MONTH[month] + (month > 1 and _is_leap(year)) + day - 1


def _broken_down(seconds: float) -> list[Value]:
    whole = math.floor(seconds)
    days, rest = divmod(whole, 86400)
    year = 1970 + int(days // 365.2425)
    while _days_from_epoch(year, 0, 1) > days:
        year -= 1
    while _days_from_epoch(year + 1, 0, 1) <= days:
        year += 1
    of_year = days - _days_from_epoch(year, 0, 1)
    month = 11
    while _days_from_epoch(year, month, 1) > days:
        month -= 1
    day = days - _days_from_epoch(year, month, 1) + 1
    second = number(rest % 60 + (seconds - whole)) if seconds != whole else rest % 60
    return [year, month, day, rest // 3600, rest // 60 % 60, second, (days + 4) % 7, of_year]


def _gmtime(name: str) -> Callable[[Machine, Value], Value]:
    def break_down(machine: Machine, value: Value) -> Value:
        if not is_number(value):
            raise JqError(f"{name}() requires numeric inputs")
        seconds = to_float(value)
        if not abs(seconds) < _LARGEST:
            raise JqError("error converting number of seconds since epoch to datetime")
        return _broken_down(seconds)

    return break_down


def _fields(value: Value, message: str) -> list[int]:
    """The whole numbers of a broken down time, zeros for what is missing."""
    if not isinstance(value, list) or not all(is_number(item) for item in value[:8]):
        raise JqError(message)
    if any(item != item for item in value[:8]):
        raise JqError(message)
    if any(not abs(to_float(item)) < 2**31 for item in value[:8]):
        raise JqError("invalid gmtime representation")
    found = [math.floor(item) if at == 5 else int(item) for at, item in enumerate(value[:8])]
    return found + [0] * (8 - len(found))


def _mktime(machine: Machine, value: Value) -> Value:
    if not isinstance(value, list):
        raise JqError("mktime requires array inputs")
    return number(float(_seconds(_fields(value, "mktime requires parsed datetime inputs"))))


def _seconds(fields: list[int]) -> int:
    """Seconds since the epoch; numbers beyond their range count on."""
    year, month, day, hour, minute, second, _weekday, _yearday = fields
    return _days_from_epoch(year, month, day) * 86400 + hour * 3600 + minute * 60 + second


# printing


def _iso_week(year: int, yearday: int, weekday: int) -> tuple[int, int]:
    """The ISO 8601 year and week."""
    monday_based = (weekday + 6) % 7
    week = (yearday - monday_based + 10) // 7
    if week < 1:
        year -= 1
        last = yearday + 365 + _is_leap(year)
        return year, (last - monday_based + 10) // 7
    if week == 53 and yearday - monday_based + 3 >= 365 + _is_leap(year):
        return year + 1, 1
    return year, week


_COMPOUND = {
    "c": "%a %b %e %H:%M:%S %Y",
    "D": "%m/%d/%y",
    "F": "%Y-%m-%d",
    "R": "%H:%M",
    "r": "%I:%M:%S %p",
    "T": "%H:%M:%S",
    "X": "%H:%M:%S",
    "x": "%m/%d/%y",
    "+": "%a %b %e %H:%M:%S %Z %Y",
}
_DIRECTIVE = re.compile(r"%([_0^#-]*)([0-9]{0,3})[EO]?([\s\S])")
_NUMERIC: dict[str, tuple[Callable[[list[int]], int], str, int]] = {
    "C": (lambda t: t[0] // 100, "0", 2),
    "d": (lambda t: t[2], "0", 2),
    "e": (lambda t: t[2], " ", 2),
    "G": (lambda t: _iso_week(t[0], t[7], t[6])[0], "0", 1),
    "g": (lambda t: _iso_week(t[0], t[7], t[6])[0] % 100, "0", 2),
    "H": (lambda t: t[3], "0", 2),
    "I": (lambda t: (t[3] + 11) % 12 + 1, "0", 2),
    "j": (lambda t: t[7] + 1, "0", 3),
    "k": (lambda t: t[3], " ", 2),
    "l": (lambda t: (t[3] + 11) % 12 + 1, " ", 2),
    "M": (lambda t: t[4], "0", 2),
    "m": (lambda t: t[1] + 1, "0", 2),
    "S": (lambda t: t[5], "0", 2),
    "s": (lambda t: _days_from_epoch(t[0], t[1], t[2]) * 86400 + t[3] * 3600 + t[4] * 60 + t[5], "0", 1),
    "U": (lambda t: (t[7] + 7 - t[6]) // 7, "0", 2),
    "u": (lambda t: t[6] or 7, "0", 1),
    "V": (lambda t: _iso_week(t[0], t[7], t[6])[1], "0", 2),
    "W": (lambda t: (t[7] + 7 - (t[6] + 6) % 7) // 7, "0", 2),
    "w": (lambda t: t[6], "0", 1),
    "Y": (lambda t: t[0], "0", 1),
    "y": (lambda t: t[0] % 100, "0", 2),
}


def _named(time: list[int], letter: str, zone: str) -> str | None:
    names = {
        "a": _DAYS[time[6] % 7][:3],
        "A": _DAYS[time[6] % 7],
        "b": _MONTHS[time[1] % 12][:3],
        "B": _MONTHS[time[1] % 12],
        "h": _MONTHS[time[1] % 12][:3],
        "n": "\n",
        "p": "AM" if time[3] < 12 else "PM",
        "P": "am" if time[3] < 12 else "pm",
        "t": "\t",
        "Z": zone,
        "z": "+0000",
        "%": "%",
    }
    return names.get(letter)


def _format_time(time: list[int], format: str, zone: str) -> str:
    def directive(found: re.Match[str]) -> str:
        flags, width, letter = found.groups()
        if letter in _COMPOUND:
            text, pad, least = _format_time(time, _COMPOUND[letter], zone), " ", 0
        elif letter in _NUMERIC:
            compute, pad, least = _NUMERIC[letter]
            value = compute(time)
            pad = {"_": " ", "0": "0", "-": ""}.get(flags[-1:], pad)
            least = int(width) if width else least
            return ("-" if value < 0 else "") + (str(abs(value)).rjust(least - (value < 0), pad) if pad else str(abs(value)))
        else:
            named = _named(time, letter, zone)
            if named is None:
                return found[0]
            text, pad, least = named, "0" if "0" in flags else " ", 0
        if "^" in flags:
            text = text.upper()
        return text.rjust(int(width), pad) if width else text

    return _DIRECTIVE.sub(directive, format)


def _strftime(name: str, zone: str) -> Callable[[Machine, Value, Value], Value]:
    def format_time(machine: Machine, value: Value, format: Value) -> Value:
        if is_number(value):
            value = _gmtime(name)(machine, value)
        elif not isinstance(value, list):
            raise JqError(f"{name}/1 requires parsed datetime inputs")
        if not isinstance(format, str):
            raise JqError(f"{name}/1 requires a string format")
        machine.budget.charge(len(format) * 500)
        seconds = _seconds(_fields(value, f"{name}/1 requires parsed datetime inputs"))
        return _format_time([int(field) for field in _broken_down(float(seconds))], format, zone)

    return format_time


# reading


class _Reader:
    """Reads a text by a format, as the C library's strptime does."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.year = 1900
        self.month: int | None = None
        self.day: int | None = None
        self.hour = self.minute = self.second = 0
        self.century: int | None = None
        self.yearday: int | None = None
        self.weekday: int | None = None
        self.weeks: tuple[int, int] | None = None
        """(the week of the year, the day it begins with: 0 is Sunday)"""
        self.dated = False
        """Whether a year was read."""
        self.afternoon: bool | None = None
        self.epoch: int | None = None

    def blank(self) -> None:
        while self.at < len(self.text) and self.text[self.at].isspace():
            self.at += 1

    def digits(self, low: int, high: int, width: int) -> int:
        self.blank()
        found = re.compile(rf"[0-9]{{1,{width}}}").match(self.text, self.at)
        if found is None or not low <= int(found[0]) <= high:
            raise ValueError
        self.at = found.end()
        return int(found[0])

    def name(self, names: tuple[str, ...]) -> int:
        rest = self.text[self.at : self.at + 12].lower()
        for index, name in enumerate(names):
            for spelling in (name.lower(), name[:3].lower()):
                if rest.startswith(spelling):
                    self.at += len(spelling)
                    return index
        raise ValueError

    def literal(self, character: str) -> None:
        if not self.text.startswith(character, self.at):
            raise ValueError
        self.at += len(character)

    def read(self, format: str) -> None:
        at = 0
        while at < len(format):
            character = format[at]
            at += 1
            if character.isspace():
                self.blank()
            elif character != "%" or at == len(format):
                self.literal(character)
            else:
                while format[at : at + 1] and format[at] in "-_0^#EO":
                    at += 1
                self.directive(format[at : at + 1])
                at += 1

    def directive(self, letter: str) -> None:
        if letter in _COMPOUND:
            self.read(_COMPOUND[letter])
        elif letter in _READERS:
            _READERS[letter](self)
        else:
            raise ValueError

    def two_digit_year(self) -> None:
        value = self.digits(0, 99, 2)
        self.dated = True
        self.year = (1900 if value >= 69 else 2000) + value if self.century is None else self.century * 100 + value

    def set_century(self) -> None:
        self.century = self.digits(0, 99, 2)
        self.dated = True
        self.year = self.century * 100

    def four_digit_year(self) -> None:
        self.year = self.digits(0, 9999, 4)
        self.dated = True

    def half(self) -> None:
        which = self.text[self.at : self.at + 2].upper()
        if which not in ("AM", "PM"):
            raise ValueError
        self.at += 2
        self.afternoon = which == "PM"

    def zone_name(self) -> None:
        self.blank()
        while self.at < len(self.text) and not self.text[self.at].isspace():
            self.at += 1

    def offset(self) -> None:
        self.blank()
        found = re.compile(r"Z|[+-][0-9]{2}(?::?[0-9]{2})?").match(self.text, self.at)
        if found is None:
            raise ValueError
        self.at = found.end()

    def seconds_from_epoch(self) -> None:
        found = re.compile(r"[0-9]{1,17}").match(self.text, self.at)
        if found is None:
            raise ValueError
        self.at = found.end()
        self.epoch = int(found[0])

    def result(self) -> list[Value]:
        """The parts of the time, and what follows after a blank."""
        rest = self.text[self.at :]
        if rest and not rest[0].isspace():
            raise ValueError
        return [*(self._parts() if self.epoch is None else _broken_down(self.epoch)), *([rest] if rest else [])]

    def _parts(self) -> list[Value]:
        if self.afternoon is not None:
            self.hour = self.hour % 12 + 12 * self.afternoon
        january = _days_from_epoch(self.year, 0, 1)
        yearday, weekday = self.yearday, self.weekday
        dated = self.dated or self.month is not None or self.day is not None
        if dated and weekday is None and yearday is not None:
            self._find_day(yearday)
        days = _days_from_epoch(self.year, self.month or 0, self.day or 0)
        if dated:
            weekday = (days + 4) % 7 if weekday is None else weekday
            yearday = days - january if yearday is None else yearday
        if self.weeks is not None and self.weekday is not None:
            week, begin = self.weeks
            if self.yearday is None:
                yearday = (begin - january - 4) % 7 + (week - 1) * 7 + self.weekday - begin
            self._find_day(yearday or 0)
        shown = [8 if weekday is None else weekday % 7, 367 if yearday is None else yearday]
        return [self.year, self.month or 0, self.day or 0, self.hour, self.minute, self.second, *shown]

    def _find_day(self, yearday: int) -> None:
        """The month and the day that were not read."""
        whole = _broken_down(_days_from_epoch(self.year, 0, yearday + 1) * 86400)
        self.month = whole[1] if self.month is None else self.month
        self.day = whole[2] if self.day is None else self.day


def _setter(attribute: str, low: int, high: int, width: int, shift: int = 0) -> Callable[[_Reader], None]:
    def take(reader: _Reader) -> None:
        setattr(reader, attribute, reader.digits(low, high, width) + shift)

    return take


def _name_setter(attribute: str, names: tuple[str, ...]) -> Callable[[_Reader], None]:
    def take(reader: _Reader) -> None:
        setattr(reader, attribute, reader.name(names))

    return take


def _week_setter(begin: int) -> Callable[[_Reader], None]:
    def take(reader: _Reader) -> None:
        reader.weeks = reader.digits(0, 53, 2), begin

    return take


def _ignoring(low: int, high: int, width: int) -> Callable[[_Reader], None]:
    def take(reader: _Reader) -> None:
        reader.digits(low, high, width)

    return take


_READERS: dict[str, Callable[[_Reader], None]] = {
    "a": _name_setter("weekday", _DAYS),
    "A": _name_setter("weekday", _DAYS),
    "b": _name_setter("month", _MONTHS),
    "B": _name_setter("month", _MONTHS),
    "h": _name_setter("month", _MONTHS),
    "C": _Reader.set_century,
    "d": _setter("day", 1, 31, 2),
    "e": _setter("day", 1, 31, 2),
    "G": _ignoring(0, 9999, 4),
    "g": _ignoring(0, 99, 2),
    "H": _setter("hour", 0, 23, 2),
    "k": _setter("hour", 0, 23, 2),
    "I": _setter("hour", 1, 12, 2),
    "l": _setter("hour", 1, 12, 2),
    "j": _setter("yearday", 1, 366, 3, -1),
    "M": _setter("minute", 0, 59, 2),
    "m": _setter("month", 1, 12, 2, -1),
    "n": _Reader.blank,
    "p": _Reader.half,
    "P": _Reader.half,
    "S": _setter("second", 0, 61, 2),
    "s": _Reader.seconds_from_epoch,
    "t": _Reader.blank,
    "U": _week_setter(0),
    "u": _setter("weekday", 1, 7, 1),
    "V": _ignoring(0, 53, 2),
    "W": _week_setter(1),
    "w": _setter("weekday", 0, 6, 1),
    "Y": _Reader.four_digit_year,
    "y": _Reader.two_digit_year,
    "Z": _Reader.zone_name,
    "z": _Reader.offset,
    "%": lambda reader: reader.literal("%"),
}


def _strptime(machine: Machine, value: Value, format: Value) -> Value:
    if not (isinstance(value, str) and isinstance(format, str)):
        raise JqError("strptime/1 requires string inputs and arguments")
    machine.budget.step(len(format) // 8 + 1)
    reader = _Reader(value)
    try:
        reader.read(format)
        return reader.result()
    except ValueError:
        shown = value.partition("\0")[0]  # a string of C
        raise JqError(f'date "{shown}" does not match format "{format}"') from None


DATES: dict[str, Callable[..., Value]] = {
    "gmtime/0": _gmtime("gmtime"),
    "localtime/0": _gmtime("localtime"),
    "mktime/0": _mktime,
    "strftime/1": _strftime("strftime", "GMT"),
    "strflocaltime/1": _strftime("strflocaltime", "UTC"),
    "strptime/1": _strptime,
}
