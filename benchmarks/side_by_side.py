"""This checkout beside another one. Run: python benchmarks/side_by_side.py OTHER [WORD...]

Every row of `shell.py` and `text.py` runs in both, by turns, each in a process of its own; with
words only the rows that hold one of them. A figure is the quickest of the samples, in CPU seconds,
and the ratio is ours to the other's: above 1.05 is worth a second look. The last rows are a first
`echo` in a fresh process and what has no script (making a sandbox, forks).
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parents[1]
SAMPLES = 15
ENOUGH = 0.5
"""CPU seconds of one row's samples after which no further sample is taken."""

FRESH = (
    "import time; from agentsandbox import Sandbox; Sandbox().execute('echo hi');"
    "print(time.process_time())"
)


def serve(root: str) -> None:
    """Time each script that is asked for, with the code of the checkout `root`."""
    sys.path.insert(0, root)
    sys.path.insert(1, str(HERE / "benchmarks"))
    import gc
    import time

    import text

    from agentsandbox import Limits, Sandbox

    run_text = text.ours(text.make_files())
    plain = Sandbox(limits=Limits(timeout=60))
    full = Sandbox(files={f"{n % 50}/{n}": "x" * 100 for n in range(5000)})
    calls = {
        "Sandbox()": Sandbox,
        "Sandbox() and echo": lambda: Sandbox().execute("echo hi"),
        "fork of 5,000 files": full.fork,
        "snapshot of 5,000 files": full.snapshot,
    }
    print("ready", flush=True)
    for line in sys.stdin:
        kind, script, count = json.loads(line)
        gc.collect()
        began = time.process_time()
        for _ in range(count):
            if kind == "text":
                run_text(f"{{ {script}; }} > out.txt")
            elif kind == "shell":
                plain.execute(script)
            else:
                calls[script]()
        print(json.dumps((time.process_time() - began) / count), flush=True)


class Worker:
    """A process with the code of one checkout."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.process = subprocess.Popen(
            [sys.executable, "-I", __file__, "--serve", str(root)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self.process.stdout is not None
        self.process.stdout.readline()

    def seconds(self, kind: str, script: str, count: int) -> float:
        """Return the CPU seconds of one run."""
        if kind == "fresh":
            done = subprocess.run(
                [
                    sys.executable,
                    "-c",
                    f"import sys; sys.path.insert(0, {str(self.root)!r}); {FRESH}",
                ],
                stdout=subprocess.PIPE,
                text=True,
                check=True,
                cwd="/",
            )
            return float(done.stdout)
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps([kind, script, count]) + "\n")
        self.process.stdin.flush()
        return float(self.process.stdout.readline())


def rows() -> list[tuple[str, str, int]]:
    """Return (kind, script, executions of a sample) for all rows."""
    sys.path.insert(0, str(HERE))
    import shell
    import text

    found = [("shell", script, count * 4) for script, count in shell.SCRIPTS.values()]
    found += [("text", script, 1) for script in text.SCRIPTS]
    found += [
        ("call", "Sandbox()", 2000),
        ("call", "Sandbox() and echo", 300),
        ("call", "fork of 5,000 files", 1000),
        ("call", "snapshot of 5,000 files", 1000),
        ("fresh", "a first echo in a fresh process", 1),
    ]
    return found


def main(other: str, words: list[str]) -> None:
    workers = [Worker(HERE), Worker(Path(other).resolve())]
    ratios = []
    for kind, script, count in rows():
        if words and not any(word in script for word in words):
            continue
        best = [float("inf")] * 2
        spent = 0.0
        for sample in range(4 * SAMPLES if kind == "fresh" else SAMPLES):
            for place, worker in enumerate(workers):
                taken = worker.seconds(kind, script, count)
                spent += taken * count
                best[place] = min(best[place], taken)
            if sample >= 2 and spent > 8 * ENOUGH:
                break
        ratio = best[0] / best[1]
        ratios.append(ratio)
        mark = " *" if ratio > 1.05 else ""
        print(f"{script:70.70} {best[0] * 1e3:10.3f} ms {ratio:6.3f}{mark}", flush=True)
    ratios.sort()
    print(f"{len(ratios)} rows, median {ratios[len(ratios) // 2]:.3f}, largest {ratios[-1]:.3f}")


if __name__ == "__main__":
    if sys.argv[1] == "--serve":
        serve(sys.argv[2])
    else:
        main(sys.argv[1], sys.argv[2:])
