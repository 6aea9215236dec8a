"""`od` (POSIX 1003.1-2017, GNU coreutils): dump files in octal and other formats."""

from __future__ import annotations

import math
import re
import struct
from itertools import pairwise

from agentsandbox.commands._suites import COREUTILS
from agentsandbox.commands._text.choices import choice_of
from agentsandbox.commands._text.quoting import quote
from agentsandbox.commands.dumps.dumping import can_open_one, concatenated, dump_lines
from agentsandbox.contract.command import Arguments, CommandContext, command
from agentsandbox.contract.manners import Manners
from agentsandbox.errors import CommandError
from agentsandbox.kernel.streams import encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_SIZE = re.compile(
    r"[ \t\n]*\+?(0[xX][0-9a-fA-F]{1,40}|0[0-7]{0,40}|[1-9][0-9]{0,40})(.*)\Z", re.DOTALL
)
_OFFSET = re.compile(r"\+?(0[xX][0-9a-fA-F]{1,30}|[0-7]{1,30})(b?)\Z")
_MULTIPLIERS = {"": 1, "b": 512, "B": 1024, "k": 1024, "kB": 1000}
for _power, _letter in enumerate("KMGTPE", 1):
    _MULTIPLIERS[_letter] = _MULTIPLIERS[f"{_letter}iB"] = 1024**_power
    _MULTIPLIERS[f"{_letter}B"] = 1000**_power
_LETTERS = {
    "a": "a", "b": "o1", "c": "c", "d": "u2", "f": "fF",
    "i": "dI", "l": "dL", "o": "o2", "s": "d2", "x": "x2",
}  # fmt: skip
"""The types of the options of one letter."""
_ADDRESSES = {"o": "%07o", "d": "%07d", "x": "%06x", "n": ""}
_NAMES = (
    "nul soh stx etx eot enq ack bel bs ht nl vt ff cr so si "
    "dle dc1 dc2 dc3 dc4 nak syn etb can em sub esc fs gs rs us sp"
).split()
_ESCAPES = {
    0: "\\0", 7: "\\a", 8: "\\b", 9: "\\t", 10: "\\n", 11: "\\v", 12: "\\f", 13: "\\r",
}  # fmt: skip
_FIELDS = {
    "d": {1: 4, 2: 6, 4: 11, 8: 20},
    "u": {1: 3, 2: 5, 4: 10, 8: 20},
    "o": {1: 3, 2: 6, 4: 11, 8: 22},
    "x": {1: 2, 2: 4, 4: 8, 8: 16},
    "f": {4: 15, 8: 24},
}
"""The columns that an element takes, by letter and bytes."""
_SIZE_LETTERS = {"C": 1, "S": 2, "I": 4, "L": 8}
_FLOAT_LETTERS = {"F": 4, "D": 8}
_STRUCT = {1: "B", 2: "H", 4: "I", 8: "Q"}
_LEAST_SINGLE = 1.17549435e-38
_LEAST_DOUBLE = 2.2250738585072014e-308
"""The least normal numbers; subnormal ones have fewer digits."""
_PRINTABLE = bytes([byte if 32 <= byte < 127 else 46 for byte in range(256)])


def _size(option: str) -> Callable[[str], int]:
    """Return a reader of the number of an option."""

    def read(text: str) -> int:
        found = _SIZE.match(text)
        if found is None:
            raise CommandError(f"invalid {option} argument '{text}'")
        multiplier = _MULTIPLIERS.get(found[2])
        if multiplier is None:
            raise CommandError(f"invalid suffix in {option} argument '{text}'")
        digits = found[1]
        base = 16 if digits[:2] in ("0x", "0X") else 8 if digits.startswith("0") else 10
        value = int(digits, base) * multiplier
        if value >= 2**64:
            raise CommandError(f"{option} argument '{text}' too large")
        return value

    return read


_READERS: dict[str, Callable[[str], int]] = {
    "skip-bytes": _size("-j"),
    "read-bytes": _size("-N"),
    "width": lambda text: _size("-w")(text) if text else 32,
}


