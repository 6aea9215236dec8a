"""Skills from elsewhere: archives and indexes over HTTP, repositories over git."""

from agentsandbox.skills.remote.fetching import RemoteSkills as RemoteSkills
