"""Attacks by Python programs end at their limit, whatever the host did before: see `attacks.py`.

All of them run as they are; in the other modes, a sample. By hand, all of them in every mode:

    python -m tests.python.test_attacks [MODE...]
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator

import pytest

from agentsandbox import Limits, Sandbox
from tests.python.attacks import ALL, MODES
from tests.security.worker import Worker, WorkerError

pytest.importorskip("wasmtime")

SAMPLE = (
    "loop",
    "sleep",
    "a large power",
    "regular expression",
    "bytearray, in range",
    "output",
    "files",
    "recursion without a limit",
    "json, deep",
    "source, minus signs",
    "abort",
    "lock",
    "input",
    "python3 starts two",
)
PATIENCE = 40
"""Seconds until a worker that says nothing counts as hung."""


def start_worker(mode: str) -> Worker:
    return Worker("tests.python.attacks", mode, patience=PATIENCE)


@pytest.fixture(scope="module")
def workers() -> Iterator[dict[str, Worker]]:
    made = {mode: start_worker(mode) for mode in MODES if mode != "fork" or hasattr(os, "fork")}
    try:
        problems = made["plain"].ask("ready?")
        if problems and "python prepare" in problems[0]:
            pytest.skip("the runtime is not prepared: run `agentsandbox python prepare`")
        assert problems == []
        yield made
    finally:
        for worker in made.values():
            worker.close()


# TM-GUEST-3
@pytest.mark.parametrize("name", ALL)
def test_attack(workers: dict[str, Worker], name: str) -> None:
    assert workers["plain"].ask(name) == []


@pytest.mark.parametrize("mode", [mode for mode in MODES if mode != "plain"])
@pytest.mark.parametrize("name", SAMPLE)
def test_attack_on_a_host_that(workers: dict[str, Worker], mode: str, name: str) -> None:
    if mode not in workers:
        pytest.skip("this system has no fork")
    assert workers[mode].ask(name) == []


def test_calls_that_wait_and_are_ended_give_their_place_back() -> None:
    from agentsandbox.python import PythonRuntime

    runtime = PythonRuntime(guests=2)
    crowd = "for i in $(seq 20); do python3 -c 'import time; time.sleep(0.05)' & done; wait"
    with Sandbox(python=runtime, limits=Limits(timeout=0.3), jobs="kill") as sandbox:
        sandbox.execute(crowd)
    with Sandbox(python=runtime, limits=Limits(timeout=5)) as sandbox:
        assert sandbox.execute("python3 -c 'print(1)'").stdout == "1\n"


def main() -> None:
    failures = 0
    for mode in sys.argv[1:] or MODES:
        worker = start_worker(mode)
        for name in ALL:
            try:
                problems = worker.ask(name)
            except WorkerError as error:
                problems = [str(error)]
            if problems:
                failures += 1
                print(f"{mode}: {name}: {'; '.join(problems)}", flush=True)
        worker.close()
    print(f"{failures} failures")


if __name__ == "__main__":
    main()
