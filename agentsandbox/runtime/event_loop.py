"""Scripts in greenlets: how `aexecute` shares a loop, and how `stream` stops at each chunk.

A script that runs in a greenlet can be left in the middle of any command and resumed later, without
a thread and without the interpreter knowing of it. `Script` is such a script. It comes back to its
driver when the event loop is due a turn, when it waits (for time, or for what a host's async
command returned), when it has a chunk of output for a reader, and when it ends.

One execution has a sandbox to itself. Other threads are kept out by the sandbox's lock, other tasks
of the same thread, for which the lock is open, by `_is_taken`. Works under asyncio and trio.
"""

from __future__ import annotations

import sys
from collections import deque
from contextvars import ContextVar
from functools import partial
from time import monotonic
from weakref import WeakKeyDictionary

from agentsandbox.errors import LimitReached, SandboxError
from agentsandbox.kernel.budget import CANCELLED
from agentsandbox.kernel.processes import EVENT_LOOP_SECONDS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence
    from typing import Any, Protocol

    from greenlet import greenlet

    from agentsandbox.kernel.budget import Budget
    from agentsandbox.kernel.fs.memory import MemoryFileSystem
    from agentsandbox.result import ExecutionResult

    class Lock(Protocol):
        """Keeps other threads out."""

        def acquire(self, blocking: bool = True) -> bool: ...
        def release(self) -> None: ...

    class Running(Protocol):
        """A call that runs."""

        budget: Budget

    class Executor(Protocol):
        """A sandbox, as far as its turns are concerned: it executes one script at a time."""

        fs: MemoryFileSystem
        _is_taken: bool

        @property
        def _running(self) -> Running | None: ...

        @property
        def _lock(self) -> Lock: ...
        def _refuse_use(self) -> None: ...
        def cancel(self) -> bool: ...

    Request = tuple[float | None, Awaitable[Any] | None]
    """What a script waits for: a number of seconds, or an awaitable."""

QUEUE_SECONDS = 0.002
"""How often an execution that waits for its sandbox checks again."""


class Channel:
    """The way out of a script, to the greenlet that drives it.

    It must not refer to the `Script`: a suspended greenlet in a cycle is never collected.
    """

    __slots__ = ("chunks", "driver", "fs", "is_open")

    def __init__(self, fs: MemoryFileSystem) -> None:
        self.fs = fs
        self.driver: greenlet | None = None
        self.chunks: deque[tuple[str, bytes]] = deque()
        self.is_open = True

    def pause(self, seconds: float | None, awaitable: Awaitable[Any] | None) -> Any:
        """Let the driver wait for `seconds` or for `awaitable`; return the awaited value."""
        from greenlet import getcurrent

        assert self.driver is not None
        fs = self.fs
        # until the switch returns, the host is calling
        thread, fs.script_thread = (fs.script_thread, 0)
        try:
            return self.driver.switch((getcurrent(), seconds, awaitable))
        finally:
            fs.script_thread = thread

    def put(self, stream: str, data: bytes) -> None:
        """Hand a chunk of output to the driver, and wait until it asks for more."""
        if self.is_open:
            self.chunks.append((stream, data))
            self.pause(None, None)


