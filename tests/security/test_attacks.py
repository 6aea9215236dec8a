"""Attacks by family, each in a sandbox of its own inside a worker process: a hang or a crash is a
failure, not the end.

A small sample runs with the tests. By hand, all of them, with the time that the promise allows:

    python -m tests.security.test_attacks [TIMEOUT [FAMILY...]]
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator

import pytest

from tests.security import large_values as _large_values  # noqa: F401 - adds its attacks
from tests.security.attack_scripts import ATTACKS
from tests.security.trial import Finding
from tests.security.worker import Worker, WorkerError

TIMEOUT = 0.3
"""Seconds that an attack may take in the sample."""
SAMPLE = 3
"""Attacks of each family in the sample."""
FAMILIES = sorted({attack.family for attack in ATTACKS})
LARGE = 60
"""MiB that a worker may have gained before it is replaced."""


def start_worker(timeout: float) -> Worker:
    return Worker("tests.security.trial", str(timeout), patience=timeout + 20)


def try_number(worker: Worker, number: int) -> Finding:
    """Try an attack; a worker that became large is replaced."""
    try:
        finding = Finding(*worker.ask(str(number)))
    except WorkerError as error:
        return Finding([str(error)], worker.patience, 0, None, None, "")
    if finding.growth > LARGE:
        worker.close()
    return finding


def numbers_of(family: str) -> list[int]:
    return [number for number, attack in enumerate(ATTACKS) if attack.family == family]


def sample_of(family: str) -> list[int]:
    numbers = numbers_of(family)
    return numbers[:: max(1, len(numbers) // SAMPLE)][:SAMPLE]


@pytest.fixture(scope="module")
def worker() -> Iterator[Worker]:
    made = start_worker(TIMEOUT)
    yield made
    made.close()


# TM-TIME-1, TM-NEXT-1
@pytest.mark.skipif(sys.platform == "win32", reason="pipes cannot be polled")
@pytest.mark.parametrize("family", FAMILIES)
def test_attacks(family: str, worker: Worker) -> None:
    wrong = {}
    for number in sample_of(family):
        finding = try_number(worker, number)
        slow = [
            problem
            for problem in finding.problems
            if problem.startswith("took") and finding.seconds < TIMEOUT + 2
        ]
        problems = [
            problem for problem in finding.problems if problem not in slow
        ]  # other work on the machine is no fault
        if problems:
            wrong[ATTACKS[number].script[:200]] = problems
    assert not wrong


def run_all(timeout: float, families: Iterable[str]) -> int:
    worker = start_worker(timeout)
    wanted = set(families) or set(FAMILIES)
    failed = tried = 0
    for number, attack in enumerate(ATTACKS):
        if attack.family not in wanted:
            continue
        tried += 1
        finding = try_number(worker, number)
        if finding.problems:
            failed += 1
            print(
                number,
                attack.family,
                "; ".join(finding.problems),
                finding.status,
                finding.limit,
                repr(attack.script[:150]),
                flush=True,
            )
    worker.close()
    print(f"{tried} attacks, {failed} with findings")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(run_all(float(sys.argv[1]) if len(sys.argv) > 1 else 2.0, sys.argv[2:]))
