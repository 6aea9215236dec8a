"""The network of an isolated sandbox: the client is in the host, and asks the policy there.

A worker has no sockets. It knows the addresses that the policy allows, so that most refusals need
no question, and nothing else of it: secrets, functions, records and resolvers stay here. Each of
its requests goes through `network.client` in the host, which checks it like one of an ordinary
sandbox; what the worker has checked before does not count.
"""

from __future__ import annotations

from math import isfinite
from time import monotonic

from agentsandbox.isolation.messages import ProtocolError
from agentsandbox.network.client import Network, Reply
from agentsandbox.network.errors import (
    ConnectError,
    ConnectionLostError,
    EmptyReplyError,
    GarbledReplyError,
    NetworkError,
    NetworkTimeoutError,
    RefusedError,
    ResolveError,
    TLSError,
    TooLargeError,
    TruncatedReplyError,
    UnknownHostError,
)
from agentsandbox.network.policy import NetworkPolicy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any, NoReturn

    from agentsandbox.isolation.messages import Message
    from agentsandbox.isolation.relay import Relay
    from agentsandbox.kernel.processes import Scheduler
    from agentsandbox.network.client import Query
    from agentsandbox.network.http1 import Head

MOST_REPLIES = 256
"""Responses that a worker has not read to their end."""

_MOST_HEADERS = 1000
_LONGEST_URL = 1 << 20
_AT_ONCE = 4 << 20
"""Bytes of a response that is there already which one message takes."""

_ERRORS = {
    kind.__name__: kind
    for kind in (
        ConnectError, ConnectionLostError, EmptyReplyError, GarbledReplyError, NetworkError,
        NetworkTimeoutError, RefusedError, ResolveError, TLSError, TooLargeError,
        TruncatedReplyError, UnknownHostError,
    )
}  # fmt: skip
_FACTS = ("connecting", "is_certificate", "is_old", "missing", "while_sending")
"""What errors know besides their texts."""

# the host


def policy_for_worker(policy: NetworkPolicy | None) -> dict[str, Any] | None:
    """Return what a worker may know of a policy: no secrets, and of functions only the hosts."""
    if policy is None:
        return None
    return {
        "allow": policy.allow,
        "methods": sorted(policy.methods),
        "hosts": sorted(policy.hosts),
    }


# TM-ISO-4
class HostNetwork:
    """Sends the requests of one worker; a service of `Operations`."""

    __slots__ = ("_network", "_replies", "works")

    def __init__(self, scheduler: Scheduler, policy: NetworkPolicy, hostname: str) -> None:
        self._network = Network(scheduler, policy, hostname)
        self._replies: dict[int, Reply] = {}
        self.works: Mapping[str, Callable[[int, Message], tuple[dict[str, Any], bytes]]] = {
            "send": self._send,
            "receive": self._receive,
        }

    def drop(self, number: int) -> None:
        """Close the connection of a response."""
        reply = self._replies.pop(number, None)
        if reply is not None:
            reply.close()

    def close(self) -> None:
        """Close all connections."""
        for number in list(self._replies):
            self.drop(number)

    def _send(self, number: int, message: Message) -> tuple[dict[str, Any], bytes]:
        head = message.head
        method, url = message.text("method"), message.text("url")
        if len(url) > _LONGEST_URL:
            raise ProtocolError("a URL that is too long")
        headers = _pairs(head.get("headers"))
        seconds = [_seconds(head.get(name)) for name in ("timeout", "connect_timeout")]
        (body,) = message.parts(1)
        if len(self._replies) >= MOST_REPLIES:
            return _described(ConnectError("too many connections at a time")), b""
        try:
            reply = self._network.send(
                method, url, headers=headers, body=body, verify=message.flag("verify"),
                timeout=seconds[0], connect_timeout=seconds[1],
            )  # fmt: skip
        except NetworkError as error:
            return _described(error), b""
        self._replies[number] = reply
        return _head_of(reply), b""

    def _receive(self, number: int, message: Message) -> tuple[dict[str, Any], bytes]:
        del number
        of = message.number("of")
        reply = self._replies.get(of)
        if reply is None:
            raise ProtocolError("a response that is not there")
        try:
            data = reply.read()
            if reply.is_complete:  # no more waiting: it may be more than one piece
                parts = [data]
                size = len(data)
                while parts[-1] and size < _AT_ONCE:
                    parts.append(reply.read())
                    size += len(parts[-1])
                data = b"".join(parts)
        except NetworkError as error:
            self._replies.pop(of, None)
            return _described(error), b""
        if not data:
            self._replies.pop(of, None)
        return {}, data


