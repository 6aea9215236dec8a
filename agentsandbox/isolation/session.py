"""The host's side of an isolated sandbox: its state, and the conversation with its worker.

An `IsolatedSession` has the place of a `runtime.session.Session`, an `IsolatedExecution` that of an
`Execution`. The host keeps the truth: the files, the directory, and the shell's state as bytes that
only workers read. A worker is made when a call needs one, and may be lost at any time:

    call ─▶ what the host changed since the last call ─▶ worker
         ◀─ requests: output, policy, clock, log          (each answered here)
         ◀─ done: status, output, changed files, state    (read without trust, then adopted)

A worker that dies, is late or breaks the protocol costs this call: `limit` is "process", and files
and state are those of the last finished call. Nothing that a worker sends raises out of a call.
"""

from __future__ import annotations

import posixpath
from array import array
from time import monotonic

from agentsandbox.errors import LimitReached, PipeClosed, SandboxError
from agentsandbox.host_input import HostInput
from agentsandbox.isolation.messages import ProtocolError, packed, unpacked
from agentsandbox.isolation.mounted import MountedFiles
from agentsandbox.isolation.supervisor import Nursery, Worker, check_available, nursery
from agentsandbox.kernel.budget import CANCELLED, Budget
from agentsandbox.kernel.fs.deltas import DeltaError, difference, patched
from agentsandbox.kernel.host_functions import first_time, passes_to_host
from agentsandbox.kernel.streams import BLOCK, OutputLog, decode, encode
from agentsandbox.policy import CommandRequest, refusal_of
from agentsandbox.result import ExecutionResult
from agentsandbox.runtime.terms import Terms

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

    from agentsandbox.errors import LimitName
    from agentsandbox.isolation.host_commands import HostCommands
    from agentsandbox.isolation.messages import Message
    from agentsandbox.isolation.operations import Operations
    from agentsandbox.kernel.fs.memory import MemoryFileSystem, Snapshot
    from agentsandbox.options import SandboxOptions
    from agentsandbox.policy import Policy

    Pause = Callable[..., Any]

GRACE = 1.0
"""Seconds that a worker has to answer after its script's time, or after it was cancelled."""

SLICE = 0.25
"""Seconds between two looks at whether a call was cancelled."""

_NOTICES = 1 << 16
"""Bytes that the sandbox's own messages may add to a script's output."""

_STATE_BASE = 8 << 20
_MOST_PICTURES = 8
_LONGEST_LOGGED = 1 << 16
"""Bytes of a worker's text that the host's log gets."""
_PARTS, _HISTORY_PART = 4, 3
"""Parts of a shell's state (`states`), and that with the history of scripts."""
_MOST_SCRIPTS = 100
_LIMITS: dict[object, LimitName | None] = {
    None: None, "timeout": "timeout", "steps": "steps", "depth": "depth",
    "output_bytes": "output_bytes", "value_bytes": "value_bytes", "processes": "processes",
    "cancelled": "cancelled",
}  # fmt: skip
_VERDICT_GO, _VERDICT_CLOSED, _VERDICT_FAILED, _VERDICT_ENDED = "go", "closed", "failed", "ended"


class State:
    """What is kept of a shell between two calls: bytes for the next worker; immutable.

    parts     what a worker saved (`states`); empty ones for a new shell
    scripts   the scripts that ran since the last of them was saved
    exported  its exported variables: NAME=VALUE and NUL for each; None before the first call
    """

    __slots__ = ("exported", "parts", "scripts")

    def __init__(
        self,
        parts: tuple[bytes, ...] = (b"",) * _PARTS,
        scripts: tuple[str, ...] = (),
        exported: bytes | None = None,
    ) -> None:
        self.parts = parts
        self.scripts = scripts
        self.exported = exported

    def on(self, fs: object, origin: object) -> State:
        """Return the state for a fork's files: the same one."""
        del fs, origin
        return self


