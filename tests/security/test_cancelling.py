"""A script that is cancelled at any look at the clock ends, says so, and leaves a sandbox in which
the next call works and the filesystem is whole.

The scripts are put together from things that run long and from what surrounds them; each is
cancelled at seeded numbers of looks, once by `Sandbox.cancel` and once by the task that waits.
"""

from __future__ import annotations

import random
from collections.abc import Callable

import anyio
import pytest

from agentsandbox import CommandContext, Limits, Sandbox
from agentsandbox.contract.command import Arguments, command
from agentsandbox.kernel.budget import Budget

LONG = {
    "sort": "seq 300000 | sort -r | sort -n > sorted",
    "jq": "jq -n '[range(10000000)] | add'",
    "tar": "while :; do tar cf t.tar tree; tar xf t.tar -C out; done",
    "sqlite3": (
        "sqlite3 db 'WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) "
        "SELECT count(*) FROM c'"
    ),
    "sleep": "sleep 60",
    "wait": "while :; do :; done & sleep 60 & wait",
    "read": "read x < <(while :; do :; done)",
    "awk": "awk 'BEGIN { while (1) n++ }'",
    "loop": "while :; do x=$(echo y); done",
}
AROUND = {
    "alone": "{}",
    "in a trap": "trap '{}' EXIT; exit 3",
    "in a signal's trap": "trap '{}' USR1; kill -USR1 $$; :",
    "with an exit trap": "trap 'echo late > late' EXIT; {}",
    "in a substitution": "x=$({})",
    "in a pipe": "{} | cat",
    "in a function": "f() {{ local y=1; {}; }}; f",
}


def scripts() -> list[object]:
    found: list[object] = []
    for number, (around, template) in enumerate(AROUND.items()):
        for name, script in LONG.items():
            if "'{}'" in template:
                script = script.replace("'", "'\\''")
            found.append(pytest.param(template.format(script), number, id=f"{name} {around}"))
    return found


@command("patient", usage="Usage: patient")
async def patient(ctx: CommandContext, args: Arguments) -> int:
    """Wait in the event loop, as a command of a host may."""
    for event in _WAITING:
        event.set()
    await anyio.sleep(60)
    return 0


_WAITING: list[anyio.Event] = []
"""What `patient` sets when it begins to wait."""


def _sandbox() -> Sandbox:
    sandbox = Sandbox(limits=Limits(timeout=20), commands=[patient])
    sandbox.execute("mkdir -p tree/a out; echo text > tree/a/f; echo kept > kept")
    return sandbox


def _check_next(sandbox: Sandbox) -> None:
    """Check that the next call works, on a whole filesystem, and runs no trap of the last one."""
    result = sandbox.execute(
        "cat kept tree/a/f; [ ! -e late ]; echo $?; trap -p EXIT; echo new > new; cat new"
    )
    assert (result.exit_code, result.limit, result.stderr) == (0, None, "")
    assert result.stdout == "kept\ntext\n0\nnew\n"
    assert sandbox.execute("rm -r tree out kept new; echo *.none").stdout == "*.none\n"


def _at_look(
    monkeypatch: pytest.MonkeyPatch, number: int, act: Callable[[], object]
) -> Callable[[], bool]:
    """Call `act` at the look of this number; return whether that was."""
    check_time = Budget.check_time
    seen = 0

    def check(budget: Budget) -> None:
        nonlocal seen
        seen += 1
        if seen == number:
            act()
        check_time(budget)

    monkeypatch.setattr(Budget, "check_time", check)
    return lambda: seen >= number


@pytest.mark.parametrize(("script", "seed"), scripts()[1::3])
def test_a_script_ends_at_the_look_at_which_it_is_cancelled(
    script: str, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    number = random.Random(f"{script}{seed}").choice([1, 2, 3, 5, 10, 20])
    with _sandbox() as sandbox, monkeypatch.context() as patched:
        reached = _at_look(patched, number, sandbox.cancel)

        async def run() -> None:
            async with anyio.create_task_group() as group:
                group.start_soon(sandbox.aexecute, script)
                for _ in range(20):  # a script that sleeps looks at no clock
                    await anyio.sleep(0.01)
                    if reached():
                        break
                sandbox.cancel()

        anyio.run(run)
        patched.undo()
        assert (sandbox.history[-1].limit, sandbox.history[-1].exit_code) == ("cancelled", 130)
        _check_next(sandbox)


@pytest.mark.parametrize(
    ("script", "seed"), [*scripts()[::3], pytest.param("patient", 0, id="a command of the host")]
)
def test_the_task_that_waits_is_cancelled(script: str, seed: int) -> None:
    delay = random.Random(f"{seed}{script}").uniform(0.001, 0.06)
    with _sandbox() as sandbox:

        async def run() -> bool:
            with anyio.move_on_after(delay) as scope:
                await sandbox.aexecute(script)
            return scope.cancelled_caught

        assert anyio.run(run)
        assert sandbox.history[-1].limit == "cancelled"
        _check_next(sandbox)


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
@pytest.mark.parametrize(
    "script",
    ["patient; echo after", "patient | cat", "x=$(patient); echo after", "trap patient EXIT; :"],
)
def test_a_command_of_the_host_that_waits_is_cancelled(script: str, backend: str) -> None:
    with Sandbox(limits=Limits(timeout=20), commands=[patient]) as sandbox:

        async def run() -> None:
            async with anyio.create_task_group() as group:
                group.start_soon(sandbox.aexecute, script)
                await is_waiting.wait()
                sandbox.cancel()
            assert not (await sandbox.aexecute("echo next")).limit

        is_waiting = anyio.Event()
        _WAITING[:] = [is_waiting]
        anyio.run(run, backend=backend)
        ended = sandbox.history[-2]
        assert (ended.limit, ended.exit_code, ended.stdout) == ("cancelled", 130, "")


def test_the_host_cancels_the_task_and_the_execution_at_once() -> None:
    with Sandbox(limits=Limits(timeout=20), commands=[patient]) as sandbox:

        async def run() -> bool:
            is_waiting = anyio.Event()
            _WAITING[:] = [is_waiting]
            with anyio.CancelScope() as scope:
                async with anyio.create_task_group() as group:
                    group.start_soon(sandbox.aexecute, "patient")
                    await is_waiting.wait()
                    sandbox.cancel()
                    scope.cancel()
            return scope.cancelled_caught

        assert anyio.run(run)
        assert sandbox.execute("echo next").stdout == "next\n"


@pytest.mark.parametrize("limits", [{"timeout": 0.05}, {"steps": 5000}, {"output_bytes": 100}])
def test_the_exit_trap_of_a_call_that_a_limit_ended_does_not_run_in_the_next(
    limits: dict[str, float],
) -> None:
    with Sandbox(limits=Limits(**limits)) as sandbox:  # type: ignore[arg-type]
        script = "trap 'echo late' EXIT; while :; do echo aaaaaaaaaaaaaaa; done"
        if "output_bytes" not in limits:
            script = script.replace("echo aaaaaaaaaaaaaaa", ":")
        assert sandbox.execute(script).limit == next(iter(limits))
        assert sandbox.execute("echo next").stdout == "next\n"
        assert sandbox.execute("trap").stdout == ""
