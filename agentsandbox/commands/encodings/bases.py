"""`base64` and `base32` (GNU coreutils): encode and decode as RFC 4648 says."""

from __future__ import annotations

import binascii
import re
from base64 import b32decode, b32encode

from agentsandbox.commands._suites import COREUTILS
from agentsandbox.commands._text.lines import blocks, shown_name
from agentsandbox.commands._text.quoting import quote
from agentsandbox.commands._text.sizes import parse_number
from agentsandbox.contract.command import Command, command, describe_os_error
from agentsandbox.contract.manners import Manners
from agentsandbox.errors import CommandError, UsageError
from agentsandbox.kernel.streams import BLOCK

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from agentsandbox.contract.command import Arguments, CommandContext
    from agentsandbox.kernel.streams import ByteReader

_ANY = 10**50
_LONGEST_LINE = 2**63 - 1
"""A greater line length means lines without end."""


_USAGE = """
Usage: NAME [OPTION]... [FILE]
Encode FILE in NAME, or decode it, writing to standard output.

With no FILE, or when FILE is -, read standard input.

  -d, --decode           decode
  -i, --ignore-garbage   when decoding, ignore characters that are not of the alphabet
  -w, --wrap=COLS        wrap encoded lines after COLS characters (76); 0 for no wrapping
      --help             display this help and exit
"""


class _Encoding:
    """One encoding: `group` bytes make `letters` of `alphabet`; "=" fills the last group."""

    __slots__ = ("_decode", "_outside", "alphabet", "encode", "foreign", "group", "letters")

    def __init__(
        self,
        alphabet: bytes,
        group: int,
        letters: int,
        encode: Callable[[bytes], bytes],
        decode: Callable[[bytes], bytes],
    ) -> None:
        self.alphabet = alphabet
        self.group = group
        self.letters = letters
        self.encode = encode
        self._decode = decode
        self._outside = re.compile(b"[^" + re.escape(alphabet) + b"]").search
        self.foreign = bytes([byte for byte in range(256) if byte not in alphabet + b"="])

    def decode(self, data: bytes) -> tuple[bytes, int]:
        """Return (bytes, characters used) of the valid groups that `data` begins with."""
        parts: list[bytes] = []
        at = 0
        while at < len(data):
            end = self._valid_end(data, at)
            end -= (end - at) % self.letters
            if end > at:
                parts.append(self._decode(data[at:end]))
                at = end
            if at + self.letters > len(data):
                break
            group = data[at : at + self.letters]
            body = group.rstrip(b"=")
            if len(body) == len(group) or not self._is_end(body):
                break
            parts.append(self._beginning(body))
            at += self.letters
        return b"".join(parts), at

    def _valid_end(self, data: bytes, start: int) -> int:
        """Return the position of the first character outside the alphabet."""
        if not start and not data.translate(None, self.alphabet):  # quicker than a search
            return len(data)
        found = self._outside(data, start)
        return len(data) if found is None else found.start()

    def _is_end(self, body: bytes) -> bool:
        sizes = (2, 3) if self.letters == 4 else (2, 4, 5, 7)
        return len(body) in sizes and not body.translate(None, self.alphabet)

    def partial(self, body: bytes) -> bytes:
        """Return the bytes that an incomplete group fills, as far as GNU's decoder writes them."""
        if self.letters != 4 and len(body) < self.letters:
            return b""
        return self._beginning(body[: self._valid_end(body, 0)])

    def _beginning(self, body: bytes) -> bytes:
        count = len(body)
        size = count * self.group // self.letters
        filled = body[:count] + self.alphabet[:1] * (self.letters - count)
        return self._decode(filled)[:size]


_BASE64 = _Encoding(
    b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/",
    3,
    4,
    lambda data: binascii.b2a_base64(data, newline=False),
    binascii.a2b_base64,
)
_BASE32 = _Encoding(b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", 5, 8, b32encode, b32decode)


def _encode_stream(ctx: CommandContext, source: ByteReader, encoding: _Encoding, wrap: int) -> None:
    rest = b""
    line = b""
    for block in blocks(ctx.budget, source, BLOCK // 2):
        data = rest + block
        cut = len(data) - len(data) % encoding.group
        rest = data[cut:]
        if not cut:
            continue
        line = _write_wrapped(ctx, line + encoding.encode(data[:cut]), wrap)
    if rest:
        line = _write_wrapped(ctx, line + encoding.encode(rest), wrap)
    if line:
        ctx.stdout.write(line + b"\n" if wrap else line)


def _write_wrapped(ctx: CommandContext, text: bytes, wrap: int) -> bytes:
    """Write whole lines and return the rest."""
    if not wrap:
        ctx.stdout.write(text)
        return b""
    cut = len(text) - len(text) % wrap
    if cut:
        ctx.budget.step(cut // wrap // 8 + 1)
        ctx.stdout.write(b"\n".join([text[at : at + wrap] for at in range(0, cut, wrap)]) + b"\n")
    return text[cut:]


def _decode_stream(
    ctx: CommandContext, source: ByteReader, encoding: _Encoding, *, ignore: bool
) -> None:
    rest = b""
    for block in blocks(ctx.budget, source):
        foreign = encoding.foreign if ignore else b"\n"
        data = rest + block.translate(None, foreign)
        found, used = encoding.decode(data)
        if found:
            ctx.stdout.write(found)
        rest = data[used:]
        if len(rest) >= encoding.letters:
            break
    if rest:
        tail = encoding.partial(rest[: encoding.letters])
        if tail:
            ctx.stdout.write(tail)
        raise CommandError("invalid input")


def _read_wrap(text: str) -> int:
    """Return the length of a line; 0 for lines without end."""
    wrap = parse_number(text, "wrap size", high=_ANY)
    return 0 if wrap > _LONGEST_LINE else wrap


def _run(ctx: CommandContext, args: Arguments, encoding: _Encoding) -> int:
    """Encode or decode one file or standard input."""
    wrap = _read_wrap(args.value("wrap", "76") or "")
    if len(args.operands) > 1:
        raise UsageError(f"extra operand {quote(args.operands[1])}")
    name = args.operands[0] if args.operands else "-"
    try:
        source = ctx.open_input(name)
    except IsADirectoryError as error:
        raise CommandError(f"read error: {error.strerror}") from None
    except OSError as error:
        raise CommandError(describe_os_error(error, shown_name(name))) from None
    if args.flag("decode"):
        _decode_stream(ctx, source, encoding, ignore=args.flag("ignore-garbage"))
    else:
        _encode_stream(ctx, source, encoding, wrap)
    return 0


def _make(name: str, encoding: _Encoding) -> Command:
    """Return the command `name` for its encoding."""

    @command(
        name,
        manners=Manners(
            COREUTILS,
            pure=True,
            bytewise=True,
            long_options="decode wrap ignore-garbage help version",
            macos={
                "D": f"-D is macOS's; GNU {name} decodes with -d",
                "o": f"-i FILE and -o FILE are macOS's; GNU {name} writes to standard output: "
                f"{name} FILE > OUTPUT",
            },
            read_error=("NAME: read error: REASON", 1),
        ),
        values={"wrap": _read_wrap},
        usage=_USAGE.replace("NAME", name),
    )
    def run(ctx: CommandContext, args: Arguments) -> int:
        return _run(ctx, args, encoding)

    return run


base64 = _make("base64", _BASE64)
base32 = _make("base32", _BASE32)
