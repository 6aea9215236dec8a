"""A catalog of skills: found in ordered roots, known by their front matter, read when loaded.

One bad skill never hides another. `diagnostics` lists what cannot be used, `collisions` the skills
that have the name of an earlier one. A refresh builds a new index beside the old one and then
replaces it.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, TypedDict

from agentsandbox.errors import InvalidSkillError, SkillError
from agentsandbox.skills.catalog.discovery import Index
from agentsandbox.skills.catalog.records import SkillRecord, find_record
from agentsandbox.skills.catalog.roots import SkillRoot
from agentsandbox.skills.sources.stores import VirtualSkills
from agentsandbox.skills.validation import USUAL, error, safe_words

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Collection, ItemsView, Iterable, Iterator, ValuesView
    from typing import Any, Literal, Unpack

    from agentsandbox.skills.catalog.records import Collision
    from agentsandbox.skills.catalog.watching import RootWatch
    from agentsandbox.skills.skill import AgentSkill
    from agentsandbox.skills.sources.stores import SkillStore
    from agentsandbox.skills.trust.lockfile import SkillLock
    from agentsandbox.skills.validation import Acceptance, Diagnostic

    Reload = Literal["manual", "mtime", "poll", "watch"]


class CatalogOptions(TypedDict, total=False):
    """The options of `SkillCatalog.discover`; `SkillCatalog` says what they mean."""

    strict: bool
    max_skills: int | None
    disabled: Collection[str]
    on_invalid: Literal["skip", "raise"]
    on_collision: Literal["first", "error"]
    reload: Reload
    poll_interval: float
    lock: SkillLock | None
    accept: Acceptance


class _Skills(Mapping[str, SkillRecord]):
    """Skills by name. Each method looks once: at its next look a skill may be gone."""

    def _look(self) -> Mapping[str, SkillRecord]:
        raise NotImplementedError

    def find(self, name: str) -> SkillRecord:
        """Return the skill of that name; upper and lower case are the same where that is clear.

        Raises `SkillNotFoundError`, which lists the names.
        """
        return find_record(self._look(), name)

    def __getitem__(self, name: str) -> SkillRecord:
        return self._look()[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._look())

    def __len__(self) -> int:
        return len(self._look())

    def items(self) -> ItemsView[str, SkillRecord]:
        """Return names and skills as one look finds them."""
        return self._look().items()

    def values(self) -> ValuesView[SkillRecord]:
        """Return skills as one look finds them."""
        return self._look().values()


class SkillCatalog(_Skills):
    """Skills by name, in the order of discovery.

    roots         where to look for skills: the first skill of a name wins, a missing root is empty
    skills        skills that the host gives; they come before those of the roots
    strict        require everything that the specification requires
    max_skills    stop at this number, with a warning
    disabled      names of skills that are neither shown nor found
    on_invalid    "skip" a directory that is not a valid skill, or "raise" `InvalidSkillError` with
                  every problem
    on_collision  use the "first" of several skills of one name, or raise `InvalidSkillError`:
                  "error"
    reload        look again "manual"ly with `refresh`, by "mtime" at every use, by "poll" at the
                  first use after `poll_interval` seconds, or by "watch" at the first use after a
                  file of a root changed (needs the extra `watch`). Skills that an agent writes in a
                  sandbox are seen at once
    poll_interval seconds, for `reload="poll"`
    lock          load only the skills of this lock, with exactly its files
    accept        which names and sizes are accepted
    """

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
        **options: Unpack[CatalogOptions],
    ) -> SkillCatalog:
        """Look for skills in `roots` and return the catalog of them."""
        return cls(roots, **options)

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """Every error and warning, with the path of the file that it is about."""
        return self._now().diagnostics

    @property
    def collisions(self) -> tuple[Collision, ...]:
        """The names that several skills have."""
        return self._now().collisions

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
        self._written = self._written_skills()

    def report(self, *, redact: bool = True) -> dict[str, Any]:
        """Return skills, errors, warnings and collisions as JSON-able values.

        It is for an administrator's page. Paths of the host are included only without `redact`.
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
        found: dict[str, list[dict[str, str]]] = {"error": [], "warning": []}
        for each in index.diagnostics:
            found[each.severity].append(
                {"code": each.code, "message": each.message, "path": each.path}
            )
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
        """Return the part of the catalog that one agent may see; it follows refreshes."""
        return CatalogView(self, include, exclude, where)

    def skills(self) -> list[AgentSkill]:
        """Load all skills and return them, ready to be mounted.

        A skill that cannot be loaded is left out and added to `diagnostics`.
        """
        index = self._now()
        loaded = []
        for record in index.records.values():
            try:
                loaded.append(record.load())
            except (SkillError, OSError) as problem:
                path = f"{record.name}/SKILL.md"
                index.diagnostics += (error("unreadable", safe_words(problem), path=path),)
        return loaded

    def _look(self) -> Mapping[str, SkillRecord]:
        return self._now().records

    def _now(self) -> Index:
        stale = self.reload == "mtime" or self._written_skills() != self._written
        if self.reload == "poll":
            stale |= time.monotonic() - self._refreshed >= self.poll_interval
        elif self.reload == "watch":
            stale |= self._has_changed()
        if stale:
            try:
                self.refresh()
            except BaseException:
                self._watch = None  # what it reported is still to be read
                raise
        return self._index

    def _has_changed(self) -> bool:
        """Whether the system reports a change; the first call starts the watch and returns True."""
        from agentsandbox.skills.catalog.watching import RootWatch

        if self._watch is None:
            self._watch = RootWatch(self.roots)
            return True
        return self._watch.changed()

    def _written_skills(self) -> list[object]:
        """Return the states of the roots that sandboxes write to; they are compared at each use."""
        return [root.path.state() for root in self.roots if isinstance(root.path, VirtualSkills)]


class CatalogView(_Skills):
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

    def _look(self) -> Mapping[str, SkillRecord]:
        return {name: record for name, record in self.catalog.items() if self._shows(record)}

    def _shows(self, record: SkillRecord) -> bool:
        return (
            (self._include is None or record.name in self._include)
            and record.name not in self._exclude
            and (self._where is None or self._where(record))
        )

    def __getitem__(self, name: str) -> SkillRecord:
        record = self.catalog[name]
        if not self._shows(record):
            raise KeyError(name)
        return record

