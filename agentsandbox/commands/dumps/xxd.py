"""`xxd` (of the Vim project): make a hexadecimal dump, or turn one back into bytes."""

from __future__ import annotations

import re

from agentsandbox.commands._text.lines import blocks, lines
from agentsandbox.contract.command import Arguments, CommandContext, command, describe_os_error
from agentsandbox.contract.manners import Manners
from agentsandbox.errors import CommandError
from agentsandbox.kernel.streams import BLOCK, BytesReader, encode, position_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from agentsandbox.kernel.fs.base import File, Mode
    from agentsandbox.kernel.streams import ByteReader, ByteWriter

_VALUES = {"c": "cols", "g": "groupsize", "l": "len", "s": "seek"}
_FLAGS = {"b": "bits", "e": "little", "p": "postscript", "r": "revert"}
_LONG = {"ps": "postscript", "plain": "postscript", "group": "groupsize", "skip": "seek"}
_LONG |= {value: value for value in (*_VALUES.values(), *_FLAGS.values())}
_NUMBER = re.compile(r"[ \t]*([+-]?)(0[xX][0-9a-fA-F]+|[0-9]+)")
_PRINTABLE = bytes([byte if 32 <= byte < 127 else 46 for byte in range(256)])
_MAX_COLUMNS = 256
_MAX_ADDRESS = 2**64 - 1
_KINDS = ("bits", "little", "postscript")
"""The dumps that are not the usual one: the last of these options counts."""
_DUMP_LINE = re.compile(rb"([0-9a-fA-F]{1,15})(?![0-9a-fA-F]):?[ \t]?((?:[0-9a-fA-F]{2} ?)*)")
_DIGIT = re.compile(rb"[0-9a-fA-F]")
_DIGITS = re.compile(rb"[0-9a-fA-F]++")


class _Options(dict[str, str]):
    """Options by name; flags have an empty value."""

    def number(self, name: str, default: int) -> int:
        """Return an integer option as `strtol` reads it: text without digits is 0."""
        if name not in self:
            return default
        found = _NUMBER.match(self[name])
        if found is None:
            return 0
        digits = found[2][:20]
        octal = digits.startswith("0") and not digits.strip("01234567")
        value = int(digits, 16 if digits[:2] in ("0x", "0X") else 8 if octal else 10)
        return -value if found[1] == "-" else value


def _parse(words: list[str]) -> tuple[_Options, list[str]]:
    """Read options in xxd's own way: `-c8`, `-c 8`, `-cols 8`; clusters are not known."""
    options = _Options()
    at = 0
    while at < len(words) and words[at].startswith("-") and words[at] != "-":
        word = words[at]
        at += 1
        if word == "--":
            break
        name = word.lstrip("-")
        full, value = _LONG.get(name), ""
        if full is None:
            full = _VALUES.get(name[:1]) or _FLAGS.get(name[:1])
            value = name[1:] if name[:1] in _VALUES else ""
        takes = full in _VALUES.values()
        if full is None or (takes and not value and at >= len(words)):
            raise CommandError("", 1)
        if takes and not value:
            value = words[at]
            at += 1
        if full in _KINDS:
            for kind in _KINDS:
                options.pop(kind, None)
        options[full] = value
    return options, words[at:]


