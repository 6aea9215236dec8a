"""What a request may end with instead of a response.

NetworkError
  RefusedError         the policy, or the sandbox itself, refuses the request
    UnknownHostError   nothing in the policy names this host
  ResolveError         the name has no address
  ConnectError         nobody accepts the connection
  NetworkTimeoutError  the time is over
  TLSError             the server's certificate or handshake is not acceptable
  EmptyReplyError      the connection ended before a response
  GarbledReplyError    what came is not HTTP/1
  TruncatedReplyError  the connection ended inside the body
  TooLargeError        the response has more bytes than the policy allows
  ConnectionLostError  the connection broke while sending or receiving
"""

from __future__ import annotations

__all__ = [
    "ConnectError",
    "ConnectionLostError",
    "EmptyReplyError",
    "GarbledReplyError",
    "NetworkError",
    "NetworkTimeoutError",
    "RefusedError",
    "ResolveError",
    "TLSError",
    "TooLargeError",
    "TruncatedReplyError",
    "UnknownHostError",
]


class NetworkError(Exception):
    """The base: a request has no complete response. The text is one sentence without a stop."""


class RefusedError(NetworkError):
    """The policy refuses the request; the text says which part of it."""


class UnknownHostError(RefusedError):
    """No rule of the policy names the host, or there is no policy."""


class ResolveError(NetworkError):
    """The host's name has no address."""


class ConnectError(NetworkError):
    """No address of the host accepts a connection."""


class NetworkTimeoutError(NetworkError):
    """The time is over: the request's own, the policy's or that of the execution.

    `connecting` says whether there was no connection yet.
    """

    def __init__(self, message: str, *, connecting: bool = False) -> None:
        super().__init__(message)
        self.connecting = connecting


class TLSError(NetworkError):
    """TLS failed; `is_certificate` says whether the server's certificate is not trusted."""

    def __init__(self, message: str, *, is_certificate: bool = False) -> None:
        super().__init__(message)
        self.is_certificate = is_certificate


class EmptyReplyError(NetworkError):
    """The connection was closed before anything came."""


class GarbledReplyError(NetworkError):
    """What the server sent is not HTTP/1, or its header is too large.

    `is_old` says whether not even the first line looks like HTTP/1.
    """

    def __init__(self, message: str, *, is_old: bool = False) -> None:
        super().__init__(message)
        self.is_old = is_old


class TruncatedReplyError(NetworkError):
    """The connection ended inside the body; `missing` bytes did not come, None if unknown."""

    def __init__(self, message: str, missing: int | None = None) -> None:
        super().__init__(message)
        self.missing = missing


class TooLargeError(NetworkError):
    """The response, or the body of the request, has more bytes than the policy allows."""


class ConnectionLostError(NetworkError):
    """The connection broke; `while_sending` says in which direction."""

    def __init__(self, message: str, *, while_sending: bool = False) -> None:
        super().__init__(message)
        self.while_sending = while_sending