class Script:
    """`run(channel)` in a greenlet: begun and resumed by `resume`, left through the `channel`."""

    __slots__ = ("_caller", "_greenlet", "_is_begun", "_outcome", "channel", "request")

    def __init__(self, run: Callable[[Channel], ExecutionResult], fs: MemoryFileSystem) -> None:
        from greenlet import greenlet

        self.channel = channel = Channel(fs)
        self._is_begun = False
        self.request: Request = (None, None)
        self._outcome: list[ExecutionResult | BaseException] = []
        outcome = self._outcome

        def body(_: object) -> None:
            try:
                outcome.append(run(channel))
            except BaseException as error:  # noqa: BLE001 - raised again by `outcome`
                outcome.append(error)

        self._greenlet = self._caller = greenlet(body)

    @property
    def is_done(self) -> bool:
        """Whether the script has ended."""
        return bool(self._outcome)

    def outcome(self) -> ExecutionResult:
        """Return the result, or raise what ended it."""
        (outcome,) = self._outcome
        if isinstance(outcome, BaseException):
            raise outcome
        return outcome

    def resume(self, value: object = None) -> None:
        """Run until the script ends, hands out a chunk, or waits for something (`request`)."""
        self._is_begun = True
        self._drive_from_here()
        self._note(self._caller.switch(value))

    def throw(self, error: BaseException) -> None:
        """Raise `error` where the script waits, and run as `resume` does."""
        if not self._is_begun:
            self._outcome.append(error)
            return
        self._drive_from_here()
        self._note(self._caller.throw(error))

    def end(self) -> None:
        """End a script whose execution was cancelled, whatever it waits for first."""
        self.channel.is_open = False
        while not self.is_done:
            _, awaitable = self.request
            if awaitable is None:
                self.resume()
                continue
            if hasattr(awaitable, "close"):
                awaitable.close()
            self.throw(LimitReached(CANCELLED))

    def _drive_from_here(self) -> None:
        from greenlet import getcurrent

        self.channel.driver = self._greenlet.parent = getcurrent()

    def _note(self, left: tuple[greenlet, float | None, Awaitable[Any] | None]) -> None:
        if not self._outcome:
            self._caller, seconds, awaitable = left
            self.request = (seconds, awaitable)


# TM-TIME-4
class Turns:
    """The executions of one event loop take turns; after a slice of time the loop goes round.

    Without it a loop with a thousand busy scripts would run a slice of every one of them before it
    looks at its sockets.
    """

    __slots__ = ("_event", "_sleep", "_taken", "_used", "_waiting", "nap")

    def __init__(self, library: Any) -> None:
        self.nap: Callable[[float], Awaitable[Any]] = library.sleep
        self._sleep = _sleep_in_asyncio if library.__name__ == "asyncio" else _sleep_in_trio
        self._event = library.Event
        self._taken = False
        self._used = 0.0
        """Seconds since the loop last ran its other tasks."""
        self._waiting: deque[Any] = deque()
        """An event for each waiting execution, in order of arrival."""

    async def take(self, request: Request, running: Running | None) -> Any:
        """Wait for what the script waits for, then for its turn; return the awaited value."""
        seconds, awaitable = request
        value = None
        if awaitable is not None:
            value = await _within(running, awaitable)
        elif seconds and running is not None:
            await self._sleep(seconds, running.budget)
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
        """Use the turn for `step(value)`, then pass it on."""
        began = monotonic()
        try:
            return step(value)
        finally:
            self._used += monotonic() - began
            if self._used < EVENT_LOOP_SECONDS:
                self._pass_on()
            else:
                library, loop = _current_loop()
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


_turns: WeakKeyDictionary[Any, Turns] = WeakKeyDictionary()
"""The `Turns` of each event loop."""

_around: ContextVar[tuple[Running, ...]] = ContextVar("_around", default=())
"""The executions that wait for the running code, the innermost last."""


def _current_loop() -> tuple[Any, Any]:
    """Return the library whose loop is running, and the loop (asyncio) or its token (trio)."""
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


async def _sleep_in_asyncio(seconds: float, budget: Budget) -> None:
    """Sleep until the time is over or the execution is called, perhaps by another thread."""
    import asyncio

    loop = asyncio.get_running_loop()
    over: asyncio.Future[None] = loop.create_future()

    def end() -> None:
        if not over.done():
            over.set_result(None)

    budget.wake = partial(loop.call_soon_threadsafe, end)
    timer = loop.call_later(seconds, end)
    try:
        if not budget.called:
            await over
    finally:
        timer.cancel()
        budget.wake = None


async def _sleep_in_trio(seconds: float, budget: Budget) -> None:
    import trio

    over = trio.Event()
    budget.wake = partial(trio.lowlevel.current_trio_token().run_sync_soon, over.set)
    try:
        with trio.move_on_after(seconds):
            if not budget.called:
                await over.wait()
    finally:
        budget.wake = None


