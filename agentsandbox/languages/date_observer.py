"""What the items of a date say, and who is told of it while it is read.

The base class does nothing with what it hears: it stands in where nobody wants to know.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.languages.strftime import Moment

    Clock = tuple[int, int, int, int, int, int]

__all__ = ["DateObserver", "DateParts", "clock_of"]


class DateParts:
    """What the items said so far; `dates`, `times`, … count the items of each kind.

    A meridian is 0 for am and 12 for pm; `zone` is in seconds east of Greenwich.
    """

    def __init__(self, now: Moment) -> None:
        self.dates = self.times = self.zones = self.locals = self.days = self.relatives = self.dsts = 0
        self.year, self.month, self.day = now.year, now.month, now.mday
        self.year_digits = 0
        self.year_alone = False
        self.hour, self.minute, self.second, self.nanosecond = now.hour, now.minute, now.second, now.nanosecond
        self.meridian: int | None = None
        self.zone = 0
        self.local_daylight: bool | None = None
        self.ordinal: int | None = None
        self.weekday = 0
        self.relative = {"year": 0, "month": 0, "day": 0, "hour": 0, "minute": 0, "second": 0, "nanosecond": 0}


def clock_of(moment: Moment) -> Clock:
    """(year, month, day, hour, minute, second)."""
    return moment.year, moment.month, moment.mday, moment.hour, moment.minute, moment.second


class DateObserver:
    """Told of each step of `parse_date`, in the order of GNU's."""

    def unknown_word(self, word: str) -> None:
        """A word that means nothing."""

    def slashes(self, first: int, digits: int) -> None:
        """A date with slashes; its first number tells which order is meant."""

    def item(self, kind: str, parts: DateParts) -> None:
        """An item was read."""

    def stopped(self, rest: str) -> None:
        """What was read is no date; `rest` is what was not read."""

    def timestamp(self, seconds: int) -> None:
        """The seconds after an at sign."""

    def finished(self, parts: DateParts, zone: str | None) -> None:
        """All items were read; `zone` is the one that the text begins with."""

    def two_digits(self, year: int, full: int) -> None:
        """A year of two digits means another."""

    def out_of_range(self, year: int | None) -> None:
        """The year, or else the month or the day, is too great."""

    def start_time(self, parts: DateParts, clock: Clock | None) -> None:
        """The time of day from which is counted; None for a meridian that its hour does not go with."""

    def not_there(self, parts: DateParts, said: Clock, normalized: Clock) -> None:
        """There is no such date or time."""

    def start_day(self, parts: DateParts, clock: Clock, valid: bool) -> None:
        """The date of a day of the week."""

    def start(self, parts: DateParts, clock: Clock) -> None:
        """The moment from which is counted."""

    def lost(self, parts: DateParts, clock: Clock | None) -> None:
        """Years, months and days lead to a date that is none; None if there are too many of them."""

    def moved(self, parts: DateParts, asked: Clock, found: Clock, daylight_changed: bool) -> None:
        """What years, months and days lead to."""

    def counted(self, parts: DateParts, clock: Clock, seconds: int) -> None:
        """The moment before hours, minutes and seconds are added."""

    def added(self, parts: DateParts, seconds: int | None, daylight_changed: bool) -> None:
        """What hours, minutes and seconds lead to; None if they are too many."""

    def result(self, nanoseconds: int, zone: str | None) -> None:
        """The moment that the text means."""
