"""`seq` (GNU coreutils): print numbers from FIRST to LAST. Decimal numbers are added exactly."""

from __future__ import annotations

import re

from agentsandbox.command import Arguments, CommandContext, command
from agentsandbox.commands._directives import check_rest, find_directive
from agentsandbox.commands._quoting import quote
from agentsandbox.errors import CommandError, UsageError
from agentsandbox.streams import encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

_NEGATIVE = re.compile(r"-[.0-9]")
_DECIMAL = re.compile(r"[ \t\n\v\f\r]*([+-]?)([0-9]*)(\.?)([0-9]*)(?:[eE]([+-]?[0-9]+))?\Z")
_HEX = re.compile(r"[ \t\n\v\f\r]*([+-]?)0[xX](?=\.?[0-9a-fA-F])([0-9a-fA-F]*)(\.?)([0-9a-fA-F]*)(?:[pP]([+-]?[0-9]+))?\Z")
_SPECIAL = re.compile(r"[ \t\n\v\f\r]*([+-]?)(inf|infinity|nan)\Z", re.IGNORECASE)
_DIRECTIVE = re.compile(r"%([-+#0 ']*)([0-9]*)(?:\.([0-9]*))?(L?)(.?)", re.DOTALL)
_MAX_DIGITS = 4000
_BLOCK = 4096


def _rewrite(words: Sequence[str]) -> Sequence[str]:
    """A negative number ends the options, as any operand does."""
    for at, word in enumerate(words):
        if at and words[at - 1] in ("-f", "-s", "--format", "--separator"):
            continue
        if _NEGATIVE.match(word):
            return [*words[:at], "--", *words[at:]]
        if word == "--" or not word.startswith("-"):
            break
    return words


class _Number:
    """An operand: ±units / 10**scale, its precision and width as they would be printed."""

    __slots__ = ("infinite", "is_rough", "negative_zero", "precision", "scale", "units", "width")

    def __init__(self, text: str) -> None:
        self.units = self.scale = self.precision = self.width = 0
        self.infinite = self.negative_zero = self.is_rough = False
        """Rough: nothing says how many digits to print, so that %g does."""
        if found := _HEX.match(text):
            self._read_hexadecimal(text, *found.groups())
        elif found := _SPECIAL.match(text):
            if found[2].lower() == "nan":
                raise UsageError(f"invalid {quote('not-a-number')} argument: {quote(text)}")
            self.infinite = True
            self.units = -1 if found[1] == "-" else 1
        elif (found := _DECIMAL.match(text)) and (found[2] or found[4]) and len(text) < _MAX_DIGITS:
            self._read(text, *found.groups())
        else:
            raise UsageError(f"invalid floating point argument: {quote(text)}")

    def _read_hexadecimal(self, text: str, sign: str, whole: str, point: str, fraction: str, exponent_text: str | None) -> None:
        exponent = int((exponent_text or "0")[:7]) - 4 * len(fraction)
        if abs(exponent) > _MAX_DIGITS or len(text) > _MAX_DIGITS:
            raise CommandError(f"{quote(text)} is too large here")
        self.is_rough = bool(point) or exponent_text is not None
        self.units = int(sign + whole + fraction, 16)
        if exponent < 0:
            self.scale = -exponent
            self.units *= 5**self.scale
        else:
            self.units <<= exponent

    def _read(self, text: str, sign: str, whole: str, point: str, fraction: str, exponent_text: str | None) -> None:
        exponent = int((exponent_text or "0")[:7])
        if abs(exponent) > _MAX_DIGITS:
            raise CommandError(f"the exponent of {quote(text)} is too large here")
        self.units = int((whole + fraction) or "0")
        self.scale = len(fraction) - exponent
        if self.scale < 0:
            self.units *= 10**-self.scale
            self.scale = 0
        if sign == "-":
            self.negative_zero = not self.units
            self.units = -self.units
        shown = text.lstrip(" \t\n\v\f\r+")
        mantissa = len(shown) - (len(exponent_text) + 1 if exponent_text is not None else 0)
        self.precision = len(fraction)
        self.width = mantissa + ((-1 if not fraction else int(not whole)) if point else 0)
        if exponent_text is not None:
            self._scale_width(exponent, point, fraction)

    def _scale_width(self, exponent: int, point: str, fraction: str) -> None:
        """What the exponent does to precision and width."""
        self.precision += -exponent if exponent < 0 else -min(self.precision, exponent)
        if exponent < 0:
            if not point or not fraction:
                self.width += 1
            self.width -= exponent
        else:
            if point and not self.precision and fraction:
                self.width -= 1
            self.width += exponent - min(len(fraction), exponent)

    def scaled(self, scale: int) -> int:
        """The value times 10**scale."""
        return int(self.units * 10 ** (scale - self.scale))


