"""What the options of `tar` ask for."""

from __future__ import annotations

import posixpath
import re
import shlex

from agentsandbox.commands._files.owners import Owners
from agentsandbox.commands._text.choices import choose
from agentsandbox.commands._text.quoting import STYLES, quote
from agentsandbox.commands.tar import names as _tar_names
from agentsandbox.commands.tar.create import CreationOptions
from agentsandbox.commands.tar.extract import ExtractionOptions
from agentsandbox.commands.tar.format import BLOCK, HeaderStyle
from agentsandbox.commands.tar.names import Choice, Exclusions, Transformation
from agentsandbox.commands.tar.stream import FORMAT_OF_SUFFIX, PROGRAM, ArchiveReader, open_archive
from agentsandbox.errors import CommandError, UsageError
from agentsandbox.kernel.formats.strftime import format_date
from agentsandbox.kernel.patterns.filenames import compile_glob
from agentsandbox.kernel.streams import decode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from agentsandbox.commands.tar.checkpoints import Checkpoints
    from agentsandbox.contract.command import Arguments, CommandContext
    from agentsandbox.contract.usage import OptionParser

_FATAL = "Error is not recoverable: exiting now"
_ACTIONS = {
    "create": "c", "extract": "x", "list": "t", "append": "r", "update": "u", "diff": "d", "delete": "D",
}  # fmt: skip
_FORMATS = ("gzip", "bzip2", "xz", "lzma", "zstd")
_POSITIONAL = frozenset((
    "directory", "exclude-from", "exclude", "exclude-vcs", "exclude-backups", "exclude-caches",
    "exclude-caches-all", "exclude-tag", "exclude-tag-all", "no-recursion", "recursion", "anchored",
    "no-anchored", "wildcards", "no-wildcards", "ignore-case", "no-ignore-case",
    "wildcards-match-slash", "no-wildcards-match-slash", "null", "verbatim-files-from",
))  # fmt: skip
"""Options for the names after them: at the end of the command line they mean nothing, and that is
an error."""

_IN_FILES = _POSITIONAL | {"files-from"}
_LETTERS = {"gzip": "-z", "bzip2": "-j", "xz": "-J", "lzma": "--lzma", "zstd": "--zstd"}
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
_EXISTING = {
    "keep-old-files": "keep", "skip-old-files": "skip", "keep-newer-files": "newer", "overwrite": "overwrite", "unlink-first": "replace",
}  # fmt: skip
_WARNINGS = (
    "all", "alone-zero-block", "bad-dumpdir", "cachedir", "contiguous-cast", "file-changed", "file-ignored", "file-removed",
    "file-shrank", "file-unchanged", "filename-with-nuls", "ignore-archive", "ignore-newer", "new-directory", "rename-directory",
    "symlink-cast", "timestamp", "unknown-cast", "unknown-keyword", "xdev", "decompress-program", "existing-file", "xattr-write",
    "record-size", "failed-read",
)  # fmt: skip
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
    """A name from -T with its escapes read as C reads them."""
    return _ESCAPE.sub(_unescape, name) if "\\" in name else name


def _unescape(found: re.Match[str]) -> str:
    return decode(bytes([int(found[1], 8) & 255])) if found[1] else _ESCAPES.get(found[2], found[0])


class _Operand:
    """A name on the command line (or from -T) and the directory it stands in."""

    __slots__ = ("directory", "name", "recursive")

    def __init__(self, name: str, directory: str, recursive: bool) -> None:
        self.name = name
        self.directory = directory
        self.recursive = recursive


