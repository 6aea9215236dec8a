"""The encodings of `base64`, `base32` and `basenc`, as blocks of bytes in and out, and the command around them."""

from __future__ import annotations

import binascii
import re
import struct
from functools import cache

from agentsandbox.command import describe_os_error
from agentsandbox.commands._lines import blocks, shown_name
from agentsandbox.commands._quoting import quote
from agentsandbox.commands._sizes import parse_number
from agentsandbox.errors import CommandError, UsageError
from agentsandbox.streams import BLOCK

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from agentsandbox.command import Arguments, CommandContext
    from agentsandbox.streams import ByteReader

__all__ = ["ENCODINGS", "Encoding", "read_wrap", "run_encoding"]

_ANY = 10**50
_WHOLE_GROUP = 4
"""Bytes in a group of Z85, which has no shorter ones."""
_READ = 30720
"""Bytes that are encoded together."""
_LONGEST_LINE = 2**63 - 1
"""Lines that are to be longer have no end."""

_BASE32 = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"
_BASE32HEX = b"0123456789ABCDEFGHIJKLMNOPQRSTUV"
_BASE32_LANES = ((8, 20), (4, 10), (2, 5))
"""The bytes of a lane, and the bits of either half of what it holds."""
_URL = bytes.maketrans(b"+/", b"-_")
_FROM_URL = bytes.maketrans(b"-_", b"+/")
_REVERSED_BITS = bytes([int(f"{byte:08b}"[::-1], 2) for byte in range(256)])
_Z85 = b"0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#"
_Z85_DIGITS = [bytes((digit,)) for digit in _Z85]
_Z85_VALUES = bytes.maketrans(_Z85, bytes(range(85)))


class Encoding:
    """One encoding. `group` bytes make `letters` characters of `alphabet`; `pads` when "=" fills up the last group."""

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
        """(bytes, characters used): whole groups, and padded ones; stops at what is neither."""
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
        """Where the first character stands that is not of the alphabet."""
        if not start and not data.translate(None, self.alphabet):  # several times as quick as a search
            return len(data)
        found = self._outside(data, start)
        return len(data) if found is None else found.start()

    def _is_end(self, body: bytes) -> bool:
        return len(body) in ((2, 3) if self.letters == 4 else (2, 4, 5, 7)) and not body.translate(None, self.alphabet)

    def partial(self, body: bytes) -> bytes:
        """What the beginning of a group says: as many bytes as its characters fill."""
        if self.letters != 4 and (self.letters != 8 or not self.pads or len(body) < 8):
            return b""  # as GNU's decoder: base64 gives up the beginning of any group, base32 that of a group of eight
        return self._beginning(body[: self._valid_end(body, 0)])

    def _beginning(self, body: bytes) -> bytes:
        count = len(body)
        size = count * self.group // self.letters
        filled = body[:count] + self.alphabet[:1] * (self.letters - count)
        return self._decode(filled)[:size]


