"""Shell patterns for file names: regular expressions for tools and pathname expansion."""

from __future__ import annotations

import functools
import re
from operator import methodcaller

from agentsandbox.errors import LimitReached
from agentsandbox.kernel.caching import compile_pattern
from agentsandbox.kernel.expressions import lazily
from agentsandbox.kernel.patterns.matchers import (
    EXTENDED,
    SHORT,
    ExtendedPattern,
    Patience,
    translate,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Protocol

    class GlobMatcher(Protocol):
        """The interface of what `compile_glob` returns."""

        def fullmatch(self, text: str, /) -> object: ...
        def match(self, text: str, /) -> object: ...


_PLAIN = lazily(r"[^*?\[\\(]*+")


class ExtendedGlob:
    """An extended pattern for file names, with the interface of a compiled expression."""

    __slots__ = ("machine",)

    def __init__(self, machine: ExtendedPattern) -> None:
        self.machine = machine

    def fullmatch(self, text: str) -> str | None:
        """Return the text if the pattern matches all of it."""
        return text if len(text) in self.machine.ends(text, 0, Patience()) else None

    match = fullmatch


def compile_glob(
    pattern: str,
    *,
    ignore_case: bool = False,
    pathname: bool = False,
    period: bool = False,
    extglob: bool = True,
) -> re.Pattern[str] | ExtendedGlob:
    """Return a matcher of whole strings (`fullmatch` or `match`) for a shell pattern.

    pathname  `*`, `?` and […] do not match "/"
    period    a leading "." must be matched by a "."
    extglob   bash's `@(…)` and the like are operators; for `fnmatch(3)` they are not
    """
    make = _cached_glob if len(pattern) <= SHORT else _compile_glob
    return make(pattern, ignore_case, pathname, period, extglob)


def _compile_glob(
    pattern: str, ignore_case: bool, pathname: bool, period: bool, extglob: bool
) -> re.Pattern[str] | ExtendedGlob:
    flags = re.DOTALL | (re.IGNORECASE if ignore_case else 0)
    if extglob and not pathname and not period and EXTENDED.search(pattern):
        return ExtendedGlob(ExtendedPattern.of(pattern, flags))
    try:
        source = translate(pattern, pathname=pathname, period=period, extglob=extglob)
        return compile_pattern(source + r"\Z", flags)
    except (re.error, RecursionError, OverflowError):
        raise LimitReached("value_bytes", "the pattern is too complex") from None


_cached_glob = functools.lru_cache(maxsize=2048)(_compile_glob)


def glob_matcher(
    pattern: str, *, ignore_case: bool = False, extglob: bool = True
) -> Callable[[str], object]:
    """Return a test of whole strings for a shell pattern; the common ones need no `re`."""
    body, open_end = pattern.strip("*"), pattern.endswith("*")
    if ignore_case or not _PLAIN.fullmatch(body):
        return compile_glob(pattern, ignore_case=ignore_case, extglob=extglob).match
    if pattern.startswith("*"):
        return methodcaller("__contains__" if open_end else "endswith", body)
    return methodcaller("startswith", body) if open_end else pattern.__eq__
