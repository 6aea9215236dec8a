"""`Sandbox`: a filesystem, a shell and mounted skills, inside this process."""

from __future__ import annotations

import errno
import os
import sys
import time
from _thread import RLock
from time import monotonic

from agentsandbox.errors import ClosedError, MountError, PipeClosed, SandboxError
from agentsandbox.kernel.caching import lru_cache
from agentsandbox.kernel.fs.memory import MemoryFileSystem
from agentsandbox.kernel.streams import encode
from agentsandbox.options import DEFAULT_OPTIONS, KeywordSignature, SandboxOptions, check_identity
from agentsandbox.result import ExecutionResult

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any, Never, Unpack

    from agentsandbox.contract.command import Command
    from agentsandbox.files import SandboxFiles
    from agentsandbox.host_input import HostInput
    from agentsandbox.isolation.session import IsolatedExecution, IsolatedSession
    from agentsandbox.isolation.session import State as IsolatedState
    from agentsandbox.kernel.fs.changes import Change
    from agentsandbox.kernel.fs.memory import Snapshot as FileSnapshot
    from agentsandbox.kernel.fs.trees import FrozenTree
    from agentsandbox.options import SandboxKeywords
    from agentsandbox.policy import Policy
    from agentsandbox.review import SandboxGit
    from agentsandbox.runtime.event_loop import Channel
    from agentsandbox.runtime.observation import Observation
    from agentsandbox.runtime.session import Execution, Session
    from agentsandbox.runtime.streaming import AsyncOutputStream, OutputStream
    from agentsandbox.runtime.terms import State, Terms
    from agentsandbox.shell.interpreter.forks import Kept
    from agentsandbox.shell.interpreter.shell import Shell
    from agentsandbox.skills import AgentSkill, SkillInfo, SkillSession
    from agentsandbox.stats import Stats

__all__ = ["Sandbox", "Snapshot"]

_NUMBERS, _LONG = (int, float), 1e9
"""The types of a timeout that needs no look, and what it is less than, in seconds."""

HISTORY = 100
"""Results and scripts that a sandbox remembers, fewer if their output is very long."""


class Snapshot:
    """The files and the working directory of a sandbox at one moment, for it and its forks."""

    __slots__ = ("cwd", "family", "files")

    def __init__(self, files: FileSnapshot, cwd: str, family: object) -> None:
        self.files = files
        self.cwd = cwd
        self.family = family
        """The same object in a sandbox and all its forks."""


