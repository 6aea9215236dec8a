"""Reading a skill's file for a model: which paths, how many bytes, and what for binary files."""

from __future__ import annotations

import base64
import mimetypes
from dataclasses import dataclass
from typing import TYPE_CHECKING

from agentsandbox.errors import SkillLimitError, SkillPathError
from agentsandbox.kernel.streams import encode
from agentsandbox.skills.paths import clean_path

if TYPE_CHECKING:
    from typing import Literal

    from agentsandbox.skills.skill import AgentSkill
    from agentsandbox.skills.sources.files import SkillFile

MAX_LINKS = 40


@dataclass(frozen=True, slots=True)
class ReadingRules:
    """How files of skills are read. Sizes are in bytes.

    max_skill_md_bytes     the soft size of SKILL.md
    max_resource_bytes     the soft size of any other file
    hard_resource_bytes    a file beyond this size is an error
    resource_scope         "root" for any file of the skill, "references_assets" for only these two
                           directories
    allow_internal_dotdot  whether a path may contain ".." as long as it stays in the skill
    overflow               what to do beyond the soft size: "truncate" with a notice, or "error"
    binary                 return what is not text as "base64", "describe" its size and type only,
                           or "error"
    """

    max_skill_md_bytes: int = 200_000
    max_resource_bytes: int = 2_000_000
    hard_resource_bytes: int = 16 * 1024 * 1024
    resource_scope: Literal["root", "references_assets"] = "root"
    allow_internal_dotdot: bool = False
    overflow: Literal["truncate", "error"] = "truncate"
    binary: Literal["base64", "describe", "error"] = "base64"


@dataclass(frozen=True, slots=True)
class SkillContent:
    """The content of a file. It comes from the skill's author: untrusted input, not instructions.

    content    a text; base64 or "" for a binary file, as `encoding` says
    size       the bytes of the whole file
    truncated  whether `content` is only the beginning
    modified   the time of the last change in seconds since the epoch, None if it is not known
    """

    skill: str
    path: str
    content: str
    size: int
    encoding: Literal["utf-8", "base64", "none"] = "utf-8"
    mime_type: str = "text/plain"
    truncated: bool = False
    modified: float | None = None


def read_file(skill: AgentSkill, path: str, rules: ReadingRules) -> SkillContent:
    """Read a file of a skill; error messages never contain a path of the host."""
    relative = clean_path(path, internal_dotdot=rules.allow_internal_dotdot)
    file = find_file(skill, relative)
    if rules.resource_scope == "references_assets" and not file.relative_path.startswith(
        ("references/", "assets/")
    ):
        raise SkillPathError("only files in references/ and assets/ can be read", "out_of_scope")
    size = len(file.content)
    kind, soft = "resource", rules.max_resource_bytes
    if relative == "SKILL.md":
        kind, soft = "SKILL.md", rules.max_skill_md_bytes
    hard = rules.hard_resource_bytes
    if rules.overflow == "error":
        hard = min(soft, hard)
    if size > hard:
        raise _too_large(relative, size, hard)
    text = as_text(file.content)
    if text is None:
        return _bytes_of(skill.name, relative, file.content, rules)
    shown = truncate(text, soft, kind)
    return SkillContent(
        skill.name, relative, shown, size, truncated=size > soft, modified=file.modified
    )


def read_instructions(skill: AgentSkill, rules: ReadingRules, *, full: bool = False) -> str:
    """Return instructions, or the `full` SKILL.md, truncated or refused beyond the soft size."""
    text = (skill.metadata.raw_content if full else skill.metadata.instructions) or ""
    size = len(encode(text))
    if size > rules.max_skill_md_bytes and rules.overflow == "error":
        raise _too_large("SKILL.md", size, rules.max_skill_md_bytes)
    return truncate(text, rules.max_skill_md_bytes, "SKILL.md")


