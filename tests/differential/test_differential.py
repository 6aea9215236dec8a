"""A few hundred random scripts; `python -m tests.differential --cases N` runs any number."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, Phase, given, seed, settings

from tests.differential.comparison import difference, real_bash
from tests.differential.generator import scripts

BASH = real_bash()
KNOWN = ("recursion level", "arithmetic operator", "division by 0", "syntax error", "value too great", "invalid")
"""Words of messages about bad expressions, whose wording may differ (docs/differences.md: D-arithmetic-order)."""


@pytest.mark.skipif(BASH is None, reason="there is no bash 5.2 here")
def test_random_scripts_do_what_they_do_in_bash() -> None:
    assert BASH is not None
    found: list[str] = []

    @seed(3)
    @settings(max_examples=200, database=None, deadline=None, phases=[Phase.generate], suppress_health_check=list(HealthCheck))
    @given(scripts())
    def look(script: str) -> None:
        shown = difference(script, str(BASH))
        if shown is not None and not any(word in shown for word in KNOWN):
            found.append(shown)

    look()
    assert found == []
