"""The sandbox's side of a JavaScript program: it answers what the guest asks.

A guest runs on a thread of its own and never touches the sandbox. What it asks is done by the
*home*, the greenlet of the command `node`:

  guest: ask ──puts the question, releases `_asked`──▶ home: answers, releases `_answered` ──▶ guest

While the guest computes, the home waits a moment on the lock, as most questions come at once, and
then in the scheduler, where other processes and the event loop run. A signal or a limit that
reaches the home ends the guest. Between two executions a guest rests.
"""

from __future__ import annotations

import _thread
from _thread import allocate_lock
from random import Random, SystemRandom

import wasmtime

from agentsandbox.errors import CommandError
from agentsandbox.javascript.guest import Guest, GuestError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from _thread import LockType
    from collections.abc import Callable
    from typing import Any

    from agentsandbox.contract.command import CommandContext

    Answer = Callable[[str, bytes], tuple[str, bytes]]

PATIENCE_SECONDS = 0.002
"""How long the home keeps its thread while it waits for a question."""

END_SECONDS = 0.01
"""How long the home waits for a guest that was stopped, before it stops it again."""

_CLOCK = "clock"
"""The header of the question for the time, which only this module asks."""

_QUESTION = 40
"""Steps of the budget that a question draws: the clock is looked at every few milliseconds."""

THREAD_BYTES = 24 << 20
"""The stack of a guest's thread: more than wasm may take."""

_STARTING = allocate_lock()


class Home:
    """One run of a guest, from the command's point of view. Use it once."""

    __slots__ = (
        "_answer", "_answered", "_asked", "_ctx", "_ended", "_failure", "_question", "_random",
        "_reply", "_rests", "_resume", "_waits", "guest",
    )  # fmt: skip

    def __init__(self, ctx: CommandContext, answer: Answer) -> None:
        self._ctx = ctx
        self._answer = answer
        self._asked: LockType = allocate_lock()
        self._answered: LockType = allocate_lock()
        self._asked.acquire()
        self._answered.acquire()
        self._question: tuple[str, bytes] | None = None
        self._reply = ("{}", b"")
        self._resume: LockType = allocate_lock()
        self._resume.acquire()
        self._rests = self._waits = False
        host = ctx.host
        self._random = Random(host.random.getrandbits(64)) if host.is_seeded else SystemRandom()
        self._ended = False
        self._failure = ""
        self.guest: Guest | None = None

    # called on the guest's thread

    def ask(self, header: str, payload: bytes) -> tuple[str, bytes]:
        """Return the home's answer to a question."""
        self._question = (header, payload)
        self._asked.release()
        if self._waits:
            self._ctx.host.scheduler.budget.call()
        self._answered.acquire()
        return self._reply

    def goes_on(self) -> bool:
        """Rest between two executions; return whether the program may compute."""
        guest = self.guest
        while not (self._ctx.host.scheduler.is_running or (guest is not None and guest.stopped)):
            self._rests = True
            self._resume.acquire()
        return guest is None or not guest.stopped

    def now(self) -> float:
        """Return the sandbox's time."""
        host = self._ctx.host
        if host.has_clock_at_home:
            return float(self.ask(_CLOCK, b"")[0])
        return host.clock()

    def entropy(self, size: int) -> bytes:
        """Return random bytes, which follow from the sandbox's seed."""
        return self._random.randbytes(size)

    def _thread(self, compiled: bytes, prelude: bytes, memory: int, settings: Any) -> None:
        try:
            guest = self.guest = Guest(compiled, memory, self)
            try:
                guest.start(prelude)
                guest.run(settings)
            finally:
                guest.close()
        except (GuestError, wasmtime.WasmtimeError, wasmtime.Trap) as error:
            self._failure = str(error)
        except MemoryError:
            self._failure = "out of memory"
        finally:
            self._ended = True
            self._asked.release()
            self._ctx.host.scheduler.budget.call()

    # called by the command

    def run(self, compiled: bytes, prelude: bytes, memory: int, settings: dict[str, Any]) -> int:
        """Run a program to its end and return its status."""
        with _STARTING:
            before = _thread.stack_size(THREAD_BYTES)
            try:
                _thread.start_new_thread(self._thread, (compiled, prelude, memory, settings))
            finally:
                _thread.stack_size(before)
        try:
            while not self._ended:
                self._await_question()
                if self._question is not None:
                    self._answer_question()
        finally:
            self._end_guest()
        return self._status()

    def _status(self) -> int:
        guest = self.guest
        if guest is not None and guest.stopped:
            return 134 if guest.status is None else guest.status
        if self._failure:
            raise CommandError(_wording(self._failure), 134)
        return 0

    def _await_question(self) -> None:
        while not self._asked.acquire(timeout=PATIENCE_SECONDS):
            self._waits = True
            try:
                self._ctx.host.scheduler.wait_outside(self._has_news)
            finally:
                self._waits = False

    def _has_news(self) -> bool:
        if self._rests:
            self._rests = False
            self._resume.release()
        return self._question is not None or self._ended

    def _answer_question(self) -> None:
        assert self._question is not None
        header, payload = self._question
        self._ctx.budget.step(_QUESTION + (len(payload) >> 12))
        if header == _CLOCK:
            self._reply = repr(self._ctx.host.clock()), b""
        else:
            self._reply = self._answer(header, payload)
        self._question = None
        self._answered.release()

    def _end_guest(self) -> None:
        """Wait until the thread has ended; it ends at its next loop or call."""
        while not self._ended:
            if self.guest is not None:
                self.guest.stop(137)
            if self._question is not None:
                self._question = None
                self._reply = ("{}", b"")
                self._answered.release()
            if self._rests:
                self._rests = False
                self._resume.release()
            self._asked.acquire(timeout=END_SECONDS)


def _wording(failure: str) -> str:
    """Return what node would say about the end of a guest."""
    if "call stack exhausted" in failure:
        return "RangeError: Maximum call stack size exceeded"
    if "memory" in failure or "unreachable" in failure:
        return "FATAL ERROR: JavaScript heap out of memory"
    return failure.strip()
