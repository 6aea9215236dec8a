"""One conversation's skills: which are active, what may be read, how scripts run."""

from __future__ import annotations

from agentsandbox.skills.session.session import SkillSession

__all__ = ["SkillSession"]
