"""The record of a skill in a catalog, and how a record is found by its name."""

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


@dataclass(frozen=True, slots=True)
class Collision:
    """Several skills of one name. The winner is the first in the order of the roots.

    Winner and losers are locations on the host, or names where there is no location.
    """

    name: str
    winner: str
    losers: tuple[str, ...]


class SkillRecord:
    """A skill in a catalog: its metadata, where it is, and the skill itself once it is loaded."""

    __slots__ = ("_accept", "_candidate", "_skill", "diagnostics", "lock", "metadata", "scope")

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
        self.lock: SkillLock | None = None
        """The lock that the skill must match, if the host gave one."""
        self._candidate = candidate
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
    def size(self) -> int:
        """The size of SKILL.md in bytes, or in characters for a skill that the host gave."""
        if self._candidate is not None:
            return self._candidate.size
        return len(self._skill.metadata.raw_content or "") if self._skill else 0

    @property
    def est_tokens(self) -> int:
        """About how many tokens SKILL.md has."""
        return -(-self.size // 4)

    @property
    def stamp(self) -> object:
        """A value that changes when SKILL.md does; None where that is not known."""
        return self._candidate.stamp if self._candidate else None

    @property
    def location(self) -> str | None:
        """The path of SKILL.md on the host; never shown to a model."""
        return self._candidate.location if self._candidate else None

    @property
    def root_dir(self) -> str | None:
        """The directory of `location`."""
        return os.path.dirname(self.location) if self.location else None

    @property
    def mount_path(self) -> str | None:
        """The skill's directory, for a skill that was found in the sandbox's own files."""
        return self._candidate.mount_path if self._candidate else None

    @property
    def body(self) -> str | None:
        """The instructions; None until the skill is loaded."""
        return self._skill.metadata.instructions if self._skill else None

    @property
    def digest(self) -> str | None:
        """The sha256 of SKILL.md; None until the skill is loaded."""
        return self._skill.digest if self._skill else None

    def load(self) -> AgentSkill:
        """Return the whole skill; the first call reads it.

        Raises `InvalidSkillError` for a skill that cannot be read and `SkillPolicyError` for one
        that differs from the lock.
        """
        skill = self._skill
        if skill is None:
            assert self._candidate is not None
            source = self._candidate.source
            try:
                skill = AgentSkill.from_source(source, self.name, accept=self._accept)
            except OSError as error:  # it was removed meanwhile, or is damaged
                reason = error.strerror or "it is damaged"
                problem = f"the skill {self.name!r} cannot be read: {reason}"
                raise InvalidSkillError(problem) from None
        if self.lock is not None:
            self.lock.check(skill)
        self._skill = skill
        return skill

    def __repr__(self) -> str:
        return f"SkillRecord({self.name!r}, scope={self.scope!r})"


def find_record(records: Mapping[str, SkillRecord], name: str) -> SkillRecord:
    """Return the record of a name or of its only other spelling. Raises `SkillNotFoundError`."""
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