class IsolatedSession:
    """The files and the state of a sandbox whose scripts run in workers.

    options      those of the sandbox; a worker learns of them what it needs, as plain values
    environment  of a new shell
    on_skill     called with name and path when a skill's script starts
    """

    __slots__ = (
        "__weakref__", "_active", "_environment", "_nursery", "_on_skill", "_operations",
        "_options", "_setup", "_skills", "clock", "commands", "cwd", "fs", "jobs", "limits",
        "mounted", "policies", "report", "state", "synced", "worker",
    )  # fmt: skip

    def __init__(
        self,
        fs: MemoryFileSystem,
        *,
        options: SandboxOptions,
        environment: Mapping[str, str],
        cwd: str,
        on_skill: Callable[[str, str], None] | None,
        kept: State | None,
    ) -> None:
        check_available()
        self.fs = fs
        self.limits = options.limits
        self._options = options
        self._setup: dict[str, Any] | None = None
        self._environment = dict(environment)
        self.cwd = cwd
        self.clock = options.clock
        self.commands = {command.name: command for command in options.commands}
        policy = options.on_command
        self.policies: tuple[Policy, ...] = () if policy is None else (policy,)
        self._on_skill = on_skill
        self.state = kept or State()
        self.worker: Worker | None = None
        self.synced: Snapshot | None = None
        """The files as the worker has them."""
        self.jobs = 0
        """Background jobs in the worker, which would end with it."""
        self.report: Mapping[str, str] = {}
        self.mounted = MountedFiles()
        self._nursery: Nursery | None = None
        self._operations: Operations | None = None
        self._skills: Sequence[tuple[str, str]] = ()
        self._active: Sequence[str] = ()

    def call(
        self,
        script: str,
        timeout: float | None,
        terms: Terms | None = None,
        pause: Pause | None = None,
    ) -> IsolatedExecution:
        """Return a call of a script, as `Session.call` does."""
        if terms is None:
            terms = Terms()
        stdin, env, policy, on_output = terms.stdin, terms.env, terms.policy, terms.on_output
        data, source = b"", None
        if isinstance(stdin, str):
            data = encode(stdin)
        elif isinstance(stdin, HostInput):
            source = stdin
        elif stdin is not None:
            data = bytes(stdin)
        head = {
            "timeout": timeout,
            "stdin": "asked" if source is not None else stdin is not None,
            "env": None if env is None else dict(env),
            "cwd": terms.cwd,
            "args": list(terms.args),
            "state": terms.state,
            "live": on_output is not None,
            "policy": policy is not None or bool(self.policies),
        }
        policies = self.policies if policy is None else (*self.policies, policy)
        return IsolatedExecution(self, script, head, data, source, on_output, policies, pause)

    def _ask(self) -> None:
        """Run an empty script, to learn from a worker what only it knows."""
        self.call("", None, Terms(state="discard")).run()

    def confinement(self) -> Mapping[str, str]:
        """Return what the worker says is in force."""
        if not self.report:
            self._ask()
        return self.report

    @property
    def names(self) -> tuple[str, str]:
        """The names of user and machine."""
        return self._options.user, self._options.hostname

    def setup(self) -> dict[str, Any]:
        """Return what a worker must know of the options: plain values."""
        if self._setup is None:
            from agentsandbox.isolation.guests import described
            from agentsandbox.isolation.host_network import policy_for_worker

            options = self._options
            self._setup = {
                "seed": options.seed,
                "user": options.user,
                "hostname": options.hostname,
                "script_errexit": options.script_errexit,
                "jobs": options.jobs,
                "env": self._environment,
                "aliases": dict(options.aliases),
                "sudo": options.sudo,
                "limits": self.limits.as_dict(),
                "commands": [[name, each.usage] for name, each in self.commands.items()],
                "observed": self._on_skill is not None,
                "clock": self.clock is not None,
                "network": policy_for_worker(options.network),
                "guests": described(options),
                "git_remotes": _known_remotes(options.git_remotes),
            }
        return self._setup

    def operations(self) -> Operations:
        """Return the operations that the worker may start, made for the first one."""
        if self._operations is None:
            from agentsandbox.isolation.operations import Operations

            options = self._options
            made = self._operations = Operations(self.limits, _log_error)
            if options.network is not None:
                from agentsandbox.isolation.host_network import HostNetwork

                made.add(HostNetwork(made.scheduler, options.network, options.hostname))
            if options.python is not None:
                from agentsandbox.isolation.guests import HostPackages

                made.add(HostPackages(made.scheduler, options.python.packages))
            if options.git_remotes:
                from agentsandbox.isolation.host_remotes import HostRemotes

                made.add(HostRemotes(options.git_remotes, made.context))
        return self._operations

    def exported(self) -> dict[str, str]:
        """Return the exported variables, which a worker says before the first call."""
        if self.state.exported is None:
            self._ask()
        pairs = [pair.partition("=") for pair in unpacked(self.state.exported or b"")]
        return {name: value for name, _, value in pairs}

    def change_directory(self, path: str) -> None:
        """Set the working directory of the next call."""
        self.cwd = path

    def logical_path(self, name: str) -> str:
        """Return an absolute path, as `Shell.logical_path` does."""
        return posixpath.normpath(posixpath.join(self.cwd, name))

    def use_skills(self, mounts: Sequence[tuple[str, str]], active: list[str]) -> None:
        """Say which skills are mounted, as (path, name), and which of the paths are active."""
        self._skills, self._active = mounts, active

    def kept(self, *, running: bool) -> State:
        """Return the state of the last finished call."""
        del running
        return self.state

    def close(self) -> None:
        """End the worker."""
        self.lose_worker()

    def rest(self) -> None:
        """End the worker to save memory, unless background jobs live in it."""
        if not self.jobs:
            self.lose_worker()

    # the worker

    def engage(self) -> Worker:
        """Return the worker, a new one if there is none."""
        worker = self.worker
        if worker is not None and not worker.is_usable:
            self.lose_worker()
            worker = None
        if worker is None:
            options = self._options
            used = {"python": options.python, "javascript": options.javascript}
            guests = " ".join([name for name, runtime in used.items() if runtime is not None])
            self._nursery = found = nursery(guests)
            limits = self.limits
            largest = limits.total_bytes + limits.output_bytes + self.largest_state() + (64 << 20)
            worker = self.worker = found.worker(min(largest, (1 << 32) - 1))
        if self._nursery is not None:
            self._nursery.works(self)
        return worker

    def begin(
        self,
        worker: Worker,
        head: dict[str, Any],
        script: bytes,
        stdin: bytes,
        turn: Callable[[], None] | None,
    ) -> Snapshot:
        """Send a call; return the files that the worker begins with."""
        now = self.fs.snapshot()
        mounts = [[path, self.mounted.number_of(fs)] for path, fs in now.mounted]
        if self.synced is None:
            now_there = None if self.clock is None else first_time(self.clock)
            setup = {**self.setup(), "cwd": self.cwd, "now": now_there, "mounts": mounts}
            large: list[bytes] = []
            delta = difference(None, now, large, turn=turn)
            scripts, parts = packed(self.state.scripts), self.state.parts
            worker.wire.send("setup", setup, delta, scripts, *parts, *large)
            delta, large = b"", []
        else:
            large = []
            delta = difference(self.synced, now, large, turn=turn)
        more = {"directory": self.cwd, "skills": self._skills, "active": self._active}
        worker.wire.send(
            "execute", {**head, **more, "mounts": mounts}, script, delta, stdin, *large
        )
        return now

    def adopt(
        self,
        before: Snapshot,
        changed: bytes,
        large: list[bytes],
        turn: Callable[[], None] | None,
    ) -> None:
        """Take over what the worker has changed; what the host wrote meanwhile stays."""
        after = patched(before, changed, self.limits, before.mounted, large, turn=turn)
        here = self.fs.snapshot()
        if here.root is before.root and here.hard is before.hard:
            if after is not before:
                self.fs.restore(after)
        elif changed:
            try:
                self.fs.restore(patched(here, changed, self.limits, here.mounted, large))
            except DeltaError:  # both changed the same directories: the script was asked to run
                self.fs.restore(after)
        self.synced = after

    def finish(self, state: State, cwd: str, jobs: int) -> None:
        """Note what a finished call has left."""
        self.state, self.cwd, self.jobs = state, cwd, jobs
        if self._nursery is not None:
            self._nursery.rests(self)

    def lose_worker(self) -> None:
        """End the worker; the next call has a new one."""
        worker, self.worker, self.synced, self.jobs = self.worker, None, None, 0
        self.mounted.close()
        operations, self._operations = self._operations, None
        if operations is not None:
            operations.close()
        if worker is None:
            return
        if self._nursery is not None:
            self._nursery.works(self)
        if not worker.is_confined:
            self.state = State()  # whoever saved it: it may be what the worker died of
        worker.end()

    def largest_state(self) -> int:
        """Return how many bytes a saved state may have."""
        return 8 * self.limits.value_bytes + _STATE_BASE

    def skill_script(self, skill: str, path: str) -> None:
        """Tell the observer that a skill's script starts."""
        if self._on_skill is not None:
            self._on_skill(skill, path)


