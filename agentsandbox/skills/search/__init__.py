"""Skills found by words, parts of words, spelling mistakes and meaning."""

from agentsandbox.skills.search.index import SkillIndex as SkillIndex
