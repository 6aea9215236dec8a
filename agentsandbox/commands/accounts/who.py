"""`who` (GNU coreutils): who is logged in."""

from __future__ import annotations

from agentsandbox.commands._suites import COREUTILS
from agentsandbox.commands._text.quoting import quote
from agentsandbox.contract.command import Arguments, CommandContext, command
from agentsandbox.contract.manners import SILENT, Manners
from agentsandbox.errors import CommandError, UsageError

_RECORD = 384
"""Bytes of one login record."""
_LONG = ("all", "boot", "dead", "login", "process", "runlevel", "time", "users")
"""Options that ask for certain records, and so for all columns."""


def _heading(args: Arguments) -> str:
    given = {key for key, _ in args.given}
    everything = "all" in given
    short = not given & set(_LONG) or "short" in given
    idle = everything or bool(given & {"dead", "login", "runlevel", "users"})
    line = "NAME     "
    if everything or "mesg" in given:
        line += "  "
    line += "LINE         TIME            "
    if idle and not short:
        line += " IDLE  "
    if not short:
        line += "        PID"
    line += " COMMENT"
    if everything or "dead" in given:
        line += "  EXIT"
    return line


@command(
    "who",
    manners=Manners(
        COREUTILS,
        long_options="""
            all boot count dead heading ips login lookup message mesg process runlevel
            short time users writable help version
        """,
        write_error=SILENT,
    ),
    usage="""
    Usage: who [OPTION]... [ FILE | ARG1 ARG2 ]
    Print information about users who are logged in: nobody is, a sandbox has no terminal. There are no login records
    either; a FILE that has some is refused.

      -a, --all         all that the options -b -d --login -p -r -t -T -u show
      -b, --boot        the time of the last system boot
      -d, --dead        dead processes
      -H, --heading     print a line of column headings
          --ips         print addresses instead of host names
      -l, --login       system login processes
          --lookup      look up the names of hosts
      -m                only the user of standard input's terminal
      -p, --process     active processes spawned by init
      -q, --count       all login names and the number of users logged on
      -r, --runlevel    the current runlevel
      -s, --short       only name, line, and time (default)
      -t, --time        the last change of the system clock
      -T, -w, --mesg, --message, --writable  whether users accept messages
      -u, --users       list users logged in
          --help        display this help and exit

    Two operands, as in "who am i", mean -m.
    """,
)
def who(ctx: CommandContext, args: Arguments) -> int:
    if len(args.operands) > 2:
        raise UsageError(f"extra operand {quote(args.operands[2])}")
    if len(args.operands) == 1:
        refuse_records(ctx, args.operands[0])
    if args.flag("count"):
        ctx.print("\n# users=0")
    elif args.flag("heading"):
        ctx.print(_heading(args))
    return 0


def refuse_records(ctx: CommandContext, name: str) -> None:
    """A file that is missing or that is too short has no records, and no message."""
    try:
        head = ctx.open_input(name).read(_RECORD)
    except OSError:
        return
    if len(head) == _RECORD and head.strip(b"\0"):
        raise CommandError(f"{quote(name)}: login records cannot be read here")
