"""What runs in an isolated process: the session of one sandbox, which obeys the host's messages.

The host owns the files and the state of the shell; the worker has a copy of both. Each call begins
with what the host has changed since the last one, and ends with what the script has changed
(`kernel.fs.deltas`) and with the new state of the shell (`states`), which the host keeps in case
this worker dies.

What belongs to the host (its policy, its clock, its ears for output) stays there: the worker sends
a request and waits for the answer. The whole process waits, so no other process of the sandbox runs
meanwhile, as when the policy of an ordinary sandbox is called.
"""

from __future__ import annotations

import logging
import os
import signal
import time
import traceback
from array import array
from functools import partial

from agentsandbox.commands import COMMANDS, names
from agentsandbox.errors import LimitReached, PipeClosed
from agentsandbox.isolation.confinement import confine
from agentsandbox.isolation.guests import javascript_runtime, needs, python_runtime
from agentsandbox.isolation.host_network import RemoteNetwork, worker_policy
from agentsandbox.isolation.host_remotes import worker_remotes
from agentsandbox.isolation.messages import ProtocolError, Wire, packed, unpacked
from agentsandbox.isolation.proxies import Mounts, RemoteInput
from agentsandbox.isolation.relay import Relay
from agentsandbox.isolation.states import PARTS, Saver, loaded
from agentsandbox.isolation.stubs import stub
from agentsandbox.kernel.budget import CANCELLED
from agentsandbox.kernel.fs.deltas import difference, patched
from agentsandbox.kernel.fs.memory import MemoryFileSystem
from agentsandbox.kernel.fs.nodes import number_from
from agentsandbox.kernel.host_functions import HostFailure
from agentsandbox.kernel.streams import decode
from agentsandbox.limits import Limits
from agentsandbox.options import all_commands
from agentsandbox.policy import request_of
from agentsandbox.runtime.session import Session
from agentsandbox.runtime.terms import Terms

TYPE_CHECKING = False
if TYPE_CHECKING:
    import socket
    from collections.abc import Mapping, Sequence
    from typing import Any

    from agentsandbox.contract.command import Command
    from agentsandbox.host_input import HostInput
    from agentsandbox.isolation.messages import Message
    from agentsandbox.kernel.fs.base import FileSystem
    from agentsandbox.kernel.fs.memory import Snapshot
    from agentsandbox.result import ExecutionResult
    from agentsandbox.shell.interpreter.forks import Kept
    from agentsandbox.shell.interpreter.shell import Shell

LARGEST = (1 << 32) - 1
"""The largest message of the host, which is trusted."""

_LONGEST_LOG = 20_000
"""Characters of a report for the host's log."""


def serve(connection: socket.socket) -> None:
    """Serve one sandbox until the host closes the connection."""
    wire = Wire(connection, LARGEST)
    number_from(os.getpid() << 32)  # those that the host gives out itself are small
    wire.send("ready", {"pid": os.getpid()})
    try:
        message = wire.receive()
        calls = os.eventfd(0, os.EFD_NONBLOCK | os.EFD_CLOEXEC)
        report = confine(Limits(**message.head["limits"]), *needs(message.head["guests"]))
        worker = Worker(wire, message, calls)
        wire.send("confined", {"report": report})
        while True:
            worker.execute(wire.receive())
    except ProtocolError:  # the host is gone, or needs this worker no more
        return
    except BaseException:
        text = traceback.format_exc()[-_LONGEST_LOG:]
        wire.send("log", {}, text.encode("ascii", "backslashreplace"))
        raise


def new_session(
    fs: MemoryFileSystem,
    options: dict[str, Any],
    clock: Any,
    kept: Kept | None,
    commands: Sequence[Command] = (),
    remotes: Mapping[str, object] | None = None,
) -> Session:
    """Return a session with the options that the host sent."""
    return Session(
        fs,
        limits=fs.limits,
        clock=clock,
        seed=options["seed"],
        commands=commands,
        command_names=partial(sorted, {*names(), *[command.name for command in commands]}),
        user=options["user"],
        hostname=options["hostname"],
        network=worker_policy(options["network"]),
        git_remotes=remotes or {},
        available=COMMANDS,
        script_errexit=options["script_errexit"],
        jobs=options["jobs"],
        environment=options["env"],
        cwd=options["cwd"],
        policy=None,
        kept=kept,
    )


