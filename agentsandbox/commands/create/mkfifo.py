"""`mkfifo` (POSIX 1003.1-2017, GNU coreutils): make named pipes."""

from __future__ import annotations

from agentsandbox.commands._files.modes import compile_mode
from agentsandbox.commands._suites import COREUTILS
from agentsandbox.commands._text.quoting import quote_always
from agentsandbox.contract.command import Arguments, CommandContext, command, describe_os_error
from agentsandbox.contract.manners import Manners
from agentsandbox.errors import CommandError, UsageError


@command(
    "mkfifo",
    manners=Manners(COREUTILS, bytewise=True, long_options="context mode help version"),
    usage="""
    Usage: mkfifo [OPTION]... NAME...
    Make named pipes.

      -m, --mode=MODE  permissions as for chmod, not a=rw less the umask
          --help       display this help and exit
    """,
)
def mkfifo(ctx: CommandContext, args: Arguments) -> int:
    if not args.operands:
        raise UsageError("missing operand")
    mode = fifo_mode(ctx, args)
    for name in args.operands:
        ctx.budget.step()
        try:
            ctx.fs.mkfifo(ctx.path(name), mode)
        except OSError as error:
            ctx.warn(f"cannot create fifo {quote_always(name)}: {describe_os_error(error, '')}")
    return ctx.status


def fifo_mode(ctx: CommandContext, args: Arguments) -> int:
    """Return the mode that `--mode` gives, or the default."""
    text = args.value("mode")
    if text is None:
        return 0o666 & ~ctx.umask
    change = compile_mode(text, ctx.umask)
    if change is None:
        raise CommandError("invalid mode")
    mode = change(0o666, False)
    if mode & ~0o777:
        raise CommandError("mode must specify only file permission bits")
    return mode
