"""`numfmt` (GNU coreutils): numbers to and from human-readable forms, as exact fractions."""

from __future__ import annotations

import re

from agentsandbox.commands._suites import COREUTILS
from agentsandbox.commands._text.choices import choice_of
from agentsandbox.commands._text.cut_lists import parse_ranges
from agentsandbox.commands._text.lines import line_blocks, split_lines
from agentsandbox.commands._text.quoting import quote
from agentsandbox.contract.command import Arguments, CommandContext, command
from agentsandbox.contract.manners import Manners
from agentsandbox.errors import CommandError
from agentsandbox.kernel.expressions import lazily
from agentsandbox.kernel.streams import decode, encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

_SUFFIXES = "KMGTPEZY"
_NUMBER = lazily(r"(-?)([0-9]*)(?:\.([0-9]+))?")
_WORDS = {"from": "none auto si iec iec-i", "to": "none si iec iec-i"}
_CHOICES = {
    option: choice_of(f"--{option}", [(word,) for word in words.split()])
    for option, words in _WORDS.items()
}
_MAX_UNSCALED = 18
_MAX_DIGITS = 27
_PIECE = 2048
_PLAIN_DIGITS = 16
_FIELD = lazily(r"[ \t\n]*[^ \t\n]*")


class _Options:
    """How numbers are read, changed and printed."""

    def __init__(self, ctx: CommandContext, args: Arguments) -> None:
        self.from_scale = _CHOICES["from"](args.value("from", "none") or "")
        self.to_scale = _CHOICES["to"](args.value("to", "none") or "")
        self.suffix = args.value("suffix", "") or ""
        delimiter = args.value("delimiter")
        self.delimiter = None if delimiter is None else _character(delimiter)
        if len(args.values("field")) > 1:
            raise CommandError("multiple field specifications")
        self.fields = _field_ranges(args.value("field", "1") or "")
        self.padding, self.left = 0, False
        for text in args.values("padding"):
            self.padding, left = _padding(text)
            self.left = self.left or left  # as in GNU's, a later value keeps the side
        if args.flag("grouping") and self.to_scale != "none":
            raise CommandError("grouping cannot be combined with --to")
        ctx.budget.charge(self.padding)


def _field_ranges(text: str) -> list[tuple[int, int]]:
    return parse_ranges(text, fields=True, complement=False, all_of_dash=True)


def _character(text: str) -> str:
    if len(encode(text)) > 1:
        raise CommandError("the delimiter must be a single character")
    return text or "\0"


def _padding(text: str) -> tuple[int, bool]:
    """Return (columns, whether to align to the left)."""
    if not re.fullmatch(r"[ \t\n\v\f\r]*[+-]?[0-9]{1,18}", text) or not int(text):
        raise CommandError(f"invalid padding value {quote(text)}")
    return abs(int(text)), int(text) < 0


def _bad(message: str) -> CommandError:
    """Return the error of a field that is no number."""
    return CommandError(message, 2)


def _parse(text: str, scale: str) -> tuple[int, int, int]:
    """Return (numerator, denominator, digits after the point) of a field."""
    found = _NUMBER.match(text)
    assert found is not None
    sign, whole, fraction = found.groups()
    rest = text[found.end() :]
    if rest.startswith(".."):
        raise _bad(f"invalid suffix in input: {quote(text)}")
    if not whole and fraction is None:
        raise _bad(f"invalid number: {quote(text)}")
    if rest.startswith("."):
        raise _bad(
            f"invalid suffix in input: {quote(text)}"
            if fraction
            else f"invalid number: {quote(text)}"
        )
    if len(whole.lstrip("0")) > _MAX_DIGITS or len(fraction or "") > 1000:
        raise _bad(f"value too large to be converted: {quote(text)}")
    fraction = fraction or ""
    value = int(whole.lstrip("0") + fraction or "0")
    if not fraction:
        value = _nearest(value)
    precision = len(fraction)
    rest = rest.lstrip(" \t") if rest[:1] in (" ", "\t") else rest
    denominator: int = 10**precision
    if rest:
        multiplier = _suffix(rest, text, scale)
        if multiplier > 1:
            precision = 0
        value *= multiplier
    elif scale == "iec-i":
        raise _missing_mark(text)
    return (-value if sign else value), denominator, precision


def _missing_mark(text: str) -> CommandError:
    return _bad(f"missing 'i' suffix in input: {quote(text)} (e.g Ki/Mi/Gi)")


def _nearest(value: int) -> int:
    """Return the nearest number of 64 binary digits, as a long double holds it."""
    shift = value.bit_length() - 64
    if shift <= 0:
        return value
    half = 1 << (shift - 1)
    return (value + half - 1 + (value >> shift & 1)) >> shift << shift