def _pairs(value: object) -> list[tuple[str, str]]:
    if type(value) is not list or len(value) > _MOST_HEADERS:
        raise ProtocolError("no list of headers")
    found = []
    for pair in value:
        if type(pair) is not list or len(pair) != 2 or not all(type(text) is str for text in pair):
            raise ProtocolError("a header that is none")
        found.append((pair[0], pair[1]))
    return found


def _seconds(value: object) -> float | None:
    if value is None:
        return None
    if type(value) not in (int, float) or not isfinite(value):  # type: ignore[arg-type]
        raise ProtocolError("a time that is none")
    return float(value)  # type: ignore[arg-type]


def _described(error: NetworkError) -> dict[str, Any]:
    kind = type(error).__name__
    facts = {name: getattr(error, name) for name in _FACTS if hasattr(error, name)}
    if kind not in _ERRORS:
        kind = "NetworkError"
    return {"error": kind, "text": str(error), "facts": facts}


def _parts_of(head: Reply | Head) -> list[Any]:
    return [head.status, head.reason, head.version, list(head.headers)]


def _head_of(reply: Reply) -> dict[str, Any]:
    return {
        "head": _parts_of(reply),
        "information": [_parts_of(each) for each in reply.information],
        "remote": list(reply.remote),
        "local": list(reply.local),
        "began": reply.began,
        "times": reply.times,
        "expected": reply.expected,
        "limit": reply.limit,
    }


# the worker


class RemoteNetwork(Network):
    """The client of a worker: its own ports are here, all that is outside is the host's affair."""

    def __init__(
        self, scheduler: Scheduler, policy: NetworkPolicy | None, hostname: str, relay: Relay
    ) -> None:
        super().__init__(scheduler, policy, hostname)
        self._relay = relay

    def _ask_beyond(self, reply: Reply, query: Query) -> Reply:
        now = monotonic()
        arguments = {
            "method": reply.method,
            "url": reply.url,
            "headers": list(query.headers),
            "timeout": None if query.until is None else query.until - now,
            "connect_timeout": None if query.connect_until is None else query.connect_until - now,
            "verify": query.verify,
        }
        number, head, _ = self._relay.call("send", arguments, query.body)
        _raise_error(head)
        reply.status, reply.reason, reply.version, headers = head["head"]
        reply.headers = [(name, value) for name, value in headers]
        reply.information = [_Information(*each) for each in head["information"]]  # type: ignore[misc]
        reply.remote, reply.local = tuple(head["remote"]), tuple(head["local"])
        reply.began, reply.times, reply.expected = head["began"], head["times"], head["expected"]
        reply.limit = head["limit"]
        reply._pull = lambda: self._receive(number)
        reply._close = lambda: self._relay.drop(number)
        return reply

    def _receive(self, number: int) -> bytes:
        _, head, data = self._relay.call("receive", {"of": number})
        _raise_error(head)
        self._scheduler.budget.make(len(data))
        return data


class _Information:
    """The head of a response with a status below 200."""

    __slots__ = ("headers", "reason", "status", "version")

    def __init__(self, status: int, reason: str, version: str, headers: list[list[str]]) -> None:
        self.status = status
        self.reason = reason
        self.version = version
        self.headers = [(name, value) for name, value in headers]


def worker_policy(known: dict[str, Any] | None) -> NetworkPolicy | None:
    """Return the policy of a worker, from what `policy_for_worker` said."""
    if known is None:
        return None
    hosts = dict.fromkeys(known["hosts"], _elsewhere)
    return NetworkPolicy(known["allow"], methods=known["methods"], hosts=hosts)


def _elsewhere(*_: object) -> NoReturn:
    raise AssertionError("the functions of the host are in the host")


def _raise_error(head: dict[str, Any]) -> None:
    if "error" not in head:
        return
    error = _ERRORS[head["error"]](head["text"])
    for name, value in head["facts"].items():
        setattr(error, name, value)
    raise error
