"""Random sequences of edits and git commands end in repositories that real git finds sound."""

from __future__ import annotations

import os
import shutil
import time

import pytest

from tests.differential.git_sequences import check

COUNT = int(os.environ.get("GIT_SEQUENCES", "6"))


@pytest.mark.skipif(shutil.which("git") is None, reason="needs git")
def test_random_sequences_end_in_sound_repositories() -> None:
    first = int(os.environ.get("GIT_SEED", "1" if COUNT < 100 else str(time.time_ns() % 10**9)))
    wrong = {seed: found for seed in range(first, first + COUNT) if (found := check(seed))}
    assert not wrong
