"""python3 in a sandbox beside the host's CPython as a process. Run: python benchmarks/python.py

Figures are the medians of wall-clock times, in milliseconds. The last rows are the first call in a
fresh process, how long a cancelled program goes on, and the memory of a sleeping one.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

from agentsandbox import Limits, Sandbox

WALK = """\
import os
size = 0
for folder, _, names in os.walk("tree"):
    for name in names:
        path = os.path.join(folder, name)
        size += os.stat(path).st_size + len(open(path).read())
print(size)
"""

PROGRAMS = {
    "pass": "pass",
    "json, re, argparse": "import json, re, argparse",
    "subprocess": "import subprocess; subprocess.run(['true'])",
    "a loop of a million": "n = 0\nfor i in range(1_000_000): n += i",
    "walk 2,000 files": WALK,
    "numpy": "import numpy",
    "pandas": "import pandas",
}
HOST_LACKS = {"numpy", "pandas"}
SAMPLES = 9


def median(run: object, samples: int = SAMPLES) -> float:
    """Return the median time of a call, in milliseconds."""
    assert callable(run)
    times = []
    for _ in range(samples):
        began = time.perf_counter()
        run()
        times.append(time.perf_counter() - began)
    return statistics.median(times) * 1000


def private() -> int:
    """Return the memory that only this process has, in bytes: not the shared start of guests."""
    for line in Path("/proc/self/smaps_rollup").read_text().splitlines():
        if line.startswith("Private_Dirty:"):
            return int(line.split()[1]) * 1024
    return 0


def main() -> None:
    """Print the table."""
    tree = {f"tree/{n % 40}/{n}.txt": "x" * 100 for n in range(2000)}
    sandbox = Sandbox(python=True, files=tree, limits=Limits(timeout=60))
    with tempfile.TemporaryDirectory() as folder:
        for name, text in tree.items():
            path = Path(folder, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        print(f"{'program':24}{'sandbox':>10}{'host':>10}")
        for name, program in PROGRAMS.items():
            sandbox.files.write("p.py", program)
            Path(folder, "p.py").write_text(program)
            sandbox.execute("python3 p.py").check()
            ours = median(lambda: sandbox.execute("python3 p.py").check())
            host = (
                None
                if name in HOST_LACKS
                else median(
                    lambda: subprocess.run(
                        [sys.executable, "p.py"], cwd=folder, check=True, capture_output=True
                    )
                )
            )
            print(f"{name:24}{ours:10.1f}{'' if host is None else f'{host:10.1f}'}", flush=True)
    fresh = (
        "import time; began = time.perf_counter(); from agentsandbox import Sandbox;"
        "Sandbox(python=True).execute('python3 -c pass'); print(time.perf_counter() - began)"
    )
    first = [
        float(subprocess.run([sys.executable, "-c", fresh], capture_output=True, check=True).stdout)
        for _ in range(5)
    ]
    print(f"{'first call in a process':24}{statistics.median(first) * 1000:10.1f}")
    late = []
    for _ in range(5):
        asked = []

        def cancel(asked: list[float] = asked) -> None:
            asked.append(time.perf_counter())
            sandbox.cancel()

        threading.Timer(0.2, cancel).start()
        sandbox.execute("python3 -c 'while True: pass'")
        late.append(time.perf_counter() - asked[0])
    print(f"{'end after cancel':24}{max(late) * 1000:10.1f}")
    before = private()
    crowd = [Sandbox(python=True) for _ in range(8)]
    threads = [
        threading.Thread(target=one.execute, args=("python3 -c 'import time; time.sleep(2)'",))
        for one in crowd
    ]
    for thread in threads:
        thread.start()
    time.sleep(1)
    print(f"{'MiB of a sleeping guest':24}{(private() - before) / len(crowd) / 2**20:10.1f}")
    for thread in threads:
        thread.join()


if __name__ == "__main__":
    main()