class IsolatedExecution:
    """One call: see `runtime.session.Execution`, whose place it has."""

    __slots__ = (
        "_before", "_cancelled_at", "_commands", "_head", "_held", "_live", "_operations", "_owes",
        "_pause", "_pictures", "_policies", "_source", "_stdin", "_worker", "budget", "log",
        "result", "script", "session",
    )  # fmt: skip

    def __init__(
        self,
        session: IsolatedSession,
        script: str,
        head: dict[str, Any],
        stdin: bytes,
        source: HostInput | None,
        on_output: Callable[[str, bytes], None] | None,
        policies: tuple[Policy, ...],
        pause: Pause | None,
    ) -> None:
        limits = session.limits
        self.session = session
        self.script = script
        self.budget = Budget(limits, timeout=head["timeout"])
        self.log = OutputLog(limits.output_bytes + _NOTICES, on_output)
        self.result: ExecutionResult | None = None
        self._head = head
        self._live = on_output is not None
        self._stdin = stdin
        self._source = source
        self._policies = policies
        self._pause = pause
        self._commands: HostCommands | None = None
        self._operations: Operations | None = None
        self._worker: Worker | None = None
        self._before: Snapshot | None = None
        self._owes = False
        """Whether the worker waits for an answer."""
        self._cancelled_at: float | None = None
        self._held: BaseException | None = None
        """What cancelled the call while its result was read."""
        self._pictures: list[str] = []

    def cancel(self) -> None:
        """End the script soon. Safe in any thread."""
        self.budget.cancel()

    def run(self) -> ExecutionResult:
        """Run the script. Raises only errors of the host, and what cancels its task."""
        began = monotonic()
        status, limit = 130, _LIMITS["cancelled"]
        try:
            status, limit = self._converse()
            if self._held is not None:
                raise self._held
        except LimitReached:  # the reader of a stream has left
            self._wind_up()
        except BaseException as error:
            # The host's task was cancelled; the output so far must not be lost.
            self._wind_up()
            output = decode(b"".join([data for _, data in self.log.entries]))
            error.add_note(f"output of the script so far:\n{output}")
            raise
        finally:
            self.budget.wake = None
            if self._commands is not None:
                self._commands.close()
            if self._operations is not None:
                self._operations.end()
            self._worker = self._before = None
            self.result = ExecutionResult(
                self.log.entries,
                status,
                script=self.script,
                duration=monotonic() - began,
                limit=limit,
                pictures=self._read_pictures() if self._pictures else None,
            )
        return self.result

    def _converse(self) -> tuple[int, LimitName | None]:
        """Send the script, answer requests until the result comes, and return status and limit."""
        worker = self._worker = self.session.engage()
        self.budget.wake = worker.cancel
        try:
            script = encode(self.script)
            turn = self._turn()
            self._before = self.session.begin(worker, self._head, script, self._stdin, turn)
            return self._answer_all(worker)
        except (ProtocolError, DeltaError) as error:
            return self._lost(str(error))

    def _answer_all(self, worker: Worker) -> tuple[int, LimitName | None]:
        while True:
            message = self._next(worker)
            if message.kind == "done":
                return self._done(message)
            if message.kind == "confined":
                self._confined(worker, message)
            elif message.kind == "enough":  # it crossed the news
                continue
            elif message.kind == "log":
                _log("in the process of a script: %s", _readable(message.parts(1)[0]))
            else:
                self._answer(worker, message)

    def _next(self, worker: Worker) -> Message:
        """Wait for the next message, for as long as the worker has time."""
        wire = worker.wire
        if self._pause is None:
            while (message := wire.receive_soon()) is None:
                self._remaining(worker)
            return message
        while not wire.is_readable(0):
            from agentsandbox.runtime.event_loop import readable

            seconds = self._remaining(worker)
            self._pause(None, readable([wire.socket.fileno()], seconds))
        return wire.receive()

    def _remaining(self, worker: Worker) -> float:
        """Return how long to wait before the next look at the clock; cancel or refuse if due."""
        now = monotonic()
        if self.budget.cancelled:
            if self._cancelled_at is None:
                self._cancelled_at = now
            worker.cancel()
            left = self._cancelled_at + GRACE - now
        else:
            left = self.budget.deadline + GRACE - now
        if left <= 0:
            raise ProtocolError("it did not answer in time")
        return min(left, SLICE)

    # the end

    def _done(self, message: Message) -> tuple[int, LimitName | None]:
        session = self.session
        numbers = _numbers(message.head.get("parts"))
        exports = 1 if message.flag("exports") else 0
        parts = message.parts(4 + len(numbers) + exports, more=True)
        changed, sizes, output, unread, *state = parts
        large = message.blobs[len(parts) :]
        status = message.number("status", 0, 255)
        cwd = message.text("cwd")
        limit = message.head.get("limit")
        if not (limit is None or type(limit) is str) or limit not in _LIMITS:
            raise ProtocolError("a limit that does not exist")
        after = _changed_state(
            session.state,
            numbers,
            state,
            exports,
            self.script if message.flag("is_longer") else None,
        )
        if sum(map(len, after.parts)) + len(after.exported or b"") > session.largest_state():
            raise ProtocolError("more state than the limits allow")
        if not cwd.startswith("/") or "\0" in cwd:
            raise ProtocolError("a directory that cannot be one")
        entries = _entries(sizes, output)
        if self.log.size + len(output) > self.log.limit:
            raise ProtocolError("more output than the limits allow")
        if self._source is not None and len(unread) <= 2 * BLOCK:
            self._source._put_back(unread)
        session.mounted.release(message.head.get("released", []))
        assert self._before is not None
        session.adopt(self._before, changed, large, self._turn(hold=True))
        jobs = message.number("jobs") if "jobs" in message.head else 0
        session.finish(after, cwd, jobs)
        for stream, part in entries:
            self.log.add(stream, part)
        self._pictures = _paths(message.head.get("pictures", []))
        return status, _LIMITS[limit]

    def _turn(self, *, hold: bool = False) -> Callable[[], None] | None:
        """Return what lets the event loop go on when it is due; None without a loop.

        What cancels the call meanwhile is raised, or held until the result has been read.
        """
        pause = self._pause
        if pause is None:
            return None
        from agentsandbox.kernel.processes import EVENT_LOOP_SECONDS

        last = monotonic()

        def turn() -> None:
            nonlocal last
            if self._held is not None or monotonic() - last < EVENT_LOOP_SECONDS:
                return
            try:
                pause(None, None)
            except BaseException as error:
                if not hold:
                    raise
                self._held = error
            last = monotonic()

        return turn

    def _read_pictures(self) -> Mapping[str, bytes]:
        from agentsandbox.runtime.session import pictures_in

        return pictures_in(self.session.fs, self._pictures)

    def _lost(self, reason: str) -> tuple[int, LimitName | None]:
        """End a worker that cannot go on."""
        self.session.lose_worker()
        self.log.listener = None if self.budget.cancelled else self.log.listener
        self.log.add_line(2, encode(f"sandbox: the script's process was ended: {reason}\n"))
        return (130, CANCELLED) if self.budget.cancelled else (137, "process")

    def _wind_up(self) -> None:
        """End a call whose task was cancelled, politely at first."""
        if self._held is not None:  # the script had ended
            return
        worker = self._worker
        if worker is None or self.session.worker is not worker or self._before is None:
            self.session.lose_worker()
            return
        self._pause = None
        self._policies = ()
        self.log.listener = None
        self.budget.cancel()
        try:
            if self._owes:
                self._send_answer(worker, 0.0, {}, _VERDICT_ENDED)
            self._answer_all(worker)
        except (ProtocolError, DeltaError) as error:
            self._lost(str(error))

    def _confined(self, worker: Worker, message: Message) -> None:
        report = message.head.get("report")
        if type(report) is not dict or not all(type(text) is str for text in report.values()):
            raise ProtocolError("no report of what is in force")
        worker.is_confined = True
        worker.report = report
        self.session.report = report

    # requests

    def _answer(self, worker: Worker, message: Message) -> None:
        """Do what the worker asks for, and send the answer."""
        handler = _REQUESTS.get(message.kind)
        if handler is None:
            raise ProtocolError(f"an unknown request {message.kind!r:.40}")
        deadline = self.budget.deadline
        self._owes = True
        verdict, answer = _VERDICT_GO, {}
        if self._cancelled_at is not None:
            verdict = _VERDICT_ENDED
        try:
            if verdict == _VERDICT_GO:
                answer = handler(self, message)
        except PipeClosed:
            verdict = _VERDICT_CLOSED
        except ProtocolError:
            raise
        except BaseException as error:
            if passes_to_host(error):
                raise
            if isinstance(error, LimitReached) and self.budget.cancelled:
                verdict = _VERDICT_ENDED
            else:
                verdict = _VERDICT_FAILED
                _log("a function of the host raised during an isolated script", error=error)
        moved = 0.0 if self.budget.cancelled else self.budget.deadline - deadline
        try:
            self._send_answer(worker, moved, answer, verdict)
        except (TypeError, ValueError, RecursionError) as error:  # before a byte is sent
            _log("a function of the host returned what is no plain value", error=error)
            self._send_answer(worker, moved, {}, _VERDICT_FAILED)

    def _send_answer(
        self, worker: Worker, moved: float, answer: dict[str, Any], verdict: str
    ) -> None:
        self._owes = False
        data = answer.pop("data", None)
        blobs = () if data is None else (data,)
        worker.wire.send("answer", {**answer, "moved": moved, "verdict": verdict}, *blobs)

    def _output(self, message: Message) -> dict[str, Any]:
        (data,) = message.parts(1)
        if not self._live or self.log.size + len(data) > self.log.limit:
            raise ProtocolError("output that nobody asked for")
        self.log.add(message.number("stream", 1, 2), data)
        return {}

    def _now(self, message: Message) -> dict[str, Any]:
        del message
        clock = self.session.clock
        if clock is None:
            raise ProtocolError("asks for a clock that there is not")
        return {"now": float(clock())}

    def _mounted(self, message: Message) -> dict[str, Any]:
        return self.session.mounted.answer(message)

    def _input_ready(self, message: Message) -> dict[str, Any]:
        del message
        return {"ready": self._input_of_host().has_input()}

    def _input(self, message: Message) -> dict[str, Any]:
        del message
        return {"data": self._input_of_host().read(BLOCK)}

    def _input_of_host(self) -> HostInput:
        if self._source is None:
            raise ProtocolError("asks for an input that there is not")
        return self._source

    def _host_commands(self) -> HostCommands:
        found = self._commands
        if found is None:
            from agentsandbox.isolation.host_commands import HostCommands

            session = self.session
            found = self._commands = HostCommands(
                session.commands, session.names, self.budget, session.clock, self._pause
            )
        return found

    def _begun_operations(self) -> Operations:
        found = self._operations
        if found is None:
            worker = self._worker
            assert worker is not None
            found = self._operations = self.session.operations()
            found.begin(worker.wire, self._pause, self.budget.deadline)
        return found

    def _start(self, message: Message) -> dict[str, Any]:
        return self._begun_operations().start(message)

    def _news(self, message: Message) -> dict[str, Any]:
        return self._begun_operations().news(message)

    def _command(self, message: Message) -> dict[str, Any]:
        return self._host_commands().begin(message)

    def _reply(self, message: Message) -> dict[str, Any]:
        return self._host_commands().reply(message)

    def _skill(self, message: Message) -> dict[str, Any]:
        self.session.skill_script(message.text("skill"), message.text("path"))
        return {}

    def _policy(self, message: Message) -> dict[str, Any]:
        words = unpacked(message.parts(1)[0])
        if len(words) < 3:
            raise ProtocolError("a command without words")
        cwd, skill, *argv = words
        for policy in self._policies:
            request = CommandRequest(
                tuple(argv),
                cwd,
                message.number("line", -1),
                skill if message.flag("of_skill") else None,
                is_function=message.flag("is_function"),
                is_main=message.flag("is_main"),
            )
            answer: Any = policy(request)
            if answer is not None and not isinstance(answer, (bool, str)):
                answer = self._await(answer)
            refusal = refusal_of(answer)
            if refusal is not None:
                return {"refusal": refusal}
        return {"refusal": None}

    def _await(self, awaitable: Any) -> Any:
        if self._pause is None:
            if hasattr(awaitable, "close"):
                awaitable.close()
            raise SandboxError("on_command is async: use `await sandbox.aexecute(…)`")
        return self._pause(None, awaitable)


