"""`uuencode` and `uudecode` (POSIX 1003.1-2017): a file as text that survives mail, and back.

The text is a line `begin MODE NAME` (`begin-base64 MODE NAME` for base64), the encoded lines, and
a line `end` (`====` for base64).
"""

from __future__ import annotations

import base64
import binascii
import re

from agentsandbox.commands._suites import SHARUTILS
from agentsandbox.commands._text.lines import blocks
from agentsandbox.contract.command import Arguments, CommandContext, command
from agentsandbox.contract.manners import Manners
from agentsandbox.errors import CommandError, UsageError
from agentsandbox.kernel.streams import InputError, decode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from agentsandbox.kernel.streams import ByteReader, ByteWriter

_WRONG_INPUT, _NO_OUTPUT, _WRONG_CALL = 2, 8, 64
_LINE = 45
_BEGIN = re.compile(rb"begin(-base64)? [ \t]*([0-7]++)[ \t]*+([^\n]+)")
_QUADS = re.compile(rb"(?:[A-Za-z0-9+/]{4}|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{2}==)*\Z")


@command(
    "uuencode",
    manners=Manners(SHARUTILS),
    usage_status=1,
    usage="""
    Usage: uuencode [OPTION]... [FILE] NAME
    Write FILE (or standard input) as text that uudecode turns into a file called NAME.

      -m, --base64            encode in base64
      -h, --help              display this help and exit
    """,
)
def uuencode(ctx: CommandContext, args: Arguments) -> int:
    if args.flag("help"):
        ctx.print(uuencode.usage, end="")
        return 0
    if not 1 <= len(args.operands) <= 2:
        raise UsageError("one or two operands are needed: [FILE] NAME", _WRONG_CALL)
    *files, name = args.operands
    in_base64 = args.flag("base64")
    mode = 0o666 & ~ctx.umask
    source: ByteReader = ctx.stdin
    if files:
        mode = ctx.fs.stat(ctx.path(files[0])).permissions & 0o777
        source = ctx.keep(ctx.fs.open(ctx.path(files[0]), "r"))
    ctx.print(f"begin{'-base64' if in_base64 else ''} {mode:03o} {name}")
    for line in _lines_to_encode(ctx, source):
        encoded = base64.b64encode(line) + b"\n" if in_base64 else _encode_line(line)
        ctx.stdout.write(encoded)
    ctx.stdout.write(b"====\n" if in_base64 else b"`\nend\n")
    return 0


def _encode_line(line: bytes) -> bytes:
    return binascii.b2a_uu(line, backtick=True)


def _lines_to_encode(ctx: CommandContext, source: ByteReader) -> Iterator[bytes]:
    """Yield the input in pieces of 45 bytes, each of which becomes one line."""
    rest = b""
    for block in blocks(ctx.budget, source):
        data = rest + block
        cut = len(data) - len(data) % _LINE
        ctx.budget.step(cut // _LINE)
        for start in range(0, cut, _LINE):
            yield data[start : start + _LINE]
        rest = data[cut:]
    if rest:
        yield rest


@command(
    "uudecode",
    manners=Manners(SHARUTILS),
    usage_status=1,
    usage="""
    Usage: uudecode [OPTION]... [FILE]...
    Turn FILEs (or standard input) that uuencode wrote into the files they are made of.

      -o, --output-file=OUTFILE  write to OUTFILE, not to the name in the text
      -h, --help                 display this help and exit
    """,
)
def uudecode(ctx: CommandContext, args: Arguments) -> int:
    if args.flag("help"):
        ctx.print(uudecode.usage, end="")
        return 0
    output = args.value("output-file")
    if output is not None and len(args.operands) > 1:
        raise UsageError("an output file cannot be given for several input files", _WRONG_CALL)
    for name, source in ctx.inputs(args.operands):
        _decode(ctx, source, "standard input" if name == "-" else name, output)
    return ctx.status


def _decode(ctx: CommandContext, source: ByteReader, shown: str, output: str | None) -> None:
    """Write the first encoded file of a source."""
    lines = _metered(ctx, source)
    found = next((match for line in lines if (match := _BEGIN.match(line)) is not None), None)
    if found is None or not found[3].strip():
        raise CommandError(f"{shown}: Invalid or missing 'begin' line", _WRONG_INPUT)
    target = output if output is not None else decode(found[3].rstrip())
    parts = _from_base64(lines, shown) if found[1] else _from_uu(lines, shown)
    if target in ("-", "/dev/stdout"):
        _write(ctx.stdout, parts)
        return
    try:
        opened = ctx.fs.open(ctx.path(target), "w", permissions=0o666 & ~ctx.umask)
    except OSError as error:
        raise CommandError(f"{target}: {error.strerror}", _NO_OUTPUT) from None
    try:
        ctx.fs.chmod(ctx.path(target), int(found[2], 8) & 0o777)
        _write(opened, parts)
    finally:
        opened.release()


def _metered(ctx: CommandContext, source: ByteReader) -> Iterator[bytes]:
    try:
        for line in source.lines():
            ctx.budget.step()
            yield line
    except InputError:
        return


def _write(writer: ByteWriter, parts: Iterator[bytes]) -> None:
    for part in parts:
        writer.write(part)


def _from_uu(lines: Iterator[bytes], shown: str) -> Iterator[bytes]:
    """Yield the bytes of each line: its first character counts them, four others hold three."""
    for line in lines:
        count = (line[0] - 32) & 63
        if not count:
            break
        size = -(-count // 3) * 4
        values = [(byte - 32) & 63 for byte in line.rstrip()[1 : 1 + size].ljust(size)]
        quads = zip(*[iter(values)] * 4, strict=True)
        triples = [(a << 18 | b << 12 | c << 6 | d).to_bytes(3, "big") for a, b, c, d in quads]
        yield b"".join(triples)[:count]
    else:
        raise CommandError(f"{shown}: Short file", _WRONG_INPUT)
    if next(lines, b"") not in (b"end\n", b"end\r\n"):
        raise CommandError(f"{shown}: No `end' line", _WRONG_INPUT)


def _from_base64(lines: Iterator[bytes], shown: str) -> Iterator[bytes]:
    held = b""
    for line in lines:
        if line.startswith(b"===="):
            return
        text = held + line.rstrip()
        cut = len(text) - len(text) % 4
        whole, held = text[:cut], text[cut:]
        if not _QUADS.match(whole):
            raise CommandError(f"{shown}: invalid input", _WRONG_INPUT)
        quads = re.findall(rb"[^=]+={0,2}", whole)
        yield b"".join([binascii.a2b_base64(part) for part in quads])
    raise CommandError(f"{shown}: Short file", _WRONG_INPUT)
