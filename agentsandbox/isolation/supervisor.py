"""The host's processes: one nursery for each process of the host, and workers that it forks.

A nursery takes a second to start, a worker some milliseconds; so a few workers wait in advance. A
worker serves one sandbox from its first call on, and never another one. Idle workers cost memory:
beyond `MOST_IDLE` the one that has rested longest is ended. Its sandbox loses nothing, because the
host has its files and the state of its shell.

After `os.fork` the child has its parent's nursery and workers in memory. They are not its own: it
starts a nursery of its own and never sends a signal to processes of its parent.
"""

from __future__ import annotations

import array
import atexit
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import weakref
from collections import OrderedDict, deque

from agentsandbox.errors import SandboxError
from agentsandbox.isolation.messages import ProtocolError, Wire

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Protocol

    class Resting(Protocol):
        """A session whose worker may be ended to save memory."""

        def rest(self) -> None: ...


START_SECONDS = 120.0
"""Seconds that a nursery has to start, on a busy machine."""

PATIENCE = 5.0
"""Seconds that one message may take, besides the time for its size."""

SPARE = 2
"""Workers that wait in advance in a host that has asked for several; one that has a single sandbox
needs none."""

MOST_IDLE = 32
"""Workers that rest between two calls of their sandboxes."""

_PROGRAM = """
import json, sys
package, path = json.loads(sys.argv[2])
sys.path[:] = [package, *path]
import agentsandbox
sys.path[:] = [*path, package]
from agentsandbox.isolation.nursery import main
main(int(sys.argv[1]), sys.argv[3].split())
"""

_ENVIRONMENT = {"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8"}


def missing() -> str | None:
    """Return why there can be no isolated processes on this system; None if there can."""
    if hasattr(os, "pidfd_open") and hasattr(signal, "pidfd_send_signal") and hasattr(os, "fork"):
        return None
    return "it needs Linux 5.3 or newer"


def check_available() -> None:
    """Raise `SandboxError` where there are no isolated processes."""
    reason = missing()
    if reason is not None:
        raise SandboxError(f"isolation='process' is not available here: {reason}")


class Worker:
    """A process that runs the scripts of one sandbox."""

    __slots__ = ("_handle", "_owner", "is_confined", "report", "wire")

    def __init__(self, wire: Wire, pid: int) -> None:
        self._handle = os.pidfd_open(pid)
        self._owner = os.getpid()
        self.wire = wire
        self.is_confined = False
        """Whether it has answered its first message."""
        self.report: dict[str, str] = {}

    @property
    def is_usable(self) -> bool:
        """Whether it lives, is a worker of this process, and has nothing to say."""
        return self._owner == os.getpid() and not self.wire.is_readable(0)

    def signal(self, number: int) -> None:
        """Send a signal, unless the process has ended."""
        if self._handle >= 0 and self._owner == os.getpid():
            try:
                signal.pidfd_send_signal(self._handle, number)
            except ProcessLookupError:
                pass

    def cancel(self) -> None:
        """Ask the process to end its script."""
        self.signal(signal.SIGUSR1)

    def end(self) -> None:
        """End the process at once."""
        self.signal(signal.SIGKILL)
        self.wire.close()
        handle, self._handle = self._handle, -1
        if handle >= 0:
            os.close(handle)

    def __del__(self) -> None:
        # a busy process would not notice that its connection is closed
        if self._handle >= 0:
            self.end()


class Nursery:
    """The process that forks workers."""

    def __init__(self, guests: str) -> None:
        self._owner = os.getpid()
        self._lock = threading.RLock()
        self._spare: deque[Wire] = deque()
        self._given = 0
        """Workers that were handed out."""
        self._idle: OrderedDict[int, weakref.ref[Resting]] = OrderedDict()
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
        with theirs:
            self._process = _started(theirs, guests)
        self._socket = ours
        ours.settimeout(START_SECONDS)
        try:
            answer = ours.recv(1)
        except OSError:
            answer = b""
        if answer != b"r":
            self.close()
            raise SandboxError("isolation='process': the process that makes workers did not start")
        ours.settimeout(None)
        atexit.register(self.close)

    @property
    def is_alive(self) -> bool:
        """Whether it can make workers for this process."""
        return self._owner == os.getpid() and self._process.poll() is None

    def worker(self, largest: int) -> Worker:
        """Return a new worker; `largest` is the largest message that it may send."""
        with self._lock:
            for _ in range(2 * SPARE + 2):
                while len(self._spare) <= min(SPARE, self._given):
                    self._order()
                connection = self._spare.popleft()
                wire = Wire(connection.socket, largest, PATIENCE)
                try:
                    worker = Worker(wire, wire.receive().number("pid", 1))
                    self._given += 1
                    return worker
                except (ProtocolError, OSError):  # it was killed while it waited
                    wire.close()
        raise SandboxError("isolation='process': no worker can be started")

    def _order(self) -> None:
        """Ask for a worker, which arrives in its own time."""
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
        with theirs:
            rights = array.array("i", [theirs.fileno()])
            try:
                self._socket.sendmsg([b"w"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, rights)])
            except OSError as error:
                ours.close()
                raise SandboxError(f"isolation='process': no worker: {error}") from None
        self._spare.append(Wire(ours, 1 << 10))

    def rests(self, session: Resting) -> None:
        """Note that a session's worker has nothing to do; end that of the one idle longest."""
        key = id(session)
        with self._lock:
            self._idle.pop(key, None)
            self._idle[key] = weakref.ref(session, lambda _: self._idle.pop(key, None))
            oldest = None
            if len(self._idle) > MOST_IDLE:
                oldest = self._idle.popitem(last=False)[1]()
        if oldest is not None:
            oldest.rest()

    def works(self, session: Resting) -> None:
        """Note that a session's worker is in use, or ended."""
        self._idle.pop(id(session), None)

    def close(self) -> None:
        """End the process and the workers that wait; those of sandboxes end with it."""
        if self._owner != os.getpid():
            return
        atexit.unregister(self.close)
        self._socket.close()
        while self._spare:
            self._spare.pop().close()
        self._process.kill()
        self._process.wait()


def _started(connection: socket.socket, guests: str) -> subprocess.Popen[bytes]:
    """Start a nursery that knows nothing of the host but where Python's modules are."""
    package = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    path = [os.path.abspath(entry) for entry in sys.path if entry]
    number = connection.fileno()
    return subprocess.Popen(
        [sys.executable, "-I", "-c", _PROGRAM, str(number), json.dumps([package, path]), guests],
        pass_fds=[number],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=_ENVIRONMENT,
        cwd="/",
        start_new_session=True,
    )


_nurseries: dict[tuple[int, str], Nursery] = {}
"""The nurseries of this process, by process number (those of a parent stay with it), and the guests
that their workers run."""
_starting = threading.Lock()


def nursery(guests: str = "") -> Nursery:
    """Return the nursery of this process, started when first needed or after it has died.

    `guests` names the guests that its workers run: "python", "javascript", both, or "".
    """
    with _starting:
        key = os.getpid(), guests
        found = _nurseries.get(key)
        if found is None or not found.is_alive:
            if found is not None:
                found.close()
            found = _nurseries[key] = Nursery(guests)
        return found


def _forget_locks() -> None:
    """Make new locks after a fork: another thread of the parent may have held them."""
    global _starting
    _starting = threading.Lock()


os.register_at_fork(after_in_child=_forget_locks)
