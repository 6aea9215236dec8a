"""A call of the host that fails, wherever it is: the work says so or ends as usual (`faults`).

`FAULTS_EVERY=1` tries every call with every fault; the suite takes a sample.
"""

from __future__ import annotations

import functools
import os
import random
import sys

import pytest

from tests.security.faults import FAULTS, WORKS, problem_with, run

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="no openat")

SAMPLE = None if "FAULTS_EVERY" in os.environ else 3
"""Calls of each work and fault that fail."""


without_faults = functools.cache(lambda work: run(work, 0, "EIO"))


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("work", WORKS)
def test_a_call_of_the_host_that_fails(work: str, fault: str) -> None:
    if (work, fault) == ("remote", "EACCES"):
        pytest.skip("references that may not be read are not there for git")
    outcome, tree, calls = without_faults(work)
    assert outcome.failed == (work == "two mounts")
    numbers = range(1, calls.count + 1)
    chosen = random.Random(f"{work} {fault}").sample(numbers, min(SAMPLE or 9999, len(numbers)))
    wrong = {}
    for number in sorted(chosen):
        problem = problem_with(work, number, fault, (outcome.shown, tree))
        if problem is not None:
            wrong[number] = problem
    assert not wrong
