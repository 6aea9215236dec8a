"""The order of version numbers and of file names that hold some: `sort -V`, `ls -v` (gnulib's `filevercmp`)."""

from __future__ import annotations

import re

from agentsandbox.streams import encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["version_key", "version_keys"]

_DIGITS = re.compile(rb"([0-9]+)")
_SUFFIX = re.compile(rb"(?:\.[A-Za-z~][A-Za-z0-9~]*+)++")
_END = b"\x02"
_MANY = 32


def _ranks() -> bytes:
    """ "~" comes before the end of a text, letters come before all other characters."""
    letters = [byte for byte in range(128) if chr(byte).isalpha()]
    others = [byte for byte in range(256) if byte not in letters and byte != ord("~")]
    order = [ord("~"), -1, *letters, *[byte for byte in others if not 48 <= byte <= 57]]
    table = bytearray(256)
    for rank, byte in enumerate(order, 1):
        if byte >= 0:
            table[byte] = rank
    return bytes(table)


_RANKS = _ranks()


def _number(digits: bytes) -> bytes:
    """Digits so that longer numbers come later."""
    digits = digits.lstrip(b"0")
    size = len(digits)
    return (bytes([size]) if size < 255 else b"\xff" + size.to_bytes(8, "big")) + digits


def _parts_key(text: bytes) -> bytes:
    """Ranks of characters and values of numbers, each run ended so that it compares as a whole."""
    parts = _DIGITS.split(text)
    key: list[bytes] = []
    for at in range(0, len(parts) - 1, 2):
        key += (parts[at].translate(_RANKS), _END, _number(parts[at + 1]))
    if parts[-1]:
        key += (parts[-1].translate(_RANKS), _END, b"\0")
    key.append(_END)
    return b"".join(key)


def version_key(text: str | bytes) -> bytes:
    """A key by which texts sort as versions; equal for "1.0" and "1.00"."""
    data = encode(text) if isinstance(text, str) else text
    if not data:
        return b""
    if data.startswith(b"."):
        if data in (b".", b".."):
            return bytes([len(data)])
        rank = b"\x03"
    else:
        rank = b"\x04"
    prefix = data
    for found in _SUFFIX.finditer(data, 1):
        if found.end() == len(data):
            prefix = data[: found.start()]
    whole = _parts_key(data)
    return rank + (whole if prefix is data else _parts_key(prefix)) + whole


class _Numbers(dict[bytes, bytes]):
    """What stands for digits in a key, remembered."""

    def __missing__(self, digits: bytes) -> bytes:
        number = self[digits] = _number(digits)
        return number


def version_keys(texts: Sequence[bytes]) -> list[bytes]:
    """The keys of many texts: quicker where they differ in their numbers only, as "v1.2.3" and "v1.10.0" do."""
    pieces = _DIGITS.split(texts[0])[::2] if texts else []
    if 1 < len(pieces) < _MANY and not pieces[0].startswith(b".") and not _SUFFIX.search(texts[0], 1) and b"\n" not in texts[0]:
        pattern = rb"([0-9]++)".join([re.escape(piece) for piece in pieces])
        found = re.compile(rb"^%b$" % pattern, re.MULTILINE).findall(b"\n".join(texts))
        if len(found) == len(texts):
            first, *between, last = [piece.translate(_RANKS).replace(b"%", b"%%") for piece in pieces]
            middle = b"%b".join([piece + _END for piece in [first, *between]] + ([last + _END + b"\0"] if last else [b""])) + _END
            template = b"\x04" + middle + middle
            number = _Numbers().__getitem__
            if len(pieces) == 2:
                return [template % (digits := number(text), digits) for text in found]
            return [template % ((*map(number, row),) * 2) for row in found]
    return [version_key(text) for text in texts]
