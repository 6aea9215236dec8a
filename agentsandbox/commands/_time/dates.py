"""Dates as people write them: the grammar of GNU's `date -d`, `touch -d` and `find -newermt`.

Items (a date, a time, a zone, a weekday, displacements) stand in any order; see the "Date input
formats" of the GNU manuals. Moments are whole nanoseconds since the epoch.
"""

from __future__ import annotations

import functools
import re

from agentsandbox.commands._time.date_words import (
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
from agentsandbox.kernel.formats.strftime import NANO, Moment
from agentsandbox.kernel.formats.timezones import days_from_civil, find_zone
from agentsandbox.kernel.fs.base import Timestamp
from agentsandbox.kernel.streams import encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    Clock = tuple[int, int, int, int, int, int]

__all__ = ["DateError", "parse_date"]

_MOST = 2**63
_MOST_INT = 2**31
_TZ_PREFIX = re.compile(r'[ \t\n\v\f\r]*TZ="((?:[^"\\]|\\["\\])*)"')


class _Parser:
    """What the items said so far; `dates`, `times`, … count the items of each kind.

    A meridian is 0 for am and 12 for pm; `zone` is in seconds east of Greenwich.
    """

    def __init__(self, lexer: Lexer, now: Moment) -> None:
        self.lexer = lexer
        self.ahead: Token | None = None
        self.dates = self.times = self.zones = self.locals = 0
        self.days = self.relatives = self.dsts = 0
        self.year, self.month, self.day = now.year, now.month, now.mday
        self.year_digits = 0
        self.hour, self.minute, self.second = now.hour, now.minute, now.second
        self.nanosecond = now.nanosecond
        self.meridian: int | None = None
        self.zone = 0
        self.local_daylight: bool | None = None
        self.ordinal: int | None = None
        self.weekday = 0
        self.relative = dict.fromkeys(
            ("year", "month", "day", "hour", "minute", "second", "nanosecond"), 0
        )

    # reading

    def peek(self) -> Token:
        token = self.ahead
        if token is None:
            token = self.ahead = self.lexer.token()
        return token

    def take(self) -> Token:
        token = self.ahead
        if token is None:
            return self.lexer.token()
        self.ahead = None
        return token

    def expect(self, *kinds: str) -> Token:
        if self.peek().kind not in kinds:
            raise DateError
        return self.take()

    def is_character(self, character: str) -> bool:
        token = self.peek()
        return token.kind == CHARACTER and token.unit == character

    # items

    def items(self) -> int | None:
        """Read all items; the nanoseconds of a timestamp, which stands alone."""
        if self.is_character("@"):
            return self.timestamp()
        while (kind := self.peek().kind) != END:
            reader = _READERS.get(kind)
            if reader is None:
                raise DateError
            reader(self)
        return None

    def timestamp(self) -> int:
        self.take()
        token = self.expect(NUMBER, SIGNED, DECIMAL, SIGNED_DECIMAL)
        self.expect(END)
        return token.value * NANO + token.nanosecond

    def number_item(self) -> None:
        number = self.take()
        kind = self.peek().kind
        if kind == MERIDIAN:
            self.set_time(number.value, 0, 0, 0, self.take().value)
        elif kind == SIGNED:
            self.number_and_signed(number)
        elif kind == UNIT:
            self.relate(self.take(), number.value, ago=True)
        elif kind == MONTH:
            self.day_month(number)
        elif kind == WEEKDAY:
            self.set_weekday(number.value, self.take().value)
        elif self.is_character(":"):
            self.clock_time(number)
        elif self.is_character("/"):
            self.slash_date(number)
        else:
            self.plain_number(number)

    def number_and_signed(self, number: Token) -> None:
        amount = self.take()
        if self.peek().kind == UNIT:
            self.plain_number(number)
            self.relate(self.take(), amount.value)
            return
        if self.peek().kind != SIGNED:
            self.set_time(number.value, 0, 0, 0)
            self.zone_offset(amount)
            return
        self.set_date(number, -amount.value, -self.take().value)
        if not self.is_character("T"):
            return
        self.take()
        hour = self.expect(NUMBER)
        if self.is_character(":"):
            self.clock_time(hour, meridian=False)
        else:
            amount = self.expect(SIGNED)
            self.set_time(hour.value, 0, 0, 0)
            self.zone_offset(amount)

    def clock_time(self, hour: Token, meridian: bool = True) -> None:
        self.take()
        minute = self.expect(NUMBER)
        second = nanosecond = 0
        if self.is_character(":"):
            self.take()
            token = self.expect(NUMBER, DECIMAL)
            second, nanosecond = token.value, token.nanosecond
        if self.peek().kind == MERIDIAN and meridian:
            self.set_time(hour.value, minute.value, second, nanosecond, self.take().value)
            return
        self.set_time(hour.value, minute.value, second, nanosecond)
        if self.peek().kind == SIGNED:
            self.zone_offset(self.take())

    def zone_offset(self, amount: Token) -> None:
        """A zone behind a time."""
        self.zones += 1
        self.zone = self.read_offset(amount)

    def read_offset(self, amount: Token) -> int:
        """Seconds of +hh, +hhmm or +hh:mm."""
        if self.is_character(":"):
            self.take()
            minute = self.expect(NUMBER).value
            minutes = amount.value * 60 + (-minute if amount.negative else minute)
        else:
            value = amount.value * 100 if amount.digits <= 2 else amount.value
            hours, rest = divmod(abs(value), 100)
            minutes = (hours * 60 + rest) * (-1 if value < 0 else 1)
        if abs(minutes) > 24 * 60:
            raise DateError
        return minutes * 60

    def slash_date(self, first: Token) -> None:
        self.take()
        second = self.expect(NUMBER)
        if not self.is_character("/"):
            self.set_date(None, first.value, second.value)
            return
        self.take()
        third = self.expect(NUMBER)
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
        day = self.expect(NUMBER, SIGNED)
        if day.kind == SIGNED:
            self.set_date(self.negated(self.expect(SIGNED)), month, -day.value)
        elif self.is_character(","):
            self.take()
            self.set_date(self.expect(NUMBER), month, day.value)
        else:
            self.set_date(None, month, day.value)

    def negated(self, token: Token) -> Token:
        """A year written as in 17-JUN-1992."""
        return Token(NUMBER, -token.value, digits=token.digits)

    def weekday_item(self) -> None:
        self.set_weekday(None, self.take().value)
        if self.is_character(","):
            self.take()

    def ordinal_item(self) -> None:
        ordinal = self.take().value
        if self.peek().kind == WEEKDAY:
            self.set_weekday(ordinal, self.take().value)
        else:
            self.relative_item(ordinal)

    def unit_item(self) -> None:
        self.relative_item(1)

    def signed_item(self) -> None:
        self.relative_item(self.take().value)

    def relative_item(self, amount: int) -> None:
        """A displacement, negated by "ago" after it."""
        self.relate(self.expect(UNIT), amount, ago=True)

    def decimal_item(self) -> None:
        amount = self.take()
        unit = self.expect(UNIT)
        if unit.unit != "second":
            raise DateError
        self.relate(unit, amount.value, amount.nanosecond, ago=True)

    def shift_item(self) -> None:
        self.relatives += 1
        self.relative["day"] += self.take().value

    def zone_item(self) -> None:
        zone = self.take().value
        following = self.peek().kind
        if following == SIGNED:
            amount = self.take()
            if self.peek().kind == UNIT:
                self.relate(self.take(), amount.value)
            else:
                zone += self.read_offset(amount)
        elif following == DST:
            self.take()
            zone += HOUR
        self.set_zone(zone)

    def daylight_zone_item(self) -> None:
        self.set_zone(self.take().value + HOUR)

    def local_zone_item(self) -> None:
        daylight = self.take().value
        self.local_daylight = None if daylight < 0 else bool(daylight)
        if self.peek().kind == DST:
            self.take()
            self.local_daylight = True
            self.dsts += 1
        self.locals += 1

    def character_item(self) -> None:
        if self.take().unit != "T":
            raise DateError
        if self.peek().kind == SIGNED:
            amount = self.take()
            self.relate(self.expect(UNIT), amount.value)
        self.set_zone(-7 * HOUR)

    # what they say

    def set_time(
        self, hour: int, minute: int, second: int, nanosecond: int, meridian: int | None = None
    ) -> None:
        self.times += 1
        self.hour, self.minute, self.second, self.nanosecond = hour, minute, second, nanosecond
        self.meridian = meridian

    def set_date(self, year: Token | None, month: int, day: int) -> None:
        self.dates += 1
        if year is not None:
            self.year, self.year_digits = year.value, year.digits
        self.month, self.day = month, day

    def set_weekday(self, ordinal: int | None, weekday: int) -> None:
        self.days += 1
        self.ordinal, self.weekday = ordinal, weekday

    def set_zone(self, zone: int) -> None:
        self.zones += 1
        self.zone = zone

    def relate(self, unit: Token, amount: int, nanosecond: int = 0, *, ago: bool = False) -> None:
        """Add a displacement; "ago" may follow some."""
        amount *= unit.value
        if not -_MOST <= amount < _MOST:
            raise DateError
        sign = self.take().value if ago and self.peek().kind == AGO else 1
        self.relatives += 1
        for name, value in ((unit.unit, amount), ("nanosecond", nanosecond)):
            total = self.relative[name] + sign * value
            if not -_MOST <= total < _MOST:
                raise DateError
            self.relative[name] = total

    def plain_number(self, number: Token) -> None:
        """A number alone: YYYYMMDD, HHMM, HH, or the year of a date that lacks it."""
        if (
            self.dates
            and not self.year_digits
            and not self.relatives
            and (self.times or number.digits > 2)
        ):
            self.year, self.year_digits = number.value, number.digits
        elif number.digits > 4:
            value = number.value
            self.set_date(
                Token(NUMBER, value // 10000, digits=number.digits - 4),
                value // 100 % 100,
                value % 100,
            )
        elif number.digits <= 2:
            self.set_time(number.value, 0, 0, 0)
        else:
            self.set_time(number.value // 100, number.value % 100, 0, 0)

    # the moment

    def full_date(self) -> tuple[int, int, int]:
        """Year, month and day; years of two digits are those around 2000."""
        year = self.year
        if self.year_digits == 2 and year >= 0:
            year += 2000 if year < 69 else 1900
        year = abs(year)
        if year - 1900 >= _MOST_INT or not (
            -_MOST_INT <= self.month - 1 < _MOST_INT and -_MOST_INT <= self.day < _MOST_INT
        ):
            raise DateError
        return year, self.month, self.day

    def full_hour(self) -> int | None:
        if self.meridian is None:
            return self.hour if 0 <= self.hour < 24 else None
        return self.hour % 12 + self.meridian if 1 <= self.hour <= 12 else None

    def start_clock(self) -> Clock:
        """Return the date and time that are said, or those of now where only displacements are."""
        year, month, day = self.full_date()
        if not self.times and (not self.relatives or self.dates or self.days):
            self.nanosecond = 0
            return year, month, day, 0, 0, 0
        hour = self.full_hour()
        if hour is None:
            raise DateError
        return year, month, day, hour, _as_int(self.minute), _as_int(self.second)

    def moment(self, now: Moment, zone_name: str) -> int:
        """Return the nanoseconds since the epoch that the items mean."""
        counts = (self.times, self.dates, self.days, self.dsts, self.zones + self.locals)
        if max(counts) > 1:
            raise DateError
        clock = self.start_clock()
        daylight = now.daylight if not (self.dates or self.days or self.times) else None
        if self.locals:
            daylight = self.local_daylight
        start = self.start(clock, zone_name, daylight)
        if self.days and not self.dates:
            start = self.weekday_start(start, clock, zone_name)
        if self.relative["year"] or self.relative["month"] or self.relative["day"]:
            start = self.moved_start(_clock_of(start)[:3] + clock[3:], zone_name, daylight)
        seconds = start.seconds
        if self.zones:
            seconds += start.offset - self.zone
        return self.later(seconds)

    def start(self, clock: Clock, zone_name: str, daylight: bool | None) -> Moment:
        """Return the moment of a date and time, which has to exist in the zone, or in UTC if the
        text names one.
        """
        for zone, saving in ((zone_name, daylight), ("UTC0", None))[: 1 + bool(self.zones)]:
            start = _moment_of(zone, clock, saving)
            if start is not None and _clock_of(start) == clock:
                return start
        raise DateError

    def weekday_start(self, start: Moment, clock: Clock, zone_name: str) -> Moment:
        ordinal = self.ordinal or 0
        ordinal -= ordinal > 0 and start.wday != self.weekday
        day = start.mday + 7 * ordinal + (self.weekday - start.wday) % 7
        wanted = (start.year, start.month, day, *clock[3:])
        found = _moment_of(zone_name, wanted, None) if -_MOST_INT <= day < _MOST_INT else None
        if found is None:
            raise DateError
        return found

    def moved_start(self, clock: Clock, zone_name: str, daylight: bool | None) -> Moment:
        relative = self.relative
        year, month = clock[0] + relative["year"], clock[1] + relative["month"]
        day = clock[2] + relative["day"]
        found = None
        if all(-_MOST_INT <= value < _MOST_INT for value in (year - 1900, month - 1, day)):
            found = _moment_of(zone_name, (year, month, day, *clock[3:]), daylight)
        if found is None:
            raise DateError
        return found

    def later(self, seconds: int) -> int:
        """Return the moment with hours, minutes and seconds added, in nanoseconds."""
        relative = self.relative
        more, nanosecond = divmod(self.nanosecond + relative["nanosecond"], NANO)
        for added in (relative["hour"] * HOUR, relative["minute"] * 60, relative["second"], more):
            seconds += added
            if not (-_MOST <= added < _MOST and -_MOST <= seconds < _MOST):
                raise DateError
        return seconds * NANO + nanosecond


_READERS: dict[str, Callable[[_Parser], None]] = {
    NUMBER: _Parser.number_item,
    SIGNED: _Parser.signed_item,
    DECIMAL: _Parser.decimal_item,
    SIGNED_DECIMAL: _Parser.decimal_item,
    MONTH: _Parser.month_item,
    WEEKDAY: _Parser.weekday_item,
    UNIT: _Parser.unit_item,
    ORDINAL: _Parser.ordinal_item,
    SHIFT: _Parser.shift_item,
    ZONE: _Parser.zone_item,
    DAYLIGHT_ZONE: _Parser.daylight_zone_item,
    LOCAL_ZONE: _Parser.local_zone_item,
    CHARACTER: _Parser.character_item,
}


def _clock_of(moment: Moment) -> Clock:
    """Return (year, month, day, hour, minute, second)."""
    return moment.year, moment.month, moment.mday, moment.hour, moment.minute, moment.second


def _as_int(value: int) -> int:
    """What is left of a number in 32 bits, where GNU's keeps minutes and seconds."""
    return (value + _MOST_INT) % (2 * _MOST_INT) - _MOST_INT


def _local_seconds(clock: Clock) -> int:
    """Seconds since the epoch as if UTC; parts may lie outside their range."""
    year, month, day, hour, minute, second = clock
    year, month = year + (month - 1) // 12, (month - 1) % 12 + 1
    return days_from_civil(year, month, day) * 86400 + hour * HOUR + minute * 60 + second


def _moment_of(zone_name: str, clock: Clock, daylight: bool | None) -> Moment | None:
    """As `mktime`: None where the year is too great."""
    moment = Moment(find_zone(zone_name).to_utc(_local_seconds(clock), daylight) * NANO, zone_name)
    return moment if -_MOST_INT <= moment.year - 1900 < _MOST_INT else None


def _local_names(now: Moment, zone_name: str) -> dict[str, bool | None]:
    """The abbreviations that the zone uses around now, and whether each means daylight saving; None
    for both.
    """
    zone = find_zone(zone_name)
    for quarter in range(1, 4):
        _, name, daylight = zone.at(now.seconds + quarter * 90 * 86400)
        if daylight != now.daylight:
            if name == now.abbreviation:
                return {name: None}
            return {now.abbreviation: now.daylight, name: daylight}
    return {now.abbreviation: now.daylight}


def parse_date(text: str, now: float, zone: str) -> int:
    """The moment that a date string means, in nanoseconds since the epoch; `DateError` if it means
    none.

    `now` is the clock or the time of a file, in seconds; `zone` is the value of $TZ ("" for UTC),
    overridden by a leading TZ="…".
    """
    if len(text) > 4096:
        raise DateError
    prefix = _TZ_PREFIX.match(text)
    if prefix is not None:
        zone = re.sub(r"\\(.)", r"\1", prefix[1])
        text = text[prefix.end() :]
    if not text.strip(" \t\n\v\f\r"):
        text = "0"
    if not text.isascii():
        text = "".join(map(chr, encode(text)))
    moment = Moment(now.ns if isinstance(now, Timestamp) else round(now * 1_000_000) * 1000, zone)
    parser = _Parser(Lexer(text, functools.partial(_local_names, moment, zone)), moment)
    stamp = parser.items()
    return parser.moment(moment, zone) if stamp is None else stamp
