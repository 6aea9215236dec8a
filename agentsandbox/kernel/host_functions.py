"""What the embedding program's own functions raise: commands, policies, handlers, clocks.

An error in them is an error of the host, not one of the script: the script ends with status 70, and
the host's log has the traceback. Two things must not happen to it. It must not leave `execute`,
whatever its class is, unless it is the host's own affair (`passes_to_host`). And an `OSError` must
not be taken for one of the command that called, which would tell the script paths of the host
(`ask_host`).
"""

from __future__ import annotations

import sys
from time import time

from agentsandbox.errors import CommandError, Unwind

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Generator
    from typing import Any, TypeVar

    T = TypeVar("T")

__all__ = ["HostAnswer", "HostFailure", "ask_host", "first_time", "passes_to_host"]


# TM-OUT-3
def passes_to_host(error: BaseException) -> bool:
    """Whether an exception that ends a script is the host's own affair and leaves `execute`.

    Ctrl-C, the cancellation of the task or greenlet that waits, and a group with one of these. All
    else that the host's functions raise is an error in them, whatever its class is.
    """
    if isinstance(error, KeyboardInterrupt):
        return True
    if isinstance(error, (Exception, SystemExit, GeneratorExit, Unwind)):
        return False
    if isinstance(error, BaseExceptionGroup):
        return any(passes_to_host(each) for each in error.exceptions)
    return isinstance(error, _cancellations())


def _cancellations() -> tuple[type[BaseException], ...]:
    """Return the classes of cancellations; nobody can raise one of what is not imported."""
    modules = sys.modules
    found: list[type[BaseException]] = []
    if "asyncio" in modules:
        found.append(modules["asyncio"].CancelledError)
    if "trio" in modules:
        found.append(modules["trio"].Cancelled)
    if "greenlet" in modules:
        found.append(modules["greenlet"].GreenletExit)
    return tuple(found)


def first_time(clock: Callable[[], float]) -> float:
    """Return what the host's clock says; the time of this process if it raises."""
    try:
        return float(clock())
    except BaseException as error:  # the script ends when it asks itself
        if passes_to_host(error):
            raise
        return time()


class HostFailure(Exception):
    """A function of the host raised: the script ends with status 70, the host's log has it."""


def ask_host(function: Callable[..., T], *arguments: Any) -> T:
    """Return what a function of the host returns.

    An error that a command would word as its own, with a path of the host perhaps, is a
    `HostFailure`; others are raised.
    """
    try:
        return function(*arguments)
    except (OSError, CommandError) as error:
        raise HostFailure(f"{type(error).__name__} in a function of the host") from error


class HostAnswer:
    """An awaitable of a function of the host, with errors like those of `ask_host`."""

    __slots__ = ("_awaitable",)

    def __init__(self, awaitable: Awaitable[Any]) -> None:
        self._awaitable = awaitable

    def __await__(self) -> Generator[Any, Any, Any]:
        try:
            return (yield from self._awaitable.__await__())
        except (OSError, CommandError) as error:
            raise HostFailure(f"{type(error).__name__} in a function of the host") from error

    def close(self) -> None:
        """Give up what nobody awaits."""
        if hasattr(self._awaitable, "close"):
            self._awaitable.close()
