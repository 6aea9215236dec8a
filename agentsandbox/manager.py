"""Many sandboxes by their ids: for servers that keep one per conversation."""

from __future__ import annotations

from threading import Lock
from time import monotonic

from agentsandbox.errors import SandboxError
from agentsandbox.sandbox import Sandbox

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import TracebackType
    from typing import Any, Self

    from agentsandbox.options import SandboxOptions

__all__ = ["SandboxManager"]


class SandboxManager:
    """Makes, finds and closes sandboxes. May be used from several threads.

    options             for every sandbox that is not given its own
    inactivity_timeout  seconds after which `cleanup_inactive` closes a sandbox that nobody asked for
    max_sandboxes       more than this at a time are refused
    """

    def __init__(
        self, options: SandboxOptions | None = None, *, inactivity_timeout: float = 3600.0, max_sandboxes: int | None = None
    ) -> None:
        self.options = options
        self.inactivity_timeout = inactivity_timeout
        self.max_sandboxes = max_sandboxes
        self._lock = Lock()
        self._sandboxes: dict[str, Sandbox] = {}
        self._used: dict[str, float] = {}
        self._executions: dict[str, int] = {}

    def create(self, id: str | None = None, options: SandboxOptions | None = None) -> Sandbox:
        """A new sandbox; `SandboxError` when the id is taken (the one that has it is untouched) or there are too many."""
        with self._lock:
            if id is not None and id in self._sandboxes:
                raise SandboxError(f"Sandbox with ID {id!r} already exists")
            return self._add(id, options)

    def get(self, id: str) -> Sandbox | None:
        """The sandbox of that id, None when there is none."""
        with self._lock:
            return self._touch(id)

    def get_or_create(self, id: str, options: SandboxOptions | None = None) -> Sandbox:
        """The sandbox of that id, made now if need be."""
        with self._lock:
            return self._touch(id) or self._add(id, options)

    def destroy(self, id: str) -> bool:
        """Close a sandbox and forget it; false when there is none of that id."""
        with self._lock:
            sandbox = self._forget(id) if id in self._sandboxes else None
        if sandbox is not None:
            sandbox.close()
        return sandbox is not None

    def list(self) -> tuple[str, ...]:
        """The ids, oldest first."""
        with self._lock:
            self._forget_closed()
            return tuple(self._sandboxes)

    def stats(self) -> dict[str, Any]:
        """What each sandbox says of itself, by id."""
        with self._lock:
            self._forget_closed()
            sandboxes = dict(self._sandboxes)
        return {id: sandbox.stats() for id, sandbox in sandboxes.items()}

    def cleanup_inactive(self) -> int:
        """Close the sandboxes that nobody asked for, and that ran nothing, within `inactivity_timeout`; how many they were."""
        now = monotonic()
        with self._lock:
            self._forget_closed()
            for id, sandbox in self._sandboxes.items():
                if sandbox.is_executing or sandbox.stats()["executions"] != self._executions[id]:
                    self._note_use(id, sandbox)
            idle = [id for id, used in self._used.items() if used <= now - self.inactivity_timeout and not self._sandboxes[id].is_executing]
            gone = [self._forget(id) for id in idle]
        for sandbox in gone:
            sandbox.close()
        return len(gone)

    def close(self) -> None:
        """Close all of them."""
        for id in self.list():
            self.destroy(id)

    def __len__(self) -> int:
        return len(self.list())

    def __contains__(self, id: object) -> bool:
        return id in self.list()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def _add(self, id: str | None, options: SandboxOptions | None) -> Sandbox:
        self._forget_closed()
        if self.max_sandboxes is not None and len(self._sandboxes) >= self.max_sandboxes:
            raise SandboxError(f"there are {self.max_sandboxes} sandboxes already")
        sandbox = Sandbox(id, options if options is not None else self.options)
        self._sandboxes[sandbox.id] = sandbox
        self._note_use(sandbox.id, sandbox)
        return sandbox

    def _touch(self, id: str) -> Sandbox | None:
        self._forget_closed()
        sandbox = self._sandboxes.get(id)
        if sandbox is not None:
            self._note_use(id, sandbox)
        return sandbox

    def _note_use(self, id: str, sandbox: Sandbox) -> None:
        self._used[id] = monotonic()
        self._executions[id] = sandbox.stats()["executions"]

    def _forget(self, id: str) -> Sandbox:
        del self._used[id], self._executions[id]
        return self._sandboxes.pop(id)

    def _forget_closed(self) -> None:
        for id in [id for id, sandbox in self._sandboxes.items() if sandbox.closed]:
            self._forget(id)
