"""`Sandbox`: a filesystem, a shell and mounted skills, inside this process."""

from __future__ import annotations

import functools
import random as random_module
import sys
import threading
import time
from time import monotonic

from agentsandbox.errors import ClosedError, SandboxError
from agentsandbox.fs.memory import MemoryFileSystem
from agentsandbox.result import ExecutionResult
from agentsandbox.settings import DEFAULTS, check_settings, unknown_option
from agentsandbox.streams import encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any, Literal

    from agentsandbox.command import Command
    from agentsandbox.fs.trees import FrozenTree
    from agentsandbox.interpreter.forks import Kept
    from agentsandbox.interpreter.session import Session
    from agentsandbox.interpreter.shell import Shell
    from agentsandbox.observation import Observation
    from agentsandbox.options import SandboxOptions
    from agentsandbox.policy import Policy
    from agentsandbox.skills import AgentSkill, SkillInfo, SkillSession

    Jobs = Literal["detach", "wait", "kill"]

__all__ = ["DEFAULTS", "Sandbox", "Snapshot"]

HISTORY = 100
"""Results and scripts that a sandbox remembers, unless their output is very long."""


class Snapshot:
    """The state of a sandbox at one moment: files and working directory. Cheap, opaque, for the sandbox it came from or a fork."""

    __slots__ = ("cwd", "files")

    def __init__(self, files: object, cwd: str) -> None:
        self.files = files
        self.cwd = cwd


