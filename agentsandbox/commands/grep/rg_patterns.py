"""The patterns of `rg`, from its options and its first operand, as one search.

Plain strings go to the search for fixed strings. Other patterns are translated from Rust's syntax
to Perl's and joined by "|". Classes such as \\w know all of Unicode, and such classes are slow. So
there are two searches, one for lines in ASCII and one for other lines (`_EitherSearch`).
"""

from __future__ import annotations

import re

from agentsandbox.commands.grep.rg_syntax import refuse_newlines, translate, with_unicode
from agentsandbox.contract.command import describe_os_error
from agentsandbox.errors import CommandError, UsageError
from agentsandbox.kernel.expressions import lazily
from agentsandbox.kernel.regexps import RegexError
from agentsandbox.kernel.regexps.lines import LineSearch, compile_search
from agentsandbox.kernel.streams import decode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from agentsandbox.commands.grep.rg_report import RgReport
    from agentsandbox.contract.command import Arguments, CommandContext

_META = lazily(r"[\\^$.|?*+()\[\]{}]")
_NARROW = lazily(r"\(\?[a-zA-Z]*-[a-zA-Z]*u")
"""A flag that limits classes to ASCII."""
_NEWLINES = lazily(r"\\P\{|\\p\{White_Space\}")
"""Classes with newlines in them: each line must be searched on its own."""


def compile_patterns(ctx: CommandContext, args: Arguments, report: RgReport) -> LineSearch:
    """Return the search for the patterns of -e and -f, or for the first operand (removed)."""
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
        message = f"{describe_os_error(error, name)} (os error {error.errno})"
        raise CommandError(message, 2) from None
    lines = decode(data).removesuffix("\n").split("\n") if data else []
    return [line.removesuffix("\r") for line in lines]


def _compile(
    ctx: CommandContext, args: Arguments, report: RgReport, patterns: list[str], *, fold: bool
) -> LineSearch:
    words, lines = args.flag("word-regexp"), args.flag("line-regexp")
    pcre2 = args.flag("pcre2")
    plain = args.flag("fixed-strings") or not any(_META.search(pattern) for pattern in patterns)
    if plain and not pcre2:
        refuse_newlines("".join(patterns))
    if plain and report.replacement is None:
        found = compile_search(
            patterns, "F", ctx.budget, ignore_case=fold, whole_words=words, whole_lines=lines
        )
        return found if all(patterns) else _with_empty_matches(found)
    if plain:
        whole = "|".join([re.escape(pattern) for pattern in patterns])
    elif not pcre2:
        # errors show the pattern as -x makes it
        whole_patterns = [f"^(?:{pattern})$" for pattern in patterns] if lines else patterns
        whole = translate("|".join(whole_patterns))
    else:
        whole = "|".join([f"(?:{pattern})" for pattern in patterns])
    narrow_only = plain or any(_NARROW.search(pattern) for pattern in patterns)
    wide = whole if narrow_only else with_unicode(whole, whole_words=words)

    def search_for(source: str, *, whole_words: bool) -> LineSearch:
        found = compile_search(
            [source],
            "P",
            ctx.budget,
            ignore_case=fold,
            whole_words=whole_words,
            whole_lines=lines,
            repeats_places=True,
        )
        found = _with_empty_matches(found)
        found.dense = found.dense or _NEWLINES.search(source) is not None
        return found

    narrow = search_for(whole, whole_words=words)
    return narrow if wide == whole else _EitherSearch(narrow, search_for(wide, whole_words=False))


def _with_empty_matches(search: LineSearch) -> LineSearch:
    return _AllMatches(search.regexes, search.plain, search.budget)


class _AllMatches(LineSearch):
    """A search that counts empty matches, except directly after another match."""

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
    """One search for text in ASCII, and a slower one for other text."""

    def __init__(self, narrow: LineSearch, wide: LineSearch) -> None:
        super().__init__(narrow.regexes, narrow.plain, narrow.budget)
        self._narrow = narrow
        self._wide = wide

    def of(self, text: str) -> LineSearch:
        """Return the search for a text."""
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
