"""`rg` (ripgrep 13): search a tree for lines that match, but not ignored, hidden and binary files.

`Walk` finds the files, `compile_patterns` makes the search, `RgReport` and `RgSearch` print what
is found.
"""

from __future__ import annotations

import errno

from agentsandbox.commands.grep.file_types import FILE_TYPES
from agentsandbox.commands.grep.rg_encodings import as_utf8
from agentsandbox.commands.grep.rg_patterns import compile_patterns
from agentsandbox.commands.grep.rg_report import RgReport, RgSearch
from agentsandbox.commands.grep.rg_walk import Walk
from agentsandbox.contract.command import Arguments, CommandContext, command, describe_os_error
from agentsandbox.contract.manners import SILENT, Manners
from agentsandbox.errors import CommandError, UsageError
from agentsandbox.kernel.fs.base import File
from agentsandbox.kernel.streams import BytesReader, Pipe, PipeReader, encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from agentsandbox.kernel.regexps.lines import LineSearch
    from agentsandbox.kernel.streams import ByteReader

_ORDERS = ("modified", "none", "path")


def _check_names(words: Sequence[str]) -> Sequence[str]:
    """Refuse long options that are not written in full."""
    known = rg.parser().long
    for word in words:
        if word == "--":
            break
        if word.startswith("--") and word[2:].partition("=")[0] not in known:
            raise UsageError(f"unrecognized option '{word}'", 2)
    return words


@command(
    "rg",
    manners=Manners(write_error=SILENT),
    usage="""
    Usage: rg [OPTION]... PATTERN [PATH]...
      or:  rg [OPTION]... -e PATTERN... [PATH]...
      or:  rg [OPTION]... --files [PATH]...
    Search the lines of each PATH, of the working directory by default, for a regular expression.

    Patterns:
      -e, --regexp=PATTERN        search for PATTERN; may be repeated
      -f, --file=FILE             search for the patterns in FILE, one a line
      -F, --fixed-strings         patterns are plain strings
      -i, --ignore-case           ignore case
      -S, --smart-case            ignore case unless a pattern has an upper-case letter
      -s, --case-sensitive        do not ignore case
      -v, --invert-match          print the lines that do not match
      -w, --word-regexp           match whole words only
      -x, --line-regexp           match whole lines only
      -P, --pcre2                 patterns of Perl's kind: look-around and back-references work
      --unicode                   classes such as \\w know all of Unicode (the default)

    Files:
      -g, --glob=GLOB             search files that match GLOB, or leave out those of !GLOB
      --iglob=GLOB                the same, ignoring case
      -t, --type=TYPE             search only files of TYPE
      -T, --type-not=TYPE         leave out files of TYPE
      --type-list                 print the types and exit
      -., --hidden                search hidden files too
      --no-hidden                 do not
      --no-ignore                 do not read ignore files
      --no-ignore-vcs             do not read .gitignore
      -u, --unrestricted          --no-ignore; twice: --hidden too; three times: --binary too
      --binary                    search binary files too
      -a, --text                  search binary files as if they were text
      -L, --follow                follow symbolic links
      -d, --max-depth=NUM         go down at most NUM directories
      --files                     print the files that would be searched
      --sort=KEY                  by path (the default), by modified time, or none
      --sortr=KEY                 the same, backwards
      --no-require-git            read .gitignore outside of repositories too
      -j, --threads=NUM           (changes nothing: files are searched one after the other)
      --no-messages               say nothing about files that cannot be read

    Output:
      -c, --count                 print only the number of matching lines of each file
      --count-matches             print only the number of matches of each file
      -l, --files-with-matches    print only the names of files with matches
      --files-without-match       print only the names of files without matches
      -n, --line-number           print line numbers
      -N, --no-line-number        print none (the default)
      -H, --with-filename         print file names
      -I, --no-filename           print none
      -o, --only-matching         print only what matches
      -r, --replace=TEXT          print TEXT in the place of each match; $1 or ${name} is a group
      -A, --after-context=NUM     print NUM lines after each match
      -B, --before-context=NUM    print NUM lines before each match
      -C, --context=NUM           print NUM lines before and after
      --context-separator=SEP     print SEP between groups of lines
      --no-context-separator      print nothing between groups of lines
      -m, --max-count=NUM         stop after NUM matching lines of each file
      --no-heading                print names before each line (always so here)
      -M, --max-columns=NUM       do not print lines longer than NUM bytes
      --line-buffered             write each line at once (always so here)
      -0, --null                  print a 0 byte after file names
      --color=WHEN                never or auto, which is the same here
      -q, --quiet                 print nothing, exit at the first match
      --no-config                 read no configuration (there is none)
      -V, --version               print the version and exit
      -h, --help                  display this help and exit
    """,
    usage_status=2,
    rewrite=_check_names,
)
def rg(ctx: CommandContext, args: Arguments) -> int:
    if args.flag("version"):
        ctx.print("ripgrep 13.0.0")
        return 0
    try:
        return _Rg(ctx, args).run()
    except UsageError:
        raise
    except CommandError as error:
        # the messages of rg do not begin with its name
        ctx.stderr.write(encode(f"{error.message}\n" if error.message else ""))
        return error.status


