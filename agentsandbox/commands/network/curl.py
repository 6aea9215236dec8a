"""`curl`: refused by name, for a sandbox has no network of its own."""

from __future__ import annotations

from agentsandbox.commands.network.refusals import host_of
from agentsandbox.contract.command import Arguments, CommandContext, command
from agentsandbox.contract.manners import SILENT, Manners
from agentsandbox.kernel.streams import encode


@command(
    "curl",
    manners=Manners(write_error=SILENT),
    usage="""
    Usage: curl [options...] <url>
    Transfer data from a server: not available, this sandbox has no network. The program that runs
    it has to fetch what is needed and put it into a file, or give the sandbox a command of its own
    that does.
    """,
    raw=True,
)
def curl(ctx: CommandContext, args: Arguments) -> int:
    words = args.operands
    if not words:
        ctx.stderr.write(b"curl: try 'curl --help' or 'curl --manual' for more information\n")
        return 2
    if words[0] in ("-h", "--help"):
        ctx.print(curl.usage, end="")
        return 0
    ctx.stderr.write(
        encode(
            f"curl: (6) Could not resolve host: {host_of(words)}\n"
            "curl: this sandbox has no network; "
            "the host program must provide the data as a file or a command\n"
        )
    )
    return 6
