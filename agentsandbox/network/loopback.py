"""The loopback of one sandbox: 127.0.0.1, ::1 and localhost, which only its processes reach.

A process listens on a port, another one connects, and each gets one `Endpoint` of a connection: two
pipes of the scheduler, one for each direction. Nothing of this is a socket of the host.
"""

from __future__ import annotations

import errno
import os
from collections import deque

from agentsandbox.errors import PipeClosed
from agentsandbox.kernel.streams import PIPE_BYTES, Pipe

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.kernel.accounts import Held
    from agentsandbox.kernel.processes import Scheduler

__all__ = ["Endpoint", "Listener", "Loopback"]

_FIRST_FREE, _LAST_PORT = 32768, 65535
_SOON, _PATIENCE = 0.01, 50
"""How long a connection waits for a listener while there are jobs: the seconds of one wait, and the
number of waits while one of the jobs computes."""
_MOST_WAITING = 128
"""Connections that wait to be accepted."""
_MOST_LISTENERS = 1024


def _error(number: int) -> OSError:
    return OSError(number, os.strerror(number))


class _Direction(Pipe):
    """One direction of a connection, which holds as much as Linux does: a program whose threads
    take turns may be on both sides. What it holds counts as a value of the scripts.
    """

    __slots__ = ("_held",)

    capacity = 4 << 20

    def __init__(self, scheduler: Scheduler) -> None:
        super().__init__(scheduler)
        self._held: Held | None = None

    def put(self, data: bytes) -> None:
        super().put(data)
        if self._size > PIPE_BYTES:
            budget = self.scheduler.budget
            if self._held is None:
                self._held = budget.hold(self._size)
            else:
                self._held.grow(self._size - self._held.size)
                budget.charge(len(data))

    def read(self, size: int = -1) -> bytes:
        data = super().read(size)
        if self._held is not None and self._size <= PIPE_BYTES:
            self._held.release()
            self._held = None
        return data


class Endpoint:
    """One side of a connection; `local` and `remote` are (address, port)."""

    def __init__(
        self, incoming: Pipe, outgoing: Pipe, local: tuple[str, int], remote: tuple[str, int]
    ) -> None:
        self._incoming = incoming
        self._outgoing = outgoing
        self.local = local
        self.remote = remote
        self._sends = self._receives = True

    def has_input(self) -> bool:
        """Whether `read` would return at once."""
        return not self._receives or self._incoming.has_input()

    def has_room(self) -> bool:
        """Whether `write` would return at once."""
        return not self._sends or self._outgoing.has_room()

    def read(self, size: int) -> bytes:
        """Return up to `size` bytes, waiting for the first; b"" at the end."""
        return self._incoming.read(size) if self._receives else b""

    def wait(self, timeout: float | None) -> bool:
        """Wait for input or the end; return False if `timeout` seconds pass first."""
        return self._incoming.scheduler.block(self.has_input, timeout)

    def write(self, data: bytes) -> None:
        """Send all of `data`; EPIPE if the other side is closed."""
        if not self._sends:
            raise _error(errno.EPIPE)
        try:
            self._outgoing.write(data)
        except PipeClosed:
            raise _error(errno.EPIPE) from None

    def put(self, data: bytes) -> None:
        """Send `data` when there is room, without waiting until it is received; EPIPE as above."""
        if not self._sends:
            raise _error(errno.EPIPE)
        try:
            self._outgoing.put(data)
        except PipeClosed:
            raise _error(errno.EPIPE) from None

    def end_output(self) -> None:
        """Send the end; the other side may still send."""
        if self._sends:
            self._sends = False
            self._outgoing.release()

    def end_input(self) -> None:
        """Receive nothing more; the other side gets EPIPE."""
        if self._receives:
            self._receives = False
            self._incoming.close_reader()

    def close(self) -> None:
        """Close both directions."""
        self.end_output()
        self.end_input()


class Listener:
    """A port on which a process accepts connections."""

    def __init__(self, loopback: Loopback, address: str, port: int, backlog: int) -> None:
        self._loopback = loopback
        self.local = (address, port)
        self.backlog = max(1, min(backlog, _MOST_WAITING))
        self._waiting: deque[Endpoint] = deque()
        self.is_closed = False

    def has_input(self) -> bool:
        """Whether `accept` would return at once."""
        return bool(self._waiting) or self.is_closed

    def wait(self, timeout: float | None) -> bool:
        """Wait for a connection; return False if `timeout` seconds pass first."""
        return self._loopback.scheduler.block(self.has_input, timeout)

    def accept(self) -> Endpoint:
        """Return the next connection, waiting for it; EINVAL if the port was closed."""
        self.wait(None)
        if not self._waiting:
            raise _error(errno.EINVAL)
        return self._waiting.popleft()

    def push(self, endpoint: Endpoint) -> None:
        """Let a connection wait; ECONNREFUSED if too many do."""
        if len(self._waiting) >= self.backlog:
            raise _error(errno.ECONNREFUSED)
        self._waiting.append(endpoint)

    def close(self) -> None:
        """Give the port back; connections that wait are closed."""
        if not self.is_closed:
            self.is_closed = True
            self._loopback.forget(self)
            for endpoint in self._waiting:
                endpoint.close()
            self._waiting.clear()


class Loopback:
    """The ports of one sandbox. A port is one for all its addresses, IPv4 and IPv6."""

    def __init__(self, scheduler: Scheduler) -> None:
        self.scheduler = scheduler
        self._listeners: dict[int, Listener] = {}
        self._last = _FIRST_FREE - 1

    def listen(self, port: int, *, address: str = "127.0.0.1", backlog: int = 128) -> Listener:
        """Listen on a port, 0 for a free one; EADDRINUSE if another process does."""
        if not port:
            port = self.free_port()
        elif port in self._listeners:
            raise _error(errno.EADDRINUSE)
        if len(self._listeners) >= _MOST_LISTENERS:
            raise _error(errno.ENOBUFS)
        made = self._listeners[port] = Listener(self, address, port, backlog)
        return made

    def free_port(self) -> int:
        """Return a port on which nobody listens."""
        for _ in range(_LAST_PORT - _FIRST_FREE + 1):
            self._last = _FIRST_FREE if self._last >= _LAST_PORT else self._last + 1
            if self._last not in self._listeners:
                return self._last
        raise _error(errno.EADDRINUSE)

    def forget(self, listener: Listener) -> None:
        """Free the port of a listener."""
        self._listeners.pop(listener.local[1], None)

    def listens(self, port: int) -> bool:
        """Whether a process listens on a port."""
        return port in self._listeners

    def connect(self, port: int, *, address: str = "127.0.0.1") -> Endpoint:
        """Return the connecting side of a new connection; ECONNREFUSED if nobody listens.

        Jobs may run for a moment first: one that was just started may be about to listen.
        """
        scheduler = self.scheduler
        if scheduler.processes:
            for _ in range(_PATIENCE):
                if scheduler.block(lambda: port in self._listeners, _SOON):
                    break
                if not scheduler.is_busy():
                    break
        listener = self._listeners.get(port)
        if listener is None:
            raise _error(errno.ECONNREFUSED)
        here, there = (address, self.free_port()), (address, port)
        up, down = _Direction(self.scheduler), _Direction(self.scheduler)
        listener.push(Endpoint(up, down, there, here))
        return Endpoint(down, up, here, there)
