"""The targets of the fuzzers: their beginnings and some mutations, without atheris; and all inputs
that once broke the invariant (`tests/fuzz/found`).

`make fuzz TIME=…` runs them for longer.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import pytest

pytest.importorskip("resource")

from tests.fuzz import judge
from tests.fuzz.engine import mutants, problem_of
from tests.fuzz.target import all_targets, find_target

FOUND = Path(__file__).parent / "fuzz" / "found"
COUNT = int(os.environ.get("FUZZ_COUNT", "6"))
"""Inputs of each target."""
SEEDS = 4
NEEDS = {"git": "dulwich", "guest_doors": "wasmtime", "http": "h11", "urls": "h11"}


@pytest.fixture(autouse=True)
def _watched() -> Iterator[None]:
    judge.prepare()
    with judge.watching():
        yield


def target_or_skip(name: str):  # type: ignore[no-untyped-def]
    if name in NEEDS:
        pytest.importorskip(NEEDS[name])
    return find_target(name)


@pytest.mark.parametrize("name", all_targets())
def test_inputs_by_chance(name: str) -> None:
    target = target_or_skip(name)
    beginnings = target.seeds(SEEDS)[: COUNT // 2]
    for data in [*beginnings, *islice(mutants(target, 1, SEEDS), len(beginnings), COUNT)]:
        problem = problem_of(target, data)
        if problem is not None and problem.kind in judge.DOUBTFUL:
            problem = problem_of(target, data)
        assert problem is None or problem.kind in judge.DOUBTFUL, (data, str(problem))


# TM-GUEST-2
@pytest.mark.parametrize(
    "path", sorted(FOUND.rglob("*.bin")), ids=lambda path: f"{path.parent.name} {path.stem}"
)
def test_what_was_found_stays_mended(path: Path) -> None:
    target = target_or_skip(path.parent.name)
    data = path.read_bytes()
    problem = problem_of(target, data)
    if problem is not None and problem.kind in judge.DOUBTFUL:
        problem = problem_of(target, data)
    assert problem is None, str(problem)
