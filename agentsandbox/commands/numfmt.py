"""`numfmt` (GNU coreutils): numbers to and from human-readable forms. Values are exact fractions."""

from __future__ import annotations

import re

from agentsandbox.command import Arguments, CommandContext, command
from agentsandbox.commands._choices import choose
from agentsandbox.commands._cut_lists import parse_ranges
from agentsandbox.commands._lines import lines
from agentsandbox.commands._quoting import quote
from agentsandbox.errors import CommandError, UsageError
from agentsandbox.streams import decode, encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from fractions import Fraction

_SUFFIXES = "KMGTPEZY"
_NUMBER = re.compile(r"(-?)([0-9]*)(?:\.([0-9]+))?")
_FORMAT = re.compile(r"%( *)(['0 -]*)([0-9]*)(?:\.([0-9]*))?(.?)", re.DOTALL)
_SCALES = ("none", "auto", "si", "iec", "iec-i")
_ROUNDINGS = ("up", "down", "from-zero", "towards-zero", "nearest")
_MAX_UNSCALED = 18
_MAX_DIGITS = 27


class _Options:
    """How numbers are read, changed and printed."""

    __slots__ = (
        "delimiter", "end", "fields", "from_scale", "from_unit", "header", "invalid", "left", "padding", "precision",
        "prefix", "rounding", "suffix", "tail", "to_scale", "to_unit", "zeros",
    )  # fmt: skip

    def __init__(self, ctx: CommandContext, args: Arguments) -> None:
        self.from_scale = choose(args.value("from", "none") or "", "--from", [(word,) for word in _SCALES])
        self.to_scale = choose(args.value("to", "none") or "", "--to", [(word,) for word in _SCALES if word != "auto"])
        self.rounding = choose(args.value("round", "from-zero") or "", "--round", [(word,) for word in _ROUNDINGS])
        self.invalid = choose(args.value("invalid", "abort") or "", "--invalid", [("abort",), ("fail",), ("warn",), ("ignore",)])
        self.from_unit = _unit(args.value("from-unit", "1") or "")
        self.to_unit = _unit(args.value("to-unit", "1") or "")
        self.suffix = args.value("suffix", "") or ""
        self.end = b"\0" if args.flag("zero-terminated") else b"\n"
        self.delimiter = _delimiter(args)
        self.fields = parse_ranges(args.value("field", "1") or "", fields=True, complement=False, all_of_dash=True)
        self.header = _header(args.value("header", "0")) if args.flag("header") else 0
        self.padding, self.left = _padding(args.value("padding"))
        self.prefix = self.tail = ""
        self.precision: int | None = None
        self.zeros = 0
        if args.flag("format"):
            self._set_format(args.value("format") or "")
        ctx.budget.charge(self.padding + self.zeros + (self.precision or 0))
        if args.flag("grouping"):
            if args.flag("format"):
                raise CommandError("--grouping cannot be combined with --format")
            if self.to_scale != "none":
                raise CommandError("grouping cannot be combined with --to")

    def _set_format(self, text: str) -> None:
        """The single `%f` of `--format`."""
        at = 0
        while True:
            at = text.find("%", at)
            if at < 0:
                raise CommandError(f"format {quote(text)} has no % directive")
            if text[at + 1 : at + 2] != "%":
                break
            at += 2
        found = _FORMAT.match(text, at)
        assert found is not None
        _, flags, width, precision, letter = found.groups()
        if at + 1 == len(text) or not letter:
            raise CommandError(f"format {quote(text)} ends in %")
        if letter != "f":
            raise CommandError(f"invalid format {quote(text)}, directive must be %[0]['][-][N][.][N]f")
        if len(width) > 9 or len(precision or "") > 9:
            raise CommandError(f"invalid format {quote(text)} (width overflow)")
        rest = text[found.end() :]
        if "%" in rest.replace("%%", ""):
            raise CommandError(f"format {quote(text)} has too many % directives")
        if "'" in flags and self.to_scale != "none":
            raise CommandError("grouping cannot be combined with --to")
        self.prefix, self.tail = text[:at].replace("%%", "%"), rest.replace("%%", "%")
        if width and int(width):
            if "0" in flags:
                self.zeros = int(width)
            else:
                self.padding, self.left = int(width), "-" in flags
        if precision is not None:
            self.precision = int(precision or "0")


def _unit(text: str) -> int:
    found = re.fullmatch(r"([0-9]{0,18})(?:([KMGTPEZY])(i?))?", text)
    if found is None or not text:
        raise CommandError(f"invalid unit size: {quote(text)}")
    digits, letter, binary = found.groups()
    value = int(digits or "1")
    if letter:
        value *= (1024 if binary else 1000) ** (_SUFFIXES.index(letter) + 1)
    if not value:
        raise CommandError(f"invalid unit size: {quote(text)}")
    return value


