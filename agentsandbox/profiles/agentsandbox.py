"""The profile `agentsandbox`: a shell, and a tool whose description lists the skills.

Answers are JSON texts.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from agentsandbox.kernel.budget import notice_of
from agentsandbox.profiles.listing import LIST, QUERY, Listing, name_schema
from agentsandbox.profiles.output import MAX_OUTPUT, cut_output
from agentsandbox.profiles.spec import make_tool
from agentsandbox.profiles.surroundings import describe
from agentsandbox.skills.prompts import CATALOG_CHARACTERS, plan_catalog, render_catalog
from agentsandbox.skills.session.reading import ReadingRules, truncate

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Literal

    from agentsandbox.errors import SandboxError
    from agentsandbox.profiles.spec import Tool
    from agentsandbox.result import ExecutionResult
    from agentsandbox.sandbox import Sandbox
    from agentsandbox.skills.mount import SkillInfo

__all__ = [
    "COMMAND",
    "LIST_TOOL",
    "find_skill",
    "get_skill_tool",
    "list_tools",
    "sandbox_tool",
    "shown_errors",
    "shown_instructions",
    "skill_name",
    "tools",
]

LIST_TOOL = "list_skills"
COMMAND = {"command": {"type": "string", "description": "The bash script to execute"}}

EXECUTE_DESCRIPTION = (
    "Executes a bash script in an isolated sandbox with its own filesystem "
    "and returns its exit code, output and errors. "
    "Files, variables and the working directory persist between calls. "
    "The usual Unix tools are available; `help` lists them."
)


def tools(sandbox: Sandbox) -> list[Tool]:
    """Return the tools of the profile for a sandbox."""
    return [sandbox_tool(sandbox), get_skill_tool(sandbox), *list_tools(sandbox, _not_found)]


def list_tools(
    sandbox: Sandbox,
    refuse: Callable[[SandboxError | str], str],
    format: Literal["tool_description", "xml"] = "tool_description",
) -> list[Tool]:
    """Return `list_skills` if the description of `get_skill` cannot show all skills in full."""
    skills = sandbox.get_mounted_skills()
    if not plan_catalog(skills, format, maximum=None, characters=CATALOG_CHARACTERS)[1]:
        return []
    listing = Listing(sandbox.skills, is_cut=True)

    def handle(arguments: Mapping[str, Any]) -> str:
        return _json(listing.plain(arguments.get("query", "")))

    return [make_tool(refuse, LIST_TOOL, LIST, handle, {"query": QUERY})]


def sandbox_tool(sandbox: Sandbox, *, max_output: int = MAX_OUTPUT) -> Tool:
    """Return `sandbox_execute`, which runs a script and answers {"exitCode", "output", "error"}.

    Output and errors have at most `max_output` characters each.
    """

    def run(arguments: Mapping[str, Any]) -> str:
        return _answer(sandbox.execute(arguments["command"]), max_output)

    async def handle(arguments: Mapping[str, Any]) -> str:
        return _answer(await sandbox.aexecute(arguments["command"]), max_output)

    description = EXECUTE_DESCRIPTION + describe(sandbox, max_output)
    return make_tool(_refuse, "sandbox_execute", description, handle, COMMAND, "command", run=run)


def get_skill_tool(sandbox: Sandbox) -> Tool:
    """Return `get_skill`, whose description lists the mounted skills.

    It answers {"name", "description", "mountPath", "instructions"}.
    """
    skills = sandbox.get_mounted_skills()

    def handle(arguments: Mapping[str, Any]) -> str:
        skill = find_skill(skills, arguments["skillName"])
        if skill is None:
            return _json({"error": f"Skill '{arguments['skillName']}' not found"})
        return _json(
            {
                "name": skill.name,
                "description": skill.description,
                "mountPath": skill.mount_path,
                "instructions": shown_instructions(skill),
            }
        )

    description = render_catalog(
        skills, "tool_description", characters=CATALOG_CHARACTERS, list_tool=LIST_TOOL
    )
    properties = {"skillName": skill_name(skills)}
    return make_tool(_not_found, "get_skill", description or "", handle, properties, "skillName")


def find_skill(skills: Sequence[SkillInfo], name: str) -> SkillInfo | None:
    """Return the mounted skill of that name, else one of that name in another case, or None."""
    exact = [skill for skill in skills if skill.name == name]
    similar = [skill for skill in skills if skill.name.lower() == name.lower()]
    return next(iter(exact or similar), None)


def shown_instructions(skill: SkillInfo) -> str:
    """Return a skill's instructions, truncated to the default soft size."""
    limit = ReadingRules().max_skill_md_bytes
    return truncate(skill.metadata.instructions or "", limit, "SKILL.md")


def skill_name(skills: Sequence[SkillInfo]) -> dict[str, Any]:
    """Return the schema of an argument that names one of the skills."""
    names = [skill.name for skill in skills]
    schema: dict[str, Any] = name_schema(names, "The name of the skill to retrieve", loads=True)
    return schema


def shown_errors(result: ExecutionResult, max_output: int) -> str:
    """Return what a script wrote to standard error, and the limit that ended it."""
    error = str(result.stderr_bytes, "utf-8", "replace")
    if len(error) <= max_output or result.limit is None:
        return cut_output(error, max_output)
    return f"{cut_output(error, max_output)}\n{notice_of(result.limit)}"


def _answer(result: ExecutionResult, max_output: int) -> str:
    output = cut_output(str(result.stdout_bytes, "utf-8", "replace"), max_output)
    error = shown_errors(result, max_output) or None
    return _json({"exitCode": result.exit_code, "output": output, "error": error})


def _refuse(error: SandboxError | str) -> str:
    return _json({"exitCode": 2, "output": "", "error": str(error)})


def _not_found(error: SandboxError | str) -> str:
    return _json({"error": str(error)})


def _json(value: Mapping[str, Any]) -> str:
    return json.dumps(value, ensure_ascii=False)
