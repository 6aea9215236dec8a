"""What a worker that was taken over sends: messages, requests about mounted files, differences.

Fields: what it is (0 bytes on the wire, 1 a request about files, 2 a difference), and its bytes.
"""

from __future__ import annotations

import functools
import json
import socket

from agentsandbox import Limits, Sandbox
from agentsandbox.isolation.messages import Message, ProtocolError, Wire
from agentsandbox.isolation.mounted import _TYPES, MountedFiles
from agentsandbox.kernel.fs.deltas import DeltaError, difference, patched
from agentsandbox.kernel.fs.memory import MemoryFileSystem, Snapshot
from agentsandbox.kernel.streams import encode
from tests.fuzz.judge import judged
from tests.fuzz.target import SEPARATOR, Target, fields
from tests.fuzz.targets.tar import check_whole


@functools.cache
def snapshots() -> tuple[Snapshot, bytes]:
    with Sandbox() as sandbox:
        old = sandbox.fs.snapshot()
        sandbox.execute("mkdir d; echo x > d/a; ln d/a b; ln -s b c; mkfifo p; rm -rf /tmp")
        return old, difference(old, sandbox.fs.snapshot())


def on_the_wire(data: bytes) -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        theirs.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 20)
        theirs.sendall(data[:60_000])
        theirs.close()
        wire = Wire(ours, 1 << 20, patience=0.2)
        for _ in range(4):
            message = judged(wire.receive, (ProtocolError,))
            if not isinstance(message, Message):
                return
            request(message)


def request(message: Message) -> None:
    mounted = MountedFiles()
    fs = MemoryFileSystem(Limits(files=50, total_bytes=100_000))
    fs.write_bytes("/f", b"text\n")
    mounted.number_of(fs)
    judged(lambda: mounted.answer(message), (ProtocolError,))
    judged(lambda: mounted.answer(message), (ProtocolError,))
    check_whole(fs)


def run(data: bytes) -> None:
    kind, content = fields(data, 2)
    way = (kind[0] if kind else 0) % 3
    if way == 0:
        on_the_wire(content)
    elif way == 1:
        try:
            head = json.loads(content)
        except (ValueError, RecursionError):
            return
        if isinstance(head, dict):
            request(Message("mounted", head, [b"x"]))
    else:
        old, _ = snapshots()
        made = judged(
            lambda: patched(old, content, Limits(files=100, total_bytes=100_000)), (DeltaError,)
        )
        if isinstance(made, Snapshot):
            fs = MemoryFileSystem()
            fs.restore(made)
            check_whole(fs)


def seeds(count: int) -> list[bytes]:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        Wire(ours, 1 << 20).send(
            "mounted", {"call": "stat", "args": ["/f", True], "of": 0}, b"blob"
        )
        frame = theirs.recv(10_000)
    requests = [
        {
            "call": name,
            "args": ["/f" if str in kinds else True if bool in kinds else 1 for kinds in types],
            "of": 0,
            "released": [],
        }
        for name, types in _TYPES.items()
    ]
    return [
        b"\0" + SEPARATOR + frame,
        *(b"\1" + SEPARATOR + json.dumps(each).encode() for each in requests),
        b"\2" + SEPARATOR + snapshots()[1],
    ]


WORDS = tuple(json.dumps(word).encode() for word in _TYPES) + tuple(
    encode(word) for word in ('"of":', '"args":[', '"released":[', "-1", "1e400", "NaN", "null", '"/f"', '"r+"', '"\\ud800"', "\x1f", "9" * 30)
)  # fmt: skip
TARGET = Target("worker_messages", run, seeds, WORDS)
