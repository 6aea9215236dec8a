"""`xxd` (of the Vim project): make a hexadecimal dump, or turn one back into bytes."""

from __future__ import annotations

import re
from itertools import accumulate

from agentsandbox.command import Arguments, CommandContext, command, describe_os_error
from agentsandbox.commands._dumps import Sheet
from agentsandbox.commands._lines import blocks, line_blocks, lines
from agentsandbox.errors import CommandError
from agentsandbox.manners import Manners
from agentsandbox.streams import BLOCK, BytesReader, encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from agentsandbox.fs.base import File
    from agentsandbox.limits import Budget
    from agentsandbox.streams import ByteReader, ByteWriter

_VALUES = {"c": "cols", "g": "groupsize", "l": "len", "n": "name", "o": "offset", "s": "seek"}
_FLAGS = {"a": "autoskip", "b": "bits", "C": "capitalize", "d": "decimal", "e": "little", "E": "EBCDIC", "i": "include"}
_FLAGS |= {"p": "postscript", "r": "revert", "u": "uppercase", "h": "help", "v": "version"}
_LONG = {"ps": "postscript", "plain": "postscript", "cols": "cols", "group": "groupsize", "len": "len", "name": "name", "skip": "seek"}
_LONG |= {value: value for value in (*_VALUES.values(), *_FLAGS.values())}
_NUMBER = re.compile(r"[ \t]*([+-]?)(0[xX][0-9a-fA-F]+|[0-9]+)")
_PRINTABLE = bytes([byte if 32 <= byte < 127 else 46 for byte in range(256)])
_EBCDIC = {
    0x40: " ", 0x4B: ".<(+|&", 0x5A: "!$*);~-/", 0x6B: ",%_>?", 0x79: "`:#@'=\"", 0x81: "abcdefghi", 0x91: "jklmnopqr^", 0xA2: "stuvwxyz",
    0xAD: "[", 0xBD: "]", 0xC0: "{ABCDEFGHI", 0xD0: "}JKLMNOPQR", 0xE0: "\\", 0xE2: "STUVWXYZ", 0xF0: "0123456789",
}  # fmt: skip
"""The characters that -E shows, from these bytes on."""
_DIGITS = b"0123456789abcdefABCDEF"
_DIGIT_VALUES = {digit: int(chr(digit), 16) for digit in _DIGITS}
_MAX_COLUMNS = 256
_KINDS = ("bits", "include", "little", "postscript")
"""The dumps that are not the usual one."""


class _Options(dict[str, str]):
    """Options by name; flags have an empty value."""

    def number(self, name: str, default: int) -> int:
        """An integer option, read as `strtol` reads it: what is no number is 0."""
        text = self.get(name)
        if text is None:
            return default
        found = _NUMBER.match(text)
        if found is None:
            return 0
        digits = found[2][:20]
        base = 16 if digits[:2] in ("0x", "0X") else 8 if digits.startswith("0") and not digits.strip("01234567") else 10
        value = int(digits, base)
        return -value if found[1] == "-" else value


def _parse(words: list[str]) -> tuple[_Options, list[str]]:
    """xxd's own way with options: `-c8`, `-c 8`, `-cols 8`; clusters are not known."""
    options = _Options()
    at = 0
    while at < len(words) and words[at].startswith("-") and words[at] != "-":
        word = words[at]
        at += 1
        if word == "--":
            break
        name = word.lstrip("-") if word.startswith("--") else word[1:]
        full, value = _LONG.get(name), ""
        if full is None:
            letter = name[:1]
            full = _VALUES.get(letter) or _FLAGS.get(letter)
            value = name[1:] if letter in _VALUES else ""
        if full is None or full in ("help", "version"):
            raise _UsageError(full)
        if full in _VALUES.values() and not value:
            if at >= len(words):
                raise _UsageError(None)
            value = words[at]
            at += 1
        if full in _KINDS:
            for kind in _KINDS:
                options.pop(kind, None)  # the last one counts
        if full == "autoskip" and full in options:
            del options[full]  # -a toggles
        else:
            options[full] = value
    return options, words[at:]


class _UsageError(CommandError):
    """The usage text is asked for, or due; `wanted` is the option that asked."""

    def __init__(self, wanted: str | None) -> None:
        super().__init__("", 1)
        self.wanted = wanted


