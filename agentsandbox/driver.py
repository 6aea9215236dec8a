"""`aexecute`: the script runs in a greenlet of the event loop's thread, and comes back here whenever the loop is due a turn.

Works under asyncio and trio; needs neither a thread nor the script's code to know of it.
"""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from typing import Any

    from agentsandbox.result import ExecutionResult
    from agentsandbox.sandbox import Sandbox

__all__ = ["drive"]

QUEUE_SECONDS = 0.002
"""How often an execution that waits for its turn looks again."""


def _sleeper() -> Callable[[float], Awaitable[Any]]:
    """The `sleep` of the library whose event loop is running."""
    trio = sys.modules.get("trio")
    if trio is not None:
        try:
            trio.lowlevel.current_task()
        except RuntimeError:
            pass
        else:
            sleep: Callable[[float], Awaitable[Any]] = trio.sleep
            return sleep
    import asyncio

    return asyncio.sleep


async def drive(sandbox: Sandbox, run: Callable[[Callable[..., Any]], ExecutionResult]) -> ExecutionResult:
    """Run `run(pause)` in a greenlet; `pause(seconds, awaitable)` in it waits here."""
    from greenlet import getcurrent, greenlet

    sleep = _sleeper()
    while sandbox.is_executing or not sandbox.lock.acquire(blocking=False):
        await sleep(QUEUE_SECONDS)
    try:
        driver = getcurrent()

        def pause(seconds: float | None, awaitable: Awaitable[Any] | None) -> Any:
            return driver.switch((getcurrent(), seconds, awaitable))

        outcome: list[ExecutionResult] = []
        script = greenlet(lambda: outcome.append(run(pause)), driver)
        request = script.switch()
        while not outcome:
            caller, seconds, awaitable = request
            try:
                value = await (sleep(seconds) if awaitable is None else awaitable)
            except BaseException as error:  # noqa: BLE001 - cancelled, or a command failed: it is raised where the script waits
                request = caller.throw(error)
            else:
                request = caller.switch(value)
        return outcome[0]
    finally:
        sandbox.lock.release()
