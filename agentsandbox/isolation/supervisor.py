"""The host's side of an isolated sandbox: it starts workers, talks to them, and outlives them."""

from __future__ import annotations

import array
import os
import signal
import socket
import subprocess
import sys
import threading
from time import monotonic

from agentsandbox.errors import SandboxError
from agentsandbox.isolation.messages import ProtocolError, Wire
from agentsandbox.kernel.fs.deltas import DeltaError, difference, patched

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from agentsandbox.kernel.fs.memory import MemoryFileSystem, Snapshot
    from agentsandbox.limits import Limits

GRACE = 0.5
"""Seconds that a worker has after its script's timeout to answer."""


class Nursery:
    """The process that forks workers; one for each process of the host."""

    def __init__(self) -> None:
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
        with theirs:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "agentsandbox.isolation.nursery", str(theirs.fileno())],
                pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL,
            )
        self._socket = ours
        self._lock = threading.Lock()
        if ours.recv(1) != b"r":
            raise SandboxError("the process that makes workers did not start")

    def worker(self, largest: int) -> Worker:
        """Return a new worker; `largest` is the largest message that it may send."""
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
        with theirs, self._lock:
            rights = array.array("i", [theirs.fileno()])
            self._socket.sendmsg([b"w"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, rights)])
        wire = Wire(ours, largest)
        return Worker(wire, wire.receive().head["pid"])


class Worker:
    """A process that runs the scripts of one sandbox."""

    def __init__(self, wire: Wire, pid: int) -> None:
        self.wire = wire
        self._handle = os.pidfd_open(pid)

    def signal(self, number: int) -> None:
        """Send a signal, unless the process has ended."""
        try:
            signal.pidfd_send_signal(self._handle, number)
        except ProcessLookupError:
            pass

    def end(self) -> None:
        """End the process at once."""
        self.signal(signal.SIGKILL)
        self.wire.close()
        os.close(self._handle)


class IsolatedSession:
    """The files and the state of a sandbox whose scripts run in workers."""

    def __init__(self, fs: MemoryFileSystem, limits: Limits, nursery: Nursery, setup: dict[str, Any]) -> None:
        self.fs = fs
        self.limits = limits
        self.nursery = nursery
        self.setup = setup
        self.cwd: str = setup["cwd"]
        self.state = b""
        self.worker: Worker | None = None
        self.synced: Snapshot | None = None

    def execute(self, script: str, timeout: float = 30.0) -> tuple[int, str | None, list[tuple[int, bytes]]]:
        now = self.fs.snapshot()
        if self.worker is None:
            self.worker = self.nursery.worker(self.limits.total_bytes + 4 * self.limits.output_bytes)
            self.worker.wire.send("setup", {**self.setup, "cwd": self.cwd}, difference(None, now), self.state)
            delta = b""
        else:
            delta = difference(self.synced, now)
        head = {"script": script, "timeout": timeout, "stdin": False, "env": None, "cwd": None, "args": [],
                "state": "keep", "live": False, "move": None}
        wire = self.worker.wire
        deadline = monotonic() + timeout + GRACE
        try:
            wire.send("execute", head, delta, b"")
            if not wire.is_readable(deadline - monotonic()):
                raise ProtocolError("late")
            message = wire.receive()
            head = message.head
            changed, state, output = message.blobs
            after = patched(now, changed, self.limits)
        except (ProtocolError, DeltaError) as error:
            self.worker.end()
            self.worker = None
            return 137, "process", [(2, str(error).encode())]
        if after is not now:
            self.fs.restore(after)
        self.synced = after
        self.state = state
        self.cwd = head["cwd"]
        entries, at = [], 0
        for stream, size in head["entries"]:
            entries.append((stream, output[at : at + size]))
            at += size
        return head["status"], head["limit"], entries
