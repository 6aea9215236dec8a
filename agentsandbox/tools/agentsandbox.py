"""The profile `agentsandbox`: a shell and a tool whose description lists the skills. Answers are JSON texts."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from agentsandbox.errors import SandboxError
from agentsandbox.skills.prompts import render_catalog
from agentsandbox.skills.reading import ReadingRules, truncate
from agentsandbox.tools.output import MAX_OUTPUT, cut_output
from agentsandbox.tools.spec import Tool

if TYPE_CHECKING:
    from collections.abc import Mapping

    from agentsandbox.result import ExecutionResult
    from agentsandbox.sandbox import Sandbox

__all__ = ["get_skill_tool", "sandbox_tool", "tools"]

EXECUTE_DESCRIPTION = (
    "Executes a bash script in an isolated sandbox with its own filesystem and no network, and returns its exit code, output and errors. "
    "Files, variables and the working directory persist between calls. The usual Unix tools are there; `help` lists them."
)


def tools(sandbox: Sandbox) -> list[Tool]:
    """The tools of the profile, for one sandbox."""
    return [sandbox_tool(sandbox), get_skill_tool(sandbox)]


def sandbox_tool(sandbox: Sandbox, *, max_output: int = MAX_OUTPUT) -> Tool:
    """`sandbox_execute`: runs a script, answers {"exitCode", "output", "error"}."""

    def run(arguments: Mapping[str, Any]) -> str:
        try:
            return _answer(sandbox.execute(arguments["command"]), max_output)
        except SandboxError as error:
            return _refusal(str(error))

    async def handle(arguments: Mapping[str, Any]) -> str:
        try:
            return _answer(await sandbox.aexecute(arguments["command"]), max_output)
        except SandboxError as error:
            return _refusal(str(error))

    schema = {
        "type": "object",
        "properties": {"command": {"type": "string", "description": "The bash script to execute"}},
        "required": ["command"],
        "additionalProperties": False,
    }
    return Tool("sandbox_execute", "sandbox_execute", EXECUTE_DESCRIPTION, schema, handle, _refusal, run)


def get_skill_tool(sandbox: Sandbox) -> Tool:
    """`get_skill`: its description lists the mounted skills; answers {"name", "description", "mountPath", "instructions"}."""
    skills = sandbox.get_mounted_skills()

    def handle(arguments: Mapping[str, Any]) -> str:
        wanted = arguments["skillName"]
        found = [skill for skill in skills if skill.name == wanted] or [skill for skill in skills if skill.name.lower() == wanted.lower()]
        if not found:
            return _json({"error": f"Skill '{wanted}' not found"})
        skill = found[0]
        return _json(
            {
                "name": skill.name,
                "description": skill.description,
                "mountPath": skill.mount_path,
                "instructions": truncate(skill.metadata.instructions or "", ReadingRules().max_skill_md_bytes, "SKILL.md"),
            }
        )

    name: dict[str, Any] = {"type": "string", "description": "The name of the skill to retrieve"}
    if skills:
        name["enum"] = [skill.name for skill in skills]
    schema = {"type": "object", "properties": {"skillName": name}, "required": ["skillName"], "additionalProperties": False}
    description = render_catalog(skills, "tool_description") or ""
    return Tool("get_skill", "get_skill", description, schema, handle, lambda message: _json({"error": message}))


def _answer(result: ExecutionResult, max_output: int) -> str:
    error = cut_output(str(result.stderr_bytes, "utf-8", "replace"), max_output)
    if result.limit is not None:
        error += f"{'' if error.endswith(chr(10)) or not error else chr(10)}sandbox: stopped by the limit '{result.limit}'\n"
    output = cut_output(str(result.stdout_bytes, "utf-8", "replace"), max_output)
    return _json({"exitCode": result.exit_code, "output": output, "error": error or None})


def _refusal(message: str) -> str:
    return _json({"exitCode": 2, "output": "", "error": message})


def _json(value: Mapping[str, Any]) -> str:
    return json.dumps(value, ensure_ascii=False)