class Worker:
    """The session of one sandbox."""

    def __init__(self, wire: Wire, message: Message, calls: int) -> None:
        options = message.head
        delta, scripts, *rest = message.parts(2 + PARTS, more=True)
        state, large = rest[:PARTS], message.blobs[2 + PARTS :]
        self.wire = wire
        self.limits = limits = Limits(**options["limits"])
        clock = self._clock if options["clock"] else time.time
        self.fs = fs = MemoryFileSystem(limits, time.time)
        fs.uid = 0
        self.mounts = Mounts(self._ask)
        mounted = self._mounted(options["mounts"])
        self.synced: Snapshot = patched(None, delta, limits, mounted, large, trusted=True)
        fs.restore(self.synced)
        fs.clock = clock
        self._now: float | None = options["now"]
        """The time until there is a call, in which the host can be asked."""
        self.relay = relay = Relay(self, calls)
        stubs = [stub(name, usage, self._ask) for name, usage in options["commands"]]
        guests = options["guests"]
        commands = all_commands(
            stubs,
            python_runtime(guests["python"], relay),
            javascript_runtime(guests["javascript"]),
            options["aliases"],
            options["sudo"],
        )
        kept = loaded(state, unpacked(scripts), fs) if state[0] else None
        self.saver = Saver()
        self.exported = b""
        remotes = worker_remotes(options["git_remotes"], relay)
        self.session = new_session(fs, options, clock, kept, commands, remotes)
        host = self.session.machine.host
        relay.scheduler = host.scheduler
        host.make_network = partial(
            RemoteNetwork, host.scheduler, host.network_policy, host.hostname, relay
        )
        host.has_clock_at_home = bool(options["clock"])
        if options["observed"]:
            self.session.machine.on_skill_script = self._skill_script
        signal.signal(signal.SIGUSR1, self._cancel)
        logger = logging.getLogger("agentsandbox")
        logger.handlers = [_ToHost(wire)]
        logger.propagate = False

    def _mounted(self, mounts: list[list[Any]]) -> tuple[tuple[str, FileSystem], ...]:
        return tuple((path, self.mounts.proxy(number)) for path, number in mounts)

    def _cancel(self, *_: object) -> None:
        self.session.machine.budget.cancel()

    def execute(self, message: Message) -> None:
        """Run a script and answer with its result, the changed files and the shell's state."""
        head = message.head
        script, delta, stdin = message.parts(3, more=True)
        session = self.session
        if delta:
            mounted = self._mounted(head["mounts"])
            large = message.blobs[3:]
            self.synced = patched(self.synced, delta, self.limits, mounted, large, trusted=True)
            self.fs.restore(self.synced)
        if session.cwd != head["directory"]:
            session.change_directory(head["directory"])
        session.use_skills([(path, name) for path, name in head["skills"]], head["active"])
        self._now = None
        source: bytes | HostInput | None = stdin if head["stdin"] else None
        if head["stdin"] == "asked":
            source = RemoteInput(self._ask)
        terms = Terms(
            source,
            head["env"],
            head["cwd"],
            head["args"],
            head["state"],
            self._write if head["live"] else None,
            rule=self._rule if head["policy"] else None,
        )
        pause = self.relay.pause if self.relay.pending else None
        execution = session.call(decode(script), head["timeout"], terms, pause)
        result = execution.run()
        unread = source._unread() if isinstance(source, RemoteInput) else b""
        self._send_result(result, unread, live=head["live"])

    def _send_result(self, result: ExecutionResult, unread: bytes, *, live: bool) -> None:
        """Send the result; of all that stays, only what is not as it was."""
        session = self.session
        now = self.fs.snapshot()
        large: list[bytes] = []
        changed = difference(self.synced, now, large)
        self.synced = now
        entries = () if live else result._entries
        parts, is_longer = self.saver.changed(session.kept(running=False), result.script)
        exported = packed([f"{name}={value}" for name, value in session.exported().items()])
        head: dict[str, Any] = {
            "status": result.exit_code,
            "parts": list(parts),
            "cwd": session.cwd,
        }
        if is_longer:
            head["is_longer"] = True
        if exported != self.exported:
            head["exports"] = True
            self.exported = exported
            parts[PARTS] = exported
        if result.limit is not None:
            head["limit"] = result.limit
        if jobs := len(session.machine.scheduler.processes):
            head["jobs"] = jobs
        if self.mounts.released:
            head["released"], self.mounts.released = self.mounts.released, []
        if result.pictures:
            head["pictures"] = list(result.pictures)
        self.wire.send(
            "done",
            head,
            changed,
            array("I", [len(data) << 1 | stream & 1 for stream, data in entries]).tobytes(),
            b"".join([data for _, data in entries]),
            unread,
            *parts.values(),
            *large,
        )

    # requests

    def _ask(self, kind: str, head: dict[str, Any], *blobs: bytes) -> Message:
        """Send a request and return the answer."""
        self.wire.send(kind, head, *blobs)
        return self.take()

    def take(self) -> Message:
        """Return the answer to a request, and obey what it says besides."""
        message = self.wire.receive()
        answer = message.head
        budget = self.session.machine.budget
        budget.deadline += answer["moved"]
        if answer["verdict"] == "ended":
            budget.cancel()
            raise LimitReached(CANCELLED)
        if answer["verdict"] == "closed":
            raise PipeClosed
        if answer["verdict"] == "failed":
            raise HostFailure
        return message

    def _write(self, stream: str, data: bytes) -> None:
        self._ask("output", {"stream": 1 if stream == "stdout" else 2}, data)

    def _clock(self) -> float:
        return float(self._ask("clock", {}).head["now"]) if self._now is None else self._now

    def _skill_script(self, skill: str, path: str) -> None:
        self._ask("skill", {"skill": skill, "path": path})

    def _rule(self, shell: Shell, argv: Sequence[str], line: int) -> str | None:
        request = request_of(shell, argv, line)
        facts = {
            "line": line,
            "is_function": request.is_function,
            "is_main": request.is_main,
            "of_skill": request.skill is not None,
        }
        words = packed([request.cwd, request.skill or "", *argv])
        refusal: str | None = self._ask("policy", facts, words).head["refusal"]
        return refusal


class _ToHost(logging.Handler):
    """Sends what is logged to the host's log."""

    def __init__(self, wire: Wire) -> None:
        super().__init__()
        self._wire = wire

    def emit(self, record: logging.LogRecord) -> None:
        if record.exc_info is not None and isinstance(record.exc_info[1], HostFailure):
            return  # the host has logged its own error
        text = self.format(record)[-_LONGEST_LOG:]
        self._wire.send("log", {}, text.encode("ascii", "backslashreplace"))
