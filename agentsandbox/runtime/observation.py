"""Calls to the observer of a sandbox. Only a sandbox with an observer imports this module."""

from __future__ import annotations

from agentsandbox.events import CommandExecuted, FileChanged, Lifecycle, SkillInvoked, guarded

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Literal, Protocol

    from agentsandbox.events import Observer, Stage
    from agentsandbox.kernel.fs.changes import Change
    from agentsandbox.kernel.fs.memory import MemoryFileSystem
    from agentsandbox.result import ExecutionResult

    class Observed(Protocol):
        """The sandbox, as events describe it."""

        fs: MemoryFileSystem

        @property
        def id(self) -> str: ...
        @property
        def cwd(self) -> str: ...
        def now(self) -> float: ...


_CHANGES: dict[str, Literal["created", "modified", "deleted"]] = {
    "added": "created",
    "modified": "modified",
    "deleted": "deleted",
}


class Observation:
    """Creates the events of one sandbox and calls its observer, whose errors go to the log."""

    __slots__ = ("_sandbox", "tell")

    def __init__(self, sandbox: Observed, observer: Observer) -> None:
        self._sandbox = sandbox
        self.tell = guarded(observer, "the observer of a sandbox (on_event)")

    def lifecycle(self, stage: Stage, details: str = "") -> None:
        """Report that the sandbox was created, closed, forked or restored."""
        self.tell(Lifecycle(self._sandbox.id, self._sandbox.now(), stage=stage, details=details))

    def skill_script(self, skill: str, path: str) -> None:
        """Report that a script of a mounted skill starts."""
        self.tell(
            SkillInvoked(
                self._sandbox.id, self._sandbox.now(), skill=skill, action="run", path=path
            )
        )

    def executed(self, result: ExecutionResult, changes: Sequence[Change]) -> None:
        """Report an execution: first each changed file, then the execution itself."""
        sandbox = self._sandbox
        now = sandbox.now()
        for change in changes:
            is_directory, size = _kind_and_size(sandbox.fs, change.path)
            self.tell(
                FileChanged(
                    sandbox.id,
                    now,
                    path=change.path,
                    change=_CHANGES[change.kind],
                    is_directory=is_directory,
                    size=size,
                )
            )
        self.tell(
            CommandExecuted(
                sandbox.id,
                now,
                script=result.script,
                exit_code=result.exit_code,
                duration=result.duration,
                stdout=result.stdout,
                stderr=result.stderr,
                cwd=sandbox.cwd,
                limit=result.limit,
            )
        )


def _kind_and_size(fs: MemoryFileSystem, path: str) -> tuple[bool, int | None]:
    """Return whether a path is a directory, and the size of an existing file in bytes."""
    try:
        info = fs.stat(path, follow=False)
    except OSError:
        return False, None
    return info.is_dir, info.size if info.is_file else None
