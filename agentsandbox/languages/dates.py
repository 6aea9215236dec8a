"""Dates as people write them: the grammar of GNU's `date -d`, `touch -d` and `find -newermt`.

Items (a date, a time, a zone, a weekday, displacements) stand in any order; see the "Date input formats" of the GNU
manuals. Moments are whole nanoseconds since the epoch.
"""

from __future__ import annotations

import re

from agentsandbox.languages.strftime import MONTHS, NANO, WEEKDAYS, Moment, format_date, longest_width, strftime
from agentsandbox.languages.timezones import civil_from_days, days_from_civil, find_zone

__all__ = ["DateError", "format_date", "longest_width", "parse_date", "strftime"]

HOUR = 3600
_MOST = 2**63


class DateError(ValueError):
    """The text is no date."""


_NUMBER, _SIGNED, _DECIMAL, _SIGNED_DECIMAL = "number", "signed", "decimal", "signed decimal"
_MONTH, _WEEKDAY, _MERIDIAN, _UNIT, _ORDINAL, _SHIFT, _AGO = "month", "weekday", "meridian", "unit", "ordinal", "shift", "ago"
_ZONE, _DAYLIGHT_ZONE, _LOCAL_ZONE, _DST, _CHARACTER, _END = "zone", "daylight zone", "local zone", "dst", "character", "end"

_UNITS = {
    "YEAR": ("year", 1),
    "MONTH": ("month", 1),
    "FORTNIGHT": ("day", 14),
    "WEEK": ("day", 7),
    "DAY": ("day", 1),
    "HOUR": ("hour", 1),
    "MINUTE": ("minute", 1),
    "MIN": ("minute", 1),
    "SECOND": ("second", 1),
    "SEC": ("second", 1),
}
_ORDINAL_WORDS = "FIRST - THIRD FOURTH FIFTH SIXTH SEVENTH EIGHTH NINTH TENTH ELEVENTH TWELFTH"
_ORDINALS = {
    "LAST": -1,
    "THIS": 0,
    "NEXT": 1,
    **{name: number for number, name in enumerate(_ORDINAL_WORDS.split(), 1) if name != "-"},
}
_SHIFTS = {"TOMORROW": 1, "YESTERDAY": -1, "TODAY": 0, "NOW": 0}
_MERIDIANS = {"AM": 0, "A.M.": 0, "PM": 12, "P.M.": 12}
_MILITARY = {letter: hours for hours, letter in enumerate("ABCDEFGHIKLM", 1)}
_MILITARY.update({letter: -hours for hours, letter in enumerate("NOPQRSTUVWXY", 1)})
_MILITARY["Z"] = 0
_ZONES = {
    name: hours * HOUR
    for text, hours in (
        ("GMT UT UTC WET", 0.0), ("ART BRT", -3.0), ("NST", -3.5), ("AST CLT", -4.0), ("EST", -5.0), ("CST", -6.0), ("MST", -7.0),
        ("PST", -8.0), ("AKST", -9.0), ("HST HAST", -10.0), ("SST", -11.0), ("WAT CET MET MEZ", 1.0), ("EET CAT SAST", 2.0),
        ("EAT MSK", 3.0), ("IST", 5.5), ("SGT", 8.0), ("KST JST", 9.0), ("GST", 10.0), ("NZST", 12.0),
    )
    for name in text.split()
}  # fmt: skip
_DAYLIGHT_ZONES = {
    "WEST": 0.0, "BST": 0.0, "BRST": -3.0, "NDT": -3.5, "ADT": -4.0, "CLST": -4.0, "EDT": -5.0, "CDT": -6.0, "MDT": -7.0, "PDT": -8.0,
    "AKDT": -9.0, "HADT": -10.0, "CEST": 1.0, "MEST": 1.0, "MESZ": 1.0, "EEST": 2.0, "MSD": 3.0, "NZDT": 12.0,
}  # fmt: skip
_MONTH_NAMES = {name.upper(): number for number, name in enumerate(MONTHS, 1)} | {"SEPT": 9}
_WEEKDAY_NAMES = {name.upper(): number for number, name in enumerate(WEEKDAYS)} | {"TUES": 2, "WEDNES": 3, "THUR": 4, "THURS": 4}
_THREE = {name[:3]: (_MONTH, number) for name, number in _MONTH_NAMES.items()} | {
    name[:3]: (_WEEKDAY, number) for name, number in _WEEKDAY_NAMES.items()
}

