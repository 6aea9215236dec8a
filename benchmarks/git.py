"""git in a sandbox beside the real git as a subprocess. Run: python benchmarks/git.py

Each row is measured in turns: one call here, one call there. Times are in milliseconds: the median
of the wall clock, and in brackets the least CPU time (of the child with the real git), which says
more on a machine that has other work. The ratios are those of the medians and of the CPU times.
"""

from __future__ import annotations

import os
import resource
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

from agentsandbox import Limits, Sandbox

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

IDENTITY = {
    "GIT_AUTHOR_NAME": "A U Thor",
    "GIT_AUTHOR_EMAIL": "author@example.com",
    "GIT_COMMITTER_NAME": "A U Thor",
    "GIT_COMMITTER_EMAIL": "author@example.com",
    "GIT_CONFIG_NOSYSTEM": "1",
}
FILES = {f"d{n % 100}/s{n % 7}/{n}.txt": f"{n}\n" * 20 for n in range(5000)}
HISTORY = (
    "git init -q h; cd h; for n in $(seq 200); do echo $n > f; git add f; git commit -qm c$n; done"
)
TEN = "for n in 0 1 2 3 4 5 6 7 8 9; do echo $RANDOM$RANDOM > ten$n; done; git add ten*"
THREE = "for n in 1 2 3; do echo $RANDOM > d$n/s$n/$n.txt; done"
FIRST = "rm -rf one; mkdir one; echo x > one/a"
ROWS: list[tuple[str, str, str, str]] = [
    ("diff, 5,000 files, clean", "tree", "", "git diff"),
    ("diff, 5,000 files, 3 changed", "tree", THREE, "git diff"),
    ("status, 5,000 files", "tree", "", "git status"),
    ("status --porcelain", "tree", "", "git status --porcelain"),
    ("commit of 10 files", "tree", TEN, "git commit -qm ten"),
    ("log -100 --oneline", "h", "", "git log -100 --oneline"),
    ("init, add, commit of a file", ".", FIRST,
     "cd one && git init -q && git add a && git commit -qm a"),
]  # fmt: skip
SAMPLES = 15


class Side:
    """One of the two: how to run a script, and its times."""

    def __init__(self, run: Callable[[str, str], None], who: int) -> None:
        self.run = run
        self.who = who
        self.wall: list[float] = []
        self.cpu: list[float] = []

    def sample(self, folder: str, before: str, script: str) -> None:
        """Run a script once, measured, after what comes before it."""
        if before:
            self.run(folder, before)
        used, began = self._cpu(), time.perf_counter()
        self.run(folder, script)
        self.wall.append(time.perf_counter() - began)
        self.cpu.append(self._cpu() - used)

    def _cpu(self) -> float:
        usage = resource.getrusage(self.who)
        return usage.ru_utime + usage.ru_stime

    def take(self) -> tuple[float, float]:
        """Return (median wall clock, least CPU time) in milliseconds, and start again."""
        found = statistics.median(self.wall) * 1000, min(self.cpu) * 1000
        self.wall, self.cpu = [], []
        return found


def sides(folder: str) -> tuple[Side, Side]:
    """Return the sandbox and the host with the same repositories."""
    sandbox = Sandbox(
        env=IDENTITY,
        files={f"tree/{name}": text for name, text in FILES.items()},
        limits=Limits(timeout=300, steps=1 << 60),
    )
    top = sandbox.execute("pwd").stdout.strip()
    for name, text in FILES.items():
        path = Path(folder, "tree", name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    env = {"PATH": os.environ["PATH"], "HOME": folder, **IDENTITY}

    def here(where: str, script: str) -> None:
        sandbox.execute(script, cwd=f"{top}/{where}").check()

    def there(where: str, script: str) -> None:
        words = None if set(script) & set(";&$'") else script.split()
        subprocess.run(
            words or ["bash", "-c", script],
            cwd=Path(folder, where), env=env, check=True, capture_output=True,
        )  # fmt: skip

    return Side(here, resource.RUSAGE_SELF), Side(there, resource.RUSAGE_CHILDREN)


def main() -> None:
    """Print the table."""
    with tempfile.TemporaryDirectory() as folder:
        ours, real = sides(folder)
        for side in (ours, real):
            side.run("tree", "git init -q; git add .; git commit -qm all")
            side.run(".", HISTORY)
        time.sleep(1.1)  # so that no entry is as old as the index
        for side in (ours, real):
            side.run("tree", "git status")
        print(f"{'':30}{'sandbox':>10}{'':10}{'git':>8}{'':10}{'ratio':>7}{'CPU':>7}")
        for name, where, before, script in ROWS:
            ours.sample(where, before, script)
            real.sample(where, before, script)
            ours.take()
            real.take()
            for _ in range(SAMPLES):
                ours.sample(where, before, script)
                real.sample(where, before, script)
            mine, my_cpu = ours.take()
            its, its_cpu = real.take()
            print(
                f"{name:30}{mine:10.2f} ({my_cpu:6.2f}) {its:8.2f} ({its_cpu:6.2f}) "
                f"{mine / its:6.2f} {my_cpu / its_cpu:6.2f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
