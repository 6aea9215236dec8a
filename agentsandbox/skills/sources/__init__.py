"""Where skills come from: folders of the host, packages, archives, memory."""

from __future__ import annotations

from agentsandbox.skills.sources.files import (
    FileSystemSkillSource,
    InMemorySkillSource,
    PackageSkillSource,
    SkillFile,
    SkillSource,
)

__all__ = [
    "FileSystemSkillSource",
    "InMemorySkillSource",
    "PackageSkillSource",
    "SkillFile",
    "SkillSource",
]
