"""A compiled pattern: `re` where it cannot explode, an automaton or a matcher with a time limit
where it could.
"""

from __future__ import annotations

import re

from agentsandbox.errors import LimitReached
from agentsandbox.kernel.caching import cache_short, compile_pattern
from agentsandbox.kernel.regexps.analysis import UNBOUNDED, analyze
from agentsandbox.kernel.regexps.automaton import MAX_PLACES, Automaton
from agentsandbox.kernel.regexps.literal_prefixes import edge_run, match_collector, seeking_sources
from agentsandbox.kernel.regexps.parser import (
    RegexError,
    Tree,
    bound_tree,
    fixed_tree,
    join_trees,
    parse,
)
from agentsandbox.kernel.regexps.translate import (
    alternative_texts,
    leading_text,
    literal_text,
    required_text,
    top_parts,
    translate,
)
from agentsandbox.kernel.regexps.tree import Assertion

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any, TypeAlias

    from agentsandbox.kernel.budget import Budget
    from agentsandbox.kernel.regexps.perl_tree import PerlTree
    from agentsandbox.kernel.regexps.tree import Node

    Match: TypeAlias = "re.Match[str] | Span"


_SPECIAL = re.compile(r"[\\\[.*^$+?(){}|]")
_SHORT = 1000
"""A Perl pattern that is safe only for shorter lines is left to the `regex` package."""
_PATIENCE = 2.0
"""Seconds for one search without a budget."""


class Span:
    """A match whose groups are all empty places: the automaton's."""

    __slots__ = ("_end", "_groups", "_start", "_text")

    def __init__(self, text: str, start: int, end: int, groups: int) -> None:
        self._text = text
        self._start = start
        self._end = end
        self._groups = groups

    def group(self, number: int = 0, /) -> Any:
        return self._text[self._start : self._end] if number == 0 else None

    def groups(self) -> tuple[Any, ...]:
        return (None,) * self._groups

    def start(self, number: int = 0, /) -> int:
        return self._start if number == 0 else -1

    def end(self, number: int = 0, /) -> int:
        return self._end if number == 0 else -1

    def span(self, number: int = 0, /) -> tuple[int, int]:
        return (self._start, self._end) if number == 0 else (-1, -1)


class Regex:
    """What all compiled patterns do.

    `groups`       the number of groups.
    `fast`         an `re.Pattern` that finds exactly the right matches in any text, or None: then
                   call `search`.
    `safe_length`  the longest text (line, for block searches) that `fast` and `fast_test` may be
                   given.
    """

    __slots__ = ("groups", "pattern_source", "safe_length", "warnings")

    def __init__(self, source: str, groups: int) -> None:
        self.pattern_source = source
        self.groups = groups
        self.safe_length = 0
        self.warnings: list[str] = []

    @property
    def fast(self) -> re.Pattern[str] | None:
        return None

    def has_long_line(self, text: str) -> bool:
        """Whether a line of the text is longer than `safe_length`."""
        position, limit = 0, self.safe_length
        while position + limit < len(text):
            end = text.rfind("\n", position, position + limit + 1)
            if end < 0:
                return True
            position = end + 1
        return False

    def search(self, text: str, pos: int = 0, budget: Budget | None = None) -> Match | None:
        """The leftmost match from `pos` on."""
        raise NotImplementedError

    def test(self, text: str, budget: Budget | None = None) -> bool:
        """Whether there is a match."""
        return self.search(text, 0, budget) is not None

    def match(self, text: str, pos: int = 0, budget: Budget | None = None) -> Match | None:
        """The match that begins at `pos`."""
        found = self.search(text, pos, budget)
        return found if found is not None and found.start() == pos else None

    def finditer(self, text: str, pos: int = 0, budget: Budget | None = None) -> Iterator[Match]:
        """Every match in turn; an empty one directly after another match does not count."""
        last = -1
        while pos <= len(text):
            if budget is not None:
                budget.step()
            found = self.search(text, pos, budget)
            if found is None:
                return
            start, end = found.span()
            if start == end == last:
                pos = end + 1
                continue
            yield found
            last = end
            pos = end if end > start else end + 1


