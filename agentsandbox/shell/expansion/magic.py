"""Which texts may be patterns of file names."""

from __future__ import annotations

from agentsandbox.kernel.expressions import lazily

_MAGIC = lazily(r"[*?\[]|[+@!]\(")
_SEARCHED = 4096
"""Characters up to which one expression is quicker than a search for each mark."""


def has_magic(text: str) -> bool:
    """Whether a text may be a pattern of file names."""
    if len(text) <= _SEARCHED:
        return _MAGIC.search(text) is not None
    return any(mark in text for mark in "*?[") or (
        "(" in text and any(mark in text for mark in ("+(", "@(", "!("))
    )
