"""`dir` (GNU coreutils): `ls -C -b`."""

from __future__ import annotations

from agentsandbox.command import Arguments, CommandContext, command
from agentsandbox.commands._ls_options import READERS
from agentsandbox.commands.ls import MANNERS, USAGE, list_files


@command("dir", usage=USAGE.replace("{name}", "dir"), usage_status=2, values=READERS, manners=MANNERS)
def dir(ctx: CommandContext, args: Arguments) -> int:
    return list_files(ctx, args, "vertical", "escape")
