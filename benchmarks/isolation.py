"""A call in a process of its own beside one in this process. Run: python benchmarks/isolation.py

Milliseconds, the least and the median of many calls, in turns; the bars are for a quiet machine.
"""

from __future__ import annotations

import re
import statistics
import time
from pathlib import Path

from agentsandbox import Sandbox

CALLS = 1000
SCRIPTS = {
    "echo": "echo hello",
    "a pipeline": "seq 100 | sort -r | head -n 3",
    "a file": "date > now; cat now; rm now",
    "a variable": 'n=$((n + 1)); last="number $n"',
}
BAR_ECHO, BAR_MEMORY = 0.3, 8.0


def main() -> None:
    """Print a row for each script, and the memory of a worker."""
    print(f"{'':12} {'thread':>16} {'process':>16}   ratio")
    for name, script in SCRIPTS.items():
        with Sandbox() as here, Sandbox(isolation="process") as there:
            for sandbox in (here, there):
                for _ in range(20):
                    sandbox.execute(script)
            times: tuple[list[float], list[float]] = ([], [])
            for _ in range(CALLS):
                for taken, sandbox in zip(times, (here, there), strict=True):
                    taken.append(seconds(sandbox, script))
            middle = [statistics.median(each) * 1000 for each in times]
            shown = [
                f"{min(each) * 1000:7.3f} {mid:8.3f}"
                for each, mid in zip(times, middle, strict=True)
            ]
            bar = f"   (bar {BAR_ECHO})" if name == "echo" else ""
            print(f"{name:12} {shown[0]:>16} {shown[1]:>16} {middle[1] / middle[0]:7.1f}{bar}")
            if name == "echo":
                memory = private_megabytes(there)
    print(f"private memory of a worker: {memory:.1f} MiB (bar {BAR_MEMORY:.0f})")


def seconds(sandbox: Sandbox, script: str) -> float:
    """Return how long a call takes."""
    began = time.perf_counter()
    sandbox.execute(script)
    return time.perf_counter() - began


def private_megabytes(sandbox: Sandbox) -> float:
    """Return the memory that only the worker of a sandbox has."""
    worker = sandbox._shell_session.worker  # type: ignore[union-attr]
    facts = Path(f"/proc/self/fdinfo/{worker._handle}").read_text(encoding="ascii")  # type: ignore[union-attr]
    pid = next(line.split()[1] for line in facts.splitlines() if line.startswith("Pid:"))
    rollup = Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="ascii")
    return sum(int(size) for size in re.findall(r"Private_\w+:\s+(\d+)", rollup)) / 1024


if __name__ == "__main__":
    main()
