"""A sandbox from the options of the command line."""

from __future__ import annotations

import os

from agentsandbox.errors import SkillError
from agentsandbox.fs.host import HostFileSystem
from agentsandbox.fs.overlay import OverlayFileSystem
from agentsandbox.limits import DEFAULT_LIMITS, Limits
from agentsandbox.sandbox import Sandbox
from agentsandbox.skills import AgentSkill

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from agentsandbox.fs.base import FileSystem

__all__ = ["SetupError", "make_sandbox"]


class SetupError(Exception):
    """An option of the command line that makes no sense."""


def make_sandbox(skills: Sequence[str], mounts: Sequence[str], limits: Sequence[str], env: Sequence[str], cwd: str) -> Sandbox:
    """The sandbox that the options ask for."""
    try:
        return Sandbox(
            skills=[AgentSkill.from_path(path) for path in skills],
            mounts=dict(_mount(text) for text in mounts),
            limits=_limits(limits),
            env=dict(_pair(text, "--env") for text in env),
            cwd=cwd,
        )
    except (SkillError, ValueError, TypeError) as error:
        raise SetupError(str(error)) from None
    except OSError as error:
        raise SetupError(f"{error.filename or ''}: {os.strerror(error.errno or 5)}".lstrip(": ")) from None


def _pair(text: str, option: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not name or not equals:
        raise SetupError(f"{option} takes NAME=VALUE, not {text!r}")
    return name, value


def _limits(texts: Sequence[str]) -> Limits:
    changes: dict[str, float] = {}
    known = DEFAULT_LIMITS.as_dict()
    for text in texts:
        name, value = _pair(text, "--limit")
        if name not in known:
            raise SetupError(f"there is no limit {name!r}; there are {', '.join(known)}")
        try:
            changes[name] = float(value) if name == "timeout" else int(value)
        except ValueError:
            raise SetupError(f"--limit {name} takes a number, not {value!r}") from None
    return DEFAULT_LIMITS.replace(**changes)


def _mount(text: str) -> tuple[str, FileSystem]:
    """HOST:PATH[:ro|overlay|rw]"""
    parts = text.split(":")
    mode = "ro"
    if len(parts) > 2 and parts[-1] in ("ro", "overlay", "rw"):
        mode = parts.pop()
    if len(parts) != 2 or not parts[1].startswith("/"):
        raise SetupError(f"--mount takes HOST:PATH[:ro|overlay|rw] with an absolute PATH, not {text!r}")
    host, path = parts
    filesystem: FileSystem = HostFileSystem(host, read_only=mode != "rw")
    return path, OverlayFileSystem(filesystem) if mode == "overlay" else filesystem
