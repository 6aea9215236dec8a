"""`uname` (POSIX 1003.1-2017, GNU coreutils): what system this is."""

from __future__ import annotations

from agentsandbox.commands._suites import COREUTILS
from agentsandbox.commands._text.quoting import quote
from agentsandbox.contract.command import Arguments, CommandContext, command
from agentsandbox.contract.manners import Manners
from agentsandbox.errors import UsageError

_ORDER = (
    "kernel-name", "nodename", "kernel-release", "kernel-version", "machine", "processor",
    "hardware-platform", "operating-system",
)  # fmt: skip


@command(
    "uname",
    manners=Manners(
        COREUTILS,
        pure=True,
        long_options="""
            all kernel-name sysname nodename kernel-release release kernel-version
            machine processor hardware-platform operating-system help version
        """,
    ),
    usage="""
    Usage: uname [OPTION]...
    Print certain system information; with no OPTION, same as -s.

      -a, --all                print all information but what is unknown
      -s, --kernel-name        print the kernel name
      -n, --nodename           print the network node hostname
      -r, --kernel-release     print the kernel release
      -v, --kernel-version     print the kernel version
      -m, --machine            print the machine hardware name
      -p, --processor          print the processor type (unknown)
      -i, --hardware-platform  print the hardware platform (unknown)
      -o, --operating-system   print the operating system
          --help               display this help and exit
    """,
)
def uname(ctx: CommandContext, args: Arguments) -> int:
    if args.operands:
        raise UsageError(f"extra operand {quote(args.operands[0])}")
    values = {
        "kernel-name": "Linux",
        "nodename": ctx.host.hostname,
        "kernel-release": "6.1.0",
        "kernel-version": "#1 SMP",
        "machine": "x86_64",
        "processor": "unknown",
        "hardware-platform": "unknown",
        "operating-system": "GNU/Linux",
    }
    everything = args.flag("all")
    wanted = [key for key in _ORDER if args.flag(key) or (everything and values[key] != "unknown")]
    ctx.print(" ".join([values[key] for key in wanted or ["kernel-name"]]))
    return 0
