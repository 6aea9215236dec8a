"""`vdir` (GNU coreutils): `ls -l -b`."""

from __future__ import annotations

from agentsandbox.command import Arguments, CommandContext, command
from agentsandbox.commands._ls_options import READERS
from agentsandbox.commands.ls import MANNERS, USAGE, list_files


@command("vdir", usage=USAGE.replace("{name}", "vdir"), usage_status=2, values=READERS, manners=MANNERS)
def vdir(ctx: CommandContext, args: Arguments) -> int:
    return list_files(ctx, args, "long", "escape")
