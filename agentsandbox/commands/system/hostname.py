"""`hostname` (Debian): the name of the host."""

from __future__ import annotations

from agentsandbox.contract.command import Arguments, CommandContext, command
from agentsandbox.contract.manners import SILENT, Manners, Release
from agentsandbox.contract.usage import OptionParser
from agentsandbox.errors import CommandError, UsageError
from agentsandbox.kernel.streams import decode, encode

_NAMING = "-0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ."
_MISUSED = 255


@command(
    "hostname",
    manners=Manners(Release("NAME 3.23", "-V, --version"), pure=True, write_error=SILENT),
    raw=True,
    usage="""
    Usage: hostname [-a|-A|-d|-f|-i|-I|-s|-y]
      or:  hostname [-b] NAME|-F FILE
    Show the host's name. It cannot be changed from inside.

      -a, --alias             alias names (none)
      -A, --all-fqdns         all long host names: none, there is no network
      -b, --boot              set a default name if there is none: there is one
      -d, --domain            DNS domain name (none)
      -f, --fqdn, --long      long host name
      -F, --file=FILE         read the name to set from FILE
      -i, --ip-address        address of the host name: the loopback address
      -I, --all-ip-addresses  all addresses: none, there is no network
      -s, --short             short host name
      -y, --yp, --nis         NIS domain name (none)
      -h, --help              display this help and exit
    """,
)
def hostname(ctx: CommandContext, args: Arguments) -> int:
    try:
        found = OptionParser(hostname.usage).parse(args.operands)
    except UsageError as error:
        ctx.warn(error.message, _MISUSED)
        ctx.print(hostname.usage, end="")
        return ctx.status
    if found.flag("help"):
        ctx.print(hostname.usage, end="")
        return 0
    if found.flag("version"):
        ctx.stdout.write(encode(hostname.version()))
        return 0
    return _answer(ctx, found)


def _answer(ctx: CommandContext, args: Arguments) -> int:
    name = ctx.host.hostname
    answers = {
        "alias": "", "all-fqdns": "", "short": name.partition(".")[0], "domain": name.partition(".")[2], "ip-address": "127.0.0.1",
        "all-ip-addresses": "", "fqdn": name, "yp": "",
    }  # fmt: skip
    chosen = args.last(*answers)
    if chosen is not None or len(args.operands) > 1:
        if args.operands:
            ctx.stderr.write(encode(hostname.usage))
            return _MISUSED
        if chosen == "yp":
            ctx.print("hostname: Local domain name not set")
            return 1
        if chosen != "domain" or answers["domain"]:
            ctx.print(answers[chosen or ""])
        return 0
    file = args.value("file")
    if file is not None:
        _set(_read(ctx, file))
    if args.operands:
        _set(args.operands[0])
    ctx.print(name)
    return 0


def _read(ctx: CommandContext, file: str) -> str:
    """The first line that is no comment."""
    try:
        source = ctx.open_input(file)
    except OSError as error:
        raise CommandError(error.strerror or "") from None
    for line in source.lines():
        ctx.budget.step()
        if line.strip() and not line.startswith(b"#"):
            return decode(line.strip())
    return ""


def _set(name: str) -> None:
    if not name or name.strip(_NAMING):
        raise CommandError("the specified hostname is invalid")
    raise CommandError("you must be root to change the host name")
