"""`date` (POSIX 1003.1-2017, GNU coreutils): show the time, or the time that a string means."""

from __future__ import annotations

import errno
import re

from agentsandbox.commands._suites import COREUTILS
from agentsandbox.commands._text.choices import choose
from agentsandbox.commands._text.lines import shown_name
from agentsandbox.commands._text.quoting import quote
from agentsandbox.commands._time.dates import DateError, parse_date
from agentsandbox.commands._time.times import nanoseconds
from agentsandbox.contract.command import Arguments, CommandContext, command, describe_os_error
from agentsandbox.contract.manners import Manners
from agentsandbox.errors import CommandError, UsageError
from agentsandbox.kernel.formats.strftime import NANO, format_date, longest_width
from agentsandbox.kernel.formats.timezones import find_zone
from agentsandbox.kernel.streams import decode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

_DEFAULT = "%a %b %e %H:%M:%S %Z %Y"
_RFC_EMAIL = "%a, %d %b %Y %H:%M:%S %z"
_POSIX = re.compile(r"(\d\d)(\d\d)(\d\d)(\d\d)(?:(\d\d)?(\d\d))?(?:\.(\d\d))?", re.ASCII)
_ISO = {
    "date": "%Y-%m-%d",
    "hours": "%Y-%m-%dT%H%:z",
    "minutes": "%Y-%m-%dT%H:%M%:z",
    "seconds": "%Y-%m-%dT%H:%M:%S%:z",
    "ns": "%Y-%m-%dT%H:%M:%S,%N%:z",
}
_RFC_3339 = {"date": "%Y-%m-%d", "seconds": "%Y-%m-%d %H:%M:%S%:z", "ns": "%Y-%m-%d %H:%M:%S.%N%:z"}
_EARLIEST, _LATEST = -67_768_040_609_740_800, 67_768_036_191_676_799
"""Local seconds whose year is no longer than 32 bits, counted from 1900."""
_ISO_CHOICES = (("hours",), ("minutes",), ("date",), ("seconds",), ("ns",))
_RFC_CHOICES = (("date",), ("seconds",), ("ns",))
_FORMATS = ("iso-8601", "rfc-3339", "rfc-email")


def _check_formats(given: Sequence[tuple[str, str | None]]) -> None:
    """Refuse a second output format, as soon as it is given."""
    if given[-1][0] in _FORMATS and len(_formats(given)) > 1:
        raise CommandError("multiple output formats specified")


def _formats(given: Sequence[tuple[str, str | None]]) -> list[str]:
    """Return the output formats that the options ask for."""
    formats: list[str] = []
    for key, value in given:
        if key == "iso-8601":
            name = "date" if value is None else choose(value, "--iso-8601", _ISO_CHOICES)
            formats.append(_ISO[name])
        elif key == "rfc-3339":
            formats.append(_RFC_3339[choose(value or "", "--rfc-3339", _RFC_CHOICES)])
        elif key == "rfc-email":
            formats.append(_RFC_EMAIL)
    return formats


def _format_of(args: Arguments) -> tuple[str, list[str]]:
    """Return the output format, and the operands other than a format."""
    formats = _formats(args.given)
    operands = args.operands
    if len(operands) > 1:
        raise UsageError(f"extra operand {quote(operands[1])}")
    dated = args.last("date", "file", "reference", "set") is not None
    if operands and not operands[0].startswith("+") and dated:
        raise UsageError(
            f"the argument {quote(operands[0])} lacks a leading '+';\n"
            "when using an option to specify date(s), any non-option\n"
            "argument must be a format string beginning with '+'"
        )
    if operands and operands[0].startswith("+"):
        formats.append(operands[0][1:])
        operands = []
    if len(formats) > 1:
        raise CommandError("multiple output formats specified")
    return (formats[0] if formats else _DEFAULT), operands


