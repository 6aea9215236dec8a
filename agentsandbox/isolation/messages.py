"""Messages between the host and a worker: a kind, a head of plain values, and blobs of bytes.

    size of the frame · size of the head (4 bytes each, big-endian) · head (JSON) · blobs

JSON, because the host reads what a worker may have forged: no byte of it can name a class. A frame
and its head have a largest size, and a head a largest number of elements, since lists take thirty
times the memory of their text; a worker that sends more, sends bytes that are no frame, or stops in
the middle of one has left the protocol (`ProtocolError`) and is ended. A small message is one write
and two reads; large blobs are written from where they are, and read to where they stay.

The two sides never talk at once. The host sends a call and listens; the worker sends requests, and
after each one waits for its answer; "done" ends the call.
"""

from __future__ import annotations

import json
import os
import select
import socket
import struct
from _thread import allocate_lock
from collections import deque
from itertools import islice
from time import monotonic

from agentsandbox.errors import SandboxError
from agentsandbox.kernel.streams import decode, encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

_SIZES = struct.Struct(">II")
_SLICE = struct.pack("@ll", 0, 250_000)
"""A quarter of a second: the longest that one call of the system waits for the other side."""
_RATE = 20 << 20
"""Bytes per second that a frame takes at least, besides the patience."""

LARGEST_HEAD = 4 << 20
"""Bytes of the largest head that the host accepts."""

MOST_ELEMENTS = 300_000
"""Elements of a head that the host accepts."""

_MOST_BLOBS = 1 << 12
_SMALL = 1 << 16
"""Bytes of the largest frame that is read or written in one piece."""
_MOST_BUFFERS = 256
"""Pieces that are given to one call of `writev`."""


class ProtocolError(SandboxError):
    """The other side sent what is no message, or the connection is broken."""


class Message:
    """A kind, a head and blobs; immutable by convention."""

    __slots__ = ("blobs", "head", "kind")

    def __init__(self, kind: str, head: dict[str, Any], blobs: list[bytes]) -> None:
        self.kind = kind
        self.head = head
        self.blobs = blobs

    def text(self, name: str) -> str:
        """Return a text of the head; `ProtocolError` for anything else, as for all that follow."""
        value = self.head.get(name)
        if type(value) is not str:
            raise ProtocolError(f"{self.kind}: {name} is no text")
        return value

    def number(self, name: str, least: int = 0, most: int = 1 << 53) -> int:
        """Return a whole number between `least` and `most`."""
        value = self.head.get(name)
        if type(value) is not int or not least <= value <= most:
            raise ProtocolError(f"{self.kind}: {name} is no number in its bounds")
        return value

    def flag(self, name: str) -> bool:
        """Return a truth value; one that is missing is false."""
        value = self.head.get(name, False)
        if type(value) is not bool:
            raise ProtocolError(f"{self.kind}: {name} is no truth value")
        return value

    def parts(self, count: int, *, more: bool = False) -> list[bytes]:
        """Return the first `count` blobs; there must be that many, and no others unless `more`."""
        blobs = self.blobs
        if len(blobs) != count:
            if not more or len(blobs) < count:
                raise ProtocolError(f"{self.kind}: {len(blobs)} blobs instead of {count}")
            return blobs[:count]
        return blobs


