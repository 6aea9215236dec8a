"""Messages between the host and a worker: a kind, a head of plain values, and blobs of bytes.

    size of the frame · size of the head (4 bytes each, big-endian) · head (JSON) · blobs

JSON, because the host reads what a worker may have forged: no byte of it can name a class. A frame
has a largest size; a worker that sends more, or bytes that are no frame, has left the protocol
(`ProtocolError`) and is ended.
"""

from __future__ import annotations

import json
import select
import socket
import struct

from agentsandbox.errors import SandboxError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_SIZES = struct.Struct(">II")


class ProtocolError(SandboxError):
    """The other side sent what is no message, or the connection is broken."""


class Message:
    """A kind, a head and blobs; immutable by convention."""

    __slots__ = ("blobs", "head", "kind")

    def __init__(self, kind: str, head: dict[str, Any], blobs: list[bytes]) -> None:
        self.kind = kind
        self.head = head
        self.blobs = blobs


class Wire:
    """One end of the connection. `largest` is the largest frame that it accepts, in bytes."""

    __slots__ = ("_poll", "largest", "socket")

    def __init__(self, connection: socket.socket, largest: int) -> None:
        self.socket = connection
        self.largest = largest
        self._poll = select.poll()
        self._poll.register(connection, select.POLLIN)

    def send(self, kind: str, head: dict[str, Any] | None = None, *blobs: bytes) -> None:
        """Send a message. Raises `ProtocolError` if the other side is gone."""
        shown = {"kind": kind, "sizes": [len(blob) for blob in blobs], **(head or {})}
        text = json.dumps(shown, separators=(",", ":")).encode("ascii")
        size = len(text) + sum(map(len, blobs))
        try:
            self.socket.sendall(b"".join((_SIZES.pack(size, len(text)), text, *blobs)))
        except OSError as error:
            raise ProtocolError(f"the other side is gone: {error}") from None

    def is_readable(self, seconds: float) -> bool:
        """Wait for a message for at most `seconds`; return whether there is one (or the end)."""
        return bool(self._poll.poll(max(0, int(seconds * 1000) + 1)))

    def receive(self) -> Message:
        """Return the next message. Raises `ProtocolError` at the end and for other bytes."""
        size, length = _SIZES.unpack(self._exactly(_SIZES.size))
        if length > size or size > self.largest:
            raise ProtocolError(f"a frame of {size} bytes")
        frame = self._exactly(size)
        try:
            head = json.loads(frame[:length])
            kind, sizes = head.pop("kind"), head.pop("sizes")
            blobs = []
            for each in sizes:
                blobs.append(frame[length : length + each])
                length += each
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
            raise ProtocolError(f"no message: {error!r:.100}") from None
        if length != size or type(kind) is not str:
            raise ProtocolError("sizes that do not add up")
        return Message(kind, head, blobs)

    def _exactly(self, size: int) -> bytes:
        try:
            data = self.socket.recv(size, socket.MSG_WAITALL)
            if len(data) == size:
                return data
            pieces = [data]
            missing = size - len(data)
            while missing and data:
                data = self.socket.recv(min(missing, 1 << 20))
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
