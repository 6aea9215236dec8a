"""The events of a sandbox: one small class for each kind.

`Sandbox(on_event=…)` calls the observer with each event, in order, in the thread that executes. An
observer cannot interfere: its exceptions go to the host's log ("agentsandbox") and change nothing
for the sandbox or its caller.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Literal, ParamSpec

    P = ParamSpec("P")

    from agentsandbox.errors import LimitName

    Change = Literal["created", "modified", "deleted", "renamed"]
    Stage = Literal["created", "closed", "restored", "forked"]

    Observer = Callable[["SandboxEvent"], None]

__all__ = ["CommandExecuted", "FileChanged", "Lifecycle", "SandboxEvent", "SkillInvoked", "guarded"]


# TM-OUT-3
def guarded(
    callback: Callable[P, object], name: str, passes: tuple[type[BaseException], ...] = ()
) -> Callable[P, None]:
    """Wrap a callback of the host: its errors go to the host's log, only the first of them.

    Exceptions in `passes` are raised, as are `KeyboardInterrupt` and the cancellation of a task.
    """
    failed = False

    def call(*arguments: P.args, **options: P.kwargs) -> None:
        nonlocal failed
        try:
            callback(*arguments, **options)
        except passes:
            raise
        except BaseException as error:
            from agentsandbox.kernel.host_functions import passes_to_host

            if passes_to_host(error):
                raise
            if not failed:
                import logging

                failed = True
                logging.getLogger("agentsandbox").error(
                    "%s raised; its errors are not reported again", name, exc_info=error
                )

    return call


class SandboxEvent:
    """The base of events: the sandbox's id, and the time in seconds since the epoch."""

    __slots__ = ("sandbox_id", "timestamp")

    def __init__(self, sandbox_id: str, timestamp: float) -> None:
        self.sandbox_id = sandbox_id
        self.timestamp = timestamp

    def __repr__(self) -> str:
        names = [name for base in type(self).__mro__[:-1] for name in base.__dict__["__slots__"]]
        fields = ", ".join(f"{name}={getattr(self, name)!r}" for name in names)
        return f"{type(self).__name__}({fields})"


class CommandExecuted(SandboxEvent):
    """An `execute` ended: script, status, duration in seconds, directory, limit that ended it."""

    __slots__ = ("cwd", "duration", "exit_code", "limit", "script", "stderr", "stdout")

    def __init__(
        self,
        sandbox_id: str,
        timestamp: float,
        *,
        script: str,
        exit_code: int,
        duration: float,
        stdout: str = "",
        stderr: str = "",
        cwd: str = "/",
        limit: LimitName | None = None,
    ) -> None:
        super().__init__(sandbox_id, timestamp)
        self.script = script
        self.exit_code = exit_code
        self.duration = duration
        self.stdout = stdout
        self.stderr = stderr
        self.cwd = cwd
        self.limit = limit


class FileChanged(SandboxEvent):
    """An execution changed a file; `old_path` is set if it was renamed."""

    __slots__ = ("change", "is_directory", "old_path", "path", "size")

    def __init__(
        self,
        sandbox_id: str,
        timestamp: float,
        *,
        path: str,
        change: Change,
        is_directory: bool = False,
        old_path: str | None = None,
        size: int | None = None,
    ) -> None:
        super().__init__(sandbox_id, timestamp)
        self.path = path
        self.change = change
        self.is_directory = is_directory
        self.old_path = old_path
        self.size = size


class SkillInvoked(SandboxEvent):
    """A skill was loaded or unloaded, its file read, its script run, or a change of it proposed."""

    __slots__ = ("action", "duration", "path", "skill", "success")

    def __init__(
        self,
        sandbox_id: str,
        timestamp: float,
        *,
        skill: str,
        action: Literal["load", "unload", "read", "run", "propose"],
        path: str | None = None,
        duration: float | None = None,
        success: bool = True,
    ) -> None:
        super().__init__(sandbox_id, timestamp)
        self.skill = skill
        self.action = action
        self.path = path
        self.duration = duration
        self.success = success


class Lifecycle(SandboxEvent):
    """A sandbox was created, closed, forked (`details` is the fork's id) or restored."""

    __slots__ = ("details", "stage")

    def __init__(
        self, sandbox_id: str, timestamp: float, *, stage: Stage, details: str = ""
    ) -> None:
        super().__init__(sandbox_id, timestamp)
        self.stage = stage
        self.details = details
