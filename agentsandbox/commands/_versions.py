"""The order of version numbers within names: GNU's `filevercmp`, for `ls -v`, `tree -v` and `sort -V`."""

from __future__ import annotations

import re

from agentsandbox.streams import encode

__all__ = ["version_key"]

_SUFFIX = re.compile(rb"(?:\.[A-Za-z~][A-Za-z0-9~]*)*+\Z")
_PARTS = re.compile(rb"([^0-9]*)([0-9]*)")
_ORDER = [byte if chr(byte).isalpha() and byte < 128 else -2 if byte == 0x7E else byte + 256 for byte in range(256)]
_END, _DIGITS = -1, 0


def _keys(name: bytes) -> list[object]:
    keys: list[object] = []
    for found in _PARTS.finditer(name):
        run, digits = found.groups()
        if not run and not digits:
            break
        keys.extend([_ORDER[byte] for byte in run])
        if digits:
            significant = digits.lstrip(b"0")
            keys += [_DIGITS, (len(significant), significant)]
    keys.append(_END)
    return keys


def _suffix_start(name: bytes) -> int:
    """Where the file's suffix begins: `.tar.gz` in `a-1.0.tar.gz`."""
    start = name.find(b".", 1)
    while start >= 0:
        if _SUFFIX.fullmatch(name, start):
            return start
        start = name.find(b".", start + 1)
    return len(name)


def version_key(name: str | bytes) -> tuple[object, ...]:
    """A key to sort names by, in the order of GNU's `filevercmp`."""
    text = encode(name) if isinstance(name, str) else name
    if text in (b"", b".", b".."):
        return (0, text)
    return (1 if text.startswith(b".") else 2, _keys(text[: _suffix_start(text)]), _keys(text))
