"""The rules for every path of a skill's file, whether a source, a model or a proposal gives it."""

from __future__ import annotations

import re
import unicodedata

from agentsandbox.errors import SkillPathError
from agentsandbox.skills.invisible import INVISIBLE

NAME_MAX = 255
PATH_MAX = 1024
DEPTH_MAX = 32
SKILL_NAME = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
SKILL_NAME_MAX = 64
RESERVED_NAMES = frozenset(
    ["con", "prn", "aux", "nul"]
    + [f"{port}{digit}" for port in ("com", "lpt") for digit in range(1, 10)]
)
"""Names of devices on Windows: a skill of that name cannot be stored there."""

_DRIVE = re.compile(r"[A-Za-z]:")
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")


def is_skill_name(name: str, *, unicode: bool = False) -> bool:
    """Whether the specification allows the name; with `unicode` letters may be of any script."""
    if len(name) > SKILL_NAME_MAX or name in RESERVED_NAMES:
        return False
    if SKILL_NAME.fullmatch(name):
        return True
    plain = all(part.isalnum() for part in name.split("-"))
    return (
        unicode
        and plain
        and name == unicodedata.normalize("NFKC", name).lower()
        and not INVISIBLE.search(name)
    )


# TM-SKILL-1
def clean_path(path: str, *, internal_dotdot: bool = False) -> str:
    """Return a relative path below a skill's root with "/" between its parts and without ".".

    Backslashes count as slashes. With `internal_dotdot` a ".." goes back by one directory, but
    never above the root. Raises `SkillPathError`, whose `reason` says what is wrong.
    """
    if not isinstance(path, str) or not path or path.strip() in (".", ""):
        raise SkillPathError("the path is empty", "invalid")
    if _CONTROL.search(path):
        raise SkillPathError("the path holds a control character", "invalid")
    slashed = path.replace("\\", "/")
    if slashed.startswith("/") or _DRIVE.match(slashed):
        raise SkillPathError("absolute paths are not allowed", "absolute")
    if slashed.startswith("~"):
        raise SkillPathError("paths from a home directory are not allowed", "home")
    kept: list[str] = []
    for part in slashed.split("/"):
        if part == "..":
            if not internal_dotdot or not kept:
                raise SkillPathError("path traversal is not allowed", "traversal")
            kept.pop()
        elif part not in ("", "."):
            kept.append(part)
    if not kept or slashed.endswith(("/", "/.", "/..")):
        raise SkillPathError("the path names a directory", "is_directory")
    if len(path) > PATH_MAX or len(kept) > DEPTH_MAX or any(len(part) > NAME_MAX for part in kept):
        raise SkillPathError("the path is too long", "invalid")
    return "/".join(kept)


def contained(link: str, target: str) -> bool:
    """Whether a link at the relative path `link` with the text `target` stays below the root."""
    if target.startswith("/") or "\x00" in target:
        return False
    depth = link.count("/")
    for part in target.split("/"):
        if part == "..":
            depth -= 1
        elif part not in ("", "."):
            depth += 1
        if depth < 0:
            return False
    return True
