"""Dates: broken down time, strftime, strptime. The time zone is UTC; nothing is asked of the host.

Broken down time is [year, month from 0, day, hours, minutes, seconds, day of the week from Sunday,
day of the year from 0].
"""

from __future__ import annotations

import math
import re

from agentsandbox.commands._json.values import JqError, is_number, number, to_float
from agentsandbox.kernel.formats.strftime import (
    MONTHS,
    NANO,
    WEEKDAYS,
    Moment,
    longest_width,
    strftime,
)
from agentsandbox.kernel.formats.timezones import days_from_civil

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from agentsandbox.commands._json.values import Value
    from agentsandbox.commands.jq.machine import Machine

_LARGEST = 67768036191676799
"""Seconds at the end of the last year that a C `int` counts."""


def _broken_down(seconds: float) -> list[Value]:
    whole = math.floor(seconds)
    here = Moment(whole * NANO, "UTC0")
    second: Value = here.second
    if seconds != whole:
        second = number(second + (seconds - whole))
    day = [here.year, here.month - 1, here.mday]
    return [*day, here.hour, here.minute, second, here.wday, here.yday]


def _gmtime(name: str) -> Callable[[Machine, Value], Value]:
    def break_down(machine: Machine, value: Value) -> Value:
        if not is_number(value):
            raise JqError(f"{name}() requires numeric inputs")
        seconds = to_float(value)
        if not abs(seconds) < _LARGEST:
            raise JqError("error converting number of seconds since epoch to datetime")
        return _broken_down(seconds)

    return break_down


