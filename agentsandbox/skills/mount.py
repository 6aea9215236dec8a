"""Skills in a filesystem: each below the mount path, in a directory of its name."""

from __future__ import annotations

import posixpath
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from agentsandbox.errors import InvalidSkillError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agentsandbox.kernel.fs.memory import MemoryFileSystem
    from agentsandbox.skills.metadata import SkillMetadata
    from agentsandbox.skills.skill import AgentSkill


@dataclass(frozen=True, slots=True)
class SkillInfo:
    """A mounted skill.

    name         the name the skill is known by
    description  what the skill does and when to use it
    mount_path   the absolute path of its directory in the sandbox
    metadata     everything that its SKILL.md says
    """

    name: str
    description: str
    mount_path: str
    metadata: SkillMetadata


def mount_skills(
    fs: MemoryFileSystem, skills: Sequence[AgentSkill], mount_path: str, writable: bool
) -> tuple[SkillInfo, ...]:
    """Mount each skill at `mount_path`/name, read-only unless `writable`.

    Without skills the mount path is not created. Raises `InvalidSkillError` for a mount path that
    cannot be used and for two skills of one name.
    """
    if not skills:
        return ()
    problems = []
    if (
        not mount_path.startswith("/")
        or "\x00" in mount_path
        or ".." in mount_path.split("/")
        or not mount_path.strip("/")
    ):
        problems.append(f"the skills' mount path must be absolute and not the root: {mount_path!r}")
    counts = Counter(skill.name for skill in skills)
    problems += [f"two skills are named {name!r}" for name in sorted(counts) if counts[name] > 1]
    if problems:
        raise InvalidSkillError("; ".join(problems), problems)
    base = posixpath.normpath(mount_path)
    mounted = []
    for skill in skills:
        path = posixpath.join(base, skill.name)
        fs.mount_tree(path, skill.tree, read_only=not writable)
        mounted.append(_info(skill, path))
    return tuple(mounted)


def mount_another(
    fs: MemoryFileSystem,
    mounted: tuple[SkillInfo, ...],
    skill: AgentSkill,
    path: str,
    *,
    written: bool,
) -> tuple[SkillInfo, ...]:
    """Mount one more skill at `path` and return all; `written` files are there already."""
    known = path in [info.mount_path for info in mounted]
    if not known and not written:
        _clear_way(fs, path)
    if not fs.exists(path):
        fs.mount_tree(path, skill.tree)
    return mounted if known else (*mounted, _info(skill, path))


def _info(skill: AgentSkill, path: str) -> SkillInfo:
    return SkillInfo(skill.name, skill.description, path, skill.metadata)


def _clear_way(fs: MemoryFileSystem, path: str) -> None:
    """Rename what a user made on the way to `path`, so that no script can forge a skill."""
    user, fs.uid = fs.uid, 0
    try:
        above = "/"
        for part in path.strip("/").split("/"):
            here = posixpath.join(above, part)
            if not fs.exists(here, follow=False):
                return
            if fs.stat(above).uid == 0 and fs.stat(here, follow=False).uid != 0:
                fs.rename(here, _free_name(fs, here))
                return
            above = here
    finally:
        fs.uid = user


def _free_name(fs: MemoryFileSystem, path: str) -> str:
    return next(
        name
        for number in range(1, 1_000_000)
        if not fs.exists(name := f"{path}.{number}", follow=False)
    )
