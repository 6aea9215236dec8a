"""Scripts by chance neither raise nor hang nor show an internal error; a few of each kind here, any
number by hand (`fuzzing`).
"""

from __future__ import annotations

import sys
from collections.abc import Iterator

import pytest

from tests.security.fuzz_trial import ask, start_worker
from tests.security.fuzzing import KINDS, command_names
from tests.security.worker import Worker

FEW = 40
"""Cases of each kind; of commands, one of each."""


@pytest.fixture(scope="module")
def worker() -> Iterator[Worker]:
    made = start_worker()
    yield made
    made.close()


@pytest.mark.skipif(sys.platform == "win32", reason="pipes cannot be polled")
@pytest.mark.parametrize("kind", KINDS)
def test_scripts_by_chance(kind: str, worker: Worker) -> None:
    wrong = {}
    for number in range(len(command_names()) if kind == "command" else FEW):
        found = [
            problem
            for problem in ask(worker, kind, number)
            if not problem.startswith("took 1") and not problem.startswith("took 2")
        ]
        if found:  # a little late is no fault: other work may be on the machine
            wrong[number] = found
    assert not wrong
