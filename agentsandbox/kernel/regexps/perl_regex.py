"""Compiled Perl patterns: they always run on the `regex` package, within a time limit.

Where the pattern is plain enough to be read as a tree (`perl_tree`), `re` selects the lines.
"""

from __future__ import annotations

import re

from agentsandbox.kernel.caching import compile_pattern
from agentsandbox.kernel.regexps.matcher import PosixRegex, Regex
from agentsandbox.kernel.regexps.parser import Tree
from agentsandbox.kernel.regexps.spans import search_timed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from agentsandbox.kernel.budget import Budget
    from agentsandbox.kernel.regexps.perl_tree import PerlTree
    from agentsandbox.kernel.regexps.spans import Match

_SHORT = 1000
"""A Perl pattern that is safe only for shorter lines runs on the `regex` package alone."""


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
        return search_timed(self._pattern.search, text, pos, None, budget)

    def collect(self, text: str) -> list[str]:
        """Return all matches that are not empty, in a text that `lines` may search."""
        if self._collect is not None:
            found: list[str] = self._collect(text)
            if len(found) == text.count(self._behind):
                return found
        return [match for match in self._plain(text) if match]
