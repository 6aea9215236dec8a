"""`touch` (POSIX 1003.1-2017, GNU coreutils): make files, set their times."""

from __future__ import annotations

import errno
import re

from agentsandbox.commands._suites import COREUTILS
from agentsandbox.commands._text.choices import choice_of, choose
from agentsandbox.commands._text.quoting import quote, quote_always
from agentsandbox.commands._time.dates import DateError, parse_date
from agentsandbox.commands._time.times import nanoseconds
from agentsandbox.contract.command import Arguments, CommandContext, command, describe_os_error
from agentsandbox.contract.manners import Manners
from agentsandbox.errors import CommandError, UsageError
from agentsandbox.kernel.expressions import lazily
from agentsandbox.kernel.formats.strftime import Moment
from agentsandbox.kernel.formats.timezones import days_from_civil, find_zone
from agentsandbox.kernel.fs.base import Timestamp

_TIMES = (("atime", "access", "use"), ("mtime", "modify"))
_STAMP = lazily(r"(\d\d|\d{4})?(\d\d)(\d\d)(\d\d)(\d\d)(?:\.(\d\d))?", re.ASCII)
_DAYS = (31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)


_LEAP_DAY = 951782400.0


@command(
    "touch",
    manners=Manners(
        COREUTILS,
        bytewise=True,
        long_options="time no-create date reference no-dereference help version",
    ),
    values={
        "time": choice_of("--time", _TIMES),
        "t": lambda text: _check_stamp(text, _LEAP_DAY, ""),
    },
    usage="""
    Usage: touch [OPTION]... FILE...
    Set the times of last access and change of each FILE to now; make those that are missing.

      -a                     only the time of access
      -c, --no-create        do not make files
      -d, --date=STRING      use the time that STRING means
      -f                     (ignored)
      -h, --no-dereference   of symbolic links, not of what they point to
      -m                     only the time of change
      -r, --reference=FILE   use the times of FILE
      -t STAMP               use [[CC]YY]MMDDhhmm[.ss]
          --time=WORD        access, atime, use (-a); modify, mtime (-m)
          --help             display this help and exit
    """,
)
def touch(ctx: CommandContext, args: Arguments) -> int:
    which = {choose(value, "--time", _TIMES) for value in args.values("time")}
    times = _choose_times(ctx, args)
    if not args.operands:
        raise UsageError("missing file operand")
    access = args.flag("a") or "atime" in which
    change = args.flag("m") or "mtime" in which
    follow = not args.flag("no-dereference")
    create = follow and not args.flag("no-create")
    for name in args.operands:
        ctx.budget.step()
        if name != "-":
            _touch(
                ctx, name, times, access=access or not change, change=change or not access,
                follow=follow, create=create, quiet=args.flag("no-create"),
            )  # fmt: skip
    return ctx.status


def _touch(
    ctx: CommandContext,
    name: str,
    times: tuple[float, float] | None,
    *,
    access: bool,
    change: bool,
    follow: bool,
    create: bool,
    quiet: bool,
) -> None:
    message = "cannot touch" if create else "setting times of"
    try:
        path = ctx.path(name)
        if create and not ctx.fs.exists(path):
            ctx.fs.open(path, "a", permissions=0o666 & ~ctx.umask).release()
            if times is None and access and change:
                return
        if times is None:
            now = ctx.host.clock()
            times = (now, now)
            if access and change:
                _set_present_time(ctx, path, follow=follow)
                return
        message = "setting times of"
        if access and change:
            ctx.fs.utime(path, times[1], atime=times[0], follow=follow)
            return
        info = ctx.fs.stat(path, follow=follow)
        ctx.fs.utime(
            path,
            times[1] if change else info.mtime,
            atime=times[0] if access else info.atime,
            follow=follow,
        )
    except OSError as error:
        missing = isinstance(error, FileNotFoundError) and not create
        if name.endswith("/") and isinstance(error, IsADirectoryError):
            message, error = "setting times of", _error_of(ctx, name)
        if not missing or (not follow and not quiet):
            ctx.warn(f"{message} {quote_always(name)}: {describe_os_error(error, '')}")


def _error_of(ctx: CommandContext, name: str) -> OSError:
    """Return why a name with a slash at its end is no directory."""
    try:
        ctx.fs.stat(ctx.path(name))
    except OSError as error:
        return error
    return NotADirectoryError(errno.ENOTDIR, "")


def _set_present_time(ctx: CommandContext, path: str, *, follow: bool) -> None:
    """Set both times to now, which needs no more than permission to write."""
    now = ctx.host.clock()
    try:
        ctx.fs.utime(path, now, atime=now, follow=follow)
    except PermissionError:
        if not ctx.fs.access(path, 2):
            raise PermissionError(errno.EACCES, "") from None


def _choose_times(ctx: CommandContext, args: Arguments) -> tuple[float, float] | None:
    """Return the times of (access, change) that are asked for; None for now."""
    for given in args.values("t"):
        _check_stamp(given, ctx.host.clock(), ctx.env.get("TZ", ""))
    sources = [args.flag("t"), args.flag("date") or args.flag("reference")]
    if all(sources):
        raise UsageError("cannot specify times from more than one source")
    zone = ctx.env.get("TZ", "")
    times: tuple[float, float] | None = None
    reference = args.value("reference")
    if reference is not None:
        try:
            info = ctx.fs.stat(ctx.path(reference), follow=not args.flag("no-dereference"))
        except OSError as error:
            failed = f"failed to get attributes of {quote_always(reference)}"
            raise CommandError(f"{failed}: {describe_os_error(error, '')}") from None
        times = (info.atime, info.mtime)
    text = args.value("date")
    if text is not None:
        now = ctx.host.clock()
        try:
            found = [
                Timestamp.from_ns(parse_date(text, base, zone)) for base in (times or (now, now))
            ]
        except DateError:
            raise CommandError(f"invalid date format {quote(text)}") from None
        return found[0], found[1]
    stamp = args.value("t")
    if stamp is not None:
        seconds = float(_check_stamp(stamp, ctx.host.clock(), zone))
        return seconds, seconds
    return times


def _check_stamp(text: str, now: float, zone: str) -> int:
    seconds = _parse_stamp(text, now, zone)
    if seconds is None:
        raise CommandError(f"invalid date format {quote(text)}")
    return seconds


def _parse_stamp(text: str, now: float, zone: str) -> int | None:
    """Return [[CC]YY]MMDDhhmm[.ss] as seconds since the epoch."""
    found = _STAMP.fullmatch(text)
    if found is None:
        return None
    given, *rest = found.groups(default="")
    month, day, hour, minute = (int(part) for part in rest[:4])
    second = int(rest[4] or 0)
    if len(given) == 4:
        year = int(given)
    elif given:
        year = int(given) + (1900 if int(given) > 68 else 2000)
    else:
        year = Moment(nanoseconds(now), zone).year
    if not 1 <= month <= 12 or not 1 <= day <= _DAYS[month - 1]:
        return None
    if hour > 23 or minute > 59 or second > 60:
        return None
    if month == 2 and day == 29 and (year % 4 or (year % 100 == 0 and year % 400)):
        return None
    return find_zone(zone).to_utc(
        days_from_civil(year, month, day) * 86400 + hour * 3600 + minute * 60 + second
    )
