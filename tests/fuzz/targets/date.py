"""Dates in words, and formats."""

from tests.fuzz.target import commands

WORDS = r"""now today yesterday tomorrow noon midnight next last this ago monday fri week fortnight month year day hour minute second 1 day 2 weeks -3 months + - 2024-02-29 20240229 2/29/2024 29feb2024 12:34:56 12:34:56.789 3pm T12 Z +02:00 UTC EST @0 @-1 @1e18 @1.5 W05 TZ="Europe/Berlin" (comment) 99999999999 9999999999 days 1970-01-01 23:59:60 -d -u -R -I -Ins --rfc-3339=ns -r -f -s --date= +%Y %m %d %H %M %S %N %s %j %U %V %G %a %A %b %c %x %X %p %P %r %Z %z %:z %::z %:::z %E %O %_5d %-d %^a %#Z %010Y %+4Y %q %C %e %k %l %n %t %% %99999d""".split()

TARGET = commands(
    "date", ("date",), WORDS, ("date", "-d", "2024-02-29 +1 year", "+%F %T"),
    ("date", "-d", "TZ=\"America/New_York\" 2024-03-10 02:30", "+%c %Z"),
    ("date", "-u", "-d", "last friday 3pm", "-Ins"), ("date", "-f", "in"),
)  # fmt: skip
