"""`SandboxOptions`: what a sandbox is made of, as one frozen value.

This file is the only list of the options. `SandboxKeywords` has the types that callers may give,
the annotations of `SandboxOptions` the types that are stored, `DEFAULTS` the values of what is not
given; `runtime/arguments.py` has the checks.
"""

from __future__ import annotations

from agentsandbox.limits import DEFAULT_LIMITS

TYPE_CHECKING = False
if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from inspect import Signature
    from types import MappingProxyType
    from typing import Any, Literal, TypedDict, Unpack

    from agentsandbox.contract.command import Command
    from agentsandbox.events import Observer
    from agentsandbox.git.offers import GitPush
    from agentsandbox.javascript import JavaScriptRuntime
    from agentsandbox.kernel.fs.base import FileSystem
    from agentsandbox.limits import Limits
    from agentsandbox.network import NetworkPolicy
    from agentsandbox.policy import Policy
    from agentsandbox.python import PythonRuntime
    from agentsandbox.skills import AgentSkill

    Isolation = Literal["thread", "process"]
    Jobs = Literal["detach", "wait", "kill"]
    ScriptErrexit = Literal["sh", "always", "never"]

    class SandboxKeywords(TypedDict, total=False):
        """The keywords of `Sandbox`, `SandboxOptions` and `SandboxOptions.clone`."""

        skills: Iterable[AgentSkill]
        skills_mount_path: str
        skills_writable: bool
        files: Mapping[str, str | bytes]
        mounts: Mapping[str, FileSystem]
        env: Mapping[str, str]
        cwd: str
        user: str
        hostname: str
        commands: Iterable[Command]
        aliases: Mapping[str, str]
        sudo: bool
        python: PythonRuntime | bool
        javascript: JavaScriptRuntime | bool
        limits: Limits
        network: NetworkPolicy | Mapping[str, Callable[..., Any]] | None
        git_remotes: Mapping[str, str | os.PathLike[str] | Callable[[GitPush], str | None]]
        script_errexit: ScriptErrexit
        jobs: Jobs
        isolation: Isolation
        on_command: Policy | None
        on_event: Observer | None
        clock: Callable[[], float] | None
        seed: int | None

else:
    MappingProxyType = type(type.__dict__)  # importing `types` for it would take a millisecond

__all__ = [
    "DEFAULTS", "DEFAULT_OPTIONS", "KeywordSignature", "SandboxOptions", "all_commands",
    "check_identity",
]  # fmt: skip

_NOTHING: Mapping[str, Any] = MappingProxyType({})

DEFAULTS: Mapping[str, Any] = {
    "skills": (),
    "skills_mount_path": "/.sandbox/skills",
    "skills_writable": False,
    "files": _NOTHING,
    "mounts": _NOTHING,
    "env": _NOTHING,
    "cwd": "/workspace",
    "user": "agent",
    "hostname": "sandbox",
    "commands": (),
    "aliases": _NOTHING,
    "sudo": False,
    "python": None,
    "javascript": None,
    "limits": DEFAULT_LIMITS,
    "network": None,
    "git_remotes": _NOTHING,
    "script_errexit": "sh",
    "jobs": "detach",
    "isolation": "thread",
    "on_command": None,
    "on_event": None,
    "clock": None,
    "seed": None,
}
"""Every option and its default."""


class KeywordSignature:
    """The signature of a class that takes the options, built when `help` asks for it."""

    __slots__ = ()

    def __get__(self, instance: object, owner: type) -> Signature:
        from inspect import Parameter, signature

        of_constructor = signature(owner.__init__)  # type: ignore[misc]
        own = [
            parameter
            for parameter in of_constructor.parameters.values()
            if parameter.kind is not Parameter.VAR_KEYWORD
        ]
        types = SandboxOptions.__annotations__
        options = [
            Parameter(
                name,
                Parameter.KEYWORD_ONLY,
                default={} if default is _NOTHING else default,
                annotation=types[name],
            )
            for name, default in DEFAULTS.items()
        ]
        return of_constructor.replace(
            parameters=[*own[1:], *options], return_annotation=Parameter.empty
        )


