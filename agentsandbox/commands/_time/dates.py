"""Dates as people write them: the grammar of GNU's `date -d`, `touch -d` and `find -newermt`.

A text is a sequence of items in any order: a date, a time of day, a time zone, a day of the week
and displacements ("2 days ago"); see "Date input formats" in the GNU manuals. It is read in three
steps. `Lexer` turns it into tokens: numbers with or without a sign, words by their meaning, single
characters. `_Parser` takes the tokens item by item and notes what each says; every kind but
displacements may occur once. `_Parser.moment` then puts the parts together as the C library's
`mktime` does: a date and time in the zone of the text, or in the local one, plus displacements.

Moments are whole nanoseconds since the epoch.
"""

from __future__ import annotations

import functools
import re

from agentsandbox.kernel.expressions import lazily
from agentsandbox.kernel.formats.strftime import MONTHS, NANO, WEEKDAYS, Moment
from agentsandbox.kernel.formats.timezones import days_from_civil, find_zone
from agentsandbox.kernel.fs.base import Timestamp
from agentsandbox.kernel.streams import encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    Clock = tuple[int, int, int, int, int, int]

__all__ = ["DateError", "parse_date"]

_HOUR = 3600
_MOST = 2**63


class DateError(ValueError):
    """The text is no date."""


NUMBER, SIGNED, DECIMAL, SIGNED_DECIMAL = "number", "signed", "decimal", "signed decimal"
MONTH, WEEKDAY, MERIDIAN, UNIT, ORDINAL = "month", "weekday", "meridian", "unit", "ordinal"
SHIFT, AGO = "shift", "ago"
ZONE, DAYLIGHT_ZONE, LOCAL_ZONE, DST = "zone", "daylight zone", "local zone", "dst"
CHARACTER, WRONG, END = "character", "wrong", "end"

_UNITS = {
    "YEAR": ("year", 1), "MONTH": ("month", 1), "FORTNIGHT": ("day", 14), "WEEK": ("day", 7),
    "DAY": ("day", 1), "HOUR": ("hour", 1), "MINUTE": ("minute", 1), "MIN": ("minute", 1),
    "SECOND": ("second", 1), "SEC": ("second", 1),
}  # fmt: skip
_ORDINALS = {
    "LAST": -1, "THIS": 0, "NEXT": 1, "FIRST": 1, "THIRD": 3, "FOURTH": 4, "FIFTH": 5, "SIXTH": 6,
    "SEVENTH": 7, "EIGHTH": 8, "NINTH": 9, "TENTH": 10, "ELEVENTH": 11, "TWELFTH": 12,
}  # fmt: skip
"""Without "second", which is a unit."""
_SHIFTS = {"TOMORROW": 1, "YESTERDAY": -1, "TODAY": 0, "NOW": 0}
_MERIDIANS = {"AM": 0, "A.M.": 0, "PM": 12, "P.M.": 12}
_MILITARY = {letter: hours for hours, letter in enumerate("ABCDEFGHIKLM", 1)}
_MILITARY.update({letter: -hours for hours, letter in enumerate("NOPQRSTUVWXY", 1)})
_MILITARY["Z"] = 0
_ZONES = {
    name: hours * _HOUR
    for text, hours in (
        ("GMT UT UTC WET", 0.0), ("ART BRT", -3.0), ("NST", -3.5), ("AST CLT", -4.0),
        ("EST", -5.0), ("CST", -6.0), ("MST", -7.0), ("PST", -8.0), ("AKST", -9.0),
        ("HST HAST", -10.0), ("SST", -11.0), ("WAT CET MET MEZ", 1.0), ("EET CAT SAST", 2.0),
        ("EAT MSK", 3.0), ("IST", 5.5), ("SGT", 8.0), ("KST JST", 9.0), ("GST", 10.0),
        ("NZST", 12.0),
    )
    for name in text.split()
}  # fmt: skip
_DAYLIGHT_ZONES = {
    "WEST": 0.0, "BST": 0.0, "BRST": -3.0, "NDT": -3.5, "ADT": -4.0, "CLST": -4.0, "EDT": -5.0,
    "CDT": -6.0, "MDT": -7.0, "PDT": -8.0, "AKDT": -9.0, "HADT": -10.0, "CEST": 1.0, "MEST": 1.0,
    "MESZ": 1.0, "EEST": 2.0, "MSD": 3.0, "NZDT": 12.0,
}  # fmt: skip
_MONTH_NAMES = {name.upper(): number for number, name in enumerate(MONTHS, 1)} | {"SEPT": 9}
_WEEKDAY_NAMES = {name.upper(): number for number, name in enumerate(WEEKDAYS)}
_WEEKDAY_NAMES |= {"TUES": 2, "WEDNES": 3, "THUR": 4, "THURS": 4}
_THREE = {name[:3]: (MONTH, number) for name, number in _MONTH_NAMES.items()}
_THREE |= {name[:3]: (WEEKDAY, number) for name, number in _WEEKDAY_NAMES.items()}
"""Abbreviations of three letters."""

