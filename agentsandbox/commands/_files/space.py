"""The size of the sandbox's filesystem, for `df` and `stat -f`."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.contract.command import CommandContext


class Space:
    """The limits of the sandbox as the size of its disk; `used` counts what is stored."""

    __slots__ = ("files", "free", "free_files", "total", "used", "used_files")

    def __init__(self, ctx: CommandContext) -> None:
        limits = ctx.budget.limits
        self.total = limits.total_bytes
        self.files = limits.files
        self.used = min(self.total, int(getattr(ctx.fs, "used_bytes", 0)))
        self.used_files = min(self.files, int(getattr(ctx.fs, "used_files", 0)))
        self.free = self.total - self.used
        self.free_files = self.files - self.used_files

    def mount_point(self, path: str) -> str:
        """Return the mount point of a canonical path: there is one filesystem."""
        return "/" if path else ""
