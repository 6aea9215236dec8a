"""Every limit holds through every way in, and however a script spends it; what a command is given
leads to nothing of the host.
"""

from __future__ import annotations

import asyncio
import io
import json
import os
import socket
import threading
from collections.abc import Callable
from time import monotonic
from types import FunctionType, MethodType, ModuleType

import pytest

from agentsandbox import AgentSkill, Arguments, CommandContext, Limits, Sandbox
from agentsandbox.cli import main
from agentsandbox.contract.command import command
from agentsandbox.profiles.agentsandbox import sandbox_tool

SPENDING = {
    "timeout": (0.3, "while :; do :; done", 124, ""),
    "steps": (20_000, "while :; do :; done", 137, ""),
    "depth": (40, "f() { f; }; f", 137, ""),
    "output_bytes": (2000, "while :; do echo some output; done", 137, ""),
    "value_bytes": (100_000, "x=a; while :; do x=$x$x; done", 137, ""),
    "file_bytes": (100_000, "head -c 200000 /dev/zero > f; wc -c < f", None, "File too large"),
    "total_bytes": (
        200_000,
        "for i in 1 2 3 4 5; do head -c 90000 /dev/zero > f$i; done",
        None,
        "No space left on device",
    ),
    "files": (90, "for i in {1..200}; do : > f$i; done", None, "No space left on device"),
}
"""The value of a limit, a script that needs more, and how that ends: a status, or what the script
is told."""

WAYS = {
    "direct": "{}",
    "function": "g() {{ {}\n}}; g",
    "subshell": "( {} )",
    "substitution": 'x=$({}); echo "$x"',
    "pipe": "{{ {}\n}} | cat",
    "reader": ": | {{ {}\n}}",
    "eval": "eval '{}'",
    "source": ". /dev/stdin <<'END'\n{}\nEND",
    "trap": "trap '{}' EXIT",
    "bash": "bash -c '{}'",
    "script": "cat > s <<'END'\n{}\nEND\nbash s",
    "xargs": "echo | xargs bash -c '{}'",
    "find": "find . -maxdepth 0 -exec bash -c '{}' \\;",
    "background": "{{ {}\n}} & wait",
    "process substitution": "cat <({})",
    "awk": "awk 'BEGIN {{ system(\"{}\") }}'",
    "env": "env -i PATH=/bin bash -c '{}'",
    "timeout": "timeout 50 bash -c '{}'",
}


def limits_of(name: str) -> Limits:
    return Limits(timeout=20).replace(**{name: SPENDING[name][0]})


def check(name: str, status: int, output: str) -> None:
    _, _, expected, message = SPENDING[name]
    if expected is not None:
        assert status == expected, output[-300:]
    assert message in output


@pytest.mark.parametrize("name", SPENDING)
@pytest.mark.parametrize("way", WAYS)
def test_however_a_script_spends_it(way: str, name: str) -> None:
    with Sandbox(limits=limits_of(name)) as sandbox:
        result = sandbox.execute(WAYS[way].format(SPENDING[name][1]))
        reached = (
            "value_bytes" if (way, name) == ("substitution", "output_bytes") else name
        )  # what is kept is no output yet
        assert result.limit == (reached if SPENDING[name][2] is not None else None)
        check(name, result.exit_code, result.stderr + result.stdout)
        assert sandbox.fs.used_bytes <= 128 << 20
        assert sandbox.execute("rm -f f* s; echo alive").stdout == "alive\n"


def by_execute(limits: Limits, script: str) -> tuple[int, str]:
    with Sandbox(limits=limits) as sandbox:
        result = sandbox.execute(script)
        return result.exit_code, result.stdout + result.stderr


def by_aexecute(limits: Limits, script: str) -> tuple[int, str]:
    with Sandbox(limits=limits) as sandbox:
        result = asyncio.run(sandbox.aexecute(script))
        return result.exit_code, result.stdout + result.stderr


def by_isolation(limits: Limits, script: str) -> tuple[int, str]:
    with Sandbox(limits=limits) as sandbox:
        result = sandbox.execute(script, state="discard")
        return result.exit_code, result.stdout + result.stderr


def by_fork(limits: Limits, script: str) -> tuple[int, str]:
    with Sandbox(limits=limits) as sandbox, sandbox.fork() as twin:
        result = twin.execute(script)
        return result.exit_code, result.stdout + result.stderr


def by_skill(limits: Limits, script: str) -> tuple[int, str]:
    skill = AgentSkill.from_files(
        {"SKILL.md": "---\nname: s\ndescription: d\n---\n", "scripts/a.sh": f"cd /tmp; {script}\n"}
    )
    with Sandbox(limits=limits, skills=[skill]) as sandbox:
        sandbox.skills.load(["s"])
        result = sandbox.skills.run_script("scripts/a.sh")
        return result.exit_code, result.stdout + result.stderr