def _prefix(root: Node) -> str:
    parts = top_parts(root)
    return leading_text(
        parts[1:] if parts and isinstance(parts[0], Assertion) and parts[0].kind in "(<b" else parts
    )


def _timeout(budget: Budget | None) -> float:
    return _PATIENCE if budget is None else max(0.05, budget.remaining())


def _search_timed(
    pattern: Any, method: str, text: str, pos: int, end: int | None, budget: Budget | None
) -> Match | None:
    """Run a pattern of the `regex` package with what time there is."""
    try:
        found: Match | None = getattr(pattern, method)(
            text, pos, len(text) if end is None else end, timeout=_timeout(budget)
        )
    except TimeoutError:
        raise LimitReached("timeout") from None
    except MemoryError:
        raise LimitReached("value_bytes", "the pattern takes too much to match") from None
    if budget is not None:
        budget.check_time()
    return found


def _finder(pattern: re.Pattern[str]) -> Callable[[str], list[str]]:
    """All matches of a pattern, whole."""
    return (
        (lambda text: [match[0] for match in pattern.finditer(text)])
        if pattern.groups
        else pattern.findall
    )


class PosixRegex(Regex):
    """A POSIX pattern: leftmost, longest.

    `fast_test`  an `re.Pattern` that tells whether and where a match begins, though perhaps not
                 where it ends.
    `literal`    the one text that it matches, None if there are several.
    `plain`      the same, letter case aside.
    `alternatives`  the texts that it matches, if it is no more than a choice between such.
    `required`   a text that every match contains ("" for none).
    `prefix`     the text that every match begins with, where `re` makes use of it.
    `exact`      whether `fast_test` finds the end as well.
    Two patterns for `re` are kept: text that is all ASCII takes the quicker one.
    """

    __slots__ = (
        "_ascii",
        "_automaton",
        "_collect",
        "_flags",
        "_lines",
        "_longest",
        "_multiline",
        "_newline_safe",
        "_not_bol",
        "_options",
        "_seekers",
        "_timed",
        "_tree",
        "_unicode",
        "alternatives",
        "bytewise",
        "literal",
        "plain",
        "prefix",
        "required",
    )  # fmt: skip

    _never_bol = False

    def __init__(
        self,
        source: str,
        tree: Tree,
        *,
        multiline: bool,
        newline_safe: bool,
        bytewise: bool = False,
    ) -> None:
        super().__init__(source, tree.groups)
        self.bytewise = bytewise
        self.warnings = tree.warnings
        self._tree = tree
        self._multiline = multiline or newline_safe
        self._newline_safe = newline_safe
        self._flags = (re.IGNORECASE if tree.ignore_case else 0) | (
            re.MULTILINE if self._multiline else 0
        )
        analysis = analyze(tree.root, multiline)
        self.safe_length = analysis.safe_length
        self._longest = analysis.longest
        self.plain = literal_text(tree.root)
        self.literal = None if tree.ignore_case else self.plain
        self.alternatives = [] if tree.ignore_case else alternative_texts(tree.root)
        self.required = "" if tree.ignore_case else required_text(tree.root)
        self.prefix = "" if tree.ignore_case else _prefix(tree.root)
        self._ascii: re.Pattern[str] | None = None
        self._lines: re.Pattern[str] | None = None
        self._collect: Callable[[str], list[str]] | None = None
        self._seekers: list[re.Pattern[str]] | None = None
        self._unicode: re.Pattern[str] | None = None
        self._not_bol: PosixRegex | None = None
        self._automaton: Automaton | None = None
        self._timed: Any = None
        self._options: tuple[bool, bool, str] | None = None
        if tree.root.size > MAX_PLACES and self.safe_length != UNBOUNDED:
            raise RegexError("Regular expression too big")
        if tree.root.size < 2000 or self.safe_length:
            self._compile(ascii_only=True)

    def _source(self, *, ascii_only: bool) -> str:
        return translate(
            self._tree.root,
            ascii_only=ascii_only,
            multiline=self._multiline,
            newline_safe=self._newline_safe,
            not_bol=self._never_bol,
        )

    def _compile(self, *, ascii_only: bool) -> re.Pattern[str]:
        ascii_only = ascii_only or self.bytewise
        try:
            pattern = compile_pattern(
                self._source(ascii_only=ascii_only), self._flags | (re.ASCII if ascii_only else 0)
            )
        except (re.error, OverflowError, RecursionError, MemoryError):
            raise RegexError("Regular expression too big") from None
        if ascii_only:
            self._ascii = pattern
        else:
            self._unicode = pattern
        return pattern

    def for_text(self, text: str) -> re.Pattern[str]:
        """The `re.Pattern` for this text; whether it may be used is for `safe_length` and `exact`
        to say.
        """
        if self.bytewise or text.isascii():
            return self._ascii or self._compile(ascii_only=True)
        return self._unicode or self._compile(ascii_only=False)

    def for_lines(self, text: str) -> re.Pattern[str]:
        """As `for_text`, for a pattern that matches no newline and not nothing: matches go on to
        the end of the line.
        """
        pattern = self.for_text(text)
        if pattern is not self._ascii:
            return compile_pattern(f"(?:{pattern.pattern})[^\n]*", pattern.flags)
        if self._lines is None:
            self._lines = compile_pattern(f"(?:{pattern.pattern})[^\n]*", pattern.flags)
        return self._lines

    def seekers(self) -> list[re.Pattern[str]]:
        """Patterns for ASCII text, in lower case if case is ignored, of which any selects a line;
        none when `for_lines` is as good.
        """
        if self._seekers is None:
            tree = self._tree
            sources = (
                [] if tree.back_references else seeking_sources(tree.root, lowered=tree.ignore_case)
            )
            self._seekers = [
                compile_pattern(f"(?:{source})[^\n]*", re.MULTILINE | re.ASCII)
                for source in sources
            ]
        return self._seekers

    def collect(self, text: str) -> list[str]:
        """All matches in a text whose lines are no longer than `safe_length`; the pattern is
        `exact` and not empty.
        """
        if text.isascii():
            if self._collect is None:
                self._collect = match_collector(
                    self._tree.root, ignore_case=self._tree.ignore_case
                ) or _finder(self.for_text(text))
            return self._collect(text)
        return _finder(self.for_text(text))(text)

    def edge_run(self) -> tuple[str, str] | None:
        """The ASCII characters of a run at the beginning ("^") or the end ("$") of a line, and
        which of them it is; None for others.
        """
        found = edge_run(self._tree.root)
        if found is None:
            return None
        mask = found[0].first
        return "".join(
            [chr(code) for code in range(128) if mask >> code & 1 and code != 10]
        ), found[1]

    @property
    def ignores_case(self) -> bool:
        """Whether letters stand for both cases."""
        return self._tree.ignore_case

    @property
    def has_back_references(self) -> bool:
        """Whether it asks for what a group matched."""
        return self._tree.back_references

    @property
    def longest(self) -> int | None:
        """The length in characters of the longest match, None if there is no bound."""
        return self._tree.root.high

    @property
    def exact(self) -> bool:
        """Whether `re` finds the longest match."""
        return self._longest

    @property
    def empty(self) -> bool:
        """Whether it matches only the empty string."""
        return self._tree.root.high == 0

    @property
    def once_per_line(self) -> bool:
        """Whether a line holds at most one match: it begins or ends with an anchor."""
        parts = top_parts(self._tree.root)
        anchors = [
            part.kind in "^$" for part in (parts[:1] + parts[-1:]) if isinstance(part, Assertion)
        ]
        return any(anchors)

    @property
    def shortest(self) -> int:
        """The length in characters of the shortest match."""
        return self._tree.root.low

    @property
    def fast(self) -> re.Pattern[str] | None:
        return self._general() if self._longest and self.safe_length == UNBOUNDED else None

    @property
    def fast_test(self) -> re.Pattern[str] | None:
        return self._general() if self.safe_length == UNBOUNDED else None

    def _general(self) -> re.Pattern[str]:
        """The `re.Pattern` for any text."""
        return self.for_text("\x80")

    def for_blocks(self) -> PosixRegex:
        """The same pattern, for a block of lines instead of each line."""
        assert self._options is not None
        extended, ignore_case, dialect = self._options
        return compile_posix(
            self.pattern_source,
            extended=extended,
            ignore_case=ignore_case,
            newline_safe=True,
            dialect=dialect,
            bytewise=self.bytewise,
        )

    def test(self, text: str, budget: Budget | None = None) -> bool:
        if len(text) <= self.safe_length:
            return self.for_text(text).search(text) is not None
        if self._slow():
            return self._search_slowly(text, 0, budget) is not None
        return self._machine().matches(text, 0, budget)

    def search(
        self, text: str, pos: int = 0, budget: Budget | None = None, not_bol: bool = False
    ) -> Match | None:
        """The leftmost match from `pos` on. `not_bol`: the text does not begin a line."""
        if not_bol and pos == 0:
            return self._without_bol().search(text, 0, budget)
        if len(text) <= self.safe_length:
            found = self.for_text(text).search(text, pos)
            if found is None or self._longest:
                return found
            return self._lengthen(text, found, budget)
        if self._slow():
            return self._search_slowly(text, pos, budget)
        span = self._machine().find(text, pos, budget)
        return None if span is None else self._fill(text, *span, budget)

    def _slow(self) -> bool:
        """Whether only a backtracking matcher can run this pattern."""
        return self._tree.back_references

    def _machine(self) -> Automaton:
        if self._automaton is None:
            self._automaton = Automaton(
                self._tree.root, self._flags, self._multiline, bytewise=self.bytewise
            )
        return self._automaton

    def _lengthen(self, text: str, found: re.Match[str], budget: Budget | None) -> Match:
        """The longest match that begins where `found` does."""
        if self._slow():
            return found
        start, end = found.span()
        longest = self._machine().longest(text, start, budget)
        return found if longest <= end else self._fill(text, start, longest, budget)

    def _fill(self, text: str, start: int, end: int, budget: Budget | None) -> Match:
        """The groups of a match whose place is known."""
        if not self.groups:
            return Span(text, start, end, 0)
        if len(text) <= self.safe_length:
            return self.for_text(text).fullmatch(text, start, end) or Span(
                text, start, end, self.groups
            )
        return _search_timed(self._timed_pattern(), "fullmatch", text, start, end, budget) or Span(
            text, start, end, self.groups
        )

    def _timed_pattern(self) -> Any:
        if self._timed is None:
            import regex  # only the patterns that may explode need it

            flags = (
                (regex.I if self._tree.ignore_case else 0)
                | (regex.M if self._multiline else 0)
                | (regex.A if self.bytewise else 0)
            )
            try:
                self._timed = regex.compile(
                    self._source(ascii_only=self.bytewise), flags, cache_pattern=False
                )
            except (regex.error, RecursionError, MemoryError, OverflowError):
                raise LimitReached("value_bytes", "a regular expression is too big") from None
        return self._timed

    def _search_slowly(self, text: str, pos: int, budget: Budget | None) -> Match | None:
        return _search_timed(self._timed_pattern(), "search", text, pos, None, budget)

    def _without_bol(self) -> PosixRegex:
        if self._not_bol is None:
            self._not_bol = _NotBol(self)
        return self._not_bol


