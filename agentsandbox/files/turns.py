"""The frame of an operation of `sandbox.files`: the lock, the user, limits raised as errors."""

from __future__ import annotations

import errno

from agentsandbox.errors import ClosedError, LimitReached, SandboxError
from agentsandbox.files.arguments import path_text
from agentsandbox.kernel.budget import Budget
from agentsandbox.limits import Limits

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Protocol

    from agentsandbox.files.arguments import StrPath
    from agentsandbox.kernel.fs.memory import MemoryFileSystem

    class Lock(Protocol):
        """A lock that one thread may take several times."""

        def acquire(self) -> bool: ...
        def release(self) -> None: ...

    class Owner(Protocol):
        """The part of a sandbox that its files use."""

        @property
        def fs(self) -> MemoryFileSystem: ...
        @property
        def _lock(self) -> Lock: ...
        @property
        def cwd(self) -> str: ...
        @property
        def closed(self) -> bool: ...


_UNCOUNTED = 1 << 60
"""A number of steps that is never reached: the host's operations are limited by time only."""


class Guard:
    """Raises `LimitReached`, which `except Exception` does not catch, as an `Exception`."""

    __slots__ = ()

    def __enter__(self) -> Guard:
        return self

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, LimitReached):
            if error.limit == "timeout":
                raise TimeoutError(
                    errno.ETIMEDOUT, "The operation took longer than limits.timeout"
                ) from None
            raise SandboxError(error.message or f"stopped by the limit '{error.limit}'") from None


class Turn(Guard):
    """One operation: it holds the sandbox's lock and acts as the agent's user or as root.

    What root makes belongs to root. `maker` is set first and reset last, because the filesystem
    clears its cache of directories when the user changes and neither user is the maker. There are
    no descriptors: /dev/stdin and its like belong to the script that ran last.
    """

    __slots__ = ("_before", "_owner", "_root", "fs")

    def __init__(self, owner: Owner, root: bool) -> None:
        self._owner = owner
        self._root = root
        self.fs = owner.fs

    def __enter__(self) -> Turn:
        self._owner._lock.acquire()
        if self._owner.closed:
            self._owner._lock.release()
            raise ClosedError("this sandbox is closed")
        fs = self.fs
        self._before = fs.uid, fs.maker, fs.descriptors
        if self._root:
            fs.maker = 0
        fs.uid = fs.maker
        fs.descriptors = None
        return self

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        self.fs.uid, self.fs.maker, self.fs.descriptors = self._before
        self._owner._lock.release()
        super().__exit__(kind, error, trace)

    def path(self, path: StrPath, argument: str = "path") -> str:
        """Return the absolute path, without "." and extra slashes; a final slash stays."""
        text = path_text(path, argument)
        parts = [part for part in text.split("/") if part not in ("", ".")]
        start = "/" if text.startswith("/") else f"{self._owner.cwd.rstrip('/')}/"
        end = "/" if parts and text.endswith("/") else ""
        return (start + "/".join(parts) + end) if parts else start.rstrip("/") or "/"

    def budget(self) -> Budget:
        """Return the budget of the operation: its time, and the size of one value."""
        return time_budget(self.fs.limits)


def time_budget(limits: Limits) -> Budget:
    """Return a budget that ends after `limits.timeout` seconds, however many steps are taken."""
    return Budget(limits.replace(steps=_UNCOUNTED))
