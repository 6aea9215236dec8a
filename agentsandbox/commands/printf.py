"""`printf` (POSIX 1003.1-2017, GNU coreutils) as a program; scripts get the shell's builtin, by the same rules."""

from __future__ import annotations

import re

from agentsandbox.commands._text.quoting import quote, quote_as
from agentsandbox.contract.command import Arguments, CommandContext, command
from agentsandbox.contract.manners import Manners
from agentsandbox.errors import CommandError, UsageError
from agentsandbox.kernel.formats.long_double import LongDouble, parse_long_double
from agentsandbox.kernel.formats.printf import (
    INT_MAX,
    Directive,
    Rendering,
    character_code,
    compile_format,
    expand_escapes,
    pad,
    parse_integer,
)
from agentsandbox.kernel.streams import bytewise, encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.limits import Budget

_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{0,4}|U[0-9a-fA-F]{0,8}|x[0-9a-fA-F]{0,2}|.)", re.DOTALL)
_DIGITS = {"u": 4, "U": 8, "x": 1}
"""How many digits an escape must have."""
_STOP = re.compile(r"(?:[^\\]+|\\[^c])*+\\c", re.DOTALL)
_DIRECTIVE = re.compile(r"%(?:[bq%]|([-+ '#0I]*)(?:\*|[0-9]*)(\.(?:\*|-?[0-9]*))?[hjlLtz]*(.?))", re.DOTALL)
_WITHOUT = {"'": "aAceEosxX", "I": "aAceEosxX", "#": "cdisu", "0": "cs"}
"""The conversions that a flag does not go with."""
_ERANGE = "Numerical result out of range"


class _Rendering(Rendering):
    """The same conversions; numbers that are wrong are reported in the words of coreutils.

    `wrong` says what is wrong with the place that no pass gets beyond.
    """

    wrong = ""
    bytewise = False
    """Whether characters are bytes, as in the locale C."""

    def _pass(self) -> None:
        super()._pass()
        if self.wrong and not self.stopped:
            raise CommandError(self.wrong)

    def _check(self, text: str, end: int, out_of_range: bool) -> None:
        if out_of_range:
            self.failed = True
            self.warn(f"{quote(text)}: {_ERANGE}")
        elif not end and text:
            self.failed = True
            self.warn(f"{quote(text)}: expected a numeric value")
        elif end < len(text):
            self.failed = True
            self.warn(f"{quote(text)}: value not completely converted")

    def _code(self, text: str) -> int:
        if self.bytewise:
            text = bytewise(text)
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

    def _star(self, default: int) -> int:
        text = self.arguments[self.position] if self.position < len(self.arguments) else ""
        number = self.integer(-(2**63), 2**63 - 1)
        if number > INT_MAX or (not default and number < -INT_MAX - 1):
            raise CommandError(f"invalid {'precision' if default else 'field width'}: {quote(text)}")
        return number

    def real(self) -> LongDouble:
        text = self.next_argument()
        if text is None:
            return LongDouble.from_int(0)
        if text[:1] in ("'", '"') and len(text) > 1:
            return LongDouble.from_int(self._code(text))
        number, end, out_of_range = parse_long_double(text)
        self._check(text, end, out_of_range)
        return number

    def escaped(self, directive: Directive) -> bytes:
        text = self.next_argument() or ""
        if stop := _STOP.match(text):
            text = stop[0]
        text, bad = _before_bad_escape(text, self.budget, in_format=False)
        found, self.stopped = expand_escapes(text, self.warn)
        if bad:
            self.output.append(found)
            raise CommandError(bad)
        return found

    def quoted(self, directive: Directive) -> bytes:
        flags, width, precision = self.measures(directive)
        text = self.next_argument()
        if text is None:
            return b""
        self.budget.charge(8 * len(text))
        if self.bytewise:
            text = bytewise(text)
        return pad(encode(quote_as(text, "shell-escape"))[:precision], flags, width)


def _before_bad_escape(text: str, budget: Budget, *, in_format: bool) -> tuple[str, str]:
    """The text up to the first escape that stands for no character, and what to say of it."""
    parts: list[str] = []
    start = 0
    for found in _ESCAPE.finditer(text):
        budget.step()
        letter, digits = found[1][:1], found[1][1:]
        if letter == "%" and in_format:  # no escape: both characters are plain
            parts += [text[start : found.start()], "\\\\%%"]
            start = found.end()
        if letter not in _DIGITS or (letter == "x" and digits):
            continue
        parts.append(text[start : found.start()])
        if len(digits) < _DIGITS[letter]:
            return "".join(parts), "missing hexadecimal number in escape"
        code = int(digits, 16)
        if (code < 0xA0 and code not in (0x24, 0x40, 0x60)) or 0xD800 <= code <= 0xDFFF:
            return "".join(parts), f"invalid universal character name \\{letter}{digits.lower()}"
        parts.append(found[0] if code <= 0x10FFFF else f"\\{found[0].upper()}")
        start = found.end()
    return "".join([*parts, text[start:]]), ""


def _usable(text: str, budget: Budget, following: str) -> tuple[str, str]:
    """The format up to the first conversion specification that is wrong, and what to say of that."""
    parts: list[str] = []
    start = 0
    for found in _DIRECTIVE.finditer(text):
        budget.step()
        flags, precision, conversion = found.groups()
        parts.append(text[start : found.start()])
        start = found.end()
        if flags is None:
            parts.append(found[0])
            continue
        if not _is_conversion(flags, precision, conversion):
            return "".join(parts), f"{found[0]}{'' if conversion else following}: invalid conversion specification"
        parts.append("%" + found[0][1:].replace("I", "", flags.count("I")))
    return "".join([*parts, text[start:]]), ""


def _is_conversion(flags: str, precision: str | None, conversion: str) -> bool:
    if not conversion or conversion not in "aAcdeEfFgGiosuxX" or (precision is not None and conversion == "c"):
        return False
    return not any(conversion in _WITHOUT.get(flag, "") for flag in flags)


@command(
    "printf",
    manners=Manners(pure=True),
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
    text, bad = _before_bad_escape(text, ctx.budget, in_format=True)
    text, wrong = _usable(text, ctx.budget, "\\" if bad else "")
    compiled = compile_format(text, ctx.budget)
    usable = arguments[: compiled.directives] if stop is not None else arguments if compiled.directives else ()

    def warn(message: str) -> None:
        ctx.stdout.write(b"".join(rendering.output))  # what was printed comes before the message
        rendering.output.clear()
        ctx.warn(message, ctx.status)

    rendering = _Rendering(compiled, usable, warn, ctx.budget, zone=ctx.env.get("TZ", ""))
    rendering.wrong = wrong or bad
    rendering.bytewise = ctx.is_bytewise()
    try:
        output, status = rendering.run()
    except CommandError:
        ctx.stdout.write(b"".join(rendering.output))
        raise
    ctx.stdout.write(output)
    if stop is not None or rendering.stopped:
        return 0
    if arguments and not compiled.directives and stop is None:
        ctx.warn(f"warning: ignoring excess arguments, starting with {quote(arguments[0])}", status)
    return status
