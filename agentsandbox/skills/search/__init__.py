"""Skills found by words, parts of words, spelling mistakes and meaning."""

from __future__ import annotations

from agentsandbox.skills.search.index import SkillIndex

__all__ = ["SkillIndex"]
