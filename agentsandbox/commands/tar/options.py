"""What the options of `tar` ask for.

Most options hold for the whole run, wherever they stand. Some are *positional*: `-C`, `--exclude`,
`--no-recursion` and their like apply only to the names after them, so the options are read in the
order given and each name takes with it what is in force at that point.
"""

from __future__ import annotations

import posixpath
import re

from agentsandbox.commands._files.owners import Owners
from agentsandbox.commands._text.choices import choose
from agentsandbox.commands._text.quoting import quote
from agentsandbox.commands.tar import names as tar_names
from agentsandbox.commands.tar.names import Choice, Exclusions, Transformation
from agentsandbox.commands.tar.stream import (
    FORMAT_OF_SUFFIX,
    PROGRAM,
    ArchiveReader,
    fatal,
    open_archive,
)
from agentsandbox.errors import CommandError, UsageError
from agentsandbox.kernel.formats.strftime import format_date
from agentsandbox.kernel.streams import decode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from agentsandbox.commands.tar.names import SafeNames
    from agentsandbox.contract.command import Arguments, CommandContext

_ACTIONS = {"create": "c", "extract": "x", "list": "t", "append": "r", "update": "u", "diff": "d"}
_FORMATS = ("gzip", "bzip2", "xz", "lzma", "zstd")
_LETTERS = {"gzip": "-z", "bzip2": "-j", "xz": "-J", "lzma": "--lzma", "zstd": "--zstd"}
_POSITIONAL = frozenset(
    """
    directory exclude-from exclude exclude-vcs exclude-tag-all no-recursion
    anchored wildcards null
    """.split()
)
"""Options for the names after them: after the last name they have no effect, which is an error."""

_NO_DATE = -9223372036854775807
_PROGRAMS = {
    "gzip": "gzip",
    "pigz": "gzip",
    "bzip2": "bzip2",
    "pbzip2": "bzip2",
    "xz": "xz",
    "pixz": "xz",
    "lzma": "lzma",
    "zstd": "zstd",
}
_EXISTING = {"keep-old-files": "keep", "skip-old-files": "skip", "overwrite": "overwrite"}
_SETTERS = {
    "anchored": ("anchored", True),
    "wildcards": ("wildcards", True),
    "no-recursion": ("recursive", False),
    "null": ("null", True),
}
_ESCAPE = re.compile(r"\\(?:([0-7]{1,3})|(.))", re.DOTALL)
_ESCAPES = {
    "a": "\a",
    "b": "\b",
    "f": "\f",
    "n": "\n",
    "r": "\r",
    "t": "\t",
    "v": "\v",
    "\\": "\\",
    "?": "\x7f",
}


def _unquote(name: str) -> str:
    """Return a name of the command line or of -T with its C escapes replaced."""
    return _ESCAPE.sub(_unescape, name) if "\\" in name else name


def _unescape(found: re.Match[str]) -> str:
    return decode(bytes([int(found[1], 8) & 255])) if found[1] else _ESCAPES.get(found[2], found[0])


class _Operand:
    """A name from the command line or from -T, with the positional options in force for it."""

    __slots__ = ("directory", "name", "recursive")

    def __init__(self, name: str, directory: str, recursive: bool) -> None:
        self.name = name
        self.directory = directory
        self.recursive = recursive