def _suffix(rest: str, text: str, scale: str) -> int:
    letter = rest[0]
    if letter not in _SUFFIXES:
        raise _bad(f"invalid suffix in input: {quote(text)}")
    if scale == "none":
        raise _bad(f"rejecting suffix in input: {quote(text)} (consider using --from)")
    rest = rest[1:]
    base = 1000 if scale in ("si", "auto") else 1024
    if scale == "auto" and rest.startswith("i"):
        base, rest = 1024, rest[1:]
    if scale == "iec-i":
        if not rest.startswith("i"):
            raise _missing_mark(text)
        rest = rest[1:]
    if rest:
        raise _bad(f"invalid suffix in input {quote(text)}: {quote(rest)}")
    return int(base ** (_SUFFIXES.index(letter) + 1))


def _from_zero(numerator: int, denominator: int) -> int:
    """Return the quotient, rounded away from zero."""
    size = -(-abs(numerator) // denominator)
    return -size if numerator < 0 else size


def _fixed(numerator: int, denominator: int, precision: int) -> str:
    """Return the quotient with N digits, ties to even, as printf's %.Nf does."""
    scaled, rest = divmod(abs(numerator) * 10**precision, denominator)
    if 2 * rest > denominator or (2 * rest == denominator and scaled & 1):
        scaled += 1
    sign = "-" if numerator < 0 else ""
    if not precision:
        return f"{sign}{scaled}"
    whole, fraction = divmod(scaled, 10**precision)
    return f"{sign}{whole}.{fraction:0{precision}d}"


def _print_number(numerator: int, denominator: int, precision: int, scale: str) -> str:
    """Return the text of a value, scaled and rounded."""
    size = abs(numerator)
    magnitude = len(str(_nearest(size // denominator))) - 1
    if scale == "none":
        if magnitude + precision > _MAX_UNSCALED:
            shown = f"{numerator / denominator:g}" + (f"/{precision}" if precision else "")
            kind = "value/precision" if precision else "value"
            raise _bad(f"{kind} too large to be printed: '{shown}' (consider using --to)")
        scaled = _from_zero(numerator * 10**precision, denominator)
        return _fixed(scaled, 10**precision, precision)
    if magnitude >= _MAX_DIGITS:
        shown = f"{numerator / denominator:g}"
        raise _bad(f"value too large to be printed: '{shown}' (cannot handle values > 999Y)")
    base = 1000 if scale == "si" else 1024
    power = 0
    while size >= base * denominator:
        denominator *= base
        power += 1
    adjust = 1 if size < 10 * denominator else 0
    numerator = _from_zero(numerator * 10**adjust, denominator)
    denominator = 10**adjust
    if abs(numerator) >= base * denominator:
        denominator *= base
        power += 1
    small = numerator != 0 and abs(numerator) < 10 * denominator and power > 0
    unit = "" if not power else _SUFFIXES[power - 1] if power <= len(_SUFFIXES) else "(error)"
    if scale == "iec-i" and power:
        unit += "i"
    return _fixed(numerator, denominator, int(small)) + unit


class _Converter:
    """Converts fields and lines."""

    __slots__ = ("ctx", "done", "options", "show")

    def __init__(self, ctx: CommandContext, options: _Options) -> None:
        self.ctx = ctx
        self.options = options
        self.show = _integer_shower(options.to_scale)
        self.done: list[str] = []

    def field(self, text: str, number: int) -> str:
        """Return one field as it is printed."""
        options = self.options
        body = text.lstrip(" \t")
        padding, left = options.padding, options.left
        if not padding and options.delimiter is None and (body != text or number > 1):
            padding, left = len(text), False
        if options.suffix and body != options.suffix:
            body = body.removesuffix(options.suffix)
        plain = len(body) < _PLAIN_DIGITS and body.isascii() and body.isdigit()
        if plain and options.from_scale != "iec-i":
            shown = self.show(int(body)) + options.suffix
        else:
            value, denominator, precision = _parse(body, options.from_scale)
            shown = _print_number(value, denominator, precision, options.to_scale) + options.suffix
        return shown.ljust(padding) if left else shown.rjust(padding)

    def line(self, text: str, end: str) -> None:
        """Add a line with the chosen fields converted to `done`, or the fields before a bad one."""
        options = self.options
        text = text.partition("\0")[0]
        fields = _split_fields(text) if options.delimiter is None else text.split(options.delimiter)
        self.ctx.budget.step(len(fields))
        delimiter = options.delimiter or " "
        done = 0
        try:
            for low, high in options.fields:
                for at in range(low - 1, min(high, len(fields))):
                    done = at
                    fields[at] = self.field(fields[at], at + 1)
            done = len(fields)
        finally:
            unfinished = done < len(fields)
            shown = delimiter.join([*fields[:done], ""]) if unfinished else delimiter.join(fields)
            self.done.append(shown if unfinished else shown + end)

    def flush(self) -> None:
        """Write what is done."""
        found = "".join(self.done)
        self.done.clear()
        self.ctx.stdout.write(encode(found))


def _integer_shower(scale: str) -> Callable[[int], str]:
    """Return a function that shows an integer without a sign in the scale of --to."""
    if scale == "none":
        return str
    base = 1000 if scale == "si" else 1024
    mark = "i" if scale == "iec-i" else ""
    sizes = [(base**power, f"{letter}{mark}") for power, letter in enumerate(_SUFFIXES, 1)]

    def scaled(number: int) -> str:
        if number < base:
            return str(number)
        at = 0
        while number >= sizes[at][0] * base:
            at += 1
        size, unit = sizes[at]
        if number < 10 * size:
            tenths = -(-10 * number // size)
            return f"{tenths // 10}.{tenths % 10}{unit}" if tenths < 100 else f"10{unit}"
        whole = -(-number // size)
        return f"{whole}{unit}" if whole < base else f"1.0{sizes[at + 1][1]}"

    return scaled


def _integer_printer(options: _Options) -> Callable[[int], str] | None:
    """Return what shows an integer that is all of its line, None where there is more to a line."""
    plain = (
        options.fields[0][0] == 1 and options.delimiter is None and options.from_scale != "iec-i"
    )
    if not plain or options.suffix or options.padding:
        return None
    return _integer_shower(options.to_scale)


def _convert_input(ctx: CommandContext, converter: _Converter) -> None:
    """Convert the lines of standard input, many at once where all are plain integers."""
    printer = _integer_printer(converter.options)
    for block in line_blocks(ctx.budget, ctx.stdin):
        found = split_lines(block)
        for start in range(0, len(found), _PIECE):
            piece = found[start : start + _PIECE]
            ctx.budget.step(len(piece))
            ctx.budget.breathe()
            if printer is not None and block.endswith(b"\n") and _are_plain_integers(piece):
                ctx.stdout.write(encode("\n".join([*map(printer, map(int, piece)), ""])))
                continue
            for at, line in enumerate(piece, start + 1):
                last = at == len(found) and not block.endswith(b"\n")
                converter.line(decode(line), "" if last else "\n")
            converter.flush()


def _are_plain_integers(lines: list[bytes]) -> bool:
    """Whether all lines are integers without a sign that are surely not too large."""
    return b"".join(lines).isdigit() and all(lines) and max(map(len, lines)) < _PLAIN_DIGITS


def _split_fields(text: str) -> list[str]:
    """Return the fields, each with the blanks before it but for the one that ends the last."""
    if " " not in text and "\t" not in text and "\n" not in text:
        return [text]
    found = []
    at = 0
    while at <= len(text):
        match = _FIELD.match(text, at)
        assert match is not None
        found.append(match[0])
        at = match.end() + 1
    return found


@command(
    "numfmt",
    manners=Manners(
        COREUTILS,
        bytewise=True,
        long_options="""
            from from-unit to to-unit round padding suffix grouping delimiter field
            debug -debug header format invalid zero-terminated help version
        """,
        read_error=("NAME: error reading input: REASON", 0),
    ),
    values={**_CHOICES, "delimiter": _character, "padding": _padding, "field": _field_ranges},
    usage="""
    Usage: numfmt [OPTION]... [NUMBER]...
    Convert NUMBERs, or the numbers in standard input, from and to forms that people read.

      -d, --delimiter=X      fields are separated by X, not by blanks
          --field=FIELDS     convert these fields (1); as for cut, '-' for all
          --from=UNIT        read numbers with suffixes: none, auto, si, iec, iec-i
          --grouping         group digits as the locale does (not at all in C.UTF-8)
          --padding=N        at least N characters, to the left when negative
          --suffix=SUFFIX    add SUFFIX to numbers, and accept it
          --to=UNIT          write numbers with suffixes: none, si, iec, iec-i
          --help             display this help and exit

    UNIT: si 1K is 1000, iec 1K is 1024, iec-i 1Ki is 1024, auto both.
    """,
)
def numfmt(ctx: CommandContext, args: Arguments) -> int:
    options = _Options(ctx, args)
    converter = _Converter(ctx, options)
    try:
        for word in args.operands:
            converter.line(word, "\n")
        if not args.operands:
            _convert_input(ctx, converter)
    finally:
        converter.flush()
    return 0
