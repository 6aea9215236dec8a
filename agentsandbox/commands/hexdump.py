"""`hexdump` (util-linux): dump files by format strings."""

from __future__ import annotations

import re

from agentsandbox.command import Arguments, CommandContext, command, describe_os_error
from agentsandbox.commands._dumps import Skipped, block_lines
from agentsandbox.commands._hexdump_formats import Format, parse_format, show_lines, split_format
from agentsandbox.commands._lines import read_all
from agentsandbox.commands._suites import UTIL_LINUX
from agentsandbox.errors import CommandError
from agentsandbox.fs.base import File
from agentsandbox.manners import SILENT, Manners
from agentsandbox.streams import BLOCK, decode, encode, position_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from agentsandbox.streams import ByteReader

_ADDRESS = r'"%07.7_ax " '
_STANDARD = {
    "one-byte-octal": ['"%07.7_Ax\n"', _ADDRESS + r'16/1 "%03o " "\n"'],
    "one-byte-char": ['"%07.7_Ax\n"', _ADDRESS + r'16/1 "%3_c " "\n"'],
    "canonical": ['"%08.8_Ax\n"', r'"%08.8_ax  " 8/1 "%02x " "  " 8/1 "%02x " ', r'"  |" 16/1 "%_p" "|\n"'],
    "two-bytes-decimal": ['"%07.7_Ax\n"', _ADDRESS + r'8/2 "  %05u " "\n"'],
    "two-bytes-octal": ['"%07.7_Ax\n"', _ADDRESS + r'8/2 " %06o " "\n"'],
    "two-bytes-hex": ['"%07.7_Ax\n"', _ADDRESS + r'8/2 "   %04x " "\n"'],
    "": ['"%07.7_Ax\n"', _ADDRESS + r'8/2 "%04x " "\n"'],
}
_SIZE = re.compile(r"(0[xX][0-9a-fA-F]{1,16}|[0-9]{1,20})(?:([KMGTPEZYkmgtpezy])(i[Bb]|[Bb])?)?\Z")


def _size(text: str, what: str) -> int:
    found = _SIZE.match(text)
    if found is None:
        raise CommandError(f"failed to parse {what}: '{text}': Invalid argument")
    digits, letter, suffix = found.groups()
    value = int(digits, 16 if digits[:2] in ("0x", "0X") else 8 if digits.startswith("0") and not digits.strip("01234567") else 10)
    if letter:
        value *= (1000 if suffix in ("B", "b") else 1024) ** ("KMGTPEZY".index(letter.upper()) + 1)
    return value


def _offset(text: str) -> int:
    return _size(text, "offset")


def _length(text: str) -> int:
    return _size(text, "length")


_MODES = ("auto", "never", "always")


def _in_colors(args: Arguments) -> bool:
    """Whether -L asks for colours that do not depend on a terminal."""
    colored = False
    for mode in args.values("color"):
        mode = mode.removeprefix("=")
        if mode and mode not in _MODES:
            raise CommandError(f"unsupported color mode: '{mode}'")
        colored = mode == "always"
    return colored


def _format_lines(ctx: CommandContext, name: str) -> list[str]:
    """The lines of a file of format strings; a directory has none."""
    try:
        return decode(read_all(ctx.budget, ctx.keep(ctx.fs.open(ctx.path(name), "r")))).splitlines()
    except IsADirectoryError:
        return []
    except OSError as error:
        raise CommandError(f"can't read {describe_os_error(error, name)}") from None


def _formats(ctx: CommandContext, args: Arguments) -> list[Format]:
    """All format strings in the order given."""
    formats: list[Format] = []
    colored = _in_colors(args)
    for key, value in args.given:
        ctx.budget.step(50)
        if key in _STANDARD:
            formats += [parse_format(text) for text in _STANDARD[key]]
        elif key == "format":
            formats.append(parse_format(value or "", colored=colored))
        elif key == "format-file":
            lines = _format_lines(ctx, value or "")
            formats += [parse_format(line, colored=colored) for line in lines if line.strip() and not line.lstrip().startswith("#")]
    return formats or [parse_format(text) for text in _STANDARD[""]]


class _Skip:
    """How many bytes are still to be skipped, and how many have been."""

    __slots__ = ("address", "left")

    def __init__(self, left: int) -> None:
        self.left = left
        self.address = 0

    def pass_by(self, count: int) -> None:
        """So many have been skipped."""
        self.left -= count
        self.address += count


