import calendar
import time
from datetime import UTC, date, datetime, timedelta, timezone, time as clock
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

d = datetime(2024, 3, 31, 1, 30, tzinfo=ZoneInfo("Europe/Berlin"))
print(
    d,
    d.astimezone(UTC),
    d + timedelta(hours=1),
    (d.astimezone(UTC) + timedelta(hours=1)).astimezone(d.tzinfo),
    d.dst(),
    d.tzname(),
)
print(
    datetime(2024, 10, 27, 2, 30, fold=1, tzinfo=ZoneInfo("Europe/Berlin")).utcoffset(),
    datetime(2024, 7, 1, tzinfo=ZoneInfo("America/New_York")).isoformat(),
)
print(
    date(2024, 2, 29).isocalendar(),
    date.fromisocalendar(2024, 1, 1),
    date(2024, 12, 31).timetuple().tm_yday,
    date.fromordinal(1),
    date.max - date.min,
)
print(
    datetime.fromisoformat("2024-01-02T03:04:05.678+05:30"),
    datetime.fromisoformat("20240102T030405Z"),
    clock.fromisoformat("04:05"),
    datetime.fromtimestamp(86400.5, UTC),
)
print(
    f"{datetime(2024, 1, 2, 15, 4, 5):%d.%m.%y %I:%M:%S %p %A %j %U %y %%}",
    datetime.strptime("Mon Jan  1 2024 +0200", "%a %b %d %Y %z"),
    datetime(2024, 1, 2).strftime("%x %X %c"),
)
print(
    timedelta(days=1, seconds=-1),
    timedelta(weeks=2) / timedelta(days=3),
    -timedelta(microseconds=1),
    str(timedelta(days=400, hours=3)),
    timedelta(hours=36).total_seconds(),
    divmod(timedelta(hours=5), timedelta(hours=2)),
)
print(
    calendar.monthrange(2024, 2),
    calendar.isleap(1900),
    calendar.month(2024, 2),
    calendar.day_name[0],
    time.strftime("%Y", time.gmtime(0)),
    time.tzname[0],
)
print(
    sorted([date(2024, 5, 1), date(2023, 1, 1)]),
    date(2024, 1, 31).replace(month=3),
    timezone(timedelta(hours=-3)),
    datetime(1, 1, 1) < datetime.max,
    repr(d),
)
for bad in (
    lambda: date(2023, 2, "x"),
    lambda: datetime.strptime("x", "%Y"),
    lambda: ZoneInfo("Mars/Base"),
    lambda: d < datetime(2024, 1, 1),
    lambda: date.fromisoformat("2024-1-1"),
    lambda: date.max + timedelta(1),
):
    try:
        bad()
    except (ValueError, TypeError, OverflowError, ZoneInfoNotFoundError) as e:
        print(type(e).__name__, e)
datetime.strptime("2024-01-02x", "%Y-%m-%d")