_DIGITS = re.compile(r"[0-9]+")
_FRACTION = re.compile(r"[.,]([0-9]+)")
_WORD = re.compile(r"[A-Za-z][A-Za-z.]*")
_TZ_PREFIX = re.compile(r'[ \t\n\v\f\r]*TZ="((?:[^"\\]|\\["\\])*)"')


class _Token:
    """`value` is a number, or (unit, count) for a unit; `digits` how many digits it was written with."""

    __slots__ = ("digits", "kind", "nanosecond", "negative", "unit", "value")

    def __init__(self, kind: str, value: int = 0, *, digits: int = 0, negative: bool = False, nanosecond: int = 0, unit: str = "") -> None:
        self.kind = kind
        self.value = value
        self.digits = digits
        self.negative = negative
        self.nanosecond = nanosecond
        self.unit = unit


class _Lexer:
    """Splits a date into tokens; knows the abbreviations of the zone in force."""

    def __init__(self, text: str, local: dict[str, bool]) -> None:
        self.text = text
        self.local = local

    def tokens(self) -> list[_Token]:
        text, at, found = self.text, 0, []
        while at < len(text):
            character = text[at]
            if character in " \t\n\v\f\r":
                at += 1
            elif character in "+-0123456789":
                token, at = self._number(at)
                if token is not None:
                    found.append(token)
            elif character.isascii() and character.isalpha():
                word = _WORD.match(text, at)
                assert word is not None
                found.append(self._word(word[0].upper()))
                at = word.end()
            elif character == "(":
                at = self._comment(at)
            else:
                found.append(_Token(_CHARACTER, unit=character))
                at += 1
        found.append(_Token(_END))
        return found

    def _comment(self, at: int) -> int:
        depth = 0
        while at < len(self.text):
            depth += (self.text[at] == "(") - (self.text[at] == ")")
            at += 1
            if not depth:
                return at
        return at

    def _number(self, at: int) -> tuple[_Token | None, int]:
        text = self.text
        sign = 0
        if text[at] in "+-":
            sign = -1 if text[at] == "-" else 1
            at += 1
            while text[at : at + 1] in tuple(" \t\n\v\f\r"):
                at += 1
            if not text[at : at + 1].isdigit() or not text[at].isascii():
                return None, at
        digits = _DIGITS.match(text, at)
        assert digits is not None
        if len(digits[0].lstrip("0")) > 19:
            raise DateError
        value = int(digits[0][-20:]) * (sign or 1)
        at = digits.end()
        fraction = _FRACTION.match(text, at)
        if fraction is None:
            return _Token(_SIGNED if sign else _NUMBER, value, digits=len(digits[0]), negative=sign < 0), at
        nanosecond = int(fraction[1][:9].ljust(9, "0"))
        if sign < 0 and (nanosecond or fraction[1][9:].strip("0")):
            nanosecond += bool(fraction[1][9:].strip("0"))
            value, nanosecond = (value - 1, NANO - nanosecond) if nanosecond else (value, 0)
            value, nanosecond = value + nanosecond // NANO, nanosecond % NANO
        return _Token(_SIGNED_DECIMAL if sign else _DECIMAL, value, nanosecond=nanosecond), fraction.end()

    def _word(self, word: str) -> _Token:
        if word in _MERIDIANS:
            return _Token(_MERIDIAN, _MERIDIANS[word])
        if len(word) == 3 or (len(word) == 4 and word[3] == "."):
            named = _THREE.get(word[:3])
            if named is not None:
                return _Token(*named)
        if word in _MONTH_NAMES:
            return _Token(_MONTH, _MONTH_NAMES[word])
        if word in _WEEKDAY_NAMES:
            return _Token(_WEEKDAY, _WEEKDAY_NAMES[word])
        return self._zone(word) or self._relative(word) or self._letter(word)

    def _zone(self, word: str) -> _Token | None:
        if word in ("GMT", "UT", "UTC"):
            return _Token(_ZONE, 0)
        if word in self.local:
            return _Token(_LOCAL_ZONE, int(self.local[word]))
        if word in _ZONES:
            return _Token(_ZONE, round(_ZONES[word]))
        if word in _DAYLIGHT_ZONES:
            return _Token(_DAYLIGHT_ZONE, round(_DAYLIGHT_ZONES[word] * HOUR))
        return _Token(_DST) if word == "DST" else None

    def _relative(self, word: str) -> _Token | None:
        for name in (word, word[:-1] if word.endswith("S") else ""):
            if name in _UNITS:
                unit, count = _UNITS[name]
                return _Token(_UNIT, count, unit=unit)
        if word in _ORDINALS:
            return _Token(_ORDINAL, _ORDINALS[word])
        if word in _SHIFTS:
            return _Token(_SHIFT, _SHIFTS[word])
        if word in ("AGO", "HENCE"):
            return _Token(_AGO, -1 if word == "AGO" else 1)
        return None

    def _letter(self, word: str) -> _Token:
        if word == "T":
            return _Token(_CHARACTER, unit="T")
        if word in _MILITARY:
            return _Token(_ZONE, _MILITARY[word] * HOUR)
        bare = word.replace(".", "")
        zone = self._zone(bare) if bare != word else None
        if zone is None:
            raise DateError
        return zone


