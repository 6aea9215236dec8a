"""The patterns of `rg`, from its options and its first operand, as one search."""

from __future__ import annotations

import re

from agentsandbox.commands.grep.rg_multiline import WholeSearch, spans_lines
from agentsandbox.commands.grep.rg_syntax import (
    LineEndError,
    PatternError,
    refuse_line_ends,
    translate,
    with_unicode,
)
from agentsandbox.contract.command import describe_os_error
from agentsandbox.errors import CommandError, UsageError
from agentsandbox.kernel.regexps import RegexError, compile_perl
from agentsandbox.kernel.regexps.lines import LineSearch, compile_search
from agentsandbox.kernel.streams import decode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from agentsandbox.commands.grep.rg_report import RgReport
    from agentsandbox.contract.command import Arguments, CommandContext

_END_OF_LINE = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]])*\]|\$", re.DOTALL)
_META = re.compile(r"[\\^$.|?*+()\[\]{}]")
_NARROW = re.compile(r"\(\?[a-zA-Z]*-[a-zA-Z]*u")
"""The flag that makes classes those of ASCII."""
_NEWLINES = re.compile(r"\\P\{|\\p\{White_Space\}")
"""Classes that newlines belong to: lines are looked at one by one."""


def compile_patterns(ctx: CommandContext, args: Arguments, report: RgReport) -> LineSearch:
    """The search for what -e, -f or the first operand gives, which is taken away."""
    patterns: list[str] = []
    given = False
    for key, value in args.given:
        if key == "regexp":
            patterns.append(value or "")
            given = True
        elif key == "file":
            patterns.extend(_lines_of(ctx, value or ""))
            given = True
    if not given:
        if not args.operands:
            raise UsageError("The following required arguments were not provided: <PATTERN>")
        patterns = [args.operands.pop(0)]
    if not patterns:
        return LineSearch([], [], ctx.budget)
    case = args.last("ignore-case", "smart-case", "case-sensitive")
    fold = case == "ignore-case" or (
        case == "smart-case" and not any(_has_upper(pattern) for pattern in patterns)
    )
    try:
        return _compile(ctx, args, report, patterns, fold=fold)
    except RegexError as error:
        start = "PCRE2: error compiling pattern:" if args.flag("pcre2") else "error:"
        raise CommandError(f"{start} {error.message}", 2) from None


def _lines_of(ctx: CommandContext, name: str) -> list[str]:
    try:
        data = ctx.stdin.read() if name == "-" else ctx.fs.read_bytes(ctx.path(name))
    except OSError as error:
        raise CommandError(
            f"{describe_os_error(error, name)} (os error {error.errno})", 2
        ) from None
    return (
        [line.removesuffix("\r") for line in decode(data).removesuffix("\n").split("\n")]
        if data
        else []
    )


