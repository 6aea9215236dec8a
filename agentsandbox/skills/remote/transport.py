"""HTTP for which a policy checks the IP address of each connection before a byte is sent.

A check of the name alone would not do: the name could resolve to another address a moment later.
"""

from __future__ import annotations

import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any
from urllib.parse import urljoin

from agentsandbox.errors import SkillLimitError, SkillPolicyError, SkillStateError

try:
    import httpcore
    import httpx
except ImportError:
    raise SkillStateError(
        'fetching skills needs the extra "remote": pip install "agentsandbox[remote]"'
    ) from None

if TYPE_CHECKING:
    import ssl
    from collections.abc import Iterable, Iterator, Mapping

    from agentsandbox.network import NetworkPolicy

MAX_REDIRECTS = 5
REDIRECTS = frozenset((301, 302, 303, 307, 308))


class TimedStream(httpcore.NetworkStream):
    """A connection that ends at a given time, however slowly the other side sends."""

    def __init__(self, stream: httpcore.NetworkStream, until: float) -> None:
        self._stream = stream
        self._until = until

    def _left(self, timeout: float | None) -> float:
        left = self._until - time.monotonic()
        if left <= 0:
            raise httpcore.ReadTimeout("the time is over")
        return left if timeout is None else min(left, timeout)

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return self._stream.read(max_bytes, self._left(timeout))

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._stream.write(buffer, self._left(timeout))

    def close(self) -> None:
        self._stream.close()

    def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,
    ) -> httpcore.NetworkStream:
        return TimedStream(
            self._stream.start_tls(ssl_context, server_hostname, self._left(timeout)), self._until
        )

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)


class GuardedBackend(httpcore.NetworkBackend):
    """Connects, and closes the connection unless the policy allows its IP address."""

    def __init__(self, policy: NetworkPolicy, until: float) -> None:
        self.policy = policy
        self.until = until
        self._backend = httpcore.SyncBackend()

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.NetworkStream:
        stream = self._backend.connect_tcp(host, port, timeout, local_address, socket_options)
        peer = stream.get_extra_info("server_addr")
        refusal = self.policy.refuses_address(str(peer[0])) if peer else "its address is not known"
        if refusal:
            stream.close()
            raise SkillPolicyError(f"{host}: {refusal}")
        return TimedStream(stream, self.until)

    def connect_unix_socket(
        self, path: str, timeout: float | None = None, socket_options: Iterable[Any] | None = None
    ) -> httpcore.NetworkStream:
        raise SkillPolicyError("only TCP is allowed")

    def sleep(self, seconds: float) -> None:
        self._backend.sleep(seconds)


class Client:
    """Sends requests that the policy allows: each within its size, all of them within its time."""

    def __init__(self, policy: NetworkPolicy, pool: httpcore.ConnectionPool, until: float) -> None:
        self.policy = policy
        self._pool = pool
        self._until = until

    def get(
        self, url: str, headers: Mapping[str, str] | None = None
    ) -> tuple[str, httpx.Response, bytes]:
        """Follow redirections; return the final address, the response and its content."""
        for _ in range(MAX_REDIRECTS + 1):
            answer, content = self.ask(url, "GET", headers)
            if answer.status_code not in REDIRECTS or "location" not in answer.headers:
                return url, answer, content
            url = urljoin(url, answer.headers["location"])
        raise SkillLimitError(f"{url}: more than {MAX_REDIRECTS} redirections")

    def ask(
        self,
        url: str,
        method: str = "GET",
        headers: Mapping[str, str] | None = None,
        body: bytes | None = None,
    ) -> tuple[httpx.Response, bytes]:
        """Return the response and its content; a redirection is returned like any response."""
        if refusal := self.policy.refusal(url, method):
            raise SkillPolicyError(f"{url}: {refusal}")
        target = httpx.URL(url)
        fields = {name.lower(): value for name, value in (headers or {}).items()}
        fields |= {
            "host": str(target.netloc, "ascii"),
            "accept-encoding": "identity",
            "user-agent": "agentsandbox",
        }
        fields |= {
            name.lower(): value for name, value in self.policy.headers.get(target.host, {}).items()
        }
        if body is not None:
            fields["content-length"] = str(len(body))
        seconds = max(0.1, self._until - time.monotonic())
        request = httpcore.Request(
            method,
            httpcore.URL(
                scheme=target.raw_scheme,
                host=target.raw_host,
                port=target.port,
                target=target.raw_path,
            ),
            headers=list(fields.items()),
            content=body,
            extensions={
                "timeout": {"connect": seconds, "read": seconds, "write": seconds, "pool": seconds}
            },
        )
        try:
            answer = self._pool.handle_request(request)
            try:
                content = self._read(answer, url)
            finally:
                answer.close()
        except httpcore.TimeoutException:
            raise self._too_long(url) from None
        except (
            httpcore.NetworkError,
            httpcore.ProtocolError,
            httpcore.UnsupportedProtocol,
        ) as error:
            raise SkillStateError(f"{url}: {type(error).__name__}: {error}") from None
        return httpx.Response(answer.status, headers=answer.headers), content

    def _read(self, answer: httpcore.Response, url: str) -> bytes:
        encodings = [value for name, value in answer.headers if name.lower() == b"content-encoding"]
        if any(value.strip().lower() not in (b"identity", b"") for value in encodings):
            raise SkillPolicyError(
                f"{url}: the server sent a compressed answer, which was not requested"
            )
        chunks, size = [], 0
        for chunk in answer.iter_stream():
            size += len(chunk)
            if size > self.policy.max_bytes:
                raise SkillLimitError(f"{url}: more than {self.policy.max_bytes} bytes")
            if time.monotonic() > self._until:
                raise self._too_long(url)
            chunks.append(chunk)
        return b"".join(chunks)

    def _too_long(self, url: str) -> SkillLimitError:
        return SkillLimitError(f"{url}: took longer than {self.policy.timeout} seconds")


@contextmanager
def open_client(policy: NetworkPolicy) -> Iterator[Client]:
    """Yield a client whose requests share the policy's time."""
    until = time.monotonic() + policy.timeout
    with httpcore.ConnectionPool(
        network_backend=GuardedBackend(policy, until), max_connections=4
    ) as pool:
        yield Client(policy, pool, until)
