"""The tests of `find`: functions that read an argument and return a closure."""

from __future__ import annotations

import re
import stat
from itertools import compress

from agentsandbox.commands._files.modes import compile_mode
from agentsandbox.commands._files.names import quote
from agentsandbox.commands._time.dates import DateError, parse_date
from agentsandbox.errors import CommandError
from agentsandbox.kernel.expressions import lazily
from agentsandbox.kernel.formats.strftime import Moment
from agentsandbox.kernel.fs.base import nanoseconds
from agentsandbox.kernel.patterns.filenames import glob_matcher
from agentsandbox.kernel.regexps import RegexError, compile_posix

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from agentsandbox.commands.find.visits import Output, Settings, Test, Visit
    from agentsandbox.kernel.fs.base import Stat

_BILLION = 10**9
_DAY = 86400
_UNITS = {"b": 512, "c": 1, "w": 2, "k": 1024, "M": 1024**2, "G": 1024**3}
_TYPES = {
    "f": stat.S_IFREG,
    "d": stat.S_IFDIR,
    "l": stat.S_IFLNK,
    "p": stat.S_IFIFO,
    "c": stat.S_IFCHR,
    "b": stat.S_IFBLK,
    "s": stat.S_IFSOCK,
    "D": 0,
}
REGEX_TYPES = {
    "findutils-default": ("emacs", False),
    "ed": ("posix", False),
    "emacs": ("emacs", False),
    "gnu-awk": ("posix", True),
    "grep": ("grep", False),
    "posix-awk": ("posix", True),
    "awk": ("posix", True),
    "posix-basic": ("posix", False),
    "posix-egrep": ("posix", True),
    "egrep": ("posix", True),
    "posix-extended": ("posix", True),
    "posix-minimal-basic": ("posix", False),
    "sed": ("posix", False),
}
"""The kinds of regular expressions: (dialect, extended)."""


class BadArgumentError(Exception):
    """An argument that a test cannot read."""


# numbers

_WHOLE = lazily(r"[0-9]+", re.ASCII)
_DECIMAL = lazily(r"[0-9]++(?:\.[0-9]*)?|\.[0-9]+", re.ASCII)


def compare(text: str) -> Callable[[int], bool]:
    """Return the test of a number that `N`, `+N` or `-N` means."""
    sign, digits = (text[0], text[1:]) if text[:1] in ("+", "-") else ("", text)
    if not _WHOLE.fullmatch(digits) or len(digits) > 20:
        raise BadArgumentError
    number = int(digits)
    if sign == "+":
        return lambda value: value > number
    if sign == "-":
        return lambda value: value < number
    return lambda value: value == number


def _decimal(text: str) -> tuple[str, float]:
    """Return sign and number of `[+-]N`, which may have a fraction."""
    sign, digits = (text[0], text[1:]) if text[:1] in ("+", "-") else ("", text)
    if not _DECIMAL.fullmatch(digits) or len(digits) > 30:
        raise BadArgumentError
    return sign, float(digits)


