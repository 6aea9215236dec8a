"""Threads that run one text for the first time together: what they share must be whole when seen.

A text that two sandboxes run is read once and compiled in parts as it runs, and both hold the same
compiled command, pattern or program. A part that is marked as made before it is made gives a wrong
result to the thread that looks in between, perhaps once in ten thousand times. So threads meet at a
barrier before each case of the specs, which is new to the process, and are switched every
microsecond; each has a sandbox of its own and must get what real bash gave.

`SHARING_SPECS` is the number of cases (0: all of the specs), `SHARING_SEED` chooses them.
"""

from __future__ import annotations

import os
import random
import sys
import threading
from collections.abc import Iterator

import pytest

from agentsandbox import Sandbox
from tests.record.cases import DIRECTORY, ENVIRONMENT, Case, load
from tests.test_specs import SPECS, place_files

COUNT = int(os.environ.get("SHARING_SPECS", "150"))
SEED = os.environ.get("SHARING_SEED", "7")
THREADS = 4


@pytest.fixture
def often() -> Iterator[None]:
    """Switch threads as often as Python can."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def cases() -> list[tuple[str, Case]]:
    """Return cases by chance, or all of them, with their places."""
    chance = random.Random(f"sharing {SEED}")
    found = [
        (f"{path.relative_to(SPECS).with_suffix('').as_posix()}: {case.name}", case)
        for path in sorted(SPECS.rglob("*.toml"))
        for case in load(path)
    ]
    return chance.sample(found, COUNT) if COUNT else found


def _outcomes(case: Case) -> list[object]:
    """Run a case in threads that begin together; return what each got."""
    found: list[object] = []
    barrier = threading.Barrier(THREADS)

    def work() -> None:
        try:
            with Sandbox(cwd=DIRECTORY, env={**ENVIRONMENT, **case.env}) as sandbox:
                place_files(sandbox, case)
                barrier.wait(20)
                result = sandbox.execute(case.script, stdin=case.stdin, args=case.args)
            found.append((result.stdout_bytes, result.stderr_bytes, result.exit_code))
        except BaseException as error:  # noqa: BLE001 - that none comes out is what is tested
            found.append(error)

    threads = [threading.Thread(target=work) for _ in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    return found


# TM-NEXT-4
@pytest.mark.usefixtures("often")
def test_threads_share_what_they_run_first() -> None:
    wrong = []
    for place, case in cases():
        expected = (case.stdout, case.stderr, case.status)
        found = _outcomes(case)
        if found != [expected] * THREADS:
            wrong.append((place, [one for one in found if one != expected]))
    assert wrong == []