async def readable(descriptors: Sequence[int], seconds: float) -> None:
    """Wait until one of some descriptors of the host can be read, for at most `seconds`."""
    library, loop = _current_loop()
    if library.__name__ == "trio":
        with library.move_on_after(seconds):
            async with library.open_nursery() as nursery:

                async def wait(descriptor: int) -> None:
                    await library.lowlevel.wait_readable(descriptor)
                    nursery.cancel_scope.cancel()

                for descriptor in descriptors:
                    nursery.start_soon(wait, descriptor)
        return
    over: Any = loop.create_future()

    def end() -> None:
        if not over.done():
            over.set_result(None)

    for descriptor in descriptors:
        loop.add_reader(descriptor, end)
    timer = loop.call_later(seconds, end)
    try:
        await over
    finally:
        timer.cancel()
        for descriptor in descriptors:
            loop.remove_reader(descriptor)


async def _within(running: Running | None, awaitable: Awaitable[Any]) -> Any:
    """Await the result of a host's command; `enter` sees which executions wait for it.

    Cancelling the execution cancels what it waits for.
    """
    if running is None:
        return await awaitable
    budget = running.budget
    library, loop = _current_loop()
    wait = _wait_in_asyncio if library.__name__ == "asyncio" else _wait_in_trio
    token = _around.set((*_around.get(), running))
    wake = budget.wake
    try:
        return await wait(budget, awaitable, library, loop)
    finally:
        budget.wake = wake
        _around.reset(token)


async def _wait_in_asyncio(
    budget: Budget, awaitable: Awaitable[Any], asyncio: Any, loop: Any
) -> Any:
    """Await in the current task, which is cancelled for a moment, as by `asyncio.timeout`."""
    task = asyncio.current_task()
    before = task.cancelling()
    is_ended = is_over = False

    def called() -> None:
        nonlocal is_ended
        if is_over or is_ended:
            return
        budget.wake = partial(loop.call_soon_threadsafe, called)
        if budget.cancelled:
            is_ended = True
            task.cancel()

    called()
    try:
        return await awaitable
    except asyncio.CancelledError:
        if is_ended and task.cancelling() == before + 1:  # and nobody else cancels the task
            raise LimitReached(CANCELLED) from None
        raise
    finally:
        is_over = True
        if is_ended:
            task.uncancel()


async def _wait_in_trio(budget: Budget, awaitable: Awaitable[Any], trio: Any, token: Any) -> Any:
    with trio.CancelScope() as scope:

        def called() -> None:
            budget.wake = partial(token.run_sync_soon, called)
            if budget.cancelled:
                scope.cancel()

        called()
        return await awaitable
    raise LimitReached(CANCELLED)


async def enter(sandbox: Executor) -> Turns:
    """Wait until no other execution has the sandbox, and take it."""
    library, loop = _current_loop()
    turns = _turns.get(loop)
    if turns is None:
        turns = _turns[loop] = Turns(library)
    while (
        sandbox._is_taken
        or sandbox._running is not None
        or not sandbox._lock.acquire(blocking=False)
    ):
        if any(running is sandbox._running for running in _around.get()):
            raise SandboxError(
                "this sandbox is executing the command or policy that waits here: use `ctx.run(…)`"
            )
        await turns.nap(QUEUE_SECONDS)
    sandbox._is_taken = True
    return turns


def leave(sandbox: Executor) -> None:
    """Release the sandbox."""
    sandbox._is_taken = False
    sandbox._lock.release()


async def advance(sandbox: Executor, turns: Turns, script: Script) -> None:
    """Run a script until it has a chunk of output or ends; cancelling the task ends it."""
    while not (script.is_done or script.channel.chunks):
        try:
            value = await turns.take(script.request, sandbox._running)
        except BaseException as error:  # noqa: BLE001 - raised where the script waits
            script.throw(error)
        else:
            turns.run(script.resume, value)


async def drive(
    sandbox: Executor, run: Callable[[Callable[..., Any]], ExecutionResult]
) -> ExecutionResult:
    """Run `run(pause)` in a greenlet and return its result; `pause` in it waits here."""
    turns = await enter(sandbox)
    try:
        script = Script(lambda channel: run(channel.pause), sandbox.fs)
        await advance(sandbox, turns, script)
        return script.outcome()
    finally:
        leave(sandbox)
