"""`dc` (GNU dc 1.4.1): a desk calculator in reverse Polish notation."""

from __future__ import annotations

import os

from agentsandbox.contract.command import Arguments, CommandContext, command
from agentsandbox.contract.manners import Manners
from agentsandbox.errors import CommandError
from agentsandbox.kernel.streams import InputError, decode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.commands.bc.stack import StackMachine


@command(
    "dc",
    manners=Manners(
        long_options="expression file help version",
        read_error=("NAME: error reading input: REASON", 1),
        write_error=("NAME: error writing to stdout: REASON", 1),
    ),
    usage="""
    Usage: dc [OPTION]... [FILE]...
    Calculate in reverse Polish notation with numbers of any length.

    Without an expression or a FILE, read standard input.

      -e, --expression=EXPR  run EXPR
      -f, --file=FILE        run what FILE contains
      -V, --version          print the version and exit
      -h, --help             display this help and exit

    Commands: p n f + - * / % ^ v c d r sR lR i o k I O K z [...] x <R >R =R q #
    """,
)
def dc(ctx: CommandContext, args: Arguments) -> int:
    from agentsandbox.commands.bc.stack import StackMachine

    if args.flag("version"):
        ctx.print("dc (GNU bc 1.07.1) 1.4.1")
        ctx.print("A command of agentsandbox, written to behave like this release.")
        return 0
    machine = StackMachine(ctx)
    programs = [*args.given, *(("file", name) for name in args.operands)] or [("file", "-")]
    try:
        for key, value in programs:
            is_string = key == "expression"
            text = (value or "") if is_string else _read(ctx, machine, value or "")
            status = machine.run(text, is_string=is_string)
            if status is not None:
                return status
    finally:
        machine.output.flush()
    return ctx.status


def _read(ctx: CommandContext, machine: StackMachine, name: str) -> str:
    """Return the text of a program; "" after a message for one that cannot be read."""
    try:
        data = ctx.open_input(name).read()
    except InputError as error:
        machine.output.flush()
        raise CommandError(f"error reading input: {error.strerror}") from None
    except IsADirectoryError:
        ctx.warn(f"Will not attempt to process directory {name}", 0)
        return ""
    except OSError as error:
        machine.output.flush()
        missing = f"Could not open file {name}"
        ctx.warn(missing if error.errno == 2 else f"{name}: {os.strerror(error.errno or 5)}", 0)
        return ""
    ctx.budget.charge(len(data))
    return decode(data)
