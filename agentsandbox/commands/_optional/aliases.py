"""Commands that run other commands: the option `aliases` of a sandbox."""

from __future__ import annotations

import shlex

from agentsandbox.contract.command import command
from agentsandbox.contract.manners import Manners

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.contract.command import Arguments, Command, CommandContext


def make_alias(name: str, text: str) -> Command:
    """Return the command `name`, which runs the words of `text` before its own words."""
    words = shlex.split(text)

    @command(
        name,
        usage=f"Usage: {name} [ARG]...\nRun `{text}` with these arguments: the host says so.\n",
        raw=True,
        manners=Manners(unbuffered=True),
    )
    def alias(ctx: CommandContext, args: Arguments) -> int:
        return ctx.run([*words, *ctx.words])

    return alias
