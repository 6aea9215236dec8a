"""The sandbox's processes as `ps`, `pgrep`, `pkill` and `kill` see them."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.contract.command import CommandContext
    from agentsandbox.kernel.processes import Process

_NAME = 15
"""Characters of a command's name that the kernel keeps."""


def running(ctx: CommandContext) -> list[Process]:
    """Return all processes by number, the shell first."""
    scheduler = ctx.host.scheduler
    return sorted([scheduler.main, *scheduler.processes], key=lambda process: process.pid)


def command_name(process: Process) -> str:
    """Return the name of the program, without its directory and arguments."""
    return process.name.partition(" ")[0].rpartition("/")[2][:_NAME]


def parent_pid(ctx: CommandContext, process: Process) -> int:
    """Return the number of the parent: the shell, or 1 for the shell itself."""
    return 1 if process is ctx.host.scheduler.main else ctx.host.scheduler.main.pid
