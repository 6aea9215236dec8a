"""`mkdir` (POSIX 1003.1-2017, GNU coreutils): make directories."""

from __future__ import annotations

import errno
import os

from agentsandbox.commands._files.modes import compile_mode
from agentsandbox.commands._suites import COREUTILS
from agentsandbox.commands._text.quoting import quote, quote_always
from agentsandbox.contract.command import Arguments, CommandContext, command, describe_os_error
from agentsandbox.contract.manners import Manners
from agentsandbox.errors import CommandError, UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

_DIRECTORY = True


@command(
    "mkdir",
    manners=Manners(
        COREUTILS, bytewise=True, long_options="context mode parents verbose help version"
    ),
    usage="""
    Usage: mkdir [OPTION]... DIRECTORY...
    Make the DIRECTORY(ies).

      -m, --mode=MODE   permissions as for chmod, not a=rwx less the umask
      -p, --parents     make missing parents too; what is there already is no error
      -v, --verbose     say what is made
          --help        display this help and exit
    """,
)
def mkdir(ctx: CommandContext, args: Arguments) -> int:
    if not args.operands:
        raise UsageError("missing operand")
    mode: _Mode | None = None
    text = args.value("mode")
    if text is not None:
        change = compile_mode(text, ctx.umask)
        if change is None:
            raise CommandError(f"invalid mode {quote(text)}")
        mode = _Mode(change)
    make = _make_with_parents if args.flag("parents") else _make
    for name in args.operands:
        ctx.budget.step()
        make(ctx, name, mode, args.flag("verbose"))
    return ctx.status


class _Mode:
    """The permissions that `-m` asks for; `spoken` are the bits that it sets or clears."""

    __slots__ = ("spoken", "wanted")

    def __init__(self, change: Callable[[int, bool], int]) -> None:
        self.wanted = change(0o777, _DIRECTORY)
        self.spoken = 0o7777 & ~(change(0o7777, _DIRECTORY) ^ change(0, _DIRECTORY))

    def make(self, ctx: CommandContext, path: str) -> None:
        """Make a directory with these permissions, at first without the special ones."""
        careful = self.spoken & 0o6000 or self.wanted & 0o1000
        ctx.fs.mkdir(path, self.wanted & ~(0o6022 if careful else 0o6000))
        made = ctx.fs.stat(path).permissions
        if (made ^ self.wanted) & self.spoken:
            ctx.fs.chmod(path, self.wanted | made & ~self.spoken)


def _make(ctx: CommandContext, name: str, mode: _Mode | None, verbose: bool) -> None:
    try:
        path = ctx.path(name)
        if mode is None:
            ctx.fs.mkdir(path, 0o777 & ~ctx.umask)
        else:
            mode.make(ctx, path)
    except OSError as error:
        ctx.warn(f"cannot create directory {quote(name)}: {describe_os_error(error, '')}")
        return
    if verbose:
        ctx.print(f"{ctx.name}: created directory {quote_always(name)}")


def _make_with_parents(ctx: CommandContext, name: str, mode: _Mode | None, verbose: bool) -> None:
    if not name:
        _make(ctx, name, mode, verbose)
        return
    parts = [part for part in name.split("/") if part]
    here = "/" if name.startswith("/") else ""
    for number, part in enumerate(parts):
        ctx.budget.step()
        last = number == len(parts) - 1
        here = f"{here}{part}" if here in ("", "/") else f"{here}/{part}"
        path = ctx.path(here)
        if ctx.fs.is_dir(path):
            if not last and not ctx.fs.access(path, os.X_OK):
                ctx.warn(f"cannot create directory {quote(here)}: {os.strerror(errno.EACCES)}")
                return
            continue
        if ctx.fs.exists(path, follow=False):
            shown = name if last else here
            try:
                ctx.fs.stat(path)
                reason = errno.EEXIST if last else errno.ENOTDIR
            except OSError as error:
                reason = error.errno if error.errno == errno.ELOOP else errno.EEXIST
            what = "stat" if reason == errno.ELOOP and last else "create directory"
            ctx.warn(f"cannot {what} {quote(shown)}: {os.strerror(reason)}")
            return
        try:
            if last and mode is not None:
                mode.make(ctx, path)
            else:
                ctx.fs.mkdir(path, 0o777 & ~ctx.umask | (0 if last else 0o300))
        except OSError as error:
            shown = quote(name if last else here)
            ctx.warn(f"cannot create directory {shown}: {describe_os_error(error, '')}")
            return
        if verbose:
            ctx.print(f"{ctx.name}: created directory {quote_always(name if last else here)}")
