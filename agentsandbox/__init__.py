"""agentsandbox: a virtual filesystem, a bash-compatible shell and mounted Agent Skills, inside the Python process."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.sandbox import Sandbox as Sandbox

__version__ = "0.1.0"

_HOMES = {
    "AgentSkill": "skills",
    "Arguments": "command",
    "ClosedError": "errors",
    "Command": "command",
    "CommandContext": "command",
    "CommandError": "errors",
    "ExecutionError": "errors",
    "ExecutionResult": "result",
    "InvalidSkillError": "errors",
    "Limits": "limits",
    "NetworkPolicy": "network",
    "Sandbox": "sandbox",
    "SandboxError": "errors",
    "SandboxManager": "manager",
    "SandboxOptions": "options",
    "ShellSyntaxError": "errors",
    "SkillInfo": "skills",
    "SkillMetadata": "skills",
    "Snapshot": "sandbox",
    "UsageError": "errors",
    "command": "command",
}
__all__ = sorted(_HOMES)


def __getattr__(name: str) -> object:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import importlib

    value = getattr(importlib.import_module(f"{__name__}.{home}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
