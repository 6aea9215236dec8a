"""Deep recursion: scripts nest a thousand levels while the host's recursion limit stays as it
is.
"""

from __future__ import annotations

import asyncio
import contextvars
import gc
import sys
import threading
import weakref

import pytest

from agentsandbox import Limits, Sandbox
from agentsandbox.contract.command import Arguments, CommandContext, command

COUNT = "f() { if (( $1 > 0 )); then %s; else %s; fi; }; f %d"
"""A function that calls itself in some way, what it does in the end, and how often."""


def recursion(call: str, end: str, count: int) -> str:
    return COUNT % (call, end, count)


DEEP = {
    "function": (recursion("f $(( $1 - 1 ))", "echo end", 990), "end\n"),
    "status": (
        recursion("f $(( $1 - 1 )); return $(( $? + 1 ))", "return 3", 200) + "; echo $?",
        "203\n",
    ),
    "substitution": (recursion("echo $(f $(( $1 - 1 )))", "echo end", 320), "end\n"),
    "subshell": (recursion("( f $(( $1 - 1 )) )", "echo end", 480), "end\n"),
    "eval": (recursion('eval "f $(( $1 - 1 ))"', "echo end", 480), "end\n"),
    "loops": (
        recursion((
            "for i in 1; do while :; do case x in x) { f $(( $1 - 1 )); } ;; esac; break; "
            "done; done"
        ), "echo end", 400),
        "end\n",
    ),
    "pipeline": (recursion("echo | f $(( $1 - 1 )) | cat", "echo end", 300), "end\n"),
    "job": (recursion("f $(( $1 - 1 )) & wait", "echo end", 200), "end\n"),
    "command": (f"{'env ' * 900} echo end", "end\n"),
    "file": ("echo 'if (( n-- > 0 )); then . ./s; else echo end; fi' > s; n=900; . ./s", "end\n"),
    "script": (
        (
            "printf '%s\\n' 'if (( $1 > 0 )); then ./s $(( $1 - 1 )); else echo end; fi' > s; "
            "chmod +x s; ./s 200"
        ),
        "end\n"
    ),
    "trap": ((
        "n=900; trap 'if (( n-- > 0 )); then kill -USR1 $$; fi' USR1; kill -USR1 $$; echo $n"
    ), "-1\n"),
    "arithmetic": ((
        "x0=7; for ((i = 1; i <= 470; i++)); do eval x$i=x$((i - 1)); done; echo $((x470))"
    ), "7\n"),
    "awk": ("awk 'function f(n) { return n ? 1 + f(n - 1) : 0 } BEGIN { print f(980) }'", "980\n"),
    "awk arrays": (
        (
            "awk 'function f(n, a) { a[n]; return n ? f(n - 1, a) : length(a) } BEGIN { b[0]; "
            "print f(500, b) }'"
        ),
        "501\n"
    ),
    "jq": ("jq -n 'def f: if . > 0 then 1 + (. - 1 | f) else 0 end; 900 | f'", "900\n"),
}  # fmt: skip


@pytest.mark.parametrize("name", DEEP)
def test_deep_recursion(name: str) -> None:
    before = sys.getrecursionlimit()
    with Sandbox(limits=Limits(timeout=60)) as sandbox:
        result = sandbox.execute(DEEP[name][0])
    assert (result.stdout, result.stderr, result.exit_code) == (DEEP[name][1], "", 0)
    assert sys.getrecursionlimit() == before


# TM-MEM-4
@pytest.mark.parametrize(
    "call", ["f", "( f )", "x=$(f)", "eval f", "f | f", "for i in 1; do ! { f; }; done", ". ./s"]
)
def test_recursion_without_end(call: str) -> None:
    with Sandbox(limits=Limits(timeout=60), files={"s": "f"}) as sandbox:
        result = sandbox.execute(f"f() {{ {call}; }}; f")
        assert (result.exit_code, result.limit) == (137, "depth")
        assert sandbox.execute("echo still here").stdout == "still here\n"


def test_what_unwinds_passes_from_stack_to_stack() -> None:
    with Sandbox() as sandbox:
        assert (
            sandbox.execute(recursion("f $(( $1 - 1 )); echo not here", "exit 7", 100)).exit_code
            == 7
        )
        script = (
            "for i in 1 2; do "
            + recursion("f $(( $1 - 1 ))", "echo $i; return 3", 60)
            + "; echo $?; done"
        )
        assert sandbox.execute(script).stdout == "1\n3\n2\n3\n"
        result = sandbox.execute(
            "set -u; " + recursion("f $(( $1 - 1 ))", 'echo "$nothing"', 60) + "; echo not here"
        )
        assert (result.stdout, result.exit_code) == ("", 127)
        assert result.stderr.endswith("nothing: unbound variable\n")
        assert (
            sandbox.execute(
                "set +u; trap 'echo bye' EXIT; " + recursion("f $(( $1 - 1 ))", "kill $$", 60)
            ).stdout
            == "bye\n"
        )
        assert (
            sandbox.execute(recursion("f $(( $1 - 1 ))", "yes", 60) + " | head -n 2").stdout
            == "y\ny\n"
        )
        result = sandbox.execute(recursion("f $(( $1 - 1 ))", "sleep 60", 60), timeout=0.1)
        assert (result.exit_code, result.limit) == (124, "timeout")


