"""`cal` and `ncal` (Debian's ncal 12.1): print months, with weeks as rows or as columns."""

from __future__ import annotations

from time import gmtime

from agentsandbox.contract.command import Arguments, CommandContext, command
from agentsandbox.errors import CommandError

_MONTHS = (
    "January February March April May June July August September October November December"
).split()
_DAYS = "Mo Tu We Th Fr Sa Su".split()
_WIDTH = 20
_COLUMN = 3
_WEEKS = 6
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


class _Layout:
    """How months are printed.

    first_day  the first day of a week: 0 for Monday, 6 for Sunday
    """

    per_row = 3
    header = 28
    """Blanks before a year that has a line for itself."""

    def __init__(self, first_day: int) -> None:
        self.first_day = first_day

    def weeks(self, year: int, month: int) -> list[list[int]]:
        """Return the days of each week; 0 for those of other months."""
        import calendar

        return calendar.Calendar(self.first_day).monthdayscalendar(year, month)

    def days(self) -> list[str]:
        """Return the names of the days in order."""
        return _DAYS[self.first_day :] + _DAYS[: self.first_day]

    def row(self, months: list[tuple[int, int]], *, with_year: bool) -> list[str]:
        """Return the lines of months beside one another."""
        blocks = [self._month(year, month, with_year=with_year) for year, month in months]
        return ["".join(parts) for parts in zip(*blocks, strict=True)]

    def _month(self, year: int, month: int, *, with_year: bool) -> list[str]:
        title = _title(year, month, with_year=with_year)
        lines = [" " * ((_WIDTH - len(title)) // 2) + title, " ".join(self.days())]
        for week in self.weeks(year, month):
            lines.append(" ".join([f"{day or '':>2}" for day in week]))
        lines += [""] * (8 - len(lines))
        return [line.ljust(_WIDTH + 2) for line in lines]


class _Columns(_Layout):
    """Weeks as columns, as `ncal` has them; with a line of their numbers if `numbered`."""

    per_row = 4
    header = 34

    def __init__(self, first_day: int, *, numbered: bool) -> None:
        super().__init__(first_day)
        self.numbered = numbered

    def row(self, months: list[tuple[int, int]], *, with_year: bool) -> list[str]:
        width = _WEEKS * _COLUMN
        lines = [
            "    " + "".join([_title(*month, with_year=with_year).ljust(width) for month in months])
        ]
        every = [self.weeks(*month) for month in months]
        for at, name in enumerate(self.days()):
            days = [[week[at] for week in weeks] for weeks in every]
            lines.append(name + "".join(map(_columns, days)))
        if self.numbered:
            numbers = [
                [self._number(year, month, week) for week in weeks]
                for (year, month), weeks in zip(months, every, strict=True)
            ]
            lines.append("  " + "".join(map(_columns, numbers)))
        return lines

    def _number(self, year: int, month: int, week: list[int]) -> int:
        """Return the number of a week by ISO 8601: that of its Monday."""
        from datetime import date, timedelta

        at, day = next((at, day) for at, day in enumerate(week) if day)
        monday = (0 - self.first_day) % 7
        return (date(year, month, day) + timedelta(monday - at)).isocalendar()[1]


def _columns(numbers: list[int]) -> str:
    shown = [f"{number or '':>{_COLUMN}}" for number in numbers]
    return "".join(shown).ljust(_WEEKS * _COLUMN)


def _title(year: int, month: int, *, with_year: bool) -> str:
    return f"{_MONTHS[month - 1]} {year}" if with_year else _MONTHS[month - 1]


def _print(ctx: CommandContext, layout: _Layout, first: int, count: int) -> None:
    """Print months, which are counted from the year 0.

    Where the first row is a full one of a year's rows, each year has a line for itself.
    """
    if not _FIRST_YEAR * 12 <= first <= first + count <= 10000 * 12:
        raise CommandError(f"only the years {_FIRST_YEAR} to 9999 are available here")
    months = [(number // 12, number % 12 + 1) for number in range(first, first + count)]
    size = layout.per_row
    by_year = first % 12 % size == 0 and count >= size
    shown = 0
    for start in range(0, count, size):
        ctx.budget.step(20)
        row = months[start : start + size]
        if start:
            ctx.print()
        if by_year and row[0][0] != shown:
            shown = row[0][0]
            ctx.print(f"{' ' * layout.header}{shown}")
        for line in layout.row(row, with_year=not by_year):
            ctx.print(line)


def _count(args: Arguments, key: str) -> int:
    text = args.value(key, "0") or ""
    if not (text.isascii() and text.isdigit() and len(text) < 6):
        raise CommandError(f"-{key}: not a valid number {text}")
    return int(text)


_OPTIONS = """
      -1        one month
      -3        three months: the one before and the one after, too
      -A NUM    NUM months after it
      -B NUM    NUM months before it
      -d YYYY-MM  as if this were the current month
      -m MONTH  print this month
      -y        print the year
"""


@command(
    "cal",
    usage_status=64,
    usage=f"""
    Usage: cal [OPTION]... [[MONTH] YEAR]
    Print the current month, a month, or a year.
{_OPTIONS}          --help  display this help and exit
    """,
)
def cal(ctx: CommandContext, args: Arguments) -> int:
    return _run(ctx, args, _Layout(6))


@command(
    "ncal",
    usage_status=64,
    usage=f"""
    Usage: ncal [OPTION]... [[MONTH] YEAR]
    Print the current month, a month, or a year, with weeks as columns.
{_OPTIONS}      -b        weeks as rows, as `cal` prints them
      -C        the same
      -h        today is not marked, as always where there is no terminal
      -M        weeks begin on Monday
      -S        weeks begin on Sunday
      -w        print the numbers of weeks, too
          --help  display this help and exit
    """,
)
def ncal(ctx: CommandContext, args: Arguments) -> int:
    first_day = 0 if args.last("M", "S") == "M" else 6
    if args.flag("b") or args.flag("C"):
        if args.flag("w"):
            raise CommandError("-w is available with weeks as columns only")
        return _run(ctx, args, _Layout(first_day))
    return _run(ctx, args, _Columns(first_day, numbered=args.flag("w")))


def _run(ctx: CommandContext, args: Arguments, layout: _Layout) -> int:
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
        _print(ctx, layout, year * 12, 12)
        return 0
    before = after = 1 if args.flag("3") else 0
    before = _count(args, "B") if args.flag("B") else before
    after = _count(args, "A") if args.flag("A") else after
    _print(ctx, layout, year * 12 + month - 1 - before, 1 + before + after)
    return 0
