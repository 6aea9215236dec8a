"""What the environment says of characters: bytes in the locale C, UTF-8 in every other."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.command import CommandContext

__all__ = ["is_bytewise"]


def is_bytewise(ctx: CommandContext, category: str = "LC_CTYPE") -> bool:
    """Whether the environment chooses the locale C for `category`. What names no locale is UTF-8, as in the shell."""
    env = ctx.env
    return (env.get("LC_ALL") or env.get(category) or env.get("LANG")) in ("C", "POSIX")
