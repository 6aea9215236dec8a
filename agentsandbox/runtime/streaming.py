"""`Sandbox.stream` and `Sandbox.astream`: the output of a script, chunk by chunk, as it appears.

The script runs only while its reader asks for the next chunk, so a slow reader holds it up instead
of filling memory. The time between two chunks does not count against the script's timeout. The
sandbox is busy until the end, or until the reader gives up: leaving the loop, `close` and
forgetting the stream all cancel the script. It runs in the thread that began to read, and ends with
that thread: if another one forgets the stream, the sandbox is busy until then.
"""

from __future__ import annotations

import sys
from time import monotonic

from agentsandbox.errors import SandboxError
from agentsandbox.kernel.processes import leave_behind
from agentsandbox.kernel.threads import home
from agentsandbox.runtime.event_loop import Script, advance, enter, leave

TYPE_CHECKING = False
if TYPE_CHECKING:
    from _weakref import ref
    from collections.abc import Callable

    from agentsandbox.kernel.threads import Home
    from agentsandbox.result import ExecutionResult
    from agentsandbox.runtime.event_loop import Channel, Executor, Turns


class _Reader:
    """The common part of both kinds of streams: the script, its result, and giving up."""

    def __init__(self, sandbox: Executor, run: Callable[[Channel], ExecutionResult]) -> None:
        self._sandbox = sandbox
        self._run: Callable[[Channel], ExecutionResult] | None = run
        self._script: Script | None = None
        self._home: ref[Home] | None = None
        """The thread that began to read."""
        self._is_cut = False
        """Whether that thread has ended before the script."""
        self._paused: float | None = None
        """When the reader last got a chunk."""
        self._result: ExecutionResult | None = None

    @property
    def result(self) -> ExecutionResult:
        """The result, as `execute` returns it; `SandboxError` until the script has ended."""
        if self._result is None:
            raise SandboxError(
                "the script has not ended: read all chunks or `close` the stream to have the result"
            )
        return self._result

    def _begin(self) -> None:
        assert self._run is not None
        self._script, self._run = Script(self._run, self._sandbox.fs), None
        here = home()
        self._home = here.ref
        here.let(self)

    def _leave(self, _: ref[Home]) -> None:
        """End the script: the thread that began to read ends, or comes by."""
        script, self._script = self._script, None
        if script is not None:
            self._is_cut = True
            self._end(script)

    def _go_on(self) -> None:
        """Move the deadline by the time that the reader took."""
        if self._is_cut or self._home is not home().ref:
            raise SandboxError("a stream is read in the thread that began to read it")
        running = self._sandbox._running
        if running is not None and self._paused is not None:
            running.budget.deadline += monotonic() - self._paused
        self._paused = None

    def _give(self) -> tuple[str, bytes] | None:
        """Return the next chunk, or None at the end, where the sandbox becomes free."""
        script = self._script
        assert script is not None
        if script.channel.chunks:
            self._paused = monotonic()
            return script.channel.chunks.popleft()
        self._script = None
        self._give_back()
        self._result = script.outcome()
        return None

    def _give_back(self) -> None:
        raise NotImplementedError

    def _give_up(self) -> None:
        """Cancel the script if it has begun and not ended."""
        self._run = None
        script, self._script = self._script, None
        if script is None:
            return
        if self._home is not home().ref:
            self._script = script
            self._sandbox.cancel()
            raise SandboxError(
                "a stream is closed in the thread that began to read it; the script is cancelled"
            )
        self._end(script)

    def _end(self, script: Script) -> None:
        try:
            if not script.is_done:
                self._sandbox.cancel()
                script.end()
        finally:
            self._give_back()
        self._result = script.outcome()

    def __del__(self, is_finalizing: Callable[[], bool] = sys.is_finalizing) -> None:
        if self._script is None or self._home is None or is_finalizing():
            return
        if self._home is home().ref:
            self._give_up()
        else:
            self._sandbox.cancel()
            leave_behind(self._home, self)


class OutputStream(_Reader):
    """An iterator of ("stdout" or "stderr", bytes), and a context manager that closes it."""

    def __iter__(self) -> OutputStream:
        return self

    def __next__(self) -> tuple[str, bytes]:
        if self._run is not None:
            self._sandbox._lock.acquire()
            try:
                self._sandbox._refuse_use()
                self._begin()
            except BaseException:
                self._sandbox._lock.release()
                raise
        if self._script is None and not self._is_cut:
            raise StopIteration
        self._go_on()
        assert self._script is not None
        if not self._script.channel.chunks:
            self._script.resume()
        chunk = self._give()
        if chunk is None:
            raise StopIteration
        return chunk

    def close(self) -> None:
        """Cancel the script unless it has ended. Idempotent."""
        self._give_up()

    def _give_back(self) -> None:
        self._sandbox._lock.release()

    def __enter__(self) -> OutputStream:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class AsyncOutputStream(_Reader):
    """Like `OutputStream`, for `async for` and `async with`."""

    def __init__(self, sandbox: Executor, run: Callable[[Channel], ExecutionResult]) -> None:
        super().__init__(sandbox, run)
        self._turns: Turns | None = None
        self._is_reading = False

    def __aiter__(self) -> AsyncOutputStream:
        return self

    async def __anext__(self) -> tuple[str, bytes]:
        if self._is_reading:
            raise SandboxError("another task waits for the next chunk of this stream")
        self._is_reading = True
        try:
            chunk = await self._next()
        finally:
            self._is_reading = False
        if chunk is None:
            raise StopAsyncIteration
        return chunk

    async def _next(self) -> tuple[str, bytes] | None:
        if self._run is not None:
            self._turns = await enter(self._sandbox)
            self._begin()
        if (self._script is None and not self._is_cut) or self._turns is None:
            return None
        self._go_on()
        assert self._script is not None
        await advance(self._sandbox, self._turns, self._script)
        return self._give()

    async def aclose(self) -> None:
        """Cancel the script unless it has ended, also while another task reads. Idempotent."""
        if self._is_reading:
            self._sandbox.cancel()
        else:
            self._give_up()

    def _give_back(self) -> None:
        leave(self._sandbox)

    async def __aenter__(self) -> AsyncOutputStream:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()
