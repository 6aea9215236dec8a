"""`isolation="process"`: the same sandbox, over a process that the kernel confines."""

from __future__ import annotations

import asyncio
import errno
import gc
import json
import os
import random
import signal
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from pathlib import Path
from typing import Any, Literal

import pytest

from agentsandbox import (
    AgentSkill,
    Arguments,
    CommandContext,
    CommandRequest,
    HostFileSystem,
    HostInput,
    Limits,
    MemoryFileSystem,
    Sandbox,
    command,
)
from agentsandbox.events import CommandExecuted, SandboxEvent, SkillInvoked
from agentsandbox.isolation.messages import LARGEST_HEAD, ProtocolError, Wire
from agentsandbox.isolation.session import IsolatedSession
from agentsandbox.isolation.supervisor import Nursery, Worker
from agentsandbox.kernel.fs.deltas import patched
from agentsandbox.kernel.streams import BytesReader, ByteWriter


@pytest.fixture
def sandbox() -> Iterator[Sandbox]:
    with Sandbox(isolation="process", limits=Limits(timeout=20)) as made:
        yield made


def session_of(sandbox: Sandbox) -> IsolatedSession:
    assert isinstance(sandbox._shell_session, IsolatedSession)
    return sandbox._shell_session


def worker_of(sandbox: Sandbox) -> Worker:
    worker = session_of(sandbox).worker
    assert worker is not None
    return worker


def pid_of(worker: Worker) -> int:
    info = Path(f"/proc/self/fdinfo/{worker._handle}").read_text(encoding="ascii")
    return int(next(line for line in info.splitlines() if line.startswith("Pid:")).split()[1])


# the same sandbox


def test_state_and_files_last_from_call_to_call(sandbox: Sandbox) -> None:
    sandbox.execute("x=1; export Y=2; f() { echo $x; }; a=(p q); cd /tmp; echo data > file")

    assert sandbox.execute("f; echo $Y ${a[1]}; pwd; cat file").stdout == "1\n2 q\n/tmp\ndata\n"
    assert (sandbox.cwd, sandbox.env["Y"]) == ("/tmp", "2")
    assert sandbox.fs.read_text("/tmp/file") == "data\n"


def test_the_environment_is_known_before_the_first_call(sandbox: Sandbox) -> None:
    with Sandbox() as other:
        assert sandbox.env == other.env
    assert sandbox.history == ()


def test_arguments_of_a_call(sandbox: Sandbox) -> None:
    sandbox.execute("mkdir d; x=old")
    show = 'cat; echo "$1 $V $x"; pwd; x=new'
    options = {"stdin": "in\n", "args": ["a b"], "env": {"V": "v"}, "cwd": "d"}
    assert sandbox.execute(show, **options).stdout == "in\na b v old\n/workspace/d\n"  # type: ignore[arg-type]
    assert sandbox.execute("echo $x $1$V; pwd").stdout == "new\n/workspace\n"
    assert sandbox.execute("echo ${x-unset}; x=3", state="new").stdout == "unset\n"
    assert sandbox.execute("x=4", state="discard").exit_code == 0
    assert sandbox.execute("echo $x", stdin=b"\xff").stdout == "new\n"
    with pytest.raises(FileNotFoundError):
        sandbox.execute("true", cwd="nowhere")


def test_what_the_host_writes_is_there(sandbox: Sandbox) -> None:
    sandbox.execute("mkdir d; echo 1 > d/a; exec 3>> log; echo one >&3")
    sandbox.files.write("d/b", "2\n")
    sandbox.fs.unlink("/workspace/d/a")

    assert sandbox.execute("ls d; cat d/b; echo two >&3; cat log").stdout == "b\n2\none\ntwo\n"


def test_binary_output_in_order(sandbox: Sandbox) -> None:
    result = sandbox.execute("printf '\\xff\\0'; echo err >&2; printf x; echo y >&2; exit 7")

    assert (result.stdout_bytes, result.stderr, result.exit_code) == (b"\xff\0x", "err\ny\n", 7)
    assert result.output == "\udcff\0err\nxy\n"


@pytest.mark.parametrize(
    ("script", "limits", "limit", "status"),
    [
        ("while :; do :; done", {"timeout": 0.3}, "timeout", 124),
        ("while :; do :; done", {"steps": 10_000}, "steps", 137),
        ("yes", {"output_bytes": 1000}, "output_bytes", 137),
        ("x=$(yes)", {"value_bytes": 100_000}, "value_bytes", 137),
        ("f() { f; }; f", {"depth": 50}, "depth", 137),
    ],
)
def test_limits(script: str, limits: dict[str, float], limit: str, status: int) -> None:
    with Sandbox(isolation="process", limits=Limits(**limits)) as sandbox:  # type: ignore[arg-type]
        sandbox.execute("x=kept")
        result = sandbox.execute(script)
        assert (result.limit, result.exit_code) == (limit, status)
        worker = worker_of(sandbox)
        assert sandbox.execute("echo ${#x}").exit_code == 0
        assert worker_of(sandbox) is worker


