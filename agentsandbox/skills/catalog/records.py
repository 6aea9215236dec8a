"""What a catalog knows of its skills, and how one is found by its name."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

from agentsandbox.errors import InvalidSkillError, SkillNotFoundError
from agentsandbox.skills.prompts import one_line
from agentsandbox.skills.skill import AgentSkill
from agentsandbox.skills.validation import USUAL

if TYPE_CHECKING:
    from collections.abc import Mapping

    from agentsandbox.skills.catalog.roots import Scope
    from agentsandbox.skills.metadata import SkillMetadata
    from agentsandbox.skills.sources.stores import Candidate
    from agentsandbox.skills.trust.lockfile import SkillLock
    from agentsandbox.skills.validation import Acceptance, Diagnostic

__all__ = ["Collision", "SkillRecord", "find_record"]


@dataclass(frozen=True, slots=True)
class Collision:
    """Several skills of one name: the first in the order of the roots is used. Locations as the
    host knows them.
    """

    name: str
    winner: str
    losers: tuple[str, ...]


class SkillRecord:
    """What a catalog knows of one skill. `body` is None until the skill is loaded."""

    __slots__ = (
        "_accept",
        "_skill",
        "_source",
        "diagnostics",
        "location",
        "lock",
        "metadata",
        "mount_path",
        "scope",
        "size",
        "stamp",
    )

    def __init__(
        self,
        metadata: SkillMetadata,
        scope: Scope,
        candidate: Candidate | None,
        diagnostics: tuple[Diagnostic, ...],
        skill: AgentSkill | None = None,
        *,
        accept: Acceptance = USUAL,
    ) -> None:
        self.metadata = metadata
        self.scope = scope
        self.diagnostics = diagnostics
        self.size = (
            candidate.size if candidate else len(skill.metadata.raw_content or "") if skill else 0
        )
        self.stamp = candidate.stamp if candidate else None
        self.location = candidate.location if candidate else None
        """Where the host has SKILL.md; never shown to a model."""
        self.mount_path = candidate.mount_path if candidate else None
        """Where the sandbox has the skill's directory; None until it is mounted."""
        self.lock: SkillLock | None = None
        """What the skill must be made of, where the host says it."""
        self._source = candidate.source if candidate else None
        self._skill = skill
        self._accept = accept

    @property
    def name(self) -> str:
        """The name the skill is known by: `catalog[name]`."""
        return self.metadata.name

    @property
    def description(self) -> str:
        return self.metadata.description

    @property
    def root_dir(self) -> str | None:
        """The directory of `location`."""
        return os.path.dirname(self.location) if self.location else None

    @property
    def est_tokens(self) -> int:
        """About how many tokens its SKILL.md is."""
        return -(-self.size // 4)

    @property
    def body(self) -> str | None:
        """The instructions, once loaded."""
        return self._skill.metadata.instructions if self._skill else None

    @property
    def digest(self) -> str | None:
        """sha256 of SKILL.md, once loaded."""
        return self._skill.digest if self._skill else None

    def load(self) -> AgentSkill:
        """The whole skill, read now if it was not before.

        `InvalidSkillError` when it cannot be read, `SkillPolicyError` when it is not what was
        locked.
        """
        skill = self._skill
        if skill is None:
            assert self._source is not None
            try:
                skill = AgentSkill.from_source(self._source, self.name, accept=self._accept)
            except OSError as error:  # it went away meanwhile, or is damaged
                problem = (
                    f"the skill {self.name!r} cannot be read: {error.strerror or 'it is damaged'}"
                )
                raise InvalidSkillError(problem, [problem]) from None
        if self.lock is not None:
            self.lock.check(skill)
        self._skill = skill
        return skill

    def __repr__(self) -> str:
        return f"SkillRecord({self.name!r}, scope={self.scope!r})"


def find_record(records: Mapping[str, SkillRecord], name: str) -> SkillRecord:
    """The record of that name, or title, in any case when that is clear; `SkillNotFoundError` names
    what there is.
    """
    if name in records:
        return records[name]
    folded = name.casefold()
    for found in (
        [record for known, record in records.items() if known.casefold() == folded],
        [record for record in records.values() if record.metadata.title.casefold() == folded],
    ):
        if len(found) == 1:
            return found[0]
    shown = ", ".join(sorted(records)[:50]) or "none"
    raise SkillNotFoundError(f"Unknown skill: {one_line(name, 100)}. Available skills: {shown}")
