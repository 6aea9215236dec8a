"""A filesystem that follows another one by differences is equal to it after each step."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentsandbox import Limits, Sandbox
from agentsandbox.kernel.fs.deltas import DeltaError, difference, patched
from agentsandbox.kernel.fs.memory import MemoryFileSystem, Snapshot

SHOW = (
    "find / -xdev -printf '%p %y %m %n %s %T@ %l\\n' | grep -v ^/proc; cat /w/* /w/*/* 2> /dev/null"
)

STEPS = (
    "echo one > a", "echo two >> a", "mkdir -p d/e/f", "echo deep > d/e/f/g", "ln a b", "ln -s a c",
    "rm a", "rm -r d", "mv b d 2> /dev/null", "chmod 600 a", "touch -d @5 a c", "mkfifo p",
    "rm -f c; mkdir c", "cp -r d x", "mv d y", "ln x/e/f/g z", "echo more >> z", "rm -rf c x y",
    "cp /etc/passwd q", "true",
)  # fmt: skip


def as_seen(snapshot: Snapshot) -> str:
    with Sandbox(cwd="/w", clock=lambda: 0) as sandbox:
        sandbox.fs.restore(snapshot)
        return sandbox.execute(SHOW).stdout


@settings(deadline=None, max_examples=60)
@given(st.lists(st.lists(st.sampled_from(STEPS), max_size=4), max_size=6))
def test_a_copy_that_gets_the_differences_stays_equal(rounds: list[list[str]]) -> None:
    with Sandbox(cwd="/w") as sandbox:
        here = sandbox.fs.snapshot()
        there = patched(None, difference(None, here), Limits(), trusted=True)
        for steps in rounds:
            sandbox.execute("\n".join(steps))
            after = sandbox.fs.snapshot()
            there = patched(there, difference(here, after), Limits())
            here = after
            assert as_seen(there) == as_seen(here)
            assert there.used - there.free_bytes == here.used - here.free_bytes
            assert there.nodes - there.free_nodes == here.nodes - here.free_nodes


def test_nothing_changed_is_no_bytes() -> None:
    with Sandbox() as sandbox:
        before = sandbox.fs.snapshot()
        sandbox.execute("echo hello; cat /etc/passwd > /dev/null")

        assert difference(before, sandbox.fs.snapshot()) == b""


def test_a_difference_is_as_large_as_the_change() -> None:
    with Sandbox(files={f"d{n % 50}/f{n}": "x" * 1000 for n in range(2000)}) as sandbox:
        before = sandbox.fs.snapshot()
        sandbox.execute("echo new > d7/f7")

        assert len(difference(before, sandbox.fs.snapshot())) < 1000


META = [0o644, 1.0, 1.0, None, 1000, 99, 1]
ROOT = [0o755, 1.0, 1.0, None, 0, 1, 2]


def delta_of(first: object, *operations: object) -> bytes:
    lines = [first, *[[operation] for operation in operations]]
    head = "".join([f"{json.dumps(line)}\n" for line in lines]).encode()
    return len(head).to_bytes(4, "big") + head


HOSTILE = {
    "a name with a slash": [["F", "a/b", META, 0]],
    "the parent": [["F", "..", META, 0]],
    "no name": [["F", "", META, 0]],
    "a NUL": [["F", "a\0", META, 0]],
    "a long name": [["F", "a" * 256, META, 0]],
    "leaving the root": [["L"]],
    "entering nothing": [["E", "nowhere"]],
    "removing nothing": [["R", "nowhere"]],
    "a content that is not there": [["F", "a", META, 5]],
    "a size below nothing": [["F", "a", META, -1]],
    "a truth for a number": [["F", "a", [True, *META[1:]], 0]],
    "a time that is no number": [["F", "a", [0o644, "x", *META[2:]], 0]],
    "facts that are cut off": [["F", "a", META[:3], 0]],
    "a device without a name": [["C", "a", META, ["sda"]]],
    "a node that is not in the table": [["H", "a", 12345]],
    "a filesystem that is not mounted": [["M", "a", 0]],
    "an unknown letter": [["X", "a", META]],
    "no operation": [[]],
    "no list": ["F"],
    "a tree in a tree": [["G", "a", META], ["G", "b", META]],
    "too many names": [["P", f"p{n}", META] for n in range(30)],
}


def test_large_contents_travel_beside_the_bytes() -> None:
    with Sandbox() as sandbox:
        before = sandbox.fs.snapshot()
        sandbox.execute("head -c 3000000 /dev/zero > a; cp a b; echo small > c; ln b d")
        large: list[bytes] = []
        delta = difference(before, sandbox.fs.snapshot(), large)
        assert (len(delta) < 2000, [len(each) for each in large]) == (True, [3000000] * 2)
        made = patched(before, delta, Limits(), (), large)
        assert as_seen(made) == as_seen(sandbox.fs.snapshot())
        for wrong in (large[:1], [*large, b"x"], [large[0], b"x"]):
            with pytest.raises(DeltaError):
                patched(before, delta, Limits(), (), wrong)


# TM-DELTA-1
def test_what_a_difference_makes_is_counted_while_it_grows() -> None:
    old = MemoryFileSystem().snapshot()
    first = {"meta": ROOT, "hard": 0}
    limits = Limits(files=20)
    tree = [["G", "a", META], *[["P", f"p{n}", META] for n in range(2000)], ["L"], ["R", "a"]]
    again = [["E", "d", META], ["L"]] + [["E", "d"], ["L"]] * 20_000
    for lines in (tree, again, [["S", "a", META, "x" * 40_000]], [["R", "[" * 20_000]]):
        with pytest.raises(DeltaError, match=r"than the limits allow|too long|too many|no text"):
            patched(old, delta_of(first, *lines), limits)
    with pytest.raises(DeltaError, match="no JSON"):
        delta = delta_of(first, "x" * 30_000)
        patched(old, delta.replace(b'"' + b"x" * 30_000 + b'"', b"[" * 30_002), limits)


# TM-DELTA-1
@pytest.mark.parametrize("operations", HOSTILE.values(), ids=HOSTILE)
def test_a_hostile_difference_is_refused(operations: list[object]) -> None:
    old = MemoryFileSystem().snapshot()
    with pytest.raises(DeltaError):
        patched(old, delta_of({"meta": ROOT, "hard": 0}, *operations), Limits(files=20))


@given(st.binary(max_size=200))
def test_bytes_of_chance_are_refused(data: bytes) -> None:
    old = MemoryFileSystem().snapshot()
    try:
        patched(old, data, Limits())
    except DeltaError:
        pass
    else:
        assert data == b""


# TM-DELTA-1
@settings(deadline=None)
@given(st.data())
def test_a_damaged_difference_is_refused_or_a_tree(data: st.DataObject) -> None:
    with Sandbox() as sandbox:
        old = sandbox.fs.snapshot()
        sandbox.execute("mkdir d; echo x > d/a; ln d/a b; ln -s b c; rm -rf /tmp")
        delta = bytearray(difference(old, sandbox.fs.snapshot()))
    for _ in range(data.draw(st.integers(1, 4))):
        delta[data.draw(st.integers(0, 9999)) % len(delta)] = data.draw(st.integers(0, 255))
    try:
        made = patched(old, bytes(delta), Limits())
    except DeltaError:
        return
    fs = MemoryFileSystem()
    fs.restore(made)
    list(fs.walk("/"))
