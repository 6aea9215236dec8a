"""Skills found in ordered roots, known by their front matter, read when they are loaded."""

from agentsandbox.skills.catalog.catalog import SkillCatalog as SkillCatalog
