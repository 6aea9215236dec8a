"""All profiles by their names, and a dispatcher that accepts every spelling of a tool's name."""

# TM-TOOL-1

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
"""Profile → the names of the tools that load a skill, read its files and run its scripts."""
LISTS: dict[str, str] = {
    "native": "skill_list",
    "remcochat": "skills.list",
    "runtime": "skills.list",
    "agentsandbox": "list_skills",
    "agentsandbox-head": "list_skills",
    "yodoca": "list_skills",
    "mux": "agent_skill_list",
}
"""Profile → the name of the tool that lists skills; some have it only if the catalog is cut."""


def skill_tools(
    session: SkillSession,
    *profiles: Profile,
    name_style: NameStyle | None = None,
    config: SkillsConfig | None = None,
) -> list[Tool]:
    """Return the tools of the profiles for a session; their schemas name its skills of now.

    `name_style` replaces each profile's own style of names. A profile whose catalog is cut has a
    tool that lists all skills; `config` says how long a catalog may be, by default the profile's
    preset. Raises `ValueError` for an unknown profile.
    """
    from agentsandbox.skills.config import PRESETS, SkillsConfig

    found: list[Tool] = []
    for profile in profiles or ("native",):
        if profile not in PROFILES:
            raise ValueError(f"unknown profile {profile!r}; there are: {', '.join(PROFILES)}")
        preset = config or SkillsConfig.preset(profile if profile in PRESETS else "default")
        module = importlib.import_module(f"agentsandbox.profiles.{profile}")
        found += module.tools(session, is_cut=preset.cuts_catalog(session))
    if name_style is None:
        return found
    return [replace(tool, wire_name=wire_name(tool.name, name_style)) for tool in found]


def tools_for(
    config: SkillsConfig, session: SkillSession, sandbox: Sandbox | None = None
) -> Toolbox:
    """Return the tools of the profiles of a host's settings; none when skills are off.

    The profiles "agentsandbox" and "agentsandbox-head" need a sandbox with the skills mounted.
    """
    found: list[Tool] = []
    for profile in config.profiles if config.enabled else ():
        if profile != "agentsandbox" and profile != "agentsandbox-head":
            found += skill_tools(session, profile, name_style=config.name_style, config=config)
            continue
        if sandbox is None:
            raise ValueError(f'the profile "{profile}" needs a sandbox')
        name = profile.replace("-", "_")
        found += importlib.import_module(f"agentsandbox.profiles.{name}").tools(sandbox)
    return Toolbox(found)


def prompt_for(config: SkillsConfig, session: SkillSession) -> str:
    """Return the instructions about skills for a model: rules, catalog and active skills.

    They use the names of the first profile's tools. The catalog is left out if the description of a
    tool has it. Without skills the result is "".
    """
    profile = config.profiles[0]
    style = config.name_style or ("camel" if profile == "remcochat" else "snake")
    load, read, run = (None if name is None else wire_name(name, style) for name in ROLES[profile])
    assert load is not None
    listing = wire_name(LISTS[profile], style)
    catalog = config.render_catalog(session, read_tool=load, file_tool=read, list_tool=listing)
    if catalog is None or not config.enabled or not session.search():
        return ""
    parts: list[str | None] = [base_rules(load, read, run if session.has_scripts else None)]
    if not profile.startswith("agentsandbox"):
        parts.append(catalog)
    delivery = config.delivery or ("instructions" if profile == "runtime" else "tool_result")
    if delivery in ("instructions", "both"):
        parts.append(session.render_active())
    return "\n\n".join(filter(None, parts))


class Toolbox:
    """Tools by every spelling of their names: `skills.load`, `skills_load`, `skillsLoad`."""

    def __init__(self, tools: Iterable[Tool]) -> None:
        self.tools = tuple(tools)
        self._by_name: dict[str, Tool] = {}
        for tool in self.tools:
            snake, camel = wire_name(tool.name, "snake"), wire_name(tool.name, "camel")
            for name in (tool.name, tool.wire_name, snake, camel):
                self._by_name.setdefault(name, tool)

    def find(self, name: str) -> Tool | None:
        """Return the tool of that name, or None."""
        return self._by_name.get(name)

    def call(self, name: str, arguments: Mapping[str, Any]) -> Any:
        """Call a tool and return the answer; for an unknown name that says what is wrong."""
        tool = self.find(name)
        return tool.call(arguments) if tool else self._unknown(name)

    async def acall(self, name: str, arguments: Mapping[str, Any]) -> Any:
        """Call a tool in the running event loop."""
        tool = self.find(name)
        return await tool.acall(arguments) if tool else self._unknown(name)

    def _unknown(self, name: str) -> dict[str, Any]:
        names = ", ".join(tool.wire_name for tool in self.tools) or "none"
        return {"error": f"Unknown tool: {name[:100]!r}. Available tools: {names}"}