def test_forks_are_independent(sandbox: Sandbox) -> None:
    sandbox.execute("x=1; f() { echo f$x; }; echo a > a; exec 5< a")
    with sandbox.fork() as twin:
        assert twin.execute("f; read -u 5 line; echo $line; x=2; echo b > a").stdout == "f1\na\n"
        assert sandbox.execute("f; cat a").stdout == "f1\na\n"
        assert twin.execute("f; cat a").stdout == "f2\nb\n"


def test_snapshots(sandbox: Sandbox) -> None:
    sandbox.execute("echo 1 > a; mkdir d; cd d")
    snapshot = sandbox.snapshot()
    sandbox.execute("rm ../a; echo 2 > b; cd /")
    assert [change.path for change in sandbox.diff(snapshot)] == ["/workspace/a", "/workspace/d/b"]
    sandbox.restore(snapshot)
    assert sandbox.execute("pwd; ls -R ..").stdout == "/workspace/d\n..:\na\nd\n\n../d:\n"
    assert sandbox.stats().executions == 3


def test_repeatable_random_numbers() -> None:
    script = "echo $RANDOM; shuf -i 1-100 -n 3"
    outputs = []
    for isolation in ("thread", "process"):
        with Sandbox(isolation=isolation, seed=5) as sandbox:
            outputs.append([sandbox.execute(script).stdout for _ in range(2)])
    assert outputs[0] == outputs[1]


def test_background_jobs_continue(sandbox: Sandbox) -> None:
    sandbox.execute("(sleep 0.05; echo late > late) &")
    assert session_of(sandbox).jobs == 1
    session_of(sandbox).rest()  # what would end an idle worker
    assert sandbox.execute("wait; cat late").stdout == "late\n"


def test_a_worker_that_rested_loses_nothing(sandbox: Sandbox) -> None:
    sandbox.execute("x=1; f() { echo $x; }; set -u; cd /tmp; echo a > a")
    session_of(sandbox).rest()
    assert session_of(sandbox).worker is None
    assert sandbox.execute("f; pwd; cat a; echo $nope").stdout == "1\n/tmp\na\n"


def test_a_state_is_saved_part_by_part(sandbox: Sandbox) -> None:
    sandbox.execute(
        "declare u; declare -A m=([k]=v); alias l=ls; set -o pipefail; trap 'echo t' INT"
    )
    before = session_of(sandbox).state
    sandbox.execute(":; f() { echo $1; }; g=1")
    after = session_of(sandbox).state
    assert after.parts[3] is before.parts[3]
    assert after.parts[0] != before.parts[0] and after.parts[1] != before.parts[1]
    for number in range(60):
        sandbox.execute(f": {number}")
    script = (
        "f $g; echo ${u-unset} ${m[k]}; alias; trap; set -o | grep pipefail; declare -p u; history"
    )
    with sandbox.fork() as twin:
        session_of(sandbox).rest()
        shown = sandbox.execute(script).stdout
        assert shown == twin.execute(script).stdout
    assert shown.startswith("1\nunset v\nalias l='ls'\ntrap -- 'echo t' SIGINT\npipefail")
    assert shown.count("  : ") == 60 and "declare -- u\n" in shown


def test_the_statuses_of_a_pipeline_are_kept(sandbox: Sandbox) -> None:
    for script, shown in (("(exit 3) | true", "3 0"), ("true | true", "0 0"), ("true", "0")):
        sandbox.execute(script)
        session_of(sandbox).rest()
        assert sandbox.execute("echo ${PIPESTATUS[@]}").stdout == f"{shown}\n"


def test_skills(tmp_path: Path) -> None:
    skill = AgentSkill.from_files(
        {
            "SKILL.md": "---\nname: greet\ndescription: d\n---\n",
            "scripts/hi.sh": "echo hi $SKILL_NAME",
        }
    )
    events: list[SandboxEvent] = []
    with Sandbox(isolation="process", skills=[skill], on_event=events.append) as sandbox:
        assert sandbox.execute("sh /.sandbox/skills/greet/scripts/hi.sh").stdout == "hi greet\n"
        assert sandbox.execute("echo x >> /.sandbox/skills/greet/SKILL.md").exit_code == 1
    assert [event.skill for event in events if isinstance(event, SkillInvoked)] == ["greet"]
    assert len([event for event in events if isinstance(event, CommandExecuted)]) == 2


# what stays in the host