def _compile(
    ctx: CommandContext, args: Arguments, report: RgReport, patterns: list[str], *, fold: bool
) -> LineSearch:
    words, lines = args.flag("word-regexp"), args.flag("line-regexp")
    fixed, null_lines = args.flag("fixed-strings"), report.null_lines
    plain = fixed or not any(_META.search(pattern) for pattern in patterns)
    line_ends = (
        "" if report.multiline else "\0" if null_lines else "\n\r" if args.flag("crlf") else "\n"
    )
    if plain and not args.flag("pcre2"):
        refuse_line_ends("".join(patterns), line_ends)
    if report.multiline and plain:
        report.multiline = (
            lines or any("\n" in pattern for pattern in patterns) or args.flag("pcre2")
        )
    if plain and report.replacement is None and not report.multiline:
        found = compile_search(
            patterns,
            "F",
            ctx.budget,
            ignore_case=fold,
            whole_words=words,
            whole_lines=lines,
            null_lines=null_lines,
        )
        return found if all(patterns) else _with_empty_matches(found)
    whole = (
        "|".join([re.escape(pattern) for pattern in patterns])
        if plain
        else _translated(args, patterns, line_ends)
    )
    if args.flag("crlf") and not plain:
        whole = _END_OF_LINE.sub(lambda found: r"(?:\r??$)" if found[0] == "$" else found[0], whole)
    if report.multiline:
        dotall = args.flag("multiline-dotall")
        report.multiline = plain or lines or args.flag("pcre2") or spans_lines(whole, dotall=dotall)
        whole = f"(?s:{whole})" if dotall and not plain else whole
        whole = f"^(?:{whole})$" if lines else whole
    wide = (
        whole
        if plain or any(_NARROW.search(pattern) for pattern in patterns)
        else with_unicode(whole, whole_words=words)
    )

    def search_for(source: str, *, whole_words: bool) -> LineSearch:
        if report.multiline:
            source = (
                f"(?<![0-9A-Za-z_])(?:{source})(?![0-9A-Za-z_])"
                if whole_words and not lines
                else source
            )
            return WholeSearch(
                [compile_perl(source, ignore_case=fold, line_anchors=True, repeats_places=True)],
                [],
                ctx.budget,
            )
        found = compile_search(
            [source],
            "P",
            ctx.budget,
            ignore_case=fold,
            whole_words=whole_words,
            whole_lines=lines,
            null_lines=null_lines,
            repeats_places=True,
        )
        found = _with_empty_matches(found)
        found.dense = found.dense or _NEWLINES.search(source) is not None
        return found

    narrow = search_for(whole, whole_words=words)
    return narrow if wide == whole else _EitherSearch(narrow, search_for(wide, whole_words=False))


def _with_empty_matches(search: LineSearch) -> LineSearch:
    return _AllMatches(search.regexes, search.plain, search.budget, null_lines=search.end == "\0")


def _translated(args: Arguments, patterns: list[str], line_ends: str) -> str:
    """The patterns as Perl writes them: those of PCRE2 are that already."""
    whole = "|".join(patterns)
    if args.flag("pcre2"):
        return "|".join([f"(?:{pattern})" for pattern in patterns]) if len(patterns) > 1 else whole
    try:
        return translate(whole, line_ends)
    except (PatternError, LineEndError):
        if args.flag("line-regexp"):  # the real one shows what -x makes of them
            translate("|".join([f"^(?:{pattern})$" for pattern in patterns]), line_ends)
        raise


class _AllMatches(LineSearch):
    """Empty matches count, but directly after another match."""

    def spans(self, line: str) -> Iterator[tuple[int, int]]:
        position, last = 0, -1
        budget = self.budget
        while position <= len(line):
            budget.step()
            places = [
                found.span()
                for regex in self.regexes
                if (found := regex.search(line, position, budget)) is not None
            ]
            if not places:
                return
            start, end = min(places, key=lambda place: (place[0], -place[1]))
            if start < end or end != last:
                yield start, end
                last = end
            position = end if end > start else end + 1


class _EitherSearch(LineSearch):
    """One search for text in ASCII, another for other text: classes that know Unicode take more
    time.
    """

    def __init__(self, narrow: LineSearch, wide: LineSearch) -> None:
        super().__init__(narrow.regexes, narrow.plain, narrow.budget, null_lines=narrow.end == "\0")
        self._narrow = narrow
        self._wide = wide

    def of(self, text: str) -> LineSearch:
        """The search for a text."""
        return self._narrow if text.isascii() else self._wide

    def test(self, line: str) -> bool:
        return self.of(line).test(line)

    def spans(self, line: str) -> Iterator[tuple[int, int]]:
        return self.of(line).spans(line)

    def places(self, text: str) -> list[tuple[int, int]]:
        return self.of(text).places(text)


def _has_upper(pattern: str) -> bool:
    """Whether a pattern has an upper-case letter that is not part of an escape."""
    return any(character.isupper() for character in re.sub(r"\\.", "", pattern))
