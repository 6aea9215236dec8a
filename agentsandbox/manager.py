"""`SandboxManager`: many sandboxes by their ids, for servers that keep one per conversation."""

from __future__ import annotations

from threading import RLock
from time import monotonic

from agentsandbox.errors import ClosedError, SandboxError
from agentsandbox.options import check_identity
from agentsandbox.runtime.arguments import check_count, check_seconds, wrong_type
from agentsandbox.sandbox import Sandbox

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Self

    from agentsandbox.options import SandboxOptions
    from agentsandbox.stats import Stats

__all__ = ["SandboxManager"]

FIRST_SWEEP = 64


class SandboxManager:
    """Creates, finds and closes sandboxes; safe in several threads.

    options             for every sandbox that is created without its own
    inactivity_timeout  seconds without use after which `cleanup_inactive` closes a sandbox
    max_sandboxes       the largest number at a time; None for no maximum
    """

    def __init__(
        self,
        options: SandboxOptions | None = None,
        *,
        inactivity_timeout: float = 3600.0,
        max_sandboxes: int | None = None,
    ) -> None:
        check_identity(None, options)
        check_seconds("inactivity_timeout", inactivity_timeout, zero=True)
        if max_sandboxes is not None:
            check_count("max_sandboxes", max_sandboxes)
        self.options = options
        self.inactivity_timeout = inactivity_timeout
        self.max_sandboxes = max_sandboxes
        self._lock = RLock()  # an observer of a new sandbox may ask for another one
        self._closed = False
        self._sandboxes: dict[str, Sandbox] = {}
        self._used: dict[str, float] = {}
        """When each sandbox was last requested, or was seen to have executed something."""
        self._executions: dict[str, int] = {}
        """How many executions it had had by then."""
        self._sweep_at = FIRST_SWEEP
        """The number of sandboxes at which closed ones are looked for."""

    def create(self, id: str | None = None, options: SandboxOptions | None = None) -> Sandbox:
        """Return a new sandbox.

        Raises `SandboxError` if the id is taken, and if there are `max_sandboxes` already.
        """
        check_identity(id, options)
        with self._lock:
            if id is not None and self._living(id) is not None:
                raise SandboxError(
                    f"Sandbox with ID {id!r} already exists: `get_or_create` returns it"
                )
            return self._add(id, options)

    def get(self, id: str) -> Sandbox | None:
        """Return the sandbox with that id, or None."""
        _check_key(id)
        with self._lock:
            self._refuse_closed()
            return self._touch(id)

    def get_or_create(self, id: str, options: SandboxOptions | None = None) -> Sandbox:
        """Return the sandbox with that id; create it (with `options`) if it does not exist."""
        _check_key(id)
        check_identity(id, options)
        with self._lock:
            return self._touch(id) or self._add(id, options)

    def destroy(self, id: str) -> bool:
        """Close a sandbox and forget it. Return whether there was one with that id."""
        _check_key(id)
        with self._lock:
            sandbox = self._forget(id) if self._living(id) is not None else None
        if sandbox is not None:
            sandbox.close()
        return sandbox is not None

    def list(self) -> tuple[str, ...]:
        """Return the ids, oldest first."""
        with self._lock:
            self._forget_closed()
            return tuple(self._sandboxes)

    def stats(self) -> dict[str, Stats]:
        """Return the figures of each sandbox by its id."""
        with self._lock:
            self._forget_closed()
            sandboxes = dict(self._sandboxes)
        return {id: sandbox.stats() for id, sandbox in sandboxes.items()}

    def cleanup_inactive(self) -> int:
        """Close sandboxes unused for `inactivity_timeout` seconds; return how many.

        A sandbox is used when the manager returns it and when it executes.
        """
        now = monotonic()
        with self._lock:
            self._forget_closed()
            idle = []
            for id, sandbox in self._sandboxes.items():
                figures = sandbox.stats()
                if figures.is_executing or figures.executions != self._executions[id]:
                    self._used[id], self._executions[id] = now, figures.executions
                elif self._used[id] <= now - self.inactivity_timeout:
                    idle.append(id)
            gone = [self._forget(id) for id in idle]
        for sandbox in gone:
            sandbox.close()
        return len(gone)

    def close(self) -> None:
        """Close all sandboxes and refuse to create others. Idempotent."""
        with self._lock:
            self._closed = True
            gone = [self._forget(id) for id in tuple(self._sandboxes)]
        for sandbox in gone:
            sandbox.close()

    def __len__(self) -> int:
        return len(self.list())

    def __contains__(self, id: object) -> bool:
        with self._lock:
            return isinstance(id, str) and self._living(id) is not None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        with self._lock:
            self._closed = True
            gone = [self._forget(id) for id in tuple(self._sandboxes)]
        for sandbox in gone:
            await sandbox.aclose()

    def _refuse_closed(self) -> None:
        if self._closed:
            raise ClosedError("this SandboxManager is closed")

    def _living(self, id: str) -> Sandbox | None:
        """Return the sandbox with that id, unless it was closed meanwhile; forget it then."""
        sandbox = self._sandboxes.get(id)
        if sandbox is not None and sandbox.closed:
            self._forget(id)
            return None
        return sandbox

    def _add(self, id: str | None, options: SandboxOptions | None) -> Sandbox:
        self._refuse_closed()
        most = self.max_sandboxes
        if len(self._sandboxes) >= min(self._sweep_at, most or self._sweep_at):
            self._forget_closed()
            self._sweep_at = max(FIRST_SWEEP, 2 * len(self._sandboxes))
        if most is not None and len(self._sandboxes) >= most:
            raise SandboxError(f"there are {most} sandboxes already, which is max_sandboxes")
        sandbox = Sandbox(id, options if options is not None else self.options)
        self._sandboxes[sandbox.id] = sandbox
        self._used[sandbox.id], self._executions[sandbox.id] = monotonic(), 0
        return sandbox

    def _touch(self, id: str) -> Sandbox | None:
        sandbox = self._living(id)
        if sandbox is not None:
            self._used[id] = monotonic()
        return sandbox

    def _forget(self, id: str) -> Sandbox:
        del self._used[id], self._executions[id]
        return self._sandboxes.pop(id)

    def _forget_closed(self) -> None:
        for id in [id for id, sandbox in self._sandboxes.items() if sandbox.closed]:
            self._forget(id)


def _check_key(id: object) -> None:
    """Refuse an id that is not a str."""
    if not isinstance(id, str):
        raise wrong_type("id", "a str", id)
