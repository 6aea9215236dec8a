"""Answers of servers: any bytes are a response or a documented error, for curl and for `Exchange`."""

from __future__ import annotations

from agentsandbox.network.decoding import decoded
from agentsandbox.network.errors import NetworkError
from agentsandbox.network.http1 import Exchange
from tests.fuzz.judge import MIB, Problem, judged
from tests.fuzz.target import Target

MOST = 2 * MIB


class Recorded:
    """A connection whose other side has sent all there is."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.at = 0

    def read(self, size: int) -> bytes:
        size = min(size, 1 + self.at % 97 * 31)  # in pieces of different sizes
        piece = self.data[self.at : self.at + size]
        self.at += len(piece)
        return piece

    def write(self, data: bytes) -> None:
        pass

    def close(self) -> None:
        pass


def run(data: bytes) -> None:
    def work() -> int:
        exchange = Exchange(Recorded(data), "GET", "/", [("Host", "a")], b"")
        head, _ = exchange.begin()
        encodings = ", ".join(
            value for name, value in head.headers if name.lower() == "content-encoding"
        )
        return sum(len(piece) for piece in decoded(iter(exchange.read, b""), encodings, MOST))

    size = judged(work, (NetworkError,))
    if isinstance(size, int) and size > MOST:
        raise Problem("more than the limit", "decoding", str(size))


TARGET = Target(
    "http",
    run,
    lambda count: [
        b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Type: text/plain\r\n\r\nhello",
        b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\nX: y\r\n\r\n",
        b"HTTP/1.0 302 Found\r\nLocation: http://b/\r\nSet-Cookie: a=b; Path=/\r\n\r\nbody",
        b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 25\r\n\r\n\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\xff\xcbH\xcd\xc9\xc9\x07\x00\x86\xa6\x106\x05\x00\x00\x00",
        b"HTTP/1.1 204 No Content\r\n\r\n", b"HTTP/1.1 206 Partial\r\nContent-Range: bytes 0-1/9\r\nContent-Length: 2\r\n\r\nab",
    ],
    (
        b"HTTP/1.1 ", b"\r\n\r\n", b"\r\n", b"Content-Length: ", b"Transfer-Encoding: chunked", b"Content-Encoding: gzip", b"deflate", b"br",
        b"Connection: close", b"0\r\n\r\n", b"ffffffff\r\n", b"-1", b"99999999999999999999", b"101 Switching", b"\x00", b"\x1f\x8b\x08",
    ),
)  # fmt: skip
