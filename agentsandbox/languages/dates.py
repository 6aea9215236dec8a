"""Dates as people write them: the grammar of GNU's `date -d`, `touch -d` and `find -newermt`.

Items (a date, a time, a zone, a weekday, displacements) stand in any order; see the "Date input formats" of the GNU
manuals. Moments are whole nanoseconds since the epoch.
"""

from __future__ import annotations

import re

from agentsandbox.languages.date_words import (
    AGO,
    CHARACTER,
    DAYLIGHT_ZONE,
    DECIMAL,
    DST,
    END,
    HOUR,
    LOCAL_ZONE,
    MERIDIAN,
    MONTH,
    NUMBER,
    ORDINAL,
    SHIFT,
    SIGNED,
    SIGNED_DECIMAL,
    UNIT,
    WEEKDAY,
    ZONE,
    DateError,
    Lexer,
    Token,
)
from agentsandbox.languages.strftime import NANO, Moment
from agentsandbox.languages.timezones import civil_from_days, days_from_civil, find_zone

__all__ = ["DateError", "parse_date"]

_MOST = 2**63
_TZ_PREFIX = re.compile(r'[ \t\n\v\f\r]*TZ="((?:[^"\\]|\\["\\])*)"')


class _Parser:
    """Collects what the items say. `seen` counts the kinds that may occur once."""

    def __init__(self, tokens: list[Token]) -> None:
        self.tokens = tokens
        self.at = 0
        self.dates = self.times = self.zones = self.locals = self.days = self.relatives = self.dsts = 0
        self.year: Token | None = None
        self.month = self.day = 0
        self.hour = self.minute = self.second = self.nanosecond = 0
        self.meridian: int | None = None
        self.zone = 0
        self.local_daylight = False
        self.ordinal = self.weekday = 0
        self.relative = dict.fromkeys(("year", "month", "day", "hour", "minute", "second", "nanosecond"), 0)

    # reading

    def peek(self, ahead: int = 0) -> Token:
        return self.tokens[min(self.at + ahead, len(self.tokens) - 1)]

    def take(self) -> Token:
        token = self.peek()
        self.at += 1
        return token

    def expect(self, kind: str) -> Token:
        if self.peek().kind != kind:
            raise DateError
        return self.take()

    def is_character(self, character: str, ahead: int = 0) -> bool:
        token = self.peek(ahead)
        return token.kind == CHARACTER and token.unit == character

    # items

    def items(self) -> None:
        """Read all items."""
        readers = {
            NUMBER: self.number_item,
            SIGNED: self.signed_item,
            DECIMAL: self.decimal_item,
            SIGNED_DECIMAL: self.decimal_item,
            MONTH: self.month_item,
            WEEKDAY: self.weekday_item,
            UNIT: self.unit_item,
            ORDINAL: self.ordinal_item,
            SHIFT: self.shift_item,
            ZONE: self.zone_item,
            DAYLIGHT_ZONE: self.daylight_zone_item,
            LOCAL_ZONE: self.local_zone_item,
            DST: self.dst_item,
            CHARACTER: self.character_item,
        }
        while self.peek().kind != END:
            reader = readers.get(self.peek().kind)
            if reader is None:
                raise DateError
            reader()
        if any(count > 1 for count in (self.times, self.dates, self.days, self.dsts, self.zones + self.locals)):
            raise DateError

    def number_item(self) -> None:
        number = self.take()
        following = self.peek()
        if following.kind == MERIDIAN:
            self.set_time(number.value, 0, 0, 0, self.take().value)
        elif self.is_character(":"):
            self.clock_time(number)
        elif self.is_character("/"):
            self.slash_date(number)
        elif following.kind == MONTH:
            self.day_month(number)
        elif following.kind == WEEKDAY:
            self.set_weekday(number.value, self.take().value)
        elif following.kind == UNIT:
            self.relate(self.take(), number.value)
        elif following.kind == SIGNED:
            self.number_and_signed(number)
        else:
            self.plain_number(number)

    def number_and_signed(self, number: Token) -> None:
        following = self.peek(1)
        if following.kind == SIGNED:
            month, day = self.take(), self.take()
            self.set_date(number, -month.value, -day.value)
            if self.is_character("T"):
                self.take()
                hour = self.expect(NUMBER)
                if self.is_character(":"):
                    self.clock_time(hour, meridian=False)
                elif self.peek().kind == SIGNED:
                    self.set_time(hour.value, 0, 0, 0)
                    self.zone_offset()
                else:
                    raise DateError
        elif following.kind == UNIT:
            self.plain_number(number)
            amount = self.take()
            self.relate(self.take(), amount.value)
        else:
            self.set_time(number.value, 0, 0, 0)
            self.zone_offset()

    def clock_time(self, hour: Token, meridian: bool = True) -> None:
        self.take()
        minute = self.expect(NUMBER)
        second = nanosecond = 0
        if self.is_character(":"):
            self.take()
            token = self.take()
            if token.kind not in (NUMBER, DECIMAL):
                raise DateError
            second, nanosecond = token.value, token.nanosecond
        if self.peek().kind == MERIDIAN and meridian:
            self.set_time(hour.value, minute.value, second, nanosecond, self.take().value)
            return
        self.set_time(hour.value, minute.value, second, nanosecond)
        if self.peek().kind == SIGNED:
            self.zone_offset()

    def zone_offset(self) -> None:
        self.zones += 1
        self.zone = self.read_offset()

    def read_offset(self) -> int:
        """Seconds of +hh, +hhmm or +hh:mm."""
        token = self.expect(SIGNED)
        if self.is_character(":"):
            self.take()
            minute = self.expect(NUMBER).value
            minutes = token.value * 60 + (-minute if token.negative else minute)
        else:
            value = token.value * 100 if token.digits <= 2 else token.value
            hours, rest = divmod(abs(value), 100)
            minutes = (hours * 60 + rest) * (-1 if value < 0 else 1)
        if abs(minutes) > 24 * 60:
            raise DateError
        return minutes * 60

    def slash_date(self, first: Token) -> None:
        self.take()
        second = self.expect(NUMBER)
        if not (self.is_character("/") and self.peek(1).kind == NUMBER):
            self.set_date(None, first.value, second.value)
            return
        self.take()
        third = self.take()
        if first.digits >= 4:
            self.set_date(first, second.value, third.value)
        else:
            self.set_date(third, first.value, second.value)

    def day_month(self, day: Token) -> None:
        month = self.take().value
        year = None
        if self.peek().kind == NUMBER:
            year = self.take()
        elif self.peek().kind == SIGNED:
            year = self.negated(self.take())
        self.set_date(year, month, day.value)

    def month_item(self) -> None:
        month = self.take().value
        day = self.take()
        if day.kind == SIGNED:
            self.set_date(self.negated(self.expect(SIGNED)), month, -day.value)
        elif day.kind != NUMBER:
            raise DateError
        elif self.is_character(","):
            self.take()
            self.set_date(self.expect(NUMBER), month, day.value)
        else:
            self.set_date(None, month, day.value)

    def negated(self, token: Token) -> Token:
        """A year written as in 17-JUN-1992."""
        return Token(NUMBER, -token.value, digits=token.digits)

    def weekday_item(self) -> None:
        self.set_weekday(0, self.take().value)
        if self.is_character(","):
            self.take()

    def ordinal_item(self) -> None:
        ordinal = self.take().value
        if self.peek().kind == WEEKDAY:
            self.set_weekday(ordinal, self.take().value)
        else:
            self.relate(self.expect(UNIT), ordinal)

    def unit_item(self) -> None:
        self.relate(self.take(), 1)

    def signed_item(self) -> None:
        amount = self.take().value
        self.relate(self.expect(UNIT), amount)

    def decimal_item(self) -> None:
        amount = self.take()
        unit = self.expect(UNIT)
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
        if self.peek().kind == SIGNED:
            if self.peek(1).kind == UNIT:
                amount = self.take().value
                self.relate(self.take(), amount)
            else:
                self.zone += self.read_offset()
        elif self.peek().kind == DST:
            self.take()
            self.zone += HOUR

    def daylight_zone_item(self) -> None:
        self.zones += 1
        self.zone = self.take().value + HOUR

    def local_zone_item(self) -> None:
        self.locals += 1
        self.local_daylight = bool(self.take().value)
        if self.peek().kind == DST:
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

    def set_date(self, year: Token | None, month: int, day: int) -> None:
        self.dates += 1
        if year is not None:
            self.year = year
        self.month, self.day = month, day

    def set_weekday(self, ordinal: int, weekday: int) -> None:
        self.days += 1
        self.ordinal, self.weekday = ordinal, weekday

    def relate(self, unit: Token, amount: int, nanosecond: int = 0) -> None:
        """Add a displacement, negated by "ago" after it."""
        sign = self.take().value if self.peek().kind == AGO else 1
        self.relatives += 1
        self.relative[unit.unit] += sign * amount * unit.value
        self.relative["nanosecond"] += sign * nanosecond
        if any(abs(value) >= _MOST for value in self.relative.values()):
            raise DateError

    def plain_number(self, number: Token) -> None:
        """A number alone: YYYYMMDD, HHMM, HH, or the year of a date that lacks it."""
        if self.dates and not (self.year and self.year.digits) and not self.relatives and (self.times or number.digits > 2):
            self.year = number
        elif number.digits > 4:
            value = number.value
            self.set_date(Token(NUMBER, value // 10000, digits=number.digits - 4), value // 100 % 100, value % 100)
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

    def time_of_day(self, now: Moment) -> tuple[int, int, int, int]:
        """Hour, minute, second, nanosecond: those of now where only displacements are given."""
        if self.times:
            return self.full_hour(), self.minute, self.second, self.nanosecond
        if self.relatives and not self.dates and not self.days:
            return now.hour, now.minute, now.second, now.nanosecond
        return 0, 0, 0, 0

    def moment(self, now: Moment, zone_name: str) -> int:
        """The nanoseconds since the epoch that the items mean."""
        zone = find_zone(zone_name)
        year = self.full_year(now)
        month, day = (self.month, self.day) if self.dates else (now.month, now.mday)
        hour, minute, second, nanosecond = self.time_of_day(now)
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
    tokens = Lexer(text, _local_names(moment, zone)).tokens()
    parser = _Parser(tokens)
    parser.items()
    result = parser.moment(moment, zone)
    if not -_MOST <= result // NANO < _MOST:
        raise DateError
    return result


def _timestamp(text: str) -> int:
    tokens = Lexer(text, {}).tokens()
    if len(tokens) != 2 or tokens[0].kind not in (NUMBER, SIGNED, DECIMAL, SIGNED_DECIMAL):
        raise DateError
    if not -_MOST <= tokens[0].value < _MOST:
        raise DateError
    return tokens[0].value * NANO + tokens[0].nanosecond
