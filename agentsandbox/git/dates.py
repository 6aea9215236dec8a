"""Dates: what `--date`, `--since` and `@{…}` accept, and the forms of `--date=`.

A moment is (seconds since the epoch, zone), the zone as git writes it: +0130 is the number 130.
`approxidate` never fails, like git's: words it does not know are skipped.
"""

from __future__ import annotations

import re

from agentsandbox.kernel.formats.strftime import strftime
from agentsandbox.kernel.formats.timezones import civil_from_days, days_from_civil, find_zone

TYPE_CHECKING = False

_DAYS = ("Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat")
_LONG_DAYS = ("sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday")
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_LONG_MONTHS = (
    "january", "february", "march", "april", "may", "june", "july", "august", "september",
    "october", "november", "december",
)  # fmt: skip
_NUMBERS = (
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten",
)  # fmt: skip
_UNITS = {"second": 1, "minute": 60, "hour": 3600, "day": 86400, "week": 604800}
_ZONES = {
    "utc": 0, "gmt": 0, "z": 0, "est": -5, "edt": -4, "cst": -6, "cdt": -5, "mst": -7, "mdt": -6,
    "pst": -8, "pdt": -7, "cet": 1, "cest": 2, "bst": 1, "jst": 9, "wet": 0, "eet": 2, "msk": 3,
}  # fmt: skip
_MOST = 1 << 50


def zone_number(seconds: int) -> int:
    """Return the zone of an offset in seconds."""
    minutes = abs(seconds) // 60
    found = minutes // 60 * 100 + minutes % 60
    return -found if seconds < 0 else found


def zone_seconds(zone: int) -> int:
    """Return the offset of a zone in seconds."""
    minutes = abs(zone) // 100 * 60 + abs(zone) % 100
    return -minutes * 60 if zone < 0 else minutes * 60


def local_zone(seconds: int, tz: str) -> int:
    """Return the zone that $TZ gives at a moment."""
    return zone_number(find_zone(tz or "UTC").at(seconds)[0])


def parse_exact(text: str, now: int, tz: str) -> tuple[int, int] | None:
    """Return the moment that a text names completely, as GIT_AUTHOR_DATE must; None otherwise."""
    text = text.strip()
    found = re.fullmatch(r"@?([0-9]{9,15})(?:\s+([+-][0-9]{4}))?", text)
    if found is None and text.startswith("@"):
        found = re.fullmatch(r"@([0-9]{1,15})(?:\s+([+-][0-9]{4}))?", text)
    if found is not None:
        seconds = int(found[1])
        return seconds, int(found[2]) if found[2] else (
            0 if text[0] == "@" and not found[2] else local_zone(seconds, tz)
        )
    return _parse_calendar(text, now, tz)


_ISO = re.compile(
    r"(?P<year>[0-9]{4})[-./](?P<month>[0-9]{1,2})[-./](?P<day>[0-9]{1,2})(?:[T\s]+|$)"
)
_US = re.compile(r"(?P<month>[0-9]{1,2})/(?P<day>[0-9]{1,2})/(?P<year>[0-9]{2,4})(?:\s+|$)")
_EUROPE = re.compile(r"(?P<day>[0-9]{1,2})\.(?P<month>[0-9]{1,2})\.(?P<year>[0-9]{2,4})(?:\s+|$)")
_COMPACT = re.compile(r"(?P<year>[0-9]{4})(?P<month>[0-9]{2})(?P<day>[0-9]{2})(?:T|\s+|$)")
_RFC = re.compile(
    r"(?:[A-Za-z]{3,9},?\s+)?(?P<day>[0-9]{1,2})\s+(?P<name>[A-Za-z]{3,9}),?\s+(?P<year>[0-9]{4})"
    r"(?:\s+|$)"
)
_C = re.compile(
    r"(?:[A-Za-z]{3,9},?\s+)?(?P<name>[A-Za-z]{3,9})\s+(?P<day>[0-9]{1,2})(?:st|nd|rd|th)?,?\s+"
)
_TIME = re.compile(
    r"(?P<hour>[0-9]{1,2}):(?P<minute>[0-9]{2})(?::(?P<second>[0-9]{2})(?:\.[0-9]+)?)?"
    r"\s*(?P<half>[AaPp][Mm])?"
)
_SHORT_TIME = re.compile(r"(?P<hour>[0-9]{2})(?P<minute>[0-9]{2})(?P<second>[0-9]{2})?")
_ZONE = re.compile(r"\s*(?:(?P<name>[A-Za-z]+)|(?P<sign>[+-])(?P<h>[0-9]{2}):?(?P<m>[0-9]{2})?)\s*")
_YEAR = re.compile(r"\s*(?P<year>[0-9]{4})\b")


