"""The client of one sandbox: every request of every command and guest goes through it.

    network = ctx.host.network                      # the Network of the sandbox, always there
    with network.send("GET", "https://example.com/a", headers=[("Accept", "*/*")]) as reply:
        reply.status, reply.reason, reply.headers   # 200, "OK", [("Content-Type", "text/html"), …]
        while block := reply.read():                # pieces as they come; b"" at the end
            ctx.stdout.write(block)

`send` makes one request and returns when the head of the response is there. It never follows a
redirection; `fetch` does, and each request of it is checked like the first. `reply.read_all()`
returns the whole body, `reply.read_decoded()` its pieces without gzip or deflate. A body of a
request is bytes. What goes wrong is a `NetworkError` (see `errors`); its text is for a person, its
class says which exit status a command should have. Limits, signals and cancelled tasks end a wait
as everywhere, so a reply is used in `with`, which closes its connection. To ask without sending:
`network.refusal(url, method)`.

Where a request goes is decided here, once:

  a host of the policy's `hosts`  →  the function answers, in the process that asks
  127.0.0.1, ::1, localhost, the sandbox's own name  →  `network.loopback`, the sandbox's own ports
  anything else  →  the policy is asked; then `records`, then a connection (`outside`)

Nothing else in the package opens a socket for a sandbox. Headers that the policy injects are added
after the checks, to the copy that is sent: no reply, trace or redirection shows them. The header
Host cannot name another host than the URL, because virtual hosts share addresses.
"""

from __future__ import annotations

from time import monotonic

from agentsandbox.errors import CommandError
from agentsandbox.network.addresses import is_loopback, parse_target
from agentsandbox.network.errors import (
    ConnectError,
    ConnectionLostError,
    NetworkError,
    NetworkTimeoutError,
    RefusedError,
    TLSError,
    TooLargeError,
    UnknownHostError,
)
from agentsandbox.network.loopback import Loopback
from agentsandbox.network.messages import Request, field

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from types import TracebackType

    from agentsandbox.kernel.processes import Scheduler
    from agentsandbox.network.addresses import Target
    from agentsandbox.network.http1 import Exchange, Head
    from agentsandbox.network.loopback import Endpoint
    from agentsandbox.network.outside import Outside
    from agentsandbox.network.policy import NetworkPolicy
    from agentsandbox.network.records import Records

    Pairs = Sequence[tuple[str, str]]

__all__ = ["NO_NETWORK", "Network", "Query", "Reply", "redirected", "same_origin"]

NO_NETWORK = "this sandbox has no network"

MOST_CONNECTIONS = 64
"""Connections to servers outside that one sandbox has at a time."""

MOST_REDIRECTIONS = 20
"""Redirections that `fetch` follows."""

_MOST_HEADERS = 200
_LONGEST_HEADERS = 256 * 1024
_REDIRECTIONS = frozenset((301, 302, 303, 307, 308))
_ONE_HOST_ONLY = frozenset(("authorization", "cookie", "host", "proxy-authorization"))
_DROPPED_WITH_BODY = frozenset(("content-length", "content-type", "transfer-encoding"))
_TOKEN = frozenset("!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")


