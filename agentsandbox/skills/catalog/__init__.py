"""Skills found in ordered roots, known by their front matter, read when they are loaded."""

from __future__ import annotations

from agentsandbox.skills.catalog.catalog import SkillCatalog

__all__ = ["SkillCatalog"]
