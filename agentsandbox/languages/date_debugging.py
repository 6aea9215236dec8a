"""The lines in which `date --debug` tells how it reads a date."""

from __future__ import annotations

from agentsandbox.languages.date_observer import DateObserver, DateParts, clock_of
from agentsandbox.languages.strftime import NANO, WEEKDAYS, Moment

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from agentsandbox.languages.date_observer import Clock

__all__ = ["DateDebugging"]

_ORDINALS = (
    "last", "this", "next/first", "(SECOND)", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth", "eleventh",
    "twelfth",
)  # fmt: skip
_RELATIVE_UNITS = {
    "year": "year(s)",
    "month": "month(s)",
    "day": "day(s)",
    "hour": "hour(s)",
    "minute": "minutes",
    "second": "seconds",
    "nanosecond": "nanoseconds",
}


def _offset_text(offset: int) -> str:
    """+05, -03:30 or +00:53:28."""
    minutes, seconds = divmod(abs(offset), 60)
    text = f"{'-' if offset < 0 else '+'}{minutes // 60:02}"
    if minutes % 60 or seconds:
        text += f":{minutes % 60:02}"
    return text + (f":{seconds:02}" if seconds else "")


def _time_text(clock: Clock) -> str:
    return f"{clock[3]:02}:{clock[4]:02}:{clock[5]:02}"


def _date_text(clock: Clock) -> str:
    return f"(Y-M-D) {clock[0]:04}-{clock[1]:02}-{clock[2]:02}"


def _clock_text(parts: DateParts, clock: Clock) -> str:
    return f"{_date_text(clock)} {_time_text(clock)}" + (f" TZ={_offset_text(parts.zone)}" if parts.zones else "")


def _day_text(parts: DateParts) -> str:
    """The day of the week with the ordinal that stands before it."""
    name = WEEKDAYS[parts.weekday][:3]
    if parts.ordinal is None:
        return name
    return f"{_ORDINALS[parts.ordinal + 1] if -1 <= parts.ordinal <= 12 else parts.ordinal} {name}"