class TarOptions:
    """All options, read in order: -C, --exclude and their like apply to what comes after them."""

    def __init__(self, ctx: CommandContext, args: Arguments, parser: OptionParser) -> None:
        self.ctx = ctx
        self._parser = parser
        self.action = ""
        self.archive = "-"
        self.archives: list[str] = []
        self.newer_status = False
        self.format: str | None = None
        self.verbose = 0
        self.operands: list[_Operand] = []
        self.exclusions = Exclusions()
        self.transformation = Transformation()
        self.directory = ctx.cwd
        self.anchored = False
        self.anchored_choice = True
        self.wildcards: bool | None = None
        self.ignore_case = False
        self.match_slash = True
        self.recursive = True
        self.null = False
        self.record = 20 * BLOCK
        self.style = HeaderStyle()
        self.tags: list[tuple[str, str]] = []
        self._lists: list[str] = []
        """The files of names that are being read."""
        self.newer: int | None = None
        self.quiet: set[str] = set()
        self.dates: list[str] = []
        self.started = ctx.host.clock()
        self.args = args
        self.shown: dict[str, str] = {}
        """How directories are called in messages."""
        self.unused: list[tuple[str, str | None]] = []
        self._entered: set[str] = set()
        last = self._last_name()
        for place, (key, value) in enumerate(args.given):
            ctx.budget.step()
            if place > last and key in _POSITIONAL:
                self.unused.append((key, value))
                if key == "directory":
                    self._check_directory(posixpath.join(ctx.cwd, value or ""), value)
            else:
                self._read(key, value or "")
        self._check()
        if args.flag("auto-compress") and self.format is None and self.action == "c":
            self.format = FORMAT_OF_SUFFIX.get(posixpath.splitext(self.archive)[1])

    def _last_name(self) -> int:
        """Where the last file is named on the command line of an action that writes; behind the end
        for others.
        """
        given = self.args.given
        if not any(key in ("create", "append", "update") for key, _ in given):
            return len(given)
        return max(
            (place for place, (key, _) in enumerate(given) if key in ("", "files-from")),
            default=len(given),
        )

    def tell_unused(self) -> None:
        """Report the options that stand behind all names."""
        if not self.unused or self.action == "r":
            return
        self.ctx.warn(
            "The following options were used after any non-optional arguments in archive create or update mode.  "
            "These options are positional and affect only arguments that follow them.  Please, rearrange them properly.", 2,
        )  # fmt: skip
        for key, value in self.unused:
            option = "-C" if key == "directory" else f"--{key}"
            self.ctx.warn(f"{option}{'' if value is None else f' {quote(value)}'} has no effect", 2)

    def enter(self, operand: _Operand) -> None:
        """Make sure that the directory of an operand is there."""
        if operand.directory not in self._entered:
            self._entered.add(operand.directory)
            self._check_directory(operand.directory)

    def enter_last(self) -> None:
        """Make sure of a directory that no operand stands in."""
        if self.directory not in self._entered and self.directory != self.ctx.cwd:
            self._check_directory(self.directory)

    def last_directory(self) -> str:
        """The directory for all members when no operand says another one."""
        if not self.operands and self.directory not in self._entered:
            self._entered.add(self.directory)
            self._check_directory(self.directory)
        return self.directory

    def _check_directory(self, path: str, shown: str | None = None) -> None:
        try:
            self.ctx.fs.listdir(path)
        except OSError as error:
            raise CommandError(
                f"{shown or self.shown.get(path, path)}: Cannot open: {error.strerror}\ntar: {_FATAL}",
                2,
            ) from None

    def operand_of(self, choice: Choice) -> _Operand | None:
        """The operand that the last member was chosen by."""
        return self.operands[choice.last] if choice.last >= 0 else None

    def open(self, checkpoints: Checkpoints | None = None) -> ArchiveReader:
        """The archive to read; compressed data from standard input is refused unless an option
        names its format.
        """
        reader = open_archive(self.ctx, self.archive, format=self.format)
        archive = ArchiveReader(self.ctx, reader, self.format, checkpoints, self.archive)
        if self.archive == "-" and self.format is None and archive.format is not None:
            raise CommandError(
                f"Archive is compressed. Use {_LETTERS[archive.format]} option\ntar: {_FATAL}", 2
            )
        return archive

    def _read(self, key: str, value: str) -> None:
        if key in _ACTIONS:
            if self.action and self.action != _ACTIONS[key]:
                raise UsageError(
                    "You may not specify more than one '-Acdtrux', '--delete' or  '--test-label' option",
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

    def _check(self) -> None:
        """Refuse options that do not go together."""
        args = self.args
        if args.last("acls", "xattrs", "selinux", "pax-option") and not args.last(
            "format", "posix"
        ):
            self.style.form = "pax"
        if args.flag("o") and self.action == "c":
            raise UsageError("option -o with -c (--format=v7) is not available here", 2)
        if args.flag("pax-option") and self.action in "cru" and self.style.form != "pax":
            raise UsageError("--pax-option can be used only on POSIX archives", 2)
        if args.flag("clamp-mtime") and not args.flag("mtime"):
            raise UsageError("--clamp-mtime needs a date specified using --mtime", 2)
        if len(self.archives) > 1:
            raise UsageError("Multiple archive files require '-M' option", 2)

    def _format(self, value: str) -> None:
        form = {"posix": "pax"}.get(value, value)
        if form not in ("gnu", "pax", "ustar"):
            raise UsageError(f"{value}: Invalid archive format", 2)
        self.style.form = form

    def _posix(self, _value: str) -> None:
        self._format("pax")

    def _pax_option(self, value: str) -> None:
        for part in value.split(","):
            key, equals, text = part.strip().partition("=")
            if not equals:
                raise UsageError(f"Keyword {key} is unknown or not yet implemented", 2)
            if key == "delete":
                self.style.deleted.append(compile_glob(text, extglob=False))
            elif key == "exthdr.name":
                self.style.header_name = text
            elif key.endswith(":"):
                self.style.overrides[key[:-1]] = text
            else:
                raise CommandError(
                    f"--pax-option={key}: this keyword is not available here: use {key}:=", 2
                )

    def _exclude_backups(self, _value: str) -> None:
        for pattern in _tar_names.BACKUPS:
            self._exclude(pattern)

    def _exclude_caches(self, _value: str) -> None:
        self.tags.append(("contents", "CACHEDIR.TAG"))

    def _exclude_caches_all(self, _value: str) -> None:
        self.tags.append(("all", "CACHEDIR.TAG"))

    def _exclude_tag(self, value: str) -> None:
        self.tags.append(("contents", value))

    def _exclude_tag_all(self, value: str) -> None:
        self.tags.append(("all", value))

    def _newer(self, value: str) -> None:
        self.newer, self.newer_status = self._date(value, "--after-date"), True

    def _newer_mtime(self, value: str) -> None:
        self.newer = self._date(value, "--newer-mtime")

    def _warning(self, value: str) -> None:
        off = value.startswith("no-")
        try:
            keyword = choose(
                value[3:] if off else value, "--warning", [(word,) for word in _WARNINGS]
            )
        except UsageError as error:
            raise CommandError(error.message, 2) from None
        words = set(_WARNINGS) if keyword == "all" else {keyword}
        self.quiet = self.quiet | words if off else self.quiet - words

    def warn(self, keyword: str, message: str) -> None:
        """A warning that --warning=no-KEYWORD turns off; the status stays."""
        if keyword not in self.quiet:
            self.ctx.warn(message, self.ctx.status)

    def _quoting_style(self, value: str) -> None:
        if value not in STYLES:
            raise CommandError(
                f"Unknown quoting style '{value}'. Try 'tar --quoting-style=help' to get a list.\ntar: {_FATAL}",
                2,
            )

    def _compress(self, format: str) -> None:
        if self.format is not None and self.format != format:
            raise UsageError("Conflicting compression options", 2)
        self.format = format

    def _file(self, value: str) -> None:
        self.archives.append(value)
        self.archive = self.archives[0]

    def _verbose(self, _value: str) -> None:
        self.verbose += 1

    def _directory(self, value: str) -> None:
        self.directory = posixpath.normpath(posixpath.join(self.directory, value))
        self.shown[self.directory] = value

    def _use_compress_program(self, value: str) -> None:
        self._compress(
            _PROGRAMS.get(posixpath.basename(value.partition(" ")[0])) or f"{PROGRAM}{value}"
        )

    def _exclude(self, value: str) -> None:
        self.exclusions.add(
            value,
            anchored=self.anchored,
            wildcards=self.wildcards is not False,
            ignore_case=self.ignore_case,
            match_slash=self.match_slash,
        )

    def _exclude_vcs(self, _value: str) -> None:
        for name in _tar_names.VCS:
            self._exclude(name)

    def _exclude_from(self, value: str) -> None:
        for line in self._lines(value, b"\n", ""):
            if line:
                self._exclude(line)

    def _files_from(self, value: str) -> None:
        if value in self._lists:
            self.ctx.warn(
                f"{value}: file list requested from list already read from command line", 2
            )
            return
        self._lists.append(value)
        options = not self.null and not self.args.flag("verbatim-files-from")
        for number, line in enumerate(self._lines(value, b"\0" if self.null else b"\n", "stat"), 1):
            if options and line.lstrip().startswith("-"):
                self._line_of_options(line, f"{value}:{number}")
            elif line:
                name = line if self.null else _unquote(line)
                self.operands.append(_Operand(name, self.directory, self.recursive))

    def _line_of_options(self, line: str, place: str) -> None:
        """Options in a file of names: those that names have."""
        try:
            given = self._parser.parse(shlex.split(line), in_order=True).given
        except (UsageError, ValueError):
            self.ctx.warn(f"{place}: unrecognized option", 2)
            return
        if any(key not in _IN_FILES for key, _ in given if key):
            self.ctx.warn(f"{place}: unrecognized option", 2)
            return
        for key, text in given:
            if key:
                self._read(key, text or "")

    def _lines(self, name: str, end: bytes, doing: str = "open") -> Iterator[str]:
        if name == "-" and self.ctx.stdin.unreadable:
            return  # as if it were empty
        try:
            source = self.ctx.open_input(name)
        except OSError as error:
            doing = f"Cannot {doing}: " if doing else ""
            raise CommandError(f"{name}: {doing}{error.strerror}\ntar: {_FATAL}", 2) from None
        for line in source.lines(end):
            self.ctx.budget.step()
            yield decode(line[:-1] if line.endswith(end) else line)

    def _transform(self, value: str) -> None:
        self.transformation.add(value)

    def _blocking_factor(self, value: str) -> None:
        if not value.isdecimal() or not 0 < int(value[:8]) <= 4096:
            raise UsageError(f"{value}: Invalid blocking factor", 2)
        self.record = int(value) * BLOCK

    # what the actions need

    def creation(self) -> CreationOptions:
        args, ctx = self.args, self.ctx
        made = CreationOptions(self.exclusions, self.transformation)
        made.absolute = args.flag("absolute-names")
        made.dereference = args.flag("dereference")
        made.remove = args.flag("remove-files")
        owners = Owners(ctx)
        made.owner = self._as_owner(args.value("owner"), owners.users)
        made.group = self._as_owner(args.value("group"), owners.groups)
        made.numeric = args.flag("numeric-owner")
        mode = args.value("mode")
        if mode is not None:
            from agentsandbox.commands._files.modes import compile_mode  # only --mode needs them

            made.mode = compile_mode(mode, ctx.umask)
            if made.mode is None:
                raise CommandError(f"Invalid mode given on option\ntar: {_FATAL}", 2)
        order = args.value("sort")
        if order is not None:
            try:
                choose(order, "--sort", (("none",), ("name",), ("inode",)))
            except UsageError as error:
                raise CommandError(error.message, 2) from None
        text = args.value("mtime")
        if text is not None:
            made.mtime = self._date(text, "--mtime")
        made.clamp = args.flag("clamp-mtime")
        made.style = self.style
        made.told = self.verbose > 0
        made.tags = self.tags
        made.hard_links = not args.flag("hard-dereference")
        made.newer, made.newer_status = self.newer, self.newer_status
        made.forgiving = args.flag("ignore-failed-read")
        made.warn = self.warn
        return made

    def _as_owner(self, text: str | None, known: Mapping[int, str]) -> tuple[str, int] | None:
        """(name, number) of `NAME`, `NAME:NUMBER`, `NUMBER` or `:NUMBER`: what is not given is
        looked up.
        """
        if text is None:
            return None
        name, _, number = (":" + text if text.isdecimal() else text).partition(":")
        if number.isdecimal() and len(number) < 10:
            return name or known.get(int(number), ""), int(number)
        return name, next((each for each, other in known.items() if other == name), 1000)

    def _date(self, text: str, option: str) -> int:
        when = self._moment(text)
        if when != _NO_DATE * 1_000_000_000 and not text.startswith(("/", ".")):
            shown = format_date(when, "%Y-%m-%d %H:%M:%S", self.ctx.env.get("TZ", ""))
            self.dates.append(f"Option {option}: Treating date '{text}' as {shown}")
        return when

    def _moment(self, text: str) -> int:
        from agentsandbox.commands._time.dates import (  # only --mtime needs them
            DateError,
            parse_date,
        )
        from agentsandbox.commands._time.times import nanoseconds

        if text.startswith(("/", ".")):
            try:
                return nanoseconds(self.ctx.fs.stat(self.ctx.path(text)).mtime)
            except OSError as error:
                raise CommandError(
                    f"{text}: Cannot stat: {error.strerror}\ntar: {_FATAL}", 2
                ) from None
        try:
            return parse_date(text, self.ctx.host.clock(), self.ctx.env.get("TZ", ""))
        except DateError:
            self.ctx.warn(
                f"Substituting {_NO_DATE} for unknown date format {quote(text)}", self.ctx.status
            )
            return _NO_DATE * 1_000_000_000

    def choice(self) -> Choice:
        return Choice(
            [operand.name for operand in self.operands],
            wildcards=self.wildcards is True,
            anchored=self.anchored_choice,
            ignore_case=self.ignore_case,
            alone=frozenset(
                [at for at, operand in enumerate(self.operands) if not operand.recursive]
            ),
        )

    def extraction(self) -> ExtractionOptions:
        args = self.args
        made = ExtractionOptions(self.transformation)
        made.absolute = args.flag("absolute-names")
        made.keep_mtime = not args.flag("touch")
        made.permissions = (
            args.last("preserve-permissions", "no-same-permissions") == "preserve-permissions"
        )
        made.to_stdout = args.flag("to-stdout")
        policy = args.last(*_EXISTING)
        made.existing = _EXISTING[policy] if policy is not None else "replace"
        made.unlink_first = made.existing == "replace" and args.flag("unlink-first")
        made.keep_links = args.flag("keep-directory-symlink")
        made.keep_directories = args.flag("no-overwrite-dir")
        made.warn = self.warn
        strip = args.value("strip-components")
        if strip is not None:
            if not strip.isdecimal() or len(strip) > 6:
                raise UsageError(f"{strip}: Invalid number of elements", 2)
            made.strip = int(strip)
        top = args.value("one-top-level")
        if top is not None:
            made.one_directory = top or re.sub(
                r"(\.tar)?\.[A-Za-z0-9]+$", "", posixpath.basename(self.archive)
            )
        return made


_SETTERS: dict[str, tuple[str, bool]] = {
    "anchored": ("anchored", True),
    "no-anchored": ("anchored", False),
    "wildcards": ("wildcards", True),
    "no-wildcards": ("wildcards", False),
    "ignore-case": ("ignore_case", True),
    "no-ignore-case": ("ignore_case", False),
    "wildcards-match-slash": ("match_slash", True),
    "no-wildcards-match-slash": ("match_slash", False),
    "recursion": ("recursive", True),
    "no-recursion": ("recursive", False),
    "null": ("null", True),
}
