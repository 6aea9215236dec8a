"""The skills that there are: found in ordered roots, known by their front matter, read when they are loaded.

One bad skill never hides another: what cannot be used is in `diagnostics`, what lost to an earlier skill of the same
name in `collisions`. A refresh builds a new index beside the old one and swaps them.
"""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from importlib.metadata import entry_points
from typing import TYPE_CHECKING

from agentsandbox.errors import InvalidSkillError, SkillError, SkillNotFoundError
from agentsandbox.skills.frontmatter import FENCE, MAX_FRONTMATTER_BYTES, FrontmatterError, read_utf8
from agentsandbox.skills.metadata import read_metadata
from agentsandbox.skills.skill import MAX_SKILL_FILE_BYTES, AgentSkill
from agentsandbox.skills.stores import HostSkills, PackageSkills, VirtualSkills, ZipSkills
from agentsandbox.skills.validation import Diagnostic
from agentsandbox.streams import encode

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator
    from typing import Any, Literal

    from agentsandbox.skills.lockfile import SkillLock
    from agentsandbox.skills.metadata import SkillMetadata
    from agentsandbox.skills.stores import Candidate, LineFile, SkillStore
    from agentsandbox.skills.watching import RootWatch

    Scope = Literal["project", "user", "builtin", "explicit"]
    Reload = Literal["manual", "mtime", "poll", "watch"]

__all__ = ["CatalogView", "Collision", "SkillCatalog", "SkillRecord", "SkillRoot", "installed_roots"]

ENTRY_POINTS = "agentsandbox.skills"
WARN_TOKENS = 8000
BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class SkillRoot:
    """A place to look for skills. `path` is a folder or a zip file of the host, or any `SkillStore`.

    With `search_up` a relative path is looked for in the working directory and in all above it, up to `stop_at`.
    """

    path: str | os.PathLike[str] | SkillStore
    scope: Scope = "project"
    search_up: bool = False
    stop_at: str | os.PathLike[str] | None = None

    def stores(self) -> list[SkillStore]:
        """The places that the root means now."""
        path = self.path
        if not isinstance(path, (str, os.PathLike)):
            return [path]
        text = os.path.expanduser(os.fspath(path))
        if not self.search_up or os.path.isabs(text):
            return [_store(text)]
        stop = os.path.abspath(os.path.expanduser(os.fspath(self.stop_at))) if self.stop_at is not None else None
        here, places = os.path.abspath(os.curdir), []
        while True:
            places.append(os.path.join(here, text))
            above = os.path.dirname(here)
            if here in (stop, above):
                return [_store(place) for place in places]
            here = above


def _store(path: str) -> SkillStore:
    return ZipSkills(path) if path.lower().endswith(".zip") else HostSkills(path)


def installed_roots() -> list[SkillRoot]:
    """The skills of installed packages: each entry point of the group `agentsandbox.skills` names "package:directory"."""
    found = sorted(entry_points(group=ENTRY_POINTS), key=lambda entry: entry.name)
    return [SkillRoot(PackageSkills(*entry.value.split(":", 1)), "builtin") for entry in found]


@dataclass(frozen=True, slots=True)
class Collision:
    """Several skills of one name: the first in the order of the roots is used. Locations as the host knows them."""

    name: str
    winner: str
    losers: tuple[str, ...]


