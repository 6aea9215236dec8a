"""`python3` as part of a sandbox: state, limits, policies, pictures, skills, and what it costs."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import time

import pytest

pytest.importorskip("wasmtime")

from agentsandbox import AgentSkill, Limits, Sandbox
from agentsandbox.policy import CommandRequest
from agentsandbox.profiles.agentsandbox import tools
from agentsandbox.python import PythonRuntime

STATUS = PythonRuntime().status()
pytestmark = pytest.mark.skipif(not STATUS.ready, reason=STATUS.reason)


def test_files_are_shared_and_snapshots_hold() -> None:
    with Sandbox(python=True) as sandbox:
        before = sandbox.snapshot()
        sandbox.execute('python3 -c \'open("a", "w").write("x")\'; cat a')
        assert sandbox.execute("cat a").stdout == "x"
        fork = sandbox.fork()
        sandbox.restore(before)
        assert not sandbox.files.exists("a")
        assert fork.execute("python3 -c 'print(open(\"a\").read())'").stdout == "x\n"


def test_quotas_hold() -> None:
    with Sandbox(python=True, limits=Limits(file_bytes=100_000)) as sandbox:
        result = sandbox.execute('python3 -c \'open("a", "wb").write(bytes(200_000))\'')
        assert result.exit_code == 1
        assert "File too large" in result.stderr


def test_a_mounted_skill_is_read_only() -> None:
    skill = AgentSkill.from_package("skills_embedded", "data-report")
    files = {"s.csv": "region,amount\nnorth,3\nsouth,4\n"}
    with Sandbox(python=True, skills=[skill], files=files) as sandbox:
        place = "/.sandbox/skills/data-report"
        result = sandbox.execute(
            f"python3 {place}/scripts/summarize.py s.csv --by region --sum amount"
        )
        assert result.stdout.splitlines()[2:] == ["| south | 4 |", "| north | 3 |"]
        result = sandbox.execute(f'python3 -c \'open("{place}/x", "w")\'')
        assert "OSError: [Errno 30] Read-only file system" in result.stderr


def test_a_policy_is_asked_for_children() -> None:
    asked = []

    def policy(request: CommandRequest) -> bool | str:
        asked.append(request.argv[0])
        return "no" if request.argv[0] == "rm" else True

    script = "import subprocess; print(subprocess.run(['rm', 'a']).returncode)"
    with Sandbox(python=True, on_command=policy, files={"a": ""}) as sandbox:
        result = sandbox.execute(f'python3 -c "{script}"')
        assert result.stdout == "126\n"
        assert asked == ["python3", "rm"]
        assert sandbox.files.exists("a")


def test_a_seed_and_a_clock_make_runs_the_same() -> None:
    script = "import os, random, time, uuid; print(os.urandom(4), uuid.uuid4(), time.time())"
    found = set()
    for _ in range(2):
        with Sandbox(python=True, seed=7, clock=lambda: 1000.5) as sandbox:
            found.add(sandbox.execute(f"python3 -c '{script}'").stdout)
    assert len(found) == 1
    assert found.pop().endswith(" 1000.5\n")


def test_pictures_are_in_the_result() -> None:
    svg = '<svg xmlns=\\"http://www.w3.org/2000/svg\\"/>'
    with Sandbox(python=True) as sandbox:
        result = sandbox.execute(f'python3 -c \'open("a.svg", "w").write("{svg}")\'')
        assert list(result.pictures) == ["/workspace/a.svg"]
        assert "data:image/svg+xml;base64," in result._repr_html_()
        assert not sandbox.execute("echo").pictures


def test_descriptions_and_hints_know_whether_python_is_there() -> None:
    with Sandbox(python=True) as sandbox:
        assert "python3 is CPython 3.15" in tools(sandbox)[0].description
        assert sandbox.execute("pytest").stderr == "bash: line 1: pytest: command not found\n"
        assert "nothing can be installed" in sandbox.execute("apt-get install x").stderr
    with Sandbox() as sandbox:
        assert "python3 is CPython" not in tools(sandbox)[0].description
        assert "Python programs do not run in this sandbox" in sandbox.execute("pytest").stderr


def test_jobs_pipelines_and_traps() -> None:
    with Sandbox(python=True) as sandbox:
        script = """
            trap 'python3 -c "print(3)"' EXIT
            python3 -c 'print(1)' & wait
            seq 3 | xargs -I{} python3 -c 'print({} * 2)' | paste -sd,
        """
        assert sandbox.execute(script).stdout == "1\n2,4,6\n3\n"


def test_the_event_loop_is_free_and_cancelling_is_quick() -> None:
    async def main() -> tuple[float, float]:
        async with Sandbox(python=True) as sandbox:
            await sandbox.aexecute("python3 -c pass")
            task = asyncio.create_task(sandbox.aexecute("python3 -c 'while True: pass'"))
            worst, last, ends = 0.0, time.monotonic(), time.monotonic() + 0.3
            while time.monotonic() < ends:
                await asyncio.sleep(0.001)
                worst, last = max(worst, time.monotonic() - last), time.monotonic()
            task.cancel()
            began = time.monotonic()
            with pytest.raises(asyncio.CancelledError):
                await task
            return worst, time.monotonic() - began

    worst, taken = asyncio.run(main())
    assert worst < 0.2  # 10 ms on a calm machine
    assert taken < 0.5


def test_nothing_is_imported_or_started_without_a_call() -> None:
    code = """
