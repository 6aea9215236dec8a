"""`HostInput`: an open file of the host as the standard input of a script.

Other inputs are complete before the script begins. This one may be a pipe that somebody keeps open
without writing: a script that does not read never waits for it. While a script waits for input,
other processes of the sandbox run; the time counts against the script's timeout.
"""

from __future__ import annotations

import os

from agentsandbox.kernel.streams import BLOCK, Stream

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.kernel.processes import Scheduler

__all__ = ["HostInput"]

POLL_SECONDS = 0.01
"""How often a waiting script looks for input."""


class HostInput(Stream):
    """Reads a file descriptor of the host (0: its standard input), for one execution at a time."""

    __slots__ = ("_descriptor", "_held", "_is_at_end", "scheduler")

    def __init__(self, descriptor: int) -> None:
        super().__init__()
        self._descriptor = descriptor
        self._held = b""
        self._is_at_end = False
        self.scheduler: Scheduler | None = None
        """Set by the execution."""

    def read(self, size: int = -1) -> bytes:
        if size < 0:
            return self._read_all()
        if not self._held:
            self._fill()
        taken, self._held = self._held[:size], self._held[size:]
        return taken

    def _read_all(self) -> bytes:
        parts = [self._held]
        total = len(self._held)
        self._held = b""
        while self._fill():
            total += len(self._held)
            if self.scheduler is not None:
                self.scheduler.charge(total)
            parts.append(self._held)
            self._held = b""
        return b"".join(parts)

    def readline(self, end: bytes = b"\n") -> bytes:
        parts: list[bytes] = []
        total = 0
        while self._held or self._fill():
            found = self._held.find(end)
            if found >= 0:
                parts.append(self._held[: found + 1])
                self._held = self._held[found + 1 :]
                break
            total += len(self._held)
            if self.scheduler is not None:
                self.scheduler.charge(total)
            parts.append(self._held)
            self._held = b""
        return b"".join(parts)

    def has_input(self) -> bool:
        """Whether a read would return at once."""
        return bool(self._held) or self._is_at_end or self._is_ready()

    def _is_ready(self) -> bool:
        """Whether the next block, or the end, is there."""
        from select import select

        try:
            return bool(select([self._descriptor], [], [], 0)[0])
        except (OSError, ValueError):  # not something to wait for, on this system
            return True

    def _fill(self) -> bool:
        """Wait for the next block and keep it; return False at the end."""
        if self._is_at_end:
            return False
        while self.scheduler is not None and not self.has_input():
            self.scheduler.block(self.has_input, POLL_SECONDS)
        self._held = self._next_block()
        self._is_at_end = not self._held
        return not self._is_at_end

    def _next_block(self) -> bytes:
        """Read the next block, b"" at the end, which may take time unless it is ready."""
        return os.read(self._descriptor, BLOCK)

    def _unread(self) -> bytes:
        """Return what was read ahead and nobody has taken."""
        return self._held

    def _put_back(self, data: bytes) -> None:
        """Make `data` what is read next."""
        self._held = data + self._held