class Reply:
    """The response to one request; its connection stays open until `close`.

    status, reason, version  the first line; version is "1.1" or "1.0"
    headers      the pairs as they were sent
    information  the heads that came before: 100, 103
    url          the URL that was asked
    remote       (IP address, port) of the server; 127.0.0.1 for a function of the host
    local        (IP address, port) of the connection's own end
    began        when the request began, in seconds of `time.monotonic`
    times        when the name was resolved (namelookup), the connection made (connect), TLS ready
                 (appconnect), the request sent (pretransfer), the first byte received
                 (starttransfer); some may be missing
    expected     bytes of the body by its header, None if unknown
    limit        the most bytes of the body, before and after decompression; None without a limit
    """

    def __init__(self, url: str, method: str) -> None:
        self.url = url
        self.method = method
        self.status = 0
        self.reason = ""
        self.version = "1.1"
        self.headers: Pairs = ()
        self.information: Sequence[Head] = ()
        self.remote = self.local = ("", 0)
        self.began = monotonic()
        self.times: dict[str, float] = {}
        self.expected: int | None = None
        self._pull: Callable[[], bytes] = bytes
        self._at_end: Callable[[], None] | None = None
        self._close: Callable[[], None] | None = None
        self.limit: int | None = None
        self._size = 0

    @property
    def is_complete(self) -> bool:
        """Whether no connection is open for it: reading waits for nobody."""
        return self._close is None

    def header(self, name: str) -> str | None:
        """Return the value of the first header of that name; None without one."""
        return field(self.headers, name)

    def read(self) -> bytes:
        """Return the next bytes of the body as soon as they are there, b"" at the end."""
        try:
            data = self._pull()
        except BaseException:
            self.close()
            raise
        if not data:
            at_end, self._at_end = self._at_end, None
            self.close()
            if at_end is not None:
                at_end()
            return b""
        self._size += len(data)
        if self.limit is not None and self._size > self.limit:
            self.close()
            raise TooLargeError(f"the response has more than {self.limit} bytes")
        return data

    def read_all(self, limit: int | None = None) -> bytes:
        """Return the rest of the body; `TooLargeError` if it has more than `limit` bytes."""
        parts: list[bytes] = []
        size = 0
        while data := self.read():
            size += len(data)
            if limit is not None and size > limit:
                self.close()
                raise TooLargeError(f"the response has more than {limit} bytes")
            parts.append(data)
        return b"".join(parts)

    def read_decoded(self) -> Iterator[bytes]:
        """Yield the pieces of the body without gzip or deflate; the limit holds for them too."""
        from agentsandbox.network.decoding import decoded

        return decoded(iter(self.read, b""), self.header("content-encoding") or "", self.limit)

    def close(self) -> None:
        """Close the connection."""
        close, self._close = self._close, None
        self._pull = bytes
        if close is not None:
            close()

    def __enter__(self) -> Reply:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()


class Query:
    """A request that is allowed, before it is sent; immutable.

    handler               the function of the host that answers it, None for a server outside
    until, connect_until  when it, and its connection, must be ready, in seconds of `monotonic`
    verify                whether the server's certificate must be trusted
    """

    __slots__ = ("body", "connect_until", "handler", "headers", "target", "until", "verify")

    def __init__(
        self,
        target: Target,
        handler: Callable[..., object] | None,
        headers: Pairs,
        body: bytes,
        until: float | None,
        connect_until: float | None,
        verify: bool,
    ) -> None:
        self.target = target
        self.handler = handler
        self.headers = headers
        self.body = body
        self.until = until
        self.connect_until = connect_until
        self.verify = verify