def _input(ctx: CommandContext, names: list[str], skip: _Skip, limit: int | None) -> Iterator[bytes]:
    """All files as one stream; one failure is not the end while another file can be read."""
    opened = 0
    if limit == 0:
        return
    for name in names or ["-"]:
        if opened and limit == 0:
            break
        try:
            source = ctx.open_input(name if name != "-" or not names else "./-")
        except IsADirectoryError as error:
            shown = name if name != "-" else ctx.words[-1] if ctx.words else ctx.name
            ctx.stderr.write(encode(f"{ctx.name}: {shown}: {error.strerror}\n"))
            opened += 1
            skip.pass_by(skip.left)
            continue
        except OSError as error:
            ctx.warn_os(error, name)
            continue
        opened += 1
        if skip.left and not _seek(source, skip, is_input=not names):
            continue
        while limit is None or limit > 0:
            block = source.read(BLOCK if limit is None else min(BLOCK, limit))
            if not block:
                break
            ctx.budget.step()
            if limit is not None:
                limit -= len(block)
            yield block
    if not opened and skip.left:
        raise CommandError("stdin: Bad file descriptor")
    if not opened:
        raise CommandError("all input file arguments failed")


def _seek(source: ByteReader, skip: _Skip, *, is_input: bool) -> bool:
    """Go to where the dump starts; false for a file that ends before it."""
    if position_of(source) is None or not isinstance(source, File):
        raise CommandError("stdin: Illegal seek")
    size = source.stat().size
    if not is_input and source.stat().is_file and skip.left > size:
        skip.pass_by(size)
        return False
    source.seek(skip.left)
    skip.pass_by(skip.left)
    return True


@command(
    "hexdump",
    manners=Manners(
        UTIL_LINUX,
        long_options="""
            one-byte-octal one-byte-char canonical two-bytes-decimal two-bytes-octal
            two-bytes-hex format format-file color length skip no-squeezing help version
        """,
        read_error=("NAME: hexdump: REASON", 0),
        closed_write_error=SILENT,
    ),
    late=True,
    values={"skip": _offset, "length": _length, "format": split_format},
    usage="""
    Usage: hexdump [OPTION]... [FILE]...
    Show the bytes of all FILEs in hexadecimal, decimal, octal or as characters.

      -b, --one-byte-octal      octal bytes
      -c, --one-byte-char       characters
      -C, --canonical           hexadecimal bytes and characters
      -d, --two-bytes-decimal   two-byte decimal numbers
      -o, --two-bytes-octal     two-byte octal numbers
      -x, --two-bytes-hex       two-byte hexadecimal numbers
      -e, --format=FORMAT       a format string: [ITERATIONS][/BYTES] "TEXT" ...
      -f, --format-file=FILE    a file that holds format strings
      -n, --length=LENGTH       show at most LENGTH bytes
      -s, --skip=OFFSET         skip OFFSET bytes first
      -v, --no-squeezing        do not show equal lines as *
      -L, --color[=MODE]        take the colours that a format string names: always, never, or auto (no terminal, no colours)
      -h, --help                display this help and exit
    """,
)
def hexdump(ctx: CommandContext, args: Arguments) -> int:
    skip = _Skip(_offset(args.value("skip", "0") or ""))
    limit = _length(args.value("length") or "") if args.flag("length") else None
    formats = _formats(ctx, args)
    size = max([form.size for form in formats])
    ctx.budget.charge(size * 32)
    for form in formats:
        form.fill(size)
    position = -1
    cells = [cell for form in formats for cell in form.cells(ctx.budget)]
    if not size:
        return ctx.status
    for item in block_lines(ctx, _input(ctx, args.operands, skip, limit), size, all_lines=args.flag("no-squeezing")):
        position = skip.address if position < 0 else position
        if isinstance(item, Skipped):
            if item.first:
                ctx.stdout.write(b"*\n")
            position += item.size
            continue
        for text in show_lines(ctx.budget, cells, item, position, size):
            ctx.stdout.write(text)
        position += len(item)
    final = [unit for form in formats for unit in form.units if unit.is_final]
    if position < 0:
        position = skip.address
    if position and final and limit != 0:
        ctx.stdout.write(encode("".join([piece.show(b"", position) for piece in final[-1].pieces])))
    return ctx.status
