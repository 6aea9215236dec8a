"""`hexdump` (util-linux): dump files by format strings."""

from __future__ import annotations

import re

from agentsandbox.commands._suites import UTIL_LINUX
from agentsandbox.commands.dumps.dumping import can_open_one, concatenated, dump_lines
from agentsandbox.commands.dumps.hexdump_formats import Format, parse_format, split_format
from agentsandbox.contract.command import Arguments, CommandContext, command
from agentsandbox.contract.manners import SILENT, Manners
from agentsandbox.errors import CommandError

_ADDRESS = r'"%07.7_ax " '
_FINAL = '"%07.7_Ax\n"'
_STANDARD = {
    "one-byte-octal": [_FINAL, _ADDRESS + r'16/1 "%03o " "\n"'],
    "one-byte-char": [_FINAL, _ADDRESS + r'16/1 "%3_c " "\n"'],
    "canonical": [
        '"%08.8_Ax\n"',
        r'"%08.8_ax  " 8/1 "%02x " "  " 8/1 "%02x " ',
        r'"  |" 16/1 "%_p" "|\n"',
    ],
    "two-bytes-decimal": [_FINAL, _ADDRESS + r'8/2 "  %05u " "\n"'],
    "two-bytes-octal": [_FINAL, _ADDRESS + r'8/2 " %06o " "\n"'],
    "two-bytes-hex": [_FINAL, _ADDRESS + r'8/2 "   %04x " "\n"'],
    "": [_FINAL, _ADDRESS + r'8/2 "%04x " "\n"'],
}
_SIZE = re.compile(r"(0[xX][0-9a-fA-F]{1,16}|[0-9]{1,20})(?:([KMGTPEZYkmgtpezy])(i[Bb]|[Bb])?)?\Z")


def _size(text: str, what: str) -> int:
    found = _SIZE.match(text)
    if found is None:
        raise CommandError(f"failed to parse {what}: '{text}': Invalid argument")
    digits, letter, suffix = found.groups()
    octal = digits.startswith("0") and not digits.strip("01234567")
    value = int(digits, 16 if digits[:2] in ("0x", "0X") else 8 if octal else 10)
    if letter:
        value *= (1000 if suffix in ("B", "b") else 1024) ** ("KMGTPEZY".index(letter.upper()) + 1)
    return value


def _offset(text: str) -> int:
    return _size(text, "offset")


def _length(text: str) -> int:
    return _size(text, "length")


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
      -n, --length=LENGTH       show at most LENGTH bytes
      -s, --skip=OFFSET         skip OFFSET bytes first
      -v, --no-squeezing        do not show equal lines as *
      -h, --help                display this help and exit
    """,
)
def hexdump(ctx: CommandContext, args: Arguments) -> int:
    formats: list[Format] = []
    for key, value in args.given:
        ctx.budget.step(50)
        texts = _STANDARD.get(key) or ([value or ""] if key == "format" else [])
        formats += [parse_format(text) for text in texts]
    formats = formats or [parse_format(text) for text in _STANDARD[""]]
    size = max([form.size for form in formats])
    ctx.budget.charge(size * 32)
    if not size:
        return ctx.status
    for form in formats:
        form.fill(size)
    limit = _length(args.value("length") or "") if args.flag("length") else None
    skip = _offset(args.value("skip", "0") or "")
    source = concatenated(ctx, args.operands, skip, limit, as_od=False)
    lines = dump_lines(ctx, source, size, all_lines=args.flag("no-squeezing"))
    end = 0
    for position, line in lines:
        if line is None:
            ctx.print("*")
            continue
        end = skip + position
        texts = [form.show(ctx.budget, line, end) for form in formats] if line else []
        ctx.print("".join(texts), end="")
    if ctx.status and not can_open_one(ctx, args.operands):
        raise CommandError("all input file arguments failed")
    finals = [text for form in formats if (text := form.final(end))]
    if end > skip and finals:
        ctx.print(finals[-1], end="")
    return ctx.status
