"""Sockets of a guest: the sandbox's own loopback, and HTTP to hosts that the policy allows.

A socket on the loopback is an open file of the guest whose bytes go through a connection of the
scheduler (`network.loopback`).

A socket to a host outside is a *gateway*: no bytes leave the sandbox. The guest writes a request of
HTTP/1.1 as `http.client`, `urllib3` or `httpcore` do, the gateway reads it (with `h11`), sends it
through the client of the sandbox, which asks the policy, and gives the response back as HTTP/1.1.
TLS is done by the host's side, so `ssl` only marks a gateway as https. What the policy refuses is
answered with 403 and the reason, as a filtering proxy does; what is not HTTP resets the connection.
"""

from __future__ import annotations

import errno

from agentsandbox.errors import CommandError
from agentsandbox.kernel.fs.base import Stat, os_error
from agentsandbox.kernel.streams import decode, encode
from agentsandbox.network.errors import (
    ConnectError,
    NetworkError,
    NetworkTimeoutError,
    RefusedError,
    TooLargeError,
)
from agentsandbox.wasm import preview1 as wasi
from agentsandbox.wasm.descriptors import Descriptor

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any, TypeVar

    import h11

    from agentsandbox.contract.command import CommandContext
    from agentsandbox.network.client import Network, Reply
    from agentsandbox.network.loopback import Endpoint, Listener
    from agentsandbox.wasm.guest import Guest

    T = TypeVar("T")
    Header = dict[str, Any]
    Work = Callable[[Header, bytes], tuple[Header, bytes]]

__all__ = ["Sockets"]

_MODE = 0o140777
_MOST = 256
"""Sockets that a program may have open."""
_LARGEST_HEAD = 64 * 1024
_CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"
_HOP = frozenset(("connection", "keep-alive", "transfer-encoding", "upgrade", "proxy-connection"))


class _Socket(Descriptor):
    """A socket of a guest."""

    kind = wasi.SOCKET

    def __init__(self, guest: Guest, clock: Callable[[], float]) -> None:
        self._guest = guest
        self._clock = clock
        self.names: tuple[tuple[str, int], tuple[str, int]] = (("0.0.0.0", 0), ("0.0.0.0", 0))
        """Its own address and the other side's."""

    def _ask(self, work: Callable[[], T]) -> T:
        return self._guest.ask(work)

    def stat(self) -> Stat:
        return Stat(_MODE, 0, self._clock())


class _Connected(_Socket):
    """One side of a connection on the loopback."""

    def __init__(self, guest: Guest, clock: Callable[[], float], endpoint: Endpoint) -> None:
        super().__init__(guest, clock)
        self._endpoint = endpoint
        self.names = endpoint.local, endpoint.remote

    def read(self, size: int) -> bytes:
        return self._ask(lambda: self._endpoint.read(size))

    def write(self, data: bytes) -> None:
        self._ask(lambda: self._endpoint.put(data))

    def is_ready(self, *, to_write: bool) -> bool:
        return self._endpoint.has_room() if to_write else self._endpoint.has_input()

    def shut(self, *, reading: bool, writing: bool) -> None:
        """End one direction or both."""
        if reading:
            self._endpoint.end_input()
        if writing:
            self._endpoint.end_output()

    def close(self) -> None:
        self._ask(self._endpoint.close)


class _Listening(_Socket):
    """A port on which a guest accepts connections."""

    def __init__(self, guest: Guest, clock: Callable[[], float], listener: Listener) -> None:
        super().__init__(guest, clock)
        self.listener = listener
        self.names = listener.local, ("0.0.0.0", 0)

    def is_ready(self, *, to_write: bool) -> bool:
        return not to_write and self.listener.has_input()

    def close(self) -> None:
        self._ask(self.listener.close)


