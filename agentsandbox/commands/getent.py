"""`getent` (glibc 2.36): look up entries of the system's databases."""

from __future__ import annotations

from agentsandbox.commands._suites import GLIBC
from agentsandbox.contract.command import Arguments, CommandContext, command
from agentsandbox.contract.manners import Manners
from agentsandbox.kernel.streams import encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_FILES = {
    "group": "/etc/group",
    "gshadow": "/etc/gshadow",
    "passwd": "/etc/passwd",
    "shadow": "/etc/shadow",
}
"""Databases whose entries begin with a name and have a number in the third field."""
_TABLES = {
    "networks": "/etc/networks",
    "protocols": "/etc/protocols",
    "rpc": "/etc/rpc",
    "services": "/etc/services",
}
_HOSTS = ("hosts", "ahosts", "ahostsv4", "ahostsv6")
_HELP = "Try `getent --help' or `getent --usage' for more information.\n"


def _lines(ctx: CommandContext, path: str) -> Iterator[str]:
    if ctx.fs.exists(path):
        for line in ctx.fs.read_text(path).splitlines():
            ctx.budget.step()
            yield line


def _entries(ctx: CommandContext, path: str, keys: list[str]) -> int:
    """Print the entries with these names or numbers, or all of them."""
    lines = [line for line in _lines(ctx, path) if line and line[0] != "#"]
    if not keys:
        for line in lines:
            ctx.print(line)
        return 0
    status = 0
    for key in keys:
        at = 2 if key.isdigit() else 0
        found = [line for line in lines if line.split(":")[at : at + 1] == [key]]
        if found:
            ctx.print(found[0])
        else:
            status = 2
    return status


def _table(ctx: CommandContext, path: str, keys: list[str]) -> int:
    rows = [line.partition("#")[0].split() for line in _lines(ctx, path)]
    rows = [row for row in rows if len(row) > 1]
    status = 0
    for key in keys or [""]:
        found = [row for row in rows if not key or key in (row[0], *row[1:])]
        for row in found if not key else found[:1]:
            aliases = " ".join(row[1:])
            ctx.print(f"{row[0]:<21} {aliases}")
        status = status if found else 2
    return status


def _hosts(ctx: CommandContext, database: str, keys: list[str]) -> int:
    rows = [line.partition("#")[0].split() for line in _lines(ctx, "/etc/hosts")]
    rows = [row for row in rows if len(row) > 1]
    if database == "hosts" and not keys:
        for row in rows:
            ctx.print(f"{row[0]:<15} {' '.join(row[1:])}")
        return 0
    status = 0
    for key in keys:
        found = [row for row in rows if key in row]
        wanted = {"ahostsv4": False, "ahostsv6": True}.get(database)
        if wanted is not None:
            found = [row for row in found if (":" in row[0]) is wanted]
        if not found:
            status = 2
        elif database == "hosts":
            row = next((row for row in found if ":" in row[0]), found[0])
            ctx.print(f"{row[0]:<15} {' '.join(row[1:])}")
        else:
            for number, row in enumerate(sorted(found, key=lambda each: ":" not in each[0])):
                name = row[1] if not number else ""
                ctx.print(f"{row[0]:<15} STREAM {name}")
                ctx.print(f"{row[0]:<15} DGRAM  ")
                ctx.print(f"{row[0]:<15} RAW    ")
    return status


@command(
    "getent",
    manners=Manners(GLIBC),
    usage="""
    Usage: getent DATABASE [KEY]...
    Print entries of the sandbox's own /etc: ahosts, group, hosts, networks, passwd, protocols,
    services, shadow. There is no name service: only names in /etc/hosts are found.

          --help  display this help and exit

    The status is 0, 1 for an unknown database, 2 if a key was not found.
    """,
)
def getent(ctx: CommandContext, args: Arguments) -> int:
    if not args.operands:
        ctx.stderr.write(b"getent: wrong number of arguments\n")
        ctx.print(_HELP, end="")
        return 1
    database, *keys = args.operands
    if database in _FILES:
        return _entries(ctx, _FILES[database], keys)
    if database in _TABLES:
        return _table(ctx, _TABLES[database], keys)
    if database in _HOSTS:
        return _hosts(ctx, database, keys)
    ctx.stderr.write(encode(f"Unknown database: {database}\n"))
    ctx.print(_HELP, end="")
    return 1