def _month_of(name: str) -> int | None:
    lowered = name.lower()
    for number, full in enumerate(_LONG_MONTHS, 1):
        if len(lowered) >= 3 and full.startswith(lowered):
            return number
    return None


def _parse_calendar(text: str, now: int, tz: str) -> tuple[int, int] | None:
    """Return the moment of a calendar date with a time of day."""
    found = year = None
    month = None
    for form in (_ISO, _COMPACT, _US, _EUROPE, _RFC, _C):
        found = form.match(text)
        if found is not None:
            groups = found.groupdict()
            month = _month_of(groups["name"]) if "name" in groups else int(groups["month"])
            if month is not None:
                year = groups.get("year")
                break
    if found is None or month is None:
        return None
    at = found.end()
    hour = minute = second = None
    time = _TIME.match(text, at) or (_SHORT_TIME.match(text, at) if "T" in text[:at] else None)
    if time is not None:
        hour, minute, second = int(time["hour"]), int(time["minute"]), int(time["second"] or 0)
        half = (time.groupdict().get("half") or "").lower()
        if half:
            hour = hour % 12 + (12 if half == "pm" else 0)
        at = time.end()
    zone = None
    if year is None:
        late = _YEAR.match(text, at)
        if late is None:
            return None
        year = late["year"]
        at = late.end()
        if hour is None and (time := _TIME.match(text[at:].lstrip())) is not None:
            hour, minute, second = int(time["hour"]), int(time["minute"]), int(time["second"] or 0)
            at = len(text)
    mark = _ZONE.match(text, at)
    if mark is not None:
        if mark["sign"]:
            zone = int(mark["h"]) * 100 + int(mark["m"] or 0)
            zone = -zone if mark["sign"] == "-" else zone
        elif mark["name"].lower() in _ZONES:
            zone = _ZONES[mark["name"].lower()] * 100
        at = mark.end()
    if text[at:].strip():
        return None
    number = int(year)
    if number < 100:
        number += 2000 if number < 70 else 1900
    if not (1 <= month <= 12 and 1 <= int(found["day"]) <= 31 and number >= 1970):
        return None
    if hour is None:
        clock = now + zone_seconds(local_zone(now, tz))
        hour, minute, second = clock // 3600 % 24, clock // 60 % 60, clock % 60
    if hour > 24 or (minute or 0) > 59 or (second or 0) > 60:
        return None
    local = days_from_civil(number, month, int(found["day"])) * 86400
    local += hour * 3600 + (minute or 0) * 60 + (second or 0)
    if zone is None:
        seconds = find_zone(tz or "UTC").to_utc(local)
        return seconds, local_zone(seconds, tz)
    return local - zone_seconds(zone), zone


_WORD = re.compile(r"([A-Za-z]+)|([0-9]+)|(.)", re.DOTALL)


def approxidate(text: str, now: int, tz: str) -> int:
    """Return the moment that a text means, in seconds; `now` where it means none."""
    exact = parse_exact(text, now, tz)
    if exact is not None:
        return exact[0]
    return _Approximation(now, tz).parse(text[:1000])


