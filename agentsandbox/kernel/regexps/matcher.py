"""Compiled patterns: they choose between `re`, the automaton and the `regex` package.

`PosixRegex` searches with `re` while the text is no longer than `safe_length`. If the first match
that `re` finds may not be the longest, the automaton looks for the end (`_lengthen`). Longer texts
go to the automaton, which knows no groups: they are filled in by a second match of just the text
that was found (`_fill`). A pattern with back-references that may explode runs on the `regex`
package, whose searches take a timeout.

`PerlRegex` always runs on the `regex` package. `lines` is a `PosixRegex` that selects the lines for
it.
"""

from __future__ import annotations

import re

from agentsandbox.errors import LimitReached
from agentsandbox.kernel.caching import cache_short, compile_pattern
from agentsandbox.kernel.expressions import lazily
from agentsandbox.kernel.regexps.analysis import UNBOUNDED, analyze
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
from agentsandbox.kernel.regexps.tree import MAX_PLACES, Assertion

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any, TypeAlias

    from agentsandbox.kernel.budget import Budget
    from agentsandbox.kernel.regexps.automaton import Automaton
    from agentsandbox.kernel.regexps.perl_tree import PerlTree
    from agentsandbox.kernel.regexps.tree import Node

    Match: TypeAlias = "re.Match[str] | Span"


_SPECIAL = lazily(r"[\\\[.*^$+?(){}|]")
_MOST_AUTOMATA = 16
"""Automata that a sandbox keeps at the same time."""
_SHORT = 1000
"""A Perl pattern that is safe only for shorter lines runs on the `regex` package alone."""
_PATIENCE = 2.0
"""The seconds for one search without a budget."""