def _lanes(size: int, lane: int, bits: int) -> int:
    """As many one bits at the end of every lane, in a number of `size` bytes."""
    return int.from_bytes(((1 << bits) - 1).to_bytes(lane, "big") * (size // lane), "big")


def _encode_base32(data: bytes, alphabet: bytes) -> bytes:
    """All groups at once: as one number whose lanes are halved until each byte holds five bits."""
    missing = -len(data) % 5
    data += bytes(missing)
    size = len(data) // 5 * 8
    wide = bytearray(size)
    for at in range(5):
        wide[3 + at :: 8] = data[at::5]
    value = int.from_bytes(wide, "big")
    for lane, bits in _BASE32_LANES:
        low = _lanes(size, lane, bits)
        value = (value & low << bits) << (4 * lane - bits) | value & low
    text = value.to_bytes(size, "big").translate(alphabet.ljust(256))
    unused = missing * 8 // 5
    return text[: size - unused] + b"=" * unused


def _decode_base32(data: bytes, alphabet: bytes) -> bytes:
    """The way of `_encode_base32` back, for whole groups."""
    size = len(data)
    value = int.from_bytes(data.translate(bytes.maketrans(alphabet, bytes(range(32)))), "big")
    for lane, bits in reversed(_BASE32_LANES):
        low = _lanes(size, lane, bits)
        value = value >> (4 * lane - bits) & low << bits | value & low
    wide = value.to_bytes(size, "big")
    made = bytearray(size // 8 * 5)
    for at in range(5):
        made[at::5] = wide[3 + at :: 8]
    return bytes(made)


def _encode_bits(data: bytes) -> bytes:
    return bytes(f"{int.from_bytes(data, 'big'):0{8 * len(data)}b}", "ascii")


def _decode_bits(data: bytes) -> bytes:
    return int(data, 2).to_bytes(len(data) // 8, "big")


@cache
def _z85_pairs() -> list[bytes]:
    """Two digits for every number that has no more."""
    return [bytes((high, low)) for high in _Z85 for low in _Z85]


def _encode_z85(data: bytes) -> bytes:
    if len(data) % 4:
        raise CommandError("invalid input (length must be multiple of 4 characters)")
    pairs = _z85_pairs()
    most = len(pairs)
    values = struct.unpack(f">{len(data) // 4}I", data)
    cells = [b""] * (3 * len(values))
    cells[0::3] = [_Z85_DIGITS[value // most**2] for value in values]
    cells[1::3] = [pairs[value // most % most] for value in values]
    cells[2::3] = [pairs[value % most] for value in values]
    return b"".join(cells)


def _decode_z85(data: bytes) -> bytes:
    digits = data.translate(_Z85_VALUES)
    columns = [digits[at::5] for at in range(5)]
    values = [(((a * 85 + b) * 85 + c) * 85 + d) * 85 + e for a, b, c, d, e in zip(*columns, strict=True)]
    if values and max(values) >= 2**32:
        raise CommandError("invalid input")
    return struct.pack(f">{len(values)}I", *values)


_LETTERS64 = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"

ENCODINGS = {
    "base64": Encoding(_LETTERS64 + b"+/", 3, 4, lambda data: binascii.b2a_base64(data, newline=False), binascii.a2b_base64, pads=True),
    "base64url": Encoding(
        _LETTERS64 + b"-_",
        3,
        4,
        lambda data: binascii.b2a_base64(data, newline=False).translate(_URL),
        lambda data: binascii.a2b_base64(data.translate(_FROM_URL)),
        pads=True,
    ),
    "base32": Encoding(_BASE32, 5, 8, lambda data: _encode_base32(data, _BASE32), lambda data: _decode_base32(data, _BASE32), pads=True),
    "base32hex": Encoding(
        _BASE32HEX, 5, 8, lambda data: _encode_base32(data, _BASE32HEX), lambda data: _decode_base32(data, _BASE32HEX), pads=True
    ),
    "base16": Encoding(b"0123456789ABCDEF", 1, 2, lambda data: binascii.b2a_hex(data).upper(), binascii.a2b_hex, pads=False),
    "base2msbf": Encoding(b"01", 1, 8, _encode_bits, _decode_bits, pads=False),
    "base2lsbf": Encoding(
        b"01",
        1,
        8,
        lambda data: _encode_bits(data.translate(_REVERSED_BITS)),
        lambda data: _decode_bits(data).translate(_REVERSED_BITS),
        pads=False,
    ),
    "z85": Encoding(_Z85, 4, 5, _encode_z85, _decode_z85, pads=False),
}


def _encode_stream(ctx: CommandContext, source: ByteReader, encoding: Encoding, wrap: int) -> None:
    rest = b""
    line = b""
    unit = encoding.group if encoding.group != _WHOLE_GROUP else _READ
    for block in blocks(ctx.budget, source, BLOCK // 2):
        data = rest + block
        cut = len(data) - len(data) % unit
        rest = data[cut:]
        if not cut:
            continue
        line = _write_wrapped(ctx, line + encoding.encode(data[:cut]), wrap)
    if len(rest) % encoding.group and unit == _READ:
        ctx.stdout.write(line)  # what is not whole is wrong
    if rest:
        line = _write_wrapped(ctx, line + encoding.encode(rest), wrap)
    if line:
        ctx.stdout.write(line + b"\n" if wrap else line)


def _write_wrapped(ctx: CommandContext, text: bytes, wrap: int) -> bytes:
    """Write whole lines; what is left of the last one."""
    if not wrap:
        ctx.stdout.write(text)
        return b""
    cut = len(text) - len(text) % wrap
    if cut:
        ctx.budget.step(cut // wrap // 8 + 1)
        ctx.stdout.write(b"\n".join([text[at : at + wrap] for at in range(0, cut, wrap)]) + b"\n")
    return text[cut:]


def _decode_stream(ctx: CommandContext, source: ByteReader, encoding: Encoding, *, ignore: bool) -> None:
    rest = b""
    for block in blocks(ctx.budget, source):
        data = rest + (block.translate(None, encoding.foreign) if ignore else block.replace(b"\n", b""))
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


def read_wrap(text: str) -> int:
    """The characters of a line, 0 for lines without end."""
    wrap = parse_number(text, "wrap size", high=_ANY)
    return 0 if wrap > _LONGEST_LINE else wrap


def run_encoding(ctx: CommandContext, args: Arguments, encoding: Encoding) -> int:
    """Encode or decode one file or standard input."""
    wrap = read_wrap(args.value("wrap", "76") or "")
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
