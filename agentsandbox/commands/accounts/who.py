"""`who` (GNU coreutils): who is logged in."""

from __future__ import annotations

from agentsandbox.commands._suites import COREUTILS
from agentsandbox.commands._text.quoting import quote
from agentsandbox.contract.command import Arguments, CommandContext, command
from agentsandbox.contract.manners import SILENT, Manners
from agentsandbox.errors import UsageError

_HEADING = "NAME     LINE         TIME             COMMENT"


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
    Print information about users who are logged in: nobody is, a sandbox has no terminal and no
    login records.

      -a, --all         all that is known
      -b, --boot        the time of the last system boot
      -d, --dead        dead processes
      -H, --heading     print a line of column headings
          --ips         print addresses instead of host names
      -l, --login       system login processes
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
    if args.flag("count"):
        ctx.print("\n# users=0")
    elif args.flag("heading"):
        ctx.print(_HEADING)
    return 0
