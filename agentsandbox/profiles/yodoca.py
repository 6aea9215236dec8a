"""The profile `yodoca`: list_skills, read_skill and read_skill_resource; answers are texts."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from agentsandbox.errors import SkillPathError
from agentsandbox.profiles.listing import QUERY, Listing, name_schema
from agentsandbox.profiles.native import CHANGE
from agentsandbox.profiles.spec import make_tool
from agentsandbox.skills.paths import clean_path, is_skill_name
from agentsandbox.skills.prompts import (
    CATALOG_CHARACTERS,
    estimate_tokens,
    one_line,
    render_catalog,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from agentsandbox.errors import SandboxError
    from agentsandbox.profiles.spec import Tool
    from agentsandbox.skills.session.session import SkillSession
    from agentsandbox.skills.skill import AgentSkill

__all__ = ["SkillContext", "tools"]

CONTEXT_PRIORITY = 60
LIST = "Lists skills with their descriptions."
READ = "Loads a skill's full instructions."
RESOURCE = "Reads a file of a skill: a template, a reference, a checklist."
PROPOSE = "Proposes a change of a skill as a unified diff, for a person to review."


class SkillContext:
    """A context provider that adds the catalog to every invocation."""

    context_priority = CONTEXT_PRIORITY

    def __init__(self, session: SkillSession) -> None:
        self.session = session

    async def get_context(self, prompt: str = "", turn_context: object = None) -> str | None:
        """Return the catalog in bullets, None without skills."""
        return render_catalog(
            self.session.search(),
            "bullets",
            characters=CATALOG_CHARACTERS,
            list_tool="list_skills",
        )


def tools(session: SkillSession, *, is_cut: bool = False) -> list[Tool]:
    """Return the tools of the profile; none without skills.

    `is_cut`: the catalog does not show all skills in full.
    """
    names = [record.name for record in session.search()]
    if not names:
        return []
    skill_id = name_schema(names, "The skill's id")
    loaded = name_schema(names, "The skill's id", loads=True)
    listing = Listing(session, is_cut=is_cut)

    def listed(arguments: Mapping[str, Any]) -> str:
        found, more = listing.find(arguments.get("query", ""))
        lines = [f"- {each.name}: {one_line(each.description)}" for each in found]
        return "\n".join([*lines, *([f"(+{more} more)"] if more else ())])

    def read(arguments: Mapping[str, Any]) -> str:
        _check_id(arguments["skill_id"])
        skills = session.activate(arguments["skill_id"])
        return "\n\n".join(_loaded(session, skill) for skill in skills)

    def resource(arguments: Mapping[str, Any]) -> str:
        _check_id(arguments["skill_id"])
        content = session.read(arguments["path"], arguments["skill_id"])
        if content.encoding != "utf-8":
            return f"{content.path} is not text: {content.mime_type}, {content.size} bytes"
        return content.content

    def propose(arguments: Mapping[str, Any]) -> str:
        words = (arguments["diff"], arguments["justification"], arguments.get("evidence", ""))
        proposal = session.propose_update(arguments["skill_id"], *words)
        return f"Proposed: {proposal.id}. The skill stays as it is until the proposal is approved."

    made = partial(make_tool, _refuse)
    path = {"type": "string", "description": "The path of a file below the skill's directory"}
    file = {"skill_id": skill_id, "path": path}
    found = [
        made("list_skills", LIST, listed, {"query": QUERY}),
        made("read_skill", READ, read, {"skill_id": loaded}, "skill_id"),
        made("read_skill_resource", RESOURCE, resource, file, "skill_id", "path"),
    ]
    if session.proposals is not None:
        change, required = {"skill_id": skill_id, **CHANGE}, ("skill_id", "diff", "justification")
        found.append(made("propose_skill_update", PROPOSE, propose, change, *required))
    return found


def _refuse(error: SandboxError | str) -> str:
    leaving = ("absolute", "home", "traversal", "symlink_escape")
    if isinstance(error, SkillPathError) and error.reason in leaving:
        return "Path traversal detected"
    return str(error)


def _loaded(session: SkillSession, skill: AgentSkill) -> str:
    """Return the answer for a skill that was loaded."""
    body = session.instructions(skill)
    first = f"Skill loaded: {skill.name} (approx. {estimate_tokens(body)} tokens)"
    return "\n\n".join(part for part in (first, body, session.required(skill)) if part is not None)


def _check_id(skill_id: str) -> None:
    """Raise `SkillPathError` for an id that is a path out of the directory of skills."""
    if skill_id and not is_skill_name(skill_id, unicode=True):
        clean_path(skill_id)
