"""What $TZ means: names of the time zone database and POSIX rules such as "EST5EDT,M3.2.0,M11.1.0".

Names are taken from a closed set of regions, so that no value of $TZ reads another file, and the
host's own zone never shows. Years beyond 1…9999 are mapped to years with the same calendar.
"""

from __future__ import annotations

import re

from agentsandbox.kernel.caching import cache_short, lru_cache
from agentsandbox.kernel.expressions import lazily

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from zoneinfo import ZoneInfo

    Offset = tuple[int, str, bool]

DAY = 86400
_CYCLE = 146097 * DAY
"""Seconds of 400 Gregorian years, after which weekdays and leap years repeat."""

_REGIONS = (
    "Africa America Antarctica Arctic Asia Atlantic Australia Brazil Canada Chile Etc Europe "
    "Indian Mexico Pacific US"
)
_OTHERS = (
    "CET CST6CDT Cuba EET EST EST5EDT Egypt Eire GB GB-Eire GMT GMT+0 GMT-0 GMT0 Greenwich HST "
    "Hongkong Iceland Iran Israel "
    "Jamaica Japan Kwajalein Libya MET MST MST7MDT NZ NZ-CHAT Navajo PRC PST8PDT Poland Portugal "
    "ROC ROK Singapore Turkey "
    "UCT W-SU WET"
)
_DIRECTORY = "/usr/share/zoneinfo/"
_NAMES = frozenset(_OTHERS.split())
_REGION_NAME = lazily(rf"(?:{_REGIONS.replace(' ', '|')})(?:/[A-Za-z0-9_+-]+){{1,2}}", re.ASCII)

_ABBREVIATION = r"([A-Za-z]{3,}|<[A-Za-z0-9+-]{3,}>)"
_TIME = r"([+-]?)(\d+)(?::(\d{1,2})(?::(\d{1,2}))?)?"
_POSIX = lazily(
    rf"{_ABBREVIATION}{_TIME}(?:{_ABBREVIATION}(?:{_TIME})?(?:,([^,]+)(?:,([^,]+))?)?)?", re.ASCII
)
_RULE = lazily(rf"(?:M(\d{{1,2}})\.(\d)\.(\d)|(J?)(\d{{1,3}}))(?:/{_TIME})?", re.ASCII)


def days_from_civil(year: int, month: int, day: int) -> int:
    """Return the days since 1970-01-01 of a Gregorian date; `day` may be outside its month."""
    year -= month <= 2
    era = year // 400
    of_era = year - era * 400
    of_year = (153 * (month + (-3 if month > 2 else 9)) + 2) // 5
    return era * 146097 + of_era * 365 + of_era // 4 - of_era // 100 + of_year + day - 719469