class _Rg:
    """One run."""

    def __init__(self, ctx: CommandContext, args: Arguments) -> None:
        self.ctx = ctx
        self.args = args
        self.failed = False
        self.found = False
        self.walk = Walk(ctx, self._complain)
        self.report = RgReport()
        self.backwards = False

    def run(self) -> int:
        """Return the exit status: 0 for a match, 1 for none, 2 after an error."""
        args = self.args
        when = args.value("color", "never") or ""
        if when not in ("auto", "never"):
            raise UsageError(f"--color={when} is not available here: never or auto")
        self._read_types()
        if args.flag("type-list"):
            for name in sorted(FILE_TYPES):
                self.ctx.print(f"{name}: {', '.join(sorted(FILE_TYPES[name]))}")
            return 0
        self._read_walk()
        self._read_report()
        if args.flag("files"):
            return self._list_files()
        search = compile_patterns(self.ctx, args, self.report)
        paths = args.operands or [""]
        if not args.operands and _is_piped(self.ctx.stdin):
            paths = ["-"]
        self._read_names(paths)
        for path in paths:
            if self._operand(path, search) and self.report.quiet:
                break
        if self.failed and not (self.report.quiet and self.found):
            return 2
        return 0 if self.found else 1

    def _complain(self, error: OSError, name: str) -> None:
        self.failed = True
        self.ctx.budget.step(10)
        if not self.args.flag("no-messages"):
            number = f" (os error {error.errno})" if error.errno else ""
            if (
                error.errno == errno.ENOENT
                and self.args.value(self.args.last("sort", "sortr") or "", "none") != "none"
            ):
                name = f"{name}: IO error for operation on {name}"
            self.ctx.stderr.write(encode(f"{describe_os_error(error, name)}{number}\n"))

    # options

    def _read_types(self) -> None:
        for key in ("type", "type-not"):
            for name in self.args.values(key):
                if name != "all" and name not in FILE_TYPES:
                    raise CommandError(f"unrecognized file type: {name}", 2)
                for each in FILE_TYPES if name == "all" else [name]:
                    self.walk.add_type(FILE_TYPES[each], wanted=key == "type")

    def _read_walk(self) -> None:
        args, walk = self.args, self.walk
        unrestricted = sum(key == "unrestricted" for key, _ in args.given)
        walk.ignore_files = not (args.flag("no-ignore") or unrestricted)
        walk.git_ignore = not args.flag("no-ignore-vcs")
        walk.needs_git = not args.flag("no-require-git")
        walk.hidden = args.last("hidden", "no-hidden") == "hidden" or unrestricted > 1
        walk.follow = args.flag("follow")
        depth = args.value("max-depth")
        walk.max_depth = None if depth is None else self._number("max-depth")
        for key, value in args.given:
            if key in ("glob", "iglob"):
                walk.add_glob(value or "", ignore_case=key == "iglob")
        self._read_order()
        if args.flag("text"):
            self.binary = "text"
        else:
            searched = args.flag("binary") or unrestricted > 2
            self.binary = "binary" if searched else "without-match"

    def _read_order(self) -> None:
        key = self.args.last("sort", "sortr")
        if key is None:
            return
        value = self.args.value(key) or ""
        if value not in _ORDERS:
            message = f"error: '{value}' isn't a valid value for '--{key} <SORTBY>'"
            raise CommandError(f"{message}\n\t[possible values: {', '.join(_ORDERS)}]", 2)
        self.walk.by_time = value == "modified"
        self.walk.newest_first = self.walk.by_time and key == "sortr"
        self.backwards = key == "sortr" and value == "path"

    def _number(self, key: str) -> int:
        value = self.args.value(key) or ""
        if not value.isascii() or not value.isdigit() or len(value) > 12:
            raise CommandError(
                f"error: Invalid value for '--{key} <NUM>': invalid digit found in string", 2
            )
        return int(value)

    def _read_report(self) -> None:
        args, report = self.args, self.report
        report.invert = args.flag("invert-match")
        counted = args.last("count", "count-matches")
        report.count_matches = counted == "count-matches" or (
            counted is not None and args.flag("only-matching")
        )
        report.count = counted == "count"
        if counted == "count-matches" and report.invert:
            report.count, report.count_matches = True, False
        report.quiet = args.flag("quiet")
        report.only_matching = args.flag("only-matching")
        report.line_numbers = args.last("line-number", "no-line-number") == "line-number"
        report.null_names = args.flag("null")
        report.replacement = args.value("replace")
        listing = args.last("files-with-matches", "files-without-match")
        report.list_files = (
            None if listing is None or counted is not None else listing == "files-with-matches"
        )
        both = self._number("context") if args.flag("context") else 0
        report.before = self._number("before-context") if args.flag("before-context") else both
        report.after = self._number("after-context") if args.flag("after-context") else both
        report.context = bool(report.before or report.after)
        if report.summarizes:
            report.before = report.after = 0
        if args.flag("max-count"):
            report.max_count = self._number("max-count")
        if args.flag("max-columns"):
            report.max_columns = self._number("max-columns") or None
        for key, value in args.given:
            if key == "context-separator":
                report.separator = value
            elif key == "no-context-separator":
                report.separator = None

    def _read_names(self, paths: list[str]) -> None:
        shown = self.args.last("with-filename", "no-filename")
        several = len(paths) > 1 or paths[0] == "" or self._is_directory(paths[0])
        self.report.with_filename = several if shown is None else shown == "with-filename"

    def _is_directory(self, operand: str) -> bool:
        return operand != "-" and (operand == "" or self.ctx.fs.is_dir(self.ctx.path(operand)))

    # files

    def _list_files(self) -> int:
        found = False
        end = "\0" if self.report.null_names else "\n"
        names: list[str] = []
        for operand in self.args.operands or [""]:
            if self._is_directory(operand):
                shown = "" if not operand else operand if operand.endswith("/") else f"{operand}/"
                names.extend([name for name, _ in self.walk.files(self._path(operand), shown)])
            elif self.ctx.fs.exists(self.ctx.path(operand)):
                names.append(operand)
            else:
                self._complain(FileNotFoundError(2, ""), operand)
        for name in reversed(names) if self.backwards else names:
            found = True
            self.ctx.print(name, end=end)
        return 2 if self.failed else 0 if found else 1

    def _path(self, operand: str) -> str:
        return self.ctx.path(operand) if operand else self.ctx.cwd

    def _operand(self, operand: str, search: LineSearch) -> bool:
        ctx = self.ctx
        if operand == "-" and ctx.stdin.unreadable:
            if ctx.stdin.unreadable == errno.EISDIR:
                self._complain(ctx.stdin.input_error(), "<stdin>")
            return False
        if operand == "-":
            return self._stream(as_utf8(ctx.stdin, ctx.budget), "<stdin>", search, explicit=True)
        if not self._is_directory(operand):
            return self._file(operand, ctx.path(operand), search, explicit=True)
        shown = "" if not operand else operand if operand.endswith("/") else f"{operand}/"
        files = self.walk.files(self._path(operand), shown)
        found = False
        for name, path in reversed(list(files)) if self.backwards else files:
            found |= self._file(name, path, search, explicit=False)
            if found and self.report.quiet:
                break
        return found

    def _file(self, name: str, path: str, search: LineSearch, *, explicit: bool) -> bool:
        try:
            source = self.ctx.fs.open(path, "r")
        except OSError as error:
            self._complain(error, name)
            return False
        try:
            plain = as_utf8(source, self.ctx.budget)
            return self._stream(plain, name, search, explicit=explicit)
        finally:
            source.release()

    def _stream(self, source: ByteReader, name: str, search: LineSearch, *, explicit: bool) -> bool:
        report = self.report
        report.binary = "binary" if explicit and self.binary == "without-match" else self.binary
        run = RgSearch(self.ctx, search, report, name)
        single = 0
        if report.count_matches:
            single = run.count_all(source)
            selected = run.selected or single
        else:
            selected = run.run(source)
        found = (selected > 0) is not (report.list_files is False)
        self.found = self.found or found
        if report.quiet or (run.saw_binary and not selected):
            return found
        if report.list_files is not None:
            if found:
                self.ctx.stdout.write(encode(report.name_line(name)))
        elif (report.count or report.count_matches) and selected:
            counted = single if report.count_matches else selected
            self.ctx.stdout.write(encode(report.count_line(name, counted)))
        return found


def _is_piped(source: ByteReader) -> bool:
    """Whether standard input is a pipe or a file: then rg searches it, and not the directory."""
    if isinstance(source, BytesReader):
        return source.position < len(source.data)
    if isinstance(source, File):
        try:
            return source.stat().is_file
        except OSError:
            return False
    return isinstance(source, (Pipe, PipeReader))