class _Gateway(_Socket):
    """A connection to a host outside, which understands HTTP only."""

    def __init__(
        self, guest: Guest, ctx: CommandContext, host: str, port: int, server: h11.Connection
    ) -> None:
        super().__init__(guest, ctx.host.clock)
        self.scheme = "http"
        self.verify = True
        self.timeout: float | None = None
        self.failure = ""
        """What went wrong last, for the message of an exception."""
        self._ctx = ctx
        self._network: Network = ctx.host.network
        self._host = host
        self._port = port
        self._server = server
        self._request: h11.Request | None = None
        self._body: list[bytes] = []
        self._size = 0
        self._out: list[bytes] = []
        self._reply: Reply | None = None
        self._is_chunked = False
        self._is_over = False
        self._failure_number = 0
        self.names = ("127.0.0.1", 0), (host, port)

    # the request

    def write(self, data: bytes) -> None:
        self._ask(lambda: self._take(data))

    def _take(self, data: bytes) -> None:
        import h11

        if self._is_over:
            raise os_error(errno.EPIPE)
        while self._reply is not None:  # the last bytes of a response that nobody has to read
            self._pull(self._reply)
        self._server.receive_data(data)
        try:
            self._events()
        except h11.RemoteProtocolError as error:
            self._is_over = True
            self.failure = f"only HTTP may leave this sandbox: {error}"
            raise os_error(errno.ECONNRESET) from None

    def _events(self) -> None:
        import h11

        while True:
            if self._server.they_are_waiting_for_100_continue:
                self._server.send(h11.InformationalResponse(status_code=100, headers=[]))
                self._out.append(_CONTINUE)
            event = self._server.next_event()
            if event is h11.NEED_DATA or event is h11.PAUSED:
                return
            if isinstance(event, h11.Request):
                self._request = event
                self._body, self._size = [], 0
            elif isinstance(event, h11.Data):
                self._size += len(event.data)
                self._ctx.budget.charge(self._size)
                self._body.append(bytes(event.data))
            elif isinstance(event, h11.EndOfMessage):
                self._send()
            else:
                return

    def _send(self) -> None:
        """Send the request that is complete, and begin the response."""
        request = self._request
        assert request is not None
        method, target = decode(bytes(request.method)), decode(bytes(request.target))
        headers = [
            (decode(bytes(name)), decode(bytes(value)))
            for name, value in request.headers.raw_items()
            if decode(bytes(name)).lower() not in (*_HOP, "expect")
        ]
        host = f"[{self._host}]" if ":" in self._host else self._host
        url = target
        if target.startswith("/"):
            url = f"{self.scheme}://{host}:{self._port}{target}"
        try:
            reply = self._network.send(
                method, url, headers=headers, body=b"".join(self._body), timeout=self.timeout,
                verify=self.verify,
            )  # fmt: skip
        except (RefusedError, TooLargeError) as error:
            self._answer_refusal(method, str(error))
        except CommandError as error:  # there is no h11, or an async function and no event loop
            self._answer_refusal(method, error.message)
        except NetworkError as error:
            self._is_over = True
            self.failure = str(error)
            self._failure_number = _number_of(error)
        else:
            self._begin(reply, method)

    def _answer_refusal(self, method: str, reason: str) -> None:
        text = encode(f"refused by the network policy of this sandbox: {reason}\n")
        head = (
            "HTTP/1.1 403 Forbidden by the sandbox\r\nContent-Type: text/plain; charset=utf-8\r\n"
            f"Content-Length: {len(text)}\r\nConnection: close\r\n\r\n"
        )
        self._out += [encode(head)] + ([] if method == "HEAD" else [text])
        self._is_over = True

    def _begin(self, reply: Reply, method: str) -> None:
        has_body = method != "HEAD" and reply.status not in (204, 304)
        self._is_chunked = has_body and reply.expected is None
        lines = [f"HTTP/1.1 {reply.status} {reply.reason}"]
        lines += [f"{name}: {value}" for name, value in reply.headers if name.lower() not in _HOP]
        if self._is_chunked:
            lines.append("Transfer-Encoding: chunked")
        self._out.append(encode("\r\n".join([*lines, "", ""])))
        if has_body:
            self._reply = reply
        else:
            reply.close()
            self._next()

    def _next(self) -> None:
        """Make ready for another request on this connection."""
        import h11

        self._reply = None
        self._server = h11.Connection(h11.SERVER, max_incomplete_event_size=_LARGEST_HEAD)

    # the response

    def read(self, size: int) -> bytes:
        return self._ask(lambda: self._give(size))

    def _give(self, size: int) -> bytes:
        while not self._out:
            if self._failure_number:
                raise os_error(self._failure_number)
            if self._reply is None:
                return b""
            self._pull(self._reply)
        first = self._out[0]
        if len(first) <= size:
            return self._out.pop(0)
        self._out[0] = first[size:]
        return first[:size]

    def _pull(self, reply: Reply) -> None:
        try:
            data = reply.read()
        except NetworkError as error:
            self._reply = None
            self._is_over = True
            self.failure = str(error)
            self._failure_number = _number_of(error)
            return
        if data:
            self._out += (
                [encode(f"{len(data):x}\r\n"), data, b"\r\n"] if self._is_chunked else [data]
            )
            return
        if self._is_chunked:
            self._out.append(b"0\r\n\r\n")
        self._next()

    def is_ready(self, *, to_write: bool) -> bool:
        if to_write:
            return True
        return bool(self._out or self._reply or self._is_over or self._failure_number)

    def close(self) -> None:
        reply, self._reply = self._reply, None
        if reply is not None:
            self._ask(reply.close)


