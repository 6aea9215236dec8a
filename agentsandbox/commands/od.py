"""`od` (POSIX 1003.1-2017, GNU coreutils): dump files in octal and other formats."""

from __future__ import annotations

import os
import re
from itertools import accumulate

from agentsandbox.command import Arguments, CommandContext, command
from agentsandbox.commands._choices import choose
from agentsandbox.commands._dumps import Sheet, Skipped, block_lines, concatenated
from agentsandbox.commands._od_types import ElementType, parse_types
from agentsandbox.commands._quoting import quote
from agentsandbox.commands._suites import COREUTILS
from agentsandbox.errors import CommandError, UsageError
from agentsandbox.manners import Manners
from agentsandbox.streams import encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_SIZE = re.compile(r"[ \t\n]*\+?(0[xX][0-9a-fA-F]+|0[0-7]*|[1-9][0-9]*)(.*)\Z", re.DOTALL)
_OFFSET = re.compile(r"\+?(0[xX][0-9a-fA-F]+|[0-7]+)([bB]?)\Z")
_FEW = 16
"""So many lines are worth being made by columns."""
_GRAPHIC = bytes(range(32, 127))
_ALONE = frozenset("bEGKkMmPTYZ")
"""Suffixes that count once where no digit stands before them."""
_MULTIPLIERS = {"": 1, "b": 512, "B": 1024, "kB": 1000, "KB": 1000, "k": 1024, "K": 1024, "KiB": 1024}
_MODERN = ("address-radix", "skip-bytes", "read-bytes", "format", "output-duplicates", "width", "strings", "S")
_LETTERS = {
    "a": "a",
    "b": "o1",
    "c": "c",
    "d": "u2",
    "D": "u4",
    "e": "fD",
    "f": "fF",
    "F": "fD",
    "h": "x2",
    "H": "x4",
    "i": "dI",
    "I": "dL",
    "l": "dL",
    "L": "dL",
    "o": "o2",
    "O": "o4",
    "B": "o2",
    "s": "d2",
    "x": "x2",
    "X": "x4",
}
for _power, _letter in enumerate("MGTPEZY", 2):
    _MULTIPLIERS |= {_letter: 1024**_power, f"{_letter}B": 1000**_power, f"{_letter}iB": 1024**_power}


def _size(ctx: CommandContext, text: str, letter: str, name: str) -> int:
    """The number of an option, which messages call as it was called."""
    long = any(word.startswith("--") and len(word) > 2 and name.startswith(word[2:].partition("=")[0]) for word in ctx.words)
    option = f"--{name}" if long else f"-{letter}"
    found = _SIZE.match(f"1{text}" if text[:1] in _ALONE else text)
    if found is None:
        raise CommandError(f"invalid {option} argument '{text}'")
    multiplier = _MULTIPLIERS.get(found[2])
    if multiplier is None:
        raise CommandError(f"invalid suffix in {option} argument '{text}'")
    value = _integer(found[1]) * multiplier
    if value >= 2**64:
        raise CommandError(f"{option} argument '{text}' too large")
    return value


def _integer(digits: str) -> int:
    if len(digits) > 40:
        return 2**64
    if digits[:2] in ("0x", "0X"):
        return int(digits, 16)
    if digits.startswith("0") and digits.strip("01234567") == "":
        return int(digits, 8)
    return int(digits)


def _traditional_offset(text: str) -> int | None:
    """`+12`, `0x10`, `3b` (blocks), `3B` (kibibytes): octal, but after 0x."""
    found = _OFFSET.match(text)
    if text in ("b", "B"):
        return 512 if text == "b" else 1024
    if found is None or len(found[1]) > 30:
        return None
    digits = found[1]
    return int(digits, 16 if digits[:2] in ("0x", "0X") else 8) * {"": 1, "b": 512, "B": 1024}[found[2]]


