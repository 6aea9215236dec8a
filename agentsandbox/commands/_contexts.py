"""Security contexts: files of a sandbox have none, as on a kernel without SELinux."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.command import Arguments, CommandContext

__all__ = ["warn_of_context"]


def warn_of_context(ctx: CommandContext, args: Arguments, kernel: str = "SELinux") -> None:
    """Tell that the context of `--context=CTX` is ignored; a mere `-Z` is silent."""
    if args.value("context"):
        ctx.warn(f"warning: ignoring --context; it requires an {kernel}-enabled kernel", ctx.status)
