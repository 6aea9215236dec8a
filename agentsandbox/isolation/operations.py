"""What the host does for a worker while the worker's own processes go on.

A question (to a policy, to a clock) stops the worker until it is answered. A request to a server
may take seconds, and in an ordinary sandbox other processes of the script run meanwhile. So such
work is *started*, and the worker asks for *news* when none of its processes can run:

    worker                                     host
      start (number, what, arguments)  ─────▶    a process of the host's own scheduler runs it
      … other processes of the script …
      news (at most so many seconds)   ─────▶    all operations go on; the first that ends answers
      enough                           ─────▶    (somebody in the worker is awake: answer at once)

The processes of this scheduler are greenlets of the thread that executes, as everywhere: no lock is
needed, and functions of the host are called where they would be called without isolation. What an
operation returns is a head of plain values and bytes.
"""

from __future__ import annotations

import os
import select
from _thread import RLock
from collections import deque
from random import Random
from time import time

from agentsandbox.contract.command import CommandContext
from agentsandbox.contract.host import Host
from agentsandbox.errors import CommandError, PipeClosed
from agentsandbox.isolation.messages import ProtocolError
from agentsandbox.kernel.budget import Budget
from agentsandbox.kernel.fs.memory import MemoryFileSystem
from agentsandbox.kernel.processes import Scheduler
from agentsandbox.kernel.streams import Null

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping
    from typing import Any, NoReturn, Protocol

    from agentsandbox.isolation.messages import Message, Wire
    from agentsandbox.kernel.processes import Process
    from agentsandbox.limits import Limits

    Head = dict[str, Any]
    Pause = Callable[[float | None, Awaitable[Any] | None], Any]

    class Service(Protocol):
        """What can be started: `works` by their names; `drop` ends what one has begun."""

        @property
        def works(self) -> Mapping[str, Callable[[int, Message], tuple[Head, bytes]]]: ...
        def drop(self, number: int) -> None: ...
        def close(self) -> None: ...


MOST = 256
"""Operations of one sandbox that are not finished, as many as it may have processes."""

LONGEST = 60.0
"""Seconds that one question for news may take."""

_SPARE_SECONDS = 10.0
"""The worker ends its script at the deadline, the host's side only later."""


