"""Caches for functions of strings that scripts choose.

Results for long strings are not kept: a few hundred of them would fill the host's memory.
"""

# TM-TIME-2

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re
    from collections.abc import Callable, Hashable
    from functools import lru_cache
    from typing import Any, Concatenate, ParamSpec, TypeVar

    T = TypeVar("T", bound="str | tuple[str, ...]")
    P = ParamSpec("P")
    R = TypeVar("R")
else:
    # Importing `functools` takes as long as a fifth of the shell: it needs `collections`. Its cache
    # is written in C, in the module below it.
    try:
        from _functools import _lru_cache_wrapper
    except ImportError:  # a Python that has it elsewhere
        from functools import lru_cache
    else:

        def lru_cache(maxsize):
            """Cache like `functools.lru_cache`."""

            def decorate(function):
                cached = _lru_cache_wrapper(function, maxsize, False, _figures)
                _name_like(cached, function)
                return cached

            return decorate


__all__ = ["LONGEST", "Kept", "cache_short", "compile_pattern", "lru_cache"]


def _figures(*figures: int) -> tuple[int, ...]:
    """Return what a cache says of itself: hits, misses, its size at most and now."""
    return figures


def _name_like(wrapper: Any, function: Any) -> None:
    """Give a wrapper the names and the docstring of what it wraps."""
    wrapper.__module__, wrapper.__doc__ = function.__module__, function.__doc__
    wrapper.__name__, wrapper.__qualname__ = function.__name__, function.__qualname__
    wrapper.__wrapped__ = function


LONGEST = 2048
"""Longest string whose result is kept, in characters."""


def cache_short(
    maxsize: int,
) -> Callable[[Callable[Concatenate[T, P], R]], Callable[Concatenate[T, P], R]]:
    """Cache like `functools.lru_cache` a function whose first argument is a string or several."""

    def decorate(function: Callable[Concatenate[T, P], R]) -> Callable[Concatenate[T, P], R]:
        cached = lru_cache(maxsize=maxsize)(function)

        def choose(text: T, /, *args: P.args, **kwargs: P.kwargs) -> R:
            length = len(text) if isinstance(text, str) else sum(map(len, text))
            if length > LONGEST:
                return function(text, *args, **kwargs)
            return cached(text, *args, **kwargs)  # type: ignore[arg-type]

        _name_like(choose, function)
        return choose

    return decorate


class Kept:
    """Keeps the values that were put in or asked for last: `most` to twice as many.

    Unlike `functools.lru_cache` a look for what is not there leaves nothing behind. A caller in a
    hurry looks into `recent` first, which has the values that were put in last.
    """

    __slots__ = ("_most", "_old", "recent")

    def __init__(self, most: int) -> None:
        self._most = most
        self.recent: dict[Any, Any] = {}
        self._old: dict[Any, Any] = {}

    def get(self, key: Hashable) -> Any:
        """Return the value of a key, None if there is none."""
        value = self.recent.get(key)
        if value is None and key in self._old:
            value = self._old.get(key)
            if value is not None:
                self.put(key, value)
        return value

    def put(self, key: Hashable, value: object) -> None:
        """Keep a value."""
        if len(self.recent) >= self._most:
            self._old, self.recent = self.recent, {}
        self.recent[key] = value

    def clear(self) -> None:
        """Forget all values."""
        self._old, self.recent = {}, {}


def compile_pattern(source: str, flags: int = 0) -> re.Pattern[str]:
    """Compile a pattern like `re.compile`, but keep long ones out of the cache of `re`."""
    import re

    # the compiler behind `re.compile`, which has no cache
    compiler = getattr(re, "_compiler", None)
    if len(source) <= LONGEST or compiler is None:
        return re.compile(source, flags)
    compiled: re.Pattern[str] = compiler.compile(source, int(flags))
    return compiled
