"""`aexecute`: the script runs in a greenlet of the event loop's thread, and comes back here whenever the loop is due a turn.

Works under asyncio and trio; needs neither a thread nor the script's code to know of it.
"""

from __future__ import annotations

import sys
from collections import deque
from time import monotonic
from weakref import WeakKeyDictionary

from agentsandbox.processes import EVENT_LOOP_SECONDS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from typing import Any

    from agentsandbox.result import ExecutionResult
    from agentsandbox.sandbox import Sandbox

__all__ = ["drive"]

QUEUE_SECONDS = 0.002
"""How often an execution that waits for its sandbox looks again."""


class _Turns:
    """The executions of one event loop run one after the other; when they have used up a slice, the loop goes round.

    Without it a loop with a thousand busy scripts would run a slice of every one of them before it looks at its sockets.
    """

    __slots__ = ("_event", "_taken", "_used", "_waiting", "sleep")

    def __init__(self, library: Any) -> None:
        self.sleep: Callable[[float], Awaitable[Any]] = library.sleep
        self._event = library.Event
        self._taken = False
        self._used = 0.0
        """Seconds since the loop last went round."""
        self._waiting: deque[Any] = deque()
        """An event for each execution that waits, in the order they came."""

    async def take(self, seconds: float | None, awaitable: Awaitable[Any] | None) -> Any:
        """Wait for what the script waits for, which is returned, and then for its turn."""
        value = None
        if awaitable is not None:
            value = await awaitable
        elif seconds:
            await self.sleep(seconds)
        if not self._taken:
            self._taken = True
            return value
        event = self._event()
        self._waiting.append(event)
        try:
            await event.wait()
        except BaseException:
            if event.is_set():  # it was our turn already
                self._pass_on()
            else:
                self._waiting.remove(event)
            raise
        return value

    def run(self, step: Callable[[Any], Any], value: Any) -> Any:
        """Use the turn for `step(value)`, and give it back."""
        began = monotonic()
        try:
            return step(value)
        finally:
            self._used += monotonic() - began
            if self._used < EVENT_LOOP_SECONDS:
                self._pass_on()
            else:
                library, loop = _running()
                soon = loop.call_soon if library.__name__ == "asyncio" else loop.run_sync_soon
                soon(self._begin_round)

    def _begin_round(self) -> None:
        self._used = 0.0
        self._pass_on()

    def _pass_on(self) -> None:
        if self._waiting:
            self._waiting.popleft().set()
        else:
            self._taken = False


_turns: WeakKeyDictionary[Any, _Turns] = WeakKeyDictionary()
"""By event loop."""


def _running() -> tuple[Any, Any]:
    """The library whose event loop is running, and what stands for this loop: asyncio's itself, trio's token of it."""
    trio = sys.modules.get("trio")
    if trio is not None:
        try:
            trio.lowlevel.current_task()
        except RuntimeError:
            pass
        else:
            return trio, trio.lowlevel.current_trio_token()
    import asyncio

    return asyncio, asyncio.get_running_loop()


async def drive(sandbox: Sandbox, run: Callable[[Callable[..., Any]], ExecutionResult]) -> ExecutionResult:
    """Run `run(pause)` in a greenlet; `pause(seconds, awaitable)` in it waits here."""
    from greenlet import getcurrent, greenlet

    library, loop = _running()
    turns = _turns.get(loop)
    if turns is None:
        turns = _turns[loop] = _Turns(library)
    # the lock keeps other threads out, `is_taken` the tasks of this one, for which the lock is open
    while sandbox.is_taken or sandbox.is_executing or not sandbox.lock.acquire(blocking=False):
        await turns.sleep(QUEUE_SECONDS)
    sandbox.is_taken = True
    try:
        driver = getcurrent()

        def pause(seconds: float | None, awaitable: Awaitable[Any] | None) -> Any:
            fs = sandbox.fs
            thread, fs.script_thread = fs.script_thread, 0  # the host calls until then
            try:
                return driver.switch((getcurrent(), seconds, awaitable))
            finally:
                fs.script_thread = thread

        outcome: list[ExecutionResult] = []
        script = greenlet(lambda _: outcome.append(run(pause)), driver)
        request: tuple[Any, float | None, Awaitable[Any] | None] = (script, None, None)
        while not outcome:
            caller, seconds, awaitable = request
            try:
                value = await turns.take(seconds, awaitable)
            except BaseException as error:  # noqa: BLE001 - cancelled, or a command failed: it is raised where the script waits
                request = caller.throw(error)
            else:
                request = turns.run(caller.switch, value)
        return outcome[0]
    finally:
        sandbox.is_taken = False
        sandbox.lock.release()
