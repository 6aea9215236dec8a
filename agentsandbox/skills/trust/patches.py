"""Unified diffs for the files of a skill: read, checked, applied completely or not at all.

A diff comes from a model. Its paths obey the rules of every skill path, its counts of lines must be
right, and its context must be at the line that it names or at exactly one other place.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from agentsandbox.errors import InvalidSkillError, SkillLimitError, SkillPathError
from agentsandbox.kernel.streams import encode
from agentsandbox.skills.paths import clean_path
from agentsandbox.skills.session.reading import as_text
from agentsandbox.skills.sources.files import SKIPPED_DIRECTORIES

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from agentsandbox.skills.sources.files import SkillFile

MAX_DIFF_BYTES = 64 * 1024
MAX_FILES = 50
NOWHERE = "/dev/null"
NO_NEWLINE = "\\"

_HUNK = re.compile(r"@@ -(\d{1,7})(?:,(\d{1,7}))? \+(\d{1,7})(?:,(\d{1,7}))? @@")


@dataclass(slots=True)
class Hunk:
    """One change: the lines `old`, expected at line `start`, become the lines `new`."""

    start: int
    old: list[str] = field(default_factory=list)
    new: list[str] = field(default_factory=list)


@dataclass(slots=True)
class FilePatch:
    """The change of one file; `kind` is "added", "modified" or "deleted"."""

    path: str
    kind: str
    hunks: list[Hunk]


def parse_diff(text: str) -> list[FilePatch]:
    """Return the changed files of a diff; hunks before any file name are about SKILL.md.

    Raises `InvalidSkillError`, which names the wrong line, or `SkillLimitError`.
    """
    if len(encode(text)) > MAX_DIFF_BYTES:
        raise SkillLimitError(f"the diff is larger than {MAX_DIFF_BYTES} bytes")
    lines = text.split("\n")
    if lines[-1] == "":
        lines.pop()
    patches: list[FilePatch] = []
    at = 0
    while at < len(lines):
        line = lines[at]
        if line.startswith("--- ") and at + 1 < len(lines) and lines[at + 1].startswith("+++ "):
            patches.append(_file(line, lines[at + 1]))
            at += 2
        elif line.startswith("@@"):
            if not patches:
                patches.append(FilePatch("SKILL.md", "modified", []))
            hunk, at = _hunk(lines, at)
            patches[-1].hunks.append(hunk)
        elif line.startswith(
            ("rename ", "copy ", "GIT binary", "Binary files", "new mode", "old mode")
        ):
            raise InvalidSkillError(
                f"line {at + 1}: only changes of text are accepted: {line[:80]!r}"
            )
        else:
            at += 1
    _check(patches)
    return patches


def _check(patches: Sequence[FilePatch]) -> None:
    paths = [patch.path for patch in patches]
    if not patches or not all(patch.hunks for patch in patches):
        raise InvalidSkillError(
            "the diff changes nothing: it needs hunks that begin with @@ -LINE,COUNT +LINE,COUNT @@"
        )
    if len(patches) > MAX_FILES:
        raise SkillLimitError(f"the diff is about more than {MAX_FILES} files")
    if len(set(paths)) < len(paths):
        raise InvalidSkillError("the diff names a file twice")


def _file(old: str, new: str) -> FilePatch:
    before, after = (line[4:].split("\t", 1)[0].rstrip() for line in (old, new))
    if before == after == NOWHERE:
        raise SkillPathError("the diff names no file", "invalid")
    if before == NOWHERE:
        return FilePatch(_path(after, "b/"), "added", [])
    path = _path(before, "a/")
    if after == NOWHERE:
        return FilePatch(path, "deleted", [])
    if _path(after, "b/") != path:
        raise InvalidSkillError("the diff renames a file; delete the one and add the other")
    return FilePatch(path, "modified", [])


def _path(text: str, prefix: str) -> str:
    path = clean_path(text.removeprefix(prefix))
    if not SKIPPED_DIRECTORIES.isdisjoint(path.split("/")):
        raise SkillPathError(f"{path}: not part of a skill", "out_of_scope")
    return path


def _hunk(lines: Sequence[str], at: int) -> tuple[Hunk, int]:
    """Return the hunk that begins at line `at`, and the number of the line after it."""
    head = _HUNK.match(lines[at])
    if head is None:
        raise InvalidSkillError(f"line {at + 1}: not the head of a hunk: {lines[at][:80]!r}")
    olds, news = (int(head[group]) if head[group] is not None else 1 for group in (2, 4))
    hunk, first = Hunk(int(head[1])), at + 1
    at += 1
    while at < len(lines) and (
        len(hunk.old) < olds or len(hunk.new) < news or lines[at].startswith(NO_NEWLINE)
    ):
        line = lines[at]
        sign, rest = (line[:1] or " "), f"{line[1:]}\n"
        if sign == NO_NEWLINE:
            _cut_newline(hunk, lines[at - 1][:1])
        elif sign in " -+":
            if sign != "+":
                hunk.old.append(rest)
            if sign != "-":
                hunk.new.append(rest)
        else:
            raise InvalidSkillError(f"line {at + 1}: a line of a hunk begins with a space, - or +")
        at += 1
    if (len(hunk.old), len(hunk.new)) != (olds, news):
        found = f"-{len(hunk.old)} +{len(hunk.new)}"
        raise InvalidSkillError(
            f"line {first}: the hunk says -{olds} +{news} lines and has {found}"
        )
    return hunk, at


def _cut_newline(hunk: Hunk, sign: str) -> None:
    """Remove the newline of the last line on the sides that `sign` belongs to."""
    for side, lines in ((" -", hunk.old), (" +", hunk.new)):
        if (sign or " ") in side and lines:
            lines[-1] = lines[-1].removesuffix("\n")


def apply_patches(
    files: Mapping[str, SkillFile], patches: Sequence[FilePatch]
) -> dict[str, bytes | None]:
    """Return path → new content (None: deleted). Raises `InvalidSkillError`, `SkillPathError`."""
    changed: dict[str, bytes | None] = {}
    for patch in patches:
        parents = {patch.path[:at] for at, char in enumerate(patch.path) if char == "/"}
        if any(parent in files for parent in parents) or (
            patch.path in files and files[patch.path].link is not None
        ):
            raise SkillPathError(
                f"{patch.path}: neither a link nor a file behind one can be patched",
                "symlink_escape",
            )
        old = _lines_of(patch, files.get(patch.path))
        new = "".join(_applied(patch, old))
        if patch.kind == "deleted" and new:
            raise InvalidSkillError(
                f"{patch.path}: the diff deletes the file but not all of its lines"
            )
        changed[patch.path] = None if patch.kind == "deleted" else encode(new)
    return changed


def _lines_of(patch: FilePatch, file: SkillFile | None) -> list[str]:
    if patch.kind == "added":
        if file is not None:
            raise InvalidSkillError(f"{patch.path}: the diff adds a file that already exists")
        return []
    if file is None:
        raise InvalidSkillError(f"{patch.path}: the diff changes a file that does not exist")
    text = as_text(file.content)
    if text is None:
        raise InvalidSkillError(f"{patch.path}: not a text")
    return re.findall(r"[^\n]*\n|[^\n]+\Z", text)


def _applied(patch: FilePatch, lines: list[str]) -> list[str]:
    """Return the lines with all hunks applied in order."""
    done: list[str] = []
    at = 0
    for number, hunk in enumerate(patch.hunks, 1):
        wanted = hunk.start - 1 if hunk.old else hunk.start
        place = _place(lines, hunk.old, wanted, at)
        if place is None:
            where = f"its lines are not at line {hunk.start}, nor at one other place"
            raise InvalidSkillError(f"{patch.path}: hunk {number} does not apply: {where}")
        done += lines[at:place] + hunk.new
        at = place + len(hunk.old)
    return done + lines[at:]


def _place(lines: list[str], old: list[str], wanted: int, least: int) -> int | None:
    """Return where the old lines are: at `wanted`, or at the only place from `least` on, or None.

    The search takes time in proportion to the sizes of the diff and the file, which are bounded.
    """
    size, last = len(old), len(lines) - len(old)
    if least <= wanted <= last and lines[wanted : wanted + size] == old:
        return wanted
    if not size:
        return None
    starts = [at for at in range(least, last + 1) if lines[at] == old[0]]
    found = [at for at in starts if lines[at : at + size] == old]
    return found[0] if len(found) == 1 else None