class _NotBol(PosixRegex):
    """The same pattern for text that does not begin a line."""

    __slots__ = ()

    def __init__(self, regex: PosixRegex) -> None:
        safe = regex._newline_safe
        multiline = regex._multiline and not safe
        super().__init__(
            regex.pattern_source,
            regex._tree,
            multiline=multiline,
            newline_safe=safe,
            bytewise=regex.bytewise,
        )

    _never_bol = True

    def _slow(self) -> bool:
        return True


@cache_short(512)
def compile_posix(
    pattern: str,
    *,
    extended: bool = True,
    ignore_case: bool = False,
    newline_anchors: bool = False,
    newline_safe: bool = False,
    dialect: str = "posix",
    bytewise: bool = False,
    empty_ranges: bool = False,
    within_lines: bool = False,
) -> PosixRegex:
    """Compile a POSIX pattern as GNU's tools do; raises `RegexError`.

    newline_anchors  ^ and $ also match at newlines inside the text.
    newline_safe     nothing matches a newline, ^ and $ match at each: a block of lines can be
                     searched as one text.
    bytewise         pattern and texts have one character for each byte (`streams.bytewise`): the
                     locale C.
    dialect          "posix" (bash, expr, find -regextype posix-*), "grep", "sed", "awk", "emacs"
                     (find's own).
    empty_ranges     ranges such as [z-a] match nothing instead of being wrong: so in some tools,
                     and in emacs'.
    within_lines     a period and brackets such as [^a] match no newline.
    """
    tree = parse(
        pattern,
        extended=extended,
        dialect=dialect,
        ignore_case=ignore_case,
        newline_safe=newline_safe,
        empty_ranges=empty_ranges,
        within_lines=within_lines,
    )
    regex = PosixRegex(
        pattern, tree, multiline=newline_anchors, newline_safe=newline_safe, bytewise=bytewise
    )
    regex._options = (extended, ignore_case, dialect)
    return regex


