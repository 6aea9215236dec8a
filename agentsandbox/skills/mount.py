"""Skills in a filesystem: each under the mount path, by its name."""

from __future__ import annotations

import posixpath
from dataclasses import dataclass
from typing import TYPE_CHECKING

from agentsandbox.errors import InvalidSkillError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agentsandbox.kernel.fs.memory import MemoryFileSystem
    from agentsandbox.skills.metadata import SkillMetadata
    from agentsandbox.skills.skill import AgentSkill

__all__ = ["SkillInfo", "mount_another", "mount_skills"]


@dataclass(frozen=True, slots=True)
class SkillInfo:
    """A mounted skill, and where it is mounted."""

    name: str
    description: str
    mount_path: str
    metadata: SkillMetadata


def mount_skills(
    fs: MemoryFileSystem, skills: Sequence[AgentSkill], mount_path: str, writable: bool
) -> tuple[SkillInfo, ...]:
    """Mount each skill at `mount_path`/name, read-only unless `writable`; nothing is made when
    there are none.

    Raises `InvalidSkillError` for a mount path that is not one, and for two skills of one name.
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
    names = [skill.name for skill in skills]
    if len(set(names)) < len(names):
        problems += [
            f"two skills are named {name!r}"
            for name in sorted({name for name in names if names.count(name) > 1})
        ]
    if problems:
        raise InvalidSkillError("; ".join(problems), problems)
    base = posixpath.normpath(mount_path)
    mounted = []
    for skill in skills:
        path = posixpath.join(base, skill.name)
        fs.mount_tree(path, skill.tree, read_only=not writable)
        mounted.append(SkillInfo(skill.name, skill.description, path, skill.metadata))
    return tuple(mounted)


def mount_another(
    fs: MemoryFileSystem,
    mounted: tuple[SkillInfo, ...],
    skill: AgentSkill,
    path: str,
    *,
    written: bool,
) -> tuple[SkillInfo, ...]:
    """Have one more skill at a path, read-only unless it is `written` there already; what is
    mounted then.
    """
    known = path in [info.mount_path for info in mounted]
    if not known and not written:
        clear_way(fs, path)
    if not fs.exists(path):
        fs.mount_tree(path, skill.tree)
    return (
        mounted
        if known
        else (*mounted, SkillInfo(skill.name, skill.description, path, skill.metadata))
    )


def clear_way(fs: MemoryFileSystem, path: str) -> None:
    """Move aside what a user of the sandbox made on the way to a path, where only root may: nobody
    else's files pass for a skill's.
    """
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
