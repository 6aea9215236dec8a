"""A sorted run in packed form: chunks of joined lines, from which pieces are taken."""

from __future__ import annotations

from bisect import bisect_left, bisect_right

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any


class PackedRun:
    """Sorted lines in packed chunks; `firsts` has the value of the first line of each chunk.

    Lines are taken from either end. `_open` holds lines that were unpacked and not yet taken.
    """

    __slots__ = ("_chunks", "_end", "_high", "_low", "_open", "_paired", "_values", "firsts")

    def __init__(
        self,
        keys: list[Any],
        lines: list[Any],
        end: Any,
        values: Callable[[Sequence[Any]], list[Any]] | None,
        chunk: int,
        *,
        paired: bool,
    ) -> None:
        self._paired = paired
        firsts = keys[::chunk]
        self.firsts = list(zip(firsts, lines[::chunk], strict=True)) if paired else firsts
        starts = range(0, len(lines), chunk)
        self._chunks = [end.join(lines[start : start + chunk]) for start in starts]
        self._end = end
        self._values = values
        self._low, self._high = 0, len(self._chunks)
        self._open: list[Any] = []

    def _unpack(self, low: int, high: int) -> list[Any]:
        lines: list[Any] = []
        for at in range(low, high):
            lines += self._chunks[at].split(self._end)
            self._chunks[at] = None
        return lines

    def _cut(self, keys: list[Any], lines: list[Any], splitter: Any) -> int:
        """Return how many lines come before the splitter: a value, or a pair of value and line."""
        if not self._paired:
            return bisect_left(keys, splitter)
        key, line = splitter
        start = bisect_left(keys, key)
        return bisect_left(lines, line, start, bisect_right(keys, key, start))

    def below(self, splitter: Any) -> tuple[list[Any], list[Any]]:
        """Return (values, lines) of the lines before the splitter; None means all lines."""
        high = self._high
        if splitter is not None:
            high = bisect_left(self.firsts, splitter, self._low, high)
        lines = self._open + self._unpack(self._low, high)
        self._low = high
        keys = lines if self._values is None else self._values(lines)
        cut = len(keys) if splitter is None else self._cut(keys, lines, splitter)
        self._open = lines[cut:]
        return keys[:cut], lines[:cut]

    def above(self, splitter: Any) -> tuple[list[Any], list[Any]]:
        """Return (values, lines) of the lines from the splitter on; None means all lines."""
        low = 0
        if splitter is not None:
            low = max(bisect_left(self.firsts, splitter, 0, self._high) - 1, 0)
        lines = self._unpack(low, self._high) + self._open
        self._high = min(low, self._high)
        keys = lines if self._values is None else self._values(lines)
        cut = 0 if splitter is None else self._cut(keys, lines, splitter)
        self._open = lines[:cut]
        return keys[cut:], lines[cut:]
