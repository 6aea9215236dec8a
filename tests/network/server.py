"""A small site, twice: behind a real socket, where the real curl and wget are recorded, and as a
function that is a host of a sandbox. Both send the same bytes.
"""

from __future__ import annotations

import gzip
import hashlib
import re
import threading
import zlib
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from socketserver import StreamRequestHandler, ThreadingTCPServer
from typing import Any
from urllib.parse import parse_qs

from agentsandbox.network import Request, Response
from agentsandbox.network.messages import reason_of

PORT = 8765
TEXT = "text/plain"
LAST_MODIFIED = "Tue, 14 Nov 2023 22:13:20 GMT"
_COUNTS: Counter[str] = Counter()


def answer(request: Request) -> Response:
    """Return the site's response."""
    first, _, rest = request.path[1:].partition("/")
    page = PAGES.get(first)
    if page is None:
        return text(f"nothing at {request.path}\n", 404)
    return page(request, rest)


def text(body: str | bytes, status: int = 200, *headers: tuple[str, str]) -> Response:
    return Response(body, status, [("Content-Type", TEXT), *headers])


def hello(request: Request, rest: str) -> Response:
    return text("hello\n")


def lines(request: Request, rest: str) -> Response:
    """N lines."""
    return text("".join(f"line {number}\n" for number in range(1, int(rest) + 1)))


def echo(request: Request, rest: str) -> Response:
    """The request as it came; the boundary of a form is random and shown as BOUNDARY."""
    shown = "".join(f"{name}: {value}\n" for name, value in request.pairs)
    target = request.path + (f"?{request.query}" if request.query else "")
    body = request.body
    if match := re.search(r"boundary=(\S+)", shown):
        shown = shown.replace(match[1], "BOUNDARY")
        body = body.replace(match[1].encode(), b"BOUNDARY").replace(b"\r\n", b"\n")
    return text(f"{request.method} {target}\n{shown}\n".encode() + body + b"\n")


def redirect(request: Request, rest: str) -> Response:
    """A chain: /redirect/2 leads to /redirect/1, that to /hello."""
    number = int(rest)
    location = f"/redirect/{number - 1}" if number > 1 else "/hello"
    return text("moved\n", 302, ("Location", location))


def goto(request: Request, rest: str) -> Response:
    """/goto/307?url leads to the URL."""
    return text("moved\n", int(rest), ("Location", request.query))


def status(request: Request, rest: str) -> Response:
    return text(f"status {rest}\n", int(rest))


def flaky(request: Request, rest: str) -> Response:
    """/flaky/NAME/N answers 503 for N times, then 200."""
    name, _, number = rest.partition("/")
    _COUNTS[name] += 1
    if _COUNTS[name] <= int(number):
        return text("try again\n", 503)
    return text(f"answer {_COUNTS[name]}\n")


def basic(request: Request, rest: str) -> Response:
    if request.headers.get("authorization") == "Basic dXNlcjpwYXNz":
        return text("welcome\n")
    return text("who are you?\n", 401, ("WWW-Authenticate", 'Basic realm="site"'))


def digest(request: Request, rest: str) -> Response:
    """Digest with user and pass (RFC 7616, MD5, qop=auth)."""
    value = request.headers.get("authorization", "")
    if value.startswith("Digest "):
        parts = dict(re.findall(r'(\w+)="?([^",]*)"?', value[7:]))

        def h(data: str) -> str:
            return hashlib.md5(data.encode()).hexdigest()

        one, two = h("user:site:pass"), h(f"{request.method}:{parts['uri']}")
        wanted = h(f"{one}:{parts['nonce']}:{parts['nc']}:{parts['cnonce']}:auth:{two}")
        if parts["response"] == wanted:
            return text("welcome\n")
    return text(
        "who are you?\n", 401,
        ("WWW-Authenticate", 'Digest realm="site", nonce="abc", qop="auth", opaque="xyz"'),
    )  # fmt: skip


def cookies(request: Request, rest: str) -> Response:
    """/cookies shows them, /cookies/set?a=1&b=2 sets them."""
    if rest == "set":
        pairs = [
            ("Set-Cookie", f"{name}={values[0]}; Path=/") for name, values in request.params.items()
        ]
        return text("set\n", 200, *pairs)
    return text(f"cookies: {request.headers.get('cookie', 'none')}\n")


def packed(request: Request, rest: str) -> Response:
    """/packed/gzip and /packed/deflate, for those who accept them."""
    body = b"packed\n" * 20
    if rest not in request.headers.get("accept-encoding", ""):
        return text(body)
    data = gzip.compress(body, mtime=0) if rest == "gzip" else zlib.compress(body)
    return text(data, 200, ("Content-Encoding", rest))


