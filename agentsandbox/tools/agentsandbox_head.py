"""The profile `agentsandbox-head`: bash_shell and get_skill as the C# project has them by now. Answers are plain texts.

What a text cannot say is lost: a failed command answers with its errors alone, without status and output.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agentsandbox.errors import SandboxError
from agentsandbox.skills.prompts import render_catalog
from agentsandbox.skills.reading import ReadingRules, truncate
from agentsandbox.tools.output import MAX_OUTPUT, cut_output
from agentsandbox.tools.spec import Tool, schema_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from agentsandbox.result import ExecutionResult
    from agentsandbox.sandbox import Sandbox

__all__ = ["get_skill_tool", "shell_tool", "tools"]

NOTHING_SAID = "(command completed successfully)"
NO_SKILLS = "No skills are currently available."


def tools(sandbox: Sandbox) -> list[Tool]:
    """The tools of the profile, for one sandbox."""
    return [shell_tool(sandbox), get_skill_tool(sandbox)]


def shell_tool(sandbox: Sandbox, *, max_output: int = MAX_OUTPUT) -> Tool:
    """`bash_shell`: runs a script, answers its output, or "Error: " and its errors. At most `max_output` characters."""

    def answer(result: ExecutionResult) -> str:
        if result.exit_code:
            return _refusal(cut_output(str(result.stderr_bytes, "utf-8", "replace"), max_output))
        return cut_output(str(result.stdout_bytes, "utf-8", "replace"), max_output) or NOTHING_SAID

    def run(arguments: Mapping[str, Any]) -> str:
        try:
            return answer(sandbox.execute(arguments["command"]))
        except SandboxError as error:
            return _refusal(str(error))

    async def handle(arguments: Mapping[str, Any]) -> str:
        try:
            return answer(await sandbox.aexecute(arguments["command"]))
        except SandboxError as error:
            return _refusal(str(error))

    schema = schema_of({"command": {"type": "string", "description": "The bash script to execute"}}, "command")
    return Tool("bash_shell", "bash_shell", _shell_description(sandbox), schema, handle, _refusal, run)


def _shell_description(sandbox: Sandbox) -> str:
    return (
        f"Run shell commands. Available commands: {', '.join(sandbox.command_names())}. Run 'help' to list commands or '<command> -h' for "
        "detailed help on a specific command. Commands use short-style arguments (e.g., -l, -a, -n). "
    )


def get_skill_tool(sandbox: Sandbox) -> Tool:
    """`get_skill`: its description is the catalog in XML; answers the skill's instructions."""
    skills = sandbox.get_mounted_skills()

    def handle(arguments: Mapping[str, Any]) -> str:
        wanted = arguments["skillName"]
        found = [skill for skill in skills if skill.name == wanted] or [skill for skill in skills if skill.name.lower() == wanted.lower()]
        if not found:
            return f"Skill '{wanted}' not found"
        return truncate(found[0].metadata.instructions or "", ReadingRules().max_skill_md_bytes, "SKILL.md")

    name: dict[str, Any] = {"type": "string", "description": "The name of the skill to retrieve"}
    if skills:
        name["enum"] = [skill.name for skill in skills]
    catalog = render_catalog(skills, "xml", order="discovery", maximum=None)
    description = f"{catalog}\n" if catalog else NO_SKILLS
    return Tool("get_skill", "get_skill", description, schema_of({"skillName": name}, "skillName"), handle, str)


def _refusal(message: str) -> str:
    return f"Error: {message}"
