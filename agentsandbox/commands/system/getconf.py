"""`getconf` (POSIX 1003.1-2017): configuration values."""

from __future__ import annotations

from agentsandbox.commands._suites import GLIBC
from agentsandbox.contract.command import Arguments, CommandContext, command
from agentsandbox.contract.manners import SILENT, Manners
from agentsandbox.errors import CommandError
from agentsandbox.kernel.fs.base import NAME_MAX, PATH_MAX
from agentsandbox.kernel.streams import encode

_VALUES = {
    "_NPROCESSORS_CONF": "1", "_NPROCESSORS_ONLN": "1", "_POSIX_VERSION": "200809",
    "ARG_MAX": "2097152", "CHAR_BIT": "8", "CHILD_MAX": "256", "CLK_TCK": "100",
    "GNU_LIBC_VERSION": "glibc 2.36", "HOST_NAME_MAX": "64", "INT_MAX": "2147483647",
    "INT_MIN": "-2147483648", "LINE_MAX": "2048", "LONG_BIT": "64", "NGROUPS_MAX": "65536",
    "OPEN_MAX": "1024", "PAGESIZE": "4096", "PAGE_SIZE": "4096", "PATH": "/bin:/usr/bin",
    "POSIX2_VERSION": "200809", "SSIZE_MAX": "32767", "UINT_MAX": "4294967295", "WORD_BIT": "32",
}  # fmt: skip
_OF_PATHS = {
    "NAME_MAX": NAME_MAX, "PATH_MAX": PATH_MAX, "PIPE_BUF": 4096, "LINK_MAX": 127,
    "FILESIZEBITS": 64, "SYMLINK_MAX": "",
}  # fmt: skip
_USAGE = (
    "Usage: getconf [-v specification] variable_name [pathname]\n       getconf -a [pathname]\n"
)


@command(
    "getconf",
    manners=Manners(GLIBC, write_error=SILENT),
    usage="""
    Usage: getconf [-v specification] variable_name [pathname]
      or:  getconf -a [pathname]
    Print the value of a configuration variable; those of files need a pathname.

      -a                print all variables
      -v SPECIFICATION  accepted: there is one programming environment
          --help        display this help and exit
    """,
)
def getconf(ctx: CommandContext, args: Arguments) -> int:
    if args.flag("a"):
        for name, value in sorted({**_VALUES, **_OF_PATHS}.items()):
            ctx.print(f"{name:<34} {value}")
        return 0
    if not 1 <= len(args.operands) <= 2:
        ctx.stderr.write(encode(_USAGE))
        return 2
    name = args.operands[0]
    if len(args.operands) == 2 and name in _OF_PATHS:
        ctx.fs.stat(ctx.path(args.operands[1]))
        ctx.print(str(_OF_PATHS[name]))
        return 0
    if name in _OF_PATHS:
        ctx.stderr.write(encode(_USAGE))
        return 2
    if name not in _VALUES:
        raise CommandError(f"Unrecognized variable `{name}'", 2)
    ctx.print(_VALUES[name])
    return 0