class _Parser:
    """Collects what the items say. `seen` counts the kinds that may occur once."""

    def __init__(self, tokens: list[_Token]) -> None:
        self.tokens = tokens
        self.at = 0
        self.dates = self.times = self.zones = self.locals = self.days = self.relatives = self.dsts = 0
        self.year: _Token | None = None
        self.month = self.day = 0
        self.hour = self.minute = self.second = self.nanosecond = 0
        self.meridian: int | None = None
        self.zone = 0
        self.local_daylight = False
        self.ordinal = self.weekday = 0
        self.relative = dict.fromkeys(("year", "month", "day", "hour", "minute", "second", "nanosecond"), 0)

    # reading

    def peek(self, ahead: int = 0) -> _Token:
        return self.tokens[min(self.at + ahead, len(self.tokens) - 1)]

    def take(self) -> _Token:
        token = self.peek()
        self.at += 1
        return token

    def expect(self, kind: str) -> _Token:
        if self.peek().kind != kind:
            raise DateError
        return self.take()

    def is_character(self, character: str, ahead: int = 0) -> bool:
        token = self.peek(ahead)
        return token.kind == _CHARACTER and token.unit == character

    # items

    def items(self) -> None:
        """Read all items."""
        readers = {
            _NUMBER: self.number_item,
            _SIGNED: self.signed_item,
            _DECIMAL: self.decimal_item,
            _SIGNED_DECIMAL: self.decimal_item,
            _MONTH: self.month_item,
            _WEEKDAY: self.weekday_item,
            _UNIT: self.unit_item,
            _ORDINAL: self.ordinal_item,
            _SHIFT: self.shift_item,
            _ZONE: self.zone_item,
            _DAYLIGHT_ZONE: self.daylight_zone_item,
            _LOCAL_ZONE: self.local_zone_item,
            _DST: self.dst_item,
            _CHARACTER: self.character_item,
        }
        while self.peek().kind != _END:
            reader = readers.get(self.peek().kind)
            if reader is None:
                raise DateError
            reader()
        if any(count > 1 for count in (self.times, self.dates, self.days, self.dsts, self.zones + self.locals)):
            raise DateError

    def number_item(self) -> None:
        number = self.take()
        following = self.peek()
        if following.kind == _MERIDIAN:
            self.set_time(number.value, 0, 0, 0, self.take().value)
        elif self.is_character(":"):
            self.clock_time(number)
        elif self.is_character("/"):
            self.slash_date(number)
        elif following.kind == _MONTH:
            self.day_month(number)
        elif following.kind == _WEEKDAY:
            self.set_weekday(number.value, self.take().value)
        elif following.kind == _UNIT:
            self.relate(self.take(), number.value)
        elif following.kind == _SIGNED:
            self.number_and_signed(number)
        else:
            self.plain_number(number)

    def number_and_signed(self, number: _Token) -> None:
        following = self.peek(1)
        if following.kind == _SIGNED:
            month, day = self.take(), self.take()
            self.set_date(number, -month.value, -day.value)
            if self.is_character("T"):
                self.take()
                hour = self.expect(_NUMBER)
                if self.is_character(":"):
                    self.clock_time(hour, meridian=False)
                elif self.peek().kind == _SIGNED:
                    self.set_time(hour.value, 0, 0, 0)
                    self.zone_offset()
                else:
                    raise DateError
        elif following.kind == _UNIT:
            self.plain_number(number)
            amount = self.take()
            self.relate(self.take(), amount.value)
        else:
            self.set_time(number.value, 0, 0, 0)
            self.zone_offset()

    def clock_time(self, hour: _Token, meridian: bool = True) -> None:
        self.take()
        minute = self.expect(_NUMBER)
        second = nanosecond = 0
        if self.is_character(":"):
            self.take()
            token = self.take()
            if token.kind not in (_NUMBER, _DECIMAL):
                raise DateError
            second, nanosecond = token.value, token.nanosecond
        if self.peek().kind == _MERIDIAN and meridian:
            self.set_time(hour.value, minute.value, second, nanosecond, self.take().value)
            return
        self.set_time(hour.value, minute.value, second, nanosecond)
        if self.peek().kind == _SIGNED:
            self.zone_offset()

    def zone_offset(self) -> None:
        self.zones += 1
        self.zone = self.read_offset()

    def read_offset(self) -> int:
        """Seconds of +hh, +hhmm or +hh:mm."""
        token = self.expect(_SIGNED)
        if self.is_character(":"):
            self.take()
            minute = self.expect(_NUMBER).value
            minutes = token.value * 60 + (-minute if token.negative else minute)
        else:
            value = token.value * 100 if token.digits <= 2 else token.value
            hours, rest = divmod(abs(value), 100)
            minutes = (hours * 60 + rest) * (-1 if value < 0 else 1)
        if abs(minutes) > 24 * 60:
            raise DateError
        return minutes * 60

    def slash_date(self, first: _Token) -> None:
        self.take()
        second = self.expect(_NUMBER)
        if not (self.is_character("/") and self.peek(1).kind == _NUMBER):
            self.set_date(None, first.value, second.value)
            return
        self.take()
        third = self.take()
        if first.digits >= 4:
            self.set_date(first, second.value, third.value)
        else:
            self.set_date(third, first.value, second.value)

    def day_month(self, day: _Token) -> None:
        month = self.take().value
        year = None
        if self.peek().kind == _NUMBER:
            year = self.take()
        elif self.peek().kind == _SIGNED:
            year = self.negated(self.take())
        self.set_date(year, month, day.value)

    def month_item(self) -> None:
        month = self.take().value
        day = self.take()
        if day.kind == _SIGNED:
            self.set_date(self.negated(self.expect(_SIGNED)), month, -day.value)
        elif day.kind != _NUMBER:
            raise DateError
        elif self.is_character(","):
            self.take()
            self.set_date(self.expect(_NUMBER), month, day.value)
        else:
            self.set_date(None, month, day.value)

    def negated(self, token: _Token) -> _Token:
        """A year written as in 17-JUN-1992."""
        return _Token(_NUMBER, -token.value, digits=token.digits)

    def weekday_item(self) -> None:
        self.set_weekday(0, self.take().value)
        if self.is_character(","):
            self.take()

    def ordinal_item(self) -> None:
        ordinal = self.take().value
        if self.peek().kind == _WEEKDAY:
            self.set_weekday(ordinal, self.take().value)
        else:
            self.relate(self.expect(_UNIT), ordinal)

    def unit_item(self) -> None:
        self.relate(self.take(), 1)

    def signed_item(self) -> None:
        amount = self.take().value
        self.relate(self.expect(_UNIT), amount)

    def decimal_item(self) -> None:
        amount = self.take()
        unit = self.expect(_UNIT)
        if unit.unit != "second":
            raise DateError
        self.relate(unit, amount.value, amount.nanosecond)

    def shift_item(self) -> None:
        shift = self.take().value
        self.relatives += 1
        self.relative["day"] += shift

    def zone_item(self) -> None:
        self.zones += 1
        self.zone = self.take().value
        self.after_zone()

    def after_zone(self) -> None:
        if self.peek().kind == _SIGNED:
            if self.peek(1).kind == _UNIT:
                amount = self.take().value
                self.relate(self.take(), amount)
            else:
                self.zone += self.read_offset()
        elif self.peek().kind == _DST:
            self.take()
            self.zone += HOUR

    def daylight_zone_item(self) -> None:
        self.zones += 1
        self.zone = self.take().value + HOUR

    def local_zone_item(self) -> None:
        self.locals += 1
        self.local_daylight = bool(self.take().value)
        if self.peek().kind == _DST:
            self.take()
            self.local_daylight = True
            self.dsts += 1

    def dst_item(self) -> None:
        raise DateError

    def character_item(self) -> None:
        token = self.take()
        if token.unit == "T":
            self.zones += 1
            self.zone = -7 * HOUR
            self.after_zone()
        else:
            raise DateError

    # what they say

    def set_time(self, hour: int, minute: int, second: int, nanosecond: int, meridian: int | None = None) -> None:
        self.times += 1
        self.hour, self.minute, self.second, self.nanosecond = hour, minute, second, nanosecond
        self.meridian = meridian

    def set_date(self, year: _Token | None, month: int, day: int) -> None:
        self.dates += 1
        if year is not None:
            self.year = year
        self.month, self.day = month, day

    def set_weekday(self, ordinal: int, weekday: int) -> None:
        self.days += 1
        self.ordinal, self.weekday = ordinal, weekday

    def relate(self, unit: _Token, amount: int, nanosecond: int = 0) -> None:
        """Add a displacement, negated by "ago" after it."""
        sign = self.take().value if self.peek().kind == _AGO else 1
        self.relatives += 1
        self.relative[unit.unit] += sign * amount * unit.value
        self.relative["nanosecond"] += sign * nanosecond
        if any(abs(value) >= _MOST for value in self.relative.values()):
            raise DateError

    def plain_number(self, number: _Token) -> None:
        """A number alone: YYYYMMDD, HHMM, HH, or the year of a date that lacks it."""
        if self.dates and not (self.year and self.year.digits) and not self.relatives and (self.times or number.digits > 2):
            self.year = number
        elif number.digits > 4:
            value = number.value
            self.set_date(_Token(_NUMBER, value // 10000, digits=number.digits - 4), value // 100 % 100, value % 100)
        elif number.digits <= 2:
            self.set_time(number.value, 0, 0, 0)
        else:
            self.set_time(number.value // 100, number.value % 100, 0, 0)

    # the moment

    def full_year(self, now: Moment) -> int:
        if self.year is None:
            return now.year
        if self.year.digits == 2:
            return self.year.value + (2000 if self.year.value < 69 else 1900)
        return abs(self.year.value)

    def full_hour(self) -> int:
        if self.meridian is None:
            return self.hour
        if not 1 <= self.hour <= 12:
            raise DateError
        return self.hour % 12 + self.meridian

    def moment(self, now: Moment, zone_name: str) -> int:
        """The nanoseconds since the epoch that the items mean."""
        zone = find_zone(zone_name)
        year = self.full_year(now)
        month, day = (self.month, self.day) if self.dates else (now.month, now.mday)
        hour = minute = second = nanosecond = 0
        if self.times:
            hour, minute, second, nanosecond = self.full_hour(), self.minute, self.second, self.nanosecond
        elif self.relatives and not self.dates and not self.days:
            hour, minute, second, nanosecond = now.hour, now.minute, now.second, now.nanosecond
        absolute = self.dates or self.days or self.times
        daylight = self.local_daylight if self.locals else None if absolute else now.daylight
        if not (1 <= month <= 12 and 0 <= hour < 24 and 0 <= minute < 60 and 0 <= second < 60):
            raise DateError
        clock = hour * HOUR + minute * 60 + second
        start = _seconds_of(zone_name, year, month, day, clock, daylight)
        shown = Moment(start * NANO, zone_name)
        if self.zones:  # an explicit zone may name a time that the local one skips
            given = civil_from_days(days_from_civil(year, month, day)) == (year, month, day)
        else:
            given = (shown.year, shown.month, shown.mday, shown.hour, shown.minute) == (year, month, day, hour, minute)
        if not given:
            raise DateError
        if self.days and not self.dates:
            ordinal = self.ordinal - (self.ordinal > 0 and shown.wday != self.weekday)
            day += 7 * ordinal + (self.weekday - shown.wday) % 7
            daylight = None
            start = _seconds_of(zone_name, year, month, day, clock, daylight)
        if self.relative["year"] or self.relative["month"] or self.relative["day"]:
            base = Moment(start * NANO, zone_name)
            start = _seconds_of(
                zone_name,
                base.year + self.relative["year"],
                base.month + self.relative["month"],
                base.mday + self.relative["day"],
                clock,
                daylight,
            )
        if self.zones:
            start += zone.at(start)[0] - self.zone
        start += self.relative["hour"] * HOUR + self.relative["minute"] * 60 + self.relative["second"]
        return start * NANO + nanosecond + self.relative["nanosecond"]


def _seconds_of(zone_name: str, year: int, month: int, day: int, clock: int, daylight: bool | None) -> int:
    """As `mktime`: months and days may lie outside their range."""
    if not -(2**31) <= year <= 2**31 + 1899 or abs(month) >= 2**31 or abs(day) >= 2**31:
        raise DateError
    year, month = year + (month - 1) // 12, (month - 1) % 12 + 1
    return find_zone(zone_name).to_utc(days_from_civil(year, month, day) * 86400 + clock, daylight)


def _local_names(now: Moment, zone_name: str) -> dict[str, bool]:
    """The abbreviations that the zone uses around now, and whether each means daylight saving."""
    zone = find_zone(zone_name)
    names: dict[str, bool] = {}
    for quarter in range(4):
        _, name, daylight = zone.at(now.seconds + quarter * 91 * 86400)
        names[name.upper()] = daylight
    return names


def parse_date(text: str, now: float, zone: str) -> int:
    """The moment that a date string means, in nanoseconds since the epoch; `DateError` if it means none.

    `now` is the clock, in seconds; `zone` is the value of $TZ ("" for UTC), overridden by a leading TZ="…".
    """
    if len(text) > 4096 or not text.isascii():
        raise DateError
    prefix = _TZ_PREFIX.match(text)
    if prefix is not None:
        zone = re.sub(r"\\(.)", r"\1", prefix[1])
        text = text[prefix.end() :]
    moment = Moment(round(now * 1_000_000) * 1000, zone)
    stripped = text.strip(" \t\n\v\f\r")
    if stripped.startswith("@"):
        return _timestamp(stripped[1:])
    tokens = _Lexer(text, _local_names(moment, zone)).tokens()
    parser = _Parser(tokens)
    parser.items()
    result = parser.moment(moment, zone)
    if not -_MOST <= result // NANO < _MOST:
        raise DateError
    return result


def _timestamp(text: str) -> int:
    tokens = _Lexer(text, {}).tokens()
    if len(tokens) != 2 or tokens[0].kind not in (_NUMBER, _SIGNED, _DECIMAL, _SIGNED_DECIMAL):
        raise DateError
    if not -_MOST <= tokens[0].value < _MOST:
        raise DateError
    return tokens[0].value * NANO + tokens[0].nanosecond