class Span:
    """A match of the automaton, whose groups are unknown."""

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
    """The interface of compiled patterns.

    `groups`       the number of groups.
    `fast`         an `re.Pattern` that finds the right matches in any text, or None: then call
                   `search`.
    `safe_length`  the longest text (or line, in a block of lines) that `re` may search.
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
        """Return the leftmost match from `pos` on."""
        raise NotImplementedError

    def test(self, text: str, budget: Budget | None = None) -> bool:
        """Whether there is a match."""
        return self.search(text, 0, budget) is not None

    def match(self, text: str, pos: int = 0, budget: Budget | None = None) -> Match | None:
        """Return the match that begins at `pos`."""
        found = self.search(text, pos, budget)
        return found if found is not None and found.start() == pos else None

    def finditer(self, text: str, pos: int = 0, budget: Budget | None = None) -> Iterator[Match]:
        """Yield every match, except an empty one directly after another match."""
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
    if parts and isinstance(parts[0], Assertion) and parts[0].kind in "(<b":
        parts = parts[1:]
    return leading_text(parts)


def _timeout(budget: Budget | None) -> float:
    return _PATIENCE if budget is None else max(0.05, budget.remaining())


def _search_timed(
    pattern: Any, method: str, text: str, pos: int, end: int | None, budget: Budget | None
) -> Match | None:
    """Run a pattern of the `regex` package within the remaining time."""
    stop = len(text) if end is None else end
    try:
        found: Match | None = getattr(pattern, method)(text, pos, stop, timeout=_timeout(budget))
    except TimeoutError:
        raise LimitReached("timeout") from None
    except MemoryError:
        raise LimitReached("value_bytes", "the pattern takes too much to match") from None
    if budget is not None:
        budget.check_time()
    return found


def _finder(pattern: re.Pattern[str]) -> Callable[[str], list[str]]:
    """Return a function that finds all matches of a pattern, each as a whole."""
    if not pattern.groups:
        return pattern.findall
    return lambda text: [match[0] for match in pattern.finditer(text)]


class PosixRegex(Regex):
    """A POSIX pattern: leftmost, longest.

    `fast_test`     an `re.Pattern` that finds where a match begins, but perhaps not where it ends.
    `literal`       the only text that it matches, or None.
    `plain`         the same, but for letter case.
    `alternatives`  the texts that it matches, if it is a choice between texts.
    `required`      a text that every match contains, or "".
    `prefix`        the text that every match begins with, where `re` makes use of it.
    `exact`         whether `fast_test` finds the end as well.

    It has two patterns for `re`: one for any text, and a faster one for ASCII text.
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
        "_options",
        "_prefixed",
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
        self._prefixed: list[re.Pattern[str]] | None = None
        self._unicode: re.Pattern[str] | None = None
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
        """Return the `re.Pattern` for a text; the caller checks `safe_length` and `exact`."""
        if self.bytewise or text.isascii():
            return self._ascii or self._compile(ascii_only=True)
        return self._unicode or self._compile(ascii_only=False)

    def for_lines(self, text: str) -> re.Pattern[str]:
        """Return the `re.Pattern` whose matches reach to the end of the line.

        The pattern must not match a newline or the empty string.
        """
        pattern = self.for_text(text)
        if pattern is not self._ascii:
            return compile_pattern(f"(?:{pattern.pattern})[^\n]*", pattern.flags)
        if self._lines is None:
            self._lines = compile_pattern(f"(?:{pattern.pattern})[^\n]*", pattern.flags)
        return self._lines

    def prefixed(self) -> list[re.Pattern[str]]:
        """Return the patterns of `literal_prefixes` for ASCII text, in lower case if case is
        ignored.

        The list is empty if they are not faster than `for_lines`.
        """
        if self._prefixed is None:
            tree, sources = self._tree, []
            if not tree.back_references:
                from agentsandbox.kernel.regexps.literal_prefixes import prefixed_sources

                sources = prefixed_sources(tree.root, lowered=tree.ignore_case)
            self._prefixed = [
                compile_pattern(f"(?:{source})[^\n]*", re.MULTILINE | re.ASCII)
                for source in sources
            ]
        return self._prefixed

    def collect(self, text: str) -> list[str]:
        """Return all matches in a text without long lines, for a pattern that is `exact`."""
        if text.isascii():
            if self._collect is None:
                from agentsandbox.kernel.regexps.literal_prefixes import match_collector

                self._collect = match_collector(
                    self._tree.root, ignore_case=self._tree.ignore_case
                ) or _finder(self.for_text(text))
            return self._collect(text)
        return _finder(self.for_text(text))(text)

    def edge_run(self) -> tuple[str, str] | None:
        """Return the characters and the anchor of a pattern such as `^ *`, or None for others."""
        from agentsandbox.kernel.regexps.literal_prefixes import edge_run

        found = edge_run(self._tree.root)
        if found is None:
            return None
        mask = found[0].first
        codes = [code for code in range(128) if mask >> code & 1 and code != 10]
        return "".join(map(chr, codes)), found[1]

    @property
    def ignores_case(self) -> bool:
        """Whether letter case is ignored."""
        return self._tree.ignore_case

    @property
    def has_back_references(self) -> bool:
        """Whether the pattern has back-references."""
        return self._tree.back_references

    @property
    def longest(self) -> int | None:
        """The length of the longest match, None without a bound."""
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
        edges = parts[:1] + parts[-1:]
        return any(isinstance(part, Assertion) and part.kind in "^$" for part in edges)

    @property
    def shortest(self) -> int:
        """The length of the shortest match."""
        return self._tree.root.low

    @property
    def fast(self) -> re.Pattern[str] | None:
        return self._general() if self._longest and self.safe_length == UNBOUNDED else None

    @property
    def fast_test(self) -> re.Pattern[str] | None:
        return self._general() if self.safe_length == UNBOUNDED else None

    def _general(self) -> re.Pattern[str]:
        """Return the `re.Pattern` for any text."""
        return self.for_text("\x80")

    def for_blocks(self) -> PosixRegex:
        """Return the same pattern for a block of lines."""
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
        return self._machine(budget).matches(text, 0, budget)

    def search(self, text: str, pos: int = 0, budget: Budget | None = None) -> Match | None:
        if len(text) <= self.safe_length:
            found = self.for_text(text).search(text, pos)
            if found is None or self._longest:
                return found
            return self._lengthen(text, found, budget)
        if self._slow():
            return self._search_slowly(text, pos, budget)
        span = self._machine(budget).find(text, pos, budget)
        return None if span is None else self._fill(text, *span, budget)

    def _slow(self) -> bool:
        """Whether only a backtracking matcher can run this pattern."""
        return self._tree.back_references

    def _machine(self, budget: Budget | None) -> Automaton:
        """Return the automaton of this pattern for the sandbox of the budget.

        The pattern is one object for all sandboxes of the process. What an automaton learns of a
        text takes memory, and belongs to who has the text.
        """
        if budget is None:
            if self._automaton is None:
                self._automaton = self._new_automaton()
            return self._automaton
        automata = budget.accounts.automata
        found: Automaton | None = automata.get(self)
        if found is None:
            if len(automata) >= _MOST_AUTOMATA:
                automata.pop(next(iter(automata)), None)
            found = automata[self] = self._new_automaton()
        return found

    def _new_automaton(self) -> Automaton:
        from agentsandbox.kernel.regexps.automaton import Automaton

        return Automaton(self._tree.root, self._flags, self._multiline, bytewise=self.bytewise)

    def _lengthen(self, text: str, found: re.Match[str], budget: Budget | None) -> Match:
        """Return the longest match that begins where `found` begins."""
        if self._slow():
            return found
        start, end = found.span()
        longest = self._machine(budget).longest(text, start, budget)
        return found if longest <= end else self._fill(text, start, longest, budget)

    def _fill(self, text: str, start: int, end: int, budget: Budget | None) -> Match:
        """Return the match at a known place, with its groups."""
        found: Match | None = None
        if self.groups and len(text) <= self.safe_length:
            found = self.for_text(text).fullmatch(text, start, end)
        elif self.groups:
            found = _search_timed(self._timed_pattern(), "fullmatch", text, start, end, budget)
        return found or Span(text, start, end, self.groups)

    def _timed_pattern(self) -> Any:
        if self._timed is None:
            import regex  # only the patterns that may explode need it

            from agentsandbox.kernel.regexps.timed import RegexTooLarge, compile_timed

            flags = regex.I if self._tree.ignore_case else 0
            flags |= (regex.M if self._multiline else 0) | (regex.A if self.bytewise else 0)
            source = self._source(ascii_only=self.bytewise)
            try:
                self._timed = compile_timed(source, flags)
            except (RegexTooLarge, regex.error, RecursionError, MemoryError, OverflowError):
                raise LimitReached("value_bytes", "a regular expression is too big") from None
        return self._timed

    def _search_slowly(self, text: str, pos: int, budget: Budget | None) -> Match | None:
        return _search_timed(self._timed_pattern(), "search", text, pos, None, budget)


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
) -> PosixRegex:
    """Compile a POSIX pattern as GNU's tools do; raises `RegexError`.

    newline_anchors  ^ and $ also match at newlines inside the text.
    newline_safe     nothing matches a newline, ^ and $ match at every line: a block of lines can be
                     searched as one text.
    bytewise         pattern and texts have one character for each byte (`streams.bytewise`): the
                     locale C.
    dialect          "posix" (bash, expr, find -regextype posix-*), "grep", "sed", "awk", "emacs"
                     (the default of find).
    empty_ranges     ranges such as [z-a] match nothing, and are no errors.
    """
    tree = parse(
        pattern,
        extended=extended,
        dialect=dialect,
        ignore_case=ignore_case,
        newline_safe=newline_safe,
        empty_ranges=empty_ranges,
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
    """Compile grep's patterns: one for all, or one for each if there are back-references.

    A line is selected if any of them matches. Raises `RegexError`.
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
        before, after = "^$" if whole_lines else "()"
        trees = [bound_tree(tree, before, after) for tree in trees]
    source = "\n".join(patterns)
    return [
        PosixRegex(source, tree, multiline=False, newline_safe=newline_safe, bytewise=bytewise)
        for tree in trees
    ]


class PerlRegex(Regex):
    """A pattern of the `regex` package, always run under a time limit.

    `lines`  the `PosixRegex` that selects ASCII lines up to its `safe_length`; None if `re` cannot.
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
            self._collect: Callable[[str], list[str]] | None = None
            if tree.behind:
                behind = re.escape(tree.behind) + f"({tree.source})"
                self._collect = compile_pattern(behind, flags).findall
            root = Tree(tree.root, 0, [], back_references=False, ignore_case=tree.ignore_case)
            self.lines = PosixRegex(source, root, multiline=False, newline_safe=True)

    def search(self, text: str, pos: int = 0, budget: Budget | None = None) -> Match | None:
        return _search_timed(self._pattern, "search", text, pos, None, budget)

    def collect(self, text: str) -> list[str]:
        """Return all matches that are not empty, in a text that `lines` may search."""
        if self._collect is not None:
            found: list[str] = self._collect(text)
            if len(found) == text.count(self._behind):
                return found
        return [match for match in self._plain(text) if match]
