"""A virtual filesystem, a bash-compatible shell and mounted Agent Skills, in the Python process."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.analysis import analyze
    from agentsandbox.contract.command import Arguments, Command, CommandContext, command
    from agentsandbox.errors import (
        ArchiveError,
        ClosedError,
        CommandError,
        InvalidSkillError,
        MountError,
        RepositoryError,
        RevisionError,
        SandboxError,
        ShellSyntaxError,
        SkillError,
        UsageError,
    )
    from agentsandbox.files import FileInfo, Match, SandboxFiles
    from agentsandbox.host_input import HostInput
    from agentsandbox.javascript.runtime import JavaScriptRuntime
    from agentsandbox.kernel.fs.base import FileSystem
    from agentsandbox.kernel.fs.changes import Change
    from agentsandbox.kernel.fs.host import HostFileSystem
    from agentsandbox.kernel.fs.memory import MemoryFileSystem
    from agentsandbox.kernel.fs.overlay import OverlayFileSystem
    from agentsandbox.limits import Limits
    from agentsandbox.manager import SandboxManager
    from agentsandbox.network import NetworkPolicy
    from agentsandbox.options import SandboxOptions
    from agentsandbox.policy import CommandRequest
    from agentsandbox.python.runtime import PythonRuntime
    from agentsandbox.result import ExecutionError, ExecutionResult
    from agentsandbox.review import (
        GitChange,
        GitCommit,
        GitDiff,
        GitPatch,
        GitPerson,
        SandboxGit,
    )
    from agentsandbox.runtime.streaming import AsyncOutputStream, OutputStream
    from agentsandbox.sandbox import Sandbox, Snapshot
    from agentsandbox.skills import AgentSkill, SkillInfo, SkillMetadata
    from agentsandbox.stats import Stats

    __version__: str

__all__ = [
    "AgentSkill",
    "ArchiveError",
    "Arguments",
    "AsyncOutputStream",
    "Change",
    "ClosedError",
    "Command",
    "CommandContext",
    "CommandError",
    "CommandRequest",
    "ExecutionError",
    "ExecutionResult",
    "FileInfo",
    "FileSystem",
    "GitChange",
    "GitCommit",
    "GitDiff",
    "GitPatch",
    "GitPerson",
    "HostFileSystem",
    "HostInput",
    "InvalidSkillError",
    "JavaScriptRuntime",
    "Limits",
    "Match",
    "MemoryFileSystem",
    "MountError",
    "NetworkPolicy",
    "OutputStream",
    "OverlayFileSystem",
    "PythonRuntime",
    "RepositoryError",
    "RevisionError",
    "Sandbox",
    "SandboxError",
    "SandboxFiles",
    "SandboxGit",
    "SandboxManager",
    "SandboxOptions",
    "ShellSyntaxError",
    "SkillError",
    "SkillInfo",
    "SkillMetadata",
    "Snapshot",
    "Stats",
    "UsageError",
    "analyze",
    "command",
]

_HOMES = {
    "analyze": "analysis",
    "Arguments": "contract.command",
    "Command": "contract.command",
    "command": "contract.command",
    "CommandContext": "contract.command",
    "CommandRequest": "policy",
    "FileInfo": "files",
    "FileSystem": "kernel.fs.base",
    "GitChange": "review",
    "GitCommit": "review",
    "GitDiff": "review",
    "GitPatch": "review",
    "GitPerson": "review",
    "HostFileSystem": "kernel.fs.host",
    "HostInput": "host_input",
    "JavaScriptRuntime": "javascript.runtime",
    "Limits": "limits",
    "Match": "files",
    "MemoryFileSystem": "kernel.fs.memory",
    "NetworkPolicy": "network",
    "Sandbox": "sandbox",
    "SandboxFiles": "files",
    "SandboxGit": "review",
    "SandboxManager": "manager",
    "SandboxOptions": "options",
    "Snapshot": "sandbox",
    "Stats": "stats",
    "Change": "kernel.fs.changes",
    "OverlayFileSystem": "kernel.fs.overlay",
    "OutputStream": "runtime.streaming",
    "PythonRuntime": "python.runtime",
    "AsyncOutputStream": "runtime.streaming",
    "ExecutionError": "result",
    "ExecutionResult": "result",
    "AgentSkill": "skills",
    "SkillInfo": "skills",
    "SkillMetadata": "skills",
    "__version__": "version",
}
"""The module of each public name that is not an error; imported when the name is first used."""


if not TYPE_CHECKING:  # a type checker knows the names from above, and must refuse all others

    def __getattr__(name: str) -> object:
        if name not in __all__ and name != "__version__":
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        home = __import__(f"{__name__}.{_HOMES.get(name, 'errors')}", fromlist=[name])
        value = getattr(home, name)
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
