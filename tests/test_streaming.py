"""Output as it appears, and scripts that the host ends: `stream`, `astream`, `cancel`, `async
with`.
"""

from __future__ import annotations

import asyncio
import gc
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
import trio

from agentsandbox import Limits, Sandbox, SandboxError, SandboxManager
from agentsandbox.contract.command import Arguments, CommandContext, command
from agentsandbox.runtime.streaming import OutputStream

LOOPS = pytest.mark.parametrize(
    "run", [asyncio.run, lambda main: trio.run(lambda: main)], ids=["asyncio", "trio"]
)

WAITING = [
    "sleep 60", "while :; do :; done", "sleep 60 & wait", "cat <(sleep 60)", "{ sleep 60; } | cat",
    "x=$(sleep 60)", "(sleep 60)",
    "timeout 60 sleep 60", "read x < <(sleep 60)", "trap 'while :; do :; done' EXIT; sleep 60",
    "awk 'BEGIN { while (1) {} }'",
    "sed -n ':a; ba' <<< x", "jq -n 'def f: f; f'", "yes | while read x; do :; done",
    "coproc sleep 60; wait",
]  # fmt: skip


def check_after(sandbox: Sandbox) -> None:
    """The sandbox is free, and as good as before."""
    assert (sandbox._running, sandbox._is_taken) == (None, False)
    result = sandbox.execute("x=1; echo alive; sleep 0.01", state="new")  # no traps
    assert (result.stdout, result.limit, sandbox.fs.uid) == ("alive\n", None, 0)
    thread = threading.Thread(target=lambda: sandbox.execute("touch /tmp/other", state="new"))
    thread.start()
    thread.join(10)
    assert not thread.is_alive()


# stream


def test_chunks_come_as_they_appear() -> None:
    seen: list[object] = []

    @command("note", usage="Usage: note\n")
    def note(ctx: CommandContext, args: Arguments) -> int:
        seen.append("note")
        return 0

    with Sandbox(commands=[note]) as sandbox:
        chunks = sandbox.stream('echo "$1"; note; echo err >&2; cat; x=1', args=["a"], stdin="in")
        with pytest.raises(SandboxError, match="has not ended"):
            _ = chunks.result
        seen.extend(chunks)
        assert seen == [("stdout", b"a\n"), "note", ("stderr", b"err\n"), ("stdout", b"in")]
        assert (chunks.result.output, chunks.result.exit_code) == ("a\nerr\nin", 0)
        assert sandbox.history[-1] is chunks.result
        assert list(chunks) == []
        assert sandbox.execute("echo $x").stdout == "1\n"


def test_chunks_of_several_processes() -> None:
    with Sandbox() as sandbox:
        beside = (
            "for i in 1 2; do echo $i; sleep 0.01; done & for i in a b; do echo $i; "
            "sleep 0.015; done; wait"
        )
        script = f"{beside}; seq 30000 | sort -n | tail -n 1"
        assert sorted(list(sandbox.stream(script))[:4]) == [
            ("stdout", data) for data in (b"1\n", b"2\n", b"a\n", b"b\n")
        ]
        check_after(sandbox)
        chunks = sandbox.stream(script)
        assert b"".join(data for _, data in chunks).endswith(b"30000\n")
        assert chunks.result.success


def test_a_reader_takes_its_time() -> None:
    """What the reader does between two chunks does not count against the script's timeout."""
    with Sandbox(limits=Limits(timeout=0.4)) as sandbox:
        chunks = sandbox.stream("echo a; echo b; while :; do :; done")
        assert next(chunks) == ("stdout", b"a\n")
        time.sleep(0.6)
        assert next(chunks) == ("stdout", b"b\n")
        assert [stream for stream, _ in chunks] == ["stderr"]
        assert (chunks.result.limit, chunks.result.exit_code) == ("timeout", 124)


ENDLESS = [
    "yes",
    "echo x; sleep 60",
    "yes | cat",
    "(yes) & wait",
    "trap 'yes' EXIT; yes",
    "yes | tee /dev/stderr",
]


@pytest.mark.parametrize("script", ENDLESS)
def test_a_broken_off_loop_cancels_the_script(script: str) -> None:
    with Sandbox() as sandbox:
        for _ in sandbox.stream(script):
            break
        assert (sandbox.history[-1].limit, sandbox.history[-1].exit_code) == ("cancelled", 130)
        check_after(sandbox)
        with sandbox.stream(script) as chunks:
            next(chunks)
        assert chunks.result.limit == "cancelled"
        chunks.close()
        check_after(sandbox)


