"""A ceiling for the memory of one SQLite connection.

A query may hold any amount of memory: sorters, the tables behind DISTINCT, GROUP BY and recursive
queries, and automatic indexes are all kept in memory here, because temporary files would be files
of the host. SQLite offers no limit for one connection that covers them:

* `max_page_count` bounds the pages of a named database, and is set for each. The tables of a query
  are databases of their own without a name, so no pragma reaches them.
* `SQLITE_LIMIT_LENGTH` bounds one value or row, and is set. It says nothing about their number.
* `hard_heap_limit` counts all memory of the *process*: it would also stop the host's own databases.
* The counters of memory in use (`sqlite3_db_status`) are not available from Python.

So the size of the process is observed while a statement runs, from the progress handler. To ask is
slow, so first the page faults of this thread are counted, which is cheap: only a thread that has
touched much new memory makes its process look. Both figures come from the host, but they are only
compared with earlier ones, and nothing of them reaches a script.
"""

from __future__ import annotations

from time import monotonic

from agentsandbox.errors import LimitReached

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_usage: Any = None
"""The module `resource`, None on Windows."""
try:
    import resource
except ImportError:
    pass
else:
    _usage = resource

_PAUSE = 0.001
"""Seconds between two measurements."""
_PAGE = 4096


def _touched() -> int | None:
    """Return the bytes that this thread has touched, None if the system does not count them."""
    if not hasattr(_usage, "RUSAGE_THREAD"):
        return None
    touched: int = _usage.getrusage(_usage.RUSAGE_THREAD).ru_minflt * _PAGE
    return touched


def _resident() -> int:
    """Return the bytes of the process, or the most it ever had, 0 if unknown."""
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
    """Notices when the process has grown by more than `most` bytes through this thread, roughly."""

    __slots__ = ("_before", "_next", "_resident", "_some")

    def __init__(self, most: int) -> None:
        self._some = most // 2
        self._before = _touched()
        self._resident: int | None = None
        """The size of the process when it was first measured."""
        self._next = 0.0

    def look(self) -> None:
        """Raise `LimitReached` if the process has grown too much."""
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