def civil_from_days(days: int) -> tuple[int, int, int]:
    """Return (year, month, day) for a number of days since 1970-01-01."""
    days += 719468
    era = days // 146097
    of_era = days - era * 146097
    of_cycle = (of_era - of_era // 1460 + of_era // 36524 - of_era // 146096) // 365
    of_year = of_era - (365 * of_cycle + of_cycle // 4 - of_cycle // 100)
    shifted = (5 * of_year + 2) // 153
    month = shifted + (3 if shifted < 10 else -9)
    return of_cycle + era * 400 + (month <= 2), month, of_year - (153 * shifted + 2) // 5 + 1


class Zone:
    """Offsets from UTC: `at(seconds)` returns (offset in seconds, name, daylight saving)."""

    __slots__ = ("at",)

    def __init__(self, at: Callable[[int], Offset]) -> None:
        self.at = at

    def to_utc(self, local: int, daylight: bool | None = None) -> int:
        """Return the moment when clocks show `local` (seconds as if UTC), as `mktime` does.

        A skipped time moves forward. `daylight` chooses between two moments, where the caller
        knows it.
        """
        moment = local
        for _ in range(4):
            following = local - self.at(moment)[0]
            if following == moment:
                break
            moment = following
        else:
            moment = local - min(self.at(local - DAY)[0], self.at(local + DAY)[0])
        if daylight is not None and self.at(moment)[2] != daylight:
            for near in range(0, 540 * DAY, 10 * DAY):
                for other in (moment - near, moment + near):
                    offset, _, is_daylight = self.at(other)
                    if is_daylight == daylight:
                        return local - offset
        return moment


def _fixed(offset: int, name: str) -> Zone:
    answer = (offset, name, False)
    return Zone(lambda _: answer)


UTC = _fixed(0, "UTC")


def _from_database(info: ZoneInfo) -> Zone:
    import datetime as dt

    epoch = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)
    first, last = -62135510400, 253402214400  # a day inside years 1 and 9999

    def at(seconds: int) -> Offset:
        if seconds > last:
            seconds -= -(-(seconds - last) // _CYCLE) * _CYCLE
        moment = (epoch + dt.timedelta(seconds=max(seconds, first))).astimezone(info)
        offset, saving = moment.utcoffset(), moment.dst()
        return (round(offset.total_seconds()) if offset else 0), moment.tzname() or "", bool(saving)

    return Zone(lru_cache(maxsize=4096)(at))


def _offset(sign: str | None, hours: str, minutes: str | None, seconds: str | None) -> int:
    """Return seconds west of Greenwich; parts out of range are cut."""
    return -_seconds(
        sign,
        str(min(int(hours), 24)),
        str(min(int(minutes or 0), 59)),
        str(min(int(seconds or 0), 59)),
    )


def _seconds(sign: str | None, hours: str, minutes: str | None, seconds: str | None) -> int:
    total = int(hours) * 3600 + int(minutes or 0) * 60 + int(seconds or 0)
    return -total if sign == "-" else total


def _transition(rule: str) -> Callable[[int], int] | None:
    """Return a function from a year to the local second of a rule's transition, or None."""
    found = _RULE.fullmatch(rule)
    if found is None:
        return None
    month, week, weekday, julian, day = found.group(1, 2, 3, 4, 5)
    time = _seconds(*found.group(6, 7, 8, 9)) if found[7] else 2 * 3600
    if month is not None and not (
        1 <= int(month) <= 12 and 1 <= int(week) <= 5 and int(weekday) <= 6
    ):
        return None

    def by_weekday(year: int) -> int:
        first = days_from_civil(year, int(month), 1)
        days = first + (int(weekday) - (first + 4)) % 7 + 7 * (int(week) - 1)
        following = days_from_civil(year + (month == "12"), int(month) % 12 + 1, 1)
        return (days - 7 if days >= following else days) * DAY + time

    def by_day(year: int) -> int:
        number = int(day)
        if julian:
            leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
            number += -1 + (leap and number >= 60)
        return (days_from_civil(year, 1, 1) + number) * DAY + time

    return by_weekday if month is not None else by_day


def _from_posix(text: str) -> Zone | None:
    """Parse a POSIX rule, or return None."""
    found = _POSIX.fullmatch(text)
    if found is None:
        return None
    offset = _offset(*found.group(2, 3, 4, 5))
    name = found[1].strip("<>")
    if not found[6]:
        return _fixed(offset, name)
    saving_offset = _offset(*found.group(7, 8, 9, 10)) if found[8] else offset + 3600
    begin, end = _transition(found[11] or "M3.2.0"), _transition(found[12] or "M11.1.0")
    if begin is None or end is None:
        return None
    standard, saving = (offset, name, False), (saving_offset, found[6].strip("<>"), True)

    def at(seconds: int) -> Offset:
        year = civil_from_days((seconds + offset) // DAY)[0]
        start, stop = begin(year) - offset, end(year) - saving_offset
        inside = start <= seconds < stop if start < stop else not stop <= seconds < start
        return saving if inside else standard

    return Zone(at)


@cache_short(256)
def find_zone(name: str) -> Zone:
    """Return the zone of a $TZ value; an unknown one is UTC with its first letters, as in C."""
    name = name.removeprefix(":").removeprefix(_DIRECTORY).removeprefix("posix/")
    if name in ("", "UTC", "UTC0", "Etc/UTC", "Zulu", "Universal", "localtime", "/etc/localtime"):
        return UTC
    if len(name) < 100:
        if name in _NAMES or _REGION_NAME.fullmatch(name):
            from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

            try:
                return _from_database(ZoneInfo(name))
            except (ZoneInfoNotFoundError, ValueError, OSError):
                pass
        posix = _from_posix(name)
        if posix is not None:
            return posix
    letters = re.match("([A-Za-z]{3,})(?![+-]?[0-9])", name)
    return _fixed(0, letters[1] if letters else "")
