"""`bc` (POSIX 1003.1-2017, GNU bc 1.07.1): an arbitrary precision calculator language."""

from __future__ import annotations

import errno

from agentsandbox.contract.command import Arguments, CommandContext, command
from agentsandbox.contract.manners import Manners
from agentsandbox.kernel.streams import decode


@command(
    "bc",
    manners=Manners(
        long_options="compile help interactive mathlib quiet standard version warn",
        read_error=("(standard_in) 1: read() in flex scanner failed", 1),
        write_error=("dc: could not write output file: REASON", 1),
    ),
    usage="""
    Usage: bc [OPTION]... [FILE]...
    Calculate with numbers of any length: run each FILE, then standard input.

      -l, --mathlib      define s c a l e j and set scale to 20
      -q, --quiet        print no banner (it is never printed)
      -i, --interactive  (accepted: there is no banner)
      -v, --version      print the version and exit
      -h, --help         display this help and exit
    """,
)
def bc(ctx: CommandContext, args: Arguments) -> int:
    from agentsandbox.commands.bc.machine import Machine
    from agentsandbox.commands.bc.program import Program

    if args.flag("version"):
        ctx.print("bc 1.07.1\nA command of agentsandbox, written to behave like this release.")
        return 0
    machine = Machine(ctx, library=args.flag("mathlib"))
    try:
        for name in args.operands:
            try:
                source = ctx.open_input(name)
                text = decode(source.read())
            except OSError as error:
                unread = f"{name} 1: read() in flex scanner failed"
                machine.complain(
                    unread if error.errno == errno.EISDIR else f"File {name} is unavailable."
                )
                return 1
            if not Program(machine, name, text).run():
                return 0
        Program(machine).run()
    finally:
        machine.output.flush()
    return 0
