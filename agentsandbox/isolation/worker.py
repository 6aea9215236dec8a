"""What runs in an isolated process: the session of one sandbox, which obeys the host's messages.

The host owns the files and the state of the shell; the worker has a copy of both. Each call begins
with what the host has changed since the last one, and ends with what the script has changed
(`kernel.fs.deltas`) and with the new state of the shell (`states`), which the host keeps in case
this worker dies.
"""

from __future__ import annotations

import itertools
import os
import signal
import time
from functools import partial

from agentsandbox.commands import COMMANDS, names
from agentsandbox.isolation.messages import ProtocolError, Wire
from agentsandbox.isolation.states import loaded, saved
from agentsandbox.kernel.fs import nodes
from agentsandbox.kernel.fs.deltas import difference, patched
from agentsandbox.kernel.fs.memory import MemoryFileSystem
from agentsandbox.limits import Limits
from agentsandbox.runtime.session import Session

TYPE_CHECKING = False
if TYPE_CHECKING:
    import socket

    from agentsandbox.isolation.messages import Message
    from agentsandbox.kernel.fs.memory import Snapshot

LARGEST = 1 << 31
"""The host is trusted."""


def serve(connection: socket.socket) -> None:
    """Serve one sandbox until the host closes the connection."""
    wire = Wire(connection, LARGEST)
    wire.send("ready", {"pid": os.getpid()})
    # Numbers of files that the host gives out itself are small.
    nodes._numbers = itertools.count(os.getpid() << 32)
    worker: Worker | None = None
    while True:
        try:
            message = wire.receive()
        except ProtocolError:
            return
        if message.kind == "setup":
            worker = Worker(wire, message)
        elif worker is not None and message.kind == "execute":
            worker.execute(message)


class Worker:
    """The session of one sandbox."""

    def __init__(self, wire: Wire, message: Message) -> None:
        options = message.head
        delta, state = message.blobs
        self.wire = wire
        limits = Limits(**options["limits"])
        self.fs = fs = MemoryFileSystem(limits, time.time)
        fs.uid = 0
        self.synced: Snapshot = patched(None, delta, limits)
        fs.restore(self.synced)
        self.limits = limits
        self.session = Session(
            fs,
            limits=limits,
            clock=time.time,
            seed=options["seed"],
            commands=(),
            command_names=partial(sorted, names()),
            user=options["user"],
            hostname=options["hostname"],
            network=None,
            available=COMMANDS,
            script_errexit=options["script_errexit"],
            jobs=options["jobs"],
            environment=options["env"],
            cwd=options["cwd"],
            policy=None,
            kept=loaded(state, fs) if state else None,
        )
        signal.signal(signal.SIGUSR1, self._cancel)
        self._execution: object | None = None

    def _cancel(self, *_: object) -> None:
        self.session.machine.budget.cancel()

    def execute(self, message: Message) -> None:
        """Run a script and answer with its result, the changed files and the shell's state."""
        head = message.head
        delta, stdin = message.blobs
        if delta:
            self.synced = patched(self.synced, delta, self.limits)
            self.fs.restore(self.synced)
        if head["move"] is not None:
            self.session.shell.change_directory(head["move"])
        execution = self.session.execution(
            head["script"],
            head["timeout"],
            stdin if head["stdin"] else None,
            head["env"],
            head["cwd"],
            head["args"],
            head["state"],
            partial(self._write) if head["live"] else None,
            None,
            None,
        )
        result = execution.run()
        now = self.fs.snapshot()
        changed = difference(self.synced, now)
        self.synced = now
        entries = list(result._entries)
        self.wire.send(
            "done",
            {
                "status": result.exit_code,
                "limit": result.limit,
                "duration": result.duration,
                "cwd": self.session.shell.cwd,
                "entries": [[stream, len(data)] for stream, data in entries],
            },
            changed,
            saved(self.session.kept(running=False)),
            b"".join([data for _, data in entries]),
        )

    def _write(self, stream: str, data: bytes) -> None:
        self.wire.send("output", {"stream": stream}, data)
