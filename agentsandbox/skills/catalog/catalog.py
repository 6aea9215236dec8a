"""The skills that there are: found in ordered roots, known by their front matter, read when they
are loaded.

One bad skill never hides another: what cannot be used is in `diagnostics`, what lost to an earlier
skill of the same name in `collisions`. A refresh builds a new index beside the old one and swaps
them.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import TYPE_CHECKING

from agentsandbox.errors import InvalidSkillError, SkillError
from agentsandbox.skills.catalog.discovery import Index, safe_words
from agentsandbox.skills.catalog.records import SkillRecord, find_record
from agentsandbox.skills.catalog.roots import SkillRoot
from agentsandbox.skills.sources.stores import VirtualSkills
from agentsandbox.skills.validation import USUAL, Diagnostic

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Collection, Iterable, Iterator
    from typing import Any, Literal

    from agentsandbox.skills.catalog.records import Collision
    from agentsandbox.skills.catalog.watching import RootWatch
    from agentsandbox.skills.skill import AgentSkill
    from agentsandbox.skills.sources.stores import SkillStore
    from agentsandbox.skills.trust.lockfile import SkillLock
    from agentsandbox.skills.validation import Acceptance

    Reload = Literal["manual", "mtime", "poll", "watch"]

__all__ = ["CatalogView", "SkillCatalog"]


class SkillCatalog(Mapping[str, SkillRecord]):
    """Skills by name, in the order of discovery. Make one with `discover`."""

    def __init__(
        self,
        roots: Iterable[SkillRoot | SkillStore | str | os.PathLike[str]] = (),
        *,
        skills: Iterable[AgentSkill] = (),
        strict: bool = False,
        max_skills: int | None = None,
        disabled: Collection[str] = (),
        on_invalid: Literal["skip", "raise"] = "skip",
        on_collision: Literal["first", "error"] = "first",
        reload: Reload = "manual",
        poll_interval: float = 5.0,
        lock: SkillLock | None = None,
        accept: Acceptance = USUAL,
    ) -> None:
        """`skills` are given by the host and come before what the roots hold; the rest is explained
        at `discover`.
        """
        self.roots = tuple(
            root if isinstance(root, SkillRoot) else SkillRoot(root) for root in roots
        )
        self.strict = strict
        self.max_skills = max_skills
        self.disabled: Collection[str] = frozenset(disabled)
        self.on_invalid = on_invalid
        self.on_collision = on_collision
        self.reload = reload
        self.poll_interval = poll_interval
        self.lock = lock
        self.accept = accept
        self._given = tuple(skills)
        self._index = Index()
        self._watch: RootWatch | None = None
        self._refreshed = 0.0
        self._written: list[object] = []
        self.refresh()

    @classmethod
    def discover(
        cls,
        *roots: SkillRoot | SkillStore | str | os.PathLike[str],
        strict: bool = False,
        max_skills: int | None = None,
        disabled: Collection[str] = (),
        on_invalid: Literal["skip", "raise"] = "skip",
        on_collision: Literal["first", "error"] = "first",
        reload: Reload = "manual",
        poll_interval: float = 5.0,
        lock: SkillLock | None = None,
        accept: Acceptance = USUAL,
    ) -> SkillCatalog:
        """Look for skills in `roots`: the first of a name wins, a missing root is an empty one.

        strict        ask for all that the specification asks for
        max_skills    stop there, with a warning
        disabled      names that are neither shown nor found
        on_invalid    "skip" what is no skill, or "raise" `InvalidSkillError` with all that is wrong
        on_collision  use the "first" of several skills of one name, or raise an "error"
        reload        "manual" with `refresh`, "mtime" at every use, "poll" at the first use after
                      `poll_interval` seconds, "watch" at the first use after a file of a root
                      changed (needs the extra `watch`); what an agent wrote in a sandbox is seen at
                      once
        lock          load only what it says, file by file
        accept        which names and sizes are taken
        """
        return cls(
            roots, strict=strict, max_skills=max_skills, disabled=disabled, on_invalid=on_invalid, on_collision=on_collision,
            reload=reload, poll_interval=poll_interval, lock=lock, accept=accept,
        )  # fmt: skip

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """Everything that was found wrong or untidy, with the file it is about."""
        return self._now().diagnostics

    @property
    def collisions(self) -> tuple[Collision, ...]:
        """The names that several skills have."""
        return self._now().collisions

    def find(self, name: str) -> SkillRecord:
        """The skill of that name, in any case when that is clear; `SkillNotFoundError` names what
        there is.
        """
        return find_record(self._now().records, name)

    def refresh(self) -> None:
        """Look again. Front matter is read only where SKILL.md changed."""
        index = Index(self._index)
        for skill in self._given:
            index.add(SkillRecord(skill.metadata, "explicit", None, skill.diagnostics, skill), self)
        for root in self.roots:
            for store in root.stores():
                index.scan(store, root.scope, self)
        index.finish()
        if problems := index.problems(self):
            raise InvalidSkillError("; ".join(problems), problems)
        self._index = index
        self._refreshed = time.monotonic()
        self._written = self._in_sandboxes()

    def report(self, *, redact: bool = True) -> dict[str, Any]:
        """All that is known, for an administrator's page: skills, what is wrong, collisions. Places
        on the host unless `redact`.
        """
        index = self._now()
        skills = [
            {
                "name": record.name,
                "description": record.description,
                "scope": record.scope,
                "path": None if redact else record.location,
                "loaded": record.digest is not None,
                "tokens": record.est_tokens,
            }
            for record in index.records.values()
        ]
        found = {
            kind: [
                {"code": each.code, "message": each.message, "path": each.path}
                for each in index.diagnostics
                if each.severity == kind
            ]
            for kind in ("error", "warning")
        }
        collisions = [
            {
                "name": each.name,
                "losers": len(each.losers) if redact else list(each.losers),
                "winner": None if redact else each.winner,
            }
            for each in index.collisions
        ]
        return {
            "skills": skills,
            "invalid": found["error"],
            "warnings": found["warning"],
            "collisions": collisions,
        }

    def view(
        self,
        *,
        include: Collection[str] | None = None,
        exclude: Collection[str] = (),
        where: Callable[[SkillRecord], bool] | None = None,
    ) -> CatalogView:
        """The part of the catalog that one agent may see; it follows refreshes."""
        return CatalogView(self, include, exclude, where)

    def skills(self) -> list[AgentSkill]:
        """All of them loaded, to be mounted; those that cannot be are left out and in `diagnostics`
        from then on.
        """
        index = self._now()
        loaded = []
        for record in index.records.values():
            try:
                loaded.append(record.load())
            except (SkillError, OSError) as error:
                index.diagnostics += (
                    Diagnostic(
                        "unreadable", "error", "", safe_words(error), f"{record.name}/SKILL.md"
                    ),
                )
        return loaded

    def __getitem__(self, name: str) -> SkillRecord:
        return self._now().records[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._now().records)

    def __len__(self) -> int:
        return len(self._now().records)

    def _now(self) -> Index:
        stale = self.reload == "mtime" or self._in_sandboxes() != self._written
        if self.reload == "poll":
            stale |= time.monotonic() - self._refreshed >= self.poll_interval
        elif self.reload == "watch":
            stale |= self._has_changed()
        if stale:
            self.refresh()
        return self._index

    def _has_changed(self) -> bool:
        """Whether the system tells of a change, which it does once it is asked for the first
        time.
        """
        from agentsandbox.skills.catalog.watching import RootWatch

        if self._watch is None:
            self._watch = RootWatch(self.roots)
            return True
        return self._watch.changed()

    def _in_sandboxes(self) -> list[object]:
        """What stands in those roots that sandboxes write to: nobody needs to tell of a change
        there.
        """
        return [root.path.state() for root in self.roots if isinstance(root.path, VirtualSkills)]


class CatalogView(Mapping[str, SkillRecord]):
    """Part of a catalog."""

    def __init__(
        self,
        catalog: SkillCatalog,
        include: Collection[str] | None,
        exclude: Collection[str],
        where: Callable[[SkillRecord], bool] | None,
    ) -> None:
        self.catalog = catalog
        self._include = None if include is None else frozenset(include)
        self._exclude = frozenset(exclude)
        self._where = where

    def find(self, name: str) -> SkillRecord:
        """As `SkillCatalog.find`, among what the view shows."""
        return find_record(dict(self), name)

    def _shows(self, record: SkillRecord) -> bool:
        named = self._include is None or record.name in self._include
        return (
            named
            and record.name not in self._exclude
            and (self._where is None or self._where(record))
        )

    def __getitem__(self, name: str) -> SkillRecord:
        record = self.catalog[name]
        if not self._shows(record):
            raise KeyError(name)
        return record

    def __iter__(self) -> Iterator[str]:
        return (name for name, record in self.catalog.items() if self._shows(record))

    def __len__(self) -> int:
        return sum(1 for _ in self)
