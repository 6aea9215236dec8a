"""`hd` is `hexdump -C`."""

from __future__ import annotations

from agentsandbox.commands.dumps.hexdump import hexdump
from agentsandbox.contract.command import Arguments, CommandContext, command
from agentsandbox.contract.manners import SILENT, Manners


@command(
    "hd",
    manners=Manners(
        long_options=hexdump.manners.long_options,
        read_error=("NAME: hd: REASON", 0),
        closed_write_error=SILENT,
    ),
    usage=hexdump.usage.replace("hexdump", "hd"),
)
def hd(ctx: CommandContext, args: Arguments) -> int:
    args.given.insert(0, ("canonical", None))
    status = hexdump.function(ctx, args)
    assert isinstance(status, int)
    return status
