"""Fuzz the package: `python -m tests.fuzz`, or `make fuzz TIME=…`.

    python -m tests.fuzz list
    python -m tests.fuzz run TARGET… [--seconds N]     one process for each, one after the other
    python -m tests.fuzz replay TARGET FILE…           what is wrong with inputs, without atheris

The corpus and the findings are kept in `.fuzz/` and are read again by the next run. With atheris
(`pip install atheris`: there are wheels for Linux and some versions of Python) a run follows what
its inputs cover; without it, it mutates by chance.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
PLACE = Path(os.environ.get("FUZZ_PLACE", ROOT / ".fuzz"))


def run(name: str, seconds: float) -> None:
    """Fuzz one target in this process: nothing of the package may be imported before."""
    try:
        import atheris
    except ImportError:
        from tests.fuzz.engine import Findings, run_plain
        from tests.fuzz.target import find_target

        findings = Findings(PLACE / "findings" / name)
        run_plain(find_target(name), seconds, findings, seed=os.getpid())
        print(f"{findings.runs} inputs")
        return
    with atheris.instrument_imports(include=["agentsandbox"]):
        from tests.fuzz.engine import Findings, problem_of, run_atheris
        from tests.fuzz.judge import prepare
        from tests.fuzz.target import find_target

        target = find_target(name)
        prepare()
        for seed in target.seeds(30):  # loads what the target uses
            problem_of(target, seed)
    run_atheris(target, seconds, Findings(PLACE / "findings" / name), PLACE / "corpus" / name)


def run_all(names: list[str], seconds: float) -> int:
    """Fuzz targets, each in a process of its own; return 1 if there are findings."""
    status = 0
    for name in names:
        log = PLACE / f"{name}.log"
        log.parent.mkdir(parents=True, exist_ok=True)
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        with log.open("wb") as out:
            subprocess.run(
                [sys.executable, "-m", "tests.fuzz", "one", name, "--seconds", str(seconds)],
                stdout=out, stderr=out, cwd=ROOT, check=False,
            )  # fmt: skip
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        taken = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        kept = sorted((PLACE / "findings" / name).glob("*"))
        found = [path.name for path in kept if path.suffix != ".txt"]
        print(f"{name}: {taken / 60:.1f} minutes of CPU, {len(found)} findings", *found, flush=True)
        with (PLACE / "minutes.tsv").open("a") as table:
            table.write(f"{name}\t{taken / 60:.2f}\n")
        status |= bool(found)
    return status


def replay(name: str, paths: list[str]) -> int:
    """Say what is wrong with inputs."""
    from tests.fuzz import judge
    from tests.fuzz.engine import problem_of
    from tests.fuzz.target import find_target

    judge.prepare()
    target = find_target(name)
    wrong = 0
    for path in paths:
        problem_of(target, Path(path).read_bytes())  # loads modules
        problem = problem_of(target, Path(path).read_bytes())
        wrong += problem is not None
        print(f"{path}: {problem or 'nothing'}")
    return 1 if wrong else 0


def main() -> int:
    """Do what the words say."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz")
    parser.add_argument("what", choices=["list", "run", "one", "replay"])
    parser.add_argument("names", nargs="*")
    parser.add_argument("--seconds", type=float, default=60)
    given = parser.parse_intermixed_args()
    sys.dont_write_bytecode = True  # a module that is imported late touches no file
    every = [path.stem for path in sorted((ROOT / "tests/fuzz/targets").glob("[a-z]*.py"))]
    if given.what == "list":
        print(*every, sep="\n")
        return 0
    if given.what == "replay":
        return replay(given.names[0], given.names[1:])
    if given.what == "one":
        run(given.names[0], given.seconds)
        return 0
    return run_all(given.names or every, given.seconds)


if __name__ == "__main__":
    sys.exit(main())
