"""Searches that `re` does not run: their matches, and the time limit of the `regex` package."""

from __future__ import annotations

from agentsandbox.errors import LimitReached

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re
    from typing import Any, TypeAlias

    from agentsandbox.kernel.budget import Budget

    Match: TypeAlias = "re.Match[str] | Span"

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


def _timeout(budget: Budget | None) -> float:
    return _PATIENCE if budget is None else max(0.05, budget.remaining())


def search_timed(
    search: Any, text: str, pos: int, end: int | None, budget: Budget | None
) -> Match | None:
    """Call a method of a pattern of the `regex` package, within the remaining time."""
    stop = len(text) if end is None else end
    try:
        found: Match | None = search(text, pos, stop, timeout=_timeout(budget))
    except TimeoutError:
        raise LimitReached("timeout") from None
    except MemoryError:
        raise LimitReached("value_bytes", "the pattern takes too much to match") from None
    if budget is not None:
        budget.check_time()
    return found
