"""A worker that was taken over sends what it likes: the host answers, refuses, and goes on.

Messages are those of an honest worker, with anything in place of their values, in any order, or
with bytes changed on the way.
"""

from __future__ import annotations

import json
import os
import socket
import struct
import threading
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agentsandbox import Arguments, CommandContext, Limits, MemoryFileSystem, Sandbox, command
from agentsandbox.isolation.messages import ProtocolError, Wire
from agentsandbox.isolation.supervisor import Worker, missing
from agentsandbox.network import NetworkPolicy
from agentsandbox.policy import CommandRequest

pytestmark = pytest.mark.skipif(missing() is not None, reason="needs Linux")

EXAMPLES = int(os.environ.get("AGENTSANDBOX_EXAMPLES", "60"))
LIMITS = Limits(timeout=3, output_bytes=10_000, value_bytes=100_000, total_bytes=200_000, files=50)
OID = "1" * 40

HONEST: list[tuple[str, dict[str, Any], int]] = [
    ("output", {"stream": 1}, 1),
    ("clock", {}, 0),
    ("skill", {"skill": "s", "path": "/s"}, 0),
    ("policy", {"line": 1, "is_function": False, "is_main": True, "of_skill": False}, 1),
    ("mounted", {"of": 0, "call": "stat", "args": ["/a", True], "released": []}, 0),
    ("mounted", {"of": 0, "call": "open", "args": ["/b", "w", 420], "released": []}, 0),
    ("mounted", {"of": 1, "call": "write", "args": [], "released": [1]}, 1),
    ("mounted", {"of": 0, "call": "rename", "args": ["/a", "/c"], "released": []}, 0),
    ("command", {"id": 1, "name": "reads", "umask": 18}, 2),
    ("reply", {"id": 1}, 1),
    ("reply", {"id": 1, "unwound": True}, 0),
    ("reply", {"id": 1, "failed": 2, "name": "x", "error_kind": "InputError"}, 0),
    ("input_ready", {}, 0),
    ("input", {}, 0),
    ("start", {"id": 1, "do": "send", "method": "GET", "url": "http://api.test/", "headers": [],
               "timeout": None, "connect_timeout": 1.0, "verify": True}, 1),
    ("start", {"id": 2, "do": "receive", "of": 1}, 0),
    ("start", {"id": 3, "do": "git call", "remote": "f", "updates": ["refs/heads/m", OID, OID]}, 1),
    ("start", {"id": 4, "do": "git refs", "remote": "d"}, 0),
    ("start", {"id": 5, "do": "git push", "remote": "d", "updates": ["refs/heads/m", OID, OID]}, 1),
    ("start", {"id": 6, "do": "git fetch", "remote": "d", "wanted": [OID], "known": [OID],
               "shallow": [], "depth": None}, 0),
    ("news", {"milliseconds": 5, "dropped": [1]}, 0),
    ("enough", {}, 0),
    ("log", {}, 1),
    ("confined", {"report": {"memory": "in force"}}, 0),
    ("done", {"status": 0, "cwd": "/", "parts": [0, 3], "exports": True, "is_longer": True,
              "released": [], "pictures": ["/p.png"], "limit": None, "jobs": 0}, 7),
]  # fmt: skip
"""The kind, the head and the number of blobs of what a worker may send."""

ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 300) | st.integers() | st.floats()
    | st.text(max_size=8) | st.sampled_from(["/a", "..", "a\0b", "\ud800", OID, "refs/heads/m"]),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=6,
)  # fmt: skip
DELTA_LINES = st.lists(
    st.sampled_from([
        ["R", "a"], ["E", "d", [493, 1.0, 1.0, None, 0, 9, 2]], ["E", "d"], ["L"], ["F", "f"],
        ["F", "f", [420, 1.0, 1.0, None, 0, 9, 1], 3], ["H", "h", 1], ["M", "m", 0], ["G", "g", []],
        ["F", "f", [420, 1.0, 1.0, None, 0, 9, 1], 3, 1], ["S", "s", [], "x"], [], "x", {},
    ]),
    max_size=5,
)  # fmt: skip


def delta_of(lines: list[object]) -> bytes:
    first = {"spare": [0, 0], "meta": [493, 1.0, 1.0, None, 0, 1, 2], "hard": 0}
    text = "".join([f"{json.dumps(line)}\n" for line in [first, lines, *lines]]).encode()
    return len(text).to_bytes(4, "big") + text + b"abc"


BLOB = st.binary(max_size=60) | DELTA_LINES.map(delta_of) | st.just(b"")


