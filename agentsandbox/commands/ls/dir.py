"""`dir` (GNU coreutils): `ls -C -b`."""

from __future__ import annotations

from agentsandbox.commands.ls.ls import MANNERS, USAGE, list_files
from agentsandbox.commands.ls.options import READERS
from agentsandbox.contract.command import Arguments, CommandContext, command


@command(
    "dir", usage=USAGE.replace("{name}", "dir"), usage_status=2, values=READERS, manners=MANNERS
)
def dir(ctx: CommandContext, args: Arguments) -> int:
    return list_files(ctx, args, "vertical", "escape")
