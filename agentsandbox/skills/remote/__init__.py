"""Skills from elsewhere: archives and indexes over HTTP, repositories over git."""

from __future__ import annotations

from agentsandbox.skills.remote.fetching import RemoteSkills

__all__ = ["RemoteSkills"]