class Network:
    """The network of one sandbox: its policy, its loopback, and the way out."""

    def __init__(self, scheduler: Scheduler, policy: NetworkPolicy | None, hostname: str) -> None:
        self.policy = policy
        self.loopback = Loopback(scheduler)
        self._scheduler = scheduler
        self._hostname = hostname.lower()
        self._open = 0
        self._records: Records | None = None

    def is_own(self, host: str) -> bool:
        """Whether a host (of a URL that was read) is the sandbox itself."""
        return is_loopback(host) or host == self._hostname

    def refusal(self, url: str, method: str = "GET") -> str | None:
        """Return why a request would be refused before it is sent; None if it would not."""
        try:
            self._check(url, method)
        except RefusedError as error:
            return str(error)
        return None

    def _check(self, url: str, method: str) -> Target:
        """Return the parts of an allowed URL; raise `RefusedError` for another one."""
        try:
            target = parse_target(url)
        except ValueError as error:
            raise RefusedError(str(error)) from None
        policy = self.policy
        if policy is not None and policy.handler(target.host, target.port) is not None:
            return target
        if self.is_own(target.host):
            return target
        if policy is None:
            raise UnknownHostError(NO_NETWORK)
        if refusal := policy.refuses_target(target, method):
            kind = RefusedError if policy.knows(target) else UnknownHostError
            raise kind(refusal)
        return target

    def send(
        self,
        method: str,
        url: str,
        *,
        headers: Pairs = (),
        body: bytes = b"",
        timeout: float | None = None,
        connect_timeout: float | None = None,
        verify: bool = True,
    ) -> Reply:
        """Send one request and return the response, whose body is read from the reply.

        Host, and Content-Length for a body, are added if `headers` lack them, nothing else. The
        timeouts are in seconds; those of the policy and of the execution hold too. `verify=False`
        accepts any certificate. Raises `NetworkError`.
        """
        target = self._check(url, method)
        _check_headers(method, headers)
        reply = Reply(target.url, method)
        self._scheduler.budget.step(100)
        until = reply.began + timeout if timeout is not None else None
        policy = self.policy
        handler = None if policy is None else policy.handler(target.host, target.port)
        if handler is None and self.is_own(target.host):
            return self._ask_own(reply, target, _completed(target, headers, body), body, until)
        connect_until = None if connect_timeout is None else reply.began + connect_timeout
        return self._ask_beyond(
            reply, Query(target, handler, headers, body, until, connect_until, verify)
        )

    def _ask_beyond(self, reply: Reply, query: Query) -> Reply:
        """Return the response of a function of the host, or of a server outside.

        An isolated worker has neither: it asks the client of the host here.
        """
        target, body, policy = query.target, query.body, self.policy
        pairs = _completed(target, query.headers, body)
        if query.handler is not None:
            request = Request(reply.method, target.url, pairs, body)
            return self._ask_function(reply, query.handler, request)
        assert policy is not None
        self._check_outgoing(policy, target, query.headers, body)
        if policy.records is not None and self._replayed(reply, reply.method, target.url, body):
            return reply
        last = reply.began + policy.timeout
        until = last if query.until is None else min(query.until, last)
        connect_until = until if query.connect_until is None else query.connect_until
        return self._ask_outside(reply, target, pairs, body, until, connect_until, query.verify)

    def fetch(
        self,
        method: str,
        url: str,
        *,
        headers: Pairs = (),
        body: bytes = b"",
        timeout: float | None = None,
        most_redirections: int = MOST_REDIRECTIONS,
    ) -> Reply:
        """Send a request and follow redirections; Authorization and Cookie stay with their host."""
        for _ in range(most_redirections + 1):
            reply = self.send(method, url, headers=headers, body=body, timeout=timeout)
            location = reply.header("location")
            if reply.status not in _REDIRECTIONS or location is None:
                return reply
            reply.close()
            method, url, headers, body = redirected(reply, location, headers, body)
        raise NetworkError(f"more than {most_redirections} redirections")

    # a function of the host

    def _ask_function(
        self, reply: Reply, handler: Callable[..., object], request: Request
    ) -> Reply:
        from agentsandbox.network.hosts import answer_of

        answer = answer_of(handler, request, self._scheduler.await_)
        headers = list(answer.headers)
        if field(headers, "content-length") is None and answer.status not in (204, 304):
            headers.append(("Content-Length", str(len(answer.body))))
        self._fill(reply, answer.status, answer.reason, headers, answer.body)
        reply.remote = ("127.0.0.1", request.port)
        return reply

    def _fill(self, reply: Reply, status: int, reason: str, headers: Pairs, body: bytes) -> None:
        """Make a reply of a response that is there."""
        reply.status, reply.reason, reply.headers = status, reason, headers
        now = monotonic()
        reply.times = dict.fromkeys(("namelookup", "connect", "pretransfer", "starttransfer"), now)
        if reply.method == "HEAD" or status in (204, 304):
            body = b""
        reply.expected = None if reply.method == "HEAD" else len(body)
        pieces = [body[at : at + 65536] for at in range(0, len(body), 65536)]
        pieces.reverse()
        reply._pull = lambda: pieces.pop() if pieces else b""

    # the sandbox's own ports

    def _ask_own(
        self, reply: Reply, target: Target, pairs: Pairs, body: bytes, until: float | None
    ) -> Reply:
        try:
            endpoint = self.loopback.connect(target.port)
        except OSError as error:
            raise ConnectError(error.strerror or "refused") from None
        now = monotonic()
        reply.times |= {"namelookup": now, "connect": now}
        reply.remote, reply.local = endpoint.remote, endpoint.local
        connection = _Own(endpoint, until)
        if target.scheme == "https":
            endpoint.close()
            raise TLSError("wrong version number")
        self._exchange(reply, connection, target, pairs, body)
        return reply

    # a server outside

    def _check_outgoing(
        self, policy: NetworkPolicy, target: Target, headers: Pairs, body: bytes
    ) -> None:
        host = field(headers, "host")
        if host is not None and host.lower() not in (
            target.netloc, f"{target.netloc}:{target.port}", target.host
        ):  # fmt: skip
            raise RefusedError("the header Host must name the host of the URL")
        if len(body) > policy.max_request_bytes:
            raise TooLargeError(f"the request has more than {policy.max_request_bytes} bytes")

    def _replayed(self, reply: Reply, method: str, url: str, body: bytes) -> bool:
        policy = self.policy
        assert policy is not None and policy.records is not None
        if self._records is None:
            from os import fspath

            from agentsandbox.network.records import Records

            self._records = Records(fspath(policy.records), policy.record, policy.secrets())
        found = self._records.replay(method, url, body)
        if found is not None:
            self._fill(reply, *found)
        elif policy.record == "never":
            raise RefusedError(f"no response to {method} {url} is recorded")
        return found is not None

    def _ask_outside(
        self,
        reply: Reply,
        target: Target,
        pairs: Pairs,
        body: bytes,
        until: float,
        connect_until: float,
        verify: bool,
    ) -> Reply:
        from agentsandbox.network.outside import Outside

        policy = self.policy
        assert policy is not None
        if self._open >= MOST_CONNECTIONS:
            raise ConnectError(f"more than {MOST_CONNECTIONS} connections at a time")
        self._open += 1
        try:
            connection = Outside(
                self._scheduler, policy, target,
                until=until, connect_until=connect_until, verify=verify,
            )  # fmt: skip
        except BaseException:
            self._open -= 1
            raise

        reply._close = lambda: self._closed(connection)
        reply.times |= connection.times
        reply.remote, reply.local = connection.remote, connection.local
        reply.limit = policy.max_bytes
        secret = policy.injected(target)
        if secret:
            names = {name.lower() for name in secret}
            pairs = [(name, value) for name, value in pairs if name.lower() not in names]
            pairs = [*pairs, *secret.items()]
        self._exchange(reply, connection, target, pairs, body)
        if reply.expected is not None and reply.expected > policy.max_bytes:
            reply.close()
            raise TooLargeError(f"the response has more than {policy.max_bytes} bytes")
        if self._records is not None:
            self._record(reply, body)
        return reply

    def _closed(self, connection: Outside) -> None:
        self._open -= 1
        connection.close()

    def _exchange(
        self,
        reply: Reply,
        connection: Outside | _Own,
        target: Target,
        pairs: Pairs,
        body: bytes,
    ) -> None:
        """Send the request and fill the reply with the head of the response."""
        try:
            exchange = _exchange_over(connection, reply.method, target, pairs, body)
            reply.times["pretransfer"] = monotonic()
            head, reply.information = exchange.begin()
        except BaseException:
            (reply._close or connection.close)()
            reply._close = None
            raise
        reply.times["starttransfer"] = monotonic()
        reply.status, reply.reason, reply.version = head.status, head.reason, head.version
        reply.headers = head.headers
        reply._pull = exchange.read
        if reply.method != "HEAD" and head.status not in (204, 304):
            reply.expected = exchange.expected
        if reply._close is None:
            reply._close = connection.close

    def _record(self, reply: Reply, sent: bytes) -> None:
        """Keep the pieces of the body while they are read, and write them at the end."""
        pull, records = reply._pull, self._records
        parts: list[bytes] = []
        assert records is not None

        def read() -> bytes:
            data = pull()
            if data:
                self._scheduler.budget.make(len(data))
                parts.append(data)
            return data

        def write() -> None:
            answer = (reply.status, reply.reason, reply.headers, b"".join(parts))
            records.add(reply.method, reply.url, sent, answer)

        if reply.method == "HEAD" or reply.expected == 0 or reply.status in (204, 304):
            write()
        else:
            reply._pull, reply._at_end = read, write