# TM-ISO-2
class Wire:
    """One end of the connection.

    largest    the largest frame that it accepts, in bytes
    patience   seconds that one frame may take, besides the time for its size; None for the worker,
               which trusts the host
    """

    __slots__ = ("_largest", "_lock", "_patience", "_poll", "socket")

    def __init__(
        self, connection: socket.socket, largest: int, patience: float | None = None
    ) -> None:
        self.socket = connection
        self._largest = largest
        self._patience = patience
        self._lock = allocate_lock()
        if patience is not None:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, _SLICE)
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, _SLICE)
        self._poll = select.poll()
        self._poll.register(connection, select.POLLIN)

    def send(self, kind: str, head: dict[str, Any] | None = None, *blobs: bytes) -> None:
        """Send a message. Raises `ProtocolError` if the other side is gone or does not read."""
        shown = {"kind": kind, "sizes": [len(blob) for blob in blobs], **(head or {})}
        text = _encode_json(shown).encode("ascii")
        size = len(text) + sum(map(len, blobs))
        if size >= 1 << 32:
            raise ProtocolError("a frame of 4 GiB")
        first = _SIZES.pack(size, len(text)) + text
        with self._lock:  # another thread may report to the host's log
            if size < _SMALL:
                frame = b"".join((first, *blobs)) if blobs else first
                try:
                    sent = self.socket.send(frame)
                except BlockingIOError:  # full
                    sent = 0
                except OSError as error:
                    raise _gone(error) from None
                if sent < len(frame):
                    self._send_all([frame[sent:]], size)
            else:
                self._send_all([first, *blobs], size)

    def _send_all(self, pieces: list[bytes], size: int) -> None:
        deadline = self._deadline(size)
        descriptor = self.socket.fileno()
        pending = deque(memoryview(piece) for piece in pieces if piece)
        while pending:
            if deadline is not None and monotonic() > deadline:
                raise ProtocolError("the other side does not read")
            try:
                sent = os.writev(descriptor, list(islice(pending, _MOST_BUFFERS)))
            except BlockingIOError:
                continue
            except OSError as error:
                raise _gone(error) from None
            while pending and sent >= len(pending[0]):
                sent -= len(pending.popleft())
            if sent:
                pending[0] = pending[0][sent:]

    def is_readable(self, seconds: float) -> bool:
        """Wait for a message for at most `seconds`; return whether there is one (or the end)."""
        return bool(self._poll.poll(max(0, int(seconds * 1000 + 0.999))))

    def receive(self) -> Message:
        """Return the next message. Raises `ProtocolError` at the end and for other bytes."""
        message = self.receive_soon()
        deadline = self._deadline(0)
        while message is None:
            if deadline is not None and monotonic() > deadline:
                raise ProtocolError("the other side says nothing")
            message = self.receive_soon()
        return message

    def receive_soon(self) -> Message | None:
        """Return the next message; None if none begins within a quarter of a second."""
        try:
            data = self.socket.recv(_SIZES.size)
        except BlockingIOError:
            return None
        except OSError as error:
            raise _gone(error) from None
        if len(data) < _SIZES.size:
            data += self._exactly(_SIZES.size - len(data)) if data else b""
            if not data:
                raise ProtocolError("the other side is gone")
        size, length = _SIZES.unpack(data)
        trusts = self._patience is None
        if length > size or size > self._largest or (length > LARGEST_HEAD and not trusts):
            raise ProtocolError(f"a frame of {size} bytes with a head of {length}")
        if size <= _SMALL:
            frame = self._exactly(size)
            kind, head, sizes = self._head(frame[:length], size - length)
            blobs = []
            for each in sizes:
                blobs.append(frame[length : length + each])
                length += each
        else:
            kind, head, sizes = self._head(self._exactly(length), size - length)
            blobs = [self._exactly(each) if each else b"" for each in sizes]
        return Message(kind, head, blobs)

    def _head(self, text: bytes, rest: int) -> tuple[str, dict[str, Any], list[int]]:
        """Return kind, head and the sizes of the blobs, which have `rest` bytes together."""
        if self._patience is not None and len(text) > MOST_ELEMENTS:
            elements = text.count(b",") + text.count(b"[") + text.count(b"{")
            if elements > MOST_ELEMENTS:
                raise ProtocolError(f"a head of {elements} elements")
        try:
            head = json.loads(text)
            kind, sizes = head.pop("kind"), head.pop("sizes")
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
            raise ProtocolError(f"no message: {error!r:.100}") from None
        if type(kind) is not str or type(sizes) is not list or len(sizes) > _MOST_BLOBS:
            raise ProtocolError("a message without a kind, or without sizes")
        for each in sizes:
            if type(each) is not int or each < 0:
                raise ProtocolError("a size must be a number of bytes")
        if sum(sizes) != rest:
            raise ProtocolError("sizes that do not add up")
        return kind, head, sizes

    def _deadline(self, size: int) -> float | None:
        return None if self._patience is None else monotonic() + self._patience + size / _RATE

    def _exactly(self, size: int) -> bytes:
        pieces: list[bytes] = []
        missing = size
        deadline = self._deadline(size)
        while missing:
            try:
                data = self.socket.recv(missing, socket.MSG_WAITALL)
            except BlockingIOError:
                data = None
            except OSError as error:
                raise _gone(error) from None
            if data == b"":
                raise ProtocolError("the other side is gone")
            if data is not None:
                if len(data) == size:
                    return data
                pieces.append(data)
                missing -= len(data)
            if missing and deadline is not None and monotonic() > deadline:
                raise ProtocolError("the other side does not finish its message")
        return b"".join(pieces)

    def close(self) -> None:
        """Close this end."""
        self.socket.close()


_encode_json = json.JSONEncoder(separators=(",", ":"), check_circular=False).encode


def _gone(error: OSError) -> ProtocolError:
    return ProtocolError(f"the other side is gone: {error.strerror or 'closed'}")


def packed(words: Iterable[str]) -> bytes:
    """Return words without NUL as bytes."""
    return encode("".join([f"{word}\0" for word in words]))


def unpacked(data: bytes) -> list[str]:
    """Return the words that `packed` wrote."""
    return decode(data).split("\0")[:-1]