def _rows(ctx: CommandContext, source: Iterator[bytes], columns: int) -> Iterator[bytes]:
    """Yield the bytes of one line after the other."""
    rest = b""
    for block in source:
        data = rest + block
        cut = len(data) - len(data) % columns
        ctx.budget.step(cut // columns + 1)
        for at in range(0, cut, columns):
            yield data[at : at + columns]
        rest = data[cut:]
    if rest:
        yield rest


def _write_dump(
    ctx: CommandContext, source: Iterator[bytes], out: ByteWriter, options: _Options, start: int
) -> None:
    """Write the usual dump: address, groups of digits, characters."""
    bits, little = "bits" in options, "little" in options
    columns = options.number("cols", 0) or (6 if bits else 16)
    group = options.number("groupsize", 1 if bits else 4 if little else 2)
    if group < 1 or group > columns:
        group = columns
    groups = -(-columns // group)
    size = 8 if bits else 2
    width = groups * (2 * group + 1) - 1 if little else columns * size + groups - 1

    def digits(part: bytes) -> str:
        if bits:
            return "".join([f"{byte:08b}" for byte in part])
        return part[::-1].hex().rjust(2 * group)

    position = start
    for row in _rows(ctx, source, columns):
        if bits or little:
            shown = " ".join([digits(row[at : at + group]) for at in range(0, len(row), group)])
        else:
            shown = row.hex(" ", -group)
        characters = str(row.translate(_PRINTABLE), "ascii")
        out.write(encode(f"{position & _MAX_ADDRESS:08x}: {shown:<{width}}  {characters}\n"))
        position += len(row)


def _write_plain(
    ctx: CommandContext, source: Iterator[bytes], out: ByteWriter, options: _Options
) -> None:
    columns = options.number("cols", 30)
    rows = _rows(ctx, source, columns) if columns > 0 else source
    end = "\n" if columns > 0 else ""
    for row in rows:
        out.write(encode(row.hex() + end))
    if not end:
        out.write(b"\n")


def _revert_plain(ctx: CommandContext, source: ByteReader, out: ByteWriter) -> None:
    """Undo `-p`: every pair of digits is a byte; other characters are skipped."""
    half = b""
    for line in lines(ctx.budget, source):
        text = half + line.translate(None, b" \t\r")
        half = b""
        for run in _DIGITS.findall(text):
            whole = len(run) // 2 * 2
            half = run[whole:] if text.endswith(run) else b""
            out.write(bytes.fromhex(str(run[:whole], "ascii")))


def _revert(ctx: CommandContext, source: ByteReader, out: ByteWriter, options: _Options) -> None:
    """Undo a usual dump: an address, then pairs of digits up to a double blank."""
    columns = options.number("cols", 16) or 16
    base = options.number("seek", 0)
    position = 0
    for line in lines(ctx.budget, source):
        start = _first_digit(ctx, line)
        end = start + 20 + 3 * columns if columns > 0 else len(line)
        found = _DUMP_LINE.match(line[start:end])
        if found is None:
            continue
        data = bytes.fromhex(str(found[2], "ascii"))[:columns]
        if data:
            _go_to(ctx, out, position, int(found[1], 16) + base)
            position = int(found[1], 16) + base + len(data)
            out.write(data)


def _first_digit(ctx: CommandContext, line: bytes) -> int:
    """Return where the first hexadecimal digit of a line is, its length if it has none."""
    start = 0
    for piece in ctx.budget.pieces(line):
        found = _DIGIT.search(piece)
        if found is not None:
            return start + found.start()
        start += len(piece)
    return start


def _go_to(ctx: CommandContext, out: ByteWriter, position: int, wanted: int) -> None:
    """Go to an address; gaps are filled with NUL where the output cannot seek."""
    if wanted == position:
        return
    if hasattr(out, "seek"):
        try:
            out.seek(wanted, 0)
            return
        except (OSError, ValueError):
            pass
    if wanted < position:
        raise CommandError("Sorry, cannot seek backwards.", 5)
    while position < wanted:
        ctx.budget.step()
        size = min(BLOCK, wanted - position)
        out.write(bytes(size))
        position += size


def _input(ctx: CommandContext, name: str, *, revert: bool) -> ByteReader:
    try:
        return ctx.open_input(name)
    except IsADirectoryError as error:
        if revert:
            return BytesReader(b"")
        raise CommandError(error.strerror or "", 2) from None
    except OSError as error:
        raise CommandError(describe_os_error(error, name), 2) from None


def _seek(ctx: CommandContext, source: ByteReader, options: _Options) -> int:
    """Skip to the offset of `-s` and return the address of the first byte."""
    offset = options.number("seek", 0)
    if offset < 0:
        try:
            size: int = source.seek(0, 2)  # type: ignore[attr-defined]
            start: int = source.seek(size + offset, 0)  # type: ignore[attr-defined]
        except (AttributeError, OSError):
            raise CommandError("Sorry, cannot seek.", 4) from None
        return start
    skipped = 0
    while skipped < offset and (block := source.read(min(BLOCK, offset - skipped))):
        ctx.budget.step()
        skipped += len(block)
    if skipped < offset and position_of(source) is None:
        raise CommandError("Sorry, cannot seek.", 4)
    return offset


def _limited(ctx: CommandContext, source: ByteReader, limit: int) -> Iterator[bytes]:
    """Yield at most `limit` bytes; all of them for a negative `limit`."""
    if limit < 0:
        yield from blocks(ctx.budget, source)
    while limit > 0 and (block := source.read(min(BLOCK, limit))):
        ctx.budget.step()
        limit -= len(block)
        yield block


@command(
    "xxd",
    manners=Manners(read_error=("NAME: REASON", 2), write_error=("NAME: REASON", 3)),
    raw=True,
    usage="""
    Usage: xxd [OPTIONS] [INFILE [OUTFILE]]
      or:  xxd -r [-s [-]OFFSET] [-c COLS] [-ps] [INFILE [OUTFILE]]
    Make a hexadecimal dump of a file, or turn one back into bytes.

      -b          binary digits
      -c COLS     bytes in a line: 16, or 6 with -b, 30 with -ps; with -ps 0 for all
      -e          little-endian groups
      -g BYTES    bytes in a group: 2, or 1 with -b, 4 with -e; 0 for no groups
      -h          print this summary
      -l LEN      stop after LEN bytes
      -ps         digits only
      -r          from a dump to bytes
      -s SEEK     start at byte SEEK, from the end when negative
    """,
)
def xxd(ctx: CommandContext, args: Arguments) -> int:
    try:
        options, names = _parse(args.operands)
    except CommandError:
        names = ["", "", ""]
    if len(names) > 2:
        ctx.stderr.write(encode(xxd.usage))
        return 1
    columns = options.number("cols", 0)
    most = columns if "postscript" in options else _MAX_COLUMNS
    if "revert" not in options and (columns < 0 or columns > most):
        raise CommandError(f"invalid number of columns (max. {_MAX_COLUMNS}).", 1)
    group = options.number("groupsize", 0)
    if "little" in options and group > 0 and group & (group - 1):
        raise CommandError("number of octets per group must be a power of 2 with -e.", 1)
    ctx.budget.charge(max(0, columns))
    name = names[0] if names else "-"
    source = _input(ctx, name, revert="revert" in options)
    file = None
    if len(names) > 1 and names[1] != "-":
        file = _output(ctx, names[1], revert="revert" in options)
    try:
        _convert(ctx, source, ctx.stdout if file is None else file, options)
    finally:
        if file is not None:
            file.release()
    return 0


def _output(ctx: CommandContext, name: str, *, revert: bool) -> File:
    path = ctx.path(name)
    try:
        mode: Mode = "r+" if revert and ctx.fs.exists(path) else "w"
        return ctx.fs.open(path, mode, permissions=0o666 & ~ctx.umask)
    except OSError as error:
        raise CommandError(describe_os_error(error, name), 3) from None


def _convert(ctx: CommandContext, source: ByteReader, out: ByteWriter, options: _Options) -> None:
    plain = "postscript" in options
    if "revert" in options:
        if any(kind in options for kind in _KINDS) and not plain:
            raise CommandError("Sorry, cannot revert this type of hexdump", 255)
        if plain:
            _revert_plain(ctx, source, out)
        else:
            _revert(ctx, source, out, options)
        return
    start = _seek(ctx, source, options)
    found = _limited(ctx, source, options.number("len", -1))
    if plain:
        _write_plain(ctx, found, out, options)
    else:
        _write_dump(ctx, found, out, options, start)