def test_output_arrives_while_the_script_runs(sandbox: Sandbox) -> None:
    chunks: list[tuple[str, bytes]] = []
    result = sandbox.execute("echo a; echo b >&2; echo c", on_output=lambda *c: chunks.append(c))
    assert chunks == [("stdout", b"a\n"), ("stderr", b"b\n"), ("stdout", b"c\n")]
    assert result.output == "a\nb\nc\n"


def test_the_policy_is_asked_in_the_host() -> None:
    asked: list[CommandRequest] = []

    def policy(request: CommandRequest) -> bool | str:
        asked.append(request)
        return "no removals" if request.argv[0] == "rm" else True

    with Sandbox(isolation="process", on_command=policy) as sandbox:
        result = sandbox.execute(
            "cd /tmp; rm x; (echo sub)", on_command=lambda request: request.argv[0] != "echo"
        )
    assert [request.argv for request in asked] == [("cd", "/tmp"), ("rm", "x"), ("echo", "sub")]
    assert (asked[1].cwd, asked[1].is_main, asked[2].is_main) == ("/tmp", True, False)
    assert "no removals" in result.stderr
    assert "not allowed by the host's policy" in result.stderr


def test_a_policy_that_raises_ends_the_script(
    sandbox: Sandbox, caplog: pytest.LogCaptureFixture
) -> None:
    def policy(_: CommandRequest) -> bool:
        raise ZeroDivisionError("of the host")

    result = sandbox.execute("echo a", on_command=policy)
    assert (result.exit_code, result.stdout) == (70, "")
    assert "ZeroDivisionError: of the host" in caplog.text
    assert sandbox.execute("echo b").stdout == "b\n"


def test_the_clock_is_the_hosts() -> None:
    with Sandbox(isolation="process", clock=lambda: 86400.0) as sandbox:
        assert sandbox.execute("date -u +%F; touch a; stat -c %Y a").stdout == (
            "1970-01-02\n86400\n"
        )