_SPACE = " \t\n\v\f\r"
_SPACES = tuple(_SPACE)
_DIGITS = lazily(r"[0-9]+")
_FRACTION = lazily(r"[.,]([0-9]+)")
_WORD = lazily(r"[A-Za-z][A-Za-z.]*")


class Token:
    """One token. `value` is its number, `digits` how many digits it was written with."""

    __slots__ = ("digits", "kind", "nanosecond", "negative", "unit", "value")

    def __init__(
        self,
        kind: str,
        value: int = 0,
        *,
        digits: int = 0,
        negative: bool = False,
        nanosecond: int = 0,
        unit: str = "",
    ) -> None:
        self.kind = kind
        self.value = value
        self.digits = digits
        self.negative = negative
        self.nanosecond = nanosecond
        self.unit = unit


class Lexer:
    """Hands out the tokens of a date, one at a time, from position `at` on.

    `local_names` gives the abbreviations of the local zone. Text that is no token comes as a token
    of the kind `WRONG`.
    """

    def __init__(self, text: str, local_names: Callable[[], dict[str, bool | None]]) -> None:
        self.text = text
        self.local_names = local_names
        self.at = 0

    def token(self) -> Token:
        """Return the next token; `END` after the last."""
        text = self.text
        while self.at < len(text):
            character = text[self.at]
            if character in _SPACE:
                self.at += 1
            elif character in "+-0123456789":
                token = self._number()
                if token is not None:
                    return token
            elif character.isascii() and character.isalpha():
                word = _WORD.match(text, self.at)
                assert word is not None
                self.at = word.end()
                return self._word(word[0][:19].upper())
            elif character == "(":
                self.at = self._comment(self.at)
            else:
                self.at += 1
                return Token(CHARACTER, unit=character)
        return Token(END)

    def _comment(self, at: int) -> int:
        depth = 0
        while at < len(self.text):
            depth += (self.text[at] == "(") - (self.text[at] == ")")
            at += 1
            if not depth:
                return at
        return at

    def _number(self) -> Token | None:
        """Read a number; None for a sign without a number."""
        text, at = self.text, self.at
        sign = 0
        if text[at] in "+-":
            sign = -1 if text[at] == "-" else 1
            at += 1
            while text[at : at + 1] in _SPACES:
                at += 1
            self.at = at
        digits = _DIGITS.match(text, at)
        if digits is None:
            return None
        value = int(digits[0].lstrip("0")[:20] or "0") * (sign or 1)
        if not -_MOST <= value < _MOST:
            return Token(WRONG)
        self.at = digits.end()
        fraction = _FRACTION.match(text, self.at)
        if fraction is None:
            return Token(
                SIGNED if sign else NUMBER, value, digits=len(digits[0]), negative=sign < 0
            )
        self.at = fraction.end()
        nanosecond = int(fraction[1][:9].ljust(9, "0"))
        if sign < 0 and (nanosecond or fraction[1][9:].strip("0")):
            nanosecond += bool(fraction[1][9:].strip("0"))
            value, nanosecond = (value - 1, NANO - nanosecond) if nanosecond else (value, 0)
            value, nanosecond = value + nanosecond // NANO, nanosecond % NANO
        return Token(SIGNED_DECIMAL if sign else DECIMAL, value, nanosecond=nanosecond)

    def _word(self, word: str) -> Token:
        if word in _MERIDIANS:
            return Token(MERIDIAN, _MERIDIANS[word])
        if len(word) == 3 or (len(word) == 4 and word[3] == "."):
            named = _THREE.get(word[:3])
            if named is not None:
                return Token(*named)
        if word in _MONTH_NAMES:
            return Token(MONTH, _MONTH_NAMES[word])
        if word in _WEEKDAY_NAMES:
            return Token(WEEKDAY, _WEEKDAY_NAMES[word])
        return self._zone(word) or self._relative(word) or self._letter(word)

    def _zone(self, word: str) -> Token | None:
        if word in ("GMT", "UT", "UTC"):
            return Token(ZONE, 0)
        local = self.local_names()
        if word in local:
            daylight = local[word]
            return Token(LOCAL_ZONE, -1 if daylight is None else int(daylight))
        if word in _ZONES:
            return Token(ZONE, round(_ZONES[word]))
        if word in _DAYLIGHT_ZONES:
            return Token(DAYLIGHT_ZONE, round(_DAYLIGHT_ZONES[word] * _HOUR))
        return Token(DST) if word == "DST" else None

    def _relative(self, word: str) -> Token | None:
        for name in (word, word[:-1] if word.endswith("S") else ""):
            if name in _UNITS:
                unit, count = _UNITS[name]
                return Token(UNIT, count, unit=unit)
        if word in _ORDINALS:
            return Token(ORDINAL, _ORDINALS[word])
        if word in _SHIFTS:
            return Token(SHIFT, _SHIFTS[word])
        if word in ("AGO", "HENCE"):
            return Token(AGO, -1 if word == "AGO" else 1)
        return None

    def _letter(self, word: str) -> Token:
        if word == "T":
            return Token(CHARACTER, unit="T")
        if word in _MILITARY:
            return Token(ZONE, _MILITARY[word] * _HOUR)
        bare = word.replace(".", "")
        zone = self._zone(bare) if bare != word else None
        if zone is None:
            return Token(WRONG)
        return zone


