"""Truncation of a command's output for a model."""

from __future__ import annotations

__all__ = ["MAX_OUTPUT", "cut_output"]

MAX_OUTPUT = 100_000
"""Characters of each stream."""


def cut_output(text: str, limit: int = MAX_OUTPUT) -> str:
    """Return at most `limit` characters of a text; a last line says how many were removed."""
    if len(text) <= limit:
        return text
    return f"{text[:limit]}\n[truncated: output; {len(text) - limit} characters removed]"
