"""Many sandboxes in threads, tasks and processes at once; cancelled, forked, dropped: each keeps
its own and leaves nothing.
"""

from __future__ import annotations

import asyncio
import contextlib
import copy
import gc
import multiprocessing
import os
import pickle
import random
import subprocess
import sys
import threading
import tracemalloc
import weakref
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor

import pytest
import trio
from greenlet import greenlet

from agentsandbox import Limits, Sandbox
from agentsandbox.errors import SandboxError

BUSY = [
    "while :; do :; done",
    "yes | cat | tr y z | sort > /dev/null",
    "sleep 100 & yes > /dev/null & cat < <(yes) > /dev/null",
    "seq 1000000 | awk '{n += $1} END {print n}' | cat; while read x; do :; done < <(yes)",
    "jq -n '[range(1000000)] | add'; while :; do jq -n 1; done",
    "f() { f & wait; }; f",
    "coproc cat; while :; do echo x >&${COPROC[1]}; read -r -u ${COPROC[0]}; done",
    "mkfifo p; while :; do echo x > p & cat p; wait; done",
    "trap 'echo end' EXIT TERM; while :; do echo $RANDOM > f; sort f; done",
    "for ((;;)); do (exec 3<> g; flock 3; echo x >&3); find / -name x; done",
]
SETTLED = "rm -rf *; x=1; echo $((x + 1)) | cat; read y <<< z; echo $y; jobs"


def check_after(sandbox: Sandbox) -> None:
    sandbox.execute("kill %1 %2 %3 2> /dev/null; wait", timeout=1)
    result = sandbox.execute(SETTLED, state="discard")
    assert result.stdout.startswith("2\nz\n"), result
    walked = sum(1 for _ in sandbox.fs.walk("/workspace"))
    assert walked >= 1


