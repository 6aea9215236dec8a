"""`grep` (POSIX 1003.1-2017, GNU grep 3.8): print lines that match patterns.

Every file can be searched by `FileSearch`. Most calls of `grep -r`, however, visit many small files
of which few match, and there the work for each file would cost more than the search. So there are
three shortcuts, all with the same output:

* A text that every match contains (`LineSearch.needle`) rules out most files by one `bytes.find`.
* `_quick_file` handles a small file whose contents are at hand, without opening it.
* `FileBatch` joins small files and searches all of them as one text.
"""

from __future__ import annotations

import stat
from itertools import compress

from agentsandbox.commands._text.choices import choose
from agentsandbox.commands.grep.file_filters import FileFilter
from agentsandbox.commands.grep.line_report import FileSearch, Report, copy_lines
from agentsandbox.commands.grep.options import (
    DIRECTORIES,
    LONG_OPTIONS,
    PARSER,
    SMALL,
    USAGE,
    read_length,
    read_number,
)
from agentsandbox.contract.command import (
    Arguments,
    Command,
    CommandContext,
    command,
    describe_os_error,
)
from agentsandbox.contract.manners import Manners
from agentsandbox.errors import CommandError, UsageError
from agentsandbox.kernel.fs.base import File
from agentsandbox.kernel.regexps import RegexError
from agentsandbox.kernel.regexps.lines import LineSearch, compile_search
from agentsandbox.kernel.streams import BytesReader, bytewise, decode, encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from agentsandbox.commands.grep.file_batch import FileBatch
    from agentsandbox.kernel.streams import ByteReader

    _Entry = tuple[str, int, bytes | None]

_MATCHERS = {"extended-regexp": "E", "fixed-strings": "F", "basic-regexp": "G", "perl-regexp": "P"}
_SMALL_FILE = 1 << 18
_GROUP = 256
_GATHERED = {stat.S_IFREG, stat.S_IFDIR, stat.S_IFLNK}


def run_grep(ctx: CommandContext, words: list[str], matcher: str | None = None) -> int:
    """Run grep with these words; `matcher` is the default of egrep or fgrep."""
    if "--help" in (words[: words.index("--")] if "--" in words else words):
        ctx.stdout.write(encode(USAGE.lstrip("\n")))
        return 0
    try:
        args = PARSER.parse(words, posix="POSIXLY_CORRECT" in ctx.env)
        if args.flag("version"):
            ctx.print("grep (GNU grep) 3.8")
            return 0
        return _Grep(ctx, args, matcher).run()
    except _HelpWanted:
        ctx.stdout.write(encode(USAGE.lstrip("\n")))
        return 0
    except UsageError as error:
        message = f"{ctx.name}: {error.message}\n" if error.message else ""
        usage = "Usage: grep [OPTION]... PATTERNS [FILE]...\n"
        ctx.stderr.write(encode(f"{message}{usage}Try '{ctx.name} --help' for more information.\n"))
        return error.status


class _HelpWanted(Exception):
    """An unknown --color, which grep answers with its help."""


