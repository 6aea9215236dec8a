"""Compiled patterns: they choose between `re`, the automaton and the `regex` package.

`PosixRegex` searches with `re` while the text is no longer than `safe_length`. If the first match
that `re` finds may not be the longest, the automaton looks for the end (`_lengthen`). Longer texts
go to the automaton, which knows no groups: they are filled in by a second match of just the text
that was found (`_fill`). A pattern with back-references that may explode runs on the `regex`
package, whose searches take a timeout.

A pattern of ordinary characters alone, the most frequent kind, matches itself: it is not parsed,
and compiled only if somebody searches with `re`.
"""

from __future__ import annotations

from agentsandbox.errors import LimitReached
from agentsandbox.kernel.caching import cache_short, compile_pattern
from agentsandbox.kernel.expressions import ASCII, IGNORE_CASE, MULTILINE
from agentsandbox.kernel.regexps.limits import MAX_LENGTH, MAX_PLACES, UNBOUNDED, RegexError

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re
    from collections.abc import Callable, Iterator
    from typing import Any

    from agentsandbox.kernel.budget import Budget
    from agentsandbox.kernel.regexps.automaton import Automaton
    from agentsandbox.kernel.regexps.parser import Tree
    from agentsandbox.kernel.regexps.spans import Match

SPECIAL = frozenset("\\[.*^$+?(){}|\n")
"""The characters that are more than themselves in some dialect, alone or after a backslash."""
_MOST_AUTOMATA = 16
"""Automata that a sandbox keeps at the same time."""


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
    `shortest`, `longest`  the lengths of the shortest and of the longest match; None without bound.
    `empty`         whether it matches only the empty string.
    `once_per_line` whether a line holds at most one match: it begins or ends with an anchor.

    It has two patterns for `re`: one for any text, and a faster one for ASCII text.
    """

    __slots__ = (
        "_ascii",
        "_automaton",
        "_collect",
        "_flags",
        "_lines",
        "_multiline",
        "_newline_safe",
        "_options",
        "_prefixed",
        "_timed",
        "_tree",
        "_unicode",
        "alternatives",
        "bytewise",
        "empty",
        "exact",
        "has_back_references",
        "ignores_case",
        "literal",
        "longest",
        "once_per_line",
        "plain",
        "prefix",
        "required",
        "shortest",
    )  # fmt: skip

    def __init__(
        self,
        source: str,
        tree: Tree | None,
        *,
        multiline: bool,
        newline_safe: bool,
        bytewise: bool = False,
    ) -> None:
        """`tree` is None for a source that matches only itself (`is_text`)."""
        super().__init__(source, 0)
        self.bytewise = bytewise
        self._tree = tree
        self._multiline = multiline or newline_safe
        self._newline_safe = newline_safe
        self._flags = MULTILINE if self._multiline else 0
        self._ascii: re.Pattern[str] | None = None
        self._lines: re.Pattern[str] | None = None
        self._collect: Callable[[str], list[str]] | None = None
        self._prefixed: list[re.Pattern[str]] | None = None
        self._unicode: re.Pattern[str] | None = None
        self._automaton: Automaton | None = None
        self._timed: Any = None
        self._options: tuple[bool, bool, str] | None = None
        if tree is None:
            self._describe_text(source)
        else:
            self._describe(tree, multiline)

    def _describe_text(self, text: str) -> None:
        """Set what is known of a pattern that matches only `text`, which is not empty."""
        self.safe_length = UNBOUNDED
        self.exact = True
        self.empty = self.once_per_line = self.ignores_case = self.has_back_references = False
        self.literal: str | None = text
        self.plain: str | None = text
        self.required = self.prefix = text
        self.alternatives: list[str] = []
        self.shortest = len(text)
        self.longest: int | None = len(text)

    def _describe(self, tree: Tree, multiline: bool) -> None:
        """Set what the tree says of the pattern; compile it, or raise `RegexError`."""
        from agentsandbox.kernel.regexps.analysis import analyze, is_once_per_line
        from agentsandbox.kernel.regexps.translate import (
            alternative_texts,
            literal_text,
            prefix_text,
            required_text,
        )

        root = tree.root
        self.groups = tree.groups
        self.warnings = tree.warnings
        analysis = analyze(root, multiline)
        self.safe_length = analysis.safe_length
        self.exact = analysis.longest
        self.empty = root.high == 0
        self.once_per_line = is_once_per_line(root)
        self.ignores_case = tree.ignore_case
        self.has_back_references = tree.back_references
        self.shortest, self.longest = root.low, root.high
        self.plain = self.literal = literal_text(root)
        if tree.ignore_case:
            self._flags |= IGNORE_CASE
            self.literal = None
            self.alternatives, self.required, self.prefix = [], "", ""
        else:
            self.alternatives = alternative_texts(root)
            self.required = required_text(root)
            self.prefix = prefix_text(root)
        if root.size > MAX_PLACES and self.safe_length != UNBOUNDED:
            raise RegexError("Regular expression too big")
        if root.size < 2000 or self.safe_length:
            self._compile(ascii_only=True)

    def _parsed(self) -> Tree:
        """Return the tree; that of a plain text is made when it is asked for, which is seldom."""
        if self._tree is None:
            from agentsandbox.kernel.regexps.parser import fixed_tree

            self._tree = fixed_tree((self.pattern_source,), ignore_case=False)
        return self._tree

    def _source(self, *, ascii_only: bool) -> str:
        if self._tree is None:
            import re

            return re.escape(self.pattern_source)
        from agentsandbox.kernel.regexps.translate import translate

        return translate(
            self._tree.root,
            ascii_only=ascii_only,
            multiline=self._multiline,
            newline_safe=self._newline_safe,
        )

    def _compile(self, *, ascii_only: bool) -> re.Pattern[str]:
        import re

        ascii_only = ascii_only or self.bytewise
        try:
            pattern = compile_pattern(
                self._source(ascii_only=ascii_only), self._flags | (ASCII if ascii_only else 0)
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
            tree: Tree = self._parsed()
            sources: list[str] = []
            if not tree.back_references:
                from agentsandbox.kernel.regexps.literal_prefixes import prefixed_sources

                sources = prefixed_sources(tree.root, lowered=tree.ignore_case)
            self._prefixed = [
                compile_pattern(f"(?:{source})[^\n]*", MULTILINE | ASCII) for source in sources
            ]
        return self._prefixed

    def collect(self, text: str) -> list[str]:
        """Return all matches in a text without long lines, for a pattern that is `exact`."""
        if text.isascii():
            if self._collect is None:
                from agentsandbox.kernel.regexps.literal_prefixes import match_collector

                self._collect = match_collector(
                    self._parsed().root, ignore_case=self.ignores_case
                ) or _finder(self.for_text(text))
            return self._collect(text)
        return _finder(self.for_text(text))(text)

    def edge_run(self) -> tuple[str, str] | None:
        """Return the characters and the anchor of a pattern such as `^ *`, or None for others."""
        if self._tree is None:
            return None
        from agentsandbox.kernel.regexps.literal_prefixes import edge_run

        found = edge_run(self._tree.root)
        if found is None:
            return None
        mask = found[0].first
        codes = [code for code in range(128) if mask >> code & 1 and code != 10]
        return "".join(map(chr, codes)), found[1]

    @property
    def fast(self) -> re.Pattern[str] | None:
        return self._general() if self.exact and self.safe_length == UNBOUNDED else None

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
        if self.has_back_references:
            return self._search_slowly(text, 0, budget) is not None
        return self._machine(budget).matches(text, 0, budget)

    def search(self, text: str, pos: int = 0, budget: Budget | None = None) -> Match | None:
        if len(text) <= self.safe_length:
            found = self.for_text(text).search(text, pos)
            if found is None or self.exact:
                return found
            return self._lengthen(text, found, budget)
        if self.has_back_references:
            return self._search_slowly(text, pos, budget)
        span = self._machine(budget).find(text, pos, budget)
        return None if span is None else self._fill(text, *span, budget)

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

        root, flags = self._parsed().root, self._flags
        try:
            return Automaton(root, flags, self._multiline, bytewise=self.bytewise)
        except RegexError:  # nobody expects an error of a pattern that was compiled
            raise LimitReached("value_bytes", "a regular expression is too big") from None

    def _lengthen(self, text: str, found: re.Match[str], budget: Budget | None) -> Match:
        """Return the longest match that begins where `found` begins."""
        if self.has_back_references:
            return found
        start, end = found.span()
        longest = self._machine(budget).longest(text, start, budget)
        return found if longest <= end else self._fill(text, start, longest, budget)

    def _fill(self, text: str, start: int, end: int, budget: Budget | None) -> Match:
        """Return the match at a known place, with its groups."""
        from agentsandbox.kernel.regexps.spans import Span, search_timed

        found: Match | None = None
        if self.groups and len(text) <= self.safe_length:
            found = self.for_text(text).fullmatch(text, start, end)
        elif self.groups:
            found = search_timed(self._timed_pattern().fullmatch, text, start, end, budget)
        return found or Span(text, start, end, self.groups)

    def _timed_pattern(self) -> Any:
        if self._timed is None:
            import regex  # only the patterns that may explode need it

            from agentsandbox.kernel.regexps.timed import RegexTooLarge, compile_timed

            flags = regex.I if self.ignores_case else 0
            flags |= (regex.M if self._multiline else 0) | (regex.A if self.bytewise else 0)
            source = self._source(ascii_only=self.bytewise)
            try:
                self._timed = compile_timed(source, flags)
            except (RegexTooLarge, regex.error, RecursionError, MemoryError, OverflowError):
                raise LimitReached("value_bytes", "a regular expression is too big") from None
        return self._timed

    def _search_slowly(self, text: str, pos: int, budget: Budget | None) -> Match | None:
        from agentsandbox.kernel.regexps.spans import search_timed

        return search_timed(self._timed_pattern().search, text, pos, None, budget)


def is_text(pattern: str) -> bool:
    """Whether a pattern is a text that matches only itself, in each dialect."""
    return 0 < len(pattern) <= MAX_LENGTH and SPECIAL.isdisjoint(pattern)


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
    tree: Tree | None = None
    if ignore_case or not is_text(pattern):
        from agentsandbox.kernel.regexps.parser import parse

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
