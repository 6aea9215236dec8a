"""The worker's side of `operations`: processes that wait for the host while others run."""

from __future__ import annotations

import itertools
import os
import select

from agentsandbox.errors import CommandError
from agentsandbox.isolation.operations import LONGEST
from agentsandbox.kernel.host_functions import HostFailure

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Awaitable
    from typing import Any, Protocol

    from agentsandbox.isolation.messages import Message, Wire
    from agentsandbox.kernel.processes import Scheduler

    class Conversation(Protocol):
        """The way to the host, and what a worker does with an answer."""

        wire: Wire

        def take(self) -> Message: ...


class Relay:
    """Starts operations in the host and waits for them.

    `pause` has the place of an event loop's in the scheduler, as long as something is pending.
    """

    __slots__ = (
        "_calls",
        "_conversation",
        "_dropped",
        "_numbers",
        "_outcomes",
        "pending",
        "scheduler",
    )

    def __init__(self, conversation: Conversation, calls: int) -> None:
        self._conversation = conversation
        self._calls = calls
        self.scheduler: Scheduler | None = None
        self._numbers = itertools.count(1)
        self.pending: set[int] = set()
        self._outcomes: dict[int, tuple[dict[str, Any], bytes]] = {}
        self._dropped: list[int] = []

    def call(
        self, name: str, arguments: dict[str, Any], *blobs: bytes
    ) -> tuple[int, dict[str, Any], bytes]:
        """Return the number, head and bytes of an operation, when it has ended.

        Raises `CommandError` if the host refuses, `HostFailure` if a function of it raised.
        """
        scheduler = self.scheduler
        assert scheduler is not None
        number = next(self._numbers)
        self.pending.add(number)
        scheduler.pause = self.pause
        try:
            self._ask("start", {**arguments, "id": number, "do": name}, *blobs)
            if number not in self._outcomes:
                scheduler.wait_outside(lambda: number in self._outcomes)
            head, data = self._outcomes.pop(number)
        except BaseException:
            self.drop(number)
            raise
        finally:
            self.pending.discard(number)
            if not self.pending:
                scheduler.pause = None
        if head.get("failed"):
            raise HostFailure
        if "refused" in head:
            raise CommandError(head["refused"], head["status"])
        return number, head, data

    def drop(self, number: int) -> None:
        """End an operation, or what it has begun, with the next message."""
        self._outcomes.pop(number, None)
        self._dropped.append(number)

    def pause(self, seconds: float | None, awaitable: Awaitable[Any] | None) -> None:
        """Ask for news, for at most `seconds`; end sooner if a thread of this process calls."""
        del awaitable  # there is nothing to await in a worker
        scheduler = self.scheduler
        assert scheduler is not None
        if not seconds:
            self._ask("news", {"milliseconds": 0})
            return
        budget = scheduler.budget
        wire = self._conversation.wire
        budget.wake = self._call
        try:
            if budget.called:
                return
            wire.send("news", self._head({"milliseconds": int(min(seconds, LONGEST) * 1000) + 1}))
            poll = select.poll()
            poll.register(wire.socket, select.POLLIN)
            poll.register(self._calls, select.POLLIN)
            if any(descriptor == self._calls for descriptor, _ in poll.poll()):
                os.eventfd_read(self._calls)
                wire.send("enough")
            self._note(self._conversation.take())
        finally:
            budget.wake = None

    def _call(self) -> None:
        os.eventfd_write(self._calls, 1)

    def _head(self, head: dict[str, Any]) -> dict[str, Any]:
        dropped, self._dropped = self._dropped, []
        return {**head, "dropped": dropped} if dropped else head

    def _ask(self, kind: str, head: dict[str, Any], *blobs: bytes) -> None:
        self._conversation.wire.send(kind, self._head(head), *blobs)
        self._note(self._conversation.take())

    def _note(self, answer: Message) -> None:
        """Note the news of an answer, and ask for the rest of them."""
        while "id" in answer.head:
            number = answer.head["id"]
            if number in self.pending:
                data = answer.blobs[0] if answer.blobs else b""
                self._outcomes[number] = answer.head["outcome"], data
            if not answer.head["more"]:
                return
            self._conversation.wire.send("news", {"milliseconds": 0})
            answer = self._conversation.take()
