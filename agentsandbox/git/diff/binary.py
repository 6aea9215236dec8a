"""Binary patches: both contents deflated, in letters (gitformat of `--binary`)."""

from __future__ import annotations

import base64
import zlib

from agentsandbox.git.errors import Fatal
from agentsandbox.kernel.streams import encode

_LINE = 52


def _part(data: bytes) -> bytes:
    packed = zlib.compress(data, 1)
    lines = [encode(f"literal {len(data)}\n")]
    for at in range(0, len(packed), _LINE):
        piece = packed[at : at + _LINE]
        size = len(piece)
        letter = chr(size + 64) if size <= 26 else chr(size - 26 + 96)
        padded = piece + bytes(-size % 4)
        lines.append(encode(letter) + base64.b85encode(padded) + b"\n")
    return b"".join(lines) + b"\n"


def binary_patch(before: bytes, after: bytes) -> bytes:
    """Return the patch between two contents."""
    return b"GIT binary patch\n" + _part(after) + _part(before)


def parse_part(lines: list[bytes], at: int) -> tuple[str, int, bytes, int]:
    """Return (kind, size, deflated bytes, next line) of a part of a patch."""
    kind, _, size = lines[at].rstrip(b"\n").partition(b" ")
    if kind not in (b"literal", b"delta") or not size.isdigit() or len(size) > 12:
        raise Fatal("unrecognized binary patch")
    at += 1
    pieces = []
    while at < len(lines) and lines[at].strip():
        line = lines[at].rstrip(b"\n")
        first = line[0]
        length = first - 64 if 65 <= first <= 90 else first - 96 + 26
        try:
            piece = base64.b85decode(line[1:])
        except ValueError:
            raise Fatal("corrupt binary patch") from None
        if not 0 < length <= len(piece):
            raise Fatal("corrupt binary patch")
        pieces.append(piece[:length])
        at += 1
    return ("literal" if kind == b"literal" else "delta"), int(size), b"".join(pieces), at + 1