class _Type:
    """One output type: `field` is the width of an element, `pad` the blanks added to a line."""

    __slots__ = ("_byte_texts", "_widths", "big", "field", "letter", "pad", "size", "trailer")

    def __init__(self, letter: str, size: int, *, big: bool, trailer: bool) -> None:
        self.letter = letter
        self.size = size
        self.big = big
        self.trailer = trailer
        self.pad = 0
        self.field = 3 if letter in "ac" else _FIELDS[letter][size]
        self._widths: list[int] = []
        self._byte_texts = list(map(self._byte_text, range(256))) if size == 1 else []

    def _byte_text(self, value: int) -> str:
        if self.letter == "a":
            low = value & 127
            return _NAMES[low] if low <= 32 else "del" if low == 127 else chr(low)
        if self.letter == "c":
            return chr(value) if 32 <= value < 127 else _ESCAPES.get(value) or f"{value:03o}"
        return self._number(value - 256 if self.letter == "d" and value > 127 else value)

    def _number(self, value: int) -> str:
        return format(value, f"0{self.field}{self.letter}" if self.letter in "ox" else "d")

    def _elements(self, block: bytes) -> Sequence[str]:
        """Return the texts of bytes that are whole elements."""
        if self.size == 1:
            return [self._byte_texts[byte] for byte in block]
        order = ">" if self.big else "<"
        letter = "_fd"[self.size // 4] if self.letter == "f" else _STRUCT[self.size]
        letter = letter.lower() if self.letter == "d" else letter
        values = struct.unpack(f"{order}{len(block) // self.size}{letter}", block)
        show = (
            self._number if self.letter != "f" else _single_text if self.size == 4 else _double_text
        )
        return list(map(show, values))

    def _column_widths(self, width: int) -> list[int]:
        """Return the widths of the columns: GNU spreads the blanks of a line evenly."""
        if not self._widths:
            fields = width // self.size
            before = [self.pad * at // fields for at in range(fields, -1, -1)]
            self._widths = [self.field + left - after for left, after in pairwise(before)]
        return self._widths

    def show(self, block: bytes, width: int) -> str:
        """Return the elements of one line, which may be short; with `z` its characters, too."""
        elements = self._elements(block + bytes(-len(block) % self.size))
        cells = zip(elements, self._column_widths(width), strict=False)
        line = "".join([text.rjust(size) for text, size in cells])
        if not self.trailer:
            return line
        full = self.pad + self.field * (width // self.size)
        return f"{line:<{full}}  >{str(block.translate(_PRINTABLE), 'ascii')}<"


def _single_text(value: float) -> str:
    """Return the shortest text, of six digits or more, that reads back as this `float`."""
    least = 1 if abs(value) < _LEAST_SINGLE else 6
    texts = [f"{value:.{precision}g}" for precision in range(least, 10)]
    return next((text for text in texts if _packs_as(text, value)), _nan_text(value) or texts[-1])


def _packs_as(text: str, value: float) -> bool:
    try:
        return bool(struct.unpack("<f", struct.pack("<f", float(text)))[0] == value)
    except OverflowError:
        return False


def _double_text(value: float) -> str:
    """Return the shortest text, of fifteen digits or more, that reads back as this `double`."""
    least = 1 if abs(value) < _LEAST_DOUBLE else 15
    texts = [f"{value:.{precision}g}" for precision in range(least, 18)]
    return next((text for text in texts if float(text) == value), _nan_text(value) or texts[-1])


def _nan_text(value: float) -> str:
    """Return the text of a NaN; "" for a number."""
    return "" if value == value else "-nan" if math.copysign(1.0, value) < 0 else "nan"


def _read_element_size(text: str, at: int, letter: str) -> tuple[int, int]:
    """Return (size, end of its text) for the letter of a type; the size may be left out."""
    letters = _FLOAT_LETTERS if letter == "f" else _SIZE_LETTERS
    if (size := letters.get(text[at : at + 1])) is not None:
        return size, at + 1
    found = re.compile("[0-9]+").match(text, at)
    if found is None:
        return (8 if letter == "f" else 4), at
    if len(found[0]) > 18:
        raise CommandError(f"invalid type string {quote(text)}")
    size = int(found[0])
    if size not in _FIELDS[letter]:
        kind = "floating point" if letter == "f" else "integral"
        missing = f"this system doesn't provide a {size}-byte {kind} type"
        raise CommandError(f"invalid type string {quote(text)};\n{missing}")
    return size, found.end()


def _types(text: str, *, big: bool = False) -> list[_Type]:
    """Return the types of one `-t` string: x1, d4, fD, c, a, each with an optional z."""
    found = []
    at = 0
    while at < len(text):
        letter = text[at]
        at += 1
        size = 1
        if letter in _FIELDS:
            size, at = _read_element_size(text, at, letter)
        elif letter not in "ac":
            raise CommandError(f"invalid character '{letter}' in type string {quote(text)}")
        trailer = text[at : at + 1] == "z"
        at += trailer
        found.append(_Type(letter, size, big=big, trailer=trailer))
    return found


def _address(radix: str) -> str:
    """Return the format of an address; "" for `-A n`."""
    if radix[:1] not in _ADDRESSES:
        wrong = f"invalid output address radix '{radix[:1] or chr(0)}'"
        raise CommandError(f"{wrong}; it must be one character from [doxn]")
    return _ADDRESSES[radix[0]]


def _width(ctx: CommandContext, types: list[_Type], given: str | None) -> int:
    """Return the bytes of a line, a multiple of every size, and set the padding of the types."""
    step = math.lcm(*[kind.size for kind in types])
    width = max(step, 16 // step * step)
    if given is not None:
        width = _READERS["width"](given)
        if not width or width % step:
            warning = f"{ctx.name}: warning: invalid width {width}; using {step} instead\n"
            ctx.stderr.write(encode(warning))
            width = step
    ctx.budget.charge(width * 32)
    widest = max([(kind.field + 1) * (width // kind.size) for kind in types])
    for kind in types:
        kind.pad = widest - kind.field * (width // kind.size)
    return width


def _traditional_skip(args: Arguments) -> int | None:
    """Take an offset from the operands, as in `od FILE +12`: octal, unless it begins with 0x."""
    words = args.operands
    modern = {"address-radix", "skip-bytes", "read-bytes", "format", "output-duplicates", "width"}
    if any(key in modern for key, _ in args.given) or not words or len(words) > 2:
        return None
    last = words[-1]
    found = _OFFSET.match(last)
    if found is None or not (last.startswith("+") or (len(words) == 2 and last[0].isdigit())):
        return None
    words.pop()
    base = 16 if found[1][:2] in ("0x", "0X") else 8
    return int(found[1], base) * (512 if found[2] else 1)


@command(
    "od",
    values={
        "address-radix": _address, "endian": choice_of("--endian", [("little",), ("big",)]),
        "format": _types, **_READERS,
    },
    manners=Manners(
        COREUTILS,
        bytewise=True,
        long_options="""
            skip-bytes address-radix read-bytes format output-duplicates strings
            traditional width endian help version
        """,
        read_error=("NAME: 'standard input': REASON", 1),
        unreadable_is_empty=("NAME: 'standard input': REASON", None),
        closing_error="NAME: standard input: REASON",
    ),
    usage="""
    Usage: od [OPTION]... [FILE]...
      or:  od [-abcdfilosx]... [FILE] [[+]OFFSET[b]]
    Write the bytes of all FILEs in a readable form, in octal unless told otherwise.

    With no FILE, or when FILE is -, read standard input.

      -A, --address-radix=RADIX   show addresses in d, o, x or n (none)
          --endian=ORDER          take numbers as big or little
      -j, --skip-bytes=BYTES      skip BYTES first
      -N, --read-bytes=BYTES      dump at most BYTES
      -t, --format=TYPE           choose formats
      -v, --output-duplicates     do not show equal lines as *
      -w, --width[=BYTES]         show BYTES (16, or 32 when BYTES is omitted) in a line
          --help                  display this help and exit

    Old-style formats; several may be given:
      -a    same as -t a
      -b    same as -t o1
      -c    same as -t c
      -d    same as -t u2
      -f    same as -t fF
      -i    same as -t dI
      -l    same as -t dL
      -o    same as -t o2
      -s    same as -t d2
      -x    same as -t x2

    TYPE is made of: a (named characters), c (characters), d[SIZE] f[SIZE] o[SIZE] u[SIZE] x[SIZE];
    SIZE is a number, or C, S, I, L for d, o, u, x, or F, D for f. A z after a type adds the
    printable characters to each line.
    """,
)  # fmt: skip
def od(ctx: CommandContext, args: Arguments) -> int:
    address = _address(args.value("address-radix", "o") or "")
    big = (args.value("endian") or "").startswith("b")
    texts = [value or "" if key == "format" else _LETTERS.get(key, "") for key, value in args.given]
    types = [kind for text in texts for kind in _types(text, big=big)] or _types("o2", big=big)
    skip = _traditional_skip(args)
    if skip is None:
        skip = _READERS["skip-bytes"](args.value("skip-bytes", "0") or "")
    limit = args.value("read-bytes")
    most = None if limit is None else _READERS["read-bytes"](limit)
    width = _width(ctx, types, args.value("width"))
    source = concatenated(ctx, args.operands, skip, most, as_od=True)
    for offset, line in dump_lines(ctx, source, width, all_lines=args.flag("output-duplicates")):
        label = address % (skip + offset) if address else ""
        if line is None:
            ctx.print("*")
        elif line:
            starts = [label] + [" " * len(label)] * (len(types) - 1)
            rows = [
                start + kind.show(line, width) for start, kind in zip(starts, types, strict=True)
            ]
            ctx.print("\n".join(rows))
        elif label and (offset or not ctx.status or can_open_one(ctx, args.operands)):
            ctx.print(label)
    return ctx.status
