"""How long scripts take here, in real bash and in other shells inside the process. Run: python
benchmarks/shell.py

Samples are interleaved (one of each shell after the other, so that a busy moment hits all of them)
and the figures are medians. Real bash is one `bash -c` for each execution, in a temporary
directory: what a tool of an agent pays. Other shells take part when their packages are installed.
"""

from __future__ import annotations

import argparse
import gc
import importlib.util
import os
import statistics
import subprocess
import sys
import tempfile
import time
import tracemalloc

from agentsandbox import AgentSkill, Sandbox

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    Run = Callable[[str], bytes]

SCRIPTS = {
    "echo": ("echo hi", 50),
    "pipe of three": ("printf 'b\\na\\n' | sort | head -n 1", 50),
    "while [ ] 10,000": ("i=0; while [ $i -lt 10000 ]; do i=$((i+1)); done; echo $i", 1),
    "for (( )) 10,000": ("s=0; for ((i=0; i<10000; i++)); do ((s+=i)); done; echo $s", 1),
    "for word 10,000": ("for i in $(seq 10000); do x=$i; done; echo $x", 1),
    "function 10,000": (
        "f() { local a=$1; r=$((a+1)); }; r=0; for ((i=0; i<10000; i++)); do f $r; done; echo $r",
        1,
    ),
    "case 10,000": (
        (
            "n=0; for ((i=0; i<10000; i++)); do case $((i%3)) in 0) ((n++));; 1) ;; *) ;; "
            "esac; done; echo $n"
        ),
        1,
    ),
    "string of 10,000": ('s=; for ((i=0; i<10000; i++)); do s="$s$i,"; done; echo ${#s}', 1),
    "yes | head": ("yes | head -n 3", 10),
    "sort | uniq -c": (
        (
            "for i in $(seq 3000); do echo $((i * 7919 % 101)); done | sort -n | uniq -c | "
            "sort -rn | head -n 1"
        ),
        1,
    ),
    "awk sum": ("seq 50000 | awk '{ s += $1 } END { print s }'", 1),
    "sed | grep": ("seq 50000 | sed 's/1/one/g' | grep -c one", 1),
}
"""A title → the script and how many executions make a sample."""

SMALL = {
    f"skill-{number}": {f"file-{file}.md": "lorem ipsum\n" * 20 for file in range(19)}
    for number in range(50)
}
"""Fifty skills of twenty files."""


def real_bash(directory: str) -> Run:
    env = {"PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8"}

    def run(script: str) -> bytes:
        return subprocess.run(
            ["bash", "-c", script], cwd=directory, env=env, stdout=subprocess.PIPE, check=True
        ).stdout

    return run


def ours() -> Run:
    sandbox = Sandbox()
    return lambda script: sandbox.execute(script, timeout=30).check().stdout_bytes


def bashkit() -> Run:
    import bashkit

    ceiling = 10**9
    profile = bashkit.ExecutionProfile.Interactive
    shell = bashkit.Bash(
        max_commands=ceiling,
        max_loop_iterations=ceiling,
        timeout_seconds=600,
        max_memory=ceiling,
        profile=profile,
    )
    return lambda script: shell.execute_sync(script).stdout.encode()


def just_bash() -> Run:
    from just_bash import Bash
    from just_bash.types import ExecutionLimits

    ceiling = 10**9
    limits = ExecutionLimits(
        max_command_count=ceiling, max_loop_iterations=ceiling, max_awk_iterations=ceiling
    )
    shell = Bash(limits=limits)
    return lambda script: shell.run(script).stdout.encode()


def seconds(run: Run, script: str, count: int) -> float:
    """Seconds of one execution."""
    gc.collect()
    began = time.perf_counter()
    for _ in range(count):
        run(script)
    return (time.perf_counter() - began) / count


