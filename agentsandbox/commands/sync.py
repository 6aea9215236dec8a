"""`sync` (POSIX 1003.1-2024, GNU coreutils): check the files; all data is in place at once."""

from __future__ import annotations

import errno
import os

from agentsandbox.commands._suites import COREUTILS
from agentsandbox.commands._text.quoting import quote_always
from agentsandbox.contract.command import Arguments, CommandContext, command, describe_os_error
from agentsandbox.contract.manners import Manners
from agentsandbox.errors import CommandError
from agentsandbox.kernel.fs.base import os_error


@command(
    "sync",
    manners=Manners(COREUTILS, long_options="data file-system help version"),
    usage="""
    Usage: sync [OPTION] [FILE]...
    Write what is cached to the disk.

      -d, --data         only the data of FILEs
      -f, --file-system  the filesystems that hold FILEs
          --help         display this help and exit
    """,
)
def sync(ctx: CommandContext, args: Arguments) -> int:
    if args.flag("data") and args.flag("file-system"):
        raise CommandError("cannot specify both --data and --file-system")
    if args.flag("data") and not args.operands:
        raise CommandError("--data needs at least one argument")
    for name in args.operands:
        try:
            path = ctx.path(name)
            ctx.fs.stat(path)
            if not ctx.fs.access(path, os.R_OK) and (
                ctx.fs.is_dir(path) or not ctx.fs.access(path, os.W_OK)
            ):
                raise os_error(errno.EACCES)
        except OSError as error:
            ctx.warn(f"error opening {quote_always(name)}: {describe_os_error(error, '')}")
    return ctx.status