import sys, threading
from agentsandbox import Sandbox
Sandbox(python=True, javascript=True).execute("echo hi")
print(sorted({"wasmtime", "ctypes", "json"} & set(sys.modules)), threading.active_count())
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[] 1\n"


def test_an_unprepared_runtime_says_what_to_run(tmp_path) -> None:  # type: ignore[no-untyped-def]
    with Sandbox(python=PythonRuntime(cache=tmp_path / "none")) as sandbox:
        result = sandbox.execute("python3 -c 'print(1)'; echo still here")
        assert result.stdout == "still here\n"
        assert "run `agentsandbox python prepare`" in result.stderr


@pytest.mark.parametrize(
    "fields",
    [
        {"memory_bytes": 1}, {"memory_bytes": "1"}, {"guests": 0}, {"nesting": 1000},
        {"cache": 5}, {"signals": 1}, {"packages": "pytest"}, {"index": 5}, {"guests": True},
    ],
)  # fmt: skip
def test_wrong_values_name_the_field(fields: dict[str, object]) -> None:
    (name,) = fields
    with pytest.raises((TypeError, ValueError), match=name):
        PythonRuntime(**fields)  # type: ignore[arg-type]


@pytest.mark.parametrize("value", ["yes", 1, PythonRuntime])
def test_sandbox_takes_a_runtime_or_a_flag(value: object) -> None:
    with pytest.raises(TypeError, match="python must be a PythonRuntime, True or False"):
        Sandbox(python=value)  # type: ignore[arg-type]


# TM-GUEST-1
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs /proc")
def test_a_guest_opens_no_file_of_the_host() -> None:
    """Under strace a prepared guest makes no call that opens a file, a socket or a process."""
    import shutil

    if shutil.which("strace") is None:
        pytest.skip("strace is not installed")
    code = """
import os
from agentsandbox import Sandbox
sandbox = Sandbox(python=True, files={"a": "1"})
script = '''python3 -c '
import os, json, csv, subprocess
print(open("a").read(), os.listdir("/"), subprocess.run(["cat", "a"]))
for path in ("/etc/passwd", "/proc/self/environ", "../../../../etc/shadow", "/root"):
    try: print(open(path).read()[:20])
    except OSError as error: print(error)
' '''
sandbox.execute(script)
os.path.exists("/begin-of-guest")
sandbox.execute(script)
os.path.exists("/end-of-guest")
"""
    done = subprocess.run(
        ["strace", "-f", "-qq", "-e", "trace=%file,%network,%process", sys.executable, "-c", code],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    if "ptrace" in done.stderr and "not permitted" in done.stderr:
        pytest.skip("strace is not permitted")
    lines = done.stderr.splitlines()
    begin = next(n for n, line in enumerate(lines) if "/begin-of-guest" in line)
    end = next(n for n, line in enumerate(lines) if "/end-of-guest" in line)
    calls = [
        line
        for line in lines[begin + 1 : end]
        if not any(word in line for word in ("clone", "exit(", "resumed", "set_robust", "futex"))
        and "(" in line
    ]
    assert not calls
