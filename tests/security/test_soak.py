"""A tiny run of the load test (`soak`); `make soak` runs 10,000 sandboxes."""

from __future__ import annotations

import os
import sys

import pytest

from tests.security.soak import soak


@pytest.mark.skipif(sys.platform == "win32", reason="mounts need openat")
def test_nothing_stays_of_many_sandboxes() -> None:
    count = int(os.environ.get("SOAK_COUNT", "10"))
    assert soak(count, killed=max(3, count // 25)).problems == []
