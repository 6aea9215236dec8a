"""`skills.lock`: the files of a host's skills, so that a changed one is refused.

It has the sha256 of every file and the source and version of every skill, as JSON that is easy to
review in a diff.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
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

FORMAT = 1


@dataclass(frozen=True, slots=True)
class Drift:
    """A difference between the lock and a skill; `path` is "" for the whole skill."""

    skill: str
    path: str
    kind: Kind

    def __str__(self) -> str:
        return f"{self.skill}{f'/{self.path}' if self.path else ''}: {self.kind}"


@dataclass(frozen=True, slots=True)
class LockedSkill:
    """One skill in a lock.

    digest   the skill's `package_digest`
    files    path → sha256 of the content, "sha256:…"
    source   where the skill came from, or ""
    version  the version in its front matter, or None
    """

    digest: str
    files: Mapping[str, str]
    source: str = ""
    version: str | None = None


@dataclass(frozen=True, slots=True)
class SkillLock:
    """The locked skills by name. A catalog with a lock loads only these, exactly as locked."""

    skills: Mapping[str, LockedSkill] = field(default_factory=dict)

    @classmethod
    def of(
        cls, skills: Iterable[AgentSkill], sources: Mapping[str, str] | None = None
    ) -> SkillLock:
        """Return the lock of these skills as they are now; `sources` is name → source."""
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
        """Read a lock file. Raises `OSError`, and `InvalidSkillError` if it is not a lock."""
        try:
            return cls.from_dict(json.loads(Path(path).read_bytes()))
        except (ValueError, RecursionError):
            raise InvalidSkillError("the lock is not JSON") from None

    @classmethod
    def from_dict(cls, value: Any) -> SkillLock:
        """Return the lock of the values that `to_dict` returned."""
        entries = value.get("skills") if isinstance(value, dict) else None
        if not isinstance(entries, dict) or value.get("version") != FORMAT:
            raise InvalidSkillError(f"not a lock of version {FORMAT}")
        skills = {}
        for name, entry in entries.items():
            fields = entry if isinstance(entry, dict) else {}
            digest, files = fields.get("digest"), fields.get("files")
            if not isinstance(digest, str) or not isinstance(files, dict):
                raise InvalidSkillError(f"the lock has a malformed entry for {name!r}")
            source = str(fields.get("source", ""))
            skills[name] = LockedSkill(digest, dict(files), source, fields.get("version"))
        return cls(skills)

    def to_dict(self) -> dict[str, Any]:
        """Return the lock as JSON-able values."""
        return {
            "version": FORMAT,
            "skills": {name: asdict(entry) for name, entry in self.skills.items()},
        }

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the lock to a file; an existing one is replaced."""
        text = json.dumps(self.to_dict(), indent=2, sort_keys=True, ensure_ascii=False)
        replace_file(Path(path), encode(text + "\n"))

    def drift(self, skill: AgentSkill) -> list[Drift]:
        """Return how a skill differs from its lock, sorted by path."""
        locked = self.skills.get(skill.name)
        if locked is None:
            return [Drift(skill.name, "", "not locked")]
        now = _digests(skill)
        found = []
        for path in sorted({*now, *locked.files}):
            if path not in now:
                found.append(Drift(skill.name, path, "removed"))
            elif path not in locked.files:
                found.append(Drift(skill.name, path, "added"))
            elif locked.files[path] != now[path]:
                found.append(Drift(skill.name, path, "modified"))
        return found

    def verify(self, skills: Iterable[AgentSkill]) -> list[Drift]:
        """Return how all skills differ from the lock, and which are missing or not locked."""
        there = {skill.name: skill for skill in skills}
        found = [drift for skill in there.values() for drift in self.drift(skill)]
        return found + [Drift(name, "", "missing") for name in self.skills if name not in there]

    def check(self, skill: AgentSkill) -> None:
        """Raise `SkillPolicyError` if the skill differs from its lock."""
        if found := self.drift(skill):
            shown = ", ".join(str(drift) for drift in found[:5])
            raise SkillPolicyError(f"{skill.name} differs from the lock: {shown}")


def _digests(skill: AgentSkill) -> dict[str, str]:
    return {file.relative_path: f"sha256:{file.sha256()}" for file in skill.files}
