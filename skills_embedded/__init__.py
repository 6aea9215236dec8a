"""Skills that ship inside the wheel: `AgentSkill.from_package("skills_embedded", "python-dev")`."""
