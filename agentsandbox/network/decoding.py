"""Bodies without their compression, piece by piece and up to a limit."""

from __future__ import annotations

import zlib

from agentsandbox.network.errors import GarbledReplyError, TooLargeError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["decoded"]

_PIECE = 65536
_MOST_ENCODINGS = 3


def decoded(pieces: Iterator[bytes], encodings: str, limit: int | None) -> Iterator[bytes]:
    """Yield `pieces` without the encodings of a header Content-Encoding.

    `GarbledReplyError` for one that is unknown or data that is damaged, `TooLargeError` beyond
    `limit` bytes.
    """
    names = [name.strip().lower() for name in encodings.split(",") if name.strip()]
    names = [name for name in names if name != "identity"]
    if len(names) > _MOST_ENCODINGS:
        raise GarbledReplyError("too many encodings of the body")
    for name in reversed(names):
        if name in ("gzip", "x-gzip"):
            pieces = _inflated(pieces, 31)
        elif name == "deflate":
            pieces = _inflated(pieces, 15)
        else:
            raise GarbledReplyError(f"unknown encoding of the body: {name[:40]!r}")
    return _limited(pieces, limit) if names else pieces


def _limited(pieces: Iterator[bytes], limit: int | None) -> Iterator[bytes]:
    size = 0
    for piece in pieces:
        size += len(piece)
        if limit is not None and size > limit:
            raise TooLargeError(f"the response has more than {limit} bytes")
        yield piece


def _inflated(pieces: Iterator[bytes], bits: int) -> Iterator[bytes]:
    """Yield what is compressed in `pieces`, never more than a piece at a time."""
    machine = zlib.decompressobj(bits)
    is_first = True
    for piece in pieces:
        data = piece
        while data and not machine.eof:
            try:
                made = machine.decompress(data, _PIECE)
            except zlib.error as error:
                if is_first and bits == 15:  # some servers send deflate without its header
                    bits, machine = -15, zlib.decompressobj(-15)
                    continue
                raise GarbledReplyError(f"the body is damaged: {error}") from None
            is_first = False
            data = machine.unconsumed_tail
            if made:
                yield made
    if not machine.eof and not is_first:
        raise GarbledReplyError("the body is damaged: it ends too early")
