"""The commands of a Python runtime, as a sandbox lists them; each loads what it does to run."""

from __future__ import annotations

from agentsandbox.contract.command import command

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from agentsandbox.contract.command import Arguments, Command, CommandContext
    from agentsandbox.python.runtime import PythonRuntime

_USAGES = {
    "python3": "Usage: python3 [OPTION]... [-c CMD | -m MODULE | FILE | -] [ARG]...\n"
    "Run a Python program.\n",
    "pip": "Usage: pip COMMAND [OPTION]...\nInstall and list Python packages.\n",
    "uv": "Usage: uv COMMAND [OPTION]...\nRun Python programs with the packages they require.\n",
}
_NAMES = {"python3": "python3", "python": "python3", "pip": "pip", "pip3": "pip", "uv": "uv"}
"""The command whose usage a name has."""


def python_commands(runtime: PythonRuntime) -> Sequence[Command]:
    """Return the commands of a runtime, the same ones each time."""
    if runtime.made is None:
        runtime.made = [
            command(name, _USAGES[usage].replace(f" {usage} ", f" {name} "), raw=True)(
                _starter(runtime, name)
            )
            for name, usage in _NAMES.items()
        ]
        for name in runtime.package_programs():
            usage = f"Usage: {name} [ARG]...\nRun {name}, a program of the runtime's packages.\n"
            runtime.made.append(command(name, usage, raw=True)(_starter(runtime, name)))
    return runtime.made


def _starter(runtime: PythonRuntime, name: str) -> Callable[[CommandContext, Arguments], int]:
    def start(ctx: CommandContext, args: Arguments) -> int:
        del args
        from agentsandbox.python.programs import program

        return program(runtime, name).run(ctx)

    start.__name__ = name
    return start
