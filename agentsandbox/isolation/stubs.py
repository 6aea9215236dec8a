"""The worker's side of the host's commands: a stub for each (see `host_commands`)."""

from __future__ import annotations

import itertools
from errno import EIO

from agentsandbox.contract.command import Command
from agentsandbox.errors import LimitReached, PipeClosed, Unwind
from agentsandbox.isolation.messages import Message, packed, unpacked
from agentsandbox.isolation.mounted import MountedFiles
from agentsandbox.kernel.streams import BytesReader, ByteWriter, InputError, OutputError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from agentsandbox.contract.command import Arguments, CommandContext
    from agentsandbox.isolation.proxies import Ask
    from agentsandbox.kernel.budget import Budget

_numbers = itertools.count(1)


class _Collected(ByteWriter):
    """What another command writes, for the host."""

    __slots__ = ("_budget", "_size", "parts")

    def __init__(self, budget: Budget) -> None:
        self._budget = budget
        self._size = 0
        self.parts: list[bytes] = []

    def write(self, data: bytes) -> None:
        self._size += len(data)
        self._budget.charge(self._size)
        self.parts.append(data)


def stub(name: str, usage: str, ask: Ask) -> Command:
    """Return the command that calls the host's command of this name."""

    def function(ctx: CommandContext, args: Arguments) -> int:
        del args
        return _call(name, ask, ctx)

    return Command(name, function, usage, raw=True)


def _call(name: str, ask: Ask, ctx: CommandContext) -> int:
    number = next(_numbers)
    files = MountedFiles()
    files.number_of(ctx.fs)
    unwound: Unwind | None = None
    env = packed([f"{key}={value}" for key, value in ctx.env.items()])
    head = {"id": number, "name": name, "umask": ctx.umask}
    answer = ask("command", head, packed([ctx.cwd, ctx.name, *ctx.words]), env)
    try:
        while "request" in answer.head:
            reply: dict[str, Any] = {}
            blobs: tuple[bytes, ...] = ()
            try:
                reply, blobs = _serve(ctx, files, answer)
            except OSError as error:
                kind = type(error).__name__ if isinstance(error, (InputError, OutputError)) else ""
                reply = {"failed": error.errno or EIO, "name": error.filename, "error_kind": kind}
            except Unwind as error:
                unwound = error
                reply = {"unwound": True}
            answer = ask("reply", {**reply, "id": number}, *blobs)
    finally:
        files.close()
    if answer.head.get("unwound"):
        if "limit" in answer.head:
            raise LimitReached(answer.head["limit"])
        raise unwound or PipeClosed
    return int(answer.head["status"])


def _serve(
    ctx: CommandContext, files: MountedFiles, answer: Message
) -> tuple[dict[str, Any], tuple[bytes, ...]]:
    """Do what the command asks for; return the reply."""
    head, (data,) = answer.head["args"], answer.parts(1)
    request = answer.head["request"]
    if request == "read":
        return {}, (ctx.stdin.read(head["size"]),)
    if request == "readline":
        return {}, (ctx.stdin.readline(bytes([head["end"]])),)
    if request == "write":
        (ctx.stdout if head["stream"] == 1 else ctx.stderr).write(data)
        return {}, ()
    if request == "mounted":
        found = files.answer(Message("mounted", head, [data]))
        content = found.pop("data", None)
        return found, () if content is None else (content,)
    return _run(ctx, head, data)


def _run(
    ctx: CommandContext, head: dict[str, Any], data: bytes
) -> tuple[dict[str, Any], tuple[bytes, ...]]:
    own = {0: None, 1: ctx.stdout, 2: ctx.stderr}
    collected = [_Collected(ctx.budget) for _ in range(2)]
    out, err = [collected[at] if head["wanted"][at] else own[head["to"][at]] for at in range(2)]
    status = ctx.run(
        unpacked(head["words"].encode("latin-1")),
        stdin=BytesReader(data) if head["input"] else None,
        stdout=out,
        stderr=err,
        env=head["env"],
        cwd=head["cwd"],
    )
    return {"status": status & 255}, tuple(b"".join(each.parts) for each in collected)