class SandboxOptions:
    """The options of a sandbox: checked on creation, immutable, shared by any number of sandboxes.

    `options.clone(limits=…)` returns a changed copy. A value that is not accepted raises
    `TypeError` or `ValueError` with the name of the option and what it accepts.
    """

    __slots__ = tuple(DEFAULTS)
    __signature__ = KeywordSignature()

    skills: tuple[AgentSkill, ...]
    """Skills to mount, in order, under different names."""
    skills_mount_path: str
    """The directory they are mounted in."""
    skills_writable: bool
    """Whether each sandbox gets copies of its skills that its scripts may change."""
    files: Mapping[str, str | bytes]
    """Files to create: path → text (stored as UTF-8) or bytes; relative paths start at `cwd`."""
    mounts: Mapping[str, FileSystem]
    """Filesystems to mount: absolute path → filesystem."""
    env: Mapping[str, str]
    """Exported variables, besides HOME, PATH and the like."""
    cwd: str
    """The working directory, an absolute path; it is created."""
    user: str
    """The name of the user that scripts run as."""
    hostname: str
    """The name of the machine."""
    commands: tuple[Command, ...]
    """Commands of the host, made by `@command`, sync or async."""
    aliases: Mapping[str, str]
    """Names for other commands: name → words that are run before the arguments."""
    sudo: bool
    """Whether there is a `sudo`, which runs commands as the one user and says so."""
    python: PythonRuntime | None
    """What runs `python3` (see `agentsandbox.python`); None for no Python."""
    javascript: JavaScriptRuntime | None
    """What runs `node` (see `agentsandbox.javascript`); None for no JavaScript."""
    limits: Limits
    """The ceilings on time, output, files and values."""
    network: NetworkPolicy | None
    """What curl, wget, git and guests may reach; None for nothing but the sandbox's own loopback.

    A mapping host → function lets functions of the host answer (see `NetworkPolicy.hosts`)."""
    git_remotes: Mapping[str, str | Callable[[GitPush], str | None]]
    """Remotes that the host offers to git: name or URL → the folder of a repository, whose pushes
    wait under `refs/quarantine/`, or a function of each push (see `agentsandbox.git.offers`)."""
    script_errexit: ScriptErrexit
    """Which script files stop at the first error, as with `set -e`: "sh" for `sh FILE` and files
    that begin with `#!/bin/sh` or without `#!`, "always" for those in bash as well, or "never"."""
    jobs: Jobs
    """Whether background jobs continue in the next execution, are waited for, or are killed."""
    isolation: Isolation
    """Where scripts run: in the host's own process ("thread"), or in a process of their own that
    the kernel confines ("process", Linux only)."""
    on_command: Policy | None
    """Called before each simple command; it may refuse the command (see `policy`)."""
    on_event: Observer | None
    """Called with each event (see `events`)."""
    clock: Callable[[], float] | None
    """Returns the time in seconds since the epoch; the host's clock by default."""
    seed: int | None
    """Makes $RANDOM, `shuf` and `mktemp` repeatable."""

    def __init__(self, **options: Unpack[SandboxKeywords]) -> None:
        _fill(self, DEFAULTS, options)

    def clone(self, **changes: Unpack[SandboxKeywords]) -> SandboxOptions:
        """Return a copy with `changes`, which are checked."""
        twin = SandboxOptions.__new__(SandboxOptions)
        _fill(twin, self.as_dict(), changes)
        return twin

    def own_commands(self) -> tuple[Command, ...]:
        """Return the host's commands, and those of the runtimes that it does not replace."""
        return all_commands(self.commands, self.python, self.javascript, self.aliases, self.sudo)

    def as_dict(self) -> SandboxKeywords:
        """Return every option by name, as `Sandbox` takes them."""
        return {name: getattr(self, name) for name in DEFAULTS}  # type: ignore[return-value]

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"SandboxOptions are immutable: use options.clone({name}=…)")

    def __delattr__(self, name: str) -> None:
        raise AttributeError("SandboxOptions are immutable: use options.clone(…)")

    if not TYPE_CHECKING:  # a type checker knows the attributes, and must refuse the others

        def __getattr__(self, name: str) -> object:
            from agentsandbox.runtime.arguments import nearest

            hint = (
                "; options.clone(…) makes a changed copy"
                if name in ("copy", "model_copy", "replace")
                else nearest(name, DEFAULTS)
            )
            raise AttributeError(f"SandboxOptions has no attribute {name!r}{hint}")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SandboxOptions) and self.as_dict() == other.as_dict()

    __hash__ = None  # type: ignore[assignment]  # mappings are not hashable

    def __reduce__(self) -> tuple[Callable[..., SandboxOptions], tuple[dict[str, object]]]:
        plain = {
            name: dict(value) if isinstance(value, MappingProxyType) else value
            for name, value in self.as_dict().items()
        }
        return _remade, (plain,)

    def __repr__(self) -> str:
        changed = {name: value for name, value in self.as_dict().items() if value != DEFAULTS[name]}
        shown = ", ".join(f"{name}={_shown(value)}" for name, value in changed.items())
        return f"SandboxOptions({shown})"