def test_a_command_of_the_host_deep_in_a_script() -> None:
    variable: contextvars.ContextVar[str] = contextvars.ContextVar("variable")
    variable.set("seen")
    seen: list[object] = []

    @command("look", usage="Usage: look\nLook at the host.")
    def look(ctx: CommandContext, args: Arguments) -> int:
        seen.extend([variable.get("nothing"), sys.getrecursionlimit()])
        if len(seen) > 4:
            raise ValueError("an error of the host")
        return 0

    limit = sys.getrecursionlimit()
    with Sandbox(commands=[look]) as sandbox:
        sandbox.execute("look; " + recursion("f $(( $1 - 1 ))", "look", 100))
        assert seen == ["seen", limit, "seen", limit]
        assert sandbox.execute(recursion("f $(( $1 - 1 ))", "look", 100)).exit_code == 70
        assert sandbox.execute("echo $(( 1 + 1 ))").stdout == "2\n"


def test_an_asynchronous_command_deep_in_a_script() -> None:
    @command("nap", usage="Usage: nap\nWait in the host's loop.")
    async def nap(ctx: CommandContext, args: Arguments) -> int:
        await asyncio.sleep(0.001)
        ctx.print("rested")
        return 0

    async def main() -> None:
        async with Sandbox(commands=[nap]) as sandbox:
            script = recursion("f $(( $1 - 1 ))", "nap; nap", 100)
            results = await asyncio.gather(*[sandbox.aexecute(script) for _ in range(3)])
            assert [result.stdout for result in results] == ["rested\nrested\n"] * 3
            busy = asyncio.create_task(
                sandbox.aexecute(recursion("f $(( $1 - 1 ))", "while :; do :; done", 100))
            )
            await asyncio.sleep(0.02)
            busy.cancel()
            with pytest.raises(asyncio.CancelledError):
                await busy
            assert (await sandbox.aexecute("echo here")).stdout == "here\n"

    asyncio.run(main())


def test_a_job_deep_in_a_script_outlives_its_call() -> None:
    with Sandbox() as sandbox:
        end = "{ read -r x < fifo; echo got $x > out; } & return"
        sandbox.execute("mkfifo fifo; " + recursion("f $(( $1 - 1 ))", end, 60))
        sandbox.execute(
            "g() { if (( $1 > 0 )); then g $(( $1 - 1 )); else read -r y < fifo; "
            "echo $y > out2; fi; }; g 60 &"
        )
        assert (
            sandbox.execute("echo 1 > fifo; echo 2 > fifo; wait; cat out out2 | sort").exit_code
            == 0
        )
        assert sandbox.execute("cat out out2 | wc -l").stdout == "2\n"
        sandbox.execute(
            "g() { if (( $1 > 0 )); then g $(( $1 - 1 )); else read -r y < fifo; fi; }; "
            "g 60 & g 70 & g 80 &"
        )
        sandbox.execute("jobs -p; kill %1; wait %1")


def test_a_stream_that_is_dropped_deep_in_a_script() -> None:
    sandbox = Sandbox()
    chunks = sandbox.stream(recursion("f $(( $1 - 1 ))", "while :; do echo x; done", 100))
    assert next(iter(chunks)) == ("stdout", b"x\n")
    chunks.close()
    assert sandbox.execute("echo here").stdout == "here\n"
    chunks = sandbox.stream(recursion("f $(( $1 - 1 ))", "while :; do echo x; done", 100))
    next(iter(chunks))
    gone = weakref.ref(sandbox)
    del sandbox, chunks
    gc.collect()
    assert gone() is None


def test_threads_have_stacks_of_their_own() -> None:
    outcomes: list[str] = []

    def work() -> None:
        with Sandbox(limits=Limits(timeout=60)) as sandbox:
            outcomes.append(sandbox.execute(recursion("f $(( $1 - 1 ))", "echo end", 500)).stdout)

    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert outcomes == ["end\n"] * 3


def test_a_sandbox_within_a_command_of_another() -> None:
    @command("inner", usage="Usage: inner\nRun a script in another sandbox.")
    def inner(ctx: CommandContext, args: Arguments) -> int:
        with Sandbox() as other:
            ctx.stdout.write(
                other.execute(recursion("f $(( $1 - 1 ))", "echo inside", 300)).stdout_bytes
            )
        return 0

    with Sandbox(commands=[inner]) as sandbox:
        assert sandbox.execute(recursion("f $(( $1 - 1 ))", "inner", 300)).stdout == "inside\n"


def test_a_host_that_is_deep_itself() -> None:
    def deep(levels: int) -> str:
        return (
            deep(levels - 1)
            if levels
            else sandbox.execute(recursion("f $(( $1 - 1 ))", "echo end", 500)).stdout
        )

    with Sandbox() as sandbox:
        sandbox.execute("f() { :; }; f")
        assert deep(300) == "end\n"
