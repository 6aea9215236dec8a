"""A session and its executions: the machine of one sandbox, its main shell, and one call.

A session lasts as long as its sandbox. Between two calls its shell rests like that of a terminal:
variables, functions and directory stay, nothing runs but background jobs. An `Execution` is one
call. It gives the shell what applies to this call only (input, environment, directory, arguments,
policy), runs the script at the boundary, and undoes all that afterwards, however the script ended.
"""

from __future__ import annotations

from _thread import RLock, get_ident
from time import monotonic

from agentsandbox.contract.host import Host
from agentsandbox.kernel.budget import CANCELLED, Budget, notice_of
from agentsandbox.kernel.processes import Scheduler
from agentsandbox.kernel.streams import BytesReader, Capture, OutputLog, decode, encode
from agentsandbox.result import ExecutionResult
from agentsandbox.shell.interpreter.boundary import run_guarded
from agentsandbox.shell.interpreter.machine import Machine
from agentsandbox.shell.interpreter.shell import Shell

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from random import Random
    from typing import Any, Literal

    from agentsandbox.contract.command import Command, CommandTable
    from agentsandbox.errors import LimitName
    from agentsandbox.host_input import HostInput
    from agentsandbox.kernel.fs.memory import MemoryFileSystem
    from agentsandbox.kernel.streams import Stream
    from agentsandbox.limits import Limits
    from agentsandbox.network import NetworkPolicy
    from agentsandbox.runtime.terms import State, Terms
    from agentsandbox.shell.interpreter.forks import Kept
    from agentsandbox.shell.interpreter.shell import Policy

    Jobs = Literal["detach", "wait", "kill"]

HISTORY = 100
"""Scripts that `history` shows."""

_PICTURES, _PICTURE_BYTES = 8, 2 << 20
"""The most pictures of a result, and bytes of each."""

_AGENT, _ROOT = 1000, 0
"""The uid of scripts, and that of the host program."""


class _Input(BytesReader):
    """The standard input of an execution, in memory."""

    __slots__ = ("is_empty_terminal",)

    def __init__(self, data: bytes, given: bool) -> None:
        super().__init__(data)
        self.is_empty_terminal = not given


def _random(seed: int | None) -> Random:
    """Return the source of random numbers, when a command asks for the first one."""
    from random import Random

    return Random(seed)


def _source(stdin: str | bytes | HostInput, scheduler: Scheduler) -> Stream:
    """Return the standard input of an execution as a stream."""
    if isinstance(stdin, str):
        return _Input(encode(stdin), True)
    if isinstance(stdin, (bytes, bytearray, memoryview)):
        return _Input(bytes(stdin), True)
    stdin.scheduler = scheduler
    return stdin