# TM-NEXT-3
def test_threads_at_random(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sandboxes of their own in many threads, with a thread switched every few microseconds."""
    del monkeypatch
    before = sys.getswitchinterval()
    wrong: list[object] = []

    def work(number: int) -> None:
        try:
            with Sandbox(limits=Limits(timeout=20), env={"TENANT": str(number)}) as sandbox:
                for turn in range(6):
                    script = f'[[ a{number} == a+([0-9]) ]]; x={number}; for i in {{1..20}}; do y+=$x; done; echo "$TENANT" | sed s/x/y/ | tr a b; printf "%s\\n" {number} {turn} | sort -n | tail -1 > f; awk "BEGIN {{print {number}}}"; jq -n {number}'
                    got = sandbox.execute(script).stdout
                    if got != f"{number}\n" * 3:
                        wrong.append((number, got))
        except BaseException as error:  # noqa: BLE001 - that none comes out is what is tested
            wrong.append(error)

    sys.setswitchinterval(1e-5)
    try:
        threads = [threading.Thread(target=work, args=(number,)) for number in range(24)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
    finally:
        sys.setswitchinterval(before)
    assert not wrong
    assert not any(thread.is_alive() for thread in threads)


def test_a_sandbox_that_wanders_between_threads() -> None:
    """Background jobs belong to the thread that started them; calls from others go on without
    them.
    """
    sandbox = Sandbox(limits=Limits(timeout=5))
    sandbox.execute("sleep 0.01 & sleep 100 & n=0")
    seen: list[str] = []

    def work() -> None:
        seen.append(sandbox.execute("n=$((n + 1)); sleep 100 & echo $n | cat").stdout)

    for _ in range(5):
        thread = threading.Thread(target=work)
        thread.start()
        thread.join(20)
    assert seen == ["1\n", "2\n", "3\n", "4\n", "5\n"]
    assert sandbox.execute("echo $n").stdout == "5\n"
    sandbox.close()


# TM-MEM-4
@pytest.mark.parametrize("stack", [256 << 10, 512 << 10])
def test_deep_scripts_in_a_thread_with_a_small_stack(stack: int) -> None:
    """In a process of its own: an overflow of the stack would be the end of it."""
    code = f"""
import threading
from agentsandbox import Sandbox
def work():
    for script in ("f() {{ f; }}; f", "x='eval \\"$x\\"'; eval \\"$x\\"", "f() {{ (f); }}; f", "f() {{ echo $(f); }}; f", "(" * 500 + ":" + ")" * 500,
                   "echo $((" + "(" * 500 + "1" + ")" * 500 + "))", "awk 'function f(x) {{ return f(x + 1) }} BEGIN {{ f(0) }}'",
                   "echo 'define f(x) {{ return f(x+1); }}; f(0)' | bc", "f() {{ f | cat; }}; f", "sed -E 's/((((((((((a))))))))))/x/' <<< a"):
        Sandbox().execute(script, timeout=5)
threading.stack_size({stack})
thread = threading.Thread(target=work)
thread.start()
thread.join()
print("survived")
"""
    ran = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=False
    )
    assert (ran.returncode, ran.stdout) == (0, "survived\n"), ran.stderr[-300:]


# TM-NEXT-2
@pytest.mark.parametrize("number", range(len(BUSY)))
def test_cancelling_at_random_with_asyncio(number: int) -> None:
    chance = random.Random(number)

    async def run() -> None:
        sandbox = Sandbox(limits=Limits(timeout=20))
        for _ in range(4):
            task = asyncio.create_task(sandbox.aexecute(BUSY[number]))
            await asyncio.sleep(chance.uniform(0, 0.06))
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):  # some reach a limit before
                await task
            assert sandbox._running is None
        check_after(sandbox)
        sandbox.close()

    asyncio.run(run())


@pytest.mark.parametrize("number", range(0, len(BUSY), 3))
def test_cancelling_at_random_with_trio(number: int) -> None:
    chance = random.Random(number)

    async def run() -> None:
        sandbox = Sandbox(limits=Limits(timeout=20))
        for _ in range(4):
            with trio.move_on_after(chance.uniform(0, 0.06)):
                await sandbox.aexecute(BUSY[number])
            assert sandbox._running is None
        sandbox.close()

    trio.run(run)


def test_execute_within_a_running_loop() -> None:
    async def run() -> list[str]:
        with Sandbox() as sandbox, Sandbox() as other:
            task = asyncio.create_task(other.aexecute("for i in {1..2000}; do :; done; echo other"))
            await asyncio.sleep(0)
            direct = sandbox.execute("seq 100000 | sort -R | wc -l").stdout
            return [direct, (await task).stdout]

    assert asyncio.run(run()) == ["100000\n", "other\n"]


def test_many_tasks_of_which_half_are_cancelled() -> None:
    async def run() -> list[str]:
        async def one(number: int) -> str:
            with Sandbox(limits=Limits(timeout=20)) as sandbox:
                return (
                    await sandbox.aexecute(
                        f"for i in {{1..200}}; do x={number}; done; echo $x | cat"
                    )
                ).stdout

        tasks = [asyncio.create_task(one(number)) for number in range(40)]
        await asyncio.sleep(0.01)
        for task in tasks[::2]:
            task.cancel()
        return [
            got
            for got in await asyncio.gather(*tasks, return_exceptions=True)
            if isinstance(got, str)
        ]

    got = asyncio.run(run())
    assert len(got) >= 20
    assert set(got) <= {f"{number}\n" for number in range(40)}


def test_a_loop_that_is_left_with_a_script_running() -> None:
    sandbox = Sandbox(limits=Limits(timeout=20))

    async def run() -> None:
        task = asyncio.create_task(sandbox.aexecute("sleep 100 | cat & while :; do :; done"))
        await asyncio.sleep(0.02)
        del task  # the loop ends and cancels it

    asyncio.run(run())
    assert sandbox.execute("echo alive").stdout == "alive\n"
    sandbox.close()


def test_loops_in_several_threads() -> None:
    results: list[str] = []

    def work(number: int) -> None:
        async def run() -> None:
            with Sandbox() as sandbox:
                results.append(
                    (
                        await sandbox.aexecute(
                            f"seq 2000 | while read x; do :; done; echo {number}"
                        )
                    ).stdout
                )

        asyncio.run(run())

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert sorted(results) == [f"{number}\n" for number in range(8)]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_forked_process_has_a_sandbox_of_its_own() -> None:
    sandbox = Sandbox()
    sandbox.execute("x=1; sleep 100 & echo kept > f")
    read, write = os.pipe()
    child = os.fork()
    if not child:
        result = sandbox.execute("echo $x; cat f; echo child > f; (exit 3)")
        with Sandbox() as fresh:
            os.write(
                write,
                f"{result.exit_code} {result.stdout}{fresh.execute('echo fresh').stdout}".encode(),
            )
        os._exit(0)
    os.waitpid(child, 0)
    assert os.read(read, 1000) == b"3 1\nkept\nfresh\n"
    assert sandbox.execute("cat f").stdout == "kept\n"
    sandbox.close()
    os.close(read)
    os.close(write)


def test_closed_by_another_thread() -> None:
    sandbox = Sandbox()
    thread = threading.Thread(
        target=lambda: sandbox.execute("sleep 100 & yes > /dev/null &", timeout=1)
    )
    thread.start()
    thread.join()
    sandbox.close()
    assert sandbox.closed


def _in_a_pool(number: int) -> str:
    with Sandbox() as sandbox:
        return sandbox.execute(f"echo {number} | rev").stdout


def test_a_pool_of_processes() -> None:
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        assert pool.map(_in_a_pool, range(6)) == [f"{number}\n" for number in range(6)]


@pytest.mark.parametrize("copying", [pickle.dumps, copy.copy, copy.deepcopy])
def test_a_sandbox_is_neither_pickled_nor_copied(copying: Callable[[object], object]) -> None:
    with Sandbox() as sandbox:
        sandbox.execute("x=1")
        with pytest.raises((TypeError, SandboxError, pickle.PicklingError)):
            copying(sandbox)


def use_and_drop(script: str) -> weakref.ref[Sandbox]:
    sandbox = Sandbox(limits=Limits(timeout=2))
    sandbox.execute(script, timeout=0.05)
    return weakref.ref(sandbox)


OPEN_JOBS = [
    "sleep 100 & sleep 100 &",
    "coproc cat; sleep 100 | cat &",
    "exec 3< <(yes); read x <&3",
    "mkfifo p; cat p & echo x",
    "f() { sleep 100 & }; f; f; trap 'echo x' EXIT",
    "yes > /dev/null & while :; do :; done",
]


def test_dropped_sandboxes_with_open_jobs_are_collected() -> None:
    references = [use_and_drop(script) for script in OPEN_JOBS * 3]
    for _ in range(3):
        gc.collect()
    assert [number for number, reference in enumerate(references) if reference() is not None] == []


def _leave_and_end(sandboxes: list[Sandbox]) -> None:
    """Drop the sandboxes after their thread has ended."""
    thread = threading.Thread(target=_fill, args=(sandboxes,))
    thread.start()
    thread.join(20)
    sandboxes.clear()


def _leave_and_execute(sandboxes: list[Sandbox]) -> None:
    """Drop them while their thread waits, which then executes something else."""
    with ThreadPoolExecutor(1) as pool:
        pool.submit(_fill, sandboxes).result()
        sandboxes.clear()
        with Sandbox() as other:
            assert pool.submit(other.execute, "echo alive").result().stdout == "alive\n"
            gc.collect()
            assert _waiting() == 0


def _leave_and_close(sandboxes: list[Sandbox]) -> None:
    """Close them while their thread waits, which then ends."""
    with ThreadPoolExecutor(1) as pool:
        pool.submit(_fill, sandboxes).result()
        while sandboxes:
            sandboxes.pop().close()


def _leave_in_a_loop(sandboxes: list[Sandbox]) -> None:
    """Execute in the threads of an event loop, drop in the loop."""

    async def work() -> None:
        for _ in range(3):
            await asyncio.to_thread(_fill, sandboxes)
            sandboxes.clear()

    asyncio.run(work())


def _execute_and_end(sandboxes: list[Sandbox]) -> None:
    """Let their thread end while another one executes in them."""
    begun, ending = threading.Event(), threading.Event()

    def work() -> None:
        _fill(sandboxes)
        begun.set()
        ending.wait(20)

    thread = threading.Thread(target=work)
    thread.start()
    begun.wait(20)
    for each in sandboxes:
        each.execute("echo x; sleep 100 &", on_output=lambda *_: ending.set())
    thread.join(20)
    while sandboxes:
        assert sandboxes.pop().execute("jobs; echo alive").stdout.endswith("alive\n")


def _fill(sandboxes: list[Sandbox]) -> None:
    for script in OPEN_JOBS:
        sandboxes.append(Sandbox(limits=Limits(timeout=2)))
        sandboxes[-1].execute(script, timeout=0.05)


def _waiting() -> int:
    """Count the processes that wait in the middle of their work."""
    return sum(
        isinstance(each, greenlet) and bool(each) and each.parent is not None
        for each in gc.get_objects()
    )


# TM-NEXT-5
@pytest.mark.parametrize(
    "leave",
    [_leave_and_end, _leave_and_execute, _leave_and_close, _leave_in_a_loop, _execute_and_end],
)
def test_jobs_of_another_thread_are_freed(leave: Callable[[list[Sandbox]], None]) -> None:
    """Only the thread of a job can end it: it does so when it executes again, or ends."""
    sandboxes: list[Sandbox] = []
    gc.collect()
    before = _waiting()
    leave(sandboxes)
    gc.collect()
    assert _waiting() == before


# TM-NEXT-5
def test_a_thousand_sandboxes_return_their_memory() -> None:
    def use(number: int) -> None:
        sandbox = Sandbox(limits=Limits(timeout=2))
        sandbox.execute("x=1; echo $x | cat > f; sleep 100 & : <(cat)")
        if number % 2:
            sandbox.close()

    for number in range(900):
        use(number)
    gc.collect()
    tracemalloc.start()
    try:
        for number in range(10):
            use(number)
        gc.collect()
        before = tracemalloc.get_traced_memory()[0]
        for number in range(90):
            use(number)
        gc.collect()
        gc.collect()
        grown = tracemalloc.get_traced_memory()[0] - before
    finally:
        tracemalloc.stop()
    assert grown < 100_000, grown


def test_results_of_a_long_session_do_not_pile_up() -> None:
    with Sandbox(limits=Limits(output_bytes=1 << 20)) as sandbox:
        tracemalloc.start()
        try:
            for _ in range(60):
                sandbox.execute("head -c 1000000 /dev/zero")
            kept = tracemalloc.get_traced_memory()[0]
        finally:
            tracemalloc.stop()
    assert kept < 8 << 20, kept


def test_an_awaitable_is_awaited_once() -> None:
    async def run() -> None:
        with Sandbox() as sandbox:
            waiting: Awaitable[object] = sandbox.aexecute("echo x")
            await waiting
            with pytest.raises(RuntimeError):
                await waiting

    asyncio.run(run())