def test_a_forgotten_stream_lets_go_of_the_sandbox() -> None:
    sandbox = Sandbox()
    unread = sandbox.stream("echo never > f")
    del unread
    held = sandbox.stream("yes")
    next(held)
    holder = {"chunks": held}
    holder["self"] = holder  # type: ignore[assignment]
    del held, holder
    gc.collect()
    check_after(sandbox)
    assert not sandbox.fs.exists("/workspace/f")


def test_while_a_stream_is_read_the_sandbox_is_busy() -> None:
    with Sandbox() as sandbox:
        for _ in sandbox.stream("echo a; echo b"):
            with pytest.raises(SandboxError, match="is executing a script"):
                sandbox.execute("echo")
            with pytest.raises(SandboxError, match="is executing a script"):
                next(sandbox.stream("echo"))
            assert sandbox.stats().is_executing
        check_after(sandbox)


def test_streams_of_two_sandboxes_take_turns() -> None:
    with Sandbox() as one, Sandbox() as two:
        pairs = zip(
            one.stream("for i in 1 2 3; do echo $i; done"),
            two.stream("seq 9 | while read x; do echo $x; done"),
            strict=False,
        )
        assert [(first[1], second[1]) for first, second in pairs] == [
            (b"1\n", b"1\n"),
            (b"2\n", b"2\n"),
            (b"3\n", b"3\n"),
        ]
        del pairs
        check_after(one)
        check_after(two)


def test_what_the_host_raises_ends_the_stream() -> None:
    @command("interrupt", usage="Usage: interrupt\n")
    def interrupt(ctx: CommandContext, args: Arguments) -> int:
        raise KeyboardInterrupt

    with Sandbox(commands=[interrupt]) as sandbox:
        with pytest.raises(KeyboardInterrupt):
            list(sandbox.stream("echo a; interrupt; echo b"))
        check_after(sandbox)


@LOOPS
def test_astream(run) -> None:
    async def main() -> None:
        async with Sandbox() as sandbox:
            chunks = sandbox.astream("echo a; sleep 0.02; echo b >&2; seq 50000 | tail -n 1")
            assert [chunk async for chunk in chunks] == [
                ("stdout", b"a\n"),
                ("stderr", b"b\n"),
                ("stdout", b"50000\n"),
            ]
            assert chunks.result.exit_code == 0
            async with sandbox.astream("yes") as chunks:
                async for _ in chunks:
                    break
            assert (chunks.result.limit, (await sandbox.aexecute("echo fine")).stdout) == (
                "cancelled",
                "fine\n",
            )
            async for _ in sandbox.astream("yes"):
                break
            check_after(sandbox)
            await sandbox.astream("echo").aclose()
            check_after(sandbox)

    run(main())


@LOOPS
def test_other_tasks_wait_for_an_astream(run) -> None:
    order: list[str] = []

    async def read(sandbox: Sandbox, name: str, pause) -> None:
        async for _, data in sandbox.astream(f"for i in 1 2; do echo {name}$i; sleep 0.005; done"):
            order.append(data.decode().strip())
            await pause(0.005)

    async def main() -> None:
        async with Sandbox() as sandbox:
            if run is asyncio.run:
                await asyncio.gather(
                    read(sandbox, "a", asyncio.sleep), read(sandbox, "b", asyncio.sleep)
                )
            else:
                async with trio.open_nursery() as nursery:
                    nursery.start_soon(read, sandbox, "a", trio.sleep)
                    nursery.start_soon(read, sandbox, "b", trio.sleep)

    run(main())
    assert sorted(order) == ["a1", "a2", "b1", "b2"]
    assert order in (["a1", "a2", "b1", "b2"], ["b1", "b2", "a1", "a2"])


def test_a_task_that_reads_can_be_cancelled() -> None:
    async def read(sandbox: Sandbox) -> None:
        async for _ in sandbox.astream("echo a; sleep 60"):
            pass

    async def main() -> None:
        sandbox = Sandbox()
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(read(sandbox), 0.1)
        check_after(sandbox)

    asyncio.run(main())


# cancel


def cancel_soon(sandbox: Sandbox) -> None:
    """Cancel what runs a tenth of a second after it has begun."""
    while sandbox._running is None:
        time.sleep(0.01)
    time.sleep(0.1)
    sandbox.cancel()


@pytest.mark.parametrize("script", WAITING)
def test_another_thread_cancels(script: str) -> None:
    with Sandbox(limits=Limits(timeout=30)) as sandbox:
        sandbox.execute("x=kept; cd /tmp")
        began = time.monotonic()
        timer = threading.Thread(target=cancel_soon, args=(sandbox,))
        timer.start()
        result = sandbox.execute(f"echo before; {script}")
        timer.join()
        assert (result.exit_code, result.limit, result.stdout) == (130, "cancelled", "before\n")
        assert time.monotonic() - began < 15
        assert sandbox.execute("trap - EXIT; echo $x; pwd").stdout == "kept\n/tmp\n"
        assert not sandbox.cancel()
        check_after(sandbox)