class _Grep:
    """One run: the options, and the walk over the operands."""

    def __init__(self, ctx: CommandContext, args: Arguments, matcher: str | None) -> None:
        self.ctx = ctx
        self.args = args
        self.bytewise = ctx.is_bytewise()
        self.report = Report()
        self.report.bytewise = self.bytewise
        self.filter = FileFilter()
        self.directories = "read"
        self.follow = False
        self.failed = False
        self.found = False
        self.silent = args.flag("no-messages")
        self._read_options()
        self.search = self._compile(matcher)
        self._quick: Callable[[str, bytes], bool] | None = None
        self._batch: FileBatch | None = None

    # options

    def _read_options(self) -> None:
        args, report = self.args, self.report
        report.invert = args.flag("invert-match")
        report.count = args.flag("count")
        report.quiet = args.flag("quiet")
        report.only_matching = args.flag("only-matching")
        report.line_numbers = args.flag("line-number")
        report.byte_offsets = args.flag("byte-offset")
        report.initial_tab = args.flag("initial-tab")
        report.null_names = args.flag("null")
        report.null_lines = args.flag("null-data")
        listing = args.last("files-with-matches", "files-without-match")
        report.list_files = None if listing is None else listing == "files-with-matches"
        self._read_binary()
        self._read_context()
        self._read_files()
        self._read_color()
        limit = args.value("max-count")
        if limit is not None:
            report.max_count = read_number(limit, "invalid max count")
            if report.max_count < 0:
                report.max_count = None

    def _read_binary(self) -> None:
        for key, value in self.args.given:
            if key == "text":
                self.report.binary = "text"
            elif key == "I":
                self.report.binary = "without-match"
            elif key == "binary-files":
                self.report.binary = value or ""

    def _read_context(self) -> None:
        args, report = self.args, self.report
        values: dict[str, int] = {}
        for key, value in args.given:
            if key in ("context", "before-context", "after-context"):
                values[key] = read_length(value or "")
        both = values.get("context", 0)
        report.before = values.get("before-context", both)
        report.after = values.get("after-context", both)
        report.context = bool(values)
        if report.count or report.quiet or report.list_files is not None:  # no line is printed
            report.before = report.after = 0
        for key, value in args.given:
            if key == "group-separator":
                report.separator = value
            elif key == "no-group-separator":
                report.separator = None

    def _read_files(self) -> None:
        for key, value in self.args.given:
            if key == "recursive":
                self.directories = "recurse"
            elif key == "dereference-recursive":
                self.directories, self.follow = "recurse", True
            elif key == "directories":
                self.directories = choose(value or "", "--directories", DIRECTORIES)
            elif key in ("include", "exclude"):
                self.filter.add(value or "", include=key == "include")
            elif key == "exclude-dir":
                self.filter.add_directory(value or "")

    def _read_color(self) -> None:
        when = next((value for name, value in reversed(self.args.given) if name == "color"), None)
        if when in ("always", "yes", "force"):
            self.report.painted = True
        elif when not in (None, "auto", "tty", "if-tty", "never", "no", "none"):
            raise _HelpWanted

    def _lines_of(self, name: str) -> list[str]:
        """Return the lines of a file of patterns."""
        try:
            source = self.ctx.open_input(name)
            data = source.read()
            while more := source.read():
                self.ctx.budget.charge(len(data) + len(more))
                data += more
        except OSError as error:
            raise CommandError(f"{name}: {describe_os_error(error, '')}", 2) from None
        return decode(data).removesuffix("\n").split("\n") if data else []

    # patterns

    def _patterns(self) -> list[str]:
        patterns: list[str] = []
        given = False
        for key, value in self.args.given:
            if key == "regexp":
                patterns.extend((value or "").split("\n"))
                given = True
            elif key == "file":
                patterns.extend(self._lines_of(value or ""))
                given = True
        if not given:
            if not self.args.operands:
                raise UsageError("", 2)
            patterns = self.args.operands.pop(0).split("\n")
        return patterns

    def _compile(self, matcher: str | None) -> LineSearch | None:
        """Return the search, or None if a file of patterns was empty: then nothing matches."""
        args = self.args
        chosen = matcher
        for key, _ in args.given:
            if key in _MATCHERS:
                if chosen is not None and chosen != _MATCHERS[key]:
                    raise CommandError("conflicting matchers specified", 2)
                chosen = _MATCHERS[key]
        patterns = self._patterns()
        if not patterns:
            return None
        if self.bytewise:
            patterns = [bytewise(pattern) for pattern in patterns]
        folding = args.last("ignore-case", "no-ignore-case")
        try:
            search = compile_search(
                patterns,
                chosen or "G",
                self.ctx.budget,
                ignore_case=folding == "ignore-case",
                whole_words=args.flag("word-regexp"),
                whole_lines=args.flag("line-regexp"),
                null_lines=args.flag("null-data"),
                bytewise=self.bytewise,
            )
        except RegexError as error:
            raise CommandError(error.message, 2) from None
        for warning in search.warnings:
            self.ctx.stderr.write(encode(f"{self.ctx.name}: warning: {warning}\n"))
        return search

    # files

    def run(self) -> int:
        """Search the operands; return the exit status."""
        args, report = self.args, self.report
        whole = args.flag("word-regexp") or args.flag("line-regexp")
        nothing = (report.invert and self._matches_all() and not whole) or (
            self.search is None and not report.invert
        )
        if (report.max_count == 0 or nothing) and report.list_files is not False:
            return 1
        recurse = self.directories == "recurse"
        operands = args.operands or (["."] if recurse else ["-"])
        shown = args.last("with-filename", "no-filename")
        report.with_filename = (
            len(operands) > 1 or recurse if shown is None else shown == "with-filename"
        )
        if shown is None and recurse and len(operands) == 1 and not self._is_directory(operands[0]):
            report.with_filename = False
        self._quick = self._quick_file(many=recurse or len(operands) > 1)
        for names, contents in self._groups(operands):
            if self._batch is not None and self._batch.extend("", names, contents):
                continue
            if self._search_group(names, contents, implicit=not args.operands):
                break
        self._flush()
        if self.failed and not (report.quiet and self.found):
            return 2
        return 0 if self.found else 1

    def _search_group(
        self, names: list[str], contents: list[bytes | None], *, implicit: bool
    ) -> bool:
        """Search some operands one by one; return whether -q has its answer."""
        for operand, data in zip(names, contents, strict=True):
            if data is None or self._quick is None:
                selected = self._operand(operand, implicit=implicit)
            else:
                selected = self._quick(operand, data)
            if selected and self.report.quiet:
                return True
        return False

    def _groups(self, operands: Sequence[str]) -> Iterator[tuple[list[str], list[bytes | None]]]:
        """Yield the operands in groups, and the contents of those that are small files."""
        if (
            self._quick is None
            or len(operands) < 2
            or not self.filter.is_empty()
            or "-" in operands
            or "" in operands
        ):
            yield list(operands), [None] * len(operands)
            return
        for start in range(0, len(operands), _GROUP):
            group = list(operands[start : start + _GROUP])
            self.ctx.budget.step(len(group) // 4)
            yield group, self.ctx.at_hand(group)

    def _matches_all(self) -> bool:
        """Whether the only pattern is empty."""
        return self.search is not None and [
            regex.pattern_source for regex in self.search.regexes
        ] == [""]

    def _is_directory(self, operand: str) -> bool:
        return operand != "-" and operand != "" and self.ctx.fs.is_dir(self.ctx.path(operand))

    def _operand(self, operand: str, *, implicit: bool) -> bool:
        """Search one operand; return whether a line was selected."""
        ctx = self.ctx
        if operand == "-":
            self._flush()
            name = self.args.value("label", "(standard input)") or ""
            return not self._refuses(ctx.stdin, name) and self._stream(ctx.stdin, name)
        try:
            path = ctx.path(operand)
            info = ctx.fs.stat(path)
            if info.is_dir:
                if self.directories == "recurse":
                    entered = implicit or self.filter.enters(operand, operand=True)
                    return entered and self._tree(operand, path, implicit=implicit)
                if self.directories == "skip":
                    return False
            elif not self.filter.admits(operand, operand=True):
                return False
            if (
                self._quick is not None
                and info.is_file
                and (info.size <= _SMALL_FILE or self._batch is not None)
            ):
                return self._quick(operand, ctx.fs.read_bytes(path))
            return self._file(operand, path)
        except OSError as error:
            self._complain(error, operand)
            return isinstance(error, IsADirectoryError) and self._account(0, operand)

    def _flush(self) -> None:
        """Search the files in the batch, before anything else is written."""
        if self._batch is not None:
            self.found |= self._batch.flush()

    def _complain(self, error: OSError, name: str) -> None:
        self._flush()
        self.failed = True
        if not self.silent:
            self.ctx.stderr.write(
                encode(f"{self.ctx.name}: {name}: {describe_os_error(error, '')}\n")
            )

    def _tree(self, operand: str, path: str, *, implicit: bool) -> bool:
        """Search all files below a directory, in the order of their names."""
        fs = self.ctx.fs
        quick = self._quick
        needle = self._needle() if quick is not None else b""
        found = False
        pending = [
            (
                "" if implicit else operand if operand.endswith("/") else f"{operand}/",
                path,
                frozenset[int](),
            )
        ]
        while pending:
            shown, here, above = pending.pop()
            if self.follow:
                number = fs.stat(here).ino
                if number in above:
                    self._warn_of_loop(shown.rstrip("/"))
                    continue
                above = above | {number}
            try:
                names, kinds, contents = fs.contents(here)
            except OSError as error:
                self._complain(error, shown.rstrip("/") or ".")
                continue
            base = "" if here == "/" else here
            if (entered := self._gather(shown, names, kinds, contents, needle)) is not None:
                pending.extend(
                    [(f"{shown}{name}/", f"{base}/{name}", above) for name in reversed(entered)]
                )
                continue
            deeper = []
            for name, kind, data in self._worth_reading(names, kinds, contents, needle):
                full, child = shown + name, f"{base}/{name}"
                if kind == stat.S_IFLNK:
                    if not self.follow:
                        continue
                    try:
                        kind = stat.S_IFMT(fs.stat(child).mode)
                    except OSError as error:
                        if self.filter.admits(full):
                            self._complain(error, full)
                        continue
                if kind == stat.S_IFDIR:
                    if self.filter.enters(full):
                        deeper.append((f"{full}/", child, above))
                elif kind == stat.S_IFREG and self.filter.admits(full):
                    try:
                        if quick is not None:
                            found |= quick(full, fs.read_bytes(child) if data is None else data)
                        else:
                            found |= self._file(full, child)
                    except OSError as error:
                        self._complain(error, full)
                    if found and self.report.quiet:
                        return True
            pending.extend(reversed(deeper))
        return found

    def _warn_of_loop(self, name: str) -> None:
        self._flush()
        message = f"{self.ctx.name}: {name}: warning: recursive directory loop\n"
        self.ctx.stderr.write(encode(message))

    def _gather(
        self,
        shown: str,
        names: list[str],
        kinds: list[int],
        contents: list[bytes | None],
        needle: bytes,
    ) -> list[str] | None:
        """Add the files of a directory to the batch; return the directories to enter.

        Return None, and add nothing, if an entry needs more than a look at its name and contents.
        """
        if self._batch is None:
            return None
        self.ctx.budget.step(len(names))
        entered: list[str] = []
        if self.filter.names_files or kinds.count(stat.S_IFREG) < len(kinds):
            found = set(kinds)
            if not found <= _GATHERED or (self.follow and stat.S_IFLNK in found):
                return None
            enters = self.filter.enters
            entered = [
                name
                for name, kind in zip(names, kinds, strict=True)
                if kind == stat.S_IFDIR and enters(shown + name)
            ]
            wanted = [kind == stat.S_IFREG for kind in kinds]
            if self.filter.names_files:
                if needle:  # cheaper to test than the name
                    wanted = [data is None or data.find(needle) >= 0 for data in contents]
                wanted = [
                    worth and kind == stat.S_IFREG and self.filter.admits(name)
                    for worth, kind, name in zip(wanted, kinds, names, strict=True)
                ]
            names, contents = list(compress(names, wanted)), list(compress(contents, wanted))
        return entered if self._batch.extend(shown, names, contents) else None

    def _worth_reading(
        self, names: list[str], kinds: list[int], contents: list[bytes | None], needle: bytes
    ) -> Iterator[_Entry]:
        """Yield the entries of a directory but for small files without `needle`."""
        for start in range(0, len(names), _GROUP):
            group = range(start, min(start + _GROUP, len(names)))
            self.ctx.budget.step(len(group))
            for at in group:
                data = contents[at]
                if not needle or data is None or len(data) > SMALL or data.find(needle) >= 0:
                    yield names[at], kinds[at], data

    def _file(self, name: str, path: str) -> bool:
        """Open and search one file. Raises `OSError`."""
        source = self.ctx.fs.open(path, "r")
        try:
            self._flush()
            return not self._refuses(source, name) and self._stream(source, name)
        finally:
            source.release()

    def _needle(self) -> bytes:
        """Return bytes without which nothing is printed about a file, or b""."""
        report, search = self.report, self.search
        if search is None or report.invert or report.count or report.list_files is False:
            return b""
        return search.needle

    def _quick_file(self, *, many: bool) -> Callable[[str, bytes], bool] | None:
        """Return a function that does the same as `_file` for a small file that has been read.

        All that the options decide is decided here, once. Return None if they admit no shortcut.
        """
        ctx, report, search = self.ctx, self.report, self.search
        if search is None or report.null_lines or isinstance(ctx.stdout, File):
            return None
        write, step = ctx.stdout.write, ctx.budget.step
        needle, selective, may_match = search.needle, bool(self._needle()), search.may_match
        literal = bool(needle) and len(search.plain) == 1
        copies = literal and report.lines_only
        tests = report.only_first and not report.invert and report.binary != "without-match"
        test = search.quick_test() if tests and not literal else None
        named, numbered = report.with_filename, report.line_numbers
        mark = b"\0" if report.null_names else b":"

        def run(name: str, data: bytes) -> bool:
            step(1 + (len(data) >> 12))
            if selective and not may_match(data):
                return False
            if tests and literal:
                return self._account(needle in data, name)
            if len(data) > _SMALL_FILE:
                return self._stream(BytesReader(data), name)
            if (
                test is not None
                and len(data) <= search.quick_size
                and data.isascii()
                and b"\0" not in data
            ):
                return self._account(test(data) is not None, name)
            if copies and data.isascii() and b"\0" not in data:
                write(
                    copy_lines(
                        data, needle, encode(name) + mark if named else b"", numbered=numbered
                    )
                )
                self.found = True
                return True
            return self._account(FileSearch(ctx, search, report, name).run_data(data), name)

        counted = report.count and not (
            report.invert or report.only_first or report.max_count is not None
        )
        listed = report.list_files is not None and not (report.invert or report.quiet)
        if not many or report.bytewise or not (counted or listed or report.lines_only):
            return run
        from agentsandbox.commands.grep.file_batch import FileBatch

        batch = self._batch = FileBatch(ctx, search, report, run)

        def gather(name: str, data: bytes) -> bool:
            if len(data) <= SMALL:
                batch.add(name, data)
                return False
            batch.flush()
            return run(name, data)

        return gather

    def _refuses(self, source: ByteReader, name: str) -> bool:
        """Whether the input is the output, so that its end might never come; reports it."""
        report, out = self.report, self.ctx.stdout
        prints_lines = not (report.only_first or report.count or report.max_count == 1)
        if not (prints_lines and isinstance(out, File) and isinstance(source, File)):
            return False
        try:
            ours, theirs = source.stat(), out.stat()
        except OSError:
            return False
        if not (ours.is_file and theirs.is_file and ours.ino == theirs.ino):
            return False
        self.failed = True
        if not self.silent:
            self.ctx.warn(f"{name}: input file is also the output", 2)
        return True

    def _stream(self, source: ByteReader, name: str) -> bool:
        report = self.report
        selected = 0
        if self.search is not None:
            selected = FileSearch(self.ctx, self.search, report, name).run(source)
        elif report.invert:
            selected = FileSearch(
                self.ctx,
                LineSearch([], [], self.ctx.budget, null_lines=report.null_lines),
                report,
                name,
            ).run(source)
        return self._account(selected, name)

    def _account(self, selected: int, name: str) -> bool:
        """Print what is asked about a whole file; return whether lines were selected."""
        report = self.report
        self.found = self.found or selected > 0
        if report.quiet:
            return selected > 0
        if report.list_files is not None:
            if report.list_files == (selected > 0):
                self.ctx.stdout.write(encode(report.name_line(name)))
        elif report.count:
            self.ctx.stdout.write(encode(report.count_line(name, selected)))
        return selected > 0


@command(
    "grep",
    manners=Manners(
        pure=True,
        long_options=LONG_OPTIONS,
        checks_output=True,
        read_error=("NAME: (standard input): REASON", 2),
        write_error=("NAME: write error: REASON", 2),
    ),
    usage=USAGE,
    raw=True,
    usage_status=2,
)
def grep(ctx: CommandContext, args: Arguments) -> int:
    return run_grep(ctx, args.operands)


def _variant(name: str, matcher: str) -> Command:
    @command(
        name,
        usage=USAGE.replace("Usage: grep", f"Usage: {name}", 1),
        raw=True,
        usage_status=2,
        manners=grep.manners,
    )
    def run(ctx: CommandContext, args: Arguments) -> int:
        ctx.name = "grep"
        return run_grep(ctx, args.operands, matcher)

    return run


egrep = _variant("egrep", "E")
fgrep = _variant("fgrep", "F")
