"""Load: many sandboxes one after the other, in tasks and in threads, and workers that are killed.

`python -m tests.security.soak [COUNT]`, or `make soak`: COUNT sandboxes (10,000), 64 tasks, 16 threads.
Each sandbox mounts a folder of the host and a skill and runs five of the scripts, among them
attacks that end with a limit. What a script comes to is the same as when it ran alone, and nothing
stays: objects, memory, descriptors, threads, files of the mount. A tiny run is in the suite
(`test_soak`).
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import os
import random
import shutil
import signal
import sys
import tempfile
import threading
import tracemalloc
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic, process_time

from agentsandbox import AgentSkill, ExecutionResult, Limits, Sandbox
from agentsandbox.kernel.fs.host import HostFileSystem
from tests.security.whole import problems_of

TASKS, THREADS = 64, 16
TENANT = "QQ"
"""What a sandbox is called whose results are the expected ones."""
LIMITS = Limits(timeout=20, steps=30_000, value_bytes=1 << 20, output_bytes=1 << 18, depth=60)

SCRIPTS = (
    "echo $TENANT; for i in 1 2 3; do echo $TENANT; done | sort -u",
    "x=$TENANT; f() { echo \"$x $1\"; }; f a | tr a-z A-Z; echo $((17 * 3))",
    "seq 200 | awk '{ s += $1 } END { print s }'; echo $TENANT | sed 's/^/</;s/$/>/'",
    "mkdir -p d; echo $TENANT > d/f; cp -r d e; cat e/f; rm -r d e; ls",
    "cat /mnt/a; ls /mnt/d; wc -l < /mnt/a",
    "jq -n '[range(50)] | add'; echo '{\"a\": 1}' | jq -c .",
    "trap 'echo bye' EXIT; echo $TENANT; exit 3",
    "exec 5> held; echo $TENANT >&5; cat held; rm held",
    "sleep 100 & jobs | wc -l; kill %1",
    "coproc cat; echo $TENANT >&${COPROC[1]}; read -r l <&${COPROC[0]}; echo $l",
    "grep -rn description /mnt/skills /skills 2> /dev/null | wc -l; type cd | head -n 1",
    "tar czf t.tgz /etc/passwd 2> /dev/null; tar tzf t.tgz; rm t.tgz",
    "sqlite3 :memory: 'SELECT 1 + 1'; date -u -d @0 +%F; printf '%05d\\n' 42",
    "mapfile -t a < <(seq 9); echo ${#a[@]} ${a[-1]}; declare -A m=([k]=$TENANT); echo ${m[k]}",
    "cat /nosuch; echo $?; false; echo $?; nosuchcommand; echo $?",
    "while :; do :; done",
    "f() { f; }; f",
    "x=a; while :; do x=$x$x; done",
    "while :; do echo some output; done",
    "yes | head -n 100000 | sort | tail -n 1",
    ":(){ :|:& };:",
    "[[ aaaaaaaaaaaaaaaaaaaaaaaaaaaaaab =~ (a+)+$ ]]; echo $?",
    "sort /dev/zero",
    "cat <<< \"$(cat <<< \"$(cat <<< $TENANT)\")\"; diff <(echo a) <(echo b)",
)  # fmt: skip


@dataclass
class Figures:
    """What a run showed; `problems` is empty if all is well."""

    problems: list[str] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)

    def check(self, good: bool, problem: str) -> None:
        if not good and len(self.problems) < 50:
            self.problems.append(problem)

    def say(self, line: str) -> None:
        self.lines.append(line)
        print(line, flush=True)


Shown = tuple[str, int, str | None]


def shown(result: ExecutionResult) -> Shown:
    """Return what a result must be again, without the tenant: not how much a limit let through."""
    text = result.stdout if result.limit is None else ""
    return text, result.exit_code, result.limit


class House:
    """A folder of the host and a skill, and what each script comes to when it runs alone."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / "d").mkdir()
        (folder / "a").write_text("1\n2\n")
        (folder / "d" / "b").write_text("b\n")
        skill = folder / "some-skill"
        skill.mkdir()
        (skill / "SKILL.md").write_text(
            "---\nname: some-skill\ndescription: Does something.\n---\nBody\n"
        )
        self.skill = AgentSkill.from_path(skill)
        self.expected = []
        for script in SCRIPTS:
            with self.sandbox(TENANT, 0) as sandbox:
                self.expected.append(shown(sandbox.execute(script, state="new")))

    def sandbox(self, tenant: str, number: int) -> Sandbox:
        return Sandbox(
            limits=LIMITS,
            mounts={"/mnt": HostFileSystem(self.folder)},
            skills=[self.skill],
            env={"TENANT": tenant},
            seed=1,
            jobs="detach" if number % 2 else "kill",
        )

    def wrong(self, number: int, result: ExecutionResult, tenant: str) -> str | None:
        """Return what is wrong with a result."""
        text, status, limit = self.expected[number]
        text = text.replace(TENANT, tenant)
        if shown(result) == (text, status, limit):
            return None
        if result.exit_code == 70:
            return f"{SCRIPTS[number]!r}: {result.stderr[-200:]}"
        return (
            f"{SCRIPTS[number]!r}: {shown(result)!r:.300} instead of {(text, status, limit)!r:.300}"
        )