@pytest.mark.parametrize("script", WAITING)
def test_another_task_cancels(script: str) -> None:
    async def main() -> None:
        async with Sandbox() as sandbox:
            task = asyncio.create_task(sandbox.aexecute(f"echo before; {script}"))
            await asyncio.sleep(0.05)
            assert sandbox.cancel()
            result = await task
            assert (result.exit_code, result.limit, result.stdout) == (130, "cancelled", "before\n")
            check_after(sandbox)

    asyncio.run(main())


def test_trio_is_woken_by_another_thread() -> None:
    async def main() -> None:
        async with Sandbox() as sandbox:

            def cancel() -> None:
                while not sandbox.cancel():  # the script has not begun
                    time.sleep(0.05)

            other = threading.Thread(target=cancel)
            other.start()
            result = await sandbox.aexecute("sleep 60")
            assert (result.exit_code, result.limit) == (130, "cancelled")
            other.join()

    trio.run(main)


def test_a_command_of_the_host_may_cancel() -> None:
    @command("stop", usage="Usage: stop\n")
    def stop(ctx: CommandContext, args: Arguments) -> int:
        assert sandbox.cancel()
        return 0

    sandbox = Sandbox(commands=[stop])
    result = sandbox.execute("echo a; stop; while :; do :; done")
    assert (result.stdout, result.exit_code, result.limit) == ("a\n", 130, "cancelled")
    check_after(sandbox)


# closing


def test_closing_cancels_what_runs() -> None:
    sandbox = Sandbox()
    results = []
    thread = threading.Thread(target=lambda: results.append(sandbox.execute("echo a; sleep 60")))
    thread.start()
    while not sandbox.stats().is_executing:
        time.sleep(0.01)
    sandbox.close()
    thread.join(10)
    assert (results[0].stdout, results[0].limit, sandbox.closed) == ("a\n", "cancelled", True)


def test_closing_from_inside() -> None:
    sandbox = Sandbox()
    result = sandbox.execute(
        "echo a; while :; do :; done", on_output=lambda stream, data: sandbox.close()
    )
    assert (result.stdout, result.limit) == ("a\n", "cancelled")
    assert sandbox._shell is None


@LOOPS
def test_leaving_async_with_waits_for_the_others(run) -> None:
    results = []

    async def work(sandbox: Sandbox) -> None:
        results.append(await sandbox.aexecute("echo a; sleep 60"))

    async def main() -> None:
        if run is asyncio.run:
            async with Sandbox() as sandbox:
                task = asyncio.create_task(work(sandbox))
                await asyncio.sleep(0.05)
            await task
        else:
            async with trio.open_nursery() as nursery, Sandbox() as sandbox:
                nursery.start_soon(work, sandbox)
                await trio.sleep(0.05)
        assert (sandbox.closed, sandbox._shell) == (True, None)

    run(main())
    assert (results[0].stdout, results[0].limit) == ("a\n", "cancelled")


@LOOPS
def test_a_manager_in_async_with(run) -> None:
    async def main() -> None:
        async with SandboxManager() as manager:
            sandbox = manager.create("a")
            assert (await sandbox.aexecute("echo a")).stdout == "a\n"
        assert sandbox.closed

    run(main())


def _begin(sandbox: Sandbox, script: str) -> list[OutputStream]:
    stream = sandbox.stream(script)
    next(stream)
    return [stream]


def test_a_stream_belongs_to_the_thread_that_began_it() -> None:
    """Another thread cannot read it, whatever its number, and when it is forgotten or its thread
    ends the sandbox is free again.
    """
    script = "while :; do echo y; done"
    with Sandbox(limits=Limits(timeout=10)) as sandbox, Sandbox() as other:
        with ThreadPoolExecutor(1) as pool:
            begun = pool.submit(_begin, sandbox, script).result()
            with pytest.raises(SandboxError, match="read in the thread that began"):
                next(begun[0])
            with pytest.raises(SandboxError, match="closed in the thread that began"):
                begun[0].close()
            begun.clear()
            gc.collect()
            pool.submit(other.execute, "echo other").result()
            assert sandbox.execute("echo alive").stdout == "alive\n"
            begun = pool.submit(_begin, sandbox, script).result()
        for _ in range(3):  # one of these has the number of the thread that has ended
            with ThreadPoolExecutor(1) as pool, pytest.raises(SandboxError, match="in the thread"):
                pool.submit(next, begun[0]).result()
        assert begun[0].result.limit == "cancelled"
        assert sandbox.execute("echo alive").stdout == "alive\n"