class DateDebugging(DateObserver):
    """Writes a line for each step. `zone` is what $TZ holds, None where it is unset."""

    def __init__(self, write: Callable[[str], None], zone: str | None) -> None:
        self._write = write
        self._zone = zone
        self._told: set[str] = set()

    def unknown_word(self, word: str) -> None:
        self._write(f"error: unknown word '{word}'")

    def slashes(self, first: int, digits: int) -> None:
        if digits >= 4:
            self._write(f"warning: value {first} has {digits} digits. Assuming YYYY/MM/DD")
        else:
            self._write(f"warning: value {first} has less than 4 digits. Assuming MM/DD/YY[YY]")

    def item(self, kind: str, parts: DateParts) -> None:
        said = self._displacements(parts) if kind in ("relative", "hybrid") else self._news(parts)
        self._write(f"parsed {kind} part: {said}")

    def _displacements(self, parts: DateParts) -> str:
        told = [f"{value:+} {_RELATIVE_UNITS[unit]}" for unit, value in parts.relative.items() if value]
        return " ".join(told) or "today/this/now"

    def _news(self, parts: DateParts) -> str:
        """What no earlier item said: each kind is told once."""
        told: list[str] = []

        def tell(kind: str, seen: int, text: Callable[[], str]) -> None:
            if seen and kind not in self._told:
                self._told.add(kind)
                told.append(text())

        tell("date", parts.dates, lambda: f"(Y-M-D) {parts.year:04}-{parts.month:02}-{parts.day:02}")
        tell("year", parts.year_alone, lambda: f"year: {parts.year:04}")
        tell("time", parts.times, lambda: self._time(parts))
        tell("day", parts.days, lambda: f"{_day_text(parts)} (day ordinal={parts.ordinal or 0} number={parts.weekday})")
        tell("local", parts.locals, lambda: f"isdst={_daylight_number(parts)}{' DST' if parts.dsts else ''}")
        tell("zone", parts.zones, lambda: f"UTC{_offset_text(parts.zone)}")
        return " ".join(told)

    def _time(self, parts: DateParts) -> str:
        text = f"{parts.hour:02}:{parts.minute:02}:{parts.second:02}"
        if parts.nanosecond:
            text += f".{parts.nanosecond:09}"
        return text + ("pm" if parts.meridian else "")

    def stopped(self, rest: str) -> None:
        self._write(f"error: parsing failed, stopped at '{rest}'" if rest else "error: parsing failed")

    def timestamp(self, seconds: int) -> None:
        self._write(f"parsed number of seconds part: number of seconds: {seconds}")
        self._told.add("timestamp")

    def finished(self, parts: DateParts, zone: str | None) -> None:
        if "timestamp" in self._told:
            origin = "'@timespec' - always UTC"
        elif parts.zones:
            origin = "parsed date/time string"
        elif zone is not None:
            origin = f'TZ="{zone}" in date string'
        elif self._zone is None:
            origin = "system default"
        else:
            origin = f'TZ="{self._zone}" environment value' + (" or -u" if self._zone == "UTC0" else "")
        if parts.zones:
            origin += f" ({_offset_text(parts.zone)})"
        elif parts.locals and parts.local_daylight:
            origin += ", dst"
        self._write(f"input timezone: {origin}")
        repeated = {
            "time": parts.times,
            "date": parts.dates,
            "days": parts.days,
            "daylight-saving": parts.dsts,
            "time-zone": parts.zones + parts.locals,
        }
        for kind, count in repeated.items():
            if count > 1:
                self._write(f"error: seen multiple {kind} parts")

    def two_digits(self, year: int, full: int) -> None:
        self._write(f"warning: adjusting year value {year} to {full}")

    def out_of_range(self, year: int | None) -> None:
        if year is not None:
            self._write(f"error: out-of-range year {year}")
        self._write("error: year, month, or day overflow")

    def start_time(self, parts: DateParts, clock: Clock | None) -> None:
        if clock is None:
            self._write(f"error: invalid hour {parts.hour}{'' if parts.meridian is None else 'pm' if parts.meridian else 'am'}")
        elif parts.times:
            self._write(f"using specified time as starting value: '{_time_text(clock)}'")
        elif parts.relatives and not parts.dates and not parts.days:
            self._write(f"using current time as starting value: '{_time_text(clock)}'")
        else:
            self._write("warning: using midnight as starting time: 00:00:00")

    def not_there(self, parts: DateParts, said: Clock, normalized: Clock) -> None:
        same = [one == other for one, other in zip(said, normalized, strict=True)]
        marks = " ".join("  " if equal else "--" for equal in same[1:])
        self._write("error: invalid date/time value:")
        self._write(f"    user provided time: '{_clock_text(parts, said)}'")
        self._write(f"       normalized time: '{_clock_text(parts, normalized)}'")
        self._write(f"{'':33}{'    ' if same[0] else '----'} {marks}".rstrip(" "))
        self._write("     possible reasons:")
        if not same[3] and all(same[:3]) and all(same[4:]):
            self._write("       non-existing due to daylight-saving time;")
        if not same[1] and not same[2]:
            self._write("       invalid day/month combination;")
        self._write("       numeric values overflow;")
        self._write(f"       {'incorrect' if parts.zones else 'missing'} timezone")

    def start_day(self, parts: DateParts, clock: Clock, valid: bool) -> None:
        if valid:
            self._write(f"new start date: '{_day_text(parts)}' is '{_clock_text(parts, clock)}'")
        else:
            self._write(
                f"error: day '{_day_text(parts)}' (day ordinal={parts.ordinal or 0} number={parts.weekday}) "
                f"resulted in an invalid date: '{_clock_text(parts, clock)}'"
            )

    def start(self, parts: DateParts, clock: Clock) -> None:
        if not parts.dates and not parts.days:
            self._write(f"using current date as starting value: '{_date_text(clock)}'")
        if parts.dates and parts.days:
            self._write(f"warning: day ({_day_text(parts)}) ignored when explicit dates are given")
        self._write(f"starting date/time: '{_clock_text(parts, clock)}'")
        relative = parts.relative
        if (relative["year"] or relative["month"]) and clock[2] != 15:
            self._write("warning: when adding relative months/years, it is recommended to specify the 15th of the months")
        if relative["day"] and clock[3] != 12:
            self._write("warning: when adding relative days, it is recommended to specify noon")

    def lost(self, parts: DateParts, clock: Clock | None) -> None:
        if clock is None:
            self._write("error: parse-datetime.y:2148")
        else:
            self._write(f"error: adding relative date resulted in an invalid date: '{_clock_text(parts, clock)}'")

    def moved(self, parts: DateParts, asked: Clock, found: Clock, daylight_changed: bool) -> None:
        years, months, days = (parts.relative[unit] for unit in ("year", "month", "day"))
        self._write(f"after date adjustment ({years:+} years, {months:+} months, {days:+} days),")
        self._write(f"    new date/time = '{_clock_text(parts, found)}'")
        if daylight_changed:
            self._write("warning: daylight saving time changed after date adjustment")
        if not days and (found[2] != asked[2] or (not months and found[1] != asked[1])):
            self._write("warning: month/year adjustment resulted in shifted dates:")
            self._write(f"     adjusted Y M D: {asked[0]:04} {asked[1]:02} {asked[2]:02}")
            self._write(f"   normalized Y M D: {found[0]:04} {found[1]:02} {found[2]:02}")

    def counted(self, parts: DateParts, clock: Clock, seconds: int) -> None:
        self._write(f"'{_clock_text(parts, clock)}' = {seconds} epoch-seconds")

    def added(self, parts: DateParts, seconds: int | None, daylight_changed: bool) -> None:
        if seconds is None:
            self._write("error: adding relative time caused an overflow")
            return
        hours, minutes, more, nanoseconds = (parts.relative[unit] for unit in ("hour", "minute", "second", "nanosecond"))
        self._write(f"after time adjustment ({hours:+} hours, {minutes:+} minutes, {more:+} seconds, {nanoseconds:+} ns),")
        self._write(f"    new time = {seconds} epoch-seconds")
        if daylight_changed:
            self._write("warning: daylight saving time changed after time adjustment")

    def result(self, nanoseconds: int, zone: str | None) -> None:
        zone = self._zone if zone is None else zone
        if zone is None:
            self._write("timezone: system default")
        elif zone == "UTC0":
            self._write("timezone: Universal Time")
        else:
            self._write(f'timezone: TZ="{zone}" environment value')
        seconds, rest = divmod(nanoseconds, NANO)
        self._write(f"final: {seconds}.{rest:09} (epoch-seconds)")
        self._final(Moment(nanoseconds, "UTC0"), "")
        shown = Moment(nanoseconds, zone or "")
        self._final(shown, _offset_text(shown.offset))

    def _final(self, moment: Moment, offset: str) -> None:
        clock = clock_of(moment)
        if -(2**31) <= clock[0] - 1900 < 2**31:
            self._write(f"final: {_date_text(clock)} {_time_text(clock)} (UTC{offset})")


def _daylight_number(parts: DateParts) -> int:
    return -1 if parts.local_daylight is None else int(parts.local_daylight)
