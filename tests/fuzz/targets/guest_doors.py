"""The doors of guests: what a Python or JavaScript program asks of the sandbox.

Fields: a byte (odd: JavaScript), then requests: JSON headers, one after the other.
"""

from __future__ import annotations

import json
import struct

from agentsandbox.contract.command import Arguments, CommandContext, command
from agentsandbox.javascript.door import OPERATIONS
from agentsandbox.javascript.door import Door as JavaScriptDoor
from agentsandbox.kernel.fs.base import Stat
from agentsandbox.kernel.streams import encode
from agentsandbox.python.door import Door as PythonDoor
from agentsandbox.python.runtime import PythonRuntime
from agentsandbox.wasm.descriptors import Standard
from agentsandbox.wasm.guest import Guest
from agentsandbox.wasm.system import Image, System
from tests.fuzz.judge import judged_script, sandbox_with
from tests.fuzz.target import FILES, SEPARATOR, Target

_HEAD = struct.Struct("<I")
MOST = 12
"""Requests of one input."""


def _ask_python(ctx: CommandContext, requests: list[bytes]) -> None:
    guest = Guest(None, None, ctx, memory_bytes=1 << 20)  # type: ignore[arg-type]

    def describe() -> Stat:
        return Stat(0o010600, 0, 0.0)

    streams = {
        number: Standard(
            guest.ask, ctx.stdin if not number else None, ctx.stdout if number else None, describe
        )
        for number in range(3)
    }
    guest.system = System(guest, None, [], {}, Image({}), streams)  # type: ignore[arg-type]
    door = PythonDoor(PythonRuntime(), ctx, guest, "/usr/local/bin/python3")
    try:
        for request in requests:
            door.answer(_HEAD.pack(len(request)) + request + b"payload")
        door.leave_children()
    finally:
        door.close()
        guest.system.close_all()


def _ask_javascript(ctx: CommandContext, requests: list[bytes]) -> None:
    door = JavaScriptDoor(ctx)
    try:
        for request in requests:
            door.answer(request.decode("utf-8", "replace"), b"payload")
    finally:
        door.close()


def run(data: bytes) -> None:
    kind, *requests = data.split(SEPARATOR)[: MOST + 1]
    ask = _ask_javascript if kind and kind[0] & 1 else _ask_python

    @command("ask", usage="Usage: ask\nSend the requests.\n", raw=True)
    def send(ctx: CommandContext, args: Arguments) -> int:
        ask(ctx, requests)
        return 0

    judged_script(
        sandbox_with(FILES, commands=[send]),
        "ask < f > out; ask & wait; ask | cat | wc -c; ls -lR; find . -printf '%t'",
    )


PYTHON: tuple[dict[str, object], ...] = (
    {"op": "begin"}, {"op": "pipe"}, {"op": "errnos"}, {"op": "which", "name": "cat"},
    {"op": "spawn", "argv": ["cat", "f"], "cwd": "/workspace", "env": {"A": "b"}, "streams": [0, 1, 2], "umask": 18},
    {"op": "spawn", "argv": ["sleep", "9"], "cwd": "/", "env": {}, "streams": [0, 1, 2], "umask": 0},
    {"op": "wait", "pid": -1, "block": True}, {"op": "wait", "pid": -1, "block": False}, {"op": "kill", "pid": 3, "signal": 15},
    {"op": "chmod", "path": "f", "mode": 420, "follow": True}, {"op": "chmod", "fd": 3, "mode": 420}, {"op": "stat", "path": "f", "follow": True},
    {"op": "umask", "mode": 18}, {"op": "access", "path": "f", "bits": 4}, {"op": "isatty", "fd": 0}, {"op": "mkfifo", "path": "p", "mode": 420},
    {"op": "chdir", "path": "d"}, {"op": "dup", "fd": 1, "to": 5}, {"op": "socket-resolve", "host": "localhost"},
    {"op": "socket-listen", "host": "", "port": 8000, "backlog": 5}, {"op": "socket-connect", "host": "localhost", "port": 8000},
    {"op": "socket-accept", "fd": 3}, {"op": "socket-free-port", "port": 0}, {"op": "socket-shutdown", "fd": 3, "how": 2},
    {"op": "socket-tls", "fd": 3, "verify": True}, {"op": "socket-failure", "fd": 3},
)  # fmt: skip
JAVASCRIPT = {
    "path": "/workspace/f", "fd": 3, "to": "/workspace/g", "flag": "r+", "mode": 420, "size": 5, "position": 0, "recursive": True,
    "name": "md5", "form": "gzip", "text": "x", "atime": 1.5, "mtime": 2, "seconds": 0.1, "argv": ["cat", "f"], "cwd": "/workspace",
    "env": {"PATH": "/bin"}, "paths": ["/workspace/f", "/x"], "stdin": "data", "stdout": "data", "timeout": 1, "bits": 4,
}  # fmt: skip


def seeds(count: int) -> list[bytes]:
    python = [json.dumps(each).encode() for each in PYTHON]
    asked = [json.dumps({"op": op, **JAVASCRIPT}).encode() for op in OPERATIONS]
    opened = json.dumps({"op": "open", **JAVASCRIPT}).encode()
    return [
        *(SEPARATOR.join((b"\0", *python[4:5], each, *python[19:21])) for each in python),
        *(SEPARATOR.join((b"\1", opened, each)) for each in asked),
    ]


WORDS = [*(f'"{name}":' for name in "op argv cwd env streams umask pid block path mode follow fd host port flags to size position signal".split()),
         *(f'"{each["op"]}"' for each in PYTHON), *(json.dumps(op) for op in OPERATIONS), "null", "-1", "1e400", "true", "[]", "{}", '"\\ud800"', "[" * 50, '"/dev/zero"', '"\\u0000"', "9" * 25]  # fmt: skip
TARGET = Target("guest_doors", run, seeds, tuple(encode(word) for word in WORDS) + (SEPARATOR,))