class _Dump:
    """Where a dump begins and ends, and how a line of it looks."""

    __slots__ = ("address", "duplicates", "label", "limit", "skip", "types", "width")

    def __init__(self, ctx: CommandContext, args: Arguments) -> None:
        self.address = _address(args.value("address-radix", "o") or "")
        self.skip = _size(ctx, args.value("skip-bytes", "0") or "", "j", "skip-bytes")
        limit = args.value("read-bytes")
        self.limit = None if limit is None else _size(ctx, limit, "N", "read-bytes")
        self.duplicates = args.flag("output-duplicates")
        endian = args.value("endian")
        big = endian is not None and choose(endian, "--endian", [("little",), ("big",)]) == "big"
        self.types: list[ElementType] = []
        for key, value in args.given:
            if key == "format":
                self.types += parse_types(value or "", big=big)
            elif key in _LETTERS:
                self.types += parse_types(_LETTERS[key], big=big)
        if not self.types:
            self.types = parse_types("o2", big=big)
        self.label: int | None = None
        self.width = 0

    def set_width(self, ctx: CommandContext, args: Arguments) -> None:
        """Bytes of a line: a multiple of every size."""
        import math

        step = math.lcm(*[kind.size for kind in self.types])
        given = args.value("width")
        if given is None:
            self.width = step * (16 // step) if step < 16 else step
        else:
            wanted = 32 if not given else _size(ctx, given, "w", "width")
            self.width = wanted
            if not wanted or wanted % step:
                ctx.stderr.write(encode(f"{ctx.name}: warning: invalid width {wanted}; using {step} instead\n"))
                self.width = step
        ctx.budget.charge(self.width * 32)
        widest = max([(kind.field + 1) * (self.width // kind.size) for kind in self.types])
        for kind in self.types:
            kind.pad = widest - kind.field * (self.width // kind.size)

    def line(self, address: str, block: bytes) -> str:
        """All that is shown of one block."""
        texts = []
        for at, kind in enumerate(self.types):
            texts.append((" " * len(address) if at else address) + kind.show(block, self.width))
        return "\n".join(texts) + "\n"

    def lines(self, position: int, block: bytes) -> bytes:
        """All that is shown of bytes that stand at a position; the last line may be short."""
        count = len(block) // self.width
        end = count * self.width if count >= _FEW else 0
        made = [self._whole_lines(range(position, position + end, self.width), block[:end])]
        for at in range(end, len(block), self.width):
            made.append(encode(self.line(self.addresses(position + at), block[at : at + self.width])))
        return b"".join(made)

    def _whole_lines(self, positions: range, block: bytes) -> bytes:
        """Whole lines, made by columns. Where addresses grow by a digit they are made in two parts."""
        if not positions:
            return b""
        size = len(self.addresses(positions[0]))
        if size != len(self.addresses(positions[-1])):
            half = len(positions) // 2
            first, second = positions[:half], positions[half:]
            return self._whole_lines(first, block[: half * self.width]) + self._whole_lines(second, block[half * self.width :])
        lengths = [size + kind.length(self.width) + 1 for kind in self.types]
        sheet = Sheet(len(positions), sum(lengths))
        sheet.put(0, self._all_addresses(positions), size)
        for kind, length, end in zip(self.types, lengths, accumulate(lengths), strict=True):
            kind.fill(sheet, end - length + size, block, self.width)
            sheet.put(end - 1, b"\n" * len(positions), 1)
        return bytes(sheet.text)

    def _all_addresses(self, positions: range) -> bytes:
        if self.label is None:
            return bytes(self.address * len(positions) % tuple(positions) if self.address else "", "ascii")
        return bytes("".join(map(self.addresses, positions)), "ascii")

    def addresses(self, position: int) -> str:
        """The address column, with the label of traditional use."""
        if not self.address:
            return "" if self.label is None else " ()"
        text = self.address % position
        return text if self.label is None else f"{text} ({self.address % (position + self.label)})"


def _address(radix: str) -> str:
    """How an address is printed; "" for none."""
    formats = {"o": "%07o", "d": "%07d", "x": "%06x", "n": ""}
    if radix[:1] not in formats or not radix:
        raise CommandError(f"invalid output address radix '{radix[:1] or chr(0)}'; it must be one character from [doxn]")
    return formats[radix[0]]


def _operands(args: Arguments, dump: _Dump) -> list[str]:
    """The files; an offset and a label of traditional use are taken from them."""
    words = list(args.operands)
    traditional = args.flag("traditional")
    modern = any(key in _MODERN for key, _ in args.given)
    if traditional:
        if len(words) > 3:
            raise UsageError(f"extra operand {quote(words[1])}\nod: compatibility mode supports at most one file")
        offsets = [_traditional_offset(word) for word in words]
        if len(words) == 3 and offsets[1] is not None and offsets[2] is not None:
            dump.skip, dump.label = offsets[1], offsets[2] - offsets[1]
            return words[:1]
        if len(words) == 2 and offsets[1] is not None:
            if offsets[0] is not None:
                dump.skip, dump.label = offsets[0], offsets[1] - offsets[0]
                return []
            dump.skip = offsets[1]
            return words[:1]
        if len(words) == 1 and offsets[0] is not None:
            dump.skip = offsets[0]
            return []
        if len(words) > 1:
            raise UsageError(f"extra operand {quote(words[1])}\nod: compatibility mode supports at most one file")
        return words
    if not modern and words and len(words) <= 2 and (words[-1].startswith("+") or (len(words) == 2 and words[-1][:1].isdigit())):
        offset = _traditional_offset(words[-1])
        if offset is not None:
            dump.skip = offset
            return words[:-1]
    return words


def _strings(ctx: CommandContext, source: Iterator[bytes], dump: _Dump, least: int) -> None:
    """`-S`: runs of printable bytes that end with NUL."""
    position = dump.skip
    held: list[bytes] = []
    waiting = 0
    ctx.budget.charge(least)

    def show(end: int, run: bytes) -> None:
        address = dump.addresses((end - len(run)) % 2**64)
        ctx.stdout.write(encode(address + (" " if address else "")) + run + b"\n")

    for block in source:
        ended, nul, rest = block.rpartition(b"\0")
        end = position
        for part in b"".join([*held, ended]).split(b"\0") if nul else ():
            ctx.budget.step()
            run = part[len(part.rstrip(_GRAPHIC)) :]
            end += len(part) - waiting
            waiting = 0
            if len(run) >= least:
                show(end, run)
            end += 1
        tail = rest[len(rest.rstrip(_GRAPHIC)) :]
        if nul or len(tail) < len(rest):
            held.clear()
            waiting = 0
        held.append(tail)
        waiting += len(tail)
        ctx.budget.charge(waiting)
        position += len(block)
    if dump.limit is not None and position - dump.skip == dump.limit and waiting > least:  # the limit ends a string as NUL does
        show(position - 1, b"".join(held))


_SIZES = {
    "skip-bytes": ("j", "skip-bytes"), "read-bytes": ("N", "read-bytes"), "strings": ("S", "strings"), "S": ("S", "strings"),
    "width": ("w", "width"),
}  # fmt: skip


def _are_sound(ctx: CommandContext, args: Arguments) -> bool:
    """Look at all values in their order: types that are none are told together, anything else ends the program."""
    good = True
    for key, value in args.given:
        if key == "address-radix":
            _address(value or "")
        elif key in _SIZES and value:
            _size(ctx, value, *_SIZES[key])
        elif key == "endian":
            choose(value or "", "--endian", [("little",), ("big",)])
        elif key == "format":
            try:
                parse_types(value or "", big=False)
            except CommandError as error:
                ctx.warn(error.message)
                good = False
    return good


@command(
    "od",
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
      or:  od [-abcdfilosx]... [FILE] [[+]OFFSET[.][b]]
      or:  od --traditional [OPTION]... [FILE] [[+]OFFSET[.][b] [+][LABEL][.][b]]
    Write the bytes of all FILEs in a readable form, in octal unless told otherwise.

    With no FILE, or when FILE is -, read standard input.

      -A, --address-radix=RADIX   show addresses in d, o, x or n (none)
          --endian=ORDER          take numbers as big or little
      -j, --skip-bytes=BYTES      skip BYTES first
      -N, --read-bytes=BYTES      dump at most BYTES
      -S BYTES                    show strings of at least BYTES characters that end with NUL
          --strings[=BYTES]       the same, 3 when BYTES is omitted
      -t, --format=TYPE           choose formats
      -v, --output-duplicates     do not show equal lines as *
      -w, --width[=BYTES]         show BYTES (16, or 32 when BYTES is omitted) in a line
          --traditional           take operands as in the third form
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
      -D    same as -t u4
      -e    same as -t fD
      -F    same as -t fD
      -h    same as -t x2
      -H    same as -t x4
      -I    same as -t dL
      -L    same as -t dL
      -O    same as -t o4
      -B    same as -t o2
      -X    same as -t x4

    TYPE is made of: a (named characters), c (characters), d[SIZE] f[SIZE] o[SIZE] u[SIZE] x[SIZE]; SIZE is a number, or
    C, S, I, L for d, o, u, x, or F, D, L for f. A z after a type adds the printable characters to each line.
    """,
)
def od(ctx: CommandContext, args: Arguments) -> int:
    if not _are_sound(ctx, args):
        return 1
    dump = _Dump(ctx, args)
    names = _operands(args, dump)
    strings = args.last("S", "strings")
    least = None if strings is None else _size(ctx, args.value(strings) or ("3" if strings == "strings" else ""), "S", "strings")
    dump.set_width(ctx, args)
    source = concatenated(ctx, names, dump.skip, dump.limit)
    if least is not None and any(key == "format" or key in _LETTERS for key, _ in args.given):
        raise CommandError("no type may be specified when dumping strings")
    if least is not None:
        _strings(ctx, source, dump, least)
        return ctx.status
    position = dump.skip
    for item in block_lines(ctx, source, dump.width, all_lines=dump.duplicates):
        if isinstance(item, Skipped):
            if item.first:
                ctx.stdout.write(b"*\n")
            position += item.size
            continue
        ctx.stdout.write(dump.lines(position, item))
        position += len(item)
    if (
        ctx.status
        and position == dump.skip
        and names
        and not any(name == "-" or (name and ctx.fs.access(ctx.path(name), os.R_OK)) for name in names)
    ):
        return ctx.status  # nothing could be opened: not even a final address
    final = dump.addresses(position)
    if final:
        ctx.stdout.write(encode(final + "\n"))
    return ctx.status
