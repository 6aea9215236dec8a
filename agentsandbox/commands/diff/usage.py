"""How the programs of diffutils answer a wrong call: the hint bears the program's name."""

from __future__ import annotations

from agentsandbox.contract.command import CommandContext
from agentsandbox.errors import CommandError, UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable


def with_hint(ctx: CommandContext, run: Callable[[], int], usage: str) -> int:
    """Run it; `--help` prints the usage, a `UsageError` becomes two lines that both begin with the
    command's name.
    """
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
