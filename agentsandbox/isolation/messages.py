"""Messages between the host and a worker: a kind, a head of plain values, and blobs of bytes.

    size of the frame · size of the head (4 bytes each, big-endian) · head (JSON) · blobs

JSON, because the host reads what a worker may have forged: no byte of it can name a class. A frame
and its head have a largest size; a worker that sends more, sends bytes that are no frame, or stops
in the middle of one has left the protocol (`ProtocolError`) and is ended.

The two sides never talk at once. The host sends a call and listens; the worker sends requests, and
after each one waits for its answer; "done" ends the call.
"""

from __future__ import annotations

import json
import select
import socket
import struct
from time import monotonic

from agentsandbox.errors import SandboxError
from agentsandbox.kernel.streams import decode, encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

_SIZES = struct.Struct(">II")
_PATIENCE = struct.Struct("@ll")
_PIECE = 1 << 20
_RATE = 20 << 20
"""Bytes per second that a frame takes at least, besides the patience."""

LARGEST_HEAD = 4 << 20
"""Bytes of the largest head that the host accepts."""


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

    def parts(self, count: int) -> list[bytes]:
        """Return the blobs, of which there must be `count`."""
        if len(self.blobs) != count:
            raise ProtocolError(f"{self.kind}: {len(self.blobs)} blobs instead of {count}")
        return self.blobs


class Wire:
    """One end of the connection.

    largest    the largest frame that it accepts, in bytes
    patience   seconds that one frame may take, besides the time for its size; None for the worker,
               which trusts the host
    """

    __slots__ = ("_largest", "_patience", "_poll", "socket")

    def __init__(
        self, connection: socket.socket, largest: int, patience: float | None = None
    ) -> None:
        self.socket = connection
        self._largest = largest
        self._patience = patience
        if patience is not None:
            seconds = _PATIENCE.pack(int(patience), int(patience % 1 * 1_000_000))
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, seconds)
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, seconds)
        self._poll = select.poll()
        self._poll.register(connection, select.POLLIN)

    def send(self, kind: str, head: dict[str, Any] | None = None, *blobs: bytes) -> None:
        """Send a message. Raises `ProtocolError` if the other side is gone or does not read."""
        shown = {"kind": kind, "sizes": [len(blob) for blob in blobs], **(head or {})}
        text = json.dumps(shown, separators=(",", ":")).encode("ascii")
        size = len(text) + sum(map(len, blobs))
        if size >= 1 << 32:
            raise ProtocolError("a frame of 4 GiB")
        frame = b"".join((_SIZES.pack(size, len(text)), text, *blobs))
        deadline = self._deadline(size)
        try:
            sent = self.socket.send(frame)
            if sent != len(frame):
                rest = memoryview(frame)[sent:]
                while rest:
                    if deadline is not None and monotonic() > deadline:
                        raise ProtocolError("the other side does not read")
                    rest = rest[self.socket.send(rest) :]
        except OSError as error:
            raise ProtocolError(f"the other side is gone: {error}") from None

    def is_readable(self, seconds: float) -> bool:
        """Wait for a message for at most `seconds`; return whether there is one (or the end)."""
        return bool(self._poll.poll(max(0, int(seconds * 1000 + 0.999))))

    def receive(self) -> Message:
        """Return the next message. Raises `ProtocolError` at the end and for other bytes."""
        size, length = _SIZES.unpack(self._exactly(_SIZES.size))
        trusts = self._patience is None
        if length > size or size > self._largest or (length > LARGEST_HEAD and not trusts):
            raise ProtocolError(f"a frame of {size} bytes with a head of {length}")
        frame = self._exactly(size)
        try:
            head = json.loads(frame[:length])
            kind, sizes = head.pop("kind"), head.pop("sizes")
            blobs = []
            for each in sizes:
                if type(each) is not int or each < 0:
                    raise ProtocolError("a size must be a number of bytes")
                blobs.append(frame[length : length + each])
                length += each
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
            raise ProtocolError(f"no message: {error!r:.100}") from None
        if length != size or type(kind) is not str:
            raise ProtocolError("sizes that do not add up")
        return Message(kind, head, blobs)

    def _deadline(self, size: int) -> float | None:
        return None if self._patience is None else monotonic() + self._patience + size / _RATE

    def _exactly(self, size: int) -> bytes:
        try:
            data = self.socket.recv(size, socket.MSG_WAITALL)
            if len(data) == size:
                return data
            pieces = [data]
            missing = size - len(data)
            deadline = self._deadline(size)
            while missing and data:
                if deadline is not None and monotonic() > deadline:
                    raise ProtocolError("the other side does not finish its message")
                data = self.socket.recv(min(missing, _PIECE))
                pieces.append(data)
                missing -= len(data)
        except OSError as error:
            raise ProtocolError(f"the other side is gone: {error}") from None
        if missing:
            raise ProtocolError("the other side is gone")
        return b"".join(pieces)

    def close(self) -> None:
        """Close this end."""
        self.socket.close()


def packed(words: Iterable[str]) -> bytes:
    """Return words without NUL as bytes."""
    return encode("".join([f"{word}\0" for word in words]))


def unpacked(data: bytes) -> list[str]:
    """Return the words that `packed` wrote."""
    return decode(data).split("\0")[:-1]