def _values(first: _Number, step: _Number, last: _Number, scale: int) -> tuple[int, int, int | None]:
    """(first, step, count) in units of 10**-scale; count is None for ever."""
    if first.infinite and not last.infinite and (first.units > 0) == (step.units > 0):
        return 0, 1, 0
    if first.infinite or step.infinite:
        raise CommandError("only LAST may be infinite here")
    begin, stride = first.scaled(scale), step.scaled(scale)
    if last.infinite:
        return begin, stride, None if (last.units > 0) == (stride > 0) else 0
    return begin, stride, max(0, (last.scaled(scale) - begin) // stride + 1)


def _equal_width(first: _Number, last: _Number, precision: int) -> int:
    first_width = first.width + precision - first.precision
    last_width = last.width + precision - last.precision
    if last.precision and not precision:
        last_width -= 1
    if not last.precision and precision:
        last_width += 1
    if not first.precision and precision:
        first_width += 1
    return max(first_width, last_width)


def _fixed(precision: int, scale: int, width: int) -> Callable[[int], str]:
    """Writes units of 10**-scale with `precision` digits."""
    cut = 10 ** (scale - precision)
    base = 10**precision

    def text(units: int) -> str:
        sign = "-" if units < 0 else ""
        whole, fraction = divmod(abs(units) // cut, base)
        body = f"{whole}.{fraction:0{precision}d}" if precision else str(whole)
        return sign + body.zfill(width - len(sign))

    return text


def _formatter(ctx: CommandContext, given: str, scale: int) -> Callable[[int], str]:
    """Writes by a printf format with one floating-point directive."""
    from agentsandbox.languages.long_double import format_long_double, parse_long_double  # only for -f

    prefix, directive, suffix = _split_format(given)
    flags, width, precision, _, conversion = directive.groups()
    for number in (width, precision):
        if number:
            ctx.budget.charge(int(number[-9:]) if len(number) < 10 else 2**62)
    digits = None if precision is None else int(precision or "0")
    if "'" in flags:
        flags = flags.replace("'", "")

    def text(units: int) -> str:
        value, _, _ = parse_long_double(f"{'-' if units < 0 else ''}{abs(units)}e{-scale}")
        return prefix + format_long_double(value, conversion, digits, flags, int(width or "0")) + suffix

    return text


def _split_format(given: str) -> tuple[str, re.Match[str], str]:
    """(text before, the directive, text after), `%%` made one."""
    found = find_directive(given, _DIRECTIVE)
    if found[5] not in "aefgAEFG":
        raise CommandError(f"format {quote(given)} has unknown %{found[5]} directive")
    check_rest(given, found)
    return given[: found.start()].replace("%%", "%"), found, given[found.end() :].replace("%%", "%")


def _blocks(ctx: CommandContext, begin: int, stride: int, count: int | None) -> Iterator[range]:
    """Ranges of values, small ones first so that `| head` has its lines soon."""
    size, done = 64, 0
    while count is None or done < count:
        here = size if count is None else min(size, count - done)
        start = begin + done * stride
        ctx.budget.step(here // 16 + 1)
        ctx.budget.breathe()
        yield range(start, start + here * stride, stride)
        done += here
        size = min(_BLOCK, size * 4)


@command(
    "seq",
    rewrite=_rewrite,
    permute=False,
    usage="""
    Usage: seq [OPTION]... LAST
      or:  seq [OPTION]... FIRST LAST
      or:  seq [OPTION]... FIRST INCREMENT LAST
    Print numbers from FIRST (1) to LAST, in steps of INCREMENT (1).

      -f, --format=FORMAT      write numbers by a printf FORMAT with one of %a %e %f %g
      -s, --separator=STRING   write STRING between numbers, not a newline
      -w, --equal-width        make all numbers equally wide with leading zeros
          --help               display this help and exit
    """,
)
def seq(ctx: CommandContext, args: Arguments) -> int:
    words = args.operands
    if not words:
        raise UsageError("missing operand")
    if len(words) > 3:
        raise UsageError(f"extra operand {quote(words[3])}")
    given = args.value("format")
    if given is not None:
        _split_format(given)
        if args.flag("equal-width"):
            raise UsageError("format string may not be specified when printing equal width strings")
    numbers: list[_Number] = []
    for at, word in enumerate(words):
        numbers.append(_Number(word))
        if at == 1 and len(words) > 2 and not numbers[1].units:
            raise UsageError(f"invalid Zero increment value: {quote(word)}")
    first = numbers[0] if len(numbers) > 1 else _Number("1")
    step = numbers[1] if len(numbers) > 2 else _Number("1")
    last = numbers[-1]
    scale = max(first.scale, step.scale, 0 if last.infinite else last.scale)
    begin, stride, count = _values(first, step, last, scale)
    if count == 0:
        return 0
    if given is None and (first.is_rough or step.is_rough):
        given = "%g"
    precision = max(first.precision, step.precision)
    width = _equal_width(first, last, precision) if args.flag("equal-width") else 0
    ctx.budget.charge(width + precision)
    if given is not None:
        write: Callable[[int], str] = _formatter(ctx, given, scale)
    elif scale or width:
        write = _fixed(precision, max(scale, precision), width) if precision <= scale else _wider(precision, scale, width)
    else:
        write = str
    separator = args.value("separator", "\n") or ""
    prefix = "-" if first.negative_zero and given is None else ""
    for values in _blocks(ctx, begin, stride, count):
        ctx.stdout.write(encode(prefix + separator.join(map(write, values))))
        prefix = separator
    ctx.stdout.write(b"\n")
    return 0


def _wider(precision: int, scale: int, width: int) -> Callable[[int], str]:
    """As `_fixed` for more digits than the values have."""
    factor = 10 ** (precision - scale)
    fixed = _fixed(precision, precision, width)
    return lambda units: fixed(units * factor)
