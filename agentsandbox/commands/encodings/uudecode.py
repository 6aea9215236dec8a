"""`uudecode` (POSIX 1003.1-2017, GNU sharutils): files from the text that uuencode wrote."""

from __future__ import annotations

import binascii
import re

from agentsandbox.commands._suites import SHARUTILS
from agentsandbox.commands.encodings.uu import FatalError, parse_words, reason
from agentsandbox.contract.command import Arguments, CommandContext, command, describe_os_error
from agentsandbox.contract.manners import Manners
from agentsandbox.kernel.streams import InputError, decode, encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from agentsandbox.kernel.fs.base import File
    from agentsandbox.kernel.streams import ByteReader, ByteWriter

_WRONG_INPUT, _NOT_THERE, _NO_OUTPUT, _WRONG_CALL = 2, 4, 8, 64
_BEGIN = re.compile(rb"begin(-base64)? ")
_REST = re.compile(rb"[ \t]*[+-]?([0-7]++)[ \t]*+([^\n]+)")
_QUADS = re.compile(rb"(?:[A-Za-z0-9+/]{4}|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{2}==)*\Z")
_HEADING = """uudecode (GNU sharutils) - decode an encoded file
Usage:  uudecode [ -<flag> [<val>] | --<name>[{=| }<val>] ]... [<file>...]
Try 'uudecode --help' for more information.
"""
_ONE_OUTPUT = """uudecode usage error:
You cannot specify an output file when processing
multiple input files.
"""


class _Encoded:
    """The first encoded file of an input: its header, and the lines after it."""

    def __init__(self, ctx: CommandContext, source: ByteReader, shown: str) -> None:
        self.shown = shown
        self._lines = self._metered(ctx, source)
        for line in self._lines:
            if found := _BEGIN.match(line):
                break
        else:
            found = None
        rest = _REST.match(line, found.end()) if found is not None else None
        if found is None or rest is None or not rest[2].strip():
            raise FatalError(_WRONG_INPUT, f"{shown}: Invalid or missing 'begin' line\n")
        self.in_base64 = bool(found[1])
        self.mode = int(rest[1], 8) & 0o777
        self.name = decode(rest[2].rstrip())

    def _metered(self, ctx: CommandContext, source: ByteReader) -> Iterator[bytes]:
        try:
            for line in source.lines():
                ctx.budget.step()
                yield line
        except InputError:
            return

    def parts(self, target: str) -> Iterator[bytes]:
        """The decoded bytes."""
        return self._from_base64(target) if self.in_base64 else self._from_uu()

    def _from_uu(self) -> Iterator[bytes]:
        before = b""
        for line in self._lines:
            count = (line[0] - 32) & 63
            if not count:
                break
            text = (
                line + b"\0" + before[len(line) + 1 :]
            )  # a line that is too short goes on with the one before it
            before = text
            values = [
                (byte - 32) & 63
                for byte in text[1 : 1 + -(-count // 3) * 4].ljust(-(-count // 3) * 4, b"\0")
            ]
            quads = zip(*[iter(values)] * 4, strict=True)
            yield b"".join(
                [(a << 18 | b << 12 | c << 6 | d).to_bytes(3, "big") for a, b, c, d in quads]
            )[:count]
        else:
            raise FatalError(_WRONG_INPUT, f"{self.shown}: Short file")
        if next(self._lines, b"") not in (b"end\n", b"end\r\n"):
            raise FatalError(_WRONG_INPUT, f"{self.shown}: No `end' line")

    def _from_base64(self, target: str) -> Iterator[bytes]:
        held = b""
        for line in self._lines:
            if line.startswith(b"===="):
                return
            text = held + line.rstrip()
            cut = len(text) - len(text) % 4
            whole, held = text[:cut], text[cut:]
            if not _QUADS.match(whole):
                raise FatalError(_WRONG_INPUT, f"{self.shown}: invalid input")
            if not whole:
                raise FatalError(
                    _NO_OUTPUT,
                    f"fserr 2 (No such file or directory) performing 'fwrite' on {target}\n",
                )
            yield b"".join(
                [binascii.a2b_base64(part) for part in re.findall(rb"[^=]+={0,2}", whole)]
            )
        raise FatalError(
            _WRONG_INPUT,
            f"fserr 2 (No such file or directory) performing '%s: Short file' on {self.shown}\n",
        )


def _open(ctx: CommandContext, target: str, action: str) -> File | None:
    """The file to write; None for standard output."""
    if target in ("-", "/dev/stdout"):
        return None
    try:
        return ctx.fs.open(ctx.path(target), "w", permissions=0o666 & ~ctx.umask)
    except OSError as error:
        raise FatalError(_NO_OUTPUT, reason(error, action, target)) from None


def _decode(ctx: CommandContext, source: ByteReader, shown: str, output: str | None) -> None:
    """The first encoded file of a source."""
    opened = _open(ctx, output, "freopen-ing for stdout") if output is not None else None
    try:
        found = _Encoded(ctx, source, shown)
        target = output if output is not None else found.name
        if output is None:
            opened = _open(ctx, target, "freopen")
        if opened is not None:
            ctx.fs.chmod(ctx.path(target), found.mode)
        writer: ByteWriter = opened if opened is not None else ctx.stdout
        for part in found.parts(target):
            writer.write(part)
    finally:
        if opened is not None:
            opened.release()


@command(
    "uudecode",
    manners=Manners(SHARUTILS),
    raw=True,
    usage="""
    Usage: uudecode [OPTION]... [FILE]...
    Turn FILEs (or standard input) that uuencode wrote into the files they are made of.

      -o, --output-file=OUTFILE  write to OUTFILE, not to the name in the text
      -h, --help                 display this help and exit
    """,
)
def uudecode(ctx: CommandContext, args: Arguments) -> int:
    found = parse_words(ctx, uudecode, _HEADING)
    if isinstance(found, int):
        return found
    output = found.value("output-file")
    if output is not None and len(found.operands) > 1:
        ctx.stderr.write(encode(_ONE_OUTPUT + _HEADING))
        return _WRONG_CALL
    names: list[str | None] = [*found.operands] or [None]
    for name in names:
        source: ByteReader = ctx.stdin
        try:
            if name is not None:
                source = ctx.keep(ctx.fs.open(ctx.path(name), "r"))
        except IsADirectoryError:
            return FatalError(_WRONG_INPUT, f"{name}: Invalid or missing 'begin' line\n").show(ctx)
        except OSError as error:
            ctx.warn(describe_os_error(error, name), _NOT_THERE)
            continue
        try:
            _decode(ctx, source, "standard input" if name is None else name, output)
        except FatalError as error:
            return error.show(ctx)
    return ctx.status
