"""One request and its response over a connection, by `h11`, which does no input or output.

`h11` is the engine of httpx. Used directly it shows what curl reports: where a response broke off,
the reason and the header as they were sent, what came before a failure.
"""

from __future__ import annotations

import h11

from agentsandbox.kernel.streams import decode, encode
from agentsandbox.network.errors import (
    ConnectionLostError,
    EmptyReplyError,
    GarbledReplyError,
    RefusedError,
    TruncatedReplyError,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Protocol

    class Connection(Protocol):
        """A stream of bytes in both directions."""

        def read(self, size: int) -> bytes: ...
        def write(self, data: bytes) -> None: ...
        def close(self) -> None: ...

    Pairs = Sequence[tuple[str, str]]


__all__ = ["Exchange", "Head"]

_BLOCK = 65536
_LARGEST_HEAD = 100 * 1024
"""Bytes of all headers of a response together."""
_MOST_INFORMATION = 16
"""Responses with a status below 200 before the real one."""


class Head:
    """The first part of a response. `headers` are the pairs as they were sent."""

    __slots__ = ("headers", "reason", "status", "version")

    def __init__(self, event: h11.Response | h11.InformationalResponse) -> None:
        self.status = event.status_code
        self.reason = decode(bytes(event.reason))
        self.version = decode(bytes(event.http_version))
        self.headers = [
            (decode(bytes(name)), decode(bytes(value))) for name, value in event.headers.raw_items()
        ]


class Exchange:
    """Sends a request when it is made; `begin` returns the head, `read` pieces of the body."""

    def __init__(
        self, connection: Connection, method: str, target: str, headers: Pairs, body: bytes
    ) -> None:
        self._connection = connection
        self._state = h11.Connection(h11.CLIENT, max_incomplete_event_size=_LARGEST_HEAD)
        self._expected: int | None = None
        self._received = 0
        self._first = b""
        try:
            sent = self._state.send(
                h11.Request(
                    method=encode(method),
                    target=encode(target),
                    headers=[(encode(name), encode(value)) for name, value in headers],
                )
            )
            if body:
                sent = (sent or b"") + (self._state.send(h11.Data(data=body)) or b"")
            sent = (sent or b"") + (self._state.send(h11.EndOfMessage()) or b"")
        except h11.LocalProtocolError as error:
            raise RefusedError(f"the request is not HTTP: {error}") from None
        try:
            connection.write(sent)
        except ConnectionLostError:
            # a server may answer and close before it has read the whole body
            self._broken = True
        else:
            self._broken = False

    def begin(self) -> tuple[Head, list[Head]]:
        """Return the head of the response and those of responses with a status below 200."""
        information: list[Head] = []
        while True:
            event = self._next()
            if isinstance(event, h11.Response):
                break
            if isinstance(event, h11.InformationalResponse):
                if event.status_code == 101 or len(information) >= _MOST_INFORMATION:
                    raise GarbledReplyError(f"an answer with the status {event.status_code}")
                information.append(Head(event))
                continue
            raise EmptyReplyError("the server closed the connection without an answer")
        for name, value in event.headers:
            if name == b"content-length":
                self._expected = int(value)
        return Head(event), information

    @property
    def expected(self) -> int | None:
        """Return how many bytes the body has by its header; None if that does not say."""
        return self._expected

    def read(self) -> bytes:
        """Return the next bytes of the body, b"" at its end."""
        while True:
            event = self._next()
            if isinstance(event, h11.Data):
                if event.data:
                    self._received += len(event.data)
                    return bytes(event.data)
                continue
            return b""

    def _next(self) -> object:
        state = self._state
        while True:
            try:
                event = state.next_event()
            except h11.RemoteProtocolError as error:
                raise self._failure(str(error)) from None
            if event is not h11.NEED_DATA:
                return event
            try:
                data = self._connection.read(_BLOCK)
            except ConnectionLostError:
                if self._broken:
                    raise ConnectionLostError(
                        "the connection broke while sending", while_sending=True
                    ) from None
                raise
            if len(self._first) < 5:
                self._first += data[:5]
            if not data and not self._first:
                raise EmptyReplyError("the server closed the connection without an answer")
            state.receive_data(data)

    def _failure(self, message: str) -> Exception:
        """Return the error for what `h11` does not accept."""
        is_old = not b"HTTP/".startswith(self._first[:5])
        if is_old:
            return GarbledReplyError(message, is_old=True)
        if "peer closed connection" in message or "peer unexpectedly closed" in message:
            missing = None if self._expected is None else self._expected - self._received
            return TruncatedReplyError("the connection ended inside the body", missing)
        if "too much data" in message.lower() or "Receive buffer too long" in message:
            return GarbledReplyError("the header is too large")
        return GarbledReplyError(message)
