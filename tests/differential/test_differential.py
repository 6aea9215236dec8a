"""A few hundred random scripts; `python -m tests.differential --cases N` runs any number."""

from __future__ import annotations

import random

import pytest

from tests.differential.comparison import differs, real_bash
from tests.differential.generator import write_script

BASH = real_bash()
CASES = 150


@pytest.mark.skipif(BASH is None, reason="there is no bash 5.2 here")
@pytest.mark.parametrize("seed", [102, 104])
def test_random_scripts_do_what_they_do_in_bash(seed: int) -> None:
    assert BASH is not None
    choose = random.Random(seed).choice
    different = [
        script for script in (write_script(choose) for _ in range(CASES)) if differs(script, BASH)
    ]
    assert different == []
