"""A call of the host that fails, wherever it is: the work says so or ends as usual (`faults`).

`FAULTS_EVERY=1` tries every call with every fault, which takes some 15 minutes of CPU, and
`FAULTS_EVERY=4` every fourth call; the suite takes a sample.
"""

from __future__ import annotations

import functools
import os
import random
import sys

import pytest

from tests.security.faults import FAULTS, WORKS, problem_with, run

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="no openat")

EVERY = int(os.environ.get("FAULTS_EVERY", "0"))
SAMPLE = 2
"""Calls of each work and fault that fail, unless `EVERY` says otherwise."""


without_faults = functools.cache(lambda work: run(work, 0, "EIO"))


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("work", WORKS)
def test_a_call_of_the_host_that_fails(work: str, fault: str) -> None:
    if (work, fault) == ("remote", "EACCES"):
        pytest.skip("references that may not be read are not there for git")
    outcome, tree, calls = without_faults(work)
    assert outcome.failed == (work == "two mounts")
    chance, numbers = random.Random(f"{work} {fault}"), range(1, calls.count + 1)
    if EVERY:
        chosen = list(numbers[chance.randrange(EVERY) :: EVERY])
    else:
        chosen = chance.sample(numbers, min(SAMPLE, len(numbers)))
    wrong = {}
    for number in sorted(chosen):
        problem = problem_with(work, number, fault, (outcome.shown, tree))
        if problem is not None:
            wrong[number] = problem
    assert not wrong
