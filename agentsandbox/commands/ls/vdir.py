"""`vdir` (GNU coreutils): `ls -l -b`."""

from __future__ import annotations

from agentsandbox.commands.ls.ls import MANNERS, USAGE, list_files
from agentsandbox.commands.ls.options import READERS
from agentsandbox.contract.command import Arguments, CommandContext, command


@command(
    "vdir", usage=USAGE.replace("{name}", "vdir"), usage_status=2, values=READERS, manners=MANNERS
)
def vdir(ctx: CommandContext, args: Arguments) -> int:
    return list_files(ctx, args, "long", "escape")
