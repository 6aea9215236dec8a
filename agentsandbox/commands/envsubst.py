"""`envsubst` (gettext): the values of environment variables in the place of their names."""

from __future__ import annotations

import re

from agentsandbox.contract.command import Arguments, CommandContext, command
from agentsandbox.contract.manners import Manners, Release
from agentsandbox.errors import CommandError
from agentsandbox.kernel.streams import encode

_REFERENCE = re.compile(rb"\$(?:([A-Za-z_][A-Za-z0-9_]*)|\{([A-Za-z_][A-Za-z0-9_]*)\})")


@command(
    "envsubst",
    manners=Manners(
        Release("NAME (GNU gettext-runtime) 0.21", "-V, --version"),
        long_options="help variables version",
        read_error=('NAME: error while reading "standard input": REASON', 1),
    ),
    usage="""
    Usage: envsubst [OPTION] [SHELL-FORMAT]
    Copy standard input to standard output with the values of environment variables in the place of
    $NAME and ${NAME}.

    With SHELL-FORMAT, only variables that are referenced in it are replaced. What is not set is
    replaced by nothing.

      -v, --variables   write the names of the variables in SHELL-FORMAT, one a line
      -h, --help        display this help and exit
    """,
)
def envsubst(ctx: CommandContext, args: Arguments) -> int:
    if len(args.operands) > 1:
        raise CommandError("too many arguments", 1)
    format = encode(args.operands[0]) if args.operands else None
    if args.flag("variables"):
        if format is None:
            raise CommandError("missing arguments", 1)
        ctx.stdout.write(b"".join([name + b"\n" for name in _names(format)]))
        return ctx.status
    wanted = None if format is None else set(_names(format))
    values = {encode(name): encode(text) for name, text in ctx.env.items()}

    def value(match: re.Match[bytes]) -> bytes:
        name: bytes = match[match.lastindex or 0]
        if wanted is not None and name not in wanted:
            return match[0]
        return values.get(name, b"")

    while line := ctx.stdin.readline():
        ctx.budget.step()
        references = line.count(b"$")
        if references:
            ctx.budget.charge(len(line) + references * max(map(len, values.values()), default=0))
            line = _REFERENCE.sub(value, line)
        ctx.stdout.write(line)
    return ctx.status


def _names(format: bytes) -> list[bytes]:
    return [match[match.lastindex or 0] for match in _REFERENCE.finditer(format)]