class _Approximation:
    """A clock that words move: "2 weeks ago", "yesterday noon", "last friday"."""

    def __init__(self, now: int, tz: str) -> None:
        self.now = now
        self.tz = tz
        self.zone = find_zone(tz or "UTC")
        self._open(now)
        self.number = 0
        self.fixed_time = False

    def _open(self, seconds: int) -> None:
        local = seconds + self.zone.at(seconds)[0]
        days, clock = divmod(local, 86400)
        self.year, self.month, self.day = civil_from_days(days)
        self.hour, self.minute, self.second = clock // 3600, clock // 60 % 60, clock % 60

    def _close(self) -> int:
        days = days_from_civil(self.year, self.month, self.day)
        local = days * 86400 + self.hour * 3600 + self.minute * 60 + self.second
        return self.zone.to_utc(local)

    def _back(self, seconds: int) -> None:
        self._open(max(0, self._close() - min(seconds, _MOST)))

    def parse(self, text: str) -> int:
        """Return the moment that a text means."""
        words = _WORD.findall(text)
        at = 0
        while at < len(words):
            word, digits, _other = words[at]
            if word:
                self._word(word.lower())
            elif digits:
                at += self._digits(digits, words, at)
            at += 1
        if self.number and 1 <= self.number <= 31:
            self.day = self.number
        return self._close()

    def _digits(self, digits: str, words: list[tuple[str, str, str]], at: int) -> int:
        """Take a number, and a time or date that begins with it; return the words it takes more."""
        rest = [piece[0] or piece[1] or piece[2] for piece in words[at + 1 : at + 5]]
        if len(rest) >= 2 and rest[0] == ":" and rest[1].isdigit() and len(digits) <= 2:
            self.hour, self.minute, self.second = int(digits) % 24, int(rest[1]) % 60, 0
            if len(rest) == 4 and rest[2] == ":" and rest[3].isdigit():
                self.second = int(rest[3]) % 60
                return 4
            return 2
        if len(rest) == 4 and rest[0] == rest[2] == "-" and len(digits) == 4:
            if rest[1].isdigit() and rest[3].isdigit() and 1 <= int(rest[1]) <= 12:
                self.year, self.month = int(digits), int(rest[1])
                self.day = max(1, min(31, int(rest[3])))
                return 4
        value = int(digits[:9])
        if len(digits) == 4 and 1970 <= value < 2100:
            self.year = value
        else:
            self.number = value
        return 0

    def _word(self, word: str) -> None:
        # long: the vocabulary, word by word
        if word in ("am", "pm"):
            hour = self.number or self.hour
            self.hour = hour % 12 + (12 if word == "pm" else 0)
            if self.number:
                self.minute = self.second = 0
            self.number = 0
        elif word == "now":
            self._open(self.now)
        elif word == "yesterday":
            self._back(86400)
        elif word == "today":
            pass
        elif word == "never":
            self._open(0)
        elif word in ("noon", "midnight", "tea"):
            hour = {"noon": 12, "midnight": 0, "tea": 17}[word]
            if self.number:
                self.day, self.number = self.number, 0
            elif self.hour < hour:
                self._back(86400)
            self.hour, self.minute, self.second = hour, 0, 0
        elif word == "last":
            self.number = 1
        elif word in _NUMBERS:
            self.number = _NUMBERS.index(word)
        elif word == "a" or word == "an":
            self.number = 1
        else:
            self._unit(word)

    def _unit(self, word: str) -> None:
        single = word.removesuffix("s")
        if single in _UNITS:
            if self.number:
                self._back(self.number * _UNITS[single])
            self.number = 0
        elif single in ("month", "year"):
            months = self.number * (12 if single == "year" else 1)
            total = self.year * 12 + self.month - 1 - months
            self.year, self.month = max(1970, total // 12), total % 12 + 1
            self.number = 0
        elif len(word) >= 3 and any(day.startswith(word) for day in _LONG_DAYS):
            target = next(at for at, day in enumerate(_LONG_DAYS) if day.startswith(word))
            days = days_from_civil(self.year, self.month, self.day)
            weekday = (days + 4) % 7
            behind = (weekday - target) % 7
            count = self.number or 1
            if behind == 0:
                behind = 7
            self._back((behind + 7 * (count - 1)) * 86400)
            self.number = 0
        elif len(word) >= 3 and (month := _month_of(word)) is not None:
            self.month = month
            if self.number:
                self.day, self.number = max(1, min(31, self.number)), 0


# printing


def parse_zone(text: str) -> int:
    """Return a zone of an ident line, 0 if it is not one."""
    return int(text) if re.fullmatch(r"[+-][0-9]{1,5}", text) else 0


class DateStyle:
    """A form of `--date=`: `kind`, whether in the local zone, and a format for strftime."""

    __slots__ = ("format", "kind", "local")

    def __init__(self, kind: str, *, local: bool = False, format: str = "") -> None:
        self.kind = kind
        self.local = local
        self.format = format


DEFAULT = DateStyle("default")
_NAMES = {
    "relative": "relative", "human": "human", "iso8601": "iso", "iso": "iso",
    "iso8601-strict": "strict", "iso-strict": "strict", "rfc2822": "rfc", "rfc": "rfc",
    "short": "short", "default": "default", "raw": "raw", "unix": "unix", "local": "default",
}  # fmt: skip


def parse_style(text: str) -> DateStyle | None:
    """Return the style that `--date=` names, None for an unknown one."""
    if text.startswith(("format:", "format-local:")):
        name, _, format = text.partition(":")
        return DateStyle("format", local=name.endswith("-local"), format=format)
    if text.startswith("auto:"):
        text = "default"
    name = text.removesuffix("-local")
    if name not in _NAMES:
        return None
    return DateStyle(_NAMES[name], local=name != text or text == "local")


def show_date(seconds: int, zone: int, style: DateStyle, now: int, tz: str) -> str:
    """Return a moment in a style."""
    kind = style.kind
    if kind == "unix":
        return str(seconds)
    if style.local:
        zone = local_zone(seconds, tz)
    if kind == "raw":
        return f"{seconds} {zone:+05d}"
    if kind == "relative":
        return relative_date(seconds, now)
    local = seconds + zone_seconds(zone)
    days, clock = divmod(local, 86400)
    year, month, day = civil_from_days(days)
    time = f"{clock // 3600:02d}:{clock // 60 % 60:02d}:{clock % 60:02d}"
    if kind == "short":
        return f"{year:04d}-{month:02d}-{day:02d}"
    if kind == "iso":
        return f"{year:04d}-{month:02d}-{day:02d} {time} {zone:+05d}"
    if kind == "strict":
        if zone == 0:
            shown = "Z" if style.local is None else "+00:00"
        else:
            shown = f"{'-' if zone < 0 else '+'}{abs(zone) // 100:02d}:{abs(zone) % 100:02d}"
        return f"{year:04d}-{month:02d}-{day:02d}T{time}{shown}"
    weekday = _DAYS[(days + 4) % 7]
    name = _MONTHS[month - 1]
    if kind == "rfc":
        return f"{weekday}, {day} {name} {year} {time} {zone:+05d}"
    if kind == "format":
        # %z and %Z of the ident's own zone
        format = re.sub(
            r"%(%|z|Z|s)",
            lambda found: {
                "%": "%%",
                "z": f"{zone:+05d}",
                "s": str(seconds),
                "Z": "" if not style.local else "%Z",
            }[found[1]],
            style.format,
        )
        return strftime(local, format, "UTC")
    if kind == "human":
        return _human(seconds, zone, now, tz)
    shown = "" if style.local else f" {zone:+05d}"
    return f"{weekday} {name} {day} {time} {year}{shown}"


def _human(seconds: int, zone: int, now: int, tz: str) -> str:
    here = local_zone(now, tz)
    local, local_now = seconds + zone_seconds(zone), now + zone_seconds(here)
    days, clock = divmod(local, 86400)
    year, month, day = civil_from_days(days)
    now_year, now_month, now_day = civil_from_days(local_now // 86400)
    hide_year = year == now_year
    hide_date = hide_time = False
    if hide_year and month == now_month:
        if day > now_day:
            pass
        elif day == now_day:
            return relative_date(seconds, now)
        elif day + 5 > now_day:
            hide_date = True
    if not hide_year:
        hide_time = True
    out = []
    if not hide_time or hide_date:
        out.append(_DAYS[(days + 4) % 7])
    if not hide_date:
        out.append(f"{_MONTHS[month - 1]} {day}")
    if not hide_time:
        out.append(f"{clock // 3600:02d}:{clock // 60 % 60:02d}")
    if not hide_year:
        out.append(str(year))
    if here != zone and not hide_time:
        out.append(f"{zone:+05d}")
    return " ".join(out)


def _count(number: int, unit: str) -> str:
    return f"{number} {unit}{'' if number == 1 else 's'}"


def relative_date(seconds: int, now: int) -> str:
    """Return a moment as "3 days ago"."""
    if now < seconds:
        return "in the future"
    diff = now - seconds
    if diff < 90:
        return f"{_count(diff, 'second')} ago"
    diff = (diff + 30) // 60
    if diff < 90:
        return f"{_count(diff, 'minute')} ago"
    diff = (diff + 30) // 60
    if diff < 36:
        return f"{_count(diff, 'hour')} ago"
    diff = (diff + 12) // 24
    if diff < 14:
        return f"{_count(diff, 'day')} ago"
    if diff < 70:
        return f"{_count((diff + 3) // 7, 'week')} ago"
    if diff < 365:
        return f"{_count((diff + 15) // 30, 'month')} ago"
    if diff < 1825:
        months = (diff * 12 * 2 + 365) // (365 * 2)
        years, months = divmod(months, 12)
        if months:
            return f"{_count(years, 'year')}, {_count(months, 'month')} ago"
        return f"{_count(years, 'year')} ago"
    return f"{_count((diff + 183) // 365, 'year')} ago"
