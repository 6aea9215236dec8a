"""The profile `runtime`: skills.load, skills.unload, skills.read and skills.run_script of the
runtime specification.

Instructions do not come in the answers: the host puts `session.system_prompt()` in front of the
next model call. Where it cannot, a session with `delivery="tool_result"` has them in the answers of
skills.load.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from agentsandbox.profiles.native import SCRIPT, script_answer, script_options
from agentsandbox.profiles.spec import make_tool

if TYPE_CHECKING:
    from collections.abc import Mapping

    from agentsandbox.errors import SandboxError
    from agentsandbox.profiles.spec import Tool
    from agentsandbox.skills.session.session import SkillSession

__all__ = ["tools"]


def tools(session: SkillSession) -> list[Tool]:
    """The tools of the profile; none when there are no skills."""
    names = [record.name for record in session.search()]
    if not names:
        return []
    profile = _Runtime(session)
    skill = {
        "type": "string",
        "enum": names,
        "description": "A loaded skill; the most recently loaded one by default",
    }
    many = {"type": "array", "items": {"type": "string", "enum": names}}
    path = {"type": "string", "description": "The path below the skill's root directory"}

    made = partial(make_tool, _refuse)
    mode = {
        "type": "string",
        "enum": ["replace", "add"],
        "description": "Replace the loaded skills (default), or add to them",
    }
    file = {"skill": skill, "path": path}
    load = "Loads skills. Their instructions are in force from the next message on."
    found = [
        made("skills.load", load, profile.load, {"names": many, "mode": mode}, "names"),
        made(
            "skills.unload",
            "Unloads skills.",
            profile.unload,
            {"names": many, "all": {"type": "boolean"}},
        ),
        made("skills.read", "Reads a file of a loaded skill.", profile.read, file, "path"),
    ]
    if session.has_scripts:
        description = "Runs a script of a loaded skill in the sandbox."
        script = {**file, **{name: SCRIPT[name] for name in ("args", "env", "workdir")}}
        found.append(
            made("skills.run_script", description, profile.run, script, "path", run=profile.run_now)
        )
    return found


def _refuse(error: SandboxError | str) -> dict[str, Any]:
    return {"error": str(error)}


class _Runtime:
    """The handlers."""

    def __init__(self, session: SkillSession) -> None:
        self.session = session

    def load(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        session = self.session
        loaded = session.load(arguments["names"], arguments.get("mode", "replace"))
        if session.delivery not in ("tool_result", "both"):
            return session.receipt()
        return session.receipt() | {
            "content": "\n\n".join(session.content(skill.name) for skill in loaded)
        }

    def unload(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        self.session.unload(arguments.get("names", ()), all=arguments.get("all", False))
        return self.session.receipt()

    def read(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        content = self.session.read(arguments["path"], arguments.get("skill"))
        answer: dict[str, Any] = {
            "skill": content.skill,
            "path": content.path,
            "encoding": content.encoding,
            "content": content.content,
        }
        return answer if content.encoding == "utf-8" else answer | {"mime_type": content.mime_type}

    def run_now(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        return _four(
            arguments,
            script_answer(self.session.run_script(arguments["path"], **script_options(arguments))),
        )

    async def run(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        return _four(
            arguments,
            script_answer(
                await self.session.arun_script(arguments["path"], **script_options(arguments))
            ),
        )


def _four(arguments: Mapping[str, Any], answer: Mapping[str, Any]) -> dict[str, Any]:
    """The keys of the specification; the path as it was asked for."""
    return {
        "path": arguments["path"],
        "exit_code": answer["exit_code"],
        "stdout": answer["stdout"],
        "stderr": answer["stderr"],
    }
