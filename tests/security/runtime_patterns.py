"""The patterns that the package builds while it runs, collected by listening to `re`."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

PACKAGE = str(Path(__file__).parents[2] / "agentsandbox")
THROUGH = ("kernel/expressions.py", "kernel/caching.py")
"""Modules that compile what others give them."""

Found = dict[tuple[str | bytes, int], tuple[str, re.Pattern[Any]]]


@contextmanager
def collecting() -> Iterator[Found]:
    """Collect (text, flags) → (module, pattern) of what modules of the package compile."""
    found: Found = {}
    compile_ = re._compile  # type: ignore[attr-defined]

    def note(pattern: Any, flags: int) -> Any:
        made = compile_(pattern, flags)
        if isinstance(pattern, (str, bytes)):
            key = (made.pattern, made.flags)
            if key not in found:
                found[key] = (caller(), made)
        return made

    re._compile = note  # type: ignore[attr-defined]
    try:
        yield found
    finally:
        re._compile = compile_  # type: ignore[attr-defined]


def caller() -> str:
    """Return the module of the package that compiles; "" for others."""
    frame: Any = sys._getframe(2)
    while frame is not None:
        path = frame.f_code.co_filename
        if path.startswith(PACKAGE) and not path.endswith(THROUGH):
            return path[len(PACKAGE) + 1 :]
        if not path.startswith(PACKAGE) and "/re/" not in path:
            return ""
        frame = frame.f_back
    return ""
