"""Skills in zip and tar archives, which are read in memory and checked as a whole.

`agentsandbox.files.archives` reads the archives and says what it refuses. Nothing is written to
disk and nothing is run.
"""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING

from agentsandbox.errors import (
    ArchiveError,
    InvalidSkillError,
    LimitReached,
    SkillLimitError,
    SkillPathError,
)
from agentsandbox.files.archives import read_archive
from agentsandbox.kernel.budget import Budget
from agentsandbox.limits import DEFAULT_LIMITS
from agentsandbox.skills.paths import clean_path, contained
from agentsandbox.skills.skill import SKILL_FILE, AgentSkill
from agentsandbox.skills.sources.files import MAX_BYTES, MAX_FILES, SKIPPED_DIRECTORIES, SkillFile

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

_LIMITS = DEFAULT_LIMITS.replace(
    total_bytes=MAX_BYTES, file_bytes=MAX_BYTES, files=2 * MAX_FILES, steps=1 << 60
)
"""Directories count as files here, so there may be twice as many names as files."""


def unpack(data: bytes) -> list[SkillFile]:
    """Return the files of a zip or tar archive. Raises `InvalidSkillError` or `SkillLimitError`."""
    try:
        members = read_archive(data, _LIMITS, Budget(_LIMITS), any_links=True)
    except ArchiveError as error:
        raise InvalidSkillError(str(error)) from None
    except (OSError, LimitReached):
        held = f"more than {MAX_FILES} files or {MAX_BYTES} bytes"
        raise SkillLimitError(f"the archive holds {held}, or takes too long to read") from None
    files = []
    for member in members:
        if member.kind == "link":
            files.append(SkillFile(member.path, b"", link=member.text))
        elif member.kind == "file":
            runs = bool(member.mode & 0o100) or member.content.startswith(b"#!")
            files.append(SkillFile(member.path, member.content, runs))
    if len(files) > MAX_FILES:
        raise SkillLimitError(f"the archive holds more than {MAX_FILES} files")
    return files


def skills_in(
    files: Iterable[SkillFile], name: str | None = None, below: str = ""
) -> list[AgentSkill]:
    """Return the skill at the top, or one for each directory with a SKILL.md, two levels deep.

    `name` is the name of the directory of a skill at the top, `below` the directory to look in.
    Raises `InvalidSkillError` if one of them is invalid, or if there is none.
    """
    prefix = f"{below.strip('/')}/" if below.strip("/") else ""
    named = [(_clean(file), file) for file in files]
    inside = {path[len(prefix) :]: file for path, file in named if path.startswith(prefix)}
    roots = {
        posixpath.dirname(path)
        for path in inside
        if posixpath.basename(path).lower() == SKILL_FILE.lower()
    }
    outermost = {
        root
        for root in roots
        if root.count("/") <= 1 and not (root and {"", root.partition("/")[0]} & (roots - {root}))
    }
    if not outermost:
        raise InvalidSkillError("there is no SKILL.md")
    found = [_skill(mine, root, name) for root, mine in sorted(_divided(inside, outermost).items())]
    names = [skill.name for skill in found]
    if len(set(names)) < len(names):
        raise InvalidSkillError("two skills have one name")
    return found


def _clean(file: SkillFile) -> str:
    try:
        return clean_path(file.relative_path)
    except SkillPathError as error:
        raise InvalidSkillError(f"{file.relative_path[:200]!r}: {error}") from None


def _divided(
    files: Mapping[str, SkillFile], roots: Collection[str]
) -> dict[str, dict[str, SkillFile]]:
    """Return root → {path below that root: file}."""
    divided: dict[str, dict[str, SkillFile]] = {root: {} for root in roots}
    for path, file in files.items():
        first, _, rest = path.partition("/")
        second = rest.partition("/")[0]
        root = next((root for root in ("", first, f"{first}/{second}") if root in divided), None)
        if root is not None:
            divided[root][path[len(root) + 1 if root else 0 :]] = file
    return divided


def _skill(files: Mapping[str, SkillFile], root: str, name: str | None) -> AgentSkill:
    chosen = [
        SkillFile(path, file.content, file.executable, file.link)
        for path, file in files.items()
        if SKIPPED_DIRECTORIES.isdisjoint(path.split("/")[:-1])
    ]
    leaving = [
        f"{file.relative_path}: the link leaves the skill"
        for file in chosen
        if file.link is not None and not contained(file.relative_path, file.link)
    ]
    if leaving:
        raise InvalidSkillError("; ".join(leaving), leaving)
    return AgentSkill(chosen, directory=posixpath.basename(root) or name)
