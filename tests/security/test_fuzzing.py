"""Scripts by chance neither raise nor hang nor show an internal error; a few of each kind here, any number by hand (`fuzzing`)."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import pytest

from tests.security.fuzz_trial import Workers
from tests.security.fuzzing import KINDS, command_names

FEW = 40
"""Cases of each kind; of commands, one of each."""


@pytest.fixture(scope="module")
def workers() -> Iterator[Workers]:
    made = Workers()
    yield made
    made.close()


@pytest.mark.skipif(sys.platform == "win32", reason="pipes cannot be polled")
@pytest.mark.parametrize("kind", KINDS)
def test_scripts_by_chance(kind: str, workers: Workers) -> None:
    wrong = {}
    for number in range(len(command_names()) if kind == "command" else FEW):
        found = [problem for problem in workers.ask(kind, number) if not problem.startswith("took 1") and not problem.startswith("took 2")]
        if found:  # a little late is no fault: other work may be on the machine
            wrong[number] = found
    assert not wrong