def test_mounts_stay_in_the_host(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("one\ntwo\n")
    (tmp_path / "d").mkdir()
    memory = MemoryFileSystem()
    memory.write_text("/m", "memory\n")
    mounts = {"/host": HostFileSystem(tmp_path, read_only=False), "/mem": memory}
    with Sandbox(isolation="process", mounts=mounts) as sandbox:
        shown = sandbox.execute(
            "cd /host; ls; read x < a; echo $x; sort -r a > d/b; cat d/b /mem/m; rm a; cp -r d e;"
            " echo more >> d/b; ln -s b d/l; stat -c %s d/b; cat nope; touch -d @5 d/b; ls d"
        )
        assert shown.stdout == "a\nd\none\ntwo\none\nmemory\n13\nb\nl\n"
        assert shown.stderr == "cat: nope: No such file or directory\n"
        assert (tmp_path / "d/b").read_text() == "two\none\nmore\n"
        assert (tmp_path / "d/b").stat().st_mtime == 5
        assert not (tmp_path / "a").exists()
        sandbox.fs.makedirs("/later")
        sandbox.fs.mount("/later/m", memory)
        assert sandbox.execute("cat /later/m/m").stdout == "memory\n"
        session_of(sandbox).rest()
        assert sandbox.execute("cat /mem/m").stdout == "memory\n"
        with sandbox.fork() as twin:
            assert twin.execute("cat /later/m/m").stdout == "memory\n"


def test_a_file_of_a_mount_is_closed_with_its_worker(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("a")
    with Sandbox(isolation="process", mounts={"/host": HostFileSystem(tmp_path)}) as sandbox:
        sandbox.execute("for i in {1..300}; do cat /host/a; done; exec 3< /host/a")
        assert len(session_of(sandbox).mounted._files) == 1
        session_of(sandbox).rest()
        assert not session_of(sandbox).mounted._files


def test_an_input_of_the_host(sandbox: Sandbox) -> None:
    reader, writer = os.pipe()
    try:
        source = HostInput(reader)
        assert sandbox.execute("echo no reading", stdin=source).stdout == "no reading\n"
        threading.Timer(0.1, os.write, [writer, b"1\n2\n3\n"]).start()
        assert sandbox.execute("read x; echo got $x", stdin=source).stdout == "got 1\n"
        threading.Timer(0.1, os.close, [writer]).start()
        assert sandbox.execute("cat", stdin=source).stdout == "2\n3\n"
    finally:
        os.close(reader)


@command("shout", usage="""
Usage: shout [-n NUM] [FILE]...
Write each line in capitals.

  -n, --number=NUM  that many times
""")  # fmt: skip
def shout(ctx: CommandContext, args: Arguments) -> int:
    times = int(args.value("number") or "1")
    for _, source in ctx.inputs(args.operands):
        for line in source.lines():
            ctx.stdout.write(line.upper() * times)
    return ctx.status


@command("nested", usage="Usage: nested\nRun others.", raw=True)
def nested(ctx: CommandContext, _: Arguments) -> int:
    out = Collector()
    status = ctx.run(["tr", "a-z", "A-Z"], stdin=BytesReader(b"abc\n"), stdout=out)
    ctx.fs.write_text(ctx.path("made"), out.text)
    status += ctx.run(["sh", "-c", "cat made; echo own | shout; exit 4"])
    ctx.warn(f"{sorted(ctx.fs.listdir('.' if ctx.cwd == '/' else ctx.cwd))} {ctx.env['V']}")
    return status


class Collector(ByteWriter):
    def __init__(self) -> None:
        self.text = ""

    def write(self, data: bytes) -> None:
        self.text += data.decode()


@command("breaks", usage="Usage: breaks\nRaise.", raw=True)
def breaks(ctx: CommandContext, _: Arguments) -> int:
    raise ZeroDivisionError("of the host's command")


COMMANDS = [shout, nested, breaks]


def test_commands_of_the_host(caplog: pytest.LogCaptureFixture) -> None:
    scripts = [
        "printf 'a\\nb\\n' | shout -n 2 | cat -n; echo file > f; shout f nope; echo $?",
        "shout -z; shout --help; echo $?; shout < f | shout -n2 | tail -n 1",
        "V=5 nested; echo $?; ls",
        "yes $(printf a%01000d 0) | shout | head -n 2 | cut -c 1-3; echo ${PIPESTATUS[@]}",
        "echo a | shout > /dev/full; echo $?; shout <&-; echo $?",
        "while read l; do echo $l | shout; done < <(seq 50) | tail -n 1; type shout",
        "echo before; breaks; echo after",
    ]
    results = []
    for isolation in ("thread", "process"):
        with Sandbox(isolation=isolation, commands=COMMANDS) as sandbox:
            found = [sandbox.execute(script) for script in scripts]
            results.append([(each.output, each.exit_code, each.limit) for each in found])
    assert results[0] == results[1]
    assert caplog.text.count("ZeroDivisionError: of the host's command") == 2


@pytest.mark.parametrize("isolation", ["thread", "process"])
def test_async_commands_of_the_host(isolation: Literal["thread", "process"]) -> None:
    token: ContextVar[str] = ContextVar("token", default="none")

    @command("waits", usage="Usage: waits\nWait in the event loop.", raw=True)
    async def waits(ctx: CommandContext, args: Arguments) -> int:
        await asyncio.sleep(0.01)
        ctx.print("waited " + " ".join([*args.operands, token.get()]))
        ctx.stdout.write(ctx.stdin.read().upper())
        await asyncio.sleep(0)
        assert asyncio.current_task() is not None
        return ctx.run(["sh", "-c", "echo nested; exit 5"])

    async def main() -> None:
        token.set("set")
        with Sandbox(isolation=isolation, commands=[waits]) as sandbox:
            result = await sandbox.aexecute("echo in | waits a | cat -n; echo ${PIPESTATUS[1]}")
            assert result.stdout == "     1\twaited a set\n     2\tIN\n     3\tnested\n5\n"
            task = asyncio.create_task(sandbox.aexecute("while :; do waits; done"))
            await asyncio.sleep(0.2)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            assert "waited set" in sandbox.history[-1].stdout
            assert (await sandbox.aexecute("waits b")).stdout == "waited b set\nnested\n"
            refused = sandbox.execute("waits")
            assert (refused.exit_code, "use 'await sandbox.aexecute" in refused.stderr) == (
                126,
                True,
            )

    asyncio.run(main())


def test_a_limit_in_a_command_of_the_host_ends_the_script() -> None:
    @command("loops", usage="Usage: loops\nCount.", raw=True)
    def loops(ctx: CommandContext, _: Arguments) -> int:
        while True:
            ctx.budget.step()

    limits = Limits(steps=20_000)
    with Sandbox(isolation="process", commands=[loops], limits=limits) as sandbox:
        assert sandbox.execute("loops; echo not reached").limit == "steps"
        assert sandbox.execute("echo alive").stdout == "alive\n"


def test_the_ports_of_the_sandbox_are_not_those_of_a_hosts_command() -> None:
    @command("listens", usage="Usage: listens\nListen.", raw=True)
    def listens(ctx: CommandContext, _: Arguments) -> int:
        ctx.host.network.loopback.listen(80, address="127.0.0.1", backlog=1)
        return 0

    with Sandbox(isolation="process", commands=[listens]) as sandbox:
        result = sandbox.execute("listens")
        assert result.exit_code == 126
        assert "ctx.host.network with isolation='process' is not supported" in result.stderr


def test_a_hosts_command_starts_no_process_beside_itself() -> None:
    @command("starts", usage="Usage: starts\nStart.", raw=True)
    def starts(ctx: CommandContext, _: Arguments) -> int:
        return ctx.start(["sleep", "1"]).pid

    with Sandbox(isolation="process", commands=[starts]) as sandbox:
        result = sandbox.execute("starts & wait $!; starts; echo $?; jobs")
        assert result.stdout == "126\n"
        said = "starts: ctx.start with isolation='process' is not supported: use ctx.run\n"
        assert result.stderr == said * 2
    with Sandbox(commands=[starts]) as sandbox:
        assert "not supported" not in sandbox.execute("starts").stderr


def test_sudo_and_aliases() -> None:
    with Sandbox(isolation="process", sudo=True, aliases={"ll": "ls -a"}) as sandbox:
        assert (
            sandbox.execute("sudo touch a; ll; type ll").stdout == ".\n..\na\nll is /usr/bin/ll\n"
        )


# event loops


def test_commands_of_the_host_in_an_event_loop() -> None:
    async def main() -> None:
        with Sandbox(isolation="process", commands=COMMANDS) as sandbox:
            assert (await sandbox.aexecute("echo a | shout | cat")).stdout == "A\n"
            task = asyncio.create_task(sandbox.aexecute("while :; do echo a | shout; done"))
            await asyncio.sleep(0.2)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            assert (await sandbox.aexecute("echo a | shout")).stdout == "A\n"

    asyncio.run(main())


def test_aexecute(sandbox: Sandbox) -> None:
    async def main() -> None:
        ticks = 0

        async def tick() -> None:
            nonlocal ticks
            while True:
                ticks += 1
                await asyncio.sleep(0.005)

        async def policy(request: CommandRequest) -> bool:
            await asyncio.sleep(0)
            return request.argv[0] != "rm"

        ticker = asyncio.create_task(tick())
        result = await sandbox.aexecute("sleep 0.1; echo a; rm x", on_command=policy)
        assert (result.stdout, result.exit_code) == ("a\n", 126)
        assert ticks > 3
        both = await asyncio.gather(sandbox.aexecute("x=1; echo a"), sandbox.aexecute("echo b"))
        assert [result.stdout for result in both] == ["a\n", "b\n"]
        ticker.cancel()

    asyncio.run(main())


def test_aexecute_in_trio(sandbox: Sandbox) -> None:
    trio = pytest.importorskip("trio")

    async def main() -> None:
        assert (await sandbox.aexecute("sleep 0.05; echo a")).stdout == "a\n"
        with trio.move_on_after(0.1):
            await sandbox.aexecute("echo before; sleep 30")
        assert sandbox.history[-1].limit == "cancelled"
        assert (await sandbox.aexecute("echo b")).stdout == "b\n"

    trio.run(main)


def test_a_cancelled_task_ends_the_script(sandbox: Sandbox) -> None:
    async def main() -> None:
        await sandbox.aexecute("x=1")
        worker = worker_of(sandbox)
        task = asyncio.create_task(sandbox.aexecute("x=2; echo seen; sleep 30"))
        await asyncio.sleep(0.2)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert (sandbox.history[-1].limit, sandbox.history[-1].stdout) == ("cancelled", "seen\n")
        assert (await sandbox.aexecute("echo $x")).stdout == "2\n"
        assert worker_of(sandbox) is worker

    asyncio.run(main())


def test_streams(sandbox: Sandbox) -> None:
    with sandbox.stream("for i in 1 2 3; do echo $i; done; exit 4") as chunks:
        assert list(chunks) == [("stdout", b"1\n"), ("stdout", b"2\n"), ("stdout", b"3\n")]
    assert chunks.result.exit_code == 4
    with sandbox.stream("yes", timeout=5) as endless:
        assert next(endless)[0] == "stdout"
    assert endless.result.limit == "cancelled"
    assert sandbox.execute("echo next").stdout == "next\n"


def test_the_time_of_a_slow_reader_does_not_count(sandbox: Sandbox) -> None:
    with sandbox.stream("echo 1; echo 2; echo 3", timeout=0.5) as chunks:
        for _ in chunks:
            time.sleep(0.4)
    assert chunks.result.limit is None


def test_astream(sandbox: Sandbox) -> None:
    async def main() -> None:
        async with sandbox.astream("echo a; sleep 0.01; echo b") as chunks:
            assert [data async for _, data in chunks] == [b"a\n", b"b\n"]
        async with sandbox.astream("yes") as endless:
            async for _ in endless:
                break
        assert endless.result.limit == "cancelled"

    asyncio.run(main())


def test_cancel_from_another_thread(sandbox: Sandbox) -> None:
    sandbox.execute("x=1")
    timer = threading.Timer(0.2, sandbox.cancel)
    timer.start()
    result = sandbox.execute("x=2; echo a; sleep 15; echo b")
    timer.join()
    assert (result.limit, result.exit_code, result.stdout) == ("cancelled", 130, "a\n")
    assert sandbox.execute("echo $x").stdout == "2\n"


def test_close_ends_the_worker(sandbox: Sandbox) -> None:
    sandbox.execute("true")
    pid = pid_of(worker_of(sandbox))
    sandbox.close()
    assert_ends(pid)


def test_a_forgotten_sandbox_ends_its_worker() -> None:
    sandbox = Sandbox(isolation="process")
    sandbox.execute("true")
    pid = pid_of(worker_of(sandbox))
    del sandbox
    gc.collect()
    assert_ends(pid)


def assert_ends(pid: int) -> None:
    for _ in range(2000):
        if not Path(f"/proc/{pid}").exists():
            return
        time.sleep(0.005)
    raise AssertionError(f"{pid} still runs")


# a worker that is lost


def test_workers_wait_in_advance_only_where_several_are_asked_for() -> None:
    nursery = Nursery("")
    try:
        waiting = []
        for _ in range(4):
            nursery.worker(1 << 20).end()
            waiting.append(len(nursery._spare))
        assert waiting == [0, 1, 2, 2]
    finally:
        nursery.close()


def test_a_killed_worker_costs_one_call(sandbox: Sandbox) -> None:
    sandbox.execute("x=1; echo a > a")
    threading.Timer(0.2, worker_of(sandbox).signal, [signal.SIGKILL]).start()
    result = sandbox.execute("x=2; echo b > a; sleep 15")
    assert (result.limit, result.exit_code) == ("process", 137)
    assert result.stderr.startswith("sandbox: the script's process was ended: ")
    assert sandbox.execute("echo $x; cat a").stdout == "1\na\n"


def test_a_worker_that_was_killed_between_calls_costs_nothing(sandbox: Sandbox) -> None:
    sandbox.execute("x=1; echo a > a")
    pid = pid_of(worker_of(sandbox))
    os.kill(pid, signal.SIGKILL)
    assert_ends(pid)
    assert sandbox.execute("echo $x; cat a").stdout == "1\na\n"


def test_a_worker_that_does_not_answer_is_ended(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("agentsandbox.isolation.session.GRACE", 0.2)
    sandbox.execute("x=1")
    worker_of(sandbox).signal(signal.SIGSTOP)
    result = sandbox.execute("x=2", timeout=0.2)
    assert result.limit == "process"
    assert sandbox.execute("echo $x").stdout == "1\n"
    worker_of(sandbox).signal(signal.SIGSTOP)
    threading.Timer(0.1, sandbox.cancel).start()
    assert sandbox.execute("x=3").limit == "cancelled"
    assert sandbox.execute("echo $x").stdout == "1\n"


def test_a_large_result_lets_the_event_loop_go_on(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in ("kernel.processes", "runtime.event_loop"):
        monkeypatch.setattr(f"agentsandbox.{module}.EVENT_LOOP_SECONDS", 0)
    rounds: list[int] = []
    ticks = 0

    def counted(*arguments: Any, **options: Any) -> Any:
        before = ticks
        done = patched(*arguments, **options)
        rounds.append(ticks - before)
        return done

    monkeypatch.setattr("agentsandbox.isolation.session.patched", counted)

    async def tick() -> None:
        nonlocal ticks
        while True:
            ticks += 1
            await asyncio.sleep(0)

    async def run() -> None:
        ticking = asyncio.create_task(tick())
        sandbox.files.write("other", "x")
        script = "for ((i = 0; i < 2000; i++)); do : > f$i; done; ls | wc -l"
        result = await sandbox.aexecute(script)
        ticking.cancel()
        assert result.stdout == "2001\n"

    asyncio.run(run())
    assert len(rounds) == 1
    assert rounds[0] >= 2000 // 64


def test_a_call_that_is_cancelled_while_its_result_is_read_has_its_result(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("agentsandbox.kernel.processes.EVENT_LOOP_SECONDS", 0)
    sandbox.execute("true")
    worker = worker_of(sandbox)

    async def run() -> None:
        def cancelling(*arguments: Any, **options: Any) -> Any:
            task.cancel()
            return patched(*arguments, **options)

        monkeypatch.setattr("agentsandbox.isolation.session.patched", cancelling)
        task = asyncio.create_task(
            sandbox.aexecute("x=1; for ((i = 0; i < 2000; i++)); do : > f$i; done")
        )
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(run())
    assert sandbox.execute("echo $x; ls | wc -l").stdout == "1\n2000\n"
    assert worker_of(sandbox) is worker


def test_kills_at_random_moments(sandbox: Sandbox) -> None:
    """The state after a call is that before it or that after it, files and variables alike."""
    chance = random.Random(21)
    number = 0
    sandbox.execute("n=0; echo 0 > n")
    for _ in range(25):
        timer = threading.Timer(chance.random() * 0.02, worker_of(sandbox).signal, [signal.SIGKILL])
        timer.start()
        result = sandbox.execute(
            f"n={number + 1}; echo $n > n; for i in {{1..{chance.randrange(400)}}}; do :; done"
        )
        timer.join()
        assert result.limit in (None, "process")
        number += result.limit is None
        shown = sandbox.execute("echo $n; cat n")
        if shown.limit == "process":  # it was being killed when the call was sent
            shown = sandbox.execute("echo $n; cat n")
        assert shown.stdout == f"{number}\n{number}\n"


# a worker that was taken over


class Hostile:
    """A worker that sends what a test wants."""

    def __init__(self, answer: Callable[[socket.socket, Wire], None]) -> None:
        ours, self.theirs = socket.socketpair()
        self.worker = Worker(Wire(ours, 1 << 24, 0.5), os.getpid())
        os.close(self.worker._handle)
        self.worker._handle = -1  # never send a signal to this process
        self.thread = threading.Thread(target=self._run, args=(answer,), daemon=True)
        self.thread.start()

    def _run(self, answer: Callable[[socket.socket, Wire], None]) -> None:
        wire = Wire(self.theirs, 1 << 30)
        try:
            while wire.receive().kind != "execute":
                pass
            answer(self.theirs, wire)
            wire.receive()
        except (ProtocolError, OSError):
            pass
        finally:
            self.theirs.close()


def done(**changes: object) -> Callable[[socket.socket, Wire], None]:
    head = {"status": 0, "limit": None, "cwd": "/", "parts": [], **changes}
    blobs = head.pop("blobs", [b""] * 4)
    return lambda _, wire: wire.send("done", head, *blobs)  # type: ignore[misc]


def raw(data: bytes) -> Callable[[socket.socket, Wire], None]:
    return lambda connection, _: connection.sendall(data)


def framed(head: bytes, *, size: int | None = None) -> Callable[[socket.socket, Wire], None]:
    length = len(head).to_bytes(4, "big")
    return raw((len(head) if size is None else size).to_bytes(4, "big") + length + head)


def asking(kind: str, head: dict[str, object], *blobs: bytes) -> Callable[..., None]:
    return lambda _, wire: wire.send(kind, head, *blobs)


HOSTILE = {
    "the end": lambda connection, _: connection.close(),
    "bytes of chance": raw(random.Random(1).randbytes(4000)),
    "no JSON": framed(b"{"),
    "no object": framed(b"[]"),
    "no kind": framed(b'{"sizes":[]}'),
    "a kind that is a list": framed(b'{"kind":[],"sizes":[]}'),
    "deep JSON": framed(b"[" * 100_000),
    "sizes below nothing": framed(b'{"kind":"done","sizes":[5,-5]}'),
    "a huge frame": framed(b"{}", size=(1 << 32) - 1),
    "a huge head": raw((LARGEST_HEAD + 9).to_bytes(4, "big") * 2 + b"[" * 100),
    "half a frame": framed(b'{"kind"', size=1000),
    "half a number": raw(b"\0\0"),
    "an unknown request": asking("open", {"path": "/etc/passwd"}),
    "output that nobody wants": asking("output", {"stream": 1}, b"x"),
    "a clock that is not there": asking("clock", {}),
    "an answer": asking("answer", {"verdict": "go"}),
    "a report that is none": asking("confined", {"report": ["x"]}),
    "a status of 256": done(status=256),
    "a status that is a truth": done(status=True),
    "a status that is a text": done(status="0"),
    "an unknown limit": done(limit="luck"),
    "a limit that is a list": done(limit=["steps"]),
    "a relative directory": done(cwd="tmp"),
    "a directory with NUL": done(cwd="/a\0b"),
    "no directory": done(cwd=None),
    "too few blobs": done(blobs=[b""]),
    "a difference that is none": done(blobs=[b"xxxxxxxx", b"", b"", b""]),
    "a large content of nothing": done(blobs=[b"", b"", b"", b"", b"content"]),
    "sizes that are cut off": done(blobs=[b"", b"xxx", b"", b""]),
    "output that does not add up": done(blobs=[b"", b"\xff\0\0\0", b"x", b""]),
    "too much output": done(
        blobs=[b"", (1 << 21).to_bytes(4, "little"), b"x" * (1 << 20), b""]
    ),
    "too much state": done(parts=[1], blobs=[b""] * 4 + [b"x" * (12 << 20)]),
    "a part that is none": done(parts=[4], blobs=[b""] * 5),
    "parts that are no list": done(parts="all"),
    "a picture that is no path": done(pictures=["a"]),
    "many elements": asking("policy", {"x": [[]] * 200_000}),
    "an operation that is none": asking("start", {"id": 1, "do": "exec"}),
    "a request without a network": asking("start", {"id": 1, "do": "send"}, b""),
    "a long question for news": asking("news", {"milliseconds": 1 << 40}),
}


@pytest.mark.parametrize("answer", HOSTILE.values(), ids=HOSTILE)
def test_a_hostile_worker_costs_one_call(answer: Callable[[socket.socket, Wire], None]) -> None:
    limits = Limits(timeout=5, output_bytes=1000, value_bytes=100_000)
    with Sandbox(isolation="process", limits=limits, files={"a": "a\n"}) as sandbox:
        session = sandbox._start()
        assert isinstance(session, IsolatedSession)
        hostile = Hostile(answer)
        session.worker = hostile.worker
        result = sandbox.execute("echo never")
        hostile.thread.join(5)
        assert (result.exit_code, result.limit, result.stdout) == (137, "process", "")
        assert sandbox._shell_session.worker is None  # type: ignore[union-attr]
        assert sandbox.fs.read_text("/workspace/a") == "a\n"


# TM-ISO-3
def test_a_poisoned_state_is_forgotten(sandbox: Sandbox) -> None:
    sandbox.execute("x=1; echo a > a")
    state = session_of(sandbox).state
    session_of(sandbox).rest()
    state.parts = (b"cos\nsystem\n(S'true'\ntR.", *state.parts[1:])
    assert sandbox.execute("echo $x").limit == "process"
    assert sandbox.execute("echo ${x-gone}; cat a").stdout == "gone\na\n"


# TM-ISO-3
@pytest.mark.parametrize(
    "name",
    [("os", "system"), ("agentsandbox.shell.interpreter.shell", "os.system"),
     ("agentsandbox.kernel.fs.host", "os"), ("agentsandbox.isolation.supervisor", "Worker"),
     ("agentsandbox.kernel.fs.host", "HostFileSystem.__init__"), ("builtins", "eval")],
)  # fmt: skip
def test_a_state_names_nothing_but_parts_of_shells(name: tuple[str, str]) -> None:
    import pickle
    from io import BytesIO

    from agentsandbox.isolation.states import _Unpickler

    with pytest.raises(pickle.UnpicklingError):
        _Unpickler(BytesIO()).find_class(*name)


# what the kernel takes away


def test_the_report(sandbox: Sandbox) -> None:
    report = sandbox.isolation_report()
    assert sorted(report) == ["landlock", "memory", "resources", "seccomp"]
    assert all(text.startswith(("in force", "not in force")) for text in report.values())
    with Sandbox() as other:
        assert other.isolation_report() == {}


PROBES = {
    "socket": "socket.socket()",
    "pipe": "os.pipe()",
    "fork": "os.fork()",
    "kill": "os.kill(1, 0)",
    "execve": "os.execv('/bin/true', ['true'])",
    "write": "os.open('/tmp/x', os.O_WRONLY | os.O_CREAT)",
    "read": "os.open('/etc/passwd', os.O_RDONLY)",
    "own maps": "os.open('/proc/self/maps', os.O_RDONLY)",
    "chdir": "os.chdir('/')",
    "unlink": "os.unlink('/tmp/no-such-file')",
    "raise a limit": "resource.setrlimit(resource.RLIMIT_NOFILE, (9, 9))",
    "spawn": "__import__('subprocess').run(['/bin/true'])",
}


# TM-ISO-1
def test_what_a_worker_that_was_taken_over_can_do() -> None:
    """A process that is confined like a worker tries what an intruder would try."""
    program = f"""
import json, os, resource, socket, subprocess, sys, threading
from agentsandbox import Limits
from agentsandbox.isolation.confinement import confine
report = confine(Limits())
found = {{}}
for name, text in {PROBES!r}.items():
    try:
        eval(text)
        found[name] = "done"
    except OSError as error:
        found[name] = error.errno
    except ValueError as error:  # of setrlimit
        found[name] = {errno.EPERM}
try:
    bytearray(2 << 30)
    found["memory"] = "done"
except MemoryError:
    found["memory"] = 12
thread = threading.Thread(target=found.__setitem__, args=("thread", "runs"))
thread.start(); thread.join()
import colorsys
sys.stdout.write(json.dumps([report, found]))
"""
    import subprocess
    import sys

    ran = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False,
        cwd=Path(__file__).parents[1],
    )  # fmt: skip
    assert ran.returncode == 0, ran.stderr
    report, found = json.loads(ran.stdout)
    if not all(text.startswith("in force") for text in report.values()):
        pytest.skip(f"this kernel lacks a layer: {report}")
    assert found.pop("thread") == "runs"
    assert found.pop("memory") == errno.ENOMEM
    assert set(found.values()) <= {errno.EPERM, errno.EACCES}, found