class Session:
    """The machine of a sandbox and its main shell.

    fs            the files
    environment   the environment of a new shell
    jobs          what happens to background jobs at the end of a call
    standard      the standard streams of the running or last call, by number
    """

    __slots__ = (
        "_captures", "_is_seeded", "_without_input", "ending", "environment", "fs",
        "is_cancelling", "jobs", "machine", "policy", "shell", "standard",
    )  # fmt: skip

    def __init__(
        self,
        fs: MemoryFileSystem,
        *,
        limits: Limits,
        clock: Callable[[], float],
        seed: int | None,
        commands: Sequence[Command],
        command_names: Callable[[], Sequence[str]],
        available: CommandTable,
        user: str,
        hostname: str,
        network: NetworkPolicy | None,
        git_remotes: Mapping[str, Any],
        script_errexit: str,
        jobs: Jobs,
        environment: Mapping[str, str],
        cwd: str,
        policy: Policy | None,
        kept: Kept | None,
    ) -> None:
        budget = Budget(limits)
        scheduler = Scheduler(budget)
        host = Host(
            clock=clock,
            random=lambda: _random(seed),
            is_seeded=seed is not None,
            scheduler=scheduler,
            user=user,
            hostname=hostname,
            network=network,
            commands=command_names,
            git_remotes=git_remotes,
        )
        self.ending = RLock()  # an execution that has ended is not cancelled, nor the next one
        self.is_cancelling = False
        self.fs = fs
        self._is_seeded = seed is not None
        self.environment = environment
        self.jobs = jobs
        self.policy = policy
        self.machine = Machine(
            fs=fs,
            host=host,
            scheduler=scheduler,
            budget=budget,
            commands={command.name: command for command in commands},
            available=available,
            script_errexit=script_errexit,
            user=user,
        )
        fs.pay = budget.pay  # for scripts only: it asks for `script_thread`
        fs.descriptors = self.machine.open_descriptor
        fs.open_fifo = self.machine.open_fifo
        log = OutputLog(0)
        self._captures = out, err = Capture(log, 1), Capture(log, 2)
        self._without_input: dict[int, Stream] = {0: _Input(b"", False), 1: out, 2: err}
        self.standard = self._without_input
        self.shell = self.new_shell(cwd) if kept is None else self._resumed(kept, cwd)
        self.machine.accounts.holders[0] = self.shell

    def new_shell(self, cwd: str) -> Shell:
        """Return a new shell, with the environment and nothing that scripts have done."""
        shell = Shell(self.machine, self.environment, cwd, self.standard)
        if self.policy is not None:
            shell.policy = self.policy
            shell.update_flags()
        return shell

    def _resumed(self, kept: Kept, cwd: str) -> Shell:
        from agentsandbox.shell.interpreter.forks import resume

        shell = resume(kept, self.machine, self.standard)
        self.machine.accounts.holders[1] = self.machine.history
        if self.policy is not None:
            shell.policy = self.policy
            shell.update_flags()
        if shell.cwd != cwd:
            shell.change_directory(cwd)
        return shell

    @property
    def cwd(self) -> str:
        """The working directory of the shell."""
        return self.shell.cwd

    def exported(self) -> dict[str, str]:
        """Return the exported variables."""
        return dict(self.shell.variables.environment())

    def confinement(self) -> Mapping[str, str]:
        """Return what confines the scripts besides this library: nothing in this process."""
        return {}

    def change_directory(self, path: str) -> None:
        """Set the working directory of the shell."""
        self.shell.change_directory(path)

    def use_skills(self, mounts: Sequence[tuple[str, str]], active: list[str]) -> None:
        """Say which skills are mounted, as (path, name), and which of the paths are active."""
        self.machine.skill_mounts = tuple(mounts)
        self.machine.active_skills = active

    def logical_path(self, name: str) -> str:
        """Return an absolute path with "." and ".." resolved by text."""
        return self.shell.logical_path(name)

    def call(
        self,
        script: str,
        timeout: float | None,
        terms: Terms | None = None,
        pause: Callable[..., Any] | None = None,
    ) -> Execution:
        """Return a call of a script, on which the host may have `terms`."""
        if terms is not None and terms.policy is not None:
            from agentsandbox.policy import as_rule

            terms.rule = as_rule(terms.policy, self.policy)
        return Execution(self, script, timeout, terms, pause)

    def begin(
        self,
        log: OutputLog,
        stdin: str | bytes | HostInput | None,
        pause: Callable[..., Any] | None,
    ) -> Shell:
        """Prepare the machine for a call and return the shell, with its standard streams."""
        machine, shell = self.machine, self.shell
        scheduler = machine.scheduler
        fs = self.fs
        fs.act_as(_AGENT)
        fs.script_thread = get_ident()
        scheduler.pause = pause
        scheduler.begin(machine.budget)
        out, err = self._captures
        out.log = err.log = log
        standard = self._without_input
        if stdin is not None:
            standard = {0: _source(stdin, scheduler), 1: out, 2: err}
        descriptors = shell.descriptors
        if shell.fds is descriptors.base:
            shell.fds = standard
        elif 0 not in descriptors.owned:
            shell.fds = {**shell.fds, 0: standard[0]}
        self.standard = descriptors.base = standard
        return shell

    def kept(self, *, running: bool) -> Kept:
        """Return the current state of the shell for forks; `running` during a call."""
        from agentsandbox.shell.interpreter.forks import kept_of

        return kept_of(self.shell, self.standard, running=running, seeded=self._is_seeded)

    def close(self) -> None:
        """End all processes and give back what the shell holds."""
        self.machine.scheduler.close()
        self.shell.finish()
        self.shell.variables.owner = None


