"""Regular expressions of awk: compiled patterns that draw on the budget of the run."""

from __future__ import annotations

import re

from agentsandbox.commands.awk.modes import DEFAULT, Mode
from agentsandbox.commands.awk.values import AwkFatal
from agentsandbox.kernel.expressions import lazily
from agentsandbox.kernel.regexps import RegexError, compile_posix

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from agentsandbox.kernel.budget import Budget

_CODE = lazily(r"\\(?:x([0-9a-fA-F]{1,2})|([0-7]{1,3})|.)", re.DOTALL)
_ASSERTIONS = lazily(r"\\[yB<>`']")
_SPECIAL = frozenset("()|*+?.^$\\[]")
_GNU_ESCAPES = frozenset("<>`'BywWsS")
_BRACKETS = lazily(r"\\.|\[\^?+\]?+(?:\\.|\[:[a-z]*+:\]|[^]\\])*+\]?+", re.DOTALL)
_FEW_CHARACTERS = lazily(r"\[[^]\\^[-]{2,4}\]")


def written_plainly(source: str, mode: Mode = DEFAULT) -> str:
    """Return a regular expression with ASCII characters for their codes.

    gawk reads codes first: the code of an operator is that operator, but not in traditional mode,
    which has no operators with a backslash either.
    """
    is_literal = mode.traditional and not mode.posix

    def replace(found: re.Match[str]) -> str:
        if found[1] and mode.posix:
            return found[0][1:]
        if not found[1] and not found[2]:
            return found[0][1] if mode.traditional and found[0][1] in _GNU_ESCAPES else found[0]
        code = int(found[1], 16) if found[1] else int(found[2] or "0", 8)
        if is_literal and chr(code) in _SPECIAL:
            return f"\\{chr(code)}"
        return chr(code) if 0 < code < 128 and code != 92 else found[0]

    if "---" in source:
        source = _BRACKETS.sub(_squeezed, source)
    return _CODE.sub(replace, source) if "\\" in source else source


def _squeezed(found: re.Match[str]) -> str:
    """Return a bracket expression in which three hyphens are one, as gawk has it."""
    return found[0].replace("---", "\\-") if found[0][0] == "[" else found[0]


class Pattern:
    """A pattern.

    `search(text, position)`  returns the leftmost longest match
    `test(text)`              whether there is one
    `split(text)`             returns what is between the matches in a text that is not empty; None
                              where that takes one search after the other
    """

    __slots__ = ("literal", "never_empty", "search", "split", "test")

    search: Callable[..., Any]
    test: Callable[[str], object]

    def __init__(
        self,
        source: str,
        ignore_case: bool,
        budget: Budget,
        *,
        bytewise: bool = False,
        mode: Mode = DEFAULT,
    ) -> None:
        if (len(source) - len(source.rstrip("\\"))) % 2:
            raise AwkFatal(f"invalid regexp: Trailing backslash: /{source}/")
        try:
            regex = compile_posix(
                written_plainly(source, mode),
                ignore_case=ignore_case,
                dialect="awk",
                bytewise=bytewise,
            )
        except RegexError as error:
            raise AwkFatal(f"invalid regexp: {error.message}: /{source}/") from None
        fast, fast_test = regex.fast, regex.fast_test
        self.literal = regex.literal
        """The only text that it matches, "" if there are several."""
        self.never_empty = (
            fast
            if fast is not None and fast.search("") is None and not _ASSERTIONS.search(source)
            else None
        )
        """The `re.Pattern` for substitutions if no match can be empty."""
        self.split = self._splitter(source, ignore_case=ignore_case)
        if fast is not None:
            self.search = fast.search
        else:
            self.search = lambda text, position=0: regex.search(text, position, budget)
        if fast_test is not None:
            self.test = fast_test.search
        else:
            self.test = lambda text: regex.test(text, budget)

    def _splitter(self, source: str, *, ignore_case: bool) -> Callable[[str], list[str]] | None:
        if self.literal:
            literal = self.literal
            return lambda text: text.split(literal)
        if _FEW_CHARACTERS.fullmatch(source) and not ignore_case:
            return _split_by_any(source[1], source[2:-1])
        if self.never_empty is None:
            return None
        split, every = self.never_empty.split, self.never_empty.groups + 1
        return split if every == 1 else lambda text: split(text)[::every]


def _split_by_any(first: str, others: str) -> Callable[[str], list[str]]:
    def split(text: str) -> list[str]:
        for other in others:
            text = text.replace(other, first)
        return text.split(first)

    return split


_LONGEST = 49152
"""Characters of a text that is split in one call."""


def splitter(pattern: Pattern, step: Callable[[], None]) -> Callable[[str], list[str]]:
    """Return a function that returns the pieces between matches, those of a short text at once.

    It runs for every record, so it looks at the length itself instead of calling one that does.
    """
    at_once = pattern.split
    if at_once is None:
        return lambda text: split_by_pattern(pattern, text, step)

    def split(text: str) -> list[str]:
        if len(text) > _LONGEST:
            return split_by_pattern(pattern, text, step)
        return at_once(text) if text else []

    return split


def split_by_pattern(pattern: Pattern, text: str, step: Callable[[], None]) -> list[str]:
    """Return the pieces between matches; a match of nothing separates nothing."""
    if not text:
        return []
    pieces: list[str] = []
    start = position = 0
    end = len(text)
    while position <= end:
        step()
        found = pattern.search(text, position)
        if found is None:
            break
        left, right = found.span()
        if left == right:
            position = left + 1
            if left >= end:
                break
            # a longer match may begin right after: search on, the pieces are unaffected
            continue
        pieces.append(text[start:left])
        start = position = right
    pieces.append(text[start:])
    return pieces
