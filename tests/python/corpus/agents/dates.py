from datetime import datetime, timedelta, timezone, date
from zoneinfo import ZoneInfo
import time, calendar

d = datetime(2024, 3, 31, 1, 30, tzinfo=ZoneInfo("Europe/Berlin"))
print(
    d,
    (d + timedelta(hours=1)).astimezone(timezone.utc),
    d.isoformat(),
    d.strftime("%A %d %B %Y %j %U %p %Z"),
)
print(
    datetime.fromisoformat("2024-01-02T03:04:05Z"),
    datetime.strptime("3 Feb 2021", "%d %b %Y").date(),
    date(2024, 2, 29).isocalendar(),
    (date(2024, 1, 1) - date(2023, 1, 1)).days,
)
print(
    time.strftime("%Y", time.gmtime(0)),
    calendar.monthrange(2024, 2),
    time.mktime(time.strptime("2020", "%Y")) > 0,
    timedelta(days=1.5),
    datetime(2038, 1, 20).timestamp() > 0,
)
print(calendar.month(2024, 2))
print(datetime.max, time.tzname[0])