class _Own:
    """A connection to a port of the sandbox, with a deadline."""

    def __init__(self, endpoint: Endpoint, until: float | None) -> None:
        self._endpoint = endpoint
        self._until = until

    def read(self, size: int) -> bytes:
        """Return up to `size` bytes, b"" at the end."""
        if self._until is not None and not self._endpoint.wait(self._until - monotonic()):
            raise NetworkTimeoutError("the time is over")
        return self._endpoint.read(size)

    def write(self, data: bytes) -> None:
        """Send all of `data`."""
        try:
            self._endpoint.write(data)
        except OSError as error:
            raise ConnectionLostError(error.strerror or "closed", while_sending=True) from None

    def close(self) -> None:
        """Close both directions."""
        self._endpoint.close()


def _exchange_over(
    connection: Outside | _Own, method: str, target: Target, pairs: Pairs, body: bytes
) -> Exchange:
    try:
        from agentsandbox.network.http1 import Exchange
    except ImportError:
        raise CommandError(
            'HTTP needs the extra "network": pip install "agentsandbox[network]"', 2
        ) from None
    return Exchange(connection, method, target.request_target, pairs, body)


def _check_headers(method: str, headers: Pairs) -> None:
    """Refuse what would be more than one header, or is not one."""
    if not method or not _TOKEN.issuperset(method) or len(method) > 40:
        raise RefusedError(f"not a method: {method[:40]!r}")
    if len(headers) > _MOST_HEADERS:
        raise RefusedError(f"more than {_MOST_HEADERS} headers")
    size = 0
    for name, value in headers:
        size += len(name) + len(value)
        if not name or not _TOKEN.issuperset(name):
            raise RefusedError(f"not the name of a header: {name[:60]!r}")
        if "\r" in value or "\n" in value or "\0" in value:
            raise RefusedError(f"the header {name[:60]} must be one line")
    if size > _LONGEST_HEADERS:
        raise RefusedError(f"more than {_LONGEST_HEADERS} bytes of headers")


