"""`printf` (POSIX 1003.1-2017, GNU coreutils) as a program; scripts get the shell's builtin, by the same rules."""

from __future__ import annotations

import re

from agentsandbox.command import Arguments, CommandContext, command
from agentsandbox.commands._quoting import quote, quote_as
from agentsandbox.errors import CommandError, UsageError
from agentsandbox.languages.long_double import LongDouble, parse_long_double
from agentsandbox.languages.printf import Directive, Rendering, character_code, compile_format, pad, parse_integer
from agentsandbox.streams import encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

_STOP = re.compile(r"(?:[^\\]|\\[^c])*?\\c", re.DOTALL)
_ERANGE = "Numerical result out of range"


class _Rendering(Rendering):
    """The same conversions; numbers that are wrong are reported in the words of coreutils."""

    def _check(self, text: str, end: int, out_of_range: bool) -> None:
        if out_of_range:
            self.failed = True
            self.warn(f"{quote(text)}: {_ERANGE}")
        elif not end:
            self.failed = True
            self.warn(f"{quote(text)}: expected a numeric value")
        elif end < len(text):
            self.failed = True
            self.warn(f"{quote(text)}: value not completely converted")

    def _code(self, text: str) -> int:
        if len(text) > 2:
            self.warn(f"warning: {text[2:]}: character(s) following character constant have been ignored")
        return character_code(text)

    def integer(self, low: int, high: int) -> int:
        text = self.next_argument()
        if text is None:
            return 0
        if text[:1] in ("'", '"') and len(text) > 1:
            return self._code(text)
        number, end = parse_integer(text)
        limited = min(max(number, low), high)
        self._check(text, end, limited != number)
        return limited

    def real(self) -> LongDouble:
        text = self.next_argument()
        if text is None:
            return LongDouble.from_int(0)
        if text[:1] in ("'", '"') and len(text) > 1:
            return LongDouble.from_int(self._code(text))
        number, end, out_of_range = parse_long_double(text)
        self._check(text, end, out_of_range)
        return number

    def quoted(self, directive: Directive) -> bytes:
        flags, width, precision = self.measures(directive)
        text = self.next_argument() or ""
        self.budget.charge(8 * len(text))
        return pad(encode(quote_as(text, "shell-escape"))[:precision], flags, width)


def _check_format(ctx: CommandContext, text: str) -> Callable[[str], None]:
    """The reporter of complaints; those about the format itself end the command."""

    def warn(message: str) -> None:
        found = re.fullmatch(r"`(.*)': (?:missing|invalid) format character", message, re.DOTALL)
        if found is not None:
            at = text.find(found[1])
            start = text.rfind("%", 0, at + 1)
            raise CommandError(f"{text[start : at + len(found[1])]}: invalid conversion specification")
        if message.startswith("missing hex digit"):
            raise CommandError("missing hexadecimal number in escape")
        ctx.warn(message, ctx.status)

    return warn


@command(
    "printf",
    usage="""
    Usage: printf FORMAT [ARGUMENT]...
      or:  printf OPTION
    Print ARGUMENT(s) according to FORMAT, as in C; FORMAT is used again while arguments are left.

      --help  display this help and exit

    Escapes: \\" \\\\ \\a \\b \\c (no more output) \\e \\f \\n \\r \\t \\v \\NNN (octal) \\xHH \\uHHHH \\UHHHHHHHH
    Conversions: %d %i %o %u %x %X %f %F %e %E %g %G %a %A %c %s %%, %b (escapes in the argument), %q (quoted for a shell)
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
    text, arguments = words[0], words[1:]
    stop = _STOP.match(text)
    if stop is not None:
        text = text[: stop.end() - 2]
    compiled = compile_format(text, ctx.budget)
    usable = arguments[: compiled.directives] if stop is not None else arguments if compiled.directives else ()
    rendering = _Rendering(compiled, usable, _check_format(ctx, text), ctx.budget, zone=ctx.env.get("TZ", ""))
    try:
        output, status = rendering.run()
    except CommandError:
        ctx.stdout.write(b"".join(rendering.output))
        raise
    ctx.stdout.write(output)
    if arguments and not compiled.directives and stop is None:
        ctx.warn(f"warning: ignoring excess arguments, starting with {quote(arguments[0])}", status)
    return status
