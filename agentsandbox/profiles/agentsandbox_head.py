"""The profile `agentsandbox-head`: bash_shell and get_skill as in the current C# project.

Answers are plain texts. A failed command answers only with its errors, without its exit status and
output.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agentsandbox.profiles.agentsandbox import (
    COMMAND,
    LIST_TOOL,
    find_skill,
    list_tools,
    shown_errors,
    shown_instructions,
    skill_name,
)
from agentsandbox.profiles.output import MAX_OUTPUT, cut_output
from agentsandbox.profiles.spec import make_tool
from agentsandbox.skills.prompts import CATALOG_CHARACTERS, render_catalog

if TYPE_CHECKING:
    from collections.abc import Mapping

    from agentsandbox.errors import SandboxError
    from agentsandbox.profiles.spec import Tool
    from agentsandbox.result import ExecutionResult
    from agentsandbox.sandbox import Sandbox

__all__ = ["get_skill_tool", "shell_tool", "tools"]

NOTHING_SAID = "(command completed successfully)"
NO_SKILLS = "No skills are currently available."


def tools(sandbox: Sandbox) -> list[Tool]:
    """Return the tools of the profile for a sandbox."""
    return [shell_tool(sandbox), get_skill_tool(sandbox), *list_tools(sandbox, _refuse, "xml")]


def shell_tool(sandbox: Sandbox, *, max_output: int = MAX_OUTPUT) -> Tool:
    """Return `bash_shell`, which runs a script and answers its output, or "Error: " and its errors.

    An answer has at most `max_output` characters.
    """

    def answer(result: ExecutionResult) -> str:
        if result.exit_code:
            return _refuse(shown_errors(result, max_output))
        return cut_output(str(result.stdout_bytes, "utf-8", "replace"), max_output) or NOTHING_SAID

    def run(arguments: Mapping[str, Any]) -> str:
        return answer(sandbox.execute(arguments["command"]))

    async def handle(arguments: Mapping[str, Any]) -> str:
        return answer(await sandbox.aexecute(arguments["command"]))

    return make_tool(
        _refuse, "bash_shell", _shell_description(sandbox), handle, COMMAND, "command", run=run
    )


def _shell_description(sandbox: Sandbox) -> str:
    return (
        f"Run shell commands. Available commands: {', '.join(sandbox.command_names())}. "
        "Run 'help' to list commands or '<command> -h' for detailed help on a specific command. "
        "Commands use short-style arguments (e.g., -l, -a, -n). "
    )


def get_skill_tool(sandbox: Sandbox) -> Tool:
    """Return `get_skill`, whose description is the catalog in XML; it answers instructions."""
    skills = sandbox.get_mounted_skills()

    def handle(arguments: Mapping[str, Any]) -> str:
        skill = find_skill(skills, arguments["skillName"])
        if skill is None:
            return f"Skill '{arguments['skillName']}' not found"
        return shown_instructions(skill)

    catalog = render_catalog(
        skills,
        "xml",
        order="discovery",
        maximum=None,
        characters=CATALOG_CHARACTERS,
        list_tool=LIST_TOOL,
    )
    description = f"{catalog}\n" if catalog else NO_SKILLS
    properties = {"skillName": skill_name(skills)}
    return make_tool(str, "get_skill", description, handle, properties, "skillName")


def _refuse(error: SandboxError | str) -> str:
    return f"Error: {error}"