def size(text: str) -> Test:
    """Make `-size N[bcwkMG]`: the size rounded up to whole units."""
    unit = _UNITS.get(text[-1:])
    matches = compare(text if unit is None else text[:-1])
    unit = unit or 512
    if unit == 1:
        return lambda visit: matches(visit.info.size)
    return lambda visit: matches(-(-visit.info.size // unit))


# times


def reference_time(search: Settings, which: str, text: str) -> int:
    """Return the time of a file (`which` in "aBcm") or of a date ("t"), in nanoseconds."""
    if which == "t":
        try:
            return parse_date(text, search.now, search.ctx.env.get("TZ", ""))
        except DateError:
            raise CommandError(
                f"I cannot figure out how to interpret {quote(text)} as a date or time"
            ) from None
    info = search.ctx.fs.stat(search.ctx.path(text), follow=search.follow != "P")
    return nanoseconds(time_of(which)(info))


def time_of(which: str) -> Callable[[Stat], float]:
    """Return a function that reads one of a file's times."""
    if which == "a":
        return lambda info: info.atime
    if which == "c":
        return lambda info: info.ctime
    return lambda info: info.mtime


def newer(which: str, reference: int) -> Test:
    """Make `-newerXY`: whether a time of the file is later than another."""
    read = time_of(which)
    return lambda visit: nanoseconds(read(visit.info)) > reference


def age(search: Settings, which: str, text: str, *, unit: int, midnight: bool) -> Test:
    """Make `-mtime` (days) or `-mmin` (minutes): the age in whole units, now or at midnight."""
    sign, number = _decimal(text)
    if number > 10**12:
        raise BadArgumentError
    now = nanoseconds(search.now)
    origin = now if unit != _DAY else now - _DAY * _BILLION
    if midnight:
        moment = Moment(now, search.ctx.env.get("TZ", ""))
        seconds = moment.hour * 3600 + moment.minute * 60 + moment.second
        today = now - seconds * _BILLION - moment.nanosecond
        origin = today if unit == _DAY else today + _DAY * _BILLION
    if sign == "-" and unit == _DAY:
        origin += (_DAY - 1) * _BILLION
    reference = origin - int(number * unit * _BILLION)
    window = unit * _BILLION
    read = time_of(which)
    if sign == "-":
        return lambda visit: nanoseconds(read(visit.info)) > reference
    if sign == "+":
        return lambda visit: nanoseconds(read(visit.info)) < reference
    return lambda visit: 0 < nanoseconds(read(visit.info)) - reference <= window


def used(text: str) -> Test:
    """Make `-used N`: days between the last change of status and the last access."""
    matches = compare(text)

    def test(visit: Visit) -> bool:
        delta = visit.info.atime - visit.info.ctime
        return delta >= 0 and matches(int(delta // _DAY))

    return test


# names


class EntryTest:
    """A test of name and type only; None admits all names or all types."""

    __slots__ = ("kinds", "matches")

    def __init__(
        self, matches: Callable[[str], object] | None = None, kinds: frozenset[int] | None = None
    ) -> None:
        self.matches = matches
        self.kinds = kinds

    def __call__(self, visit: Visit) -> bool:
        return (self.kinds is None or visit.kind in self.kinds) and (
            self.matches is None or bool(self.matches(visit.name))
        )

    def choose(self, names: Sequence[str], kinds: Sequence[int]) -> Sequence[str]:
        """Return the names that pass the test; `kinds` are their types."""
        if self.kinds is not None:
            names = list(compress(names, map(self.kinds.__contains__, kinds)))
        return names if self.matches is None else list(compress(names, map(self.matches, names)))


def all_entries(tests: Sequence[EntryTest]) -> EntryTest:
    """Return the test that passes what passes all of these."""
    kinds: frozenset[int] | None = None
    for test in tests:
        kinds = test.kinds if kinds is None else kinds if test.kinds is None else kinds & test.kinds
    matchers = [test.matches for test in tests if test.matches is not None]
    if len(matchers) < 2:
        return EntryTest(matchers[0] if matchers else None, kinds)

    def matches(name: str) -> bool:
        for each in matchers:  # noqa: SIM110 (the fastest form)
            if not each(name):
                return False
        return True

    return EntryTest(matches, kinds)


def any_name(matchers: Sequence[Callable[[str], object]]) -> EntryTest:
    """Return the test that passes the names that one of these matches."""

    def matches(name: str) -> bool:
        for each in matchers:  # noqa: SIM110 (the fastest form)
            if each(name):
                return True
        return False

    return EntryTest(matches)


class EntryPrinter:
    """The action of most searches: print the paths of the files that pass a test."""

    __slots__ = ("end", "output", "test")

    def __init__(self, test: EntryTest, output: Output, end: str = "\n") -> None:
        self.test = test
        self.output = output
        self.end = end

    def __call__(self, visit: Visit) -> bool:
        if not self.test(visit):
            return False
        self.output.write(visit.path + self.end)
        return True

    def print_all(self, above: str, names: Sequence[str], kinds: Sequence[int]) -> None:
        """Do the same for each name in the directory `above`; `kinds` are the types."""
        chosen = self.test.choose(names, kinds)
        if chosen:
            between = self.end + above
            self.output.write(f"{above}{between.join(chosen)}{self.end}")


def name(pattern: str, *, ignore_case: bool) -> Test:
    """Make `-name` or `-iname`: a pattern for the last component."""
    if pattern.endswith("/") and len(pattern) > 1 and pattern.strip("/") == "":
        return lambda visit: visit.name == "/"
    return EntryTest(glob_matcher(pattern, ignore_case=ignore_case, extglob=False))


def path(pattern: str, *, ignore_case: bool) -> Test:
    """Make `-path` or `-ipath`: a pattern for the whole path."""
    matches = glob_matcher(pattern, ignore_case=ignore_case, extglob=False)
    return lambda visit: bool(matches(visit.path))


def link_text(pattern: str, *, ignore_case: bool) -> Test:
    """Make `-lname`: a pattern for the text of a symbolic link."""
    matches = glob_matcher(pattern, ignore_case=ignore_case, extglob=False)
    return lambda visit: (
        visit.kind == stat.S_IFLNK and bool(matches(visit.fs.readlink(visit.absolute)))
    )


def regex(search: Settings, pattern: str, kind: str, *, ignore_case: bool) -> Test:
    """Make `-regex` or `-iregex`: an expression of one of `REGEX_TYPES` for the whole path."""
    dialect, extended = REGEX_TYPES[kind]
    try:
        compiled = compile_posix(
            pattern, extended=extended, ignore_case=ignore_case, dialect=dialect
        )
    except RegexError as error:
        raise CommandError(f"failed to compile regular expression '{pattern}': {error}") from None
    budget = search.ctx.budget

    def test(visit: Visit) -> bool:
        budget.step()
        found = compiled.match(visit.path, 0, budget)
        return found is not None and found.end() == len(visit.path)

    return test


# what a file is


def types(option: str, text: str, *, target: bool) -> Test:
    """Make `-type` or `-xtype`: a list of types, of the file or of its target."""
    if not text:
        raise CommandError(f"Arguments to {option} should contain at least one letter")
    kinds = set()
    for number, letter in enumerate(text):
        if number % 2:
            if letter != ",":
                raise CommandError(f"Must separate multiple arguments to {option} using: ','")
            if number == len(text) - 1:
                raise CommandError(
                    f"Last file type in list argument to {option} is missing, "
                    "i.e., list is ending on: ','"
                )
            continue
        if letter not in _TYPES:
            raise CommandError(f"Unknown argument to {option}: {letter}")
        if _TYPES[letter] in kinds and letter != "D":
            raise CommandError(f"Duplicate file type '{letter}' in the argument list to {option}.")
        kinds.add(_TYPES[letter])
    if target:
        return lambda visit: stat.S_IFMT(visit.target().mode) in kinds
    return EntryTest(kinds=frozenset(kinds))


def permissions(text: str) -> Test:
    """Make `-perm MODE` (exactly), `-MODE` (all of these) or `/MODE` (any of these)."""
    how, mode = (text[0], text[1:]) if text[:1] in ("-", "/") else ("", text)
    change = compile_mode(mode, 0)
    if change is None or (how == "" and text[:1] == "+" and text[1:2].isdigit()):
        raise CommandError(f"invalid mode {quote(text)}")
    file_bits, directory_bits = (change(0, kind) for kind in (False, True))

    def wanted(visit: Visit) -> int:
        return directory_bits if visit.kind == stat.S_IFDIR else file_bits

    if how == "-":
        return lambda visit: visit.info.mode & wanted(visit) == wanted(visit)
    if how == "/":
        if not file_bits and not directory_bits:
            return lambda _: True
        return lambda visit: visit.info.mode & wanted(visit) != 0
    return lambda visit: visit.info.permissions == wanted(visit)


def empty(visit: Visit) -> bool:
    """Whether a file or directory is empty (`-empty`)."""
    if visit.kind == stat.S_IFDIR:
        return not visit.fs.listdir(visit.absolute)
    return visit.kind == stat.S_IFREG and not visit.info.size


def same_file(search: Settings, name: str) -> Test:
    """Make `-samefile`: the same inode number."""
    info = search.ctx.fs.stat(search.ctx.path(name), follow=search.follow != "P")
    return lambda visit: visit.info.ino == info.ino
