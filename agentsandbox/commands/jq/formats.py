"""The string formats: `@text`, `@json`, `@csv`, `@tsv`, `@html`, `@uri`, `@sh`, `@base64`, …"""

from __future__ import annotations

import base64
import binascii
import re

from agentsandbox.commands._json.printing import dump, dump_within, number_text
from agentsandbox.commands._json.values import CONTAINERS, JqError, is_number
from agentsandbox.commands.jq.operations import describe
from agentsandbox.errors import LimitReached
from agentsandbox.kernel.streams import encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from agentsandbox.commands._json.values import Value


def text_of(value: Value) -> str:
    """A string as it is, anything else as JSON."""
    return value if isinstance(value, str) else dump(value)


def _scalar(value: Value, what: str) -> str:
    if is_number(value):
        return "" if value != value else number_text(value)
    if value is True or value is False:
        return "true" if value else "false"
    if value is None:
        return ""
    raise JqError(f"{describe(value)} {what}")


def _row(value: Value, name: str) -> Iterable[Value]:
    if not isinstance(value, list):
        raise JqError(f"{describe(value)} cannot be {name}-formatted, only array")
    return value


def _csv(value: Value) -> str:
    return ",".join(
        '"' + item.replace('"', '""') + '"'
        if isinstance(item, str)
        else _scalar(item, "is not valid in a csv row")
        for item in _row(value, "csv")
    )


_TSV = str.maketrans({"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r"})


def _tsv(value: Value) -> str:
    return "\t".join(
        item.translate(_TSV)
        if isinstance(item, str)
        else _scalar(item, "is not valid in a csv row")
        for item in _row(value, "tsv")
    )


_HTML = {"&": "&amp;", "<": "&lt;", ">": "&gt;", "'": "&apos;", '"': "&quot;"}
"""The ampersand is first: the others become one."""


def _html(text: str) -> str:
    for character, shown in _HTML.items():
        text = text.replace(character, shown)
    return text


_SAFE = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._~-"
_ESCAPED = [chr(byte) if byte in _SAFE else f"%{byte:02X}" for byte in range(256)]
_PIECE = 1 << 14
"""Characters that are escaped before the next look at the clock."""
_LONGEST = 4 << 20
"""Characters that an escaped text may have: longer ones take too long in one piece."""


def _uri(text: str) -> str:
    data = encode(text)
    if len(data) + 2 * len(data.translate(None, _SAFE)) > _LONGEST:
        raise LimitReached("value_bytes")
    return "".join(map(_ESCAPED.__getitem__, data))


_PERCENT = re.compile(rb"%(?:([0-9A-Fa-f]{2})|)")


_LONGER = re.compile(r"[^\x00-\x7f]+")


def _urid(text: str) -> str:
    if len(text) > _LONGEST:
        raise LimitReached("value_bytes")
    good = True

    def byte(found: re.Match[bytes]) -> bytes:
        nonlocal good
        if found[1] is None:
            good = False
            return b"%"
        return bytes([int(found[1], 16)])

    if not text.isascii():  # it is copied byte by byte, and no byte of a longer character is one
        text = _LONGER.sub(lambda found: "\ufffd" * len(encode(found[0])), text)
    data = _PERCENT.sub(byte, encode(text))
    if good:
        try:
            return str(data, "utf-8")
        except UnicodeDecodeError:
            pass
    raise JqError(f"{describe(text)} is not a valid uri encoding")


def _sh(value: Value) -> str:
    items = value if isinstance(value, list) else [value]
    words: list[str] = []
    for item in items:
        if isinstance(item, CONTAINERS):
            raise JqError(f"{describe(item)} can not be escaped for shell")
        words.append(
            "'" + item.replace("'", "'\\''").replace("\0", "\\0") + "'"
            if isinstance(item, str)
            else dump(item)
        )
    return " ".join(words)


def _base64(text: str) -> str:
    return str(base64.b64encode(encode(text)), "ascii")


_BASE64 = re.compile(r"[A-Za-z0-9+/]*=*")


def _base64d(text: str) -> str:
    if not _BASE64.fullmatch(text):
        raise JqError(f"{describe(text)} is not valid base64 data")
    digits = text.rstrip("=")
    if len(digits) % 4 == 1:
        raise JqError(f"{describe(text)} trailing base64 byte found")
    return str(binascii.a2b_base64(digits + "=" * (-len(digits) % 4)), "utf-8", "replace")


def _base32(text: str, check: Callable[[int], None]) -> str:
    data = encode(text)
    found = []
    for start in range(0, len(data), 5 * _PIECE):  # the library takes 100 ns for a byte
        check(64 * _PIECE)
        found.append(base64.b32encode(data[start : start + 5 * _PIECE]))
    return str(b"".join(found), "ascii")


def _base32d(text: str, check: Callable[[int], None]) -> str:
    digits = text.rstrip("=")
    found = []
    try:
        for start in range(0, len(digits), 8 * _PIECE):
            check(64 * _PIECE)
            piece = digits[start : start + 8 * _PIECE]
            found.append(base64.b32decode(piece + "=" * (-len(piece) % 8)))
        return str(b"".join(found), "utf-8", "replace")
    except (binascii.Error, ValueError):
        raise JqError(f"{describe(text)} is not valid base32 data") from None


_OF_VALUES: dict[str, Callable[[Value], str]] = {"csv": _csv, "tsv": _tsv, "sh": _sh}
_OF_CHARACTERS: dict[str, Callable[[str], str]] = {"html": _html, "uri": _uri}
_OF_TEXTS: dict[str, Callable[[str], str]] = {
    "urid": _urid,
    "base64": _base64,
    "base64d": _base64d,
}
_IN_PIECES: dict[str, Callable[[str, Callable[[int], None]], str]] = {
    "base32": _base32,
    "base32d": _base32d,
}


def _by_pieces(escape: Callable[[str], str], text: str, check: Callable[[int], None]) -> str:
    """Return a text escaped character by character; `check` looks at the clock."""
    if len(text) <= _PIECE:
        return escape(text)
    found = []
    for start in range(0, len(text), _PIECE):
        check(16 * _PIECE)
        found.append(escape(text[start : start + _PIECE]))
    return "".join(found)


def find_format(name: str, check: Callable[[int], None]) -> Callable[[Value], str]:
    """Return the escape of a name; `check` may refuse JSON for its length. An unknown one fails."""
    if name == "json":
        return lambda value: dump_within(value, check)

    def text(value: Value) -> str:
        return value if type(value) is str else dump_within(value, check)

    if name == "text":
        return text
    of_characters, in_pieces = _OF_CHARACTERS.get(name), _IN_PIECES.get(name)
    if of_characters is not None:
        return lambda value: _by_pieces(of_characters, text(value), check)
    if in_pieces is not None:
        return lambda value: in_pieces(text(value), check)
    of_text, of_value = _OF_TEXTS.get(name), _OF_VALUES.get(name)
    if of_text is not None:
        return lambda value: of_text(text(value))
    if of_value is not None:
        return of_value

    def unknown(value: Value) -> str:
        raise JqError(f"{name} is not a valid format")

    return unknown
