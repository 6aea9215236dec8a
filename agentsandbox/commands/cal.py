"""`cal` (Debian's ncal 12.1): print months, in rows of three."""

from __future__ import annotations

from time import gmtime

from agentsandbox.contract.command import Arguments, CommandContext, command
from agentsandbox.errors import CommandError

_MONTHS = (
    "January February March April May June July August September October November December"
).split()
_WIDTH, _ROW = 20, 3
_FIRST_YEAR = 1753
"""Before it Britain, whose calendar is printed, still had the Julian one."""


def _month(text: str) -> int:
    if text.isascii() and text.isdigit() and 1 <= int(text[:9]) <= 12:
        return int(text)
    found = [
        number
        for number, name in enumerate(_MONTHS, 1)
        if len(text) >= 3 and name.lower().startswith(text.lower())
    ]
    if not found:
        raise CommandError(f"{text} is neither a month number (1..12) nor a name", 64)
    return found[0]


def _year(text: str) -> int:
    if not (text.isascii() and text.isdigit()):
        raise CommandError(f"not a valid year {text}", 64)
    year = int(text[:9])
    if not 1 <= year <= 9999:
        raise CommandError(f"year `{text}' not in range 1..9999", 64)
    return year


def _lines(year: int, month: int, *, with_year: bool) -> list[str]:
    """Return the eight lines of a month, 22 characters each."""
    import calendar

    title = f"{_MONTHS[month - 1]} {year}" if with_year else _MONTHS[month - 1]
    lines = [" " * ((_WIDTH - len(title)) // 2) + title, "Su Mo Tu We Th Fr Sa"]
    for week in calendar.Calendar(6).monthdayscalendar(year, month):
        lines.append(" ".join([f"{day or '':>2}" for day in week]))
    lines += [""] * (8 - len(lines))
    return [line.ljust(_WIDTH + 2) for line in lines]


def _print(ctx: CommandContext, first: int, count: int) -> None:
    """Print months, which are counted from the year 0."""
    if not _FIRST_YEAR * 12 <= first <= first + count <= 10000 * 12:
        raise CommandError(f"only the years {_FIRST_YEAR} to 9999 are available here")
    months = [divmod(number, 12) for number in range(first, first + count)]
    one_year = first % _ROW == 0 and count % _ROW == 0 and months[0][0] == months[-1][0]
    if one_year:
        ctx.print(" " * 28 + str(months[0][0]))
    for start in range(0, count, _ROW):
        ctx.budget.step(20)
        if start:
            ctx.print()
        row = [
            _lines(year, month + 1, with_year=not one_year)
            for year, month in months[start : start + _ROW]
        ]
        for parts in zip(*row, strict=True):
            ctx.print("".join(parts))


def _count(args: Arguments, key: str) -> int:
    text = args.value(key, "0") or ""
    if not (text.isascii() and text.isdigit() and len(text) < 6):
        raise CommandError(f"-{key}: not a valid number {text}")
    return int(text)


@command(
    "cal",
    usage_status=64,
    usage="""
    Usage: cal [OPTION]... [[MONTH] YEAR]
    Print the current month, a month, or a year.

      -1        one month
      -3        three months: the one before and the one after, too
      -A NUM    NUM months after it
      -B NUM    NUM months before it
      -d YYYY-MM  as if this were the current month
      -m MONTH  print this month
      -y        print the year
          --help  display this help and exit
    """,
)
def cal(ctx: CommandContext, args: Arguments) -> int:
    now = gmtime(ctx.host.clock())
    year, month = now.tm_year, now.tm_mon
    date = args.value("d")
    if date is not None:
        text, _, rest = date.partition("-")
        year, month = _year(text), _month(rest)
    words = list(args.operands)
    if len(words) > 2:
        raise CommandError("at most a month and a year")
    whole = args.flag("y")
    if words:
        year = _year(words.pop())
        whole = whole or not (words or args.flag("m"))
    named = args.value("m") if args.flag("m") else words[0] if words else None
    if named is not None:
        month = _month(named)
    if whole:
        _print(ctx, year * 12, 12)
        return 0
    before = after = 1 if args.flag("3") else 0
    before = _count(args, "B") if args.flag("B") else before
    after = _count(args, "A") if args.flag("A") else after
    _print(ctx, year * 12 + month - 1 - before, 1 + before + after)
    return 0