def compare(runs: dict[str, Run], repeat: int) -> None:
    """A table of scripts: our median beside the medians of the others, and the ratios."""
    others = [name for name in runs if name != "agentsandbox"]
    print(
        f"{'script':18}{'agentsandbox':>14}" + "".join(f"{name:>14}{'ratio':>8}" for name in others)
    )
    for title, (script, count) in SCRIPTS.items():
        expected = runs["bash"](script)
        right = {name: run(script) == expected for name, run in runs.items()}
        samples: dict[str, list[float]] = {name: [] for name in runs}
        for _ in range(repeat):
            for name, run in runs.items():
                if right[name]:
                    samples[name].append(
                        seconds(run, script, min(count, 5) if name == "bash" else count)
                    )
        medians = {name: statistics.median(times) for name, times in samples.items() if times}
        mine = medians["agentsandbox"]
        columns = [
            f"{shown(medians[name]):>14}{mine / medians[name]:8.3f}"
            if name in medians
            else f"{'differs':>14}{'':8}"
            for name in others
        ]
        print(f"{title:18}{shown(mine):>14}" + "".join(columns), flush=True)


def shown(value: float) -> str:
    """Seconds in the unit that suits them."""
    if value >= 1:
        return f"{value:.1f} s"
    return f"{value * 1e3:.1f} ms" if value >= 1e-3 else f"{value * 1e6:.1f} us"


def median_of(call: Callable[[], object], count: int, repeat: int) -> float:
    """The median of `repeat` samples of `count` calls, seconds of one call."""
    samples = []
    for _ in range(repeat):
        gc.collect()
        began = time.perf_counter()
        for _ in range(count):
            call()
        samples.append((time.perf_counter() - began) / count)
    return statistics.median(samples)


def first_execution() -> float:
    """CPU seconds of a fresh process for the import and a first script, beyond those of an empty
    process.
    """

    def used(program: str) -> float:
        probe = f"{program}\nimport time; print(time.process_time())"
        return float(
            subprocess.run(
                [sys.executable, "-c", probe], stdout=subprocess.PIPE, text=True, check=True
            ).stdout.split()[-1]
        )

    script = "from agentsandbox import Sandbox; Sandbox().execute('echo hi')"
    return statistics.median(used(script) - used("pass") for _ in range(7))


def idle_bytes(number: int) -> int:
    """Bytes that sandboxes hold which have not run a script."""
    Sandbox()
    tracemalloc.start()
    held = [Sandbox() for _ in range(number)]
    size = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    del held
    return size


def figures(repeat: int) -> None:
    """What has no counterpart in bash."""
    skills = [
        AgentSkill.from_files(
            {"SKILL.md": f"---\nname: {name}\ndescription: A skill.\n---\n", **files}
        )
        for name, files in SMALL.items()
    ]
    full = Sandbox()
    for number in range(5000):
        if number % 100 == 0:
            full.fs.makedirs(f"/workspace/{number // 100}")
        full.fs.write_bytes(f"/workspace/{number // 100}/{number}", b"x" * 100)
    used = Sandbox()
    used.execute("x=1; f() { :; }")
    print(f"{'Sandbox()':44}{shown(median_of(Sandbox, 200, repeat)):>12}")
    print(
        f"{'Sandbox() and a first echo, process warm':44}"
        f"{shown(median_of(lambda: Sandbox().execute('echo hi'), 100, repeat)):>12}"
    )
    print(
        f"{'Sandbox(skills=50 skills of 20 files)':44}"
        f"{shown(median_of(lambda: Sandbox(skills=skills), 50, repeat)):>12}"
    )
    print(f"{'snapshot of 5,000 files':44}{shown(median_of(full.snapshot, 200, repeat)):>12}")
    print(f"{'fork of 5,000 files':44}{shown(median_of(full.fork, 100, repeat)):>12}")
    print(f"{'fork of a sandbox with a shell':44}{shown(median_of(used.fork, 100, repeat)):>12}")
    print(f"{'1,000 idle sandboxes':44}{idle_bytes(1000) / 1024 / 1024:>8.1f} MiB")
    print(f"{'import and a first execute, CPU':44}{shown(first_execution()):>12}")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--repeat", type=int, default=7, help="samples (7)")
    parser.add_argument(
        "--alone", action="store_true", help="only the figures that bash has no counterpart for"
    )
    options = parser.parse_args()
    if not options.alone:
        with tempfile.TemporaryDirectory(
            dir="/dev/shm" if os.path.isdir("/dev/shm") else None
        ) as directory:
            runs: dict[str, Run] = {"bash": real_bash(directory), "agentsandbox": ours()}
            for make in (bashkit, just_bash):
                if importlib.util.find_spec(make.__name__) is not None:
                    runs[make.__name__] = make()
            compare(runs, options.repeat)
        print()
    figures(options.repeat)


if __name__ == "__main__":
    main()
