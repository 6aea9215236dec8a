"""`printf` (POSIX 1003.1-2017) as a program, by the same rules as the shell's builtin."""

from __future__ import annotations

import re

from agentsandbox.commands._text.quoting import quote, quote_as
from agentsandbox.contract.command import Arguments, CommandContext, command
from agentsandbox.contract.manners import Manners
from agentsandbox.errors import UsageError
from agentsandbox.kernel.formats.printf import compile_format
from agentsandbox.kernel.formats.rendering import Rendering

_STOP = re.compile(r"((?:[^\\]+|\\[^c])*+)\\c", re.DOTALL)
"""A format that ends all output."""


def _quote(text: str) -> str:
    return quote_as(text, "shell-escape")


@command(
    "printf",
    manners=Manners(pure=True),
    usage="""
    Usage: printf FORMAT [ARGUMENT]...
      or:  printf OPTION
    Print ARGUMENT(s) according to FORMAT, as in C; FORMAT is used again while arguments are left.

      --help  display this help and exit

    Escapes: \\" \\\\ \\a \\b \\c (no more output) \\e \\f \\n \\r \\t \\v \\NNN (octal) \\xHH
      \\uHHHH \\UHHHHHHHH
    Conversions: %d %i %o %u %x %X %f %F %e %E %g %G %c %s %%, %b (escapes in the argument),
      %q (quoted for a shell)
    """,
    raw=True,
)
def printf(ctx: CommandContext, args: Arguments) -> int:
    words = args.operands
    if words == ["--help"]:
        ctx.print(printf.usage, end="")
        return 0
    if words and words[0] == "--":
        words = words[1:]
    if not words:
        raise UsageError("missing operand")
    stop = _STOP.match(words[0])
    compiled = compile_format(words[0] if stop is None else stop[1], ctx.budget)
    arguments = words[1:] if stop is None else words[1 : 1 + compiled.directives]
    arguments = arguments if compiled.directives else []

    def warn(message: str) -> None:
        ctx.stdout.write(b"".join(rendering.output))  # what was printed comes before the message
        rendering.output.clear()
        ctx.warn(message, ctx.status)

    zone = ctx.env.get("TZ", "")
    rendering = Rendering(
        compiled, arguments, warn, ctx.budget, zone=zone, in_bytes=ctx.is_bytewise(), quote=_quote
    )
    output, status = rendering.run()
    ctx.stdout.write(output)
    if len(words) > 1 and not compiled.directives and stop is None:
        excess = f"warning: ignoring excess arguments, starting with {quote(words[1])}"
        ctx.warn(excess, status)
    return status