_REQUESTS: dict[str, Callable[[IsolatedExecution, Message], dict[str, Any]]] = {
    "output": IsolatedExecution._output,
    "clock": IsolatedExecution._now,
    "skill": IsolatedExecution._skill,
    "policy": IsolatedExecution._policy,
    "mounted": IsolatedExecution._mounted,
    "command": IsolatedExecution._command,
    "reply": IsolatedExecution._reply,
    "start": IsolatedExecution._start,
    "news": IsolatedExecution._news,
    "input_ready": IsolatedExecution._input_ready,
    "input": IsolatedExecution._input,
}


def _paths(value: object) -> list[str]:
    """Return the paths of pictures that a worker names."""
    if (
        type(value) is not list
        or len(value) > _MOST_PICTURES
        or not all(type(path) is str and path[:1] == "/" and "\0" not in path for path in value)
    ):
        raise ProtocolError("paths that are none")
    return value


def _known_remotes(remotes: Mapping[str, object]) -> dict[str, str]:
    if not remotes:
        return {}
    from agentsandbox.isolation.host_remotes import remotes_for_worker

    return remotes_for_worker(remotes)


def _numbers(value: object) -> list[int]:
    """Return which parts of a state a worker sends."""
    if type(value) is not list or len(value) > _PARTS:
        raise ProtocolError("no list of parts")
    if not all(type(each) is int and 0 <= each < _PARTS for each in value):
        raise ProtocolError("a part that is none")
    return value