class Sandbox:
    """An isolated computer for one agent. Creating one costs microseconds; state persists between calls as in a terminal.

    Options are given as a `SandboxOptions`, one by one, or both (single ones win). A sandbox may be used from several
    threads and tasks: executions queue up. `execute` never raises for what a script does.
    """

    # what a new one begins with; a fork is made of as few parts as can be
    _id: str | None = None
    is_executing = False
    is_taken = False
    """Whether an execution of an event loop has its turn, or waits for it with the lock in hand."""
    _shell: Shell | None = None
    _shell_session: Session | None = None
    _inherited: Kept | None = None
    """The state of the shell for forks to take over, if it has not changed since it was last asked for."""
    _closed = False
    _mounted: tuple[SkillInfo, ...] = ()
    _session: SkillSession | None = None
    _executions = 0
    _observation: Observation | None = None

    def __init__(self, id: str | None = None, options: SandboxOptions | None = None, **overrides: Any) -> None:
        settings = DEFAULTS if options is None else options.settings()
        if overrides:
            unknown = overrides.keys() - DEFAULTS.keys()
            if unknown:
                raise TypeError(unknown_option(min(unknown)))
            settings = {**settings, **overrides}
            check_settings(settings)
        self._id = id
        self._settings = settings
        self.lock = threading.RLock()
        self._active_skills: list[str] = []
        self._clock: Callable[[], float] = settings["clock"] or time.time
        self._created = monotonic()
        self.fs: MemoryFileSystem = _new_filesystem(settings, self._clock)
        self._cwd: str = settings["cwd"]
        self.fs.makedirs(self._cwd)
        if settings["mounts"] or settings["files"]:
            self._place_files()
        self._observation = self._observe()
        if settings["skills"]:
            from agentsandbox.skills.mount import mount_skills

            self._mounted = mount_skills(self.fs, settings["skills"], settings["skills_mount_path"], settings["skills_writable"])
        if self._observation is not None:
            self._observation.lifecycle("created")

    def _observe(self) -> Observation | None:
        observer = self._settings["on_event"]
        if observer is None:
            return None
        from agentsandbox.observation import Observation

        return Observation(self, observer)

    def _place_files(self) -> None:
        for path, filesystem in self._settings["mounts"].items():
            parent = path.rstrip("/").rpartition("/")[0] or "/"
            self.fs.makedirs(parent)
            self.fs.mount(path, filesystem)
        for path, content in self._settings["files"].items():
            full = path if path.startswith("/") else f"{self._cwd.rstrip('/')}/{path}"
            self.fs.makedirs(full.rpartition("/")[0] or "/")
            self.fs.write_bytes(full, encode(content) if isinstance(content, str) else bytes(content))

    # properties

    def now(self) -> float:
        """Seconds since the epoch by the sandbox's clock."""
        return self._clock()

    @property
    def id(self) -> str:
        """The name of this sandbox, made up if none was given."""
        if self._id is None:
            self._id = f"{random_module.getrandbits(48):012x}"
        return self._id

    @property
    def cwd(self) -> str:
        """The shell's working directory."""
        return self._shell.cwd if self._shell is not None else self._cwd

    @property
    def env(self) -> dict[str, str]:
        """The exported variables, a copy."""
        return dict(self._main_shell().variables.environment())

    @property
    def history(self) -> tuple[ExecutionResult, ...]:
        """The results of the last executions, oldest first: at most 100, and fewer when their output is long."""
        return tuple(self._history)

    @property
    def closed(self) -> bool:
        """Whether `close` was called."""
        return self._closed

    def command_names(self) -> list[str]:
        """The commands that scripts can run, the host's own included, sorted; not the shell's builtins."""
        return _command_names(self._settings["commands"])

    def get_mounted_skills(self) -> tuple[SkillInfo, ...]:
        """The mounted skills in the order given."""
        return self._mounted

    def mount_skill(self, skill: AgentSkill, path: str | None = None, *, written: bool = False) -> str:
        """Mount one more skill, read-only; where it is. What a script made in its way is moved aside, but not a skill `written` there."""
        from agentsandbox.skills.mount import mount_another

        where = path or f"{self._settings['skills_mount_path'].rstrip('/')}/{skill.name}"
        self._mounted = mount_another(self.fs, self._mounted, skill, where, written=written)
        if self._shell is not None:
            self._shell.machine.skill_mounts = tuple((info.mount_path, info.name) for info in self._mounted)
        self._active_skills = [other for other in self._active_skills if other != where] + [where]
        if self._shell is not None:
            self._shell.machine.active_skills = self._active_skills
        return where

    @property
    def skills(self) -> SkillSession:
        """The session on the mounted skills: what is active, what may be read and run."""
        if self._session is None:
            from agentsandbox.skills.catalog import SkillCatalog
            from agentsandbox.skills.session import SkillSession

            catalog = SkillCatalog(skills=self._settings["skills"])
            observer = self._settings["on_event"]
            self._session = SkillSession(catalog, self, id=self.id, mount_path=self._settings["skills_mount_path"], on_event=observer)
        return self._session

    # executing

    def execute(
        self,
        script: str,
        *,
        stdin: str | bytes | None = None,
        timeout: float | None = None,
        env: Mapping[str, str] | None = None,
        cwd: str | None = None,
        args: Sequence[str] = (),
        isolated: bool = False,
        fresh: bool = False,
        on_output: Callable[[str, bytes], None] | None = None,
        on_command: Policy | None = None,
    ) -> ExecutionResult:
        """Run a script and return what it did, whatever it did.

        stdin      what the script reads; nothing by default
        timeout    seconds, never more than the sandbox's own limit
        env, cwd   for this call alone
        args       $1, $2 …
        isolated   leave no trace in the shell's state (files stay)
        fresh      isolated, and in a new shell: what scripts set, defined or opened before is not there
        on_output  called with "stdout" or "stderr" and each chunk as it appears
        on_command asked before each simple command of this call (see `policy`), after the sandbox's own
        """
        with self.lock:
            return self._execute(script, stdin, timeout, env, cwd, args, isolated or fresh, fresh, on_output, on_command)

    def _execute(
        self,
        script: str,
        stdin: str | bytes | None,
        timeout: float | None,
        env: Mapping[str, str] | None,
        cwd: str | None,
        args: Sequence[str],
        isolated: bool,
        fresh: bool,
        on_output: Callable[[str, bytes], None] | None,
        on_command: Policy | None,
        pause: Callable[..., Any] | None = None,
    ) -> ExecutionResult:
        if self._closed:
            raise ClosedError("this sandbox is closed")
        if not isinstance(script, str):
            raise TypeError(f"a script is a str, not {type(script).__name__}")
        if self.is_executing:
            raise SandboxError("this sandbox is executing a script; a command runs others with `ctx.run`")
        self._main_shell()
        session = self._shell_session
        assert session is not None
        from agentsandbox.interpreter.session import Execution

        policy = None
        if on_command is not None:
            from agentsandbox.policy import as_rule

            policy = as_rule(on_command, session.policy)
        execution = Execution(
            session,
            script,
            timeout=timeout,
            stdin=stdin,
            env=env,
            cwd=cwd,
            args=args,
            state="new" if fresh else "discard" if isolated else "keep",
            on_output=on_output,
            policy=policy,
            pause=pause,
        )
        observation = self._observation
        before = None if observation is None else self.snapshot()
        self.is_executing = True
        try:
            execution.run()
        finally:
            self.is_executing = False
            self._inherited = None
            self._cwd = session.shell.cwd
            if execution.result is not None:
                self._record(execution.result, execution.log.size)
        result = execution.result
        assert result is not None
        if observation is not None and before is not None:
            observation.executed(result, before)
        return result

    def _record(self, result: ExecutionResult, size: int) -> None:
        """Remember the result of a call; its output has `size` bytes."""
        self._executions += 1
        self._history.append(result)
        del self._history[:-HISTORY]
        most = self._settings["limits"].output_bytes
        if size > most >> 6:
            self._shorten_history(3 * most)

    def _shorten_history(self, most: int) -> None:
        """Let go of the oldest results when all of them together have much output."""
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
        stdin: str | bytes | None = None,
        timeout: float | None = None,
        env: Mapping[str, str] | None = None,
        cwd: str | None = None,
        args: Sequence[str] = (),
        isolated: bool = False,
        fresh: bool = False,
        on_output: Callable[[str, bytes], None] | None = None,
        on_command: Policy | None = None,
    ) -> ExecutionResult:
        """As `execute`, for an event loop (asyncio or trio), which gets a turn every few milliseconds.

        Cancelling the task ends the script at once and leaves the sandbox usable; what it had written is in `history`.
        """
        from agentsandbox.driver import drive

        return await drive(
            self,
            lambda pause: self._execute(script, stdin, timeout, env, cwd, args, isolated or fresh, fresh, on_output, on_command, pause),
        )

    # the machine

    def _main_shell(self) -> Shell:
        if self._shell is None:
            self._start()
        assert self._shell is not None
        return self._shell

    def _start(self) -> None:
        """Make the shell, when it is first needed."""
        from agentsandbox.interpreter.session import Session

        settings = self._settings
        policy = settings["on_command"]
        if policy is not None:
            from agentsandbox.policy import as_rule

            policy = as_rule(policy)
        self._shell_session = session = Session(
            self.fs,
            limits=settings["limits"],
            clock=self._clock,
            seed=settings["seed"],
            commands=settings["commands"],
            command_names=functools.partial(_command_names, settings["commands"]),  # a method of ours would keep us alive
            user=settings["user"],
            hostname=settings["hostname"],
            network=settings["network"],
            script_errexit=settings["script_errexit"],
            jobs=settings["jobs"],
            environment=self._environment(),
            cwd=self._cwd,
            policy=policy,
            kept=self._inherited,
        )
        machine = session.machine
        if self._observation is not None:
            machine.on_skill_script = self._observation.skill_script
        machine.skill_mounts = tuple((info.mount_path, info.name) for info in self._mounted)
        machine.active_skills = self._active_skills
        self._history: list[ExecutionResult] = []
        self._shell = session.shell

    def _environment(self) -> dict[str, str]:
        """What a new shell is given."""
        user = self._settings["user"]
        return {
            "HOME": f"/home/{user}",
            "USER": user,
            "LOGNAME": user,
            "SHELL": "/bin/bash",
            "PATH": "/usr/local/bin:/usr/bin:/bin",
            "LANG": "C.UTF-8",
            "TERM": "dumb",
            **self._settings["env"],
        }

    # state

    def snapshot(self) -> Snapshot:
        """The files and working directory as they are now. O(1)."""
        with self.lock:
            return Snapshot(self.fs.snapshot(), self.cwd)

    def restore(self, snapshot: Snapshot) -> None:
        """Go back to a snapshot."""
        with self.lock:
            self.fs.restore(snapshot.files)  # type: ignore[arg-type]
            if self._shell is not None:
                self._shell.change_directory(snapshot.cwd)
                self._inherited = None
            self._cwd = snapshot.cwd
            if self._observation is not None:
                self._observation.lifecycle("restored")

    def diff(self, snapshot: Snapshot) -> list[Any]:
        """What has changed in the files since a snapshot."""
        return list(self.fs.diff(snapshot.files))  # type: ignore[arg-type]

    def fork(self) -> Sandbox:
        """An independent copy: same files, variables, functions and directory. O(1) in the number of files."""
        with self.lock:
            if self._shell_session is not None and (self._inherited is None or self.is_executing):
                self._inherited = self._shell_session.kept(running=self.is_executing)
            twin = Sandbox.__new__(Sandbox)
            twin._settings = self._settings
            twin.lock = threading.RLock()
            twin._active_skills = self._active_skills.copy()
            twin._clock = self._clock
            twin._created = monotonic()
            twin.fs = self.fs.fork()
            if self.is_executing:
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

    def stats(self) -> dict[str, Any]:
        """Figures: id, files, bytes, executions, working directory, age in seconds."""
        return {
            "id": self.id,
            "files": self.fs.used_files,
            "bytes": self.fs.used_bytes,
            "executions": self._executions,
            "cwd": self.cwd,
            "age": monotonic() - self._created,
        }

    def close(self) -> None:
        """End background jobs and refuse further use. Idempotent."""
        with self.lock:
            if self._closed:
                return
            self._closed = True
            if self._shell_session is not None:
                self._shell_session.close()
                self._shell_session = self._shell = None
            if self._observation is not None:
                self._observation.lifecycle("closed")

    def __del__(self, is_finalizing: Callable[[], bool] = sys.is_finalizing) -> None:
        # what waits in the middle of its work holds itself: the collector cannot see into it, so it is ended here
        shell = self._shell
        if shell is None or self._closed or is_finalizing():
            return
        scheduler = shell.machine.scheduler
        if scheduler.processes or scheduler.elsewhere:
            scheduler.kill_all()

    def __reduce__(self) -> str:
        raise TypeError("a sandbox can neither be pickled nor copied: `fork` makes a second one, `snapshot` keeps its files")

    def __enter__(self) -> Sandbox:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<Sandbox {self.id} cwd={self.cwd!r}{' closed' if self._closed else ''}>"


def _command_names(own: Sequence[Command]) -> list[str]:
    from agentsandbox.commands import names

    return sorted({*names(), *(command.name for command in own)})


def _new_filesystem(settings: Mapping[str, Any], clock: Callable[[], float]) -> MemoryFileSystem:
    base = _skeleton(settings["user"], settings["hostname"], tuple(sorted(command.name for command in settings["commands"])))
    fs = MemoryFileSystem(settings["limits"], clock, base)
    fs.uid = 0
    return fs


@functools.lru_cache(maxsize=64)
def _skeleton(user: str, hostname: str, custom: tuple[str, ...]) -> FrozenTree:
    """The files of a fresh sandbox, shared by all that look alike."""
    from agentsandbox.commands import names
    from agentsandbox.fs.skeleton import debian_skeleton

    return debian_skeleton(user, hostname, sorted({*names(), *custom, "sh", "dash", "bash", "["}))