def file(request: Request, rest: str) -> Response:
    """A file with a date and a name, in parts if asked."""
    body = b"0123456789" * 10
    dated = ("Last-Modified", LAST_MODIFIED)
    if rest == "named":
        return text(body, 200, ("Content-Disposition", 'attachment; filename="given.txt"'))
    wanted = request.headers.get("range", "")
    if match := re.fullmatch(r"bytes=(\d+)-(\d*)", wanted):
        start, end = int(match[1]), int(match[2] or len(body) - 1)
        if start >= len(body):
            return text("no such range\n", 416, ("Content-Range", f"bytes */{len(body)}"))
        end = min(end, len(body) - 1)
        return text(
            body[start : end + 1], 206, ("Content-Range", f"bytes {start}-{end}/{len(body)}"), dated
        )
    return text(body, 200, ("Accept-Ranges", "bytes"), dated)


def json(request: Request, rest: str) -> Response:
    return Response(b'{"name": "value", "list": [1, 2]}', 200, {"Content-Type": "application/json"})


def empty(request: Request, rest: str) -> Response:
    return Response(b"", 204)


def page(request: Request, rest: str) -> Response:
    return Response(b"<html>hi</html>\n", 200, {"Content-Type": "text/html"})


def form(request: Request, rest: str) -> Response:
    found = parse_qs(request.body.decode(), keep_blank_values=True)
    return text("".join(f"{name} = {values}\n" for name, values in found.items()))


PAGES: dict[str, Any] = {
    "hello": hello, "lines": lines, "echo": echo, "redirect": redirect, "goto": goto,
    "status": status, "flaky": flaky, "basic": basic, "digest": digest, "cookies": cookies,
    "packed": packed, "file": file, "json": json, "empty": empty, "form": form, "": page,
    "dir": page, "index.html": page,
}  # fmt: skip


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def answer(self) -> None:
        size = self.headers.get("Content-Length")
        body = b""
        if size is not None:
            body = self.rfile.read(int(size))
        elif self.headers.get("Transfer-Encoding") == "chunked":
            while count := int(self.rfile.readline(), 16):
                body += self.rfile.read(count)
                self.rfile.readline()
            self.rfile.readline()
        request = Request(
            self.command, f"http://{self.headers['Host']}{self.path}", self.headers.items(), body
        )
        response = answer(request)
        reason = response.reason or reason_of(response.status)
        head = [f"HTTP/1.1 {response.status} {reason}"]
        head += [f"{name}: {value}" for name, value in response.headers]
        if response.status not in (204, 304):
            head.append(f"Content-Length: {len(response.body)}")
        self.wfile.write("\r\n".join([*head, "", ""]).encode())
        if self.command != "HEAD":
            self.wfile.write(response.body)

    do_GET = do_HEAD = do_POST = do_PUT = do_DELETE = do_PATCH = do_OPTIONS = do_QUERY = answer

    def log_message(self, *args: object) -> None:
        """Log nothing."""


@contextmanager
def serving(port: int = 0) -> Iterator[int]:
    """Serve the site on the loopback of this machine; yield the port."""
    with ThreadingHTTPServer(("127.0.0.1", port), _Handler) as server:
        server.daemon_threads = True
        thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        try:
            yield server.server_port
        finally:
            server.shutdown()
            thread.join()


RAW_PORT = 8766
RAW: dict[str, bytes] = {
    "/empty": b"",
    "/old": b"hello without a head\n",
    "/short": b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nonly this",
    "/chunks": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
    "/chunks-cut": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n50\r\nhello\r\n",
    "/chunks-bad": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\nzz\r\n",
    "/until-the-end": b"HTTP/1.0 200 OK\r\nContent-Type: text/plain\r\n\r\nall of it\n",
    "/early-hints": b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n"
    b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nyes",
    "/bytes": b"HTTP/1.1 200 OK\r\nX-Latin: caf\xe9\r\nContent-Length: 4\r\n\r\n\x00\xff\x80\n",
    "/no-reason": b"HTTP/1.1 200\r\nContent-Length: 3\r\n\r\nok\n",
    "/gzip-bad": b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 4\r\n\r\nabcd",
    "/encoding": b"HTTP/1.1 200 OK\r\nContent-Encoding: zorro\r\nContent-Length: 4\r\n\r\nabcd",
    "/head-cut": b"HTTP/1.1 200 OK\r\nContent-Le",
}
"""What is sent as the whole answer, by path."""


def raw_answer(head: bytes) -> bytes:
    """Return the bytes that answer a request, of which `head` is the beginning."""
    return RAW[head.split(b" ")[1].decode()]


class _RawHandler(StreamRequestHandler):
    def handle(self) -> None:
        head = b""
        while b"\r\n\r\n" not in head:
            head += self.request.recv(65536)
        self.wfile.write(raw_answer(head))


@contextmanager
def serving_raw(port: int = 0) -> Iterator[int]:
    """Serve `RAW` on the loopback of this machine; yield the port."""
    ThreadingTCPServer.allow_reuse_address = True
    with ThreadingTCPServer(("127.0.0.1", port), _RawHandler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        try:
            yield server.server_address[1]
        finally:
            server.shutdown()
            thread.join()
