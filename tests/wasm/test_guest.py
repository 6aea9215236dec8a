"""Guests written by hand: what ends them, and what they can do to their host."""

from __future__ import annotations

import asyncio
import threading
import time

import pytest

pytest.importorskip("wasmtime")

import wasmtime
from hypothesis import given, settings
from hypothesis import strategies as st

from agentsandbox import Limits
from agentsandbox.wasm.system import TYPES
from tests.wasm.programs import imports, module, sandbox_for

HELLO = """(data (i32.const 64) "hello\\n")
  (data (i32.const 0) "\\40\\00\\00\\00\\06\\00\\00\\00")"""
WRITE = "(call $fd_write (i32.const 1) (i32.const 0) (i32.const 1) (i32.const 16))"


def test_a_guest_writes_and_returns_its_status() -> None:
    sandbox = sandbox_for(module(f"(drop {WRITE}) (i32.const 7)", HELLO))
    result = sandbox.execute("guest | tr a-z A-Z; echo ${PIPESTATUS[0]}")
    assert result.stdout == "HELLO\n7\n"


def test_exit_ends_a_guest_at_once() -> None:
    body = f"(call $proc_exit (i32.const 3)) (drop {WRITE}) (i32.const 0)"
    result = sandbox_for(module(body, HELLO)).execute("guest")
    assert (result.exit_code, result.stdout) == (3, "")


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ("unreachable", 134),
        ("(i32.load (i32.const -4))", 134),
        ("(i32.div_s (i32.const 1) (i32.const 0))", 134),
    ],
)
def test_a_trap_ends_the_guest_and_nothing_else(body: str, status: int) -> None:
    sandbox = sandbox_for(module(body))
    assert sandbox.execute("guest").exit_code == status
    assert sandbox.execute("echo ok").stdout == "ok\n"


def test_recursion_ends_with_the_stack() -> None:
    source = f"""(module {imports()} (memory (export "memory") 1)
      (func (export "host_alloc") (param i32) (result i32) (i32.const 0))
      (func $f (result i32) (i32.add (call $f) (i32.const 1)))
      (func (export "run") (result i32) (call $f)))"""
    sandbox = sandbox_for(wasmtime.wat2wasm(source))
    assert sandbox.execute("guest").exit_code == 139
    assert sandbox.execute("echo ok").stdout == "ok\n"


LOOP = "(loop $l (br $l)) (i32.const 0)"


# TM-GUEST-3
@pytest.mark.parametrize("script", ["guest", "guest & wait", "guest | cat", "echo $(guest)"])
def test_a_loop_ends_with_the_limit(script: str) -> None:
    sandbox = sandbox_for(module(LOOP))
    began = time.monotonic()
    result = sandbox.execute(script, timeout=0.3)
    assert (result.exit_code, result.limit) == (124, "timeout")
    assert time.monotonic() - began < 0.6
    assert sandbox.execute("echo ok").stdout == "ok\n"


def test_a_loop_is_killed_by_a_signal() -> None:
    sandbox = sandbox_for(module(LOOP))
    assert sandbox.execute("timeout 0.1 guest; echo $?").stdout == "124\n"
    assert sandbox.execute("guest & kill %1; wait %1; echo $?").stdout == "143\n"


def test_a_loop_is_cancelled_from_another_thread() -> None:
    sandbox = sandbox_for(module(LOOP))
    threading.Timer(0.1, sandbox.cancel).start()
    began = time.monotonic()
    assert sandbox.execute("guest").limit == "cancelled"
    assert time.monotonic() - began < 0.3


def test_the_event_loop_stays_free() -> None:
    async def main() -> float:
        sandbox = sandbox_for(module(LOOP))
        task = asyncio.create_task(sandbox.aexecute("guest", timeout=0.3))
        worst, last = 0.0, time.monotonic()
        while not task.done():
            await asyncio.sleep(0.001)
            now = time.monotonic()
            worst, last = max(worst, now - last), now
        assert (await task).limit == "timeout"
        return worst

    assert asyncio.run(main()) < 0.1


def test_the_work_of_one_guest_lets_others_run() -> None:
    sandbox = sandbox_for(module(LOOP))
    result = sandbox.execute("guest & for i in 1 2 3; do echo $i; sleep 0.01; done; kill %1")
    assert result.stdout == "1\n2\n3\n"


def test_a_job_rests_between_executions() -> None:
    sandbox = sandbox_for(module(LOOP))
    sandbox.execute("guest & echo started")
    assert sandbox.execute("jobs -r | wc -l").stdout.strip() == "1"
    assert sandbox.execute("kill %1; wait %1; echo $?").stdout == "143\n"


def test_the_memory_of_a_guest_has_a_limit() -> None:
    body = "(memory.grow (i32.const 2000))"  # 125 MiB of 64
    assert sandbox_for(module(f"(i32.eq {body} (i32.const -1))")).execute("guest").exit_code == 1


def test_a_request_goes_through_the_door() -> None:
    body = """
      (drop (call $door (i32.const 64) (i32.const 6) (i32.const 0) (i32.const 4)))
      (drop (call $fd_write (i32.const 1) (i32.const 0) (i32.const 1) (i32.const 16)))
      (i32.const 0)"""
    result = sandbox_for(module(body, '(data (i32.const 64) "abcdef")')).execute("guest")
    assert result.stdout == "fedcba"


ADDRESSES = st.sampled_from(
    [0, 1, 4, 64, 65535, 131071, 131072, 2**31 - 1, -1, -4, -65536, 3, 1024, 5]
)
LONG = st.sampled_from([0, 1, -1, 2**63 - 1, -(2**63), 2**40])


# TM-GUEST-2
@given(data=st.data())
@settings(max_examples=300, deadline=None)
def test_no_numbers_end_the_host(data: st.DataObject) -> None:
    calls = []
    for _ in range(data.draw(st.integers(1, 6))):
        name = data.draw(st.sampled_from([name for name in TYPES if name != "proc_exit"]))
        words = [
            f"(i32.const {data.draw(ADDRESSES)})"
            if letter == "i"
            else f"(i64.const {data.draw(LONG)})"
            for letter in TYPES[name]
        ]
        calls.append(f"(drop (call ${name} {' '.join(words)}))")
    door = " ".join(f"(i32.const {data.draw(ADDRESSES)})" for _ in range(4))
    calls.append(f"(drop (call $door {door}))")
    paths = '(data (i32.const 64) "etc/passwd\\00../../etc")'
    sandbox = sandbox_for(module(f"{''.join(calls)} (i32.const 5)", paths), Limits(timeout=0.5))
    result = sandbox.execute("guest < /dev/null")
    assert result.exit_code in (5, 124), result
    assert "internal error" not in result.stderr
    assert sandbox.execute("echo ok").stdout == "ok\n"