class Operations:
    """The operations of one sandbox, over all its calls.

    services   what can be started
    """

    __slots__ = (
        "_budget", "_closing", "_finished", "_limits", "_log", "_pause", "_running", "_services",
        "_wake", "_wire", "scheduler",
    )  # fmt: skip

    def __init__(self, limits: Limits, log: Callable[[str, BaseException], None]) -> None:
        self._limits = limits
        self._log = log
        self._budget = Budget(limits)
        self.scheduler = Scheduler(self._budget)
        self._services: list[Service] = []
        self._running: dict[int, Process] = {}
        self._finished: deque[tuple[int, Head, bytes]] = deque()
        self._wake = os.eventfd(0, os.EFD_NONBLOCK | os.EFD_CLOEXEC)
        self._closing = RLock()  # a handler of signals may call, too
        self._wire: Wire | None = None
        self._pause: Pause | None = None

    def add(self, service: Service) -> None:
        """Offer one more service."""
        self._services.append(service)

    def begin(self, wire: Wire, pause: Pause | None, deadline: float) -> None:
        """Begin a call, which ends at `deadline` (of `monotonic`); `pause` waits in a loop."""
        self._budget = budget = Budget(self._limits)
        budget.deadline = deadline + _SPARE_SECONDS
        self._wire = wire
        self._pause = pause
        self.scheduler.pause = self._wait
        self.scheduler.begin(budget)

    def end(self) -> None:
        """End a call. What runs goes on in the next one, as background jobs do."""
        self.scheduler.end()
        self._budget.wake = None
        self._wire = self._pause = None

    def close(self) -> None:
        """End everything: the worker is gone."""
        self.scheduler.kill_all()
        self._running.clear()
        self._finished.clear()
        for service in self._services:
            service.close()
        with self._closing:
            wake, self._wake = self._wake, -1
            if wake >= 0:
                os.close(wake)

    def context(self) -> CommandContext:
        """Return a context for commands of ours that work for the host: nobody hears them."""
        nothing = Null()
        return CommandContext(
            "host", [], stdin=nothing, stdout=nothing, stderr=nothing,
            fs=MemoryFileSystem(self._limits), cwd="/", env={}, budget=self._budget,
            run=_refuse, start=_refuse,
            host=Host(clock=time, random=Random, scheduler=self.scheduler),
        )  # fmt: skip

    # requests of the worker

    def start(self, message: Message) -> Head:
        """Start an operation; return the first that has ended."""
        self._drop(message)
        number, name = message.number("id"), message.text("do")
        work = next((each.works[name] for each in self._services if name in each.works), None)
        if work is None or number in self._running or len(self._running) >= MOST:
            raise ProtocolError(f"an operation that cannot be: {name!r:.40}")

        def run() -> int:
            outcome = self._outcome(work, number, message)
            self._finished.append((number, *outcome))
            return 0

        self._running[number] = self.scheduler.start(run, name)
        self.scheduler.drain()
        return self._next()

    def news(self, message: Message) -> Head:
        """Wait until an operation has ended, or until the worker has had enough."""
        self._drop(message)
        milliseconds = message.number("milliseconds", 0, int(LONGEST * 1000))
        if milliseconds and not self._finished:
            self.scheduler.block(self._has_news, milliseconds / 1000)
        else:
            self.scheduler.drain()
        return self._next()

    def _has_news(self) -> bool:
        wire = self._wire
        return bool(self._finished) or wire is None or wire.is_readable(0)

    def _next(self) -> Head:
        if not self._finished:
            return {}
        number, head, data = self._finished.popleft()
        self._running.pop(number, None)
        return {"id": number, "outcome": head, "more": bool(self._finished), "data": data}

    def _drop(self, message: Message) -> None:
        """End what the worker does not need any more."""
        numbers = message.head.get("dropped", [])
        if type(numbers) is not list:
            raise ProtocolError("no list of operations")
        for number in numbers:
            if type(number) is not int:
                raise ProtocolError("no operation")
            process = self._running.pop(number, None)
            if process is not None:
                process.kill(_KILL)
            for service in self._services:
                service.drop(number)
        if numbers:
            kept = [each for each in self._finished if each[0] not in numbers]
            self._finished.clear()
            self._finished.extend(kept)
            self.scheduler.drain()

    def _outcome(
        self,
        work: Callable[[int, Message], tuple[Head, bytes]],
        number: int,
        message: Message,
    ) -> tuple[Head, bytes]:
        """Return what an operation returns; errors of the host's functions are for its log."""
        try:
            return work(number, message)
        except CommandError as error:
            return {"refused": error.message, "status": error.status}, b""
        except PipeClosed:
            return {"failed": True}, b""
        except ProtocolError:
            raise
        except Exception as error:  # noqa: BLE001 - the host's own, for its log
            self._log("a function of the host raised during an isolated script", error)
            return {"failed": True}, b""

    def _wait(self, seconds: float | None, awaitable: Awaitable[Any] | None) -> Any:
        """Wait for an awaitable of the host, or until the worker or an operation has news."""
        pause = self._pause
        if awaitable is not None:
            if pause is None:
                if hasattr(awaitable, "close"):
                    awaitable.close()
                raise CommandError(
                    "this command is asynchronous: use 'await sandbox.aexecute(…)'", 126
                )
            return pause(None, awaitable)
        if not seconds:
            return None if pause is None else pause(0.0, None)
        wire, budget = self._wire, self._budget
        assert wire is not None
        budget.wake = self._call
        try:
            if budget.called or wire.is_readable(0):
                return None
            descriptors = (wire.socket.fileno(), self._wake)
            if pause is None:
                poll = select.poll()
                for each in descriptors:
                    poll.register(each, select.POLLIN)
                poll.poll(seconds * 1000 + 1)
            else:
                from agentsandbox.runtime.event_loop import readable

                pause(None, readable(descriptors, seconds))
        finally:
            budget.wake = None
            self._quiet()
        return None

    def _call(self) -> None:
        with self._closing:  # else the number may be another file's by now
            if self._wake >= 0:
                os.eventfd_write(self._wake, 1)

    def _quiet(self) -> None:
        try:
            os.eventfd_read(self._wake)
        except OSError:  # nobody has called
            pass


def _refuse(*_: object, **__: object) -> NoReturn:
    raise CommandError("no other command runs for the host", 126)


_KILL = 9
