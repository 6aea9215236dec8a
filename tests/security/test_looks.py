"""No step is long: the CPU time between two looks at the clock, in samples of the specs and of the
attacks with large values.

A timeout, a cancelled task and the other tasks of a loop wait until the next look, so this time is
what the promises about them are made of. `Budget.check_time` is every look, and is measured here.

The aim is 20 ms. A step without a bound, such as one that grows with a value of 15 MB, took 200 ms
to 2,300 ms before there were looks by size. A slow or busy machine must not fail the test:

* Thread CPU time is no wall time, but a slow core and a busy neighbour (caches, clock rates)
  multiply it. So the bound is a number of runs of a loop of known work, timed after each attempt
  that has a longer gap than the aim.
* A collection of garbage may fall into any step, and takes as long as this process has objects,
  most of which are other tests'. These are frozen.
* A gap counts if it shows in every one of some attempts. The first one also loads modules.
"""

from __future__ import annotations

import gc
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from time import thread_time

import pytest

from agentsandbox import Limits, Sandbox
from agentsandbox.kernel.budget import Budget
from tests.record.cases import DIRECTORY, ENVIRONMENT, Case, load
from tests.security import large_values as _large_values  # noqa: F401 - adds its attacks
from tests.security.attack_scripts import ATTACKS
from tests.security.speed import reference
from tests.test_specs import SPECS as FOLDER
from tests.test_specs import place_files

AIM = 0.02
"""Seconds of CPU that may pass between two looks on any machine."""
BOUND = 6
"""The same as a multiple of `reference`, which takes 25 ms on a core of 2020."""
LEAST = 0.02
"""The least that `reference` counts for: a quick core copies large values no faster."""
ATTEMPTS = 4
SEED = 21


@dataclass
class Looks:
    """When the clock was looked at last, and the longest time without a look."""

    last: float = 0.0
    longest: float = 0.0

    def look(self) -> None:
        now = thread_time()
        self.longest = max(self.longest, now - self.last)
        self.last = now

    def begin(self) -> None:
        self.longest = 0.0
        self.last = thread_time()


@pytest.fixture
def looks(monkeypatch: pytest.MonkeyPatch) -> Iterator[Looks]:
    found = Looks()
    check_time = Budget.check_time

    def check(budget: Budget) -> None:
        found.look()
        check_time(budget)

    monkeypatch.setattr(Budget, "check_time", check)
    gc.collect()
    gc.freeze()
    yield found
    gc.unfreeze()


def too_long(looks: Looks, attempt: Callable[[], None]) -> str:
    """Return what is wrong with a script if all attempts have a gap above the bound; "" if one
    has not.
    """
    gaps = []
    for _ in range(ATTEMPTS):
        attempt()
        if looks.longest <= AIM:
            return ""
        scale = max(reference(), LEAST)
        gaps.append(looks.longest / scale)
        if gaps[-1] <= BOUND:
            return ""
    return f"{min(gaps):.1f} times the reference of {scale:.3f} s between two looks"


SPECS = random.Random(SEED).sample(
    [case for path in sorted(FOLDER.rglob("*.toml")) for case in load(path)], 40
)
LARGE = random.Random(SEED).sample(
    [attack.script for attack in ATTACKS if attack.family == "large"], 16
)


def test_the_measurement_sees_a_long_step(looks: Looks) -> None:
    with Sandbox() as sandbox:

        def attempt() -> None:
            looks.begin()
            began = thread_time()
            while thread_time() - began < 4 * BOUND * max(reference(), LEAST):
                pass  # longer than the bound, also if the machine slows down
            sandbox.execute("echo")
            looks.look()

        assert too_long(looks, attempt)


# TM-TIME-6
def test_specs_look_at_the_clock_in_time(looks: Looks) -> None:
    late = []
    for case in SPECS:

        def attempt(case: Case = case) -> None:
            with Sandbox(cwd=DIRECTORY, env={**ENVIRONMENT, **case.env}) as sandbox:
                place_files(sandbox, case)
                looks.begin()
                sandbox.execute(case.script, stdin=case.stdin, args=case.args)
                looks.look()

        if found := too_long(looks, attempt):
            late.append((found, case.name))
    assert not late


# TM-TIME-6
@pytest.mark.parametrize("script", LARGE)
def test_large_values_look_at_the_clock_in_time(looks: Looks, script: str) -> None:
    def attempt() -> None:
        with Sandbox(limits=Limits(timeout=0.5)) as sandbox:
            looks.begin()
            sandbox.execute(script)
            looks.look()

    assert not too_long(looks, attempt)
