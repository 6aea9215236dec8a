"""The order of version numbers in texts: `sort -V`, `ls -v` (gnulib's `filevercmp`)."""

from __future__ import annotations

from agentsandbox.errors import LimitReached
from agentsandbox.kernel.expressions import lazily_bytes
from agentsandbox.kernel.streams import encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

_DIGITS = lazily_bytes(rb"[0-9]+")
_SUFFIX = lazily_bytes(rb"(?:\.[A-Za-z~][A-Za-z0-9~]*+)++")
_END = b"\x02"


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
    """Return a key of a number under which longer numbers come later."""
    digits = digits.lstrip(b"0")
    size = len(digits)
    return (bytes([size]) if size < 255 else b"\xff" + size.to_bytes(8, "big")) + digits


def _parts_key(text: bytes) -> bytes:
    """Ranks of characters and values of numbers, each run ended so that it compares as a whole."""
    return _template(_DIGITS.split(text)) % tuple(map(_number, _DIGITS.findall(text)))


def _template(pieces: Sequence[bytes]) -> bytes:
    """Return a key of the text between numbers, with a place for each number."""
    *before, last = [piece.translate(_RANKS).replace(b"%", b"%%") for piece in pieces]
    key = b"".join([piece + _END + b"%b" for piece in before])
    return key + (last + _END + b"\0" if last else b"") + _END


def _suffix(text: bytes) -> int:
    """Return the position of the suffixes of a file's name, its end if it has none."""
    for found in _SUFFIX.finditer(text):
        if found.end() == len(text):
            return found.start()
    return len(text)


def _border(name: bytes) -> bytes:
    """Return the bytes before the key of suffixes.

    A 0 at the end of a name compares as nothing, but ends its characters.
    """
    return _END if name[-1:].isdigit() else b""


def version_key(text: str | bytes) -> bytes:
    """Return a key by which texts sort as versions; equal for "1.0" and "1.00".

    The key of the name without suffixes comes first, then that of the suffixes, which decide only
    if all before is equal.
    """
    data = encode(text) if isinstance(text, str) else text
    if not data:
        return b""
    if data in (b".", b".."):
        return bytes([len(data)])
    rank = b"\x03" if data.startswith(b".") else b"\x04"
    end = _suffix(data)
    return (
        rank
        + _parts_key(data[:end])
        + (_border(data[:end]) + _parts_key(data[end:]) if end < len(data) else b"")
    )


class _Numbers(dict[bytes, bytes]):
    """The keys of numbers by their digits."""

    def __missing__(self, digits: bytes) -> bytes:
        number = self[digits] = _number(digits)
        return number


class _Templates(dict[bytes, tuple[bytes, int]]):
    """Return the key of a text with "0" for each number, and how many numbers it has."""

    def __missing__(self, text: bytes) -> tuple[bytes, int]:
        end = _suffix(text)
        rank = b"\x03" if text.startswith(b".") else b"\x04"
        key = rank + _template(text[:end].split(b"0"))
        if end < len(text):
            key += _border(text[:end]) + _template(text[end:].split(b"0"))
        made = self[text] = key, text.count(b"0")
        return made


_LONGEST = 1 << 17
"""Bytes of a text that has a version: the key of a longer one would take too long to make."""


def version_keys(texts: Sequence[bytes]) -> list[bytes]:
    """Return the keys of many texts; raise `LimitReached` if one is longer than 128 KiB.

    Most texts differ from others in their numbers only, as "v1.2.3" and "v1.10.0" do, so the rest
    of a key is made once.
    """
    if texts and max(map(len, texts)) > _LONGEST:
        raise LimitReached("value_bytes", "a version is too long")
    joined = b"\n".join(texts)
    if joined.count(b"\n") != len(texts) - 1 or b"" in texts or b"." in texts or b".." in texts:
        return [version_key(text) for text in texts]
    numbers = list(map(_Numbers().__getitem__, _DIGITS.findall(joined)))
    templates = _Templates()
    keys = []
    at = 0
    for template, count in map(templates.__getitem__, _DIGITS.sub(b"0", joined).split(b"\n")):
        keys.append(template % tuple(numbers[at : at + count]))
        at += count
    return keys
