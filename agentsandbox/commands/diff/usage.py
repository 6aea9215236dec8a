"""The answer of diff, cmp and patch to a wrong call: both lines begin with the program's name."""

from __future__ import annotations

from agentsandbox.contract.command import CommandContext
from agentsandbox.errors import CommandError, UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable


def with_hint(ctx: CommandContext, run: Callable[[], int], usage: str) -> int:
    """Run a command, or print its usage for `--help`; word a `UsageError` in two lines."""
    words = list(ctx.words)
    if "--help" in (words[: words.index("--")] if "--" in words else words):
        ctx.print(usage, end="")
        return 0
    try:
        return run()
    except UsageError as error:
        raise CommandError(
            f"{error.message}\n{ctx.name}: Try '{ctx.name} --help' for more information.", 2
        ) from None
