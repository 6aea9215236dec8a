"""A sample of the specs in a process of its own: each does there what it does in the host's."""

from __future__ import annotations

import zlib

import pytest

from agentsandbox import Sandbox
from tests.record.cases import DIRECTORY, ENVIRONMENT, Case
from tests.test_specs import all_cases, place_files

SHARE = 30
"""One of so many specs is in the sample."""


def sample() -> list[object]:
    return [case for case in all_cases() if not zlib.crc32(str(case.id).encode()) % SHARE]  # type: ignore[attr-defined]


@pytest.mark.parametrize("case", sample())
def test_case(case: Case) -> None:
    with Sandbox(cwd=DIRECTORY, env={**ENVIRONMENT, **case.env}, isolation="process") as sandbox:
        place_files(sandbox, case)
        result = sandbox.execute(case.script, stdin=case.stdin, args=case.args)
    assert (result.stdout_bytes, result.stderr_bytes, result.exit_code, result.limit) == (
        case.stdout,
        case.stderr,
        case.status,
        None,
    )
