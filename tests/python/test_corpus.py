"""Every case of the Python corpus, in the sandbox: output, status, the last line of the error text
and the files are those that the real CPython left.
"""

from __future__ import annotations

import stat
from functools import cache

import pytest

from agentsandbox import Sandbox
from tests.record.cases import MTIME
from tests.record.python_cases import CORPUS, ENVIRONMENT, HOME, Answer, Entry, PythonCase, load

pytest.importorskip("wasmtime")

BAR = 0.95
"""The share of the cases that must agree."""
GAPS = {
    ("files", "modes"): "wasi-libc takes the path '' for the working directory: EISDIR, not ENOENT",
}
"""What the sandbox does not do yet: these count as failures, but do not stop the tests."""
HERE = {name: value for name, value in ENVIRONMENT.items() if name not in ("HOME", "USER")}


def families() -> dict[str, list[PythonCase]]:
    paths = sorted(set(CORPUS.glob("*.toml")) - {CORPUS / "ruff.toml"})
    return {path.stem: load(path) for path in paths}


FAMILIES = families()


@cache
def answer_of(family: str, name: str) -> Answer:
    """Return what the case gives in the sandbox; each case runs once."""
    return run(next(case for case in FAMILIES[family] if case.name == name))


def run(case: PythonCase) -> Answer:
    """Return what the case gives in a sandbox of its own."""
    with Sandbox(python=True, user="user", cwd=HOME, env={**HERE, **case.case.env}) as sandbox:
        place_files(sandbox, case)
        before = snapshot(sandbox)
        result = sandbox.execute(case.case.script, stdin=case.case.stdin, args=case.case.args)
        if "agentsandbox python prepare" in result.stderr:
            pytest.skip("the runtime is not prepared: run `agentsandbox python prepare`")
        return case.answered(
            result.stdout_bytes, result.stderr_bytes, result.exit_code, before, snapshot(sandbox)
        )


def place_files(sandbox: Sandbox, case: PythonCase) -> None:
    fs = sandbox.fs
    for file in case.all_files():
        path = f"{HOME}/{file.path}".rstrip("/")
        fs.makedirs(path if file.is_directory else path.rpartition("/")[0])
        if file.link is not None:
            fs.symlink(file.link, path)
        elif not file.is_directory:
            fs.write_bytes(path, file.content)
        if file.link is None:
            fs.chmod(path, file.mode)
        fs.utime(path, MTIME, follow=False)


def snapshot(sandbox: Sandbox) -> dict[str, Entry]:
    """Return what stands below the directory, by relative path; directories end in a slash."""
    fs = sandbox.fs
    found: dict[str, Entry] = {}
    for here, directories, names in fs.walk(HOME):
        for name in [*directories, *names]:
            path = f"{here}/{name}"
            shown = path.removeprefix(f"{HOME}/")
            status = fs.stat(path, follow=False)
            mode = stat.S_IMODE(status.mode)
            if stat.S_ISLNK(status.mode):
                found[shown] = Entry(link=fs.readlink(path))
            elif stat.S_ISDIR(status.mode):
                found[f"{shown}/"] = Entry(None, mode)
            else:
                found[shown] = Entry(fs.read_bytes(path), mode)
    return found


def differences(family: str, case: PythonCase) -> list[str]:
    assert case.answer is not None, "no expectation: run tests/record/python_corpus.py on the file"
    return answer_of(family, case.name).differences(case.answer)


@pytest.mark.parametrize(
    ("family", "case"),
    [
        pytest.param(family, case, id=f"{family}: {case.name}")
        for family, cases in FAMILIES.items()
        for case in cases
    ],
)
def test_case(family: str, case: PythonCase) -> None:
    found = differences(family, case)
    if found and (family, case.name) in GAPS:
        pytest.xfail(GAPS[family, case.name])
    assert found == []


def test_nearly_all_agree() -> None:
    """Each case that is no gap agrees, or `test_case` fails: so only the gaps are counted."""
    cases = [(family, case.name) for family, all_of in FAMILIES.items() for case in all_of]
    same = [
        (family, case.name)
        for family, all_of in FAMILIES.items()
        for case in all_of
        if case.case.divergence is None
    ]
    assert set(GAPS) <= set(same)
    assert len(same) - len(GAPS) >= BAR * len(same)
    assert len(same) >= 0.9 * len(cases)


def test_there_are_enough() -> None:
    scripts = list(CORPUS.rglob("*.py"))
    cases = [case for all_of in FAMILIES.values() for case in all_of]
    assert len(scripts) >= 60
    assert len(cases) >= 130
    used = {script for case in cases for script in case.scripts}
    assert {str(path.relative_to(CORPUS)) for path in scripts} == used