def _line_blocks(ctx: CommandContext, source: Iterator[bytes], columns: int) -> Iterator[bytes]:
    """The bytes of whole lines, many at a time; the last line may be short."""
    rest = b""
    for block in source:
        data = rest + block
        cut = len(data) - len(data) % columns
        rest = data[cut:]
        ctx.budget.step(cut // columns // 4 + 1)
        if cut:
            yield data[:cut] if rest else data
    if rest:
        yield rest


def _ebcdic() -> bytes:
    table = bytearray(b"." * 256)
    for start, characters in _EBCDIC.items():
        table[start : start + len(characters)] = encode(characters)
    return bytes(table)


class _Dump:
    """The normal dump: address, groups of digits, characters."""

    __slots__ = ("address", "bits", "columns", "group", "little", "shown", "tables", "upper")

    def __init__(self, options: _Options) -> None:
        self.shown = _ebcdic() if "EBCDIC" in options else _PRINTABLE
        self.bits = "bits" in options
        self.little = "little" in options
        self.columns = options.number("cols", 0) or (6 if self.bits else 16)
        self.group = options.number("groupsize", 1 if self.bits else 4 if self.little else 2)
        self.upper = "uppercase" in options
        if self.group < 1 or self.group > self.columns:
            self.group = self.columns
        self.address = "%08d: " if "decimal" in options else "%08x: "
        shape = "08b" if self.bits else "02X" if self.upper else "02x"
        self.tables = [bytes(map(ord, column)) for column in zip(*[format(byte, shape) for byte in range(256)], strict=True)]

    def _digits(self, part: bytes) -> str:
        if self.bits:
            return "".join([f"{byte:08b}" for byte in part])
        text = part[::-1].hex().rjust(2 * self.group) if self.little else part.hex()
        return text.upper() if self.upper else text

    def _uneven_line(self, data: bytes) -> str:
        """Digits and characters with -e where the last group is not a whole one: they overlap, as they do in xxd."""
        width = 2 * self.group + 1
        start = 2 + (width * self.columns - 1) // self.group
        text = [" "] * (start + 2 * self.columns + 2 * width)
        for at, byte in enumerate(data):
            place = width * (at ^ (self.group - 1)) // self.group
            text[place : place + 2] = f"{byte:02X}" if self.upper else f"{byte:02x}"
            text[start + at] = chr(self.shown[byte])
        return "".join(text[: start + len(data)])

    def lines(self, position: int, data: bytes) -> bytes:
        """The lines of a block that begins there; the last may be short."""
        whole = len(data) // self.columns * self.columns
        size, last = (len(self.address % (at & _MOST)) for at in (position, position + whole))
        uneven = self.little and self.columns % self.group | self.group & (self.group - 1)
        if uneven or size != last or position < 0:
            texts = [self.line(position + at, data[at : at + self.columns]) for at in range(0, len(data), self.columns)]
            return encode("".join(texts))
        made = self._whole_lines(range(position, position + whole, self.columns), data[:whole], size) if whole else b""
        return made + encode(self.line(position + whole, data[whole:])) if whole < len(data) else made

    def _whole_lines(self, positions: range, data: bytes, size: int) -> bytes:
        """Lines by columns; each begins with an address of that size."""
        columns, group = self.columns, self.group
        digits = len(self.tables)
        start = size + digits * columns + (columns - 1) // group + 2
        sheet = Sheet(len(positions), start + columns + 1)
        sheet.put(0, bytes(self.address * len(positions) % tuple(positions), "ascii"), size)
        for at in range(columns):
            place = at ^ (group - 1) if self.little else at
            sheet.translate(size + place * digits + place // group, data[at::columns], self.tables)
        sheet.put(start, data.translate(self.shown), columns)
        return bytes(sheet.text)

    def line(self, position: int, data: bytes) -> str:
        """One line."""
        if not (self.bits or self.little or self.upper):
            width = 2 * self.columns + -(-self.columns // self.group) - 1
            shown = str(data.translate(self.shown), "ascii")
            return f"{self.address % (position & _MOST)}{data.hex(' ', -self.group):<{width}}  {shown}\n"
        if self.little and self.columns % self.group | self.group & (self.group - 1):
            return f"{self.address % (position & _MOST)}{self._uneven_line(data)}\n"
        size = 8 if self.bits else 2
        groups = [self._digits(data[at : at + self.group]) for at in range(0, len(data), self.group)]
        whole = -(-self.columns // self.group)
        width = self.columns * size + whole - 1 if not self.little else whole * (2 * self.group + 1) - 1
        shown = str(data.translate(self.shown), "ascii")
        return f"{self.address % (position & _MOST)}{' '.join(groups):<{width}}  {shown}\n"


def _write_dump(ctx: CommandContext, source: Iterator[bytes], out: ByteWriter, options: _Options, start: int) -> None:
    dump = _Dump(options)
    position = start + options.number("offset", 0)
    skipping = _ZeroSkipping(out, dump, position) if "autoskip" in options else None
    for data in _line_blocks(ctx, source, dump.columns):
        if skipping is None:
            out.write(dump.lines(position, data))
        else:
            skipping.write(position, data)
        position += len(data)
    if skipping is not None:
        skipping.finish()


class _ZeroSkipping:
    """`-a`: of several lines of NULs only the first and, at the end, the last are shown."""

    __slots__ = ("_before", "_dump", "_held", "_out", "_zeros")

    def __init__(self, out: ByteWriter, dump: _Dump, position: int) -> None:
        self._out = out
        self._dump = dump
        self._zeros = 0
        """Lines of NULs that are held back, the first one of them shown."""
        self._held = self._before = (position, b"")

    def write(self, position: int, data: bytes) -> None:
        """Lines that begin at a position."""
        columns = self._dump.columns
        if bytes(columns) not in data and len(data) >= columns:
            self._end_zeros()
            self._out.write(self._dump.lines(position, data))
            return
        for at in range(0, len(data), columns):
            line = data[at : at + columns]
            if line.strip(b"\0"):
                self._end_zeros()
            else:
                self._zeros += 1
                self._before, self._held = self._held, (position + at, line)
            if self._zeros < 2:
                self._out.write(encode(self._dump.line(position + at, line)))

    def _end_zeros(self) -> None:
        """What stands for the lines that were held back, before another line."""
        if self._zeros == 2:
            self._out.write(encode(self._dump.line(*self._held)))
        elif self._zeros > 2:
            self._out.write(b"*\n")
        self._zeros = 0

    def finish(self) -> None:
        """The last line of NULs."""
        if self._zeros > 1:
            skipped = "*\n" if self._zeros > 3 else self._dump.line(*self._before) if self._zeros == 3 else ""
            self._out.write(encode(skipped + self._dump.line(*self._held)))


def _write_plain(ctx: CommandContext, source: Iterator[bytes], out: ByteWriter, options: _Options) -> None:
    columns = options.number("cols", 30)
    upper = "uppercase" in options
    if columns <= 0:
        for block in source:
            text = block.hex()
            out.write(encode(text.upper() if upper else text))
        out.write(b"\n")
        return
    for data in _line_blocks(ctx, source, columns):
        digits = data.hex().upper() if upper else data.hex()
        out.write(encode("\n".join([digits[at : at + 2 * columns] for at in range(0, len(digits), 2 * columns)]) + "\n"))


def _write_include(ctx: CommandContext, source: Iterator[bytes], out: ByteWriter, options: _Options, name: str | None) -> None:
    columns = options.number("cols", 0) or 12
    variable = None if name is None else re.sub(r"[^A-Za-z0-9]", "_", name)
    if variable is not None:
        variable = f"__{variable}" if variable[:1].isdigit() else variable
        variable = variable.upper() if "capitalize" in options else variable
        out.write(encode(f"unsigned char {variable}[] = {{\n"))
    size = 0
    shape = "#04X" if "uppercase" in options else "#04x"
    texts = [format(byte, shape) for byte in range(256)]
    width = columns * len("0x00, ")
    for data in _line_blocks(ctx, source, columns):
        row = ", ".join(map(texts.__getitem__, data))
        rows = [row[at : at + width - 2] for at in range(0, len(row), width)]
        out.write(encode((",\n  " if size else "  ") + ",\n  ".join(rows)))
        size += len(data)
    if size:
        out.write(b"\n")
    if variable is not None:
        suffix = "LEN" if "capitalize" in options else "len"
        out.write(encode(f"}};\nunsigned int {variable}_{suffix} = {size};\n"))


_DUMP_LINES = re.compile(r"^([0-9a-fA-F]{1,15}+): ([0-9a-fA-F]++(?: [0-9a-fA-F]++)*+)(?:  [^\n\r]*+)?+\n", re.MULTILINE)
_MOST = 2**64 - 1


class _PlainReader:
    """Pairs of digits in any text: garbage at the beginning of a line is passed over, three bad characters end the line."""

    __slots__ = ("garbage", "nibbles")

    def __init__(self) -> None:
        self.nibbles = [-1, -1, -1]
        self.garbage = True

    def read(self, budget: Budget, line: bytes) -> bytes:
        """The bytes of one line, without its newline."""
        digits = line.translate(None, b" \t\r")
        if self.nibbles[0] < 0 and not len(digits) % 2 and not digits.translate(None, _DIGITS):
            if digits:
                self.nibbles = [-1, _DIGIT_VALUES[digits[-2]], -1]
                self.garbage = False
            return bytes.fromhex(str(digits, "ascii"))
        found = bytearray()
        for character in digits:
            budget.step()
            value = _DIGIT_VALUES.get(character, -1)
            if value < 0 and self.garbage:
                continue
            self.garbage = False
            last, before, _ = self.nibbles
            self.nibbles = [value, last, before]
            if last >= 0 and value >= 0:
                found.append(last << 4 | value)
                self.nibbles[0] = -1
            elif self.nibbles == [-1, -1, -1]:
                self.garbage = True
                break
        return bytes(found)


def _revert_plain(ctx: CommandContext, source: ByteReader, out: ByteWriter) -> None:
    """`-r -p`: every pair of digits is a byte."""
    reader = _PlainReader()
    for line in lines(ctx.budget, source):
        out.write(reader.read(ctx.budget, line))


class _DumpReader:
    """`-r`: an address, then pairs of digits, up to garbage or to as many bytes as a line has. What precedes the address is passed over."""

    def __init__(self, ctx: CommandContext, out: ByteWriter, columns: int, base: int) -> None:
        self._ctx = ctx
        self._out = out
        self._columns = columns
        self._base = base
        self._nibbles = (-1, -1, -1)
        """The values of the last characters, the latest first; -1 for no digit."""
        self._fresh = True
        """Whether no digit of the line was seen."""
        self._count = columns
        """How many bytes of the line were read; as many as there can be while the address is."""
        self._address = 0
        self._position = 0
        self._at_address = False

    def read_block(self, block: bytes) -> None:
        """Read lines with their newlines."""
        if not self._read_plain(block):
            for line in BytesReader(block).lines():
                self._ctx.budget.step()
                self.read(line)

    def _read_plain(self, block: bytes) -> bool:
        """Read a block in which every line has an address and whole bytes, and no more of them than a line may have."""
        if not self._fresh or self._count < self._columns:
            return False
        found = _DUMP_LINES.findall(str(block, "latin-1"))
        if len(found) != block.count(b"\n") or not block.endswith(b"\n"):
            return False
        try:
            parts = [bytes.fromhex(digits) for _, digits in found]
        except ValueError:  # half a byte
            return False
        sizes = list(map(len, parts))
        if max(sizes) > self._columns:
            return False
        addresses = [int(address, 16) for address, _ in found]
        if addresses == list(accumulate(sizes[:-1], initial=addresses[0])):
            addresses, parts = addresses[:1], [b"".join(parts)]
        for address, part in zip(addresses, parts, strict=True):
            self._go_to(address)
            self._write(part)
        self._nibbles = (-1, -1, -1)
        return True

    def read(self, line: bytes) -> None:
        """Read a line with its newline."""
        for character in line.replace(b"\r", b""):
            self._ctx.budget.step()
            if not self._take(_DIGIT_VALUES.get(character, -1)):
                break
        else:
            if not line.endswith(b"\n") or self._at_address:
                return
        if line.endswith(b"\n"):
            self._address = 0
            self._count = self._columns
            self._fresh = True

    def _take(self, value: int) -> bool:
        """One character; False where the rest of the line means nothing."""
        self._at_address = False
        last, before, _ = self._nibbles
        self._nibbles = (value, last, before)
        if value < 0 and self._fresh:
            return True
        self._fresh = False
        if self._count >= self._columns:
            self._at_address = True
            if value < 0:
                self._count = 0
            else:
                self._address = (self._address << 4 | value) & _MOST
            return True
        self._go_to(self._address)
        if value >= 0 and last >= 0:
            self._write(bytes([last << 4 | value]))
            self._address += 1
            self._nibbles = (-1, last, before)
            self._count += 1
            return self._count < self._columns
        return self._nibbles != (-1, -1, -1)

    def _write(self, data: bytes) -> None:
        self._out.write(data)
        self._position += len(data)

    def _go_to(self, address: int) -> None:
        """Go to an address, a number of 64 bits with a sign; gaps are filled with NUL where the output cannot seek."""
        wanted = (address + self._base + 2**63) % 2**64 - 2**63
        if wanted == self._position:
            return
        if hasattr(self._out, "seek"):
            try:
                self._out.seek(wanted, 0)
            except (OSError, ValueError):
                pass
            else:
                self._position = wanted
                return
        if wanted < self._position:
            raise CommandError("Sorry, cannot seek backwards.", 5)
        while self._position < wanted:
            self._ctx.budget.step()
            self._write(bytes(min(BLOCK, wanted - self._position)))


def _revert(ctx: CommandContext, source: ByteReader, out: ByteWriter, options: _Options) -> None:
    reader = _DumpReader(ctx, out, options.number("cols", 16) or 16, options.number("seek", 0))
    for block in line_blocks(ctx.budget, source):
        reader.read_block(block)


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
    """Go to where `-s` says; the address of the first byte."""
    text = options.get("seek")
    if text is None:
        return 0
    offset = options.number("seek", 0)
    if offset < 0:
        if not hasattr(source, "seek"):
            raise CommandError("Sorry, cannot seek.", 4)
        try:
            size: int = source.seek(0, 2)
            start: int = source.seek(size + offset, 0)
        except OSError:
            raise CommandError("Sorry, cannot seek.", 4) from None
        return start
    skipped = 0
    while skipped < offset and (block := source.read(min(BLOCK, offset - skipped))):
        ctx.budget.step()
        skipped += len(block)
    if skipped < offset and not _can_seek(source):
        raise CommandError("Sorry, cannot seek.", 4)
    return offset


def _can_seek(source: ByteReader) -> bool:
    if not hasattr(source, "seek"):
        return False
    try:
        source.seek(0, 1)
    except OSError:
        return False
    return True


def _limited(ctx: CommandContext, source: ByteReader, limit: int | None) -> Iterator[bytes]:
    if limit is None or limit < 0:
        yield from blocks(ctx.budget, source)
        return
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

      -a          show one '*' for several lines of NULs
      -b          binary digits
      -C          capital letters in the names of -i
      -c COLS     bytes in a line: 16, or 6 with -b, 12 with -i, 30 with -ps; 0 with -ps for one line
      -d          decimal addresses
      -e          little-endian groups
      -E          characters of EBCDIC
      -g BYTES    bytes in a group: 2, or 1 with -b, 4 with -e; 0 for no groups
      -h          print this summary
      -i          as a C array
      -l LEN      stop after LEN bytes
      -n NAME     the name of the array of -i
      -o OFF      add OFF to the addresses
      -ps         digits only
      -r          from a dump to bytes
      -s SEEK     start at byte SEEK, from the end when negative
      -u          upper case digits
    """,
)
def xxd(ctx: CommandContext, args: Arguments) -> int:
    try:
        options, names = _parse(args.operands)
        if len(names) > 2:
            raise _UsageError(None)
    except _UsageError as usage:
        if usage.wanted == "version":
            ctx.stderr.write(b"xxd of agentsandbox\n")
            return 0
        ctx.stderr.write(encode(xxd.usage))
        return 1
    columns = options.number("cols", 0)
    plain = "postscript" in options
    most = columns if plain or "include" in options else _MAX_COLUMNS
    if "revert" not in options and (columns < 0 or columns > most):
        raise CommandError(f"invalid number of columns (max. {_MAX_COLUMNS}).", 1)
    group = options.number("groupsize", 0)
    if "little" in options and group > 0 and group & (group - 1):
        raise CommandError("number of octets per group must be a power of 2 with -e.", 1)
    ctx.budget.charge(max(0, columns))
    name = names[0] if names else "-"
    source = _input(ctx, name, revert="revert" in options)
    out, opened = _output(ctx, names[1] if len(names) > 1 else "-", revert="revert" in options)
    try:
        _convert(ctx, source, out, options, name)
    finally:
        if opened is not None:
            opened.release()
    return 0


def _output(ctx: CommandContext, name: str, *, revert: bool) -> tuple[ByteWriter, File | None]:
    if name == "-":
        return ctx.stdout, None
    path = ctx.path(name)
    try:
        exists = revert and ctx.fs.exists(path)
        file = ctx.fs.open(path, "r+" if exists else "w", permissions=0o666 & ~ctx.umask)
    except OSError as error:
        raise CommandError(describe_os_error(error, name), 3) from None
    return file, file


def _convert(ctx: CommandContext, source: ByteReader, out: ByteWriter, options: _Options, name: str) -> None:
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
    limit = options.number("len", 0) if "len" in options else None
    found = _limited(ctx, source, limit)
    if "include" in options:
        _write_include(ctx, found, out, options, options.get("name") or (None if name == "-" else name))
    elif plain:
        _write_plain(ctx, found, out, options)
    else:
        _write_dump(ctx, found, out, options, start)
