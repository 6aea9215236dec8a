"""The profile `native`, the library's own: all operations, with structured answers.

An error is answered as {"error": {"type", "message"}}.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from agentsandbox.errors import (
    SkillLimitError,
    SkillNotFoundError,
    SkillPathError,
    SkillPolicyError,
    SkillStateError,
)
from agentsandbox.profiles.listing import LIST, QUERY, Listing, name_schema
from agentsandbox.profiles.output import MAX_OUTPUT, cut_output
from agentsandbox.profiles.spec import make_tool
from agentsandbox.profiles.surroundings import describe
from agentsandbox.skills.session.reading import page_lines

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from agentsandbox.errors import SandboxError
    from agentsandbox.profiles.spec import Tool
    from agentsandbox.result import ExecutionResult
    from agentsandbox.skills.session.scripts import ScriptResult, Workplace
    from agentsandbox.skills.session.session import SkillSession

__all__ = ["CHANGE", "SCRIPT", "refuse", "script_answer", "script_options", "tools"]

UNCHANGED = "already active, unchanged"
DEACTIVATE = "Deactivates skills."
FILES = "Lists the files of a skill."
READ = "Reads a file of a skill."
RUN = "Runs a script of a skill in the sandbox."
ACTIVATE = "Loads skills' full instructions. Call it before using a skill."
PROPOSE = (
    "Proposes a change of a skill, which a person reviews. Nothing changes until it is approved."
)
SHELL = (
    "Runs a bash script in the sandbox. "
    "Files, variables and the working directory persist between calls."
)

SECONDS = {"type": "number", "exclusiveMinimum": 0, "description": "Seconds"}
SCRIPT: Mapping[str, Any] = {
    "args": {"type": "array", "items": {"type": "string"}},
    "env": {"type": "object", "additionalProperties": {"type": "string"}},
    "workdir": {"type": "string"},
    "timeout": SECONDS,
}
CHANGE: Mapping[str, Any] = {
    "diff": {"type": "string", "description": "A unified diff, paths below the skill's directory"},
    "justification": {"type": "string", "description": "Why the change improves the skill"},
    "evidence": {"type": "string", "description": "Errors, test failures, remarks of users"},
}

_KINDS = (
    (SkillNotFoundError, "not_found"),
    (SkillPathError, "path"),
    (SkillLimitError, "limit"),
    (SkillStateError, "state"),
    (SkillPolicyError, "policy"),
)


def refuse(error: SandboxError | str) -> dict[str, Any]:
    """Return the answer for an error, or for a message about wrong arguments."""
    kind = next((name for family, name in _KINDS if isinstance(error, family)), "invalid")
    return {
        "error": {"type": "arguments" if isinstance(error, str) else kind, "message": str(error)}
    }


_tool = partial(make_tool, refuse)


def tools(session: SkillSession, *, is_cut: bool = False) -> list[Tool]:
    """Return the tools of the profile; without skills only the shell.

    `is_cut`: the catalog does not show all skills in full.
    """
    profile = _Native(session, is_cut=is_cut)
    names = [record.name for record in session.search()]
    skills = profile.skill_tools(names) if names else []
    return skills + ([profile.shell_tool()] if session.has_shell else [])


class _Native:
    """The handlers of the tools."""

    def __init__(self, session: SkillSession, *, is_cut: bool) -> None:
        self.session = session
        self.listing = Listing(session, is_cut=is_cut)

    def skill_tools(self, names: Sequence[str]) -> list[Tool]:
        """Return the tools for these skills."""
        text, number, flag = {"type": "string"}, {"type": ["integer", "null"]}, {"type": "boolean"}
        skill = name_schema(names, "The skill; the most recently activated one by default")
        many = {"type": "array", "items": name_schema(names), "description": "The names of skills"}
        loaded = {**many, "items": name_schema(names, loads=True)}
        mode = {"type": "string", "enum": ["add", "replace"]}
        path = text | {"description": "The file's path below the skill's directory"}
        file = {"skill": skill, "path": path}
        made = [
            _tool("skill_list", LIST, self.list, {"query": QUERY}),
            _tool(
                "skill_activate", ACTIVATE, self.activate, {"names": loaded, "mode": mode}, "names"
            ),
            _tool("skill_deactivate", DEACTIVATE, self.deactivate, {"names": many, "all": flag}),
            _tool("skill_files", FILES, self.files, {"skill": skill, "dir": text}),
            _tool(
                "skill_read", READ, self.read, {**file, "offset": number, "limit": number}, "path"
            ),
        ]
        if self.session.has_scripts:
            properties = {**file, **SCRIPT}
            made.append(_tool("skill_run", RUN, self.run, properties, "path", run=self.run_now))
        if self.session.proposals is not None:
            properties, required = {"skill": skill, **CHANGE}, ("skill", "diff", "justification")
            name_of_tool = "skill_propose_update"
            made.append(_tool(name_of_tool, PROPOSE, self.propose, properties, *required))
        return made

    def shell_tool(self) -> Tool:
        """Return the tool for scripts that the model writes."""
        command = {"type": "string", "description": "The bash script"}
        properties = {"command": command, "timeout": SECONDS}
        description = SHELL + self.surroundings()
        return _tool("shell", description, self.shell, properties, "command", run=self.shell_now)

    def surroundings(self) -> str:
        """Return what the description of the shell says about the sandbox."""
        from agentsandbox.sandbox import Sandbox

        place = self.place
        if not isinstance(place, Sandbox):
            return " Skills that were loaded are mounted there."
        return describe(place, MAX_OUTPUT, skills=self.session.mount_path)

    def list(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        active = self.session.active
        answer = self.listing.plain(arguments.get("query", ""))
        for skill in answer["skills"]:
            skill["active"] = skill["name"] in active
        return answer

    def activate(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        session = self.session
        before = set(session.active)
        loaded = session.load(arguments["names"], arguments.get("mode", "add"))
        if session.delivery == "instructions":
            return session.receipt()
        contents = [session.content(skill.name) for skill in loaded if skill.name not in before]
        for skill in loaded:
            if skill.name in before:
                mark = f'<skill_content name="{skill.name}" digest="{skill.digest}">'
                contents.append(f"{mark}{UNCHANGED}</skill_content>")
        return {**session.receipt(), "content": "\n\n".join(contents)}

    def deactivate(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        self.session.unload(arguments.get("names", ()), all=arguments.get("all", False))
        return self.session.receipt()

    def files(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        return {"files": self.session.files(arguments.get("skill"), arguments.get("dir", ""))}

    def read(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        content = self.session.read(arguments["path"], arguments.get("skill"))
        text = content.content
        offset, limit = arguments.get("offset"), arguments.get("limit")
        if content.encoding == "utf-8" and (offset is not None or limit is not None):
            most = self.session.rules.max_resource_bytes
            text = page_lines(text, offset, limit, max_lines=1_000_000, max_output=most)
        answer: dict[str, Any] = {
            "skill": content.skill,
            "path": content.path,
            "encoding": content.encoding,
            "content": text,
        }
        if content.encoding != "utf-8":
            answer |= {"mime_type": content.mime_type, "size": content.size}
        return answer | {"truncated": content.truncated, "untrusted": True}

    def propose(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        words = (arguments["diff"], arguments["justification"], arguments.get("evidence", ""))
        proposal = self.session.propose_update(arguments["skill"], *words)
        return {"proposal": proposal.id, "skill": proposal.skill, "status": proposal.status}

    def shell_now(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        return _shell_answer(
            self.place.execute(arguments["command"], timeout=arguments.get("timeout"))
        )

    async def shell(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        return _shell_answer(
            await self.place.aexecute(arguments["command"], timeout=arguments.get("timeout"))
        )

    @property
    def place(self) -> Workplace:
        """The sandbox; the shell is offered only with one."""
        assert self.session.place is not None
        return self.session.place

    def run_now(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        return script_answer(
            self.session.run_script(arguments["path"], **script_options(arguments))
        )

    async def run(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        return script_answer(
            await self.session.arun_script(arguments["path"], **script_options(arguments))
        )


def _shell_answer(result: ExecutionResult) -> dict[str, Any]:
    """Return the answer for a script that the model wrote."""
    texts = [str(data, "utf-8", "replace") for data in (result.stdout_bytes, result.stderr_bytes)]
    stdout, stderr = map(cut_output, texts)
    answer: dict[str, Any] = {"exit_code": result.exit_code, "stdout": stdout, "stderr": stderr}
    return answer | {
        "truncated": [stdout, stderr] != texts or result.limit == "output_bytes",
        "limit": result.limit,
    }


def script_options(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments that are options of `run_script`."""
    return {name: value for name, value in arguments.items() if name in ("skill", *SCRIPT)}


def script_answer(result: ScriptResult) -> dict[str, Any]:
    """Return the answer for a skill's script."""
    stdout, stderr = cut_output(result.stdout), cut_output(result.stderr)
    answer: dict[str, Any] = {
        "path": result.path,
        "exit_code": result.exit_code,
        "stdout": stdout,
        "stderr": stderr,
    }
    return answer | {
        "truncated": result.truncated or (stdout, stderr) != (result.stdout, result.stderr),
        "limit": result.limit,
        "changes": [
            {"path": change.path, "kind": change.kind, "bytes": change.size}
            for change in result.changes
        ],
    }