def _number_of(error: NetworkError) -> int:
    """Return the error number of a socket for an error of the client."""
    if isinstance(error, ConnectError):
        return errno.ECONNREFUSED
    if isinstance(error, NetworkTimeoutError):
        return errno.ETIMEDOUT
    return errno.ECONNRESET


class Sockets:
    """Answers the requests of one guest about sockets, in its home."""

    def __init__(self, ctx: CommandContext, guest: Guest) -> None:
        self._ctx = ctx
        self._guest = guest
        self._network = ctx.host.network
        self.works: Mapping[str, Work] = {
            "resolve": self._resolve, "connect": self._connect, "listen": self._listen,
            "accept": self._accept, "shutdown": self._shutdown, "tls": self._tls,
            "failure": self._failure, "free-port": self._free_port,
        }  # fmt: skip

    def _add(self, made: _Socket) -> tuple[Header, bytes]:
        system = self._guest.system
        assert system is not None
        count = sum(isinstance(one, _Socket) for one in system.descriptors.values())
        if count >= _MOST:
            made.close()
            raise os_error(errno.EMFILE)
        own, other = made.names
        return {"fd": system.add(made), "own": own, "other": other}, b""

    def _find(self, header: Header) -> _Socket:
        system = self._guest.system
        found = None if system is None else system.descriptors.get(header["fd"])
        if not isinstance(found, _Socket):
            raise os_error(errno.EBADF)
        return found

    def _resolve(self, header: Header, payload: bytes) -> tuple[Header, bytes]:
        """Return where a host is: "own" for the sandbox, "outside", or why it is refused."""
        del payload
        host = header["host"].rstrip(".").lower()
        network = self._network
        if network.is_own(host):
            return {"where": "own"}, b""
        if network.policy is None:
            return {"where": "nowhere", "why": ""}, b""
        if not network.policy.knows_host(host):
            why = f"{host[:100]} is not allowed by the network policy of this sandbox"
            return {"where": "nowhere", "why": why}, b""
        return {"where": "outside"}, b""

    def _connect(self, header: Header, payload: bytes) -> tuple[Header, bytes]:
        """Connect to a port of the sandbox, or make a gateway to a host outside."""
        del payload
        host, port = header["host"], header["port"]
        network, ctx = self._network, self._ctx
        policy = network.policy
        handler = None if policy is None else policy.handler(host, port)
        if network.is_own(host) and handler is None:
            endpoint = network.loopback.connect(port)
            return self._add(_Connected(self._guest, ctx.host.clock, endpoint))
        if policy is None or (handler is None and not policy.knows_host(host)):
            raise os_error(errno.ENETUNREACH)
        import h11

        server = h11.Connection(h11.SERVER, max_incomplete_event_size=_LARGEST_HEAD)
        return self._add(_Gateway(self._guest, ctx, host, port, server))

    def _listen(self, header: Header, payload: bytes) -> tuple[Header, bytes]:
        del payload
        listener = self._network.loopback.listen(
            header["port"], address=header["host"], backlog=header["backlog"]
        )
        return self._add(_Listening(self._guest, self._ctx.host.clock, listener))

    def _free_port(self, header: Header, payload: bytes) -> tuple[Header, bytes]:
        """Return a free port, or fail if the wanted one is taken."""
        del payload
        loopback, port = self._network.loopback, header["port"]
        if port and loopback.listens(port):
            raise os_error(errno.EADDRINUSE)
        return {"port": port or loopback.free_port()}, b""

    def _accept(self, header: Header, payload: bytes) -> tuple[Header, bytes]:
        del payload
        found = self._find(header)
        if not isinstance(found, _Listening):
            raise os_error(errno.EINVAL)
        endpoint = found.listener.accept()
        return self._add(_Connected(self._guest, self._ctx.host.clock, endpoint))

    def _shutdown(self, header: Header, payload: bytes) -> tuple[Header, bytes]:
        del payload
        found = self._find(header)
        if isinstance(found, _Connected):
            how = header["how"]
            found.shut(reading=how in (0, 2), writing=how in (1, 2))
        return {}, b""

    def _tls(self, header: Header, payload: bytes) -> tuple[Header, bytes]:
        """Mark a gateway as https; EPROTO for a connection inside the sandbox."""
        del payload
        found = self._find(header)
        if not isinstance(found, _Gateway):
            raise os_error(errno.EPROTO)
        found.scheme = "https"
        found.verify = header["verify"]
        return {}, b""

    def _failure(self, header: Header, payload: bytes) -> tuple[Header, bytes]:
        """Return what went wrong last on a gateway."""
        del payload
        found = self._find(header)
        return {"text": found.failure if isinstance(found, _Gateway) else ""}, b""
