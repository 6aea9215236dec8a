"""Attacks by family, each in a sandbox of its own inside a worker process: a hang or a crash is a failure, not the end.

A small sample runs with the tests. By hand, all of them, with the time that the promise allows:

    python -m tests.security.test_attacks [TIMEOUT [FAMILY...]]
"""

from __future__ import annotations

import json
import select
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from tests.security import large_values as _large_values  # noqa: F401 - adds its attacks
from tests.security.attack_scripts import ATTACKS
from tests.security.trial import Finding

TIMEOUT = 0.3
"""Seconds that an attack may take in the sample."""
SAMPLE = 3
"""Attacks of each family in the sample."""
FAMILIES = sorted({attack.family for attack in ATTACKS})
ROOT = Path(__file__).parents[2]


class Worker:
    """A process that tries attacks, replaced when one of them ended it or made it large."""

    def __init__(self, timeout: float) -> None:
        self.timeout = timeout
        self.process: subprocess.Popen[str] | None = None

    def try_number(self, number: int) -> Finding:
        if self.process is None:
            command = [sys.executable, "-m", "tests.security.trial", str(self.timeout)]
            self.process = subprocess.Popen(
                command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
            )
        process = self.process
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(f"{number}\n")
        process.stdin.flush()
        patience = self.timeout + 20
        ready, _, _ = select.select([process.stdout], [], [], patience)
        line = process.stdout.readline() if ready else ""
        if line:
            finding = Finding(*json.loads(line))
            if finding.growth > 60:
                self.close()
            return finding
        self.close()
        return Finding([f"the process ended with {process.returncode}" if ready else "hung"], patience, 0, None, None, "")

    def close(self) -> None:
        process, self.process = self.process, None
        if process is not None:
            process.kill()
            process.wait()
            for stream in (process.stdin, process.stdout):
                if stream is not None:
                    stream.close()


def numbers_of(family: str) -> list[int]:
    return [number for number, attack in enumerate(ATTACKS) if attack.family == family]


def sample_of(family: str) -> list[int]:
    numbers = numbers_of(family)
    return numbers[:: max(1, len(numbers) // SAMPLE)][:SAMPLE]


@pytest.fixture(scope="module")
def worker() -> Iterator[Worker]:
    made = Worker(TIMEOUT)
    yield made
    made.close()


@pytest.mark.skipif(sys.platform == "win32", reason="pipes cannot be polled")
@pytest.mark.parametrize("family", FAMILIES)
def test_attacks(family: str, worker: Worker) -> None:
    wrong = {}
    for number in sample_of(family):
        finding = worker.try_number(number)
        slow = [problem for problem in finding.problems if problem.startswith("took") and finding.seconds < TIMEOUT + 2]
        problems = [problem for problem in finding.problems if problem not in slow]  # other work on the machine is no fault
        if problems:
            wrong[ATTACKS[number].script[:200]] = problems
    assert not wrong


def run_all(timeout: float, families: Iterable[str]) -> int:
    worker = Worker(timeout)
    wanted = set(families) or set(FAMILIES)
    failed = tried = 0
    for number, attack in enumerate(ATTACKS):
        if attack.family not in wanted:
            continue
        tried += 1
        finding = worker.try_number(number)
        if finding.problems:
            failed += 1
            print(number, attack.family, "; ".join(finding.problems), finding.status, finding.limit, repr(attack.script[:150]), flush=True)
    worker.close()
    print(f"{tried} attacks, {failed} with findings")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(run_all(float(sys.argv[1]) if len(sys.argv) > 1 else 2.0, sys.argv[2:]))
