"""`chown` (POSIX 1003.1-2017, GNU coreutils): the one user of a sandbox cannot give files away."""

from __future__ import annotations

import errno
from contextlib import suppress

from agentsandbox.commands._files.owners import Owners, parse_owner
from agentsandbox.commands._suites import COREUTILS
from agentsandbox.commands._text.quoting import quote, quote_always
from agentsandbox.commands.permissions.file_changes import walk_operands
from agentsandbox.contract.command import Arguments, CommandContext, command, describe_os_error
from agentsandbox.contract.manners import Manners
from agentsandbox.errors import CommandError, UsageError
from agentsandbox.kernel.fs.base import os_error

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.kernel.fs.base import Stat


@command(
    "chown",
    manners=Manners(
        COREUTILS,
        bytewise=True,
        long_options="""
            recursive changes dereference from no-dereference no-preserve-root
            preserve-root quiet silent reference verbose help version
        """,
    ),
    usage="""
    Usage: chown [OPTION]... [OWNER][:[GROUP]] FILE...
      or:  chown [OPTION]... --reference=RFILE FILE...
    Change the owner and group of each FILE.

      -c, --changes           like -v, but only of what has changed
      -f, --silent, --quiet   no error messages
      -v, --verbose           say what is done with every file
          --dereference       of what links point to (default)
      -h, --no-dereference    of links themselves
          --from=OWNER:GROUP  only files of this owner and group
          --no-preserve-root  treat / like any other directory (default)
          --preserve-root     refuse to operate recursively on /
          --reference=RFILE   use the owner and group of RFILE
      -R, --recursive         change directories and all below them
      -H                      with -R, follow operands that are links to directories
      -L                      with -R, follow all links to directories
      -P                      with -R, follow no links (default)
          --help              display this help and exit
    """,
)
def chown(ctx: CommandContext, args: Arguments) -> int:
    return change_owners(ctx, args, "ownership")


def change_owners(ctx: CommandContext, args: Arguments, what: str) -> int:
    """Run `chown` or `chgrp`; `what` is "ownership" or "group"."""
    owners = Owners(ctx)
    user, group, names = _read_target(ctx, args, owners, what)
    only = parse_owner(owners, args.value("from") or "") if args.flag("from") else (None, None)
    quiet = args.flag("silent")
    talk = args.last("changes", "verbose") or ""
    follow = args.last("dereference", "no-dereference") != "no-dereference"
    if (
        args.flag("recursive")
        and args.last("dereference", "no-dereference") == "dereference"
        and args.last("H", "L", "P") not in ("H", "L")
    ):
        raise CommandError("-R --dereference requires either -H or -L")
    wanted = (
        _spelling(owners, what, args.operands[0], user, group) if names is not args.operands else ""
    )
    wanted = wanted or _name(owners, what, user or 0, group or 0, user, group)
    nothing = user is None and group is None
    part = "group" if user is None and group is not None else "ownership"
    failure = ""
    if talk == "verbose":
        failure = f"failed to change {part} of {{}}" + (
            "" if nothing else f" to {wanted.removeprefix(':')}"
        )
    for name, info in walk_operands(
        ctx, args, names, follow=follow, quiet=quiet, after=True, failure=failure
    ):
        wanted_user = info.uid if user is None else user
        wanted_group = info.gid if group is None else group
        words = (
            _name(owners, what, info.uid, info.gid, user, group),
            _name(owners, what, wanted_user, wanted_group, user, group),
        )
        if names is not args.operands:
            words = words[0], wanted
        others = any(
            wanted not in (None, has)
            for wanted, has in zip(only, (info.uid, info.gid), strict=True)
        )
        if others or (wanted_user, wanted_group) == (info.uid, info.gid):
            if not others:
                _clear_special(ctx, name, info)
            if talk == "verbose":
                kept = "" if nothing else f" as {words[0].removeprefix(':')}"
                ctx.print(f"{part} of {quote_always(name)} retained{kept}")
            continue
        ctx.status = 1
        if not quiet:
            error = _refusal(ctx, name, info)
            ctx.warn(f"changing {part} of {quote_always(name)}: {describe_os_error(error, '')}")
        if talk == "verbose":
            before, now = (text.removeprefix(":") for text in words)
            ctx.print(f"failed to change {part} of {quote_always(name)} from {before} to {now}")
    return ctx.status


def _clear_special(ctx: CommandContext, name: str, info: Stat) -> None:
    """Clear set-user-ID and set-group-ID, as any change of owner does, even to the same."""
    special = info.permissions & (0o4000 | (0o2000 if info.permissions & 0o010 else 0))
    if special and info.is_file:
        with suppress(OSError):
            ctx.fs.chmod(ctx.path(name), info.permissions & ~special)


def _refusal(ctx: CommandContext, name: str, info: Stat) -> OSError:
    """Return why the owner cannot be changed: the error of a `chmod`, or "not permitted"."""
    if not info.is_link:
        try:
            ctx.fs.chmod(ctx.path(name), info.permissions)
        except OSError as error:
            return error
    return os_error(errno.EPERM)


def _read_target(
    ctx: CommandContext, args: Arguments, owners: Owners, what: str
) -> tuple[int | None, int | None, list[str]]:
    """Return (user, group, files); None for a part that does not change."""
    operands = args.operands
    reference = args.value("reference")
    if reference is not None:
        if not operands:
            raise UsageError("missing operand")
        try:
            info = ctx.fs.stat(ctx.path(reference))
        except OSError as error:
            failed = f"failed to get attributes of {quote_always(reference)}"
            raise CommandError(f"{failed}: {describe_os_error(error, '')}") from None
        return (None if what == "group" else info.uid), info.gid, operands
    if not operands:
        raise UsageError("missing operand")
    if len(operands) == 1:
        raise UsageError(f"missing operand after {quote(operands[0])}")
    if what == "ownership":
        user, group = parse_owner(owners, operands[0])
        dotted = ":" not in operands[0] and "." in operands[0]
        if dotted and owners.user_number(operands[0]) is None:
            ctx.warn(f"warning: '.' should be ':': {quote(operands[0])}", ctx.status)
        return user, group, operands[1:]
    group = owners.group_number(operands[0]) if operands[0] else None
    if operands[0] and group is None:
        raise CommandError(f"invalid group: {quote(operands[0])}")
    return None, group, operands[1:]


def _spelling(owners: Owners, what: str, text: str, user: int | None, group: int | None) -> str:
    """Return the owner as it was asked for, with unknown names as numbers."""
    if what == "group":
        return text
    colon = ":" if ":" in text else "."
    name, _, group_name = (
        text.partition(colon) if owners.user_number(text) is None else (text, "", "")
    )
    shown = "" if user is None else name if owners.user(user) == name else str(user)
    if group is None:
        return shown
    known = owners.group(group)
    return f"{shown}:{known if group_name in ('', known) else group}"


def _name(
    owners: Owners, what: str, uid: int, gid: int, user: int | None, group: int | None
) -> str:
    """Return an owner as messages show it, reduced to the parts that change."""
    if what == "group" or (user is None and group is not None):
        return owners.group(gid) if what == "group" else f":{owners.group(gid)}"
    return f"{owners.user(uid)}:{owners.group(gid)}" if group is not None else owners.user(uid)