def _completed(target: Target, headers: Pairs, body: bytes) -> Pairs:
    """Return the headers with Host in front and the length of the body."""
    pairs = list(headers)
    if field(pairs, "host") is None:
        pairs.insert(0, ("Host", target.netloc))
    has_length = (
        field(pairs, "content-length") is not None or field(pairs, "transfer-encoding") is not None
    )
    if body and not has_length:
        pairs.append(("Content-Length", str(len(body))))
    return pairs


# TM-NET-2
def redirected(
    reply: Reply, location: str, headers: Pairs, body: bytes
) -> tuple[str, str, Pairs, bytes]:
    """Return the (method, URL, headers, body) of the request to which a response redirects.

    301, 302 and 303 make a GET of a POST, as browsers and curl do. Authorization and Cookie are
    left out if the scheme, the host or the port is another one.
    """
    from urllib.parse import urldefrag, urljoin

    url = urldefrag(urljoin(reply.url, location)).url
    method = reply.method
    drops: set[str] = set()
    if reply.status in (301, 302, 303) and method not in ("GET", "HEAD"):
        if reply.status == 303 or method == "POST":
            method, body = "GET", b""
            drops |= _DROPPED_WITH_BODY
    if not same_origin(reply.url, url):
        drops |= _ONE_HOST_ONLY
    kept = [(name, value) for name, value in headers if name.lower() not in drops]
    return method, url, kept, body


def same_origin(first: str, second: str) -> bool:
    """Whether two URLs have the same scheme, host and port; False if one is not a URL."""
    try:
        one, other = parse_target(first), parse_target(second)
    except ValueError:
        return False
    return (one.scheme, one.host, one.port) == (other.scheme, other.host, other.port)
