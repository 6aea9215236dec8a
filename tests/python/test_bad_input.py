"""Scripts in odd encodings, with NUL bytes, under odd names: the sandbox answers as the real
CPython does (`bad_input.toml`, recorded by `tests/record/python_corpus.py`).
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.python.test_corpus import run
from tests.record.python_cases import PythonCase, load

CASES = load(Path(__file__).parent / "bad_input.toml")


@pytest.mark.parametrize("case", [pytest.param(case, id=case.name) for case in CASES])
def test_case(case: PythonCase) -> None:
    assert case.answer is not None, "no expectation: run tests/record/python_corpus.py on the file"
    assert run(case).differences(case.answer) == []
