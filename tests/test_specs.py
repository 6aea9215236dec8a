"""Every case of every spec, in the sandbox: output, error text and status are those that real bash
gave.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from agentsandbox import Sandbox
from tests.record.cases import DIRECTORY, ENVIRONMENT, MTIME, Case, load

SPECS = Path(__file__).parent / "specs"


def all_cases() -> list[object]:
    found = []
    for path in sorted(SPECS.rglob("*.toml")):
        where = path.relative_to(SPECS).with_suffix("").as_posix()
        found += [pytest.param(case, id=f"{where}: {case.name}") for case in load(path)]
    return found


def place_files(sandbox: Sandbox, case: Case) -> None:
    fs = sandbox.fs
    for file in case.files:
        path = f"{DIRECTORY}/{file.path}"
        fs.makedirs(path.rsplit("/", 1)[0])
        if file.link is not None:
            fs.symlink(file.link, path)
        elif not file.is_directory:
            fs.write_bytes(path, file.content)
        else:
            fs.makedirs(path.rstrip("/"))
    for here, _, _ in fs.walk(DIRECTORY):
        fs.utime(here, MTIME)
    for file in case.files:
        path = f"{DIRECTORY}/{file.path}".rstrip("/")
        if file.link is None:
            fs.chmod(path, file.mode)
        fs.utime(path, file.mtime, follow=False)


@pytest.mark.parametrize("case", all_cases())
def test_case(case: Case) -> None:
    assert case.status is not None, "no expectation: run tests/record/record.py on the file"
    with Sandbox(cwd=DIRECTORY, env={**ENVIRONMENT, **case.env}) as sandbox:
        place_files(sandbox, case)
        result = sandbox.execute(case.script, stdin=case.stdin, args=case.args)
    assert (result.stdout_bytes, result.stderr_bytes, result.exit_code) == (
        case.stdout,
        case.stderr,
        case.status,
    )
