"""Sockets of the host, for a process of the sandbox that waits for them.

A connection has a thread of its own, which resolves the name, connects, and does what cannot be
done at once. The process waits for it in the scheduler (`wait_outside`), so other processes and the
event loop go on, and a limit, a signal or a cancelled task ends the wait at once. `close` then
shuts the socket down, which ends the call in which the thread is; a look-up of a name cannot be
interrupted, its thread ends when the look-up does, and nobody waits for it.

The name is resolved once. All its addresses must be allowed, and the connection goes to one of the
addresses that were checked: a name that resolves to another address a moment later (rebinding)
changes nothing.
"""

from __future__ import annotations

import socket
import ssl
from _thread import allocate_lock, start_new_thread
from time import monotonic

from agentsandbox.network.addresses import parse_address
from agentsandbox.network.errors import (
    ConnectError,
    ConnectionLostError,
    NetworkTimeoutError,
    RefusedError,
    ResolveError,
    TLSError,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeVar

    from agentsandbox.kernel.processes import Scheduler
    from agentsandbox.network.addresses import Target
    from agentsandbox.network.policy import NetworkPolicy

    T = TypeVar("T")

__all__ = ["Outside"]

_MOST_ADDRESSES = 16
"""Addresses of one name that are tried."""


class _Worker:
    """A thread that does one call after the other for a process that waits."""

    def __init__(self, scheduler: Scheduler) -> None:
        self._scheduler = scheduler
        self._begin = allocate_lock()
        self._begin.acquire()
        self._work: Callable[[], object] = _nothing
        self._outcome: tuple[bool, object] | None = None
        self.at_end: Callable[[], object] = _nothing
        """Called in the thread when it ends."""
        self.has_ended = False
        start_new_thread(self._serve, ())

    def _serve(self) -> None:
        while True:
            self._begin.acquire()
            if self.has_ended:
                break
            outcome: tuple[bool, object]
            try:
                outcome = True, self._work()
            except BaseException as error:  # noqa: BLE001 - raised where the process waits
                outcome = False, error
            self._outcome = outcome
            self._scheduler.budget.call()
        self.at_end()

    def call(self, work: Callable[[], T], until: float) -> T:
        """Return `work()`, done in the thread; raise its error, or TimeoutError at `until`."""
        self._order(work)
        self._begin.release()
        if not self._scheduler.wait_outside(self._is_done, max(0.0, until - monotonic())):
            raise TimeoutError
        assert self._outcome is not None
        good, value = self._outcome
        self._order(_nothing)
        if not good:
            assert isinstance(value, BaseException)
            raise value
        return value  # type: ignore[return-value]

    def _order(self, work: Callable[[], object]) -> None:
        self._outcome = None
        self._work = work

    def _is_done(self) -> bool:
        return self._outcome is not None

    def end(self) -> None:
        """End the thread after what it does now."""
        if not self.has_ended:
            self.has_ended = True
            if self._begin.locked():
                self._begin.release()


class Outside:
    """A connection to a server outside, with TLS for https. Times are those of `monotonic`."""

    def __init__(
        self,
        scheduler: Scheduler,
        policy: NetworkPolicy,
        target: Target,
        *,
        until: float,
        connect_until: float,
        verify: bool = True,
    ) -> None:
        self.times: dict[str, float] = {}
        """When the name was resolved, the connection made, TLS ready."""
        self.remote = ("", 0)
        self.local = ("", 0)
        self.until = until
        self._policy = policy
        self._target = target
        self._verify = verify
        self._connect_until = min(until, connect_until)
        self._socket: socket.socket | None = None
        self._worker = _Worker(scheduler)
        self._worker.at_end = self._free
        try:
            self._worker.call(self._open, self._connect_until)
        except TimeoutError:
            self.close()
            raise NetworkTimeoutError("the connection took too long", connecting=True) from None
        except BaseException:
            self.close()
            raise

    # in the thread

    def _open(self) -> None:
        """Resolve, check and connect."""
        target, policy = self._target, self._policy
        found = self._addresses()
        for address in found:
            if refusal := policy.refuses_address(address):
                raise RefusedError(f"{target.host}: {refusal}")
        self.times["namelookup"] = monotonic()
        failure: OSError | None = None
        for address in found[:_MOST_ADDRESSES]:
            try:
                self._connect(address)
                break
            except TimeoutError:
                raise
            except OSError as error:
                failure = error
        else:
            raise ConnectError(failure.strerror if failure and failure.strerror else "no address")
        self.times["connect"] = monotonic()
        if target.scheme == "https":
            self._start_tls()
            self.times["appconnect"] = monotonic()

    def _addresses(self) -> list[str]:
        """Return the addresses of the host, the resolver's first answer first."""
        host = self._target.host
        if parse_address(host) is not None:
            return [host]
        resolve = self._policy.resolve
        if callable(resolve):
            try:
                listed = resolve(host)
            except OSError:
                raise ResolveError(f"{host} has no address") from None
        elif resolve is not None and host in resolve:
            listed = resolve[host]
        else:
            try:
                answers = socket.getaddrinfo(host, self._target.port, type=socket.SOCK_STREAM)
            except (OSError, UnicodeError):
                raise ResolveError(f"{host} has no address") from None
            listed = [str(answer[4][0]) for answer in answers]
        found = [listed] if isinstance(listed, str) else list(dict.fromkeys(listed))
        if not found:
            raise ResolveError(f"{host} has no address")
        return found

    def _connect(self, address: str) -> None:
        family = socket.AF_INET6 if ":" in address else socket.AF_INET
        made = socket.socket(family, socket.SOCK_STREAM)
        self._socket = made
        try:
            if self._worker.has_ended:
                raise TimeoutError
            made.settimeout(max(0.001, self._connect_until - monotonic()))
            made.connect((address, self._target.port))
            made.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        except OSError:
            self._socket = None
            made.close()
            raise
        self.remote = made.getpeername()[:2]
        self.local = made.getsockname()[:2]

    def _start_tls(self) -> None:
        plain = self._socket
        assert plain is not None
        context = ssl.create_default_context()
        if self._verify:
            _trust(context)
        else:
            context.check_hostname = False
            context.verify_mode = ssl.CERT_NONE
        context.set_alpn_protocols(["http/1.1"])
        plain.settimeout(max(0.001, self._connect_until - monotonic()))
        try:
            wrapped = context.wrap_socket(
                plain, server_hostname=self._target.host, do_handshake_on_connect=False
            )
            self._socket = wrapped  # so that `close` can end the handshake
            wrapped.do_handshake()
        except ssl.SSLCertVerificationError as error:
            raise TLSError(error.verify_message, is_certificate=True) from None
        except TimeoutError:
            raise
        except (OSError, ValueError) as error:
            reason = getattr(error, "reason", None) or "the handshake failed"
            raise TLSError(str(reason).lower().replace("_", " ")) from None

    def _free(self) -> None:
        made, self._socket = self._socket, None
        if made is not None:
            made.close()

    # in the process

    def read(self, size: int) -> bytes:
        """Return up to `size` bytes, b"" at the end."""
        made = self._open_socket()
        try:
            made.settimeout(0)
            return made.recv(size)
        except (BlockingIOError, ssl.SSLWantReadError, ssl.SSLWantWriteError):
            pass
        except OSError as error:
            raise _lost(error) from None

        def receive() -> bytes:
            made.settimeout(max(0.001, self.until - monotonic()))
            return made.recv(size)

        return self._wait(receive, while_sending=False)

    def write(self, data: bytes) -> None:
        """Send all of `data`."""
        made = self._open_socket()
        sent = 0
        try:
            made.settimeout(0)
            sent = made.send(data)
        except (BlockingIOError, ssl.SSLWantReadError, ssl.SSLWantWriteError):
            pass
        except OSError as error:
            raise _lost(error, while_sending=True) from None
        if sent == len(data):
            return
        rest = memoryview(data)[sent:]

        def send() -> None:
            made.settimeout(max(0.001, self.until - monotonic()))
            made.sendall(rest)

        self._wait(send, while_sending=True)

    def _open_socket(self) -> socket.socket:
        if self._socket is None:
            raise ConnectionLostError("the connection is closed")
        if monotonic() >= self.until:
            raise NetworkTimeoutError("the time is over")
        return self._socket

    def _wait(self, work: Callable[[], T], *, while_sending: bool) -> T:
        try:
            return self._worker.call(work, self.until)
        except TimeoutError:
            raise NetworkTimeoutError("the time is over") from None
        except OSError as error:
            raise _lost(error, while_sending=while_sending) from None

    def close(self) -> None:
        """End the connection, whatever its thread does."""
        made = self._socket
        if made is not None and not self._worker.has_ended:
            try:
                socket.socket.shutdown(made, socket.SHUT_RDWR)  # not that of TLS, which is in use
            except OSError:
                pass  # it was not connected, or the other side was faster
        self._worker.end()


def _trust(context: ssl.SSLContext) -> None:
    """Trust the certificates of `certifi`, if it is installed, beside those of the system."""
    try:
        import certifi
    except ImportError:
        return
    context.load_verify_locations(certifi.where())


def _lost(error: OSError, *, while_sending: bool = False) -> ConnectionLostError:
    text = error.strerror or str(error) or type(error).__name__
    return ConnectionLostError(text, while_sending=while_sending)


def _nothing() -> None:
    """Do nothing."""
