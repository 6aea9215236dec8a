"""`SandboxOptions`: the options of a `Sandbox` as a value that can be checked, copied and shared."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator

from agentsandbox.command import Command
from agentsandbox.fs.base import FileSystem
from agentsandbox.limits import DEFAULT_LIMITS, Limits
from agentsandbox.network import NetworkPolicy
from agentsandbox.skills import AgentSkill

__all__ = ["SandboxOptions"]


class SandboxOptions(BaseModel):
    """What a sandbox is made of. Frozen: `options.model_copy(update={…})` makes another one."""

    model_config = ConfigDict(frozen=True, extra="forbid", arbitrary_types_allowed=True)

    skills: tuple[AgentSkill, ...] = ()
    """Skills to mount, in order (S2-17)."""
    skills_mount_path: str = "/.sandbox/skills"
    """Where they are mounted (S2-18)."""
    skills_writable: bool = False
    """Whether each sandbox gets copies of its skills that its scripts may change."""
    files: Mapping[str, str | bytes] = Field(default_factory=dict)
    """Files to create: path (absolute, or relative to `cwd`) → content."""
    mounts: Mapping[str, FileSystem] = Field(default_factory=dict)
    """Filesystems to mount: path → filesystem."""
    env: Mapping[str, str] = Field(default_factory=dict)
    """Environment variables, beside HOME, PATH and the like."""
    cwd: str = "/workspace"
    """The working directory; it is created."""
    user: str = "agent"
    hostname: str = "sandbox"
    commands: tuple[Command, ...] = ()
    """The host's own commands, made by `@command`, sync or async."""
    limits: Limits = DEFAULT_LIMITS
    network: NetworkPolicy | None = None
    """What the network may be used for; None is nothing."""
    script_errexit: bool = True
    """Whether `sh FILE` and ./FILE run with `set -e` (S2-31)."""
    jobs: Literal["detach", "wait", "kill"] = "detach"
    """What becomes of background jobs when a call ends."""
    on_command: Callable[..., Any] | None = None
    """Asked before each simple command (see `policy`)."""
    on_event: Callable[[Any], None] | None = None
    """Told of what happens (see `events`)."""
    clock: Callable[[], float] | None = None
    """Seconds since the epoch; the host's clock by default."""
    seed: int | None = None
    """Makes $RANDOM, `shuf`, `mktemp` repeatable."""

    @field_validator("cwd", "skills_mount_path")
    @classmethod
    def _absolute(cls, value: str) -> str:
        if not value.startswith("/") or "\0" in value:
            raise ValueError("must be an absolute path")
        return value

    def settings(self) -> dict[str, Any]:
        """Every option by name, as `Sandbox` takes them."""
        return {name: getattr(self, name) for name in type(self).model_fields}

    def clone(self, **changes: Any) -> SandboxOptions:
        """A checked copy with `changes` (S2-19)."""
        return type(self)(**{**self.settings(), **changes})

    @field_validator("skills", "commands", mode="before")
    @classmethod
    def _tuple(cls, value: Sequence[Any]) -> tuple[Any, ...]:
        return tuple(value)
