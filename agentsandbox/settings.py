"""The options of a sandbox: their defaults, and what is refused before one is made."""

from __future__ import annotations

from agentsandbox.command import Command
from agentsandbox.limits import DEFAULT_LIMITS, Limits

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

__all__ = ["DEFAULTS", "check_settings", "unknown_option"]

DEFAULTS: dict[str, Any] = {
    "skills": (),
    "skills_mount_path": "/.sandbox/skills",
    "skills_writable": False,
    "files": {},
    "mounts": {},
    "env": {},
    "cwd": "/workspace",
    "user": "agent",
    "hostname": "sandbox",
    "commands": (),
    "limits": DEFAULT_LIMITS,
    "network": None,
    "script_errexit": True,
    "jobs": "detach",
    "on_command": None,
    "on_event": None,
    "clock": None,
    "seed": None,
}
"""Every option and its default; `SandboxOptions` is the same as a pydantic model."""


def unknown_option(name: str) -> str:
    """The message for an option that does not exist, with the nearest one that does."""
    import difflib

    near = difflib.get_close_matches(name, DEFAULTS, 1)
    return f"Sandbox has no option {name!r}" + (f"; did you mean {near[0]!r}?" if near else "")


def check_settings(settings: Mapping[str, Any]) -> None:
    """Refuse values of the wrong kind early, as `SandboxOptions` does."""
    if not isinstance(settings["limits"], Limits):
        raise TypeError(f"limits must be a Limits, not {type(settings['limits']).__name__}")
    for name in ("cwd", "skills_mount_path", "user", "hostname"):
        if not isinstance(settings[name], str):
            raise TypeError(f"{name} must be a str, not {type(settings[name]).__name__}")
    for name in ("cwd", "skills_mount_path"):
        if not settings[name].startswith("/") or "\0" in settings[name]:
            raise ValueError(f"{name} must be an absolute path, not {settings[name]!r}")
    if settings["jobs"] not in ("detach", "wait", "kill"):
        raise ValueError(f"jobs must be 'detach', 'wait' or 'kill', not {settings['jobs']!r}")
    for name, value in settings["env"].items():
        if not isinstance(name, str) or not isinstance(value, str):
            raise TypeError(f"env maps str to str, not {name!r} to {value!r}")
    for command in settings["commands"]:
        if not isinstance(command, Command):
            raise TypeError(f"commands are made by @command, not {command!r}")
