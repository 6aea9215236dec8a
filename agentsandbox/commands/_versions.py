"""The order of version numbers and of file names that hold some: `sort -V`, `ls -v` (gnulib's `filevercmp`)."""

from __future__ import annotations

import re

from agentsandbox.streams import encode

__all__ = ["version_key"]

_DIGITS = re.compile(rb"([0-9]+)")
_SUFFIX = re.compile(rb"(?:\.[A-Za-z~][A-Za-z0-9~]*+)++")
_END = b"\x02"


def _ranks() -> bytes:
    """"~" comes before the end of a text, letters come before all other characters."""
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