def _delimiter(args: Arguments) -> str | None:
    text = args.value("delimiter")
    if text is None:
        return None
    if len(encode(text)) > 1:
        raise CommandError("the delimiter must be a single character")
    return text or "\0"


def _header(text: str | None) -> int:
    if not text:
        return 1
    if not re.fullmatch("[0-9]{1,18}", text) or not int(text):
        raise CommandError(f"invalid header value {quote(text)}")
    return int(text)


def _padding(text: str | None) -> tuple[int, bool]:
    if text is None:
        return 0, False
    if not re.fullmatch("[+-]?[0-9]{1,18}", text) or not int(text):
        raise CommandError(f"invalid padding value {quote(text)}")
    return abs(int(text)), int(text) < 0


class _BadNumberError(Exception):
    """A field is no number; says why."""


def _parse(text: str, options: _Options) -> tuple[Fraction, int]:
    """(value, digits after the point) of a field."""
    from fractions import Fraction  # only this command calculates with them

    found = _NUMBER.match(text)
    assert found is not None
    sign, whole, fraction = found.groups()
    rest = text[found.end() :]
    if not whole and fraction is None:
        raise _BadNumberError(f"invalid number: {quote(text)}")
    if rest.startswith("."):
        raise _BadNumberError(f"invalid number: {quote(text)}")
    if len(whole.lstrip("0")) > _MAX_DIGITS or len(fraction or "") > 1000:
        raise _BadNumberError(f"value too large to be converted: {quote(text)}")
    fraction = fraction or ""
    value = Fraction(int(whole + fraction or "0"), 10 ** len(fraction))
    precision = len(fraction)
    rest = rest.lstrip(" \t") if rest[:1] in (" ", "\t") else rest
    if rest:
        multiplier = _suffix(rest, text, options.from_scale)
        if multiplier > 1:
            precision = 0
        value *= multiplier
    return (-value if sign else value), precision


def _suffix(rest: str, text: str, scale: str) -> int:
    letter = rest[0]
    if letter not in _SUFFIXES:
        raise _BadNumberError(f"invalid suffix in input: {quote(text)}")
    if scale == "none":
        raise _BadNumberError(f"rejecting suffix in input: {quote(text)} (consider using --from)")
    rest = rest[1:]
    base = 1000 if scale in ("si", "auto") else 1024
    if scale == "auto" and rest.startswith("i"):
        base, rest = 1024, rest[1:]
    if scale == "iec-i":
        if not rest.startswith("i"):
            raise _BadNumberError(f"missing 'i' suffix in input: {quote(text)} (e.g Ki/Mi/Gi)")
        rest = rest[1:]
    if rest:
        raise _BadNumberError(f"invalid suffix in input {quote(text)}: {quote(rest)}")
    return int(base ** (_SUFFIXES.index(letter) + 1))


def _round(value: Fraction, how: str) -> int:
    import math

    if how == "up":
        return math.ceil(value)
    if how == "down":
        return math.floor(value)
    if how == "from-zero":
        return math.ceil(value) if value > 0 else math.floor(value)
    if how == "towards-zero":
        return math.trunc(value)
    half = math.floor(abs(value) * 2 + 1) // 2
    return -half if value < 0 else half


def _fixed(value: Fraction, precision: int) -> str:
    """printf's %.Nf: ties to even."""
    scaled = round(value * 10**precision)
    sign = "-" if value < 0 else ""
    whole, fraction = divmod(abs(scaled), 10**precision)
    return f"{sign}{whole}.{fraction:0{precision}d}" if precision else f"{sign}{whole}"


def _print_number(value: Fraction, precision: int, options: _Options) -> str:
    """The text of a value, scaled and rounded."""
    used = precision if options.precision is None else options.precision
    magnitude = len(str(abs(int(value)))) - 1 if abs(value) >= 1 else 0
    if options.to_scale == "none":
        if magnitude + used > _MAX_UNSCALED:
            shown = f"{float(value):g}" + (f"/{used}" if used else "")
            kind = "value/precision" if used else "value"
            raise _BadNumberError(f"{kind} too large to be printed: '{shown}' (consider using --to)")
        scaled = _round(value * 10**used, options.rounding)
        return _zero_filled(_fixed(_fraction(scaled, 10**used), used), options)
    if magnitude >= _MAX_DIGITS:
        raise _BadNumberError(f"value too large to be printed: '{float(value):g}' (cannot handle values > 999Y)")
    base = 1000 if options.to_scale == "si" else 1024
    power = 0
    while abs(value) >= base:
        value /= base
        power += 1
    if options.precision is not None:
        adjust = min(3 * power, options.precision)
    else:
        adjust = 1 if abs(value) < 10 else 0
    value = _fraction(_round(value * 10**adjust, options.rounding), 10**adjust)
    if abs(value) >= base:
        value /= base
        power += 1
    digits = options.precision if options.precision is not None else int(value != 0 and abs(value) < 10 and power > 0)
    unit = "" if not power else _SUFFIXES[power - 1] if power <= len(_SUFFIXES) else "(error)"
    if options.to_scale == "iec-i" and power:
        unit += "i"
    return _zero_filled(_fixed(value, digits), options) + unit