# TM-NEXT-3, TM-NEXT-5
class Sandbox:
    """An isolated computer for one agent, whose state persists between calls as in a terminal.

    Options are given one by one (`SandboxOptions` lists them), as a `SandboxOptions`, or both:
    single ones win. A sandbox may be used from several threads and tasks: executions queue up.
    `execute` never raises for what a script does.
    """

    __signature__ = KeywordSignature()

    # what a new one begins with; a fork is made of as few parts as can be
    _id: str | None = None
    _is_taken = False
    """Whether an execution of an event loop has its turn, or waits for it holding the lock."""
    _is_disposed = False
    _mounted: tuple[SkillInfo, ...] = ()
    _session: SkillSession | None = None

    # what each call reads, which is quicker in the instance
    _closed: bool
    _running: Execution | IsolatedExecution | None
    """The running execution."""
    _is_observed: bool
    """Whether the observer is being called about an execution."""
    _shell: Shell | None
    """The main shell; None before it is needed, and where it is in another process."""
    _shell_session: Session | IsolatedSession | None
    _inherited: Kept | IsolatedState | None
    """The state of the shell for forks, as long as nothing has changed it."""
    _executions: int
    _observation: Observation | None
    _history: list[ExecutionResult]

    def __init__(
        self,
        id: str | None = None,
        options: SandboxOptions | None = None,
        **overrides: Unpack[SandboxKeywords],
    ) -> None:
        if id is not None or options is not None:
            check_identity(id, options)
        if overrides:
            chosen = SandboxOptions(**overrides) if options is None else options.clone(**overrides)
        else:
            chosen = DEFAULT_OPTIONS if options is None else options
        self._id = id
        self._rest()
        self._options = chosen
        self._family = object()
        self._lock = RLock()
        self._active_skills: list[str] = []
        self._clock: Callable[[], float] = chosen.clock or time.time
        self._created = monotonic()
        self.fs: MemoryFileSystem = _new_filesystem(chosen, self._clock)
        self._cwd: str = chosen.cwd
        self._place_files()
        self._observation = self._observe()
        if chosen.isolation == "process":
            from agentsandbox.isolation.supervisor import check_available

            check_available()
        if chosen.skills:
            from agentsandbox.skills.mount import mount_skills

            place, writable = chosen.skills_mount_path, chosen.skills_writable
            self._mounted = mount_skills(self.fs, chosen.skills, place, writable)
        if self._observation is not None:
            self._observation.lifecycle("created")

    def _rest(self) -> None:
        """Begin as a sandbox in which nothing has run."""
        self._closed = self._is_observed = False
        self._running = self._shell = self._shell_session = None
        self._inherited = self._observation = None
        self._executions = 0
        self._history = []

    def _observe(self) -> Observation | None:
        observer = self._options.on_event
        if observer is None:
            return None
        from agentsandbox.runtime.observation import Observation

        return Observation(self, observer)

    def _place_files(self) -> None:
        """Create the working directory, the mounts and the files; an error names the option."""
        options = self._options
        option = "cwd"
        try:
            self.fs.makedirs(self._cwd)
            if not (options.mounts or options.files):
                return
            if options.mounts:
                self._mount_all()
            option = "files"
            for path, content in options.files.items():
                full = path if path.startswith("/") else f"{self._cwd.rstrip('/')}/{path}"
                self.fs.makedirs(full.rpartition("/")[0] or "/")
                self.fs.write_bytes(full, encode(content) if isinstance(content, str) else content)
        except OSError as error:
            raise OSError(error.errno, f"{option}: {error.strerror}", error.filename) from None

    def _mount_all(self) -> None:
        for path, filesystem in self._options.mounts.items():
            try:
                self.fs.makedirs(path.rpartition("/")[0] or "/")
                self.fs.mount(path, filesystem)
            except MountError as error:
                raise MountError(f"mounts: {error}", error.errno) from None
            except OSError as error:
                text = f"mounts: {error.strerror}: {error.filename!r}"
                raise MountError(text, error.errno) from None

    # properties

    def now(self) -> float:
        """Return the time of the sandbox's clock, in seconds since the epoch."""
        return self._clock()

    @property
    def id(self) -> str:
        """The id of this sandbox, generated if none was given."""
        if self._id is None:
            import random

            self._id = f"{random.getrandbits(48):012x}"
        return self._id

    @property
    def options(self) -> SandboxOptions:
        """The options that it was created with."""
        return self._options

    @property
    def cwd(self) -> str:
        """The shell's working directory."""
        return self._shell.cwd if self._shell is not None else self._cwd

    @property
    def env(self) -> dict[str, str]:
        """The exported variables, a copy."""
        if self._closed:
            raise ClosedError("this sandbox is closed")
        return (self._shell_session or self._start()).exported()

    @property
    def files(self) -> SandboxFiles:
        """The files, with the agent's permissions: read, write, edit, search, import and export."""
        from agentsandbox.files import SandboxFiles

        return SandboxFiles(self)

    @property
    def git(self) -> SandboxGit:
        """The git repositories, to review what an agent did: differences, commits, patches."""
        from agentsandbox.review import SandboxGit

        return SandboxGit(self)

    @property
    def history(self) -> tuple[ExecutionResult, ...]:
        """The results of the last 100 executions, oldest first; fewer when their output is long."""
        return tuple(self._history)

    @property
    def closed(self) -> bool:
        """Whether `close` was called."""
        return self._closed

    def command_names(self) -> list[str]:
        """Return the commands that scripts can run, the host's own too, without the builtins."""
        return _command_names(self._options.own_commands())

    def get_mounted_skills(self) -> tuple[SkillInfo, ...]:
        """Return the mounted skills with their paths: first those of `skills=`."""
        return self._mounted

    def mount_skill(
        self, skill: AgentSkill, path: str | None = None, *, written: bool = False
    ) -> str:
        """Mount one more skill read-only and return its path (default: below `skills_mount_path`).

        A file that a script left at that path is renamed to PATH.1. With `written=True` that file
        is the skill, and is kept.
        """
        from agentsandbox.runtime.arguments import check_skill
        from agentsandbox.skills.mount import mount_another

        check_skill(skill, path)
        if self._closed:
            raise ClosedError("this sandbox is closed")
        where = path or f"{self._options.skills_mount_path.rstrip('/')}/{skill.name}"
        self._mounted = mount_another(self.fs, self._mounted, skill, where, written=written)
        self._active_skills = [other for other in self._active_skills if other != where] + [where]
        if self._shell_session is not None:
            self._shell_session.use_skills(self._skill_paths(), self._active_skills)
        return where

    def _skill_paths(self) -> list[tuple[str, str]]:
        """Return (path, name) of each mounted skill."""
        return [(info.mount_path, info.name) for info in self._mounted]

    @property
    def skills(self) -> SkillSession:
        """The session with the skills: which are active, what may be read and run.

        Not to be confused with the option `skills=`, which lists the skills to mount, nor with
        `get_mounted_skills()`, which returns what is mounted where.
        """
        if self._session is None:
            from agentsandbox.skills.catalog.catalog import SkillCatalog
            from agentsandbox.skills.session.session import SkillSession

            options = self._options
            catalog = SkillCatalog(skills=options.skills)
            place, observer = options.skills_mount_path, options.on_event
            self._session = SkillSession(
                catalog, self, id=self.id, mount_path=place, on_event=observer
            )
        return self._session

    # executing

    def execute(
        self,
        script: str,
        *,
        stdin: str | bytes | HostInput | None = None,
        timeout: float | None = None,
        env: Mapping[str, str] | None = None,
        cwd: str | None = None,
        args: Sequence[str] = (),
        state: State = "keep",
        on_output: Callable[[str, bytes], None] | None = None,
        on_command: Policy | None = None,
        **unknown: Never,
    ) -> ExecutionResult:
        """Run a script as `bash -c` does and return what it did. No script makes this raise.

        stdin       what the script reads: text, bytes, or a `HostInput`; nothing by default
        timeout     seconds, at most the sandbox's own `limits.timeout`
        env, cwd    variables and the working directory, for this call alone
        args        $1, $2 …
        state       what happens to variables, functions, options and the working directory:
                    "keep"     they are those of the call before, and stay, as in one terminal
                    "discard"  they are those of the call before; what this call changes is dropped
                    "new"      the call has a new shell, and what it changes is dropped
                    (changes to files stay in every case)
        on_output   called with "stdout" or "stderr" and each chunk of bytes as it appears
        on_command  called before each simple command of this call, after the sandbox's own policy

        Raises `TypeError` and `ValueError` for arguments that are not accepted, `FileNotFoundError`
        and `NotADirectoryError` for `cwd`, `ClosedError`, and `SandboxError` when the same thread
        is executing in this sandbox already. Another thread waits.
        """
        if (
            type(script) is not str or stdin is not None or env is not None
            or cwd is not None or args != () or state != "keep" or on_output is not None
            or on_command is not None or unknown
            or not (timeout is None or (type(timeout) in _NUMBERS and 0 < timeout < _LONG))
        ):  # fmt: skip
            from agentsandbox.runtime.arguments import check_call
            from agentsandbox.runtime.terms import Terms

            check_call(
                script, stdin, timeout, env, cwd, args, state, on_output, on_command, unknown
            )
            terms = Terms(stdin, env, cwd, args, state, on_output, on_command)
        else:
            terms = None
        if on_command is not None or self._options.on_command is not None:
            self._refuse_async(on_command)
        with self._lock:
            return self._execute(script, timeout, terms)

    def _refuse_async(self, policy: Policy | None) -> None:
        """Refuse an asynchronous policy in an execution without an event loop."""
        from agentsandbox.runtime.arguments import is_async

        if is_async(policy) or is_async(self._options.on_command):
            raise TypeError(
                "on_command is async: use `await sandbox.aexecute(…)`, or a plain function"
            )

    def _execute(
        self,
        script: str,
        timeout: float | None,
        terms: Terms | None,
        pause: Callable[..., Any] | None = None,
    ) -> ExecutionResult:
        """Run a script in this thread's turn and remember its result."""
        if self._closed or self._running is not None or self._is_observed:
            self._refuse_use()
        session = self._shell_session or self._start()
        if terms is not None:
            self._check_terms(session, terms)
        before = None if self._observation is None else self.snapshot()
        execution = self._running = session.call(script, timeout, terms, pause)
        try:
            result = execution.run()
        finally:
            self._running = self._inherited = None
            if self._shell is None:
                self._cwd = session.cwd
            if execution.result is not None:
                self._executions += 1
                history = self._history
                history.append(execution.result)
                if len(history) > HISTORY:
                    del history[0]
                most = execution.log.limit
                if execution.log.size > most >> 6:
                    self._shorten_history(3 * most)
            if self._closed:  # `close` was called in the meantime
                self._dispose()
        if before is not None:
            self._tell_observer(result, before)
        return result

    def _check_terms(self, session: Session | IsolatedSession, terms: Terms) -> None:
        """Refuse a directory that is not there; errors of the host's function go to its log."""
        if terms.cwd is not None:
            self._check_directory(session.logical_path(terms.cwd), terms.cwd)
        if terms.on_output is not None:
            from agentsandbox.events import guarded

            terms.on_output = guarded(terms.on_output, "on_output", passes=(PipeClosed,))

    def _tell_observer(self, result: ExecutionResult, before: Snapshot) -> None:
        """Tell the observer about a call; `before` has the files as they were."""
        assert self._observation is not None
        self._is_observed = True
        try:
            self._observation.executed(result, self.diff(before))
        finally:
            self._is_observed = False

    def _refuse_use(self) -> None:
        """Refuse to use the shell of a closed sandbox, or during an execution."""
        if self._closed:
            raise ClosedError("this sandbox is closed")
        if self._running is not None:
            raise SandboxError(
                "this sandbox is executing a script: inside a command use `ctx.run(…)`,"
                " beside other tasks `await sandbox.aexecute(…)`, which waits; a policy, an "
                "observer and on_output"
                " have to wait for the end"
            )
        if self._is_observed:
            raise SandboxError(
                "an observer must not use the sandbox that it observes: note the event and act on "
                "it later"
            )

    def _check_directory(self, path: str, cwd: str) -> None:
        """Refuse a working directory that does not exist, as `chdir` does."""
        if not self.fs.is_dir(path):
            number = errno.ENOTDIR if self.fs.exists(path) else errno.ENOENT
            raise OSError(number, os.strerror(number), cwd)

    def _shorten_history(self, most: int) -> None:
        """Forget the oldest results if all of them together have much output."""
        kept = [sum(len(data) for _, data in result._entries) for result in self._history]
        total = sum(kept)
        drop = 0
        while total > most and drop < len(kept) - 1:
            total -= kept[drop]
            drop += 1
        del self._history[:drop]

    async def aexecute(
        self,
        script: str,
        *,
        stdin: str | bytes | HostInput | None = None,
        timeout: float | None = None,
        env: Mapping[str, str] | None = None,
        cwd: str | None = None,
        args: Sequence[str] = (),
        state: State = "keep",
        on_output: Callable[[str, bytes], None] | None = None,
        on_command: Policy | None = None,
        **unknown: Never,
    ) -> ExecutionResult:
        """Execute like `execute` in an event loop (asyncio or trio), which keeps running.

        Waits while another task or thread executes in this sandbox. Cancelling the task ends the
        script at once and leaves the sandbox usable; `history` has what the script wrote.
        """
        from agentsandbox.runtime.arguments import check_call
        from agentsandbox.runtime.event_loop import drive
        from agentsandbox.runtime.terms import Terms

        check_call(script, stdin, timeout, env, cwd, args, state, on_output, on_command, unknown)
        terms = Terms(stdin, env, cwd, args, state, on_output, on_command)
        return await drive(self, lambda pause: self._execute(script, timeout, terms, pause))

    def stream(
        self,
        script: str,
        *,
        stdin: str | bytes | HostInput | None = None,
        timeout: float | None = None,
        env: Mapping[str, str] | None = None,
        cwd: str | None = None,
        args: Sequence[str] = (),
        state: State = "keep",
        on_command: Policy | None = None,
        **unknown: Never,
    ) -> OutputStream:
        """Execute like `execute`, but return an iterator of chunks: ("stdout" or "stderr", bytes).

        After the last chunk its `result` is the `ExecutionResult`. The script begins when the first
        chunk is requested, and waits while the reader is busy. Leaving the loop early, or `close`,
        cancels it.
        """
        from agentsandbox.runtime.arguments import check_call
        from agentsandbox.runtime.streaming import OutputStream
        from agentsandbox.runtime.terms import Terms

        check_call(script, stdin, timeout, env, cwd, args, state, None, on_command, unknown)
        self._refuse_async(on_command)
        terms = Terms(stdin, env, cwd, args, state, policy=on_command)
        return OutputStream(self, lambda channel: self._streamed(script, timeout, terms, channel))

    def astream(
        self,
        script: str,
        *,
        stdin: str | bytes | HostInput | None = None,
        timeout: float | None = None,
        env: Mapping[str, str] | None = None,
        cwd: str | None = None,
        args: Sequence[str] = (),
        state: State = "keep",
        on_command: Policy | None = None,
        **unknown: Never,
    ) -> AsyncOutputStream:
        """Execute like `stream`, for `async for` in an event loop.

        Use `async with sandbox.astream(…) as chunks` if the loop may be left early.
        """
        from agentsandbox.runtime.arguments import check_call
        from agentsandbox.runtime.streaming import AsyncOutputStream
        from agentsandbox.runtime.terms import Terms

        check_call(script, stdin, timeout, env, cwd, args, state, None, on_command, unknown)
        terms = Terms(stdin, env, cwd, args, state, policy=on_command)
        return AsyncOutputStream(
            self,
            lambda channel: self._streamed(script, timeout, terms, channel, channel.pause),
        )

    def _streamed(
        self,
        script: str,
        timeout: float | None,
        terms: Terms,
        channel: Channel,
        pause: Callable[..., Any] | None = None,
    ) -> ExecutionResult:
        """Execute for a stream, whose chunks go into the channel."""
        terms.on_output = channel.put
        return self._execute(script, timeout, terms, pause)

    def cancel(self) -> bool:
        """End the running script, and return whether there was one. Safe in any thread.

        The execution returns soon, with its output so far, `exit_code` 130 and `limit` "cancelled",
        unless it ends by itself before. A running command of the host is not interrupted: its
        script ends when it returns. What an `async` command of the host waits for is cancelled.
        Executions that wait for their turn are not cancelled.
        """
        running = self._running
        if running is not None:
            running.cancel()
        return running is not None

    def isolation_report(self) -> dict[str, str]:
        """Return what confines the scripts' process, by layer: "in force: …" or "not in force: …".

        Empty with `isolation="thread"`, where nothing but this library confines a script. Layers
        (see docs/isolation.md): "memory", "resources", "landlock", "seccomp". Starts a process if
        there is none.
        """
        if self._options.isolation == "thread":
            return {}
        with self._lock:
            self._refuse_use()
            session = self._shell_session or self._start()
            return dict(session.confinement())

    # the machine

    def _start(self) -> Session | IsolatedSession:
        """Create the session when it is first needed."""
        session: Session | IsolatedSession
        if self._options.isolation == "process":
            session = self._isolated()
        else:
            session = self._in_process()
            self._shell = session.shell
        session.use_skills(self._skill_paths(), self._active_skills)
        self._shell_session = session
        return session

    def _isolated(self) -> IsolatedSession:
        """Return a session in a process of its own."""
        from agentsandbox.isolation.session import IsolatedSession

        observation = self._observation
        return IsolatedSession(
            self.fs,
            options=self._options,
            environment=self._environment(),
            cwd=self._cwd,
            on_skill=None if observation is None else observation.skill_script,
            kept=self._inherited,  # type: ignore[arg-type]  # a State, by the options
        )

    def _in_process(self) -> Session:
        """Return a session in this process."""
        from agentsandbox.commands import COMMANDS
        from agentsandbox.runtime.session import Session

        options = self._options
        own = options.own_commands()
        policy = None
        if options.on_command is not None:
            from agentsandbox.policy import as_rule

            policy = as_rule(options.on_command)
        session = Session(
            self.fs,
            limits=options.limits,
            clock=self._clock,
            seed=options.seed,
            commands=own,
            command_names=lambda: _command_names(own),  # a method of ours would keep us alive
            user=options.user,
            hostname=options.hostname,
            network=options.network,
            git_remotes=options.git_remotes,
            available=COMMANDS,
            script_errexit=options.script_errexit,
            jobs=options.jobs,
            environment=self._environment(),
            cwd=self._cwd,
            policy=policy,
            kept=self._inherited,  # type: ignore[arg-type]  # a Kept, by the options
        )
        if self._observation is not None:
            session.machine.on_skill_script = self._observation.skill_script
        return session

    def _environment(self) -> dict[str, str]:
        """Return the environment of a new shell."""
        user = self._options.user
        return {
            "HOME": f"/home/{user}",
            "USER": user,
            "LOGNAME": user,
            "SHELL": "/bin/bash",
            "PATH": "/usr/local/bin:/usr/bin:/bin",
            "LANG": "C.UTF-8",
            "TERM": "dumb",
            **self._options.env,
        }

    # state

    def snapshot(self) -> Snapshot:
        """Return the files and the working directory as they are now. O(1)."""
        with self._lock:
            if self._closed:
                raise ClosedError("this sandbox is closed")
            return Snapshot(self.fs.snapshot(), self.cwd, self._family)

    def restore(self, snapshot: Snapshot) -> None:
        """Return to a snapshot of this sandbox, or of another one of the same family of forks.

        Raises `SandboxError` for a snapshot of another sandbox and during an execution.
        """
        _check_snapshot(snapshot, self._family)
        with self._lock:
            self._refuse_use()
            self.fs.restore(snapshot.files)
            if self._shell_session is not None:
                self._shell_session.change_directory(snapshot.cwd)
                self._inherited = None
            self._cwd = snapshot.cwd
            if self._observation is not None:
                self._observation.lifecycle("restored")

    def diff(self, snapshot: Snapshot) -> list[Change]:
        """Return the changed paths since a snapshot, sorted; mounted filesystems are left out."""
        _check_snapshot(snapshot, self._family)
        return self.fs.diff(snapshot.files)

    def fork(self) -> Sandbox:
        """Return an independent copy: files, variables, functions and directory. O(1) in files."""
        with self._lock:
            if self._closed:
                raise ClosedError("this sandbox is closed")
            session, running = self._shell_session, self._running is not None
            if session is not None and (self._inherited is None or running):
                self._inherited = session.kept(running=running)
            twin = Sandbox.__new__(Sandbox)
            twin._rest()
            twin._options = self._options
            twin._family = self._family
            twin._lock = RLock()
            twin._active_skills = self._active_skills.copy()
            twin._clock = self._clock
            twin._created = monotonic()
            twin.fs = self.fs.fork()
            if self._running is not None:
                twin.fs.uid = 0
            twin._cwd = self.cwd
            if self._inherited is not None:
                twin._inherited = self._inherited.on(twin.fs, self.fs)
            if self._mounted:
                twin._mounted = self._mounted
            if self._observation is not None:
                twin._observation = twin._observe()
                self._observation.lifecycle("forked", twin.id)
            return twin

    def stats(self) -> Stats:
        """Return figures: files, bytes, executions, age and the like."""
        from agentsandbox.stats import Stats

        return Stats(
            id=self.id,
            files=self.fs.used_files,
            bytes=self.fs.used_bytes,
            executions=self._executions,
            is_executing=self._running is not None,
            cwd=self.cwd,
            age=monotonic() - self._created,
        )

    def close(self) -> None:
        """Cancel the running script, end background jobs and refuse further use. Idempotent.

        Called during an execution of the same thread, it takes effect when that ends. Files can
        still be read through `fs`.
        """
        self._closed = True
        self.cancel()
        with self._lock:
            if self._running is None:
                self._dispose()

    async def aclose(self) -> None:
        """Close like `close`, in an event loop: wait until no script runs any more."""
        from agentsandbox.runtime.event_loop import enter, leave

        self._closed = True
        self.cancel()
        await enter(self)
        try:
            self._dispose()
        finally:
            leave(self)

    def _dispose(self) -> None:
        """Free the shell and its jobs, once."""
        if self._is_disposed:
            return
        self._is_disposed = True
        if self._shell_session is not None:
            self._shell_session.close()
            self._cwd = self._shell_session.cwd
            self._shell_session = self._shell = None
        if self._observation is not None:
            self._observation.lifecycle("closed")

    def __del__(self, is_finalizing: Callable[[], bool] = sys.is_finalizing) -> None:
        # what waits in the middle of its work holds itself: the collector cannot see into it, so it
        # is ended here
        shell = getattr(self, "_shell", None)  # without one if the options were refused
        if shell is None or self._is_disposed or is_finalizing():
            return
        shell.machine.scheduler.close()

    def __reduce__(self) -> str:
        raise TypeError(
            "a sandbox can neither be pickled nor copied: `fork` makes a second one, `snapshot` "
            "keeps its files"
        )

    def __enter__(self) -> Sandbox:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    async def __aenter__(self) -> Sandbox:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    def __repr__(self) -> str:
        return f"<Sandbox {self.id} cwd={self.cwd!r}{' closed' if self._closed else ''}>"


