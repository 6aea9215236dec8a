"""`skills.lock`: the files of a host's skills, so that a changed one is refused.

It has the sha256 of every file and the source and version of every skill, as JSON that is easy to
review in a diff. A skill has the name by which catalogs know it (`AgentSkill.catalog_name`).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING

from agentsandbox.errors import InvalidSkillError, SkillPolicyError
from agentsandbox.kernel.streams import encode
from agentsandbox.skills.trust.host_files import replace_file

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Sequence
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
    files    path → sha256 of the content, "sha256:…"; of a link "-> " and its text
    source   where the skill came from, or ""
    version  the version in its front matter, or None
    also     further skills of the same name: of several roots a catalog loads the first
    """

    digest: str
    files: Mapping[str, str]
    source: str = ""
    version: str | None = None
    also: tuple[LockedSkill, ...] = ()

    @classmethod
    def of(cls, skill: AgentSkill, source: str = "") -> LockedSkill:
        """Return the entry for a skill as it is now."""
        version = skill.metadata.metadata.get("version") or skill.metadata.extra.get("version")
        digests = _digests(skill)
        return cls(skill.package_digest, digests, source, str(version) if version else None)

    @classmethod
    def from_dict(cls, name: str, value: Any) -> LockedSkill:
        """Return the entry of a lock file."""
        fields = value if isinstance(value, dict) else {}
        digest, files, also = (fields.get(key) for key in ("digest", "files", "also"))
        if not (
            isinstance(digest, str) and isinstance(files, dict) and isinstance(also, list | None)
        ):
            raise InvalidSkillError(f"the lock has a malformed entry for {name!r}")
        others = tuple(cls.from_dict(name, other) for other in also or ())
        source, version = str(fields.get("source", "")), fields.get("version")
        return cls(digest, dict(files), source, version, others)

    def to_dict(self) -> dict[str, Any]:
        """Return the entry as JSON-able values."""
        entry: dict[str, Any] = {
            "digest": self.digest,
            "files": dict(self.files),
            "source": self.source,
            "version": self.version,
        }
        return entry | ({"also": [other.to_dict() for other in self.also]} if self.also else {})


# TM-SKILL-4
@dataclass(frozen=True, slots=True)
class SkillLock:
    """The locked skills by name. A catalog with a lock loads only these, exactly as locked."""

    skills: Mapping[str, LockedSkill] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        skills: Iterable[AgentSkill],
        sources: Mapping[str, str] | Sequence[str] | None = None,
    ) -> SkillLock:
        """Return the lock of these skills as they are now.

        `sources` has the source for each name, or one for each skill in their order.
        """
        locked: dict[str, list[LockedSkill]] = {}
        for number, skill in enumerate(skills):
            name = skill.catalog_name
            if isinstance(sources, Mapping):
                source = sources.get(name, "")
            else:
                source = sources[number] if sources else ""
            locked.setdefault(name, []).append(LockedSkill.of(skill, source))
        return cls(
            {
                name: replace(first, also=tuple(others))
                for name, (first, *others) in sorted(locked.items())
            }
        )

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
        return cls({name: LockedSkill.from_dict(name, entry) for name, entry in entries.items()})

    def to_dict(self) -> dict[str, Any]:
        """Return the lock as JSON-able values."""
        return {
            "version": FORMAT,
            "skills": {name: entry.to_dict() for name, entry in self.skills.items()},
        }

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the lock to a file; an existing one is replaced."""
        text = json.dumps(self.to_dict(), indent=2, sort_keys=True, ensure_ascii=False)
        replace_file(Path(path), encode(text + "\n"))

    def drift(self, skill: AgentSkill) -> list[Drift]:
        """Return how a skill differs from its lock, sorted by path.

        Of several locked skills of its name, that is the one that it differs least from.
        """
        name = skill.catalog_name
        if name not in self.skills:
            return [Drift(name, "", "not locked")]
        now = _digests(skill)
        return min((_compared(name, now, each.files) for each in self._entries(name)), key=len)

    def verify(self, skills: Iterable[AgentSkill]) -> list[Drift]:
        """Return how all skills differ from the lock, and which are missing or not locked.

        Skills of one name are compared in their order, after those that are exactly as locked.
        """
        there: dict[str, list[Mapping[str, str]]] = {}
        for skill in skills:
            there.setdefault(skill.catalog_name, []).append(_digests(skill))
        found = []
        for name in [*there, *(name for name in self.skills if name not in there)]:
            locked = [entry.files for entry in self._entries(name)]
            changed = []
            for now in there.get(name, ()):
                if now in locked:
                    locked.remove(now)
                else:
                    changed.append(now)
            for now, then in zip_longest(changed, locked):
                if now is None or then is None:
                    found.append(Drift(name, "", "missing" if now is None else "not locked"))
                else:
                    found += _compared(name, now, then)
        return found

    def _entries(self, name: str) -> tuple[LockedSkill, ...]:
        first = self.skills.get(name)
        return (first, *first.also) if first else ()

    def check(self, skill: AgentSkill) -> None:
        """Raise `SkillPolicyError` if the skill differs from its lock."""
        if found := self.drift(skill):
            shown = ", ".join(str(drift) for drift in found[:5])
            raise SkillPolicyError(f"{skill.name} differs from the lock: {shown}")


def _digests(skill: AgentSkill) -> dict[str, str]:
    return {
        file.relative_path: f"sha256:{file.sha256()}" if file.link is None else f"-> {file.link}"
        for file in skill.files
    }


def _compared(name: str, now: Mapping[str, str], then: Mapping[str, str]) -> list[Drift]:
    """Return the differences between the files now and the locked ones."""
    found = []
    for path in sorted({*now, *then}):
        if path not in now:
            found.append(Drift(name, path, "removed"))
        elif path not in then:
            found.append(Drift(name, path, "added"))
        elif then[path] != now[path]:
            found.append(Drift(name, path, "modified"))
    return found
