"""Agent Skills: made of files, checked, mounted.

A name loads its module when it is first used, because pydantic and YAML take time to import.
"""

from __future__ import annotations

import importlib

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.skills.catalog.catalog import SkillCatalog
    from agentsandbox.skills.catalog.records import SkillRecord
    from agentsandbox.skills.catalog.roots import SkillRoot
    from agentsandbox.skills.checking import validate_skill
    from agentsandbox.skills.metadata import SkillMetadata
    from agentsandbox.skills.mount import SkillInfo
    from agentsandbox.skills.session.session import SkillSession
    from agentsandbox.skills.skill import AgentSkill
    from agentsandbox.skills.sources.files import (
        FileSystemSkillSource,
        InMemorySkillSource,
        PackageSkillSource,
        SkillFile,
        SkillSource,
    )
    from agentsandbox.skills.validation import Diagnostic

__all__ = [
    "AgentSkill",
    "Diagnostic",
    "FileSystemSkillSource",
    "InMemorySkillSource",
    "PackageSkillSource",
    "SkillCatalog",
    "SkillFile",
    "SkillInfo",
    "SkillMetadata",
    "SkillRecord",
    "SkillRoot",
    "SkillSession",
    "SkillSource",
    "validate_skill",
]

_MODULES = {
    "AgentSkill": "skill",
    "Diagnostic": "validation",
    "FileSystemSkillSource": "sources.files",
    "InMemorySkillSource": "sources.files",
    "PackageSkillSource": "sources.files",
    "SkillCatalog": "catalog.catalog",
    "SkillFile": "sources.files",
    "SkillInfo": "mount",
    "SkillMetadata": "metadata",
    "SkillRecord": "catalog.records",
    "SkillRoot": "catalog.roots",
    "SkillSession": "session.session",
    "SkillSource": "sources.files",
    "validate_skill": "checking",
}


def __getattr__(name: str) -> object:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(f"{__name__}.{_MODULES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
