"""The sandbox's processes as `ps`, `pgrep` and `pkill` see them."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.command import CommandContext
    from agentsandbox.processes import Process

__all__ = ["running"]


def running(ctx: CommandContext) -> list[Process]:
    """All processes by number, the shell first."""
    scheduler = ctx.host.scheduler
    return sorted([scheduler.main, *scheduler.processes], key=lambda process: process.pid)
