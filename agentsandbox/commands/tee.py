"""`tee` (POSIX 1003.1-2017, GNU coreutils): copy standard input to files and to standard output."""

from __future__ import annotations

from agentsandbox.commands._suites import COREUTILS
from agentsandbox.commands._text.lines import blocks, shown_name
from agentsandbox.contract.command import Arguments, CommandContext, command
from agentsandbox.contract.manners import Manners
from agentsandbox.errors import PipeClosed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.kernel.fs.base import File
    from agentsandbox.kernel.streams import ByteWriter


def _open_outputs(ctx: CommandContext, names: list[str], *, append: bool) -> list[tuple[str, File]]:
    """Return the files that can be opened, by name."""
    opened = []
    for name in names:
        try:
            opened.append(
                (
                    name,
                    ctx.fs.open(
                        ctx.path(name), "a" if append else "w", permissions=0o666 & ~ctx.umask
                    ),
                )
            )
        except OSError as error:
            ctx.warn_os(error, shown_name(name))
    return opened


@command(
    "tee",
    manners=Manners(
        COREUTILS,
        pure=True,
        bytewise=True,
        long_options="append ignore-interrupts output-error help version",
        unbuffered=True,
        checks_output=True,
        read_error=("NAME: read error: REASON", 1),
        closing_error="NAME: standard input: REASON",
        write_error=("NAME: 'standard output': REASON", 1),
    ),
    usage="""
    Usage: tee [OPTION]... [FILE]...
    Copy standard input to each FILE, and also to standard output.

      -a, --append              append to the FILEs, do not empty them
      -i, --ignore-interrupts   ignore interrupt signals (none arrive here)
      -p                        go on when a pipe is closed
          --help                display this help and exit
    """,
)
def tee(ctx: CommandContext, args: Arguments) -> int:
    opened = _open_outputs(ctx, args.operands, append=args.flag("append"))
    outputs: list[tuple[str, ByteWriter]] = [("standard output", ctx.stdout), *opened]
    try:
        for block in blocks(ctx.budget, ctx.stdin):
            _write_all(ctx, outputs, block, keep=args.flag("p"))
            if not outputs:
                break
    finally:
        for _name, file in opened:
            file.release()
    return ctx.status


def _write_all(
    ctx: CommandContext, outputs: list[tuple[str, ByteWriter]], block: bytes, *, keep: bool
) -> None:
    """Write a block everywhere; failing outputs are dropped, a closed pipe ends unless `keep`."""
    closed: PipeClosed | None = None
    for name, out in list(outputs):
        try:
            out.write(block)
        except PipeClosed as error:
            outputs.remove((name, out))
            closed = None if keep else error  # the other outputs still get what was read
        except OSError as error:
            outputs.remove((name, out))
            ctx.warn_os(error, shown_name(name))
    if closed is not None:
        raise closed
