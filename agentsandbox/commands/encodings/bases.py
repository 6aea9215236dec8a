"""`base64`, `base32` and `basenc` (GNU coreutils): encode and decode as RFC 4648 says."""

from __future__ import annotations

import binascii
import re
from base64 import b32decode, b32encode, b32hexdecode, b32hexencode

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

_BASE32 = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"
_BASE32HEX = b"0123456789ABCDEFGHIJKLMNOPQRSTUV"
_URL = bytes.maketrans(b"+/", b"-_")
_FROM_URL = bytes.maketrans(b"-_", b"+/")


_USAGE = """
Usage: NAME [OPTION]... [FILE]
TASK, writing to standard output.

With no FILE, or when FILE is -, read standard input.

CHOICES  -d, --decode           decode
  -i, --ignore-garbage   when decoding, ignore characters that are not of the alphabet
  -w, --wrap=COLS        wrap encoded lines after COLS characters (76); 0 for no wrapping
      --help             display this help and exit
"""


class _Encoding:
    """One encoding: `group` bytes make `letters` characters of `alphabet`.

    `pads` tells whether "=" fills up the last group.
    """

    __slots__ = ("_decode", "_outside", "alphabet", "encode", "foreign", "group", "letters", "pads")

    def __init__(
        self,
        alphabet: bytes,
        group: int,
        letters: int,
        encode: Callable[[bytes], bytes],
        decode: Callable[[bytes], bytes],
        *,
        pads: bool,
    ) -> None:
        self.alphabet = alphabet
        self.group = group
        self.letters = letters
        self.encode = encode
        self._decode = decode
        self.pads = pads
        self._outside = re.compile(b"[^" + re.escape(alphabet) + b"]").search
        kept = alphabet + (b"=" if pads else b"")
        self.foreign = bytes([byte for byte in range(256) if byte not in kept])

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
            if not self.pads or at + self.letters > len(data):
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
        if self.letters != 4 and (self.letters != 8 or not self.pads or len(body) < 8):
            return b""
        return self._beginning(body[: self._valid_end(body, 0)])

    def _beginning(self, body: bytes) -> bytes:
        count = len(body)
        size = count * self.group // self.letters
        filled = body[:count] + self.alphabet[:1] * (self.letters - count)
        return self._decode(filled)[:size]


_LETTERS64 = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"

_ENCODINGS = {
    "base64": _Encoding(
        _LETTERS64 + b"+/",
        3,
        4,
        lambda data: binascii.b2a_base64(data, newline=False),
        binascii.a2b_base64,
        pads=True,
    ),
    "base64url": _Encoding(
        _LETTERS64 + b"-_",
        3,
        4,
        lambda data: binascii.b2a_base64(data, newline=False).translate(_URL),
        lambda data: binascii.a2b_base64(data.translate(_FROM_URL)),
        pads=True,
    ),
    "base32": _Encoding(_BASE32, 5, 8, b32encode, b32decode, pads=True),
    "base32hex": _Encoding(_BASE32HEX, 5, 8, b32hexencode, b32hexdecode, pads=True),
    "base16": _Encoding(
        b"0123456789ABCDEF",
        1,
        2,
        lambda data: binascii.b2a_hex(data).upper(),
        binascii.a2b_hex,
        pads=False,
    ),
}


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


def _make(name: str, task: str, choices: str = "", *, long_options: str = "") -> Command:
    """Return the command `name`, which takes its encoding from `choices` or from its name."""

    @command(
        name,
        manners=Manners(
            COREUTILS,
            pure=name == "base64",
            bytewise=True,
            long_options=f"decode wrap ignore-garbage {long_options} help version",
            read_error=("NAME: read error: REASON", 1),
        ),
        values={"wrap": _read_wrap},
        usage=_USAGE.replace("NAME", name).replace("TASK", task).replace("CHOICES", choices),
    )
    def run(ctx: CommandContext, args: Arguments) -> int:
        chosen = args.last(*_ENCODINGS) if choices else name
        if chosen is None:
            raise UsageError("missing encoding type")
        return _run(ctx, args, _ENCODINGS[chosen])

    return run


base64 = _make("base64", "Encode FILE in base64, or decode it")
base32 = _make("base32", "Encode FILE in base32, or decode it")
basenc = _make(
    "basenc",
    "Encode FILE, or decode it",
    """\
      --base64           as the command base64
      --base64url        with - and _ for + and /
      --base32           as the command base32
      --base32hex        with the digits and letters in their order
      --base16           hexadecimal digits
""",
    long_options="base64 base64url base32 base32hex base16 base2msbf base2lsbf z85",
)