@cache_short(64)
def compile_lines(
    patterns: tuple[str, ...],
    *,
    extended: bool = True,
    fixed: bool = False,
    ignore_case: bool = False,
    whole_words: bool = False,
    whole_lines: bool = False,
    newline_safe: bool = True,
    bytewise: bool = False,
) -> list[PosixRegex]:
    """Compile grep's patterns: one for all of them, or one for each when there are back-references.

    A line is selected when any of them matches. Raises `RegexError`.
    """
    if len(patterns) > MAX_PLACES or sum(map(len, patterns)) > 20 * MAX_PLACES:
        raise RegexError("Regular expression too big")
    if fixed or (len(patterns) > 1 and not any(_SPECIAL.search(pattern) for pattern in patterns)):
        trees = [fixed_tree(patterns, ignore_case=ignore_case)]
    else:
        trees = [
            parse(
                pattern,
                extended=extended,
                dialect="grep",
                ignore_case=ignore_case,
                newline_safe=newline_safe,
            )
            for pattern in patterns
        ]
    if len(trees) > 1 and not any(tree.back_references for tree in trees):
        trees = [join_trees(trees)]
    if whole_lines or whole_words:
        trees = [
            bound_tree(tree, "^" if whole_lines else "(", "$" if whole_lines else ")")
            for tree in trees
        ]
    source = "\n".join(patterns)
    return [
        PosixRegex(source, tree, multiline=False, newline_safe=newline_safe, bytewise=bytewise)
        for tree in trees
    ]


