"""`lscpu` (util-linux 2.38): what processors there are."""

from __future__ import annotations

from agentsandbox.commands._suites import UTIL_LINUX
from agentsandbox.contract.command import Arguments, CommandContext, command
from agentsandbox.contract.manners import Manners
from agentsandbox.errors import UsageError

_COLUMN = 33


def _facts(ctx: CommandContext) -> list[tuple[str, str]]:
    """Return what /proc/cpuinfo says, in the order of the real one."""
    found: dict[str, str] = {}
    for line in ctx.fs.read_text("/proc/cpuinfo").splitlines():
        name, _, value = line.partition(":")
        found.setdefault(name.strip(), value.strip())
    return [
        ("Architecture", "x86_64"),
        ("CPU op-mode(s)", "32-bit, 64-bit"),
        ("Byte Order", "Little Endian"),
        ("CPU(s)", "1"),
        ("On-line CPU(s) list", "0"),
        ("Vendor ID", found.get("vendor_id", "unknown")),
        ("Model name", found.get("model name", "sandbox")),
        ("CPU family", found.get("cpu family", "6")),
        ("Model", found.get("model", "1")),
        ("Thread(s) per core", "1"),
        ("Core(s) per socket", "1"),
        ("Socket(s)", "1"),
        ("Stepping", found.get("stepping", "1")),
        ("BogoMIPS", found.get("bogomips", "2000.00")),
        ("Flags", found.get("flags", "")),
        ("NUMA node(s)", "1"),
        ("NUMA node0 CPU(s)", "0"),
    ]


@command(
    "lscpu",
    manners=Manners(UTIL_LINUX, pure=True),
    usage="""
    Usage: lscpu [OPTION]...
    Print what processors there are: a sandbox has one.

      -J, --json     print it as JSON
      -p, --parse    a line for each processor, for programs
      -h, --help     display this help and exit
    """,
)
def lscpu(ctx: CommandContext, args: Arguments) -> int:
    if args.operands:
        raise UsageError("bad usage")
    if args.flag("parse"):
        ctx.print(
            "# The following is the parsable format, which can be fed to other\n"
            "# programs. Each different item in every column has an unique ID\n"
            "# starting usually from zero.\n"
            "# CPU,Core,Socket,Node,,L1d,L1i,L2,L3\n0,0,0,0,,0,0,0,0"
        )
    elif args.flag("json"):
        import json

        rows = [{"field": f"{name}:", "data": value} for name, value in _facts(ctx)]
        ctx.print(json.dumps({"lscpu": rows}, indent=3))
    else:
        for name, value in _facts(ctx):
            ctx.print(f"{name + ':':<{_COLUMN}}{value}")
    return 0
