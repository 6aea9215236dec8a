"""How much of a command's output a model is shown."""

from __future__ import annotations

__all__ = ["MAX_OUTPUT", "cut_output"]

MAX_OUTPUT = 100_000
"""Characters of each stream."""


def cut_output(text: str, limit: int = MAX_OUTPUT) -> str:
    """At most `limit` characters of a text; a last line says how many are missing."""
    return (
        text
        if len(text) <= limit
        else f"{text[:limit]}\n[truncated: output; {len(text) - limit} characters removed]"
    )
