"""`seq` (GNU coreutils): print numbers from FIRST to LAST. Decimal numbers are added exactly."""

from __future__ import annotations

import re

from agentsandbox.command import Arguments, CommandContext, command
from agentsandbox.commands._directives import check_rest, find_directive
from agentsandbox.commands._quoting import quote
from agentsandbox.commands._suites import COREUTILS
from agentsandbox.errors import CommandError, UsageError
from agentsandbox.manners import Manners
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
_BLOCK = 16384
_ROOM = 1 << 22
"""Bytes that are written at a time, roughly."""
_SPARSE = 200
"""Where numbers are further apart, few of a thousand are written."""
_EXACT_DIGITS = 15
_SMALLEST_SCALE = 4
"""Digits behind the point that %g writes without an exponent."""


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


class _Layout:
    """How all numbers are written: digits behind the point, zeros in front up to a width, the same text before and behind each.

    The numbers of a thousand share all but their last three digits, unless each is changed again by `finish`.
    """

    __slots__ = ("_finish", "_fixed", "_lead", "_scale", "_tails", "_width", "after", "before")

    def __init__(self, scale: int, width: int, before: str = "", after: str = "", finish: Callable[[str], str] | None = None) -> None:
        self.before, self.after = before, after
        self._finish, self._scale, self._width = finish, scale, width
        self._fixed = _fixed(scale, scale, width)
        self._tails: list[str] = []
        self._lead: Callable[[int], str] = str

    def join(self, values: range, separator: str) -> str:
        """A range of numbers; its step is not 0."""
        between = self.after + separator + self.before
        low = values
        if values.start >= 0 and 0 < values.step <= _SPARSE and self._finish is None:
            low = range(values.start, min(values.stop, 1000), values.step)
        parts = list(map(self._fixed, low)) if self._finish is None else [self._finish(self._fixed(value)) for value in low]
        at = values.start + len(low) * values.step
        if at < values.stop and len(low) < len(values):
            self._add_thousands(parts, range(at, values.stop, values.step), between)
        return self.before + between.join(parts) + self.after

    def _add_thousands(self, parts: list[str], values: range, between: str) -> None:
        if not self._tails:
            scale = self._scale
            point = 3 - scale if 0 < scale <= 3 else 0
            tails = [f"{tail:03d}" for tail in range(1000)]
            self._tails = [f"{tail[:point]}.{tail[point:]}" for tail in tails] if 0 < scale <= 3 else tails
            shown = max(scale - 3, 0)
            self._lead = _fixed(shown, shown, self._width - len(self._tails[0]))
        at = values.start
        while at < values.stop:
            thousand, tail = divmod(at, 1000)
            tails = self._tails[tail : tail + values.stop - at : values.step]
            lead = self._lead(thousand)
            parts.append(lead + (between + lead).join(tails))
            at += len(tails) * values.step


def _layout_of(given: str, scale: int, largest: int) -> _Layout | None:
    """The layout that a printf format amounts to for numbers that a long double has exactly enough digits for, if it does."""
    before, directive, after = _split_format(given)
    flags, width_text, precision, _, conversion = directive.groups()
    digits = 6 if precision is None else int(precision or "0")
    if flags not in ("", "0", "-") or len(width_text) > 4 or digits > _EXACT_DIGITS:
        return None
    zeros = ""
    if conversion in "fF" and digits >= scale and largest * 10 ** (digits - scale) < 10**_EXACT_DIGITS:
        zeros = ("." if digits and not scale else "") + "0" * (digits - scale)
    elif conversion not in "gG" or scale > _SMALLEST_SCALE or largest >= 10**digits:
        return None
    width = int(width_text or "0")
    strip = scale > 0 and conversion in "gG"
    if not strip and (flags == "0" or not width):
        return _Layout(scale, width - len(zeros), before, zeros + after)
    pad = {"": str.rjust, "0": str.zfill, "-": str.ljust}[flags]
    if strip:
        return _Layout(scale, 0, before, after, lambda text: pad(text.rstrip("0").rstrip("."), width))
    return _Layout(scale, 0, before, after, lambda text: pad(text + zeros, width))


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


def _blocks(ctx: CommandContext, begin: int, stride: int, count: int | None, most: int) -> Iterator[range]:
    """Ranges of at most so many values, small ones first so that `| head` has its lines soon."""
    size, done = min(64, most), 0
    while count is None or done < count:
        here = size if count is None else min(size, count - done)
        start = begin + done * stride
        ctx.budget.step(here // 16 + 1)
        ctx.budget.breathe()
        yield range(start, start + here * stride, stride)
        done += here
        size = min(most, size * 4)


@command(
    "seq",
    manners=Manners(
        COREUTILS,
        pure=True,
        bytewise=True,
        long_options="equal-width format separator help version",
    ),
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
    cut = 10 ** max(0, scale - precision)
    if given is None and begin % cut == stride % cut == 0:  # LAST may have more digits
        begin, stride, scale = begin // cut, stride // cut, min(scale, precision)
    separator = args.value("separator", "\n") or ""
    most = max(1, min(_BLOCK, _ROOM // (len(separator) + width + precision + 1)))
    prefix = "-" if first.negative_zero and given is None else ""
    join = _joiner(
        ctx, given, (precision, scale, width), separator, None if count is None else max(abs(begin), abs(begin + count * stride))
    )
    for values in _blocks(ctx, begin, stride, count, most):
        ctx.stdout.write(encode(prefix + join(values)))
        prefix = separator
    ctx.stdout.write(b"\n")
    return 0


def _joiner(
    ctx: CommandContext, given: str | None, digits: tuple[int, int, int], separator: str, largest: int | None
) -> Callable[[range], str]:
    """Writes a range of numbers: by a printf format, or with digits behind the point and a width."""
    precision, scale, width = digits
    if given is None:
        layout = _Layout(scale, width) if precision == scale else None
    else:
        layout = _layout_of(given, scale, largest) if largest is not None else None
    if layout is not None:
        return lambda values: layout.join(values, separator)
    if given is not None:
        write = _formatter(ctx, given, scale)
    else:
        write = _fixed(precision, max(scale, precision), width) if precision <= scale else _wider(precision, scale, width)
    return lambda values: separator.join(map(write, values))


def _wider(precision: int, scale: int, width: int) -> Callable[[int], str]:
    """As `_fixed` for more digits than the values have."""
    factor = 10 ** (precision - scale)
    fixed = _fixed(precision, precision, width)
    return lambda units: fixed(units * factor)