class SkillRecord:
    """What a catalog knows of one skill. `body` is None until the skill is loaded."""

    __slots__ = ("_skill", "_source", "diagnostics", "location", "lock", "metadata", "mount_path", "scope", "size", "stamp")

    def __init__(
        self,
        metadata: SkillMetadata,
        scope: Scope,
        candidate: Candidate | None,
        diagnostics: tuple[Diagnostic, ...],
        skill: AgentSkill | None = None,
    ) -> None:
        self.metadata = metadata
        self.scope = scope
        self.diagnostics = diagnostics
        self.size = candidate.size if candidate else len(skill.metadata.raw_content or "") if skill else 0
        self.stamp = candidate.stamp if candidate else None
        self.location = candidate.location if candidate else None
        """Where the host has SKILL.md; never shown to a model."""
        self.mount_path = candidate.mount_path if candidate else None
        """Where the sandbox has the skill's directory; None until it is mounted."""
        self.lock: SkillLock | None = None
        """What the skill must be made of, where the host says it."""
        self._source = candidate.source if candidate else None
        self._skill = skill

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
        """The whole skill, read now if it was not before; `SkillPolicyError` when it is not what was locked."""
        skill = self._skill
        if skill is None:
            assert self._source is not None
            skill = AgentSkill.from_source(self._source, self.name)
        if self.lock is not None:
            self.lock.check(skill)
        self._skill = skill
        return skill

    def __repr__(self) -> str:
        return f"SkillRecord({self.name!r}, scope={self.scope!r})"


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
    ) -> None:
        """`skills` are given by the host and come before what the roots hold; the rest is explained at `discover`."""
        self.roots = tuple(root if isinstance(root, SkillRoot) else SkillRoot(root) for root in roots)
        self.strict = strict
        self.max_skills = max_skills
        self.disabled = frozenset(disabled)
        self.on_invalid = on_invalid
        self.on_collision = on_collision
        self.reload = reload
        self.poll_interval = poll_interval
        self.lock = lock
        self._given = tuple(skills)
        self._index = _Index()
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
    ) -> SkillCatalog:
        """Look for skills in `roots`: the first of a name wins, a missing root is an empty one.

        strict        ask for all that the specification asks for
        max_skills    stop there, with a warning
        disabled      names that are neither shown nor found
        on_invalid    "skip" what is no skill, or "raise" `InvalidSkillError` with all that is wrong
        on_collision  use the "first" of several skills of one name, or raise an "error"
        reload        "manual" with `refresh`, "mtime" at every use, "poll" at the first use after `poll_interval` seconds,
                      "watch" at the first use after a file of a root changed (needs the extra `watch`); what an agent wrote in
                      a sandbox is seen at once
        lock          load only what it says, file by file
        """
        return cls(
            roots, strict=strict, max_skills=max_skills, disabled=disabled, on_invalid=on_invalid, on_collision=on_collision,
            reload=reload, poll_interval=poll_interval, lock=lock,
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
        """The skill of that name, in any case when that is clear; `SkillNotFoundError` names what there is."""
        return find_record(self._now().records, name)

    def refresh(self) -> None:
        """Look again. Front matter is read only where SKILL.md changed."""
        index = _Index(self._index)
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
        """All that is known, for an administrator's page: skills, what is wrong, collisions. Places on the host unless `redact`."""
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
            kind: [{"code": each.code, "message": each.message, "path": each.path} for each in index.diagnostics if each.severity == kind]
            for kind in ("error", "warning")
        }
        collisions = [
            {"name": each.name, "losers": len(each.losers) if redact else list(each.losers), "winner": None if redact else each.winner}
            for each in index.collisions
        ]
        return {"skills": skills, "invalid": found["error"], "warnings": found["warning"], "collisions": collisions}

    def view(
        self, *, include: Collection[str] | None = None, exclude: Collection[str] = (), where: Callable[[SkillRecord], bool] | None = None
    ) -> CatalogView:
        """The part of the catalog that one agent may see; it follows refreshes."""
        return CatalogView(self, include, exclude, where)

    def skills(self) -> list[AgentSkill]:
        """All of them loaded, to be mounted; those that cannot be are left out and in `diagnostics` from then on."""
        index = self._now()
        loaded = []
        for record in index.records.values():
            try:
                loaded.append(record.load())
            except (SkillError, OSError) as error:
                index.diagnostics += (Diagnostic("unreadable", "error", "", _safe(error), f"{record.name}/SKILL.md"),)
        return loaded

    def __getitem__(self, name: str) -> SkillRecord:
        return self._now().records[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._now().records)

    def __len__(self) -> int:
        return len(self._now().records)

    def _now(self) -> _Index:
        stale = self.reload == "mtime" or self._in_sandboxes() != self._written
        if self.reload == "poll":
            stale |= time.monotonic() - self._refreshed >= self.poll_interval
        elif self.reload == "watch":
            stale |= self._has_changed()
        if stale:
            self.refresh()
        return self._index

    def _has_changed(self) -> bool:
        """Whether the system tells of a change, which it does once it is asked for the first time."""
        from agentsandbox.skills.watching import RootWatch

        if self._watch is None:
            self._watch = RootWatch(self.roots)
            return True
        return self._watch.changed()

    def _in_sandboxes(self) -> list[object]:
        """What stands in those roots that sandboxes write to: nobody needs to tell of a change there."""
        return [root.path.state() for root in self.roots if isinstance(root.path, VirtualSkills)]


