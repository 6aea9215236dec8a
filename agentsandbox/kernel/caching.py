"""Caches for functions of texts that scripts give: long texts are not kept, for a few hundred of
them would fill the host's memory.
"""

from __future__ import annotations

import functools
import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Concatenate, ParamSpec, TypeVar

    T = TypeVar("T", bound="str | tuple[str, ...]")
    P = ParamSpec("P")
    R = TypeVar("R")

_compiler = getattr(re, "_compiler", None)
"""What `re.compile` asks for a pattern that it has not got."""

LONGEST = 2048
"""Characters of a text whose result is kept."""


def cache_short(
    maxsize: int,
) -> Callable[[Callable[Concatenate[T, P], R]], Callable[Concatenate[T, P], R]]:
    """As `functools.lru_cache`, for a function whose first argument is a text, or several."""

    def decorate(function: Callable[Concatenate[T, P], R]) -> Callable[Concatenate[T, P], R]:
        cached = functools.lru_cache(maxsize=maxsize)(function)

        def choose(text: T, /, *args: P.args, **kwargs: P.kwargs) -> R:
            length = len(text) if isinstance(text, str) else sum(map(len, text))
            return (
                cached(text, *args, **kwargs)
                if length <= LONGEST
                else function(text, *args, **kwargs)
            )  # type: ignore[arg-type]

        return functools.update_wrapper(choose, function)

    return decorate


def compile_pattern(source: str, flags: int = 0) -> re.Pattern[str]:
    """As `re.compile`, but a long pattern does not enter the cache of `re`, which keeps some 500 of
    them for the host.
    """
    if len(source) <= LONGEST or _compiler is None:
        return re.compile(source, flags)
    compiled: re.Pattern[str] = _compiler.compile(source, int(flags))
    return compiled
