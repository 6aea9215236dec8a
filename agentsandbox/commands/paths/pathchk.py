"""`pathchk` (POSIX 1003.1-2017, GNU coreutils): whether names are valid and portable."""

from __future__ import annotations

import errno
import re

from agentsandbox.commands._suites import COREUTILS
from agentsandbox.commands._text.quoting import quote, quote_always
from agentsandbox.contract.command import Arguments, CommandContext, command, describe_os_error
from agentsandbox.contract.manners import Manners
from agentsandbox.errors import UsageError
from agentsandbox.kernel.expressions import lazily
from agentsandbox.kernel.streams import encode

_UNPORTABLE = lazily(r"[^A-Za-z0-9._/-]")
_NAME_MAX, _PATH_MAX = 14, 255


@command(
    "pathchk",
    manners=Manners(COREUTILS, long_options="portability help version"),
    permute=False,
    usage="""
    Usage: pathchk [OPTION]... NAME...
    Find names that are invalid or not portable.

      -p             check for most POSIX systems
      -P             check for empty names and leading "-"
          --portability  check for all POSIX systems (-p -P)
          --help     display this help and exit
    """,
)
def pathchk(ctx: CommandContext, args: Arguments) -> int:
    if not args.operands:
        raise UsageError("missing operand")
    basic = args.flag("p") or args.flag("portability")
    extra = args.flag("P") or args.flag("portability")
    for name in args.operands:
        ctx.budget.step()
        problem = _check(ctx, name, basic=basic, extra=extra)
        if problem:
            ctx.warn(problem)
    return ctx.status


def _exceeded(limit: int, size: int) -> str:
    return f"limit {limit} exceeded by length {size}"


def _check(ctx: CommandContext, name: str, *, basic: bool, extra: bool) -> str:
    """Return the problem of a name, "" for none."""
    if extra and re.search(r"(^|/)-", name):
        return f"leading '-' in a component of file name {quote_always(name)}"
    if (basic or extra) and not name:
        return "empty file name"
    if basic:
        found = _UNPORTABLE.search(name)
        if found:
            return f"nonportable character {quote(found[0])} in file name {quote_always(name)}"
        if len(encode(name)) > _PATH_MAX:
            return f"{_exceeded(_PATH_MAX, len(encode(name)))} of file name {quote_always(name)}"
        for part in name.split("/"):
            size = len(encode(part))
            if size > _NAME_MAX:
                return f"{_exceeded(_NAME_MAX, size)} of file name component {quote(part)}"
        return ""
    try:
        ctx.fs.stat(ctx.path(name), follow=False)
    except OSError as error:
        if not name or error.errno != errno.ENOENT:
            return describe_os_error(error, name or "''")
    return ""
