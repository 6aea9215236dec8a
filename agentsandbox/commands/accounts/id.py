"""`id` (POSIX 1003.1-2017, GNU coreutils): user and group names and numbers."""

from __future__ import annotations

from agentsandbox.commands._suites import COREUTILS
from agentsandbox.commands._text.quoting import quote
from agentsandbox.commands.accounts.database import Account, find_account, own_account
from agentsandbox.contract.command import Arguments, CommandContext, command
from agentsandbox.contract.manners import Manners
from agentsandbox.errors import CommandError


def _show(args: Arguments, account: Account) -> str:
    name = args.flag("name")
    end = "\0" if args.flag("zero") else "\n"
    if args.flag("user"):
        return (account.name if name else str(account.uid)) + end
    if args.flag("group"):
        return (account.groups[0][1] if name else str(account.groups[0][0])) + end
    if args.flag("groups"):
        between = "\0" if args.flag("zero") else " "
        return (
            between.join([group if name else str(number) for number, group in account.groups]) + end
        )
    groups = ",".join([f"{number}({group})" for number, group in account.groups])
    number, group = account.groups[0]
    return f"uid={account.uid}({account.name}) gid={number}({group}) groups={groups}{end}"


@command(
    "id",
    manners=Manners(
        COREUTILS,
        pure=True,
        bytewise=True,
        long_options="context group groups name real user zero help version",
    ),
    usage="""
    Usage: id [OPTION]... [USER]...
    Print user and group information for each USER, or for the current user.

      -a             ignore, for compatibility with other versions
      -g, --group    print only the effective group
      -G, --groups   print all groups
      -n, --name     print a name instead of a number, for -ugG
      -r, --real     print the real number instead of the effective one, for -ugG
      -u, --user     print only the effective user
      -z, --zero     delimit entries with NUL, not whitespace
          --help     display this help and exit
    """,
)
def id(ctx: CommandContext, args: Arguments) -> int:
    chosen = [key for key in ("user", "group", "groups") if args.flag(key)]
    if len(chosen) > 1:
        raise CommandError('cannot print "only" of more than one choice')
    if not chosen and (args.flag("name") or args.flag("real")):
        raise CommandError("cannot print only names or real IDs in default format")
    if not chosen and args.flag("zero"):
        raise CommandError("option --zero not permitted in default format")
    if not args.operands:
        ctx.print(_show(args, own_account(ctx)), end="")
    for operand in args.operands:
        account = find_account(ctx, operand)
        if account is None:
            ctx.warn(f"{quote(operand)}: no such user")
        else:
            ctx.print(_show(args, account), end="")
    return ctx.status