def _fill(options: SandboxOptions, base: Mapping[str, Any], given: Mapping[str, Any]) -> None:
    """Set every slot to the given value, which is checked here, or to that of `base`."""
    values = base
    if given:
        from agentsandbox.runtime.arguments import checked_options

        values = {**base, **checked_options(given)}
    for name, value in values.items():
        object.__setattr__(options, name, value)


def _remade(options: dict[str, Any]) -> SandboxOptions:
    """Unpickle options, which checks them again."""
    return SandboxOptions(**options)


def _shown(value: object) -> str:
    """Return a value for `repr`; of mappings only the names, because variables may hold secrets."""
    if isinstance(value, MappingProxyType):
        return "{" + ", ".join(f"{name!r}: …" for name in value) + "}"
    return repr(value)


def check_identity(id: object, options: object) -> None:
    """Refuse an `id` that is not a str, above all options, and `options` of another type."""
    from collections.abc import Mapping

    from agentsandbox.runtime.arguments import wrong_type

    if isinstance(id, SandboxOptions):
        raise TypeError("id must be a str, not SandboxOptions: give them by name, options=…")
    if id is not None and not isinstance(id, str):
        raise wrong_type("id", "a str", id, "options are given by name, limits=…")
    if id == "":
        raise ValueError("id must not be empty")
    if options is not None and not isinstance(options, SandboxOptions):
        hint = (
            "SandboxOptions(**mapping) makes one of a mapping"
            if isinstance(options, Mapping)
            else ""
        )
        raise wrong_type("options", "a SandboxOptions", options, hint)


DEFAULT_OPTIONS = SandboxOptions()


def all_commands(
    commands: Sequence[Command],
    python: PythonRuntime | None,
    javascript: JavaScriptRuntime | None,
    aliases: Mapping[str, str],
    sudo: bool,
) -> tuple[Command, ...]:
    """Return the host's commands, and those that options bring and that it does not replace."""
    further: list[Command] = []
    if python is not None:
        from agentsandbox.python.command import python_commands

        further += python_commands(python)
    if javascript is not None:
        further.append(javascript.node)
    if sudo:
        from agentsandbox.commands._optional.sudo import sudo as of_sudo

        further.append(of_sudo)
    if aliases:
        from agentsandbox.commands._optional.aliases import make_alias

        further += [make_alias(name, text) for name, text in aliases.items()]
    names = {command.name for command in commands}
    return (*commands, *(command for command in further if command.name not in names))
