"""A ceiling for what SQLite takes: it tells nobody how much memory its sorters and temporary tables hold."""

from __future__ import annotations

from time import monotonic

from agentsandbox.errors import LimitReached

__all__ = ["MemoryWatch"]

_PAUSE = 0.001
"""Seconds between two looks: asking the system takes a hundredth of it."""
_PAGE = 4096


def _resident() -> int:
    """Bytes of memory that the process has, where the system tells; at least what it once had, or 0, elsewhere."""
    try:
        with open("/proc/self/statm", "rb") as file:
            return int(file.read().split()[1]) * _PAGE
    except OSError:
        pass
    try:
        import resource
    except ImportError:
        return 0
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if peak > 1 << 32 else peak * 1024  # macOS counts bytes, others KiB


class MemoryWatch:
    """Looks now and then whether the process has grown by more than `most` bytes since this was made."""

    __slots__ = ("_before", "_most", "_next")

    def __init__(self, most: int) -> None:
        self._most = most
        self._before = _resident()
        self._next = 0.0

    def look(self) -> None:
        """Raise `LimitReached` if it has."""
        now = monotonic()
        if now >= self._next:
            self._next = now + _PAUSE
            if _resident() - self._before > self._most:
                raise LimitReached("value_bytes")
