"""All profiles by their names, and one dispatcher for whatever spelling a model uses."""

from __future__ import annotations

import importlib
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

from agentsandbox.profiles.spec import Tool, wire_name
from agentsandbox.skills.prompts import base_rules

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from agentsandbox.profiles.spec import NameStyle
    from agentsandbox.sandbox import Sandbox
    from agentsandbox.skills.config import SkillsConfig
    from agentsandbox.skills.session.session import SkillSession

__all__ = ["Toolbox", "prompt_for", "skill_tools", "tools_for"]

Profile = Literal["native", "remcochat", "runtime", "yodoca", "mux"]
PROFILES: tuple[Profile, ...] = ("native", "remcochat", "runtime", "yodoca", "mux")

ROLES: dict[str, tuple[str, str | None, str | None]] = {
    "native": ("skill_activate", "skill_read", "skill_run"),
    "remcochat": ("skills.activate", "skills.readResource", None),
    "runtime": ("skills.load", "skills.read", "skills.run_script"),
    "agentsandbox": ("get_skill", None, "sandbox_execute"),
    "agentsandbox-head": ("get_skill", None, "bash_shell"),
    "yodoca": ("read_skill", "read_skill_resource", None),
    "mux": ("agent_skill_read", "agent_skill_read_file", None),
}
"""Profile → the tools that load, read and run."""


def skill_tools(
    session: SkillSession, *profiles: Profile, name_style: NameStyle | None = None
) -> list[Tool]:
    """The tools of the profiles for a session, by their schemas of this moment; `name_style` other
    than each profile's own.
    """
    found: list[Tool] = []
    for profile in profiles or ("native",):
        if profile not in PROFILES:
            raise ValueError(f"unknown profile {profile!r}; there are: {', '.join(PROFILES)}")
        found += importlib.import_module(f"agentsandbox.profiles.{profile}").tools(session)
    return (
        found
        if name_style is None
        else [replace(tool, wire_name=wire_name(tool.name, name_style)) for tool in found]
    )


def tools_for(
    config: SkillsConfig, session: SkillSession, sandbox: Sandbox | None = None
) -> Toolbox:
    """The toolbox that a host's settings mean: the tools of its profiles; none when skills are off.

    The profiles "agentsandbox" and "agentsandbox-head" speak through a sandbox, which has the
    skills mounted.
    """
    found: list[Tool] = []
    for profile in config.profiles if config.enabled else ():
        match profile:
            case "agentsandbox" | "agentsandbox-head":
                if sandbox is None:
                    raise ValueError(f'the profile "{profile}" needs a sandbox')
                found += importlib.import_module(
                    f"agentsandbox.profiles.{profile.replace('-', '_')}"
                ).tools(sandbox)
            case _:
                found += skill_tools(session, profile, name_style=config.name_style)
    return Toolbox(found)


def prompt_for(config: SkillsConfig, session: SkillSession) -> str:
    """The skills' part of a model's instructions: rules in the names of the first profile's tools,
    the catalog, active skills.

    "" when there are no skills. The catalog is not repeated where a tool's description has it.
    """
    profile = config.profiles[0]
    style = config.name_style or ("camel" if profile == "remcochat" else "snake")
    load, read, run = (None if name is None else wire_name(name, style) for name in ROLES[profile])
    assert load is not None
    catalog = config.render_catalog(session, read_tool=load, file_tool=read)
    if catalog is None or not config.enabled or not session.search():
        return ""
    rules = base_rules(load, read, run if session.has_scripts else None)
    in_prompt = config.delivery in ("instructions", "both") or (
        config.delivery is None and profile == "runtime"
    )
    parts = [
        rules,
        None if profile.startswith("agentsandbox") else catalog,
        session.render_active() if in_prompt else None,
    ]
    return "\n\n".join(part for part in parts if part)


class Toolbox:
    """Tools by every spelling of their names: `skills.load`, `skills_load`, `skillsLoad`."""

    def __init__(self, tools: Iterable[Tool]) -> None:
        self.tools = tuple(tools)
        self._by_name: dict[str, Tool] = {}
        for tool in self.tools:
            names = [
                tool.name,
                tool.wire_name,
                *(wire_name(tool.name, style) for style in ("snake", "camel")),
            ]
            for name in names:
                self._by_name.setdefault(name, tool)

    def find(self, name: str) -> Tool | None:
        """The tool of that name, None when there is none."""
        return self._by_name.get(name)

    def call(self, name: str, arguments: Mapping[str, Any]) -> Any:
        """Call a tool and wait; an unknown name is answered, not raised."""
        tool = self.find(name)
        return tool.call(arguments) if tool else self._unknown(name)

    async def acall(self, name: str, arguments: Mapping[str, Any]) -> Any:
        """Call a tool in the running event loop."""
        tool = self.find(name)
        return await tool.acall(arguments) if tool else self._unknown(name)

    def _unknown(self, name: str) -> dict[str, Any]:
        return {
            "error": f"Unknown tool: {name[:100]!r}. Available tools: {', '.join(tool.wire_name for tool in self.tools) or 'none'}"
        }
