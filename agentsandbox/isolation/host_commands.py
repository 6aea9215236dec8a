"""Commands of the host in an isolated sandbox: they run in the host, on streams of the worker.

The worker has a stub for each; a stub says "command", and then does what the command asks for
(read, write, a call of the filesystem, a run of another command) until it has ended. In the host
each running command is a greenlet, which is left at each request and resumed with the reply. So
several of them, in pipelines of the worker, take turns as ordinary commands do.

    stub: command ─▶ host: greenlet runs … asks ─▶ stub: reads its stdin ─▶ reply ─▶ …  status
"""

from __future__ import annotations

import os
from functools import partial
from random import Random
from time import time

from agentsandbox.contract.command import CommandContext
from agentsandbox.contract.host import Host
from agentsandbox.errors import CommandError, LimitReached, PipeClosed, Unwind
from agentsandbox.isolation.messages import Message, ProtocolError, packed, unpacked
from agentsandbox.isolation.proxies import Mounts
from agentsandbox.kernel.fs.base import os_error
from agentsandbox.kernel.host_functions import HostFailure
from agentsandbox.kernel.processes import Scheduler
from agentsandbox.kernel.streams import (
    ByteReader,
    ByteWriter,
    DirectoryInputError,
    InputError,
    OutputError,
    WriteOnlyError,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Generator, Mapping, Sequence
    from contextvars import Context
    from typing import Any, Never

    from greenlet import greenlet

    from agentsandbox.contract.command import Command
    from agentsandbox.isolation.proxies import Ask
    from agentsandbox.kernel.budget import Budget

    Answer = dict[str, Any]
    Pause = Callable[[float | None, Awaitable[Any] | None], Any]

MOST = 64
"""Commands of the host that run at a time in one sandbox."""

_PIECE = 4 << 20


class HostCommands:
    """The host's commands during one call.

    `answer` begins a command or resumes it with a reply, and returns its next request, or its
    status.
    """

    __slots__ = ("_budget", "_clock", "_commands", "_driver", "_names", "_pause", "_running")

    def __init__(
        self,
        commands: Mapping[str, Command],
        names: tuple[str, str],
        budget: Budget,
        clock: Callable[[], float] | None,
        pause: Pause | None,
    ) -> None:
        self._commands = commands
        self._names = names
        self._budget = budget
        self._clock = clock or time
        self._pause = pause
        self._running: dict[int, tuple[greenlet, greenlet]] = {}
        """Each command's greenlet, and the one that it was left in."""
        self._driver: greenlet | None = None

    def begin(self, message: Message) -> Answer:
        """Begin a command; return its first request, or its status."""
        from greenlet import GreenletExit, greenlet

        command = self._commands.get(message.text("name"))
        number = message.number("id")
        if command is None or number in self._running or len(self._running) >= MOST:
            raise ProtocolError("a command that cannot be")
        packed = unpacked(message.parts(2)[0])
        if len(packed) < 2:
            raise ProtocolError("a command without its directory or name")
        cwd, called, *words = packed
        env = dict([pair.split("=", 1) for pair in unpacked(message.blobs[1]) if "=" in pair])
        umask = message.number("umask", 0, 0o777)

        def body(_: object) -> Answer:
            try:
                return self._run(command, called, words, cwd, env, umask)
            except GreenletExit as error:  # it would be taken for what the greenlet returns
                raise HostFailure("GreenletExit in a command of the host") from error

        started = greenlet(body)
        self._running[number] = started, started
        return self._resume(number, None)

    def reply(self, message: Message) -> Answer:
        """Resume a command; return its next request, or its status."""
        number = message.number("id")
        if number not in self._running:
            raise ProtocolError("a reply to nobody")
        return self._resume(number, message)

    def _resume(self, number: int, value: Message | None) -> Answer:
        from greenlet import getcurrent

        started, left = self._running[number]
        self._driver = started.parent = getcurrent()
        try:
            answer = left.switch(value)
        finally:
            if started.dead:
                del self._running[number]
        if isinstance(answer, tuple):
            where, answer = answer
            self._running[number] = started, where
        result: Answer = answer
        return result

    def ask(self, kind: str, head: Answer, *blobs: bytes) -> Message:
        """Leave the running command until the worker has replied."""
        from greenlet import getcurrent

        if self._driver is None:
            raise PipeClosed
        request = {"request": kind, "args": head, "data": b"".join(blobs)}
        reply = self._driver.switch((getcurrent(), request))
        if not isinstance(reply, Message) or reply.flag("unwound"):
            raise PipeClosed
        if "failed" in reply.head:
            raise _error_of(reply)
        return reply

    def close(self) -> None:
        """End all commands: the call is over."""
        from greenlet import getcurrent

        self._driver = None
        while self._running:
            _, (started, left) = self._running.popitem()
            started.parent = getcurrent()
            left.throw(PipeClosed())

    def _run(
        self,
        command: Command,
        called: str,
        words: list[str],
        cwd: str,
        env: dict[str, str],
        umask: int,
    ) -> Answer:
        scheduler = Scheduler(self._budget)
        if self._pause is not None:
            scheduler.pause = partial(_wait, self._pause)
        scheduler.begin(self._budget)
        user, hostname = self._names
        host = Host(
            clock=self._clock, random=Random, scheduler=scheduler, user=user, hostname=hostname
        )
        host.make_network = _refuse_network
        context = CommandContext(
            called,
            words,
            stdin=_Input(self.ask),
            stdout=_Output(self.ask, 1),
            stderr=_Output(self.ask, 2),
            fs=Mounts(self.ask).proxy(0),
            cwd=cwd,
            env=env,
            budget=self._budget,
            run=partial(_run_another, self.ask),
            start=_refuse_start,
            host=host,
            umask=umask,
        )
        try:
            return {"status": command.run(context) & 255}
        except LimitReached as error:
            return {"status": 141, "unwound": True, "limit": error.limit}
        except Unwind:
            return {"status": 141, "unwound": True}
        finally:
            scheduler.end()


def _wait(pause: Pause, seconds: float | None, awaitable: Awaitable[Any] | None) -> Any:
    """Wait in the host's event loop.

    A coroutine of a command runs here, in the greenlet of its command, which may be left for the
    worker at any time; the event loop sees only what the coroutine waits for.
    """
    if awaitable is None:
        return pause(seconds, None)
    context = pause(None, _context())
    steps = awaitable.__await__()
    step, value = steps.send, None
    while True:
        try:
            waited = context.run(step, value)
        except StopIteration as end:
            return end.value
        try:
            step, value = steps.send, pause(None, _Waited(waited))
        except BaseException as error:  # noqa: BLE001 - raised where the coroutine waits
            step, value = steps.throw, error


async def _context() -> Context:
    """Return the context variables of the task that executes."""
    from contextvars import copy_context

    return copy_context()


class _Waited:
    """What a coroutine has handed to its event loop."""

    __slots__ = ("_value",)

    def __init__(self, value: object) -> None:
        self._value = value

    def __await__(self) -> Generator[Any, Any, Any]:
        return (yield self._value)


def _error_of(reply: Message) -> OSError:
    """Return the error that the worker's streams or files raised."""
    number, name, kind = reply.number("failed"), reply.head.get("name"), reply.text("error_kind")
    if type(name) is not str:
        name = None
    if kind == "WriteOnlyError":
        return WriteOnlyError()
    if kind in _ERRORS:
        return _ERRORS[kind](number, os.strerror(number), name)
    return os_error(number, name)


_ERRORS = {
    "InputError": InputError,
    "DirectoryInputError": DirectoryInputError,
    "OutputError": OutputError,
}


class _Input(ByteReader):
    __slots__ = ("_ask",)

    def __init__(self, ask: Ask) -> None:
        self._ask = ask

    def read(self, size: int = -1) -> bytes:
        return self._ask("read", {"size": size}).parts(1)[0]

    def readline(self, end: bytes = b"\n") -> bytes:
        return self._ask("readline", {"end": end[0]}).parts(1)[0]


class _Output(ByteWriter):
    __slots__ = ("_ask", "number")

    def __init__(self, ask: Ask, number: int) -> None:
        self._ask = ask
        self.number = number

    def write(self, data: bytes) -> None:
        for start in range(0, len(data), _PIECE):
            self._ask("write", {"stream": self.number}, bytes(data[start : start + _PIECE]))


def _run_another(
    ask: Ask,
    words: Sequence[str],
    *,
    stdin: ByteReader | None = None,
    stdout: ByteWriter | None = None,
    stderr: ByteWriter | None = None,
    env: Mapping[str, str] | None = None,
    cwd: str | None = None,
    ignoring: object = None,
) -> int:
    """Run another command in the worker; streams of the host are read before and written after."""
    del ignoring
    own_input = stdin is None or isinstance(stdin, _Input)
    data = b"" if own_input or stdin is None else stdin.read()
    wanted = [stream is not None and not isinstance(stream, _Output) for stream in (stdout, stderr)]
    to = [stream.number if isinstance(stream, _Output) else 0 for stream in (stdout, stderr)]
    head = {
        "words": packed(words).decode("latin-1"),
        "input": not own_input,
        "wanted": wanted,
        "to": to,
        "env": None if env is None else dict(env),
        "cwd": cwd,
    }
    reply = ask("run", head, data)
    for stream, part in zip((stdout, stderr), reply.parts(2), strict=True):
        if part and stream is not None:
            stream.write(part)
    return reply.number("status", 0, 255)


def _refuse_start(*_: object, **__: object) -> Never:
    raise CommandError("ctx.start with isolation='process' is not supported: use ctx.run", 126)


def _refuse_network() -> Never:
    raise CommandError(
        "ctx.host.network with isolation='process' is not supported: the ports are elsewhere", 126
    )
