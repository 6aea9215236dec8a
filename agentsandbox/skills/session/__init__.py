"""One conversation's skills: which are active, what may be read, how scripts run."""

from agentsandbox.skills.session.session import SkillSession as SkillSession
