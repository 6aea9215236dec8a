"""`chmod` (POSIX 1003.1-2017, GNU coreutils): change permissions."""

from __future__ import annotations

import re

from agentsandbox.commands._files.modes import compile_mode, format_mode
from agentsandbox.commands._suites import COREUTILS
from agentsandbox.commands._text.quoting import quote, quote_always
from agentsandbox.commands.permissions.file_changes import walk_operands
from agentsandbox.contract.command import Arguments, CommandContext, command, describe_os_error
from agentsandbox.contract.manners import Manners
from agentsandbox.errors import CommandError, UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from agentsandbox.kernel.fs.base import Stat

_PERMISSIONS = tuple("rwxXstugoa01234567")


_MIXED = re.compile("-[Rcfv]+[rwxXstugoa,+=0-7]")
"""A mode after option letters in one word, which is refused."""


def _refuse_mixed(words: Sequence[str]) -> Sequence[str]:
    for word in words:
        if word == "--":
            break
        if _MIXED.match(word):
            raise UsageError(f"invalid mode: {quote(word)}")
    return words


@command(
    "chmod",
    manners=Manners(
        COREUTILS,
        bytewise=True,
        long_options="""
            changes recursive no-preserve-root preserve-root quiet reference silent
            verbose help version
        """,
    ),
    rewrite=_refuse_mixed,
    usage="""
    Usage: chmod [OPTION]... MODE[,MODE]... FILE...
      or:  chmod [OPTION]... OCTAL-MODE FILE...
      or:  chmod [OPTION]... --reference=RFILE FILE...
    Change the permissions of each FILE. MODE is [ugoa]*([-+=]([rwxXst]*|[ugo]))+ or octal.

      -c, --changes           like -v, but only of what has changed
      -f, --silent, --quiet   no error messages
      -v, --verbose           say what is done with every file
          --no-preserve-root  treat / like any other directory (default)
          --preserve-root     refuse to operate recursively on /
          --reference=RFILE   use the permissions of RFILE
      -R, --recursive         change directories and all below them
      -r[PERMISSIONS]         -r and the letters below begin a MODE that takes permissions away, as
                              in -rwx
      -w[PERMISSIONS]
      -x[PERMISSIONS]
      -X[PERMISSIONS]
      -s[PERMISSIONS]
      -t[PERMISSIONS]
      -u[PERMISSIONS]
      -g[PERMISSIONS]
      -o[PERMISSIONS]
      -a[PERMISSIONS]
      -0[PERMISSIONS]
      -1[PERMISSIONS]
      -2[PERMISSIONS]
      -3[PERMISSIONS]
      -4[PERMISSIONS]
      -5[PERMISSIONS]
      -6[PERMISSIONS]
      -7[PERMISSIONS]
          --help              display this help and exit
    """,
)
def chmod(ctx: CommandContext, args: Arguments) -> int:
    change, text, names = _read_mode(ctx, args)
    talk = args.last("changes", "verbose") or ""
    quiet = args.flag("silent")
    surprised = any(key in _PERMISSIONS for key, _ in args.given)
    strict = compile_mode(text, 0) if surprised else None
    for name, info in walk_operands(
        ctx, args, names, follow=True, quiet=quiet, dangling="cannot operate on dangling symlink"
    ):
        if info.is_link:
            if talk == "verbose":
                ctx.print(
                    f"neither symbolic link {quote_always(name)} nor referent has been changed"
                )
            continue
        mode = change(info.permissions, info.is_dir)
        try:
            ctx.fs.chmod(ctx.path(name), mode)
        except OSError as error:
            ctx.status = 1
            if not quiet:
                ctx.warn(
                    f"changing permissions of {quote_always(name)}: {describe_os_error(error, '')}"
                )
            if talk == "verbose":
                _say(ctx, name, info, mode, f"failed to change mode of {quote_always(name)} from")
            continue
        if talk == "verbose" or (talk and mode != info.permissions):
            _say(ctx, name, info, mode, f"mode of {quote_always(name)} changed from")
        if strict is not None and mode & ~(wanted := strict(info.permissions, info.is_dir)):
            shown = format_mode(mode)[1:], format_mode(wanted)[1:]
            ctx.warn(f"{name}: new permissions are {shown[0]}, not {shown[1]}")
    return ctx.status


def _read_mode(
    ctx: CommandContext, args: Arguments
) -> tuple[Callable[[int, bool], int], str, list[str]]:
    """Return (change of modes, text of the mode, files)."""
    operands = args.operands
    reference = args.value("reference")
    pieces = [f"-{key}{value or ''}" for key, value in args.given if key in _PERMISSIONS]
    if reference is not None:
        if pieces:
            raise UsageError("cannot combine mode and --reference options")
        if not operands:
            raise UsageError("missing operand")
        try:
            wanted = ctx.fs.stat(ctx.path(reference)).permissions
        except OSError as error:
            failed = f"failed to get attributes of {quote_always(reference)}"
            raise CommandError(f"{failed}: {describe_os_error(error, '')}") from None
        return lambda _mode, _directory: wanted, "", operands
    if pieces:
        text, names = ",".join(pieces), operands
    elif operands:
        text, names = operands[0], operands[1:]
    else:
        raise UsageError("missing operand")
    if not names:
        raise UsageError("missing operand" if pieces else f"missing operand after {quote(text)}")
    change = compile_mode(text, ctx.umask)
    if change is None:
        raise UsageError(f"invalid mode: {quote(text)}")
    return change, text, names


def _say(ctx: CommandContext, name: str, info: Stat, mode: int, message: str) -> None:
    old = f"{info.permissions:04o} ({format_mode(info.mode)[1:]})"
    if mode == info.permissions and not message.startswith("failed"):
        ctx.print(f"mode of {quote_always(name)} retained as {old}")
    else:
        new = format_mode(info.mode & ~0o7777 | mode)[1:]
        ctx.print(f"{message} {old} to {mode:04o} ({new})")