class PerlRegex(Regex):
    """A pattern of the `regex` package; always under a time limit. `pattern_source` is what was
    asked for.

    `lines`  tells which of many ASCII lines, none longer than its `safe_length`, match; None if
             `re` cannot.
    """

    __slots__ = ("_behind", "_collect", "_pattern", "_plain", "lines")

    def __init__(
        self, source: str, pattern: Any, safe_length: int, tree: PerlTree | None = None
    ) -> None:
        super().__init__(source, pattern.groups)
        self._pattern = pattern
        self.safe_length = safe_length
        self.lines: PosixRegex | None = None
        if tree is not None and tree.safe_length > _SHORT:
            flags = re.MULTILINE | re.ASCII | (re.IGNORECASE if tree.ignore_case else 0)
            self._plain = compile_pattern(tree.source, flags).findall
            self._behind = tree.behind
            self._collect = (
                compile_pattern(re.escape(tree.behind) + f"({tree.source})", flags).findall
                if tree.behind
                else None
            )
            root = Tree(tree.root, 0, [], back_references=False, ignore_case=tree.ignore_case)
            self.lines = PosixRegex(source, root, multiline=False, newline_safe=True)

    def search(self, text: str, pos: int = 0, budget: Budget | None = None) -> Match | None:
        return _search_timed(self._pattern, "search", text, pos, None, budget)

    def collect(self, text: str) -> list[str]:
        """All matches in a text that is fit for `lines`, the empty ones not."""
        if self._collect is not None:
            found: list[str] = self._collect(text)
            if len(found) == text.count(self._behind):
                return found
        return [match for match in self._plain(text) if match]
