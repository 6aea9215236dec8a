"""`rmdir` (POSIX 1003.1-2017, GNU coreutils): remove empty directories."""

from __future__ import annotations

import errno
import posixpath

from agentsandbox.commands._suites import COREUTILS
from agentsandbox.commands._text.quoting import quote_always
from agentsandbox.contract.command import Arguments, CommandContext, command, describe_os_error
from agentsandbox.contract.manners import Manners
from agentsandbox.errors import UsageError


@command(
    "rmdir",
    manners=Manners(
        COREUTILS,
        bytewise=True,
        long_options="ignore-fail-on-non-empty path parents verbose help version",
    ),
    usage="""
    Usage: rmdir [OPTION]... DIRECTORY...
    Remove the DIRECTORY(ies), if they are empty.

          --ignore-fail-on-non-empty  a directory that is not empty is no error
      -p, --parents, --path  remove the parents in its name too, as `rmdir a/b a` does for a/b
      -v, --verbose          say what is removed
          --help             display this help and exit
    """,
)
def rmdir(ctx: CommandContext, args: Arguments) -> int:
    if not args.operands:
        raise UsageError("missing operand")
    for name in args.operands:
        ctx.budget.step()
        if _remove(ctx, args, name, "") and args.flag("parents"):
            parent = posixpath.dirname(name.rstrip("/")).rstrip("/")
            while parent and _remove(ctx, args, parent, "directory "):
                parent = posixpath.dirname(parent).rstrip("/")
    return ctx.status


def _remove(ctx: CommandContext, args: Arguments, name: str, what: str) -> bool:
    if args.flag("verbose"):
        ctx.print(f"{ctx.name}: removing directory, {quote_always(name)}")
    try:
        ctx.fs.rmdir(ctx.path(name))
    except OSError as error:
        if not (args.flag("ignore-fail-on-non-empty") and error.errno == errno.ENOTEMPTY):
            reason = describe_os_error(error, "")
            if _is_link_with_slash(ctx, name, error):
                reason = "Symbolic link not followed"
            ctx.warn(f"failed to remove {what}{quote_always(name)}: {reason}")
        return False
    return True


def _is_link_with_slash(ctx: CommandContext, name: str, error: OSError) -> bool:
    if error.errno != errno.ENOTDIR or not name.endswith("/"):
        return False
    try:
        if not ctx.fs.stat(ctx.path(name.rstrip("/")), follow=False).is_link:
            return False
        return ctx.fs.stat(ctx.path(name)).is_dir
    except OSError as reason:
        return reason.errno != errno.ENOTDIR
