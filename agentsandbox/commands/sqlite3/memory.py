"""A ceiling for what SQLite takes: it tells nobody how much memory its sorters and temporary tables
hold.
"""

from __future__ import annotations

from time import monotonic

from agentsandbox.errors import LimitReached

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_usage: Any = None
"""The module `resource`, where there is one."""
try:
    import resource
except ImportError:  # Windows
    pass
else:
    _usage = resource

_PAUSE = 0.001
"""Seconds between two looks."""
_PAGE = 4096


def _touched() -> int | None:
    """Bytes of memory that this thread has used for the first time, some of them more than once;
    None where nobody tells.
    """
    if not hasattr(_usage, "RUSAGE_THREAD"):
        return None
    touched: int = _usage.getrusage(_usage.RUSAGE_THREAD).ru_minflt * _PAGE
    return touched


def _resident() -> int:
    """Bytes of memory that the process has, or the most it ever had; 0 where nobody tells."""
    try:
        with open("/proc/self/statm", "rb") as file:
            return int(file.read().split()[1]) * _PAGE
    except OSError:
        pass
    if _usage is None:
        return 0
    peak: int = _usage.getrusage(_usage.RUSAGE_SELF).ru_maxrss
    return peak if peak > 1 << 32 else peak * 1024  # macOS counts bytes, others KiB


class MemoryWatch:
    """Looks now and then whether the process has grown by more than `most` bytes through this
    thread, roughly.

    Only when the thread has touched half as much is the process looked at.
    """

    __slots__ = ("_before", "_next", "_resident", "_some")

    def __init__(self, most: int) -> None:
        self._some = most // 2
        self._before = _touched()
        self._resident: int | None = None
        """What the process had when it was first looked at."""
        self._next = 0.0

    def look(self) -> None:
        """Raise `LimitReached` if it has."""
        now = monotonic()
        if now < self._next:
            return
        self._next = now + _PAUSE
        touched = _touched()
        if touched is not None and self._before is not None and touched - self._before < self._some:
            return
        resident = _resident()
        if self._resident is None:
            self._resident = resident
        elif resident - self._resident > self._some:
            raise LimitReached("value_bytes")
