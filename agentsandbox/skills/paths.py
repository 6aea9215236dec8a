"""The rules for every path that names a file of a skill, whoever gives it: a source, a model, a proposal."""

from __future__ import annotations

import re

from agentsandbox.errors import SkillPathError

__all__ = ["RESERVED_NAMES", "clean_path", "contained", "is_skill_name"]

NAME_MAX = 255
PATH_MAX = 1024
DEPTH_MAX = 32
SKILL_NAME = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
SKILL_NAME_MAX = 64
RESERVED_NAMES = frozenset(("con", "prn", "aux", "nul", *(f"{port}{digit}" for port in ("com", "lpt") for digit in range(1, 10))))
"""Names of devices on Windows: a skill of that name cannot be stored there."""

_DRIVE = re.compile(r"[A-Za-z]:")
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")


def is_skill_name(name: str) -> bool:
    """Whether a name is one that the specification allows, and that every system can store."""
    return len(name) <= SKILL_NAME_MAX and SKILL_NAME.fullmatch(name) is not None and name not in RESERVED_NAMES


def clean_path(path: str) -> str:
    """A relative path below a skill's root: "/" between the parts, no "." left. `SkillPathError.reason` says what is wrong."""
    if not isinstance(path, str) or not path or path.strip() in (".", ""):
        raise SkillPathError("the path is empty", "invalid")
    if _CONTROL.search(path):
        raise SkillPathError("the path holds a control character", "invalid")
    slashed = path.replace("\\", "/")
    if slashed.startswith("/") or _DRIVE.match(slashed):
        raise SkillPathError("absolute paths are not allowed", "absolute")
    if slashed.startswith("~"):
        raise SkillPathError("paths from a home directory are not allowed", "home")
    parts = slashed.split("/")
    if ".." in parts:
        raise SkillPathError("path traversal is not allowed", "traversal")
    if slashed.endswith(("/", "/.")):
        raise SkillPathError("the path names a directory", "is_directory")
    kept = [part for part in parts if part not in ("", ".")]
    if len(path) > PATH_MAX or len(kept) > DEPTH_MAX or any(len(part) > NAME_MAX for part in kept):
        raise SkillPathError("the path is too long", "invalid")
    return "/".join(kept)


def contained(link: str, target: str) -> bool:
    """Whether a link at the relative path `link` that says `target` stays below the root."""
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
