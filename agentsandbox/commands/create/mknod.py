"""`mknod` (GNU coreutils): make a named pipe; device files are not for a user to make."""

from __future__ import annotations

import errno
import os
import re

from agentsandbox.commands._suites import COREUTILS
from agentsandbox.commands._text.lines import shown_name
from agentsandbox.commands._text.quoting import quote
from agentsandbox.commands.create.mkfifo import fifo_mode
from agentsandbox.contract.command import Arguments, CommandContext, command, describe_os_error
from agentsandbox.contract.manners import Manners
from agentsandbox.errors import CommandError, UsageError

_NUMBER = re.compile(r"0[xX][0-9a-fA-F]+|0[0-7]*|[1-9][0-9]*", re.ASCII)
_DEVICES = "Special files require major and minor device numbers."
_FIFOS = "Fifos do not have major and minor device numbers."


@command(
    "mknod",
    manners=Manners(COREUTILS, bytewise=True, long_options="context mode help version"),
    usage="""
    Usage: mknod [OPTION]... NAME TYPE [MAJOR MINOR]
    Make the special file NAME: a named pipe if TYPE is p; devices (b, c, u) only root could make.

      -m, --mode=MODE  permissions as for chmod, not a=rw less the umask
          --help       display this help and exit
    """,
)
def mknod(ctx: CommandContext, args: Arguments) -> int:
    mode = fifo_mode(ctx, args)
    _check_operands(args.operands)
    name, kind = args.operands[:2]
    if kind[0] not in "bcup":
        raise UsageError(f"invalid device type {quote(kind)}")
    if kind[0] != "p":
        for text, what in zip(args.operands[2:], ("major", "minor"), strict=True):
            if (
                not _NUMBER.fullmatch(text)
                or len(text) > 12
                or int(text, 0 if text[:2] in ("0x", "0X") else 8 if text[0] == "0" else 10)
                >= 2**32
            ):
                raise CommandError(f"invalid {what} device number {quote(text)}")
    shown = shown_name(name)
    try:
        path = ctx.path(name)
        if kind[0] == "p":
            ctx.fs.mkfifo(path, mode)
            return ctx.status
        if ctx.fs.exists(path, follow=False):
            raise FileExistsError(errno.EEXIST, "")
    except OSError as error:
        raise CommandError(f"{shown}: {describe_os_error(error, '')}") from None
    raise CommandError(f"{shown}: {os.strerror(errno.EPERM)}")


def _check_operands(operands: list[str]) -> None:
    """As many as the type needs."""
    fifo = len(operands) > 1 and operands[1].startswith("p")
    expected = 2 if fifo else 4
    if len(operands) < expected:
        if not operands:
            raise UsageError("missing operand")
        more = f"\n{_DEVICES}" if expected == 4 and len(operands) == 2 else ""
        raise UsageError(f"missing operand after {quote(operands[-1])}{more}")
    if len(operands) > expected:
        more = f"\n{_FIFOS}" if fifo and len(operands) == 4 else ""
        raise UsageError(f"extra operand {quote(operands[expected])}{more}")
