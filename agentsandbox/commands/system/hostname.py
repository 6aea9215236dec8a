"""`hostname` (Debian): the name of the host."""

from __future__ import annotations

from agentsandbox.contract.command import Arguments, CommandContext, command
from agentsandbox.contract.manners import SILENT, Manners, Release
from agentsandbox.errors import CommandError
from agentsandbox.kernel.streams import encode

_MISUSED = 255


@command(
    "hostname",
    manners=Manners(Release("NAME 3.23", "-V, --version"), pure=True, write_error=SILENT),
    usage_status=_MISUSED,
    usage="""
    Usage: hostname [-a|-A|-d|-f|-i|-I|-s]
    Show the host's name. It cannot be changed from inside.

      -a, --alias             alias names (none)
      -A, --all-fqdns         all long host names: none, there is no network
      -d, --domain            DNS domain name (none)
      -f, --fqdn, --long      long host name
      -i, --ip-address        address of the host name: the loopback address
      -I, --all-ip-addresses  all addresses: none, there is no network
      -s, --short             short host name
      -h, --help              display this help and exit
    """,
)
def hostname(ctx: CommandContext, args: Arguments) -> int:
    name = ctx.host.hostname
    short, _, domain = name.partition(".")
    answers = {
        "alias": "", "all-fqdns": "", "short": short, "domain": domain, "ip-address": "127.0.0.1",
        "all-ip-addresses": "", "fqdn": name,
    }  # fmt: skip
    chosen = args.last(*answers)
    if len(args.operands) > (chosen is None):
        ctx.stderr.write(encode(hostname.usage))
        return _MISUSED
    if args.operands:
        raise CommandError("you must be root to change the host name")
    if chosen != "domain" or domain:
        ctx.print(name if chosen is None else answers[chosen])
    return 0