_MOST_INT = 2**31
_TZ_PREFIX = lazily(r'[ \t\n\v\f\r]*TZ="((?:[^"\\]|\\["\\])*)"')


class _Parser:
    """Notes what the items say; `dates`, `times`, … count the items of each kind.

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
        """Read all items; return the nanoseconds of a timestamp, which is the only item."""
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
        """Read the zone after a time."""
        self.zones += 1
        self.zone = self.read_offset(amount)

    def read_offset(self, amount: Token) -> int:
        """Return the seconds of +hh, +hhmm or +hh:mm."""
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
        """Return the year of a date like 17-JUN-1992, where it is read with a sign."""
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
        """Read a displacement, which "ago" negates."""
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
            zone += _HOUR
        self.set_zone(zone)

    def daylight_zone_item(self) -> None:
        self.set_zone(self.take().value + _HOUR)

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
        self.set_zone(-7 * _HOUR)

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
        """Take a number alone: YYYYMMDD, HHMM, HH, or the year of a date that lacks it."""
        lacks_year = self.dates and not self.year_digits and not self.relatives
        if lacks_year and (self.times or number.digits > 2):
            self.year, self.year_digits = number.value, number.digits
        elif number.digits > 4:
            rest, day = divmod(number.value, 100)
            year, month = divmod(rest, 100)
            self.set_date(Token(NUMBER, year, digits=number.digits - 4), month, day)
        elif number.digits <= 2:
            self.set_time(number.value, 0, 0, 0)
        else:
            self.set_time(number.value // 100, number.value % 100, 0, 0)

    # the moment

    def full_date(self) -> tuple[int, int, int]:
        """Return (year, month, day); years of two digits are those around 2000."""
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
        """Return the date and time given; the present ones if there are only displacements."""
        year, month, day = self.full_date()
        if not self.times and (not self.relatives or self.dates or self.days):
            self.nanosecond = 0
            return year, month, day, 0, 0, 0
        hour = self.full_hour()
        if hour is None:
            raise DateError
        return year, month, day, hour, self.minute, self.second

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
        """Return the moment of a date and time, which must exist in the zone.

        If the text names a zone, it need only exist in UTC.
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
        for added in (relative["hour"] * _HOUR, relative["minute"] * 60, relative["second"], more):
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


def _local_seconds(clock: Clock) -> int:
    """Return the seconds since the epoch as if in UTC; parts may be outside their range."""
    year, month, day, hour, minute, second = clock
    year, month = year + (month - 1) // 12, (month - 1) % 12 + 1
    return days_from_civil(year, month, day) * 86400 + hour * _HOUR + minute * 60 + second


def _moment_of(zone_name: str, clock: Clock, daylight: bool | None) -> Moment | None:
    """Return the moment as `mktime` does; None for a year that is too great."""
    moment = Moment(find_zone(zone_name).to_utc(_local_seconds(clock), daylight) * NANO, zone_name)
    return moment if -_MOST_INT <= moment.year - 1900 < _MOST_INT else None


def _local_names(now: Moment, zone_name: str) -> dict[str, bool | None]:
    """Return the abbreviations of the zone in this year, and whether each means daylight saving.

    The value is None for an abbreviation with both meanings.
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
    """Return the moment that a date string means, in nanoseconds since the epoch.

    `now` is the clock or the time of a file, in seconds; `zone` is the value of $TZ ("" for UTC),
    overridden by a leading TZ="…". Raises `DateError` for a text that is no date.
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
