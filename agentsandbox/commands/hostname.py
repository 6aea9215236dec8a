"""`hostname` (Debian): the name of the host."""

from __future__ import annotations

from agentsandbox.command import Arguments, CommandContext, command
from agentsandbox.errors import CommandError


@command(
    "hostname",
    usage="""
    Usage: hostname [-f|-s|-i|-I|-d]
    Show the host's name. It cannot be changed from inside.

      -f, --fqdn, --long      long host name
      -s, --short             short host name
      -d, --domain            DNS domain name (none)
      -i, --ip-address        address of the host name: the loopback address
      -I, --all-ip-addresses  all addresses: none, there is no network
      -h, --help              display this help and exit
    """,
)
def hostname(ctx: CommandContext, args: Arguments) -> int:
    if args.flag("help"):
        ctx.print(hostname.usage, end="")
        return 0
    if len(args.operands) > 1:
        ctx.print(hostname.usage, end="")
        return 255
    if args.operands:
        raise CommandError("you must be root to change the host name")
    answers = {
        "short": ctx.host.hostname.partition(".")[0],
        "domain": ctx.host.hostname.partition(".")[2],
        "ip-address": "127.0.0.1",
        "all-ip-addresses": "",
    }
    chosen = args.last("fqdn", *answers)
    answer = answers.get(chosen or "", ctx.host.hostname)
    if answer or chosen != "domain":
        ctx.print(answer)
    return 0