class TarOptions:
    """All options of one run, the operands, and what the actions share."""

    def __init__(self, ctx: CommandContext, args: Arguments) -> None:
        self.ctx = ctx
        self.args = args
        self.action = ""
        self.archive = "-"
        self._archives = 0
        self.format: str | None = None
        """gzip, bzip2, xz, lzma, zstd, or `PROGRAM` and a command line."""
        self.verbose = 0
        self.operands: list[_Operand] = []
        self.exclusions = Exclusions()
        self.transformation = Transformation()
        self.directory = ctx.cwd
        self._shown: dict[str, str] = {}
        """Directories as the command line spells them, for messages."""
        self._entered: set[str] = set()
        self._unused: list[tuple[str, str | None]] = []
        self._lists: list[str] = []
        """The files of names that -T is reading."""
        self.anchored = False
        self.wildcards = False
        self.recursive = True
        self.null = False
        self.newer: int | None = None
        self.newer_status = False
        self.dates: list[str] = []
        self.owner: tuple[str, int] | None = None
        self.group: tuple[str, int] | None = None
        self.mtime: int | None = None
        self.strip = 0
        self.absolute = args.flag("absolute-names")
        self.numeric = args.flag("numeric-owner")
        self.to_stdout = args.flag("to-stdout")
        self.existing = _EXISTING.get(args.last(*_EXISTING) or "", "replace")
        self.permissions = (
            args.last("preserve-permissions", "no-same-permissions") == "preserve-permissions"
        )
        self._read_all()

    # reading

    def _read_all(self) -> None:
        last = self._last_name()
        for place, (key, value) in enumerate(self.args.given):
            self.ctx.budget.step()
            if place > last and key in _POSITIONAL:
                self._unused.append((key, value))
                if key == "directory":
                    self._check_directory(posixpath.join(self.ctx.cwd, value or ""), value)
            else:
                self._read(key, value or "")
        if self.args.flag("o") and self.action == "c":
            raise UsageError("option -o with -c (--format=v7) is not available here", 2)
        if self._archives > 1:
            raise UsageError("Multiple archive files require '-M' option", 2)
        top = self.args.value("one-top-level")
        archive = posixpath.basename(self.archive)
        self.one_directory = re.sub(r"(\.tar)?\.[A-Za-z0-9]+$", "", archive) if top == "" else top
        if self.args.flag("auto-compress") and self.format is None and self.action == "c":
            self.format = FORMAT_OF_SUFFIX.get(posixpath.splitext(self.archive)[1])

    def _last_name(self) -> int:
        """Return the place of the last name if the action writes, else the end."""
        given = self.args.given
        if not any(key in ("create", "append", "update") for key, _ in given):
            return len(given)
        places = [place for place, (key, _) in enumerate(given) if key in ("", "files-from")]
        return max(places, default=len(given))

    def _read(self, key: str, value: str) -> None:
        if key in _ACTIONS:
            if self.action and self.action != _ACTIONS[key]:
                raise UsageError(
                    "You may not specify more than one '-Acdtrux', '--delete' or "
                    " '--test-label' option",
                    2,
                )
            self.action = _ACTIONS[key]
        elif key in _FORMATS:
            self._compress(key)
        elif key in _SETTERS:
            attribute, setting = _SETTERS[key]
            setattr(self, attribute, setting)
        elif key == "":
            self.operands.append(_Operand(_unquote(value), self.directory, self.recursive))
        else:
            reader = getattr(self, f"_{key.replace('-', '_')}", None)
            if reader is not None:
                reader(value)

    def _compress(self, format: str) -> None:
        if self.format is not None and self.format != format:
            raise UsageError("Conflicting compression options", 2)
        self.format = format

    def _use_compress_program(self, value: str) -> None:
        program = posixpath.basename(value.partition(" ")[0])
        self._compress(_PROGRAMS.get(program) or f"{PROGRAM}{value}")

    def _file(self, value: str) -> None:
        self._archives += 1
        if self._archives == 1:
            self.archive = value

    def _verbose(self, _value: str) -> None:
        self.verbose += 1

    def _directory(self, value: str) -> None:
        self.directory = posixpath.normpath(posixpath.join(self.directory, value))
        self._shown[self.directory] = value

    def _exclude(self, value: str) -> None:
        self.exclusions.add(value, anchored=self.anchored)

    def _exclude_vcs(self, _value: str) -> None:
        for name in tar_names.VCS:
            self._exclude(name)

    def _exclude_from(self, value: str) -> None:
        for line in self._lines(value, b"\n", ""):
            if pattern := line.partition("\0")[0]:
                self._exclude(pattern)

    def _files_from(self, value: str) -> None:
        if value in self._lists:
            self.ctx.warn(
                f"{value}: file list requested from list already read from command line", 2
            )
            return
        self._lists.append(value)
        for number, (line, ended_by_nul) in enumerate(self._listed_names(value), 1):
            if not ended_by_nul and line.lstrip().startswith("-"):
                self.ctx.warn(f"{value}:{number}: unrecognized option", 2)
            elif line:
                name = line if ended_by_nul else _unquote(line)
                self.operands.append(_Operand(name, self.directory, self.recursive))

    def _listed_names(self, value: str) -> Iterator[tuple[str, bool]]:
        """Yield (name, whether a NUL ends it); after a first NUL all names of a list end so."""
        if self.null:
            yield from ((name, True) for name in self._lines(value, b"\0", "stat"))
            return
        lines = self._raw_lines(value, b"\n", "stat")
        for line in lines:
            if b"\0" not in line:
                yield decode(line.removesuffix(b"\n")), False
                continue
            self.warn(f"{value}: file name read contains nul character")
            rest = b"".join([line, *lines])
            self.ctx.budget.charge(len(rest))
            yield from ((decode(name), True) for name in rest.split(b"\0"))

    def _lines(self, name: str, end: bytes, doing: str) -> Iterator[str]:
        return (decode(line.removesuffix(end)) for line in self._raw_lines(name, end, doing))

    def _raw_lines(self, name: str, end: bytes, doing: str) -> Iterator[bytes]:
        if name == "-" and self.ctx.stdin.unreadable:
            return  # as if it were empty
        try:
            source = self.ctx.open_input(name)
        except OSError as error:
            doing = f"Cannot {doing}: " if doing else ""
            raise fatal(f"{name}: {doing}{error.strerror}") from None
        for line in source.lines(end):
            self.ctx.budget.step()
            yield line

    def _transform(self, value: str) -> None:
        self.transformation.add(value)

    def _strip_components(self, value: str) -> None:
        if not value.isdecimal() or len(value) > 6:
            raise UsageError(f"{value}: Invalid number of elements", 2)
        self.strip = int(value)

    def _sort(self, value: str) -> None:
        try:
            choose(value, "--sort", (("none",), ("name",), ("inode",)))
        except UsageError as error:
            raise CommandError(error.message, 2) from None

    def _owner(self, value: str) -> None:
        self.owner = _as_owner(value, Owners(self.ctx).users)

    def _group(self, value: str) -> None:
        self.group = _as_owner(value, Owners(self.ctx).groups)

    def _mtime(self, value: str) -> None:
        self.mtime = self._date(value, "--mtime")

    def _newer(self, value: str) -> None:
        self.newer, self.newer_status = self._date(value, "--after-date"), True

    def _newer_mtime(self, value: str) -> None:
        self.newer = self._date(value, "--newer-mtime")

    def _date(self, text: str, option: str) -> int:
        """Return the nanoseconds of a date, or of the file that a path names."""
        from agentsandbox.commands._time.dates import DateError, parse_date
        from agentsandbox.commands._time.times import nanoseconds

        zone = self.ctx.env.get("TZ", "")
        if text.startswith(("/", ".")):
            try:
                return nanoseconds(self.ctx.fs.stat(self.ctx.path(text)).mtime)
            except OSError as error:
                raise fatal(f"{text}: Cannot stat: {error.strerror}") from None
        try:
            when = parse_date(text, self.ctx.host.clock(), zone)
        except DateError:
            self.warn(f"Substituting {_NO_DATE} for unknown date format {quote(text)}")
            return _NO_DATE * 1_000_000_000
        shown = format_date(when, "%Y-%m-%d %H:%M:%S", zone)
        self.dates.append(f"Option {option}: Treating date '{text}' as {shown}")
        return when

    # messages

    def warn(self, message: str) -> None:
        """Print a warning that leaves the exit status as it is."""
        self.ctx.warn(message, self.ctx.status)

    def warn_unused(self) -> None:
        """Report positional options that follow all names."""
        if not self._unused or self.action == "r":
            return
        self.ctx.warn(
            "The following options were used after any non-optional arguments in archive create "
            "or update mode.  These options are positional and affect only arguments that follow "
            "them.  Please, rearrange them properly.",
            2,
        )
        for key, value in self._unused:
            option = "-C" if key == "directory" else f"--{key}"
            self.ctx.warn(f"{option}{'' if value is None else f' {quote(value)}'} has no effect", 2)

    # directories

    def enter(self, operand: _Operand) -> None:
        """Make sure that the directory of an operand exists."""
        if operand.directory not in self._entered:
            self._entered.add(operand.directory)
            self._check_directory(operand.directory)

    def enter_last(self) -> None:
        """Make sure that the last -C names a directory though no operand follows it."""
        if self.directory not in self._entered and self.directory != self.ctx.cwd:
            self._check_directory(self.directory)

    def last_directory(self) -> str:
        """Return the directory for members when no operand brings its own."""
        if not self.operands and self.directory not in self._entered:
            self._entered.add(self.directory)
            self._check_directory(self.directory)
        return self.directory

    def _check_directory(self, path: str, shown: str | None = None) -> None:
        try:
            self.ctx.fs.listdir(path)
        except OSError as error:
            raise fatal(
                f"{shown or self._shown.get(path, path)}: Cannot open: {error.strerror}"
            ) from None

    # what the actions share

    def open(self) -> ArchiveReader:
        """Open the archive for reading; compressed stdin needs the option of its format."""
        reader = open_archive(self.ctx, self.archive, format=self.format)
        archive = ArchiveReader(self.ctx, reader, self.format, self.archive)
        if self.archive == "-" and archive.format is not None and self.format is None:
            raise fatal(f"Archive is compressed. Use {_LETTERS[archive.format]} option")
        return archive

    def choice(self) -> Choice:
        """Return the operands as a choice among members."""
        return Choice(
            [operand.name for operand in self.operands],
            wildcards=self.wildcards,
            alone=frozenset(
                [at for at, operand in enumerate(self.operands) if not operand.recursive]
            ),
        )

    def operand_of(self, choice: Choice) -> _Operand | None:
        """Return the operand that chose the last member."""
        return self.operands[choice.last] if choice.last >= 0 else None

    def shape(self, name: str, names: SafeNames, kind: str = "r") -> str:
        """Return a name transformed, made safe and without its first components; "" if none is
        left. `kind` is that of `Transformation.apply`.
        """
        changed = self.transformation.apply(name, self.ctx.budget, kind)
        if kind == "s":
            return changed
        safe = names.strip(changed, is_link=kind == "h")
        return tar_names.strip_components(safe, self.strip) if self.strip else safe


def _as_owner(text: str, known: dict[int, str]) -> tuple[str, int]:
    """Return (name, number) of `NAME`, `NAME:NUMBER`, `NUMBER` or `:NUMBER`, both looked up."""
    name, _, number = (":" + text if text.isdecimal() else text).partition(":")
    if number.isdecimal() and len(number) < 10:
        return name or known.get(int(number), ""), int(number)
    return name, next((each for each, other in known.items() if other == name), 1000)
