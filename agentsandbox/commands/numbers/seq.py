"""`seq` (GNU coreutils): print numbers from FIRST to LAST. Decimal numbers are added exactly."""

from __future__ import annotations

import re

from agentsandbox.commands._suites import COREUTILS
from agentsandbox.commands._text.quoting import quote
from agentsandbox.contract.command import Arguments, CommandContext, command
from agentsandbox.contract.manners import Manners
from agentsandbox.errors import CommandError, UsageError
from agentsandbox.kernel.expressions import lazily
from agentsandbox.kernel.streams import encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

_NEGATIVE = lazily(r"-[.0-9]")
_DECIMAL = lazily(
    r"[ \t\n\v\f\r]*+([+-]?)(?=\.?[0-9])([0-9]*+)(\.?)([0-9]*+)(?:[eE]([+-]?[0-9]++))?\Z"
)
_INFINITE = lazily(r"[ \t\n\v\f\r]*([+-]?)inf(?:inity)?\Z", re.IGNORECASE)
_DIRECTIVE = lazily(r"%([-+#0 ']*+)([0-9]*+)(?:\.([0-9]*+))?(L?)(.?)", re.DOTALL)
_MAX_DIGITS = 4000
_BLOCK = 16384
_ROOM = 1 << 22
"""Bytes that are written at a time, roughly."""


def _rewrite(words: Sequence[str]) -> Sequence[str]:
    """Put `--` before a negative number, which ends the options."""
    for at, word in enumerate(words):
        if at and words[at - 1] in ("-f", "-s", "--format", "--separator"):
            continue
        if word[:1] == "-" and _NEGATIVE.match(word):
            return [*words[:at], "--", *words[at:]]
        if word == "--" or not word.startswith("-"):
            break
    return words


class _Number:
    """An operand: ±units / 10**scale, its precision and width as they would be printed."""

    __slots__ = ("infinite", "precision", "scale", "units", "width")

    def __init__(self, text: str) -> None:
        self.units = self.scale = self.precision = self.width = 0
        self.infinite = False
        if text.isdecimal() and text.isascii() and len(text) < _MAX_DIGITS:
            self.units = int(text)
            self.width = len(text)
            return
        found = _DECIMAL.match(text)
        if infinite := _INFINITE.match(text):
            self.infinite = True
            self.units = -1 if infinite[1] == "-" else 1
        elif text.strip().lower().lstrip("+-") == "nan":
            raise UsageError(f"invalid {quote('not-a-number')} argument: {quote(text)}")
        elif found is not None and len(text) < _MAX_DIGITS:
            self._read(text, found)
        else:
            raise UsageError(f"invalid floating point argument: {quote(text)}")

    def _read(self, text: str, found: re.Match[str]) -> None:
        sign, whole, point, fraction, exponent_text = found.groups()
        exponent = int((exponent_text or "0")[:7])
        if abs(exponent) > _MAX_DIGITS:
            raise CommandError(f"the exponent of {quote(text)} is too large here")
        self.units = int(sign + whole + fraction)
        self.scale = len(fraction) - exponent
        if self.scale < 0:
            self.units *= 10**-self.scale
            self.scale = 0
        shown = text.lstrip(" \t\n\v\f\r+")
        self.precision = len(fraction)
        self.width = len(shown)
        if point:
            self.width += -1 if not fraction else int(not whole)
        if exponent_text is not None:
            self.width -= len(exponent_text) + 1
            self._scale_width(exponent, point, fraction)

    def _scale_width(self, exponent: int, point: str, fraction: str) -> None:
        """Change precision and width as the exponent says."""
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
        """Return the value times 10**scale."""
        return int(self.units * 10 ** (scale - self.scale))


