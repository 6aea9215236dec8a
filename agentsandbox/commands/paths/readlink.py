"""`readlink` (GNU coreutils): what symbolic links say, or canonical names."""

from __future__ import annotations

from agentsandbox.commands._files.canonical import canonicalize
from agentsandbox.commands._suites import COREUTILS
from agentsandbox.commands._text.lines import shown_name
from agentsandbox.contract.command import Arguments, CommandContext, command, describe_os_error
from agentsandbox.contract.manners import Manners
from agentsandbox.errors import UsageError
from agentsandbox.kernel.streams import encode

_MODES = {
    "canonicalize": "last",
    "canonicalize-existing": "none",
    "canonicalize-missing": "missing",
}


@command(
    "readlink",
    manners=Manners(
        COREUTILS,
        bytewise=True,
        long_options="""
            canonicalize canonicalize-existing canonicalize-missing no-newline quiet
            silent verbose zero help version
        """,
    ),
    usage="""
    Usage: readlink [OPTION]... FILE...
    Print what a symbolic link says, or a canonical file name.

      -f, --canonicalize           follow every link in every component; all but the last must exist
      -e, --canonicalize-existing  the same; all components must exist
      -m, --canonicalize-missing   the same; components may be missing
      -n, --no-newline             no newline at the end
      -q, --quiet                  no error messages (default)
      -s, --silent                 no error messages (default)
      -v, --verbose                report errors
      -z, --zero                   end each line with NUL, not newline
          --help                   display this help and exit
    """,
)
def readlink(ctx: CommandContext, args: Arguments) -> int:
    if not args.operands:
        raise UsageError("missing operand")
    mode = _MODES.get(args.last(*_MODES) or "")
    end = "\0" if args.flag("zero") else "\n"
    if args.flag("no-newline"):
        if len(args.operands) > 1:
            ctx.warn("ignoring --no-newline with multiple arguments", ctx.status)
        else:
            end = ""
    verbose = args.last("quiet", "silent", "verbose") == "verbose"
    for name in args.operands:
        ctx.budget.step()
        try:
            shown = (
                ctx.fs.readlink(ctx.path(name)) if mode is None else canonicalize(ctx, name, mode)
            )
        except OSError as error:
            ctx.status = 1
            if verbose:
                ctx.warn(describe_os_error(error, shown_name(name)))
            continue
        ctx.stdout.write(encode(shown + end))
    return ctx.status
