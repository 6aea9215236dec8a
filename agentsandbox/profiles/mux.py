"""The profile `mux`: agent_skill_read and agent_skill_read_file.

Answers are {"success": true, …} or {"success": false, "error"}.
"""

from __future__ import annotations

import time
from functools import partial
from typing import TYPE_CHECKING, Any

from agentsandbox.errors import SkillPathError
from agentsandbox.profiles.listing import LIST, QUERY, Listing, name_schema
from agentsandbox.profiles.spec import make_tool
from agentsandbox.skills.metadata import as_mapping
from agentsandbox.skills.session.reading import page_lines

if TYPE_CHECKING:
    from collections.abc import Mapping

    from agentsandbox.errors import SandboxError
    from agentsandbox.profiles.spec import Tool
    from agentsandbox.skills.session.reading import SkillContent
    from agentsandbox.skills.session.session import SkillSession

__all__ = ["tools"]


def tools(session: SkillSession, *, is_cut: bool = False) -> list[Tool]:
    """Return the tools of the profile; none without skills.

    `is_cut`: the catalog does not show all skills in full; then agent_skill_list finds them.
    """
    names = [record.name for record in session.search()]
    if not names:
        return []
    name = name_schema(names, "The skill's name")
    loaded = name_schema(names, "The skill's name", loads=True)
    number = {"type": ["integer", "null"]}

    def read(arguments: Mapping[str, Any]) -> dict[str, Any]:
        skills = session.activate(arguments["name"])
        skill = skills[-1]
        record = session.catalog.get(skill.name)  # it may be gone by now
        return {
            "success": True,
            "skill": {
                "scope": "project" if record and record.scope == "project" else "global",
                "directoryName": skill.name,
                "frontmatter": dict(as_mapping(skill.metadata)),
                "body": "\n\n".join(map(session.instructions, skills)),
            },
        }

    def read_file(arguments: Mapping[str, Any]) -> dict[str, Any]:
        content = _read(session, arguments["name"], arguments["filePath"])
        return _page(content, arguments.get("offset"), arguments.get("limit"))

    made = partial(make_tool, _refuse)
    path = {"type": "string", "description": "The file's path below the skill's directory"}
    page = {"name": name, "filePath": path, "offset": number, "limit": number}
    reading = "Reads a skill: its front matter and instructions."
    paging = "Reads lines of a file in a skill's directory."
    found = [
        made("agent_skill_read", reading, read, {"name": loaded}, "name"),
        made("agent_skill_read_file", paging, read_file, page, "name", "filePath"),
    ]
    if is_cut:
        listing = Listing(session, is_cut=True)

        def listed(arguments: Mapping[str, Any]) -> dict[str, Any]:
            return {"success": True, **listing.plain(arguments.get("query", ""))}

        found.append(made("agent_skill_list", LIST, listed, {"query": QUERY}))
    return found


_OUTSIDE = "Resolved file path points outside the skill directory"
_REASONS = {
    "is_directory": "Path is a directory, not a file",
    "symlink_escape": _OUTSIDE,
    "traversal": _OUTSIDE,
}


def _read(session: SkillSession, skill: str, path: str) -> SkillContent:
    """Read a file of a skill; errors are worded as in mux."""
    try:
        return session.read(path, skill)
    except SkillPathError as error:
        if error.reason in _REASONS:
            raise SkillPathError(f"{_REASONS[error.reason]}: {path}", error.reason) from None
        raise


def _page(content: SkillContent, offset: int | None, limit: int | None) -> dict[str, Any]:
    """Return the answer with lines of a file."""
    if content.encoding != "utf-8":
        raise SkillPathError(f"{content.path} is not text", "invalid")
    text = page_lines(content.content, offset, limit)
    return {
        "success": True,
        "file_size": content.size,
        "modifiedTime": _iso(content.modified),
        "lines_read": text.count("\n") + 1 if text else 0,
        "content": text,
    }


def _iso(seconds: float | None) -> str | None:
    """Return a time as "2026-01-31T12:00:00.000Z"; None if it is not known."""
    if seconds is None:
        return None
    date = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(seconds))
    return f"{date}.{int(seconds % 1 * 1000):03d}Z"


def _refuse(error: SandboxError | str) -> dict[str, Any]:
    return {"success": False, "error": str(error)}
