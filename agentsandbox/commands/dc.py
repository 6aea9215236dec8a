"""`dc` (GNU dc 1.4.1): a desk calculator in reverse Polish notation."""

from __future__ import annotations

import os

from agentsandbox.command import Arguments, CommandContext, command
from agentsandbox.errors import CommandError, PipeClosed, Unwind
from agentsandbox.manners import Manners
from agentsandbox.streams import InputError, decode

TYPE_CHECKING = False
if TYPE_CHECKING:
    pass


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
    """,
)
def dc(ctx: CommandContext, args: Arguments) -> int:
    from agentsandbox.languages.calculator.arrival import DC, pieces
    from agentsandbox.languages.calculator.stack import StackMachine

    if args.flag("help"):
        ctx.print(dc.usage, end="")
        return 0
    if args.flag("version"):
        ctx.print("dc (GNU bc 1.07.1) 1.4.1\nA command of agentsandbox, written to behave like this release.")
        return 0
    machine = StackMachine(ctx)
    programs = [(key == "expression", value or "") for key, value in args.given] + [(False, name) for name in args.operands]
    try:
        for is_text, value in programs or [(False, "-")]:
            text = value
            if value == "-" and not is_text and not ctx.stdin.unreadable:
                for piece in pieces(ctx, DC):
                    status = machine.run(piece, is_input=True)
                    machine.flush()  # before more is waited for
                    if status is not None:
                        return status
                continue
            if not is_text:
                try:
                    data = ctx.open_input(value).read()
                except InputError as error:
                    machine.flush()
                    raise CommandError(f"error reading input: {error.strerror}") from None
                except IsADirectoryError:
                    ctx.warn(f"Will not attempt to process directory {value}", 0)
                    continue
                except OSError as error:
                    machine.flush()
                    ctx.warn(f"Could not open file {value}" if error.errno == 2 else f"{value}: {os.strerror(error.errno or 5)}", 0)
                    continue
                ctx.budget.charge(len(data))
                text = decode(data)
            status = machine.run(text, is_string=is_text)
            if status is not None:
                machine.flush()
                return status
        machine.flush()
    except PipeClosed:
        raise
    except Unwind:
        machine.flush()
        raise
    return ctx.status