def _values(
    first: _Number, step: _Number, last: _Number, scale: int
) -> tuple[int, int, int | None]:
    """Return (first, step, count) in units of 10**-scale; count is None for no end."""
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
    """Return what writes units of 10**-scale with `precision` digits."""
    factor, cut = 10 ** max(0, precision - scale), 10 ** max(0, scale - precision)
    base = 10**precision

    def text(units: int) -> str:
        sign = "-" if units < 0 else ""
        whole, fraction = divmod(abs(units) * factor // cut, base)
        body = f"{whole}.{fraction:0{precision}d}" if precision else str(whole)
        return sign + body.zfill(width - len(sign))

    return text


def _formatter(ctx: CommandContext, given: str, scale: int) -> Callable[[int], str]:
    """Return what writes by a printf format with one floating-point directive."""
    from agentsandbox.kernel.formats.long_double import format_long_double, parse_long_double

    prefix, directive, suffix = _split_format(given)
    flags, width, precision, _, conversion = directive.groups()
    for number in (width, precision):
        ctx.budget.charge(int((number or "0")[-9:]) if len(number or "") < 10 else 2**62)
    digits = None if precision is None else int(precision or "0")
    flags = flags.replace("'", "")

    def text(units: int) -> str:
        value, _, _ = parse_long_double(f"{units}e{-scale}")
        shown = format_long_double(value, conversion, digits, flags, int(width or "0"))
        return prefix + shown + suffix

    return text


def _split_format(given: str) -> tuple[str, re.Match[str], str]:
    """Return (text before, the directive, text after), `%%` made one."""
    at = given.find("%")
    while given[at : at + 2] == "%%":
        at = given.find("%", at + 2)
    if at < 0:
        raise CommandError(f"format {quote(given)} has no % directive")
    found = _DIRECTIVE.match(given, at)
    assert found is not None
    if not found[5]:
        raise CommandError(f"format {quote(given)} ends in %")
    if found[5] not in "efgEFG":
        raise CommandError(f"format {quote(given)} has unknown %{found[5]} directive")
    before, after = given[:at].replace("%%", "%"), given[found.end() :].replace("%%", "")
    if "%" in after:
        raise CommandError(f"format {quote(given)} has too many % directives")
    return before, found, given[found.end() :].replace("%%", "%")


def _blocks(
    ctx: CommandContext, begin: int, stride: int, count: int | None, most: int
) -> Iterator[range]:
    """Yield ranges of at most `most` values, small ones first for the sake of `| head`."""
    size, done = min(64, most), 0
    while count is None or done < count:
        here = size if count is None else min(size, count - done)
        start = begin + done * stride
        ctx.budget.step(here // 16 + 1)
        ctx.budget.breathe()
        yield range(start, start + here * stride, stride)
        done += here
        size = min(most, size * 4)


class _Integers:
    """Joins whole numbers: those of a thousand share all but their last three digits."""

    __slots__ = ("separator", "tails")

    def __init__(self, separator: str) -> None:
        self.separator = separator
        self.tails: list[str] = []

    def join(self, values: range) -> str:
        """Return the numbers with the separator between them."""
        if values.step != 1 or values.start < 1000:
            return self.separator.join(map(str, values))
        self.tails = self.tails or [f"{tail:03d}" for tail in range(1000)]
        parts: list[str] = []
        at = values.start
        while at < values.stop:
            lead, tail = divmod(at, 1000)
            tails = self.tails[tail : tail + values.stop - at]
            parts.append(str(lead) + f"{self.separator}{lead}".join(tails))
            at += len(tails)
        return self.separator.join(parts)


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

      -f, --format=FORMAT      write numbers by a printf FORMAT with one of %e %f %g
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
    numbers = [_Number(word) for word in words]
    first = numbers[0] if len(numbers) > 1 else _Number("1")
    step = numbers[1] if len(numbers) > 2 else _Number("1")
    last = numbers[-1]
    if not step.units:
        raise UsageError(f"invalid Zero increment value: {quote(words[1])}")
    scale = max(first.scale, step.scale, 0 if last.infinite else last.scale)
    begin, stride, count = _values(first, step, last, scale)
    if count == 0:
        return 0
    precision = max(first.precision, step.precision)
    width = _equal_width(first, last, precision) if args.flag("equal-width") else 0
    ctx.budget.charge(width + precision)
    cut = 10 ** max(0, scale - precision)
    if given is None and begin % cut == stride % cut == 0:  # LAST may have more digits
        begin, stride, scale = begin // cut, stride // cut, min(scale, precision)
    separator = args.value("separator", "\n") or ""
    most = max(1, min(_BLOCK, _ROOM // (len(separator) + width + precision + 1)))
    integers = _Integers(separator) if given is None and not (scale or width or precision) else None
    write = _fixed(precision, scale, width) if given is None else _formatter(ctx, given, scale)
    if given is not None:
        most = max(1, min(most, _ROOM // (len(write(begin)) + len(separator) + 1)))
    before = "-" if given is None and not begin and words[0].lstrip().startswith("-") else ""
    for values in _blocks(ctx, begin, stride, count, most):
        text = integers.join(values) if integers is not None else separator.join(map(write, values))
        ctx.budget.make(len(text))
        ctx.stdout.write(encode(before + text))
        before = separator
    ctx.stdout.write(b"\n")
    return 0