def _bytes_of(skill: str, path: str, data: bytes, rules: ReadingRules) -> SkillContent:
    """Return the content of a binary file as the rules say."""
    kind = mimetypes.guess_type(path)[0] or "application/octet-stream"
    if rules.binary == "error":
        raise SkillPathError(f"{path} is not text", "invalid")
    if rules.binary == "describe":
        return SkillContent(skill, path, "", len(data), "none", kind)
    if len(data) > rules.max_resource_bytes:  # half of it would be of no use
        raise _too_large(path, len(data), rules.max_resource_bytes)
    return SkillContent(
        skill, path, str(base64.b64encode(data), "ascii"), len(data), "base64", kind
    )


def _too_large(name: str, size: int, limit: int) -> SkillLimitError:
    return SkillLimitError(f"{name} has {size} bytes; {limit} are the most that can be read")


def find_file(skill: AgentSkill, path: str) -> SkillFile:
    """Return the file at a path that stays in the skill. Raises `SkillPathError`."""
    files = {file.relative_path: file for file in skill.files}
    directories = {
        name[:at] for name in files for at, character in enumerate(name) if character == "/"
    }
    todo = clean_path(path).split("/")[::-1]
    done: list[str] = []
    hops = 0
    while todo:
        part = todo.pop()
        if part == "..":
            if not done:
                raise SkillPathError("the path leaves the skill", "symlink_escape")
            done.pop()
            continue
        here = "/".join([*done, part])
        file = files.get(here)
        if file is not None and file.link is not None:
            hops += 1
            if hops > MAX_LINKS or file.link.startswith("/"):
                raise SkillPathError("the path leaves the skill", "symlink_escape")
            todo += [piece for piece in file.link.split("/") if piece not in ("", ".")][::-1]
            continue
        if file is not None and not todo:
            return file
        if here not in directories:
            raise SkillPathError(
                f"there is no file {path!r} in the skill {skill.name!r}", "not_found"
            )
        done.append(part)
    raise SkillPathError(f"{path!r} is a directory", "is_directory")


def as_text(data: bytes) -> str | None:
    """Return the bytes as text; None for bytes that are not UTF-8 or have a NUL."""
    if b"\0" in data:
        return None
    try:
        return str(data, "utf-8")
    except UnicodeDecodeError:
        return None


def truncate(text: str, limit: int, kind: str) -> str:
    """Return at most `limit` bytes of the text; a last line says how many were removed."""
    data = encode(text)
    if len(data) <= limit:
        return text
    kept = str(data[:limit], "utf-8", "ignore")
    return f"{kept}\n[truncated: {kind}; {len(data) - len(encode(kept))} bytes removed]"


def page_lines(
    text: str,
    offset: int | None,
    limit: int | None,
    *,
    max_lines: int = 1000,
    max_line: int = 1024,
    max_output: int = 16384,
) -> str:
    """Return numbered lines from line `offset` (1 is the first), at most `limit` of them.

    Lines are cut to `max_line` bytes. Raises `SkillLimitError` for an offset or a limit that cannot
    be used, and for more than `max_lines` lines or `max_output` bytes.
    """
    if offset is not None and offset < 1:
        raise SkillLimitError(f"Offset must be positive (got {offset})")
    if limit is not None and limit < 1:
        raise SkillLimitError(f"Limit must be positive (got {limit})")
    lines = text.split("\n")
    if lines[-1] == "":
        lines.pop()
    start = (offset or 1) - 1
    if lines and start >= len(lines):
        raise SkillLimitError(f"Offset {offset} is beyond file length")
    chosen = lines[start : None if limit is None else start + limit]
    advice = "Please read less at a time using offset and limit parameters."
    if len(chosen) > max_lines:
        raise SkillLimitError(f"Output would exceed {max_lines} lines. {advice}")
    shown = []
    size = 0
    for number, line in enumerate(chosen, start + 1):
        data = encode(line)
        if len(data) > max_line:
            line = f"{str(data[:max_line], 'utf-8', 'ignore')}... [truncated]"
        shown.append(f"{number}\t{line}")
        size += len(encode(shown[-1])) + 1
        if size > max_output:
            raise SkillLimitError(f"Output would exceed {max_output} bytes. {advice}")
    return "\n".join(shown)
