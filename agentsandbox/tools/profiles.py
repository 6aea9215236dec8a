"""All profiles by their names, and one dispatcher for whatever spelling a model uses."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any, Literal

from agentsandbox.tools.spec import Tool, wire_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from agentsandbox.sandbox import Sandbox
    from agentsandbox.skills.config import SkillsConfig
    from agentsandbox.skills.session import SkillSession

__all__ = ["Toolbox", "skill_tools", "tools_for"]

Profile = Literal["native", "remcochat", "runtime", "yodoca", "mux"]
PROFILES: tuple[Profile, ...] = ("native", "remcochat", "runtime", "yodoca", "mux")


def skill_tools(session: SkillSession, *profiles: Profile) -> list[Tool]:
    """The tools of the profiles for a session, by their schemas of this moment; none when there are no skills."""
    found: list[Tool] = []
    for profile in profiles or ("native",):
        if profile not in PROFILES:
            raise ValueError(f"unknown profile {profile!r}; there are: {', '.join(PROFILES)}")
        found += importlib.import_module(f"agentsandbox.tools.{profile}").tools(session)
    return found


def tools_for(config: SkillsConfig, session: SkillSession, sandbox: Sandbox | None = None) -> Toolbox:
    """The toolbox that a host's settings mean: the profile's tools; none when skills are off.

    The profile "agentsandbox" speaks through a sandbox, which has the skills mounted.
    """
    if not config.enabled:
        return Toolbox(())
    if config.profile == "agentsandbox":
        if sandbox is None:
            raise ValueError('the profile "agentsandbox" needs a sandbox')
        from agentsandbox.tools import agentsandbox

        return Toolbox(agentsandbox.tools(sandbox))
    return Toolbox(skill_tools(session, config.profile))


class Toolbox:
    """Tools by every spelling of their names: `skills.load`, `skills_load`, `skillsLoad`."""

    def __init__(self, tools: Iterable[Tool]) -> None:
        self.tools = tuple(tools)
        self._by_name: dict[str, Tool] = {}
        for tool in self.tools:
            names = [tool.name, tool.wire_name, *(wire_name(tool.name, style) for style in ("snake", "camel"))]
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
        return {"error": f"Unknown tool: {name[:100]!r}. Available tools: {', '.join(tool.wire_name for tool in self.tools) or 'none'}"}
