"""Agent Skills: made of files, checked, mounted. The names load their modules when first used: pydantic and YAML take time."""

from __future__ import annotations

import importlib

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.skills.metadata import SkillMetadata
    from agentsandbox.skills.mount import SkillInfo
    from agentsandbox.skills.skill import AgentSkill
    from agentsandbox.skills.sources import FileSystemSkillSource, InMemorySkillSource, PackageSkillSource, SkillFile, SkillSource
    from agentsandbox.skills.validation import Diagnostic

__all__ = [
    "AgentSkill",
    "Diagnostic",
    "FileSystemSkillSource",
    "InMemorySkillSource",
    "PackageSkillSource",
    "SkillFile",
    "SkillInfo",
    "SkillMetadata",
    "SkillSource",
]

_MODULES = {
    "AgentSkill": "skill",
    "Diagnostic": "validation",
    "FileSystemSkillSource": "sources",
    "InMemorySkillSource": "sources",
    "PackageSkillSource": "sources",
    "SkillFile": "sources",
    "SkillInfo": "mount",
    "SkillMetadata": "metadata",
    "SkillSource": "sources",
}


def __getattr__(name: str) -> object:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(f"{__name__}.{_MODULES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