# TM-NEXT-1
class Execution:
    """One call: a script that runs in a session.

    `run` may be called once; afterwards `result` is set.

    log      all output so far
    script   the text
    budget   what it may use
    timeout  seconds; None for the session's limit
    terms    what else the host has said about the call; None for nothing
    pause    gives the host's event loop a turn (`processes`)
    """

    __slots__ = (
        "_ended", "_pause", "_restore", "_terms", "budget", "log", "result", "script", "session",
    )  # fmt: skip

    def __init__(
        self,
        session: Session,
        script: str,
        timeout: float | None,
        terms: Terms | None,
        pause: Callable[..., Any] | None,
    ) -> None:
        self.script = script
        self.result: ExecutionResult | None = None
        self.session = session
        self.budget = budget = session.machine.budget
        budget.renew(timeout)
        self.log = OutputLog(budget.limits.output_bytes, None if terms is None else terms.on_output)
        self._ended = False
        self._terms = terms
        self._pause = pause
        self._restore: list[Callable[[], None]] | None = None

    def cancel(self) -> None:
        """End the script at its next step, or at once if it sleeps. Safe in any thread."""
        session = self.session
        with session.ending:
            session.is_cancelling = True
            if not self._ended:
                self.budget.cancel()
            session.is_cancelling = False

    def run(self) -> ExecutionResult:
        """Run the script. Raises only errors of the host, and what cancels its task."""
        session, log, terms = self.session, self.log, self._terms
        shell = session.begin(log, None if terms is None else terms.stdin, self._pause)
        status = 130
        limit: LimitName | None = CANCELLED
        keeps = True
        try:
            if terms is not None:
                keeps = terms.state == "keep"
                if not keeps:
                    shell = self._passing(shell, terms.state)
                self._set_up(shell, terms)
            status, limit = run_guarded(shell, self.script, session.jobs, log, goes_on=keeps)
        except BaseException as error:
            # The host's task was cancelled; the output so far must not be lost.
            error.add_note(
                f"output of the script so far:\n{decode(b''.join(data for _, data in log.entries))}"
            )
            raise
        finally:
            # `cancel` says that it is at work before it reads `_ended`; here it is the other way
            # round. So one of both sees the other, without a lock for each call.
            self._ended = True
            if session.is_cancelling:
                with session.ending:
                    pass
            session.fs.script_thread = 0
            session.fs.act_as(_ROOT)
            self._clean_up(shell, limit, keeps=keeps)
            self.result = ExecutionResult._of(
                log.entries,
                status,
                self.script,
                monotonic() - self.budget.began,
                limit,
                self._pictures() if session.machine.host.pictures else None,
            )
        return self.result

    def _pictures(self) -> Mapping[str, bytes]:
        pictures = self.session.machine.host.pictures
        found = pictures_in(self.session.fs, pictures)
        pictures.clear()
        return found

    def _passing(self, own: Shell, state: State) -> Shell:
        """Return a shell in place of the session's `own` until the call ends, for signals too."""
        machine = own.machine
        shell = own.fork() if state == "discard" else self.session.new_shell(own.cwd)
        main, history = machine.scheduler.main, machine.history.copy()
        on_signal, main.on_signal = main.on_signal, None
        if shell.traps.handlers:
            from agentsandbox.shell.interpreter.traps import SignalHandler

            main.on_signal = SignalHandler(shell)

        def restore() -> None:
            shell.variables.owner = None
            main.on_signal = on_signal
            machine.history[:] = history
            machine.forget(len(history) - HISTORY)

        self._on_end(restore)
        return shell

    def _set_up(self, shell: Shell, terms: Terms) -> None:
        """Give the shell what applies to this call, and record how to undo it."""
        if terms.rule is not None:
            policy = shell.policy
            self._on_end(lambda: _use_policy(shell, policy))
            _use_policy(shell, terms.rule)
        if terms.env:
            scope = _with_environment(shell, terms.env)
            self._on_end(lambda: shell.variables.restore(scope))
        if terms.cwd is not None:
            cwd = shell.cwd
            self._on_end(lambda: shell.change_directory(cwd))
            shell.change_directory(shell.logical_path(terms.cwd))
        if terms.args:
            before = shell.stack.positional, shell.invocation.arguments
            self._on_end(lambda: _use_arguments(shell, *before))
            _use_arguments(shell, list(terms.args), tuple(terms.args))

    def _on_end(self, restore: Callable[[], None]) -> None:
        if self._restore is None:
            self._restore = []
        self._restore.append(restore)

    def _clean_up(self, shell: Shell, limit: LimitName | None, *, keeps: bool) -> None:
        """Leave the machine and the session's shell at rest."""
        scheduler = shell.machine.scheduler
        if self.session.jobs != "detach":  # whatever ended the call
            scheduler.kill_all()
        if limit is not None:
            ends_jobs = limit == "processes" or not scheduler.has_room() or scheduler.is_overrun()
            scheduler.kill_all(jobs=ends_jobs, elsewhere=False)
            if limit != CANCELLED:
                self.log.add_line(2, encode(notice_of(limit)))
        scheduler.end()
        if self._restore is not None:
            for restore in reversed(self._restore):
                restore()
        if keeps:
            shell.settle()
            shell.machine.remember(self.script, HISTORY)


def pictures_in(fs: MemoryFileSystem, paths: Sequence[str]) -> Mapping[str, bytes]:
    """Return the pictures that were written at some paths and are still there."""
    found: dict[str, bytes] = {}
    for path in dict.fromkeys(paths):
        try:
            info = fs.stat(path)
            if info.is_file and info.size <= _PICTURE_BYTES and len(found) < _PICTURES:
                found[path] = fs.read_bytes(path)
        except OSError:  # it is not there any more
            continue
    return found


def _use_policy(shell: Shell, policy: Policy | None) -> None:
    shell.policy = policy
    shell.update_flags()


def _use_arguments(shell: Shell, positional: list[str], arguments: tuple[str, ...]) -> None:
    shell.stack.positional = positional
    shell.invocation = shell.invocation.with_arguments(arguments)


def _with_environment(shell: Shell, env: Mapping[str, str]) -> dict[str, tuple[object, int]]:
    """Export variables for one call; return their former values."""
    from agentsandbox.shell.expansion.variables import EXPORT, SPECIAL

    variables = shell.variables
    scope: dict[str, tuple[object, int]] = {}
    for name, value in env.items():
        variables.save_in(scope, name)
        # what a script made of the name (readonly, a number) does not count
        variables.drop(name, ~SPECIAL)
        variables.assign(name, value)
        variables.add(name, EXPORT)
    return scope
