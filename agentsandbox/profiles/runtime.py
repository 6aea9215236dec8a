"""The profile `runtime`: skills.load, skills.unload, skills.read and skills.run_script.

The tools are those of the runtime specification. Answers have no instructions: the host puts
`session.system_prompt()` before the next model call. A session with `delivery="tool_result"` has
them in the answers of skills.load instead.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from agentsandbox.profiles.listing import LIST, QUERY, Listing, name_schema
from agentsandbox.profiles.native import SCRIPT, script_answer, script_options
from agentsandbox.profiles.spec import make_tool

if TYPE_CHECKING:
    from collections.abc import Mapping

    from agentsandbox.errors import SandboxError
    from agentsandbox.profiles.spec import Tool
    from agentsandbox.skills.session.scripts import ScriptResult
    from agentsandbox.skills.session.session import SkillSession

__all__ = ["tools"]


def tools(session: SkillSession, *, is_cut: bool = False) -> list[Tool]:
    """Return the tools of the profile; none without skills.

    `is_cut`: the catalog does not show all skills in full; then skills.list finds them.
    """
    names = [record.name for record in session.search()]
    if not names:
        return []
    profile = _Runtime(session)
    skill = name_schema(names, "A loaded skill; the most recently loaded one by default")
    loaded = {"type": "array", "items": name_schema(names, loads=True)}
    many, flag = {"type": "array", "items": name_schema(names)}, {"type": "boolean"}
    path = {"type": "string", "description": "The path below the skill's root directory"}
    mode = {
        "type": "string",
        "enum": ["replace", "add"],
        "description": "Replace the loaded skills (default), or add to them",
    }
    file = {"skill": skill, "path": path}
    load = "Loads skills. Their instructions apply from the next message on."
    made = partial(make_tool, _refuse)
    found = [
        made("skills.load", load, profile.load, {"names": loaded, "mode": mode}, "names"),
        made("skills.unload", "Unloads skills.", profile.unload, {"names": many, "all": flag}),
        made("skills.read", "Reads a file of a loaded skill.", profile.read, file, "path"),
    ]
    if is_cut:
        found.append(made("skills.list", LIST, profile.list, {"query": QUERY}))
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
    """The handlers of the tools."""

    def __init__(self, session: SkillSession) -> None:
        self.session = session
        self.listing = Listing(session, is_cut=True)

    def list(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        return self.listing.plain(arguments.get("query", ""))

    def load(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        session = self.session
        loaded = session.load(arguments["names"], arguments.get("mode", "replace"))
        if session.delivery not in ("tool_result", "both"):
            return session.receipt()
        contents = [session.content(skill.name) for skill in loaded]
        return session.receipt() | {"content": "\n\n".join(contents)}

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
        path, options = arguments["path"], script_options(arguments)
        return _specified(path, self.session.run_script(path, **options))

    async def run(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        path, options = arguments["path"], script_options(arguments)
        return _specified(path, await self.session.arun_script(path, **options))


def _specified(path: str, result: ScriptResult) -> dict[str, Any]:
    """Return the answer with the keys of the specification, and the path as it was given."""
    answer = script_answer(result)
    return {"path": path, **{key: answer[key] for key in ("exit_code", "stdout", "stderr")}}