def _fraction(numerator: int, denominator: int) -> Fraction:
    from fractions import Fraction

    return Fraction(numerator, denominator)


def _zero_filled(text: str, options: _Options) -> str:
    if text.startswith("-"):
        return "-" + text[1:].zfill(options.zeros - 1) if options.zeros else text
    return text.zfill(options.zeros)


class _Converter:
    """Converts fields and lines; remembers whether one was bad."""

    __slots__ = ("ctx", "failed", "options")

    def __init__(self, ctx: CommandContext, options: _Options) -> None:
        self.ctx = ctx
        self.options = options
        self.failed = False

    def field(self, text: str, number: int) -> str:
        """One field, as it is printed."""
        options = self.options
        body = text.lstrip(" \t")
        padding, left = options.padding, options.left
        if not padding and options.delimiter is None and (body != text or number > 1):
            padding, left = len(text), False
        stripped = body.removesuffix(options.suffix) if options.suffix and body != options.suffix else body
        try:
            value, precision = _parse(stripped, options)
            value = value * options.from_unit / options.to_unit
            shown = _print_number(value, precision, options) + options.suffix
        except _BadNumberError as error:
            if options.invalid == "abort":
                raise CommandError(str(error), 2) from None
            if options.invalid != "ignore":
                self.ctx.stderr.write(encode(f"{self.ctx.name}: {error}\n"))
            self.failed = True
            return text
        shown = shown.ljust(padding) if left else shown.rjust(padding)
        return options.prefix + shown + options.tail

    def line(self, text: str) -> None:
        """One line: the chosen fields are converted and written as soon as they are known."""
        options = self.options
        out = self.ctx.stdout
        number = 0
        parts: list[str] = []
        try:
            for field, delimiter in _fields(text, options.delimiter):
                self.ctx.budget.step()
                number += 1
                if any(low <= number <= high for low, high in options.fields):
                    parts.append(self.field(field, number))
                else:
                    parts.append(field)
                parts.append(delimiter)
        finally:
            out.write(encode("".join(parts)))
        out.write(options.end)


def _fields(text: str, delimiter: str | None) -> list[tuple[str, str]]:
    """(field, delimiter after it): without a delimiter, blanks before a field belong to it."""
    if delimiter is not None:
        parts = text.split(delimiter)
        return [(part, delimiter) for part in parts[:-1]] + [(parts[-1], "")]
    found = []
    at = 0
    pattern = re.compile(r"[ \t]*[^ \t]*")
    while True:
        match = pattern.match(text, at)
        assert match is not None
        at = match.end()
        if at >= len(text):
            found.append((match[0], ""))
            return found
        found.append((match[0], " "))
        at += 1


@command(
    "numfmt",
    usage="""
    Usage: numfmt [OPTION]... [NUMBER]...
    Convert NUMBERs, or the numbers in standard input, from and to forms that people read.

      -d, --delimiter=X      fields are separated by X, not by blanks
          --field=FIELDS     convert these fields (1); as for cut, '-' for all
          --format=FORMAT    printf's %f, with a width, ' 0 - and a precision
          --from=UNIT        read numbers with suffixes: none, auto, si, iec, iec-i
          --from-unit=N      the input counts units of N (1)
          --grouping         group digits as the locale does (not at all in C.UTF-8)
          --header[=N]       copy the first N lines (1)
          --invalid=MODE     for bad numbers: abort, fail, warn, ignore
          --padding=N        at least N characters, to the left when negative
          --round=METHOD     up, down, from-zero, towards-zero, nearest
          --suffix=SUFFIX    add SUFFIX to numbers, and accept it
          --to=UNIT          write numbers with suffixes: none, si, iec, iec-i
          --to-unit=N        the output counts units of N (1)
      -z, --zero-terminated  lines end with NUL, not newline
          --help             display this help and exit

    UNIT: si 1K is 1000, iec 1K is 1024, iec-i 1Ki is 1024, auto both.
    """,
)
def numfmt(ctx: CommandContext, args: Arguments) -> int:
    try:
        options = _Options(ctx, args)
    except UsageError as error:
        raise UsageError(error.message, 1) from None
    converter = _Converter(ctx, options)
    if args.operands:
        for word in args.operands:
            converter.line(word)
    else:
        for number, line in enumerate(lines(ctx.budget, ctx.stdin, options.end)):
            if number < options.header:
                ctx.stdout.write(line + options.end)
            else:
                converter.line(decode(line))
    return 2 if converter.failed and options.invalid == "fail" else 0