def _seconds(value: Value, message: str) -> int:
    """Return the seconds since the epoch of a broken down time; month 12 is the next January."""
    if not isinstance(value, list) or not all(
        is_number(item) and item == item for item in value[:8]
    ):
        raise JqError(message)
    if any(not abs(to_float(item)) < 2**31 for item in value[:8]):
        raise JqError("invalid gmtime representation")
    found = [math.floor(item) if at == 5 else int(item) for at, item in enumerate(value[:6])]
    year, month, day, hour, minute, second = found + [0] * (6 - len(found))
    days = days_from_civil(year + month // 12, month % 12 + 1, day)
    return days * 86400 + hour * 3600 + minute * 60 + second


def _mktime(machine: Machine, value: Value) -> Value:
    if not isinstance(value, list):
        raise JqError("mktime requires array inputs")
    return number(float(_seconds(value, "mktime requires parsed datetime inputs")))


def _strftime(name: str, zone: str) -> Callable[[Machine, Value, Value], Value]:
    def format_time(machine: Machine, value: Value, format: Value) -> Value:
        if is_number(value):
            value = _gmtime(name)(machine, value)
        elif not isinstance(value, list):
            raise JqError(f"{name}/1 requires parsed datetime inputs")
        if not isinstance(format, str):
            raise JqError(f"{name}/1 requires a string format")
        machine.budget.charge(len(format) * 500 + longest_width(format))
        return strftime(_seconds(value, f"{name}/1 requires parsed datetime inputs"), format, zone)

    return format_time


# reading

_COMPOUND = {
    "c": "%a %b %e %H:%M:%S %Y",
    "D": "%m/%d/%y",
    "F": "%Y-%m-%d",
    "R": "%H:%M",
    "r": "%I:%M:%S %p",
    "T": "%H:%M:%S",
    "X": "%H:%M:%S",
    "x": "%m/%d/%y",
}
_NUMBERS = {
    "d": ("day", 1, 31, 2),
    "e": ("day", 1, 31, 2),
    "H": ("hour", 0, 23, 2),
    "k": ("hour", 0, 23, 2),
    "I": ("hour", 1, 12, 2),
    "l": ("hour", 1, 12, 2),
    "j": ("yearday", 1, 366, 3),
    "M": ("minute", 0, 59, 2),
    "m": ("month", 1, 12, 2),
    "S": ("second", 0, 61, 2),
    "Y": ("year", 0, 9999, 4),
    "y": ("short", 0, 99, 2),
}
"""A conversion: what it reads, the least and the greatest number, its digits at most."""
_NAMES = {"a": ("weekday", WEEKDAYS), "b": ("month", MONTHS)}
_PATTERNS = {
    "s": re.compile("[0-9]{1,17}"),
    "Z": re.compile(r"\s*\S*"),
    "z": re.compile(r"\s*(?:Z|[+-][0-9]{2}(?::?[0-9]{2})?)"),
    "p": re.compile("[AaPp][Mm]"),
}
_DIRECTIVE = re.compile(r"\s+|%[-_0^#EO]*([\s\S])|[\s\S]")
_BLANK = re.compile(r"\s*")
_DIGITS = {width: re.compile(f"[0-9]{{1,{width}}}") for width in (2, 3, 4)}


class _Reader:
    """Reads a text by a format, as the C library's strptime does. Raises `ValueError`."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.found: dict[str, int] = {}

    def take(self, pattern: re.Pattern[str]) -> str:
        found = pattern.match(self.text, self.at)
        if found is None:
            raise ValueError
        self.at = found.end()
        return found[0]

    def read(self, format: str) -> None:
        for item in _DIRECTIVE.finditer(format):
            letter = item[1]
            if letter is None and item[0].isspace():
                self.take(_BLANK)
            elif letter is None or letter == "%":
                if not self.text.startswith(letter or item[0], self.at):
                    raise ValueError
                self.at += 1
            else:
                self.directive({"A": "a", "B": "b", "h": "b", "P": "p"}.get(letter, letter))

    def directive(self, letter: str) -> None:
        if letter in _COMPOUND:
            self.read(_COMPOUND[letter])
        elif letter in _NUMBERS:
            name, least, greatest, width = _NUMBERS[letter]
            self.take(_BLANK)
            value = int(self.take(_DIGITS[width]))
            if not least <= value <= greatest:
                raise ValueError
            self.found[name] = value
        elif letter in _NAMES:
            name, names = _NAMES[letter]
            self.found[name] = self.name(names) + (name == "month")
        elif letter in _PATTERNS:
            text = self.take(_PATTERNS[letter])
            if letter == "s":
                self.found["epoch"] = int(text)
            elif letter == "p":
                self.found["afternoon"] = int(text[0] in "Pp")
        elif letter in "nt":
            self.take(_BLANK)
        else:
            raise ValueError

    def name(self, names: tuple[str, ...]) -> int:
        rest = self.text[self.at : self.at + 12].lower()
        for index, name in enumerate(names):
            for spelling in (name.lower(), name[:3].lower()):
                if rest.startswith(spelling):
                    self.at += len(spelling)
                    return index
        raise ValueError

    def result(self) -> list[Value]:
        """Return the parts of the time, and what follows after a blank."""
        rest = self.text[self.at :]
        if rest and not rest[0].isspace():
            raise ValueError
        return [*self._parts(), *([rest] if rest else [])]

    def _parts(self) -> list[Value]:
        found = self.found
        if "epoch" in found:
            return _broken_down(found["epoch"])
        if "short" in found:
            found["year"] = found["short"] + (1900 if found["short"] >= 69 else 2000)
        hour = found.get("hour", 0)
        if "afternoon" in found:
            hour = hour % 12 + 12 * found["afternoon"]
        year, month, day = found.get("year", 1900), found.get("month", 1), found.get("day", 0)
        dated = found.keys() & {"year", "month", "day"}
        if "yearday" in found and dated and not found.keys() & {"month", "day"}:
            here = Moment(
                (days_from_civil(year, 1, 1) + found["yearday"] - 1) * 86400 * NANO, "UTC0"
            )
            month, day = here.month, here.mday
        days = days_from_civil(year, month, day)
        weekday = found.get("weekday", (days + 4) % 7 if dated else 8)
        yearday = days - days_from_civil(year, 1, 1) if dated else 367
        if "yearday" in found:
            yearday = found["yearday"] - 1
        clock = [hour, found.get("minute", 0), found.get("second", 0)]
        return [year, month - 1, day, *clock, weekday, yearday]


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
    "strftime/1": _strftime("strftime", "GMT0"),
    "strflocaltime/1": _strftime("strflocaltime", "UTC0"),
    "strptime/1": _strptime,
}
