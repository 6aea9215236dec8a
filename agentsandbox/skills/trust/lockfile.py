"""`skills.lock`: which files the skills of a host are made of, so that a changed one is refused.

The sha256 of every file, the source and the version of every skill, as JSON that is easy to review
in a diff.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from agentsandbox.errors import InvalidSkillError, SkillPolicyError
from agentsandbox.kernel.streams import encode
from agentsandbox.skills.trust.host_files import replace_file

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Mapping
    from typing import Any, Literal

    from agentsandbox.skills.skill import AgentSkill

    Kind = Literal["added", "modified", "removed", "not locked", "missing"]

__all__ = ["Drift", "LockedSkill", "SkillLock"]

FORMAT = 1


@dataclass(frozen=True, slots=True)
class Drift:
    """A difference between the lock and a skill; `path` is "" when the whole skill is meant."""

    skill: str
    path: str
    kind: Kind

    def __str__(self) -> str:
        return f"{self.skill}{f'/{self.path}' if self.path else ''}: {self.kind}"


@dataclass(frozen=True, slots=True)
class LockedSkill:
    """What the lock says of one skill."""

    digest: str
    files: Mapping[str, str]
    source: str = ""
    version: str | None = None


@dataclass(frozen=True, slots=True)
class SkillLock:
    """The locked skills by name. A catalog with a lock loads nothing else."""

    skills: Mapping[str, LockedSkill] = field(default_factory=dict)

    @classmethod
    def of(
        cls, skills: Iterable[AgentSkill], sources: Mapping[str, str] | None = None
    ) -> SkillLock:
        """The lock of these skills as they are now; `sources` says where each came from."""
        locked = {}
        for skill in skills:
            version = skill.metadata.metadata.get("version") or skill.metadata.extra.get("version")
            source = (sources or {}).get(skill.name, "")
            locked[skill.name] = LockedSkill(
                skill.package_digest, _digests(skill), source, str(version) if version else None
            )
        return cls(dict(sorted(locked.items())))

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> SkillLock:
        """The lock in a file; `InvalidSkillError` for what is none."""
        try:
            return cls.from_dict(json.loads(Path(path).read_bytes()))
        except (ValueError, RecursionError):
            raise InvalidSkillError("the lock is not JSON") from None

    @classmethod
    def from_dict(cls, value: Any) -> SkillLock:
        """The lock that `to_dict` gave."""
        if (
            not isinstance(value, dict)
            or value.get("version") != FORMAT
            or not isinstance(value.get("skills"), dict)
        ):
            raise InvalidSkillError(f"not a lock of version {FORMAT}")
        skills = {}
        for name, entry in value["skills"].items():
            if (
                not isinstance(entry, dict)
                or not isinstance(entry.get("files"), dict)
                or not isinstance(entry.get("digest"), str)
            ):
                raise InvalidSkillError(f"the lock says nothing sensible about {name!r}")
            skills[name] = LockedSkill(
                entry["digest"],
                dict(entry["files"]),
                str(entry.get("source", "")),
                entry.get("version"),
            )
        return cls(skills)

    def to_dict(self) -> dict[str, Any]:
        """The lock as JSON-able values."""
        skills = {
            name: {
                "source": entry.source,
                "version": entry.version,
                "digest": entry.digest,
                "files": dict(entry.files),
            }
            for name, entry in self.skills.items()
        }
        return {"version": FORMAT, "skills": skills}

    def write(self, path: str | os.PathLike[str]) -> None:
        """Put the lock in a file."""
        replace_file(
            Path(path),
            encode(json.dumps(self.to_dict(), indent=2, sort_keys=True, ensure_ascii=False) + "\n"),
        )

    def drift(self, skill: AgentSkill) -> list[Drift]:
        """How a skill differs from what is locked."""
        locked = self.skills.get(skill.name)
        if locked is None:
            return [Drift(skill.name, "", "not locked")]
        now = _digests(skill)
        found = [
            Drift(skill.name, path, "modified")
            for path in now
            if path in locked.files and locked.files[path] != now[path]
        ]
        found += [Drift(skill.name, path, "added") for path in now if path not in locked.files]
        found += [Drift(skill.name, path, "removed") for path in locked.files if path not in now]
        return sorted(found, key=lambda each: each.path)

    def verify(self, skills: Iterable[AgentSkill]) -> list[Drift]:
        """How all skills differ: changed, not locked, missing."""
        there = {skill.name: skill for skill in skills}
        found = [drift for skill in there.values() for drift in self.drift(skill)]
        return found + [Drift(name, "", "missing") for name in self.skills if name not in there]

    def check(self, skill: AgentSkill) -> None:
        """Raise `SkillPolicyError` unless the skill is what is locked."""
        if found := self.drift(skill):
            shown = ", ".join(str(drift) for drift in found[:5])
            raise SkillPolicyError(f"{skill.name} is not as it was locked: {shown}")


def _digests(skill: AgentSkill) -> dict[str, str]:
    files = sorted(skill.files, key=lambda file: file.relative_path)
    contents = [
        (file.relative_path, file.content if file.link is None else b"-> " + encode(file.link))
        for file in files
    ]
    return {path: f"sha256:{hashlib.sha256(content).hexdigest()}" for path, content in contents}