def _check_snapshot(snapshot: object, family: object) -> None:
    if not isinstance(snapshot, Snapshot):
        kind = type(snapshot).__name__
        raise TypeError(f"snapshot must be what Sandbox.snapshot() returned, not {kind}")
    if snapshot.family is not family:
        raise SandboxError(
            "this snapshot is of another sandbox; only a sandbox and its forks share snapshots"
        )


def _command_names(own: Sequence[Command]) -> list[str]:
    from agentsandbox.commands import names

    return sorted({*names(), *(command.name for command in own)})


def _new_filesystem(options: SandboxOptions, clock: Callable[[], float]) -> MemoryFileSystem:
    own = tuple(sorted(command.name for command in options.own_commands()))
    base = _shared_base(options.user, options.hostname, own)
    fs = MemoryFileSystem(options.limits, clock, base)
    fs.uid = 0
    return fs


@lru_cache(maxsize=64)
def _shared_base(user: str, hostname: str, custom: tuple[str, ...]) -> FrozenTree:
    """Return the files of a new sandbox, shared by all sandboxes with the same arguments."""
    from agentsandbox.commands import names
    from agentsandbox.kernel.fs.debian_tree import debian_tree

    return debian_tree(user, hostname, sorted({*names(), *custom, "sh", "dash", "bash", "["}))