def _changed_state(
    before: State, numbers: list[int], sent: list[bytes], exports: int, script: str | None
) -> State:
    """Return a state with the parts that a worker has sent."""
    if not sent and script is None:
        return before
    parts = list(before.parts)
    for number, part in zip(numbers, sent, strict=False):
        parts[number] = part
    scripts = before.scripts
    if _HISTORY_PART in numbers:
        scripts = ()
    elif script is not None:
        if len(scripts) >= _MOST_SCRIPTS:
            raise ProtocolError("a history that is never saved")
        scripts = (*scripts, script)
    return State(tuple(parts), scripts, sent[-1] if exports else before.exported)


def _entries(sizes: bytes, output: bytes) -> list[tuple[int, bytes]]:
    """Return the entries of a log from their sizes and streams, and from all their bytes."""
    if len(sizes) % 4:
        raise ProtocolError("sizes that are cut off")
    found = []
    at = 0
    for each in array("I", sizes):
        found.append((1 if each & 1 else 2, output[at : at + (each >> 1)]))
        at += each >> 1
    if at != len(output):
        raise ProtocolError("output that does not add up")
    return found


def _readable(text: bytes) -> str:
    """Return a text of a worker for a log, which has lines in UTF-8 and no control characters."""
    shown = str(text[:_LONGEST_LOGGED], "utf-8", "backslashreplace")
    return "".join([
        letter if letter.isprintable() or letter in "\n\t" else ascii(letter)[1:-1]
        for letter in shown
    ])  # fmt: skip


def _log_error(text: str, error: BaseException) -> None:
    _log(text, error=error)


def _log(text: str, *values: object, error: BaseException | None = None) -> None:
    import logging

    logging.getLogger("agentsandbox").error(text, *values, exc_info=error)