def by_skill_in_a_loop(limits: Limits, script: str) -> tuple[int, str]:
    skill = AgentSkill.from_files(
        {"SKILL.md": "---\nname: s\ndescription: d\n---\n", "scripts/a.sh": f"cd /tmp; {script}\n"}
    )
    with Sandbox(limits=limits, skills=[skill]) as sandbox:
        sandbox.skills.load(["s"])
        result = asyncio.run(sandbox.skills.arun_script("scripts/a.sh"))
        return result.exit_code, result.stdout + result.stderr


def by_tool(limits: Limits, script: str) -> tuple[int, str]:
    with Sandbox(limits=limits) as sandbox:
        answer = json.loads(sandbox_tool(sandbox).call({"command": script}))
        return answer["exitCode"], answer["output"] + (answer["error"] or "")


def by_command(limits: Limits, script: str) -> tuple[int, str]:
    @command("own", "usage: own")
    def own(ctx: CommandContext, args: Arguments) -> int:
        del args
        return ctx.run(["bash", "-c", script])

    with Sandbox(limits=limits, commands=[own]) as sandbox:
        result = sandbox.execute("own")
        return result.exit_code, result.stdout + result.stderr


ENTRIES: list[Callable[[Limits, str], tuple[int, str]]] = [
    by_execute, by_aexecute, by_isolation, by_fork, by_skill, by_skill_in_a_loop, by_tool, by_command,
]  # fmt: skip


# TM-TIME-1
@pytest.mark.parametrize("name", SPENDING)
@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.__name__)
def test_through_every_way_in(entry: Callable[[Limits, str], tuple[int, str]], name: str) -> None:
    began = monotonic()
    status, output = entry(limits_of(name), SPENDING[name][1])
    check(name, status, output)
    assert monotonic() - began < 10


@pytest.mark.parametrize("name", SPENDING)
def test_through_the_command_line(
    name: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO()))
    status = main(
        [
            "run",
            "--limit",
            "timeout=20",
            "--limit",
            f"{name}={SPENDING[name][0]}",
            SPENDING[name][1],
        ]
    )
    captured = capsys.readouterr()
    check(name, int(status or 0), captured.out + captured.err)


# TM-LIMIT-1
@pytest.mark.parametrize("value", [0, -1, float("nan"), float("inf"), True, "5", None])
@pytest.mark.parametrize("name", SPENDING)
def test_no_value_means_without_a_limit(name: str, value: object) -> None:
    with pytest.raises((TypeError, ValueError)):
        Limits(**{name: value})  # type: ignore[arg-type]


def test_a_call_may_ask_for_less_time_but_not_for_more() -> None:
    with Sandbox(limits=Limits(timeout=0.3)) as sandbox:
        began = monotonic()
        assert sandbox.execute("while :; do :; done", timeout=1000).limit == "timeout"
        assert monotonic() - began < 3


HOST = (ModuleType, io.IOBase, socket.socket, type(os.environ), threading.Thread)


def held_by(value: object) -> list[object]:
    """What an object holds: attributes, items, and what functions close over; not what any code can
    import.
    """
    found: list[object] = []
    for kind in type(value).__mro__:
        slots = kind.__dict__.get("__slots__", ())
        found += [
            getattr(value, slot, None) for slot in ((slots,) if isinstance(slots, str) else slots)
        ]
    if not isinstance(value, type):
        found += list(getattr(value, "__dict__", {}).values())
    if isinstance(value, dict):
        found += [*value.keys(), *value.values()]
    elif isinstance(value, (list, tuple, set, frozenset)):
        found += list(value)
    elif isinstance(value, MethodType):
        found += [value.__self__, value.__func__]
    elif isinstance(value, FunctionType):
        for cell in value.__closure__ or ():
            try:
                found.append(cell.cell_contents)
            except ValueError:
                continue
        found += list(value.__defaults__ or ())
    return found


# TM-HOST-5
def test_what_a_command_is_given_leads_to_nothing_of_the_host() -> None:
    contexts: list[CommandContext] = []

    @command("own", "usage: own")
    def own(ctx: CommandContext, args: Arguments) -> int:
        del args
        contexts.append(ctx)
        seen: dict[int, object] = {}
        pending: list[tuple[object, str]] = [(ctx, "ctx")]
        wrong = []
        while pending:
            value, path = pending.pop()
            if (
                id(value) in seen
                or isinstance(value, (str, bytes, int, float, type, type(None)))
                or value is contexts
            ):
                continue
            seen[id(value)] = value
            if isinstance(value, HOST):
                wrong.append(f"{path}: {type(value).__name__}")
                continue
            if getattr(value, "__name__", "") == "own" or type(value).__name__ == "Command":
                continue
            pending.extend((held, f"{path}.{type(held).__name__}") for held in held_by(value))
        ctx.print("\n".join(wrong) if wrong else f"clean {len(seen) > 50}")
        return 0

    with Sandbox(commands=[own], env={"A": "b"}) as sandbox:
        assert sandbox.execute("own < /etc/passwd | cat").stdout == "clean True\n"