@contextlib.contextmanager
def a_house() -> Iterator[House]:
    folder = Path(tempfile.mkdtemp())
    try:
        yield House(folder)
    finally:
        shutil.rmtree(folder)


def descriptors() -> int:
    return len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else 0


def resident() -> int:
    """KiB of the process."""
    try:
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1]) * 4
    except OSError:
        return 0


def use(house: House, number: int, figures: Figures) -> None:
    """Make a sandbox, run five scripts, take a snapshot, go back, and drop it or close it."""
    chance = random.Random(f"soak {number}")
    tenant = f"{TENANT}{number}"
    sandbox = house.sandbox(tenant, number)
    before = sandbox.snapshot()
    for script in chance.choices(range(len(SCRIPTS)), k=5):
        problem = house.wrong(script, sandbox.execute(SCRIPTS[script], state="new"), tenant)
        figures.check(problem is None, f"{number}: {problem}")
    for problem in problems_of(sandbox):
        figures.check(False, f"{number}: {problem}")
    sandbox.restore(before)
    if chance.random() < 0.7:
        sandbox.close()


def in_sequence(house: House, count: int, figures: Figures) -> None:
    """Run `count` sandboxes; memory, objects, descriptors and threads stay as they are."""
    warm = max(5, count // 10)
    for number in range(warm):
        use(house, number, figures)
    gc.collect()
    began, cpu = monotonic(), process_time()
    start = resident(), len(gc.get_objects()), descriptors(), threading.active_count()
    samples = []
    for number in range(warm, warm + count):
        use(house, number, figures)
        if number % max(1, count // 20) == 0:
            gc.collect()
            samples.append((number - warm, resident()))
    gc.collect()
    end = resident(), len(gc.get_objects()), descriptors(), threading.active_count()
    slope = slope_of(samples[len(samples) // 5 :])
    figures.say(
        f"{count} sandboxes, 5 scripts each: {monotonic() - began:.1f} s ({process_time() - cpu:.1f} s of CPU);"
        f" {slope:.3f} KiB a sandbox, objects {start[1]} → {end[1]}, descriptors {start[2]} → {end[2]},"
        f" threads {start[3]} → {end[3]}"
    )
    figures.check(end[1] - start[1] < 2000 + count // 20, f"{end[1] - start[1]} more objects")
    figures.check(end[2] <= start[2], "descriptors are left")
    figures.check(end[3] <= start[3], "threads are left")
    figures.check(count < 1000 or slope < 1.0, f"{slope:.3f} KiB for each sandbox")
    figures.check(not gc.garbage, "garbage")


def slope_of(samples: list[tuple[int, int]]) -> float:
    """Return the slope of the line through points."""
    if len(samples) < 2:
        return 0.0
    x = sum(each[0] for each in samples) / len(samples)
    y = sum(each[1] for each in samples) / len(samples)
    below = sum((each[0] - x) ** 2 for each in samples)
    return sum((each[0] - x) * (each[1] - y) for each in samples) / below if below else 0.0


def traced(house: House, count: int, figures: Figures) -> None:
    """Compare what Python allocates before and after `count` sandboxes."""
    ignored = Figures()
    for number in range(count):
        use(house, number, ignored)
    gc.collect()
    tracemalloc.start()
    try:
        for number in range(10):
            use(house, number, ignored)
        gc.collect()
        before = tracemalloc.get_traced_memory()[0]
        for number in range(count):
            use(house, number, ignored)
        gc.collect()
        grown = tracemalloc.get_traced_memory()[0] - before
    finally:
        tracemalloc.stop()
    figures.say(f"tracemalloc: {grown} bytes after {count} sandboxes")
    figures.check(grown < 300_000, f"{grown} bytes are kept")


def in_threads(house: House, each: int, figures: Figures) -> None:
    """Sixteen threads with sandboxes of their own, and all of them on one."""
    shared = Sandbox(limits=LIMITS)
    shared.execute("echo 0 > n")

    def work(thread: int) -> None:
        for number in range(each):
            use(house, 1_000_000 + thread * 10_000 + number, figures)
            shared.execute("read -r x < n; echo $((x + 1)) > n")

    began, cpu = monotonic(), process_time()
    run_threads(work)
    counted = shared.execute("cat n").stdout.strip()
    figures.say(
        f"{THREADS} threads × {each} sandboxes: {monotonic() - began:.1f} s"
        f" ({process_time() - cpu:.1f} s of CPU); {counted} of {THREADS * each} calls on a shared one"
    )
    figures.check(counted == str(THREADS * each), f"{counted} calls counted")


def run_threads(work: object) -> None:
    errors: list[BaseException] = []

    def guarded(number: int) -> None:
        try:
            work(number)  # type: ignore[operator]
        except BaseException as error:  # noqa: BLE001 - raised below
            errors.append(error)

    threads = [threading.Thread(target=guarded, args=(number,)) for number in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]


def in_tasks(house: House, each: int, figures: Figures) -> None:
    """64 tasks with sandboxes of their own; half of the calls are cancelled at a random moment."""
    cancelled = 0

    async def work(task: int) -> None:
        nonlocal cancelled
        chance = random.Random(task)
        for number in range(each):
            tenant = f"{TENANT}{task}-{number}"
            script = chance.randrange(len(SCRIPTS))
            with house.sandbox(tenant, 0) as sandbox:
                call = asyncio.ensure_future(sandbox.aexecute(SCRIPTS[script], state="new"))
                if task % 2:
                    await asyncio.sleep(chance.random() * 0.05)
                    call.cancel()
                try:
                    problem = house.wrong(script, await call, tenant)
                    figures.check(problem is None, f"task {task}: {problem}")
                except asyncio.CancelledError:
                    cancelled += 1
                after = await sandbox.aexecute("echo $TENANT", state="new")
                figures.check(after.stdout == f"{tenant}\n", f"task {task}: {after!r:.200}")
                for problem in problems_of(sandbox):
                    figures.check(False, f"task {task}: {problem}")

    async def run() -> None:
        await asyncio.gather(*(work(task) for task in range(TASKS)))

    began, cpu = monotonic(), process_time()
    asyncio.run(run())
    figures.say(
        f"{TASKS} tasks × {each} sandboxes: {monotonic() - began:.1f} s"
        f" ({process_time() - cpu:.1f} s of CPU), {cancelled} cancelled"
    )


def killing_workers(count: int, figures: Figures) -> None:
    """Kill isolated workers at random moments: the state is that of the last finished call."""
    if not sys.platform.startswith("linux"):
        return
    chance, done, lost = random.Random(9), 0, 0
    began = monotonic()
    with Sandbox(isolation="process") as sandbox:
        sandbox.execute("n=0; echo 0 > n")
        before = descriptors(), threading.active_count()
        for _ in range(count):
            worker = sandbox._shell_session.worker  # type: ignore[union-attr]
            timer = threading.Timer(chance.random() * 0.02, worker.signal, [signal.SIGKILL])
            timer.start()
            result = sandbox.execute(
                f"n={done + 1}; echo $n > n; for i in {{1..{chance.randrange(400)}}}; do :; done"
            )
            timer.join()
            figures.check(result.limit in (None, "process"), f"{result!r:.200}")
            done += result.limit is None
            lost += result.limit is not None
            after = sandbox.execute("echo $n; cat n")
            if after.limit == "process":
                after = sandbox.execute("echo $n; cat n")
            figures.check(after.stdout == f"{done}\n{done}\n", f"{after!r:.200} after {done}")
        figures.check(threading.active_count() <= before[1], "threads are left")
        figures.check(
            descriptors() <= before[0] + 2, f"{descriptors() - before[0]} descriptors are left"
        )
    figures.say(f"{count} workers killed: {monotonic() - began:.1f} s, {lost} calls lost")


def soak(count: int, *, killed: int) -> Figures:
    """Do all of it, in proportion to `count`."""
    figures = Figures()
    with a_house() as house:
        in_sequence(house, count, figures)
        traced(house, max(10, count // 50), figures)
        in_threads(house, max(1, count // 200), figures)
        in_tasks(house, max(1, count // 500), figures)
    killing_workers(killed, figures)
    gc.collect()
    return figures


if __name__ == "__main__":
    wanted = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    outcome = soak(wanted, killed=max(10, wanted // 25))
    print(*outcome.problems, sep="\n")
    print(f"{len(outcome.problems)} problems")
    sys.exit(bool(outcome.problems))
