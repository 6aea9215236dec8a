"""`wget`: refused by name, for a sandbox has no network of its own."""

from __future__ import annotations

from agentsandbox.commands.network.refusals import host_of
from agentsandbox.contract.command import Arguments, CommandContext, command
from agentsandbox.kernel.streams import encode


@command(
    "wget",
    usage="""
    Usage: wget [OPTION]... [URL]...
    Download files: not available, this sandbox has no network. The program that runs it has to
    fetch what is needed and put it into a file, or give the sandbox a command of its own that does.
    """,
    raw=True,
)
def wget(ctx: CommandContext, args: Arguments) -> int:
    words = args.operands
    if not words:
        ctx.stderr.write(
            b"wget: missing URL\nUsage: wget [OPTION]... [URL]...\n\n"
            b"Try `wget --help' for more options.\n"
        )
        return 1
    if words[0] in ("-h", "--help"):
        ctx.print(wget.usage, end="")
        return 0
    ctx.stderr.write(
        encode(
            f"wget: unable to resolve host address ‘{host_of(words)}’\n"
            "wget: this sandbox has no network; "
            "the host program must provide the data as a file or a command\n"
        )
    )
    return 4