@st.composite
def messages(draw: st.DrawFn) -> tuple[str, dict[str, Any], list[bytes]]:
    kind, head, blobs = draw(st.sampled_from(HONEST))
    head = dict(head)
    for _ in range(draw(st.integers(0, 2))):
        name = draw(st.sampled_from([*head, "x"]))
        head[name] = draw(ANYTHING)
    if head and draw(st.integers(0, 9)) == 0:
        del head[draw(st.sampled_from(list(head)))]
    count = draw(st.sampled_from([blobs] * 6 + [0, 1, 9]))
    return kind, head, [draw(BLOB) for _ in range(count)]


@command("reads", usage="Usage: reads\nRead and write.", raw=True)
def reads(ctx: CommandContext, _: Arguments) -> int:
    ctx.stdout.write(ctx.stdin.read(10) + b"x")
    ctx.fs.write_text("/w", "x")
    return ctx.run(["true"])


class Taken:
    """A worker in a thread of the test, which sends messages and reads answers."""

    def __init__(self, sent: list[tuple[str, dict[str, Any], list[bytes]] | bytes]) -> None:
        ours, self.theirs = socket.socketpair()
        self.worker = Worker(Wire(ours, 1 << 22, 0.3), os.getpid())
        os.close(self.worker._handle)
        self.worker._handle = -1  # never send a signal to this process
        self.sent = sent
        self.thread = threading.Thread(target=self._run, daemon=True)
        self.thread.start()

    def _run(self) -> None:
        wire = Wire(self.theirs, 1 << 30)
        try:
            while wire.receive().kind != "execute":
                pass
            for each in self.sent:
                if isinstance(each, bytes):
                    self.theirs.sendall(each)
                    break
                kind, head, blobs = each
                wire.send(kind, head, *blobs)
                if kind not in ("enough", "log", "confined"):
                    wire.receive()
        except (ProtocolError, OSError):
            pass
        finally:
            self.theirs.close()


def attacked(
    folder: Path, sent: list[tuple[str, dict[str, Any], list[bytes]] | bytes]
) -> tuple[str | None, int]:
    """Return how a call ended whose worker sends this, and the bytes of the sandbox's files."""

    def policy(request: CommandRequest) -> bool:
        return len(request.argv) != 1

    network = NetworkPolicy(hosts={"api.test": lambda request: request.body or "empty"})
    with Sandbox(
        isolation="process", limits=LIMITS, mounts={"/m": MemoryFileSystem(LIMITS)},
        commands=[reads], on_command=policy, network=network, clock=lambda: 5.0,
        git_remotes={"f": lambda push: None, "d": folder}, files={"a": "a\n"},
    ) as sandbox:  # fmt: skip
        session: Any = sandbox._start()
        taken = Taken(sent)
        session.worker = taken.worker
        result = sandbox.execute("never", on_output=lambda *_: None)
        session.lose_worker()
        taken.thread.join(5)
        assert not taken.thread.is_alive()
        snapshot = sandbox.fs.snapshot()
        return result.limit, snapshot.used - snapshot.free_bytes


# TM-ISO-2
@settings(
    max_examples=EXAMPLES, deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)  # fmt: skip
@given(st.lists(messages(), min_size=1, max_size=8))
def test_what_a_worker_sends_neither_raises_nor_outgrows_the_limits(
    tmp_path: Path, sent: list[tuple[str, dict[str, Any], list[bytes]] | bytes]
) -> None:
    limit, used = attacked(tmp_path, sent)
    assert limit in (None, "process", "timeout", "steps", "output_bytes")
    assert used <= LIMITS.total_bytes


# TM-ISO-2
@settings(
    max_examples=EXAMPLES // 2, deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)  # fmt: skip
@given(st.data())
def test_bytes_changed_on_the_way_cost_one_call(tmp_path: Path, data: st.DataObject) -> None:
    kind, head, blobs = data.draw(messages())
    try:
        text = json.dumps({"kind": kind, "sizes": [len(each) for each in blobs], **head}).encode()
    except ValueError:
        return
    frame = bytearray(struct.pack(">II", len(text) + sum(map(len, blobs)), len(text)) + text)
    frame += b"".join(blobs)
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(frame) - 1))
        frame[at] = data.draw(st.integers(0, 255))
    limit, _ = attacked(tmp_path, [bytes(frame)])
    assert limit in (None, "process", "timeout")


# TM-ISO-2
def test_a_log_of_a_worker_is_text_without_control_characters(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    attacked(tmp_path, [("log", {}, [b"\xff\x1b[2J" + "é\n".encode()])])
    texts = [record.getMessage() for record in caplog.records]
    assert "in the process of a script: \\xff\\x1b[2Jé\n" in texts