class _Dates:
    """Reads and shows dates as the options say."""

    def __init__(self, ctx: CommandContext, args: Arguments, format: str) -> None:
        self.ctx = ctx
        self.format = format
        self.zone = "UTC0" if args.flag("utc") else ctx.env.get("TZ", "")

    def parse(self, text: str, end: str = "") -> int:
        """Return the moment of a text; `end` follows it, but is not shown in messages."""
        try:
            return parse_date(text + end, self.ctx.host.clock(), self.zone)
        except DateError:
            raise CommandError(f"invalid date {quote(text)}") from None

    def parse_posix(self, text: str) -> int:
        """Return the moment of the operand `MMDDhhmm[[CC]YY][.ss]`, in nanoseconds."""
        found = _POSIX.fullmatch(text)
        if found is None:
            raise CommandError(f"invalid date {quote(text)}")
        month, day, hour, minute, century, year, second = found.groups()
        if year is None:
            full = format_date(nanoseconds(self.ctx.host.clock()), "%Y", self.zone)
        else:
            full = (century or ("19" if int(year) > 68 else "20")) + year
        clock = f"{full}-{month}-{day} {hour}:{minute}:{second or '00'}"
        try:
            return parse_date(clock, self.ctx.host.clock(), self.zone)
        except DateError:
            raise CommandError(f"invalid date {quote(text)}") from None

    def show(self, moment: int) -> None:
        seconds = moment // NANO
        if not _EARLIEST <= seconds + find_zone(self.zone).at(seconds)[0] <= _LATEST:
            raise CommandError(f"time {quote(str(seconds))} is out of range")
        self.ctx.budget.charge(longest_width(self.format) + 64 * len(self.format))
        self.ctx.print(format_date(moment, self.format, self.zone))

    def show_lines(self, name: str) -> int:
        ctx = self.ctx
        if name == "-" and ctx.stdin.unreadable == errno.EISDIR:
            return 0
        try:
            source = ctx.open_input(name)
        except IsADirectoryError:
            return 0
        except OSError as error:
            raise CommandError(describe_os_error(error, shown_name(name))) from None
        for line in source.lines():
            ctx.budget.step()
            said, _, hidden = line.partition(b"\0")
            text = decode(said.removesuffix(b"\n"))
            try:
                self.show(self.parse(text, "\n" if said.endswith(b"\n") and not hidden else ""))
            except CommandError as error:
                ctx.warn(error.message)
        return ctx.status


@command(
    "date",
    manners=Manners(
        COREUTILS,
        pure=True,
        bytewise=True,
        long_options="""
            date debug file iso-8601 reference resolution rfc-email rfc-822 rfc-2822
            rfc-3339 set uct utc universal help version
        """,
        macos={
            "v": "-v is macOS's; GNU date reads words: date -d '1 day ago', "
            "date -d '2024-01-31 +1 month'",
            "j": "-j and -f FORMAT are macOS's; GNU date reads a date with -d: "
            "date -d '2024-01-31 12:00' +%s",
        },
        read_error=("NAME: 'standard input': REASON", 1),
    ),
    check=_check_formats,
    usage="""
    Usage: date [OPTION]... [+FORMAT]
      or:  date [-u|--utc|--universal] [MMDDhhmm[[CC]YY][.ss]]
    Show the current time in the given FORMAT. The clock cannot be set.

      -d, --date=STRING          show the time that STRING means: 'next friday', '2 days ago',
                                 '@86400'
      -f, --file=DATEFILE        like --date, once for each line of DATEFILE
      -I[FMT], --iso-8601[=FMT]  ISO 8601 format; FMT is date (default), hours, minutes, seconds
                                 or ns
      -R, --rfc-email, --rfc-822, --rfc-2822
                                 RFC 5322 format: Mon, 14 Aug 2006 02:34:56 -0600
          --rfc-3339=FMT         RFC 3339 format; FMT is date, seconds or ns
      -r, --reference=FILE       show the last modification time of FILE
      -s, --set=STRING           refused: the clock belongs to the host
      -u, --utc, --universal, --uct
                                 Coordinated Universal Time
          --help                 display this help and exit

    FORMAT is literal text and conversions:
      %Y %m %d %H %M %S %N   year, month, day, hour, minute, second, nanoseconds
      %F %T %D %R %c %x %X   %Y-%m-%d, %H:%M:%S, %m/%d/%y, %H:%M, the locale's own
      %a %A %b %B %p %P      names of weekday and month; AM or PM, am or pm
      %e %k %l %I %j %y %C   day, hour and hour of 12 padded with a blank, day of the year, year,
                             century
      %u %w %U %V %W %G %g   day of the week, week of the year, the ISO week's year
      %s %z %:z %::z %Z %q   seconds since the epoch, zone as +hhmm, +hh:mm, +hh:mm:ss, name;
                             quarter
      %n %t %%               newline, tab, percent sign
    After the percent sign may stand the flags - _ 0 + ^ # and a width.
    """,
)
def date(ctx: CommandContext, args: Arguments) -> int:
    format, operands = _format_of(args)
    dates = _Dates(ctx, args, format)
    kinds = {key for key, _ in args.given if key in ("date", "file", "reference")}
    if len(kinds) > 1:
        raise UsageError("the options to specify dates for printing are mutually exclusive")
    lines = args.value("file")
    if lines is not None:
        return dates.show_lines(lines)
    text = args.value("date")
    reference = args.value("reference")
    setting = args.value("set")
    if setting is not None or operands:
        moment = dates.parse_posix(operands[0]) if setting is None else dates.parse(setting)
        ctx.warn("cannot set date: Operation not permitted")
    elif text is not None:
        moment = dates.parse(text)
    elif reference is not None:
        try:
            moment = nanoseconds(ctx.fs.stat(ctx.path(reference)).mtime)
        except OSError as error:
            ctx.warn(describe_os_error(error, shown_name(reference)))
            if reference.isdecimal():
                ctx.advise_macos(
                    f"-r SECONDS is macOS's; GNU date shows a time in seconds with -d @{reference}"
                )
            return 1
    else:
        moment = nanoseconds(ctx.host.clock())
    dates.show(moment)
    return ctx.status