class CatalogView(Mapping[str, SkillRecord]):
    """Part of a catalog."""

    def __init__(
        self, catalog: SkillCatalog, include: Collection[str] | None, exclude: Collection[str], where: Callable[[SkillRecord], bool] | None
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
        return named and record.name not in self._exclude and (self._where is None or self._where(record))

    def __getitem__(self, name: str) -> SkillRecord:
        record = self.catalog[name]
        if not self._shows(record):
            raise KeyError(name)
        return record

    def __iter__(self) -> Iterator[str]:
        return (name for name, record in self.catalog.items() if self._shows(record))

    def __len__(self) -> int:
        return sum(1 for _ in self)


class _Index:
    """One state of a catalog; `before` lends the records whose files have not changed."""

    def __init__(self, before: _Index | None = None) -> None:
        self.records: dict[str, SkillRecord] = {}
        self.diagnostics: tuple[Diagnostic, ...] = ()
        self.collisions: tuple[Collision, ...] = ()
        self._known = before._by_location if before else {}
        self._by_location: dict[str, tuple[SkillRecord | None, tuple[Diagnostic, ...], object]] = {}
        self._found: list[Diagnostic] = []
        self._titles: dict[str, str] = {}
        self._losers: dict[str, list[str]] = {}
        self._full = False

    def scan(self, store: SkillStore, scope: Scope, catalog: SkillCatalog) -> None:
        """Add what a store holds."""
        try:
            for candidate in store.candidates():
                if self._full:
                    return
                record = self._record(candidate, scope, catalog.strict)
                if record is not None:
                    self.add(record, catalog)
        except OSError as error:
            self._found.append(Diagnostic("unreadable-root", "warning", "", f"a skills directory cannot be read: {_safe(error)}"))

    def add(self, record: SkillRecord, catalog: SkillCatalog) -> None:
        """Add a skill unless it is disabled, of a name that is taken, or one too many."""
        name, title = record.name, record.metadata.title
        if name in catalog.disabled:
            return
        winner = name if name in self.records else self._titles.get(name) or self._titles.get(title)
        if winner is not None:
            self._losers.setdefault(winner, []).append(record.location or name)
            return
        if catalog.max_skills is not None and len(self.records) >= catalog.max_skills:
            self._full = True
            message = f"there are more than {catalog.max_skills} skills; the rest is left out"
            self._found.append(Diagnostic("too-many-skills", "warning", "", message))
            return
        record.lock = catalog.lock
        self.records[name] = record
        if title:
            self._titles[title] = name

    def finish(self) -> None:
        """Turn what was noted into diagnostics and collisions."""
        collisions = []
        for name, losers in self._losers.items():
            collisions.append(Collision(name, self.records[name].location or name, tuple(losers)))
            message = f"{len(losers) + 1} skills are named {name!r}; the first is used"
            self._found.append(Diagnostic("collision", "warning", "name", message))
        self.collisions = tuple(collisions)
        self.diagnostics = tuple(self._found)

    def problems(self, catalog: SkillCatalog) -> list[str]:
        """What the catalog must not be with."""
        fatal = {"error"} if catalog.on_invalid == "raise" else set()
        found = [f"{each.path}: {each.message}" for each in self.diagnostics if each.severity in fatal]
        if catalog.on_collision == "error":
            found += [each.message.partition(";")[0] for each in self.diagnostics if each.code == "collision"]
        return found

    def _record(self, candidate: Candidate, scope: Scope, strict: bool) -> SkillRecord | None:
        known = self._known.get(candidate.location)
        if known is None or candidate.stamp is None or known[2] != candidate.stamp:
            known = (*_read(candidate, scope, strict=strict), candidate.stamp)
        self._by_location[candidate.location] = known
        self._found.extend(known[1])
        return known[0]


def _read(candidate: Candidate, scope: Scope, *, strict: bool) -> tuple[SkillRecord | None, tuple[Diagnostic, ...]]:
    """The record that a front matter makes, and what is wrong with it."""
    path = f"{candidate.directory}/SKILL.md"
    try:
        if candidate.size > MAX_SKILL_FILE_BYTES:
            raise FrontmatterError("too-large", f"SKILL.md exceeds {MAX_SKILL_FILE_BYTES} bytes")
        file = candidate.open()
        try:
            head = read_utf8(read_head(file))
        finally:
            file.close()
        metadata, found = read_metadata(head, directory=candidate.directory, strict=strict, prefer_directory=True, with_body=False)
    except FrontmatterError as error:
        metadata, found = None, [Diagnostic(error.code, "error", "", str(error))]
    except OSError as error:
        metadata, found = None, [Diagnostic("unreadable", "error", "", _safe(error))]
    if candidate.size > WARN_TOKENS * 4:
        message = f"SKILL.md is about {-(-candidate.size // 4)} tokens, more than {WARN_TOKENS}"
        found.append(Diagnostic("many-tokens", "warning", "", message))
    diagnostics = tuple(replace(diagnostic, path=path) for diagnostic in found)
    return (SkillRecord(metadata, scope, candidate, diagnostics) if metadata else None), diagnostics


def read_head(file: LineFile) -> bytes:
    """A SKILL.md up to the line that ends its front matter: nothing after it is asked for."""
    lines: list[bytes] = []
    size = 0
    fence = encode(FENCE)
    blank = b"\n"
    line = file.readline(MAX_FRONTMATTER_BYTES + 2).removeprefix(BOM)
    while line and not line.strip() and size <= MAX_FRONTMATTER_BYTES:
        lines, size = [blank], size + len(line)  # one tells of all
        line = file.readline(MAX_FRONTMATTER_BYTES + 2)
    lines.append(line)
    ended = line.rstrip() != fence
    while line and not ended and size <= MAX_FRONTMATTER_BYTES:
        line = file.readline(MAX_FRONTMATTER_BYTES + 2)
        lines.append(line)
        size += len(line)
        ended = line.rstrip() == fence
    return b"".join(lines)


def find_record(records: Mapping[str, SkillRecord], name: str) -> SkillRecord:
    """The record of that name, or title, in any case when that is clear; `SkillNotFoundError` names what there is."""
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
    raise SkillNotFoundError(f"Unknown skill: {name[:100]!r}. Available skills: {shown}")


def _safe(error: Exception) -> str:
    """The error's words without any path of the host."""
    if isinstance(error, OSError):
        return error.strerror or "cannot be read"
    return str(error)
