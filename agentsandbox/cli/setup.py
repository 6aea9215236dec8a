"""A sandbox from the options of the command line."""

from __future__ import annotations

from agentsandbox.cli.printing import complain, words_of
from agentsandbox.cli.skills import all_folders, load_skill
from agentsandbox.errors import SandboxError, SkillError
from agentsandbox.kernel.fs.host import HostFileSystem
from agentsandbox.kernel.fs.overlay import OverlayFileSystem
from agentsandbox.limits import DEFAULT_LIMITS, Limits
from agentsandbox.sandbox import Sandbox

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Sequence

    from agentsandbox.kernel.fs.base import FileSystem
    from agentsandbox.skills import AgentSkill


class SetupError(Exception):
    """An option of the command line that cannot be used."""


def with_sandbox(options: argparse.Namespace, use: Callable[[Sandbox], int]) -> int:
    """Return the status of `use` for the options' sandbox, or 2 if they cannot be used."""
    try:
        sandbox = make_sandbox(options)
    except SetupError as error:
        complain(error)
        return 2
    with sandbox:
        return use(sandbox)


def serve_mcp(sandbox: Sandbox) -> int:
    """Serve the sandbox's tools on standard input and output until the client disconnects."""
    import asyncio

    from agentsandbox.profiles.agentsandbox import tools

    try:
        from agentsandbox.integrations.mcp import create_server, serve_stdio
    except SandboxError as error:
        complain(error)
        return 2
    asyncio.run(serve_stdio(create_server(tools(sandbox))))
    return 0


def make_sandbox(options: argparse.Namespace) -> Sandbox:
    """Return the sandbox for the options; `SetupError` if they cannot be used."""
    try:
        return Sandbox(
            skills=[_skill(folder) for folder in all_folders(options.skill)],
            mounts=_mounts(options.mount),
            limits=_limits(options.limit),
            env=dict(_variable(text) for text in options.env),
            cwd=options.cwd,
            python=options.python,
            isolation=options.isolation,
            script_errexit=options.script_errexit,
        )
    except (SandboxError, SkillError, ValueError, TypeError, OSError) as error:
        raise SetupError(words_of(error)) from None


def _skill(folder: str) -> AgentSkill:
    try:
        return load_skill(folder)
    except SkillError as error:
        raise SetupError(f"{folder}: {error}") from None


def _variable(text: str) -> tuple[str, str]:
    name, value = _pair(text, "--env")
    if not (name.isascii() and name.isidentifier()):
        raise SetupError(f"--env: {name!r} cannot be a variable's name")
    return name, value


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


def _mounts(texts: Sequence[str]) -> dict[str, FileSystem]:
    mounts: dict[str, FileSystem] = {}
    for text in texts:
        path, filesystem = _mount(text)
        if path in mounts:
            raise SetupError(f"--mount: two folders for {path}")
        mounts[path] = filesystem
    return mounts


def _mount(text: str) -> tuple[str, FileSystem]:
    """Return the path and the filesystem of HOST:PATH[:ro|overlay|rw]."""
    parts = text.split(":")
    mode = "ro"
    if len(parts) > 2 and parts[-1] in ("ro", "overlay", "rw"):
        mode = parts.pop()
    if len(parts) != 2 or not parts[1].startswith("/"):
        raise SetupError(
            f"--mount takes HOST:PATH[:ro|overlay|rw] with an absolute PATH, not {text!r}"
        )
    host, path = parts
    filesystem: FileSystem = HostFileSystem(host, read_only=mode != "rw")
    return path, OverlayFileSystem(filesystem) if mode == "overlay" else filesystem
