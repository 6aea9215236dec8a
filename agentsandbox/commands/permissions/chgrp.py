"""`chgrp` (POSIX 1003.1-2017, GNU coreutils): like `chown`, for the group alone."""

from __future__ import annotations

from agentsandbox.commands._suites import COREUTILS
from agentsandbox.commands.permissions.chown import change_owners
from agentsandbox.contract.command import Arguments, CommandContext, command
from agentsandbox.contract.manners import Manners


@command(
    "chgrp",
    manners=Manners(
        COREUTILS,
        bytewise=True,
        long_options="""
            recursive changes dereference no-dereference no-preserve-root preserve-root
            quiet silent reference verbose help version
        """,
    ),
    usage="""
    Usage: chgrp [OPTION]... GROUP FILE...
      or:  chgrp [OPTION]... --reference=RFILE FILE...
    Change the group of each FILE.

      -c, --changes           like -v, but only of what has changed
      -f, --silent, --quiet   no error messages
      -v, --verbose           say what is done with every file
          --dereference       of what links point to (default)
      -h, --no-dereference    of links themselves
          --no-preserve-root  treat / like any other directory (default)
          --preserve-root     refuse to operate recursively on /
          --reference=RFILE   use the group of RFILE
      -R, --recursive         change directories and all below them
      -H                      with -R, follow operands that are links to directories
      -L                      with -R, follow all links to directories
      -P                      with -R, follow no links (default)
          --help              display this help and exit
    """,
)
def chgrp(ctx: CommandContext, args: Arguments) -> int:
    return change_owners(ctx, args, "group")
