"""Looking for skills. A front matter is read once, and again only when its SKILL.md changed."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Literal, Protocol

from agentsandbox.kernel.streams import encode
from agentsandbox.skills.catalog.records import Collision, SkillRecord
from agentsandbox.skills.frontmatter import (
    FENCE,
    MAX_FRONTMATTER_BYTES,
    FrontmatterError,
    Opening,
    read_utf8,
)
from agentsandbox.skills.metadata import read_metadata
from agentsandbox.skills.validation import error, safe_words, warning

if TYPE_CHECKING:
    from collections.abc import Collection

    from agentsandbox.skills.catalog.roots import Scope
    from agentsandbox.skills.sources.stores import Candidate, LineFile, SkillStore
    from agentsandbox.skills.trust.lockfile import SkillLock
    from agentsandbox.skills.validation import Acceptance, Diagnostic

WARN_TOKENS = 8000
BOM = b"\xef\xbb\xbf"
BLANK = b"\n"


class Rules(Protocol):
    """The options of a catalog that decide which skills it takes."""

    strict: bool
    accept: Acceptance
    disabled: Collection[str]
    max_skills: int | None
    lock: SkillLock | None
    on_invalid: Literal["skip", "raise"]
    on_collision: Literal["first", "error"]


class Index:
    """One state of a catalog. Records whose files have not changed come from `before`."""

    def __init__(self, before: Index | None = None) -> None:
        self.records: dict[str, SkillRecord] = {}
        self.diagnostics: tuple[Diagnostic, ...] = ()
        self.collisions: tuple[Collision, ...] = ()
        self._known = before._by_location if before else {}
        self._by_location: dict[str, tuple[SkillRecord | None, tuple[Diagnostic, ...], object]] = {}
        self._found: list[Diagnostic] = []
        self._losers: dict[str, list[str]] = {}
        self._full = False

    def scan(self, store: SkillStore, scope: Scope, catalog: Rules) -> None:
        """Add the skills of a store."""
        try:
            for candidate in store.candidates():
                if self._full:
                    return
                record = self._record(candidate, scope, catalog)
                if record is not None:
                    self.add(record, catalog)
        except OSError as problem:
            message = f"a skills directory cannot be read: {safe_words(problem)}"
            self._found.append(warning("unreadable-root", message))

    def add(self, record: SkillRecord, catalog: Rules) -> None:
        """Add a skill, unless it is disabled, its name is taken, or the catalog is full."""
        name = record.name
        if name in catalog.disabled:
            return
        if name in self.records:
            self._losers.setdefault(name, []).append(record.location or name)
            return
        if catalog.max_skills is not None and len(self.records) >= catalog.max_skills:
            self._full = True
            message = f"there are more than {catalog.max_skills} skills; the rest is left out"
            self._found.append(warning("too-many-skills", message))
            return
        record.lock = catalog.lock
        self.records[name] = record

    def finish(self) -> None:
        """Set `diagnostics` and `collisions` from what was found."""
        collisions = []
        for name, losers in self._losers.items():
            collisions.append(Collision(name, self.records[name].location or name, tuple(losers)))
            message = f"{len(losers) + 1} skills are named {name!r}; the first is used"
            self._found.append(warning("collision", message, "name"))
        self.collisions = tuple(collisions)
        self.diagnostics = tuple(self._found)

    def problems(self, catalog: Rules) -> list[str]:
        """Return the messages for which the catalog's options refuse it."""
        found = []
        for each in self.diagnostics:
            if each.severity == "error" and catalog.on_invalid == "raise":
                found.append(f"{each.path}: {each.message}")
            elif each.code == "collision" and catalog.on_collision == "error":
                found.append(each.message.partition(";")[0])
        return found

    def _record(self, candidate: Candidate, scope: Scope, catalog: Rules) -> SkillRecord | None:
        known = self._known.get(candidate.location)
        if known is None or candidate.stamp is None or known[2] != candidate.stamp:
            known = (
                *_read(candidate, scope, strict=catalog.strict, accept=catalog.accept),
                candidate.stamp,
            )
        self._by_location[candidate.location] = known
        self._found.extend(known[1])
        return known[0]


def _read(
    candidate: Candidate, scope: Scope, *, strict: bool, accept: Acceptance
) -> tuple[SkillRecord | None, tuple[Diagnostic, ...]]:
    """Return the record that a front matter makes, or None, and the diagnostics about it."""
    most = accept.hard_skill_md_bytes
    found: list[Diagnostic]
    try:
        if candidate.size > most:
            raise FrontmatterError("too-large", f"SKILL.md exceeds {most} bytes")
        file = candidate.open()
        try:
            head = read_utf8(read_head(file))
        finally:
            file.close()
        metadata, found = read_metadata(
            head,
            directory=candidate.directory,
            strict=strict,
            prefer_directory=True,
            with_body=False,
            accept=accept,
        )
    except FrontmatterError as problem:
        metadata, found = None, [error(problem.code, str(problem))]
    except OSError as problem:
        metadata, found = None, [error("unreadable", safe_words(problem))]
    if candidate.size > WARN_TOKENS * 4:
        message = f"SKILL.md is about {-(-candidate.size // 4)} tokens, more than {WARN_TOKENS}"
        found.append(warning("many-tokens", message))
    path = f"{candidate.directory}/SKILL.md"
    diagnostics = tuple(replace(diagnostic, path=path) for diagnostic in found)
    if metadata is None:
        return None, diagnostics
    return SkillRecord(metadata, scope, candidate, diagnostics, accept=accept), diagnostics


def read_head(file: LineFile) -> bytes:
    """Read a SKILL.md up to the end of its front matter; lines before that are one blank line."""
    lines: list[bytes] = []
    size = 0
    fence = encode(FENCE)
    opening = Opening()
    line = file.readline(MAX_FRONTMATTER_BYTES + 2).removeprefix(BOM)
    while (
        line and size <= MAX_FRONTMATTER_BYTES and opening.includes(str(line, "utf-8", "replace"))
    ):
        lines, size = [BLANK], size + len(line)
        line = file.readline(MAX_FRONTMATTER_BYTES + 2)
    lines.append(line)
    ended, size = line.strip() != fence, 0
    while line and not ended and size <= MAX_FRONTMATTER_BYTES:
        line = file.readline(MAX_FRONTMATTER_BYTES + 2)
        lines.append(line)
        size += len(line)
        ended = line.rstrip() == fence
    return b"".join(lines)
