"""What a sandbox may reach over the network: nothing, unless the embedding program allows it."""

from __future__ import annotations

from agentsandbox.kernel.streams import decode, encode
from agentsandbox.network.addresses import (
    DEFAULT_PORTS,
    is_loopback,
    is_metadata,
    is_public,
    parse_address,
    parse_target,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from ipaddress import IPv4Network, IPv6Network
    from typing import Any, Literal, TypeAlias

    from agentsandbox.network.addresses import Target

    Resolve: TypeAlias = Mapping[str, str | Sequence[str]] | Callable[[str], Sequence[str]]
    Handler: TypeAlias = Callable[..., Any]
    RecordMode: TypeAlias = Literal["new", "always", "never"]

__all__ = ["NetworkPolicy"]

_WILDCARD = "wildcard"
"""The label that takes the place of "*" while the URL of a rule is read."""

_ANY_PORT = 0
_OWN = ("localhost", "127.0.0.1", "::1")
_MODES = ("new", "always", "never")


# TM-NET-1
class NetworkPolicy:
    """An allow-list of URLs; immutable. Everything else is refused.

    allow          URL prefixes: "https://api.example.com/v1/" allows all below it,
                 "https://example.com" the whole host, "https://*.example.com" its sub-domains,
                 "https://*" every host, "http://example.com:*" all ports. Methods may stand in
                 front and then replace `methods`: "GET,POST https://api.example.com/v1/"
    methods        allowed HTTP methods
    allow_private  whether an allowed host may have a private, local or reserved address; True does
                 not include the addresses at which clouds give credentials (169.254.0.0/16 …).
                 A list names addresses and networks: ["10.1.0.0/16"]
    max_bytes      largest response, in bytes, before and after decompression
    max_request_bytes
                 largest body of a request, in bytes
    timeout        seconds for one request, from the look-up of the name to the last byte
    headers        host, or "host:port" → headers added to requests to it: secrets that the sandbox
                 never sees. They replace headers of the same name
    credentials    host, or "host:port" → (user, password), or the text of a bearer token
    hosts          host, or "host:port" → a function that answers all requests to it, without a
                 socket: `handler(request)` gets a `Request` and returns a `Response`, str, bytes,
                 or a dict or list, which become JSON; it may be async. A WSGI or ASGI application
                 also serves. No rule of `allow` is needed
    resolve        host → IP address or addresses, or a function of the host: used instead of DNS
    records        a file of the host in which responses are kept and from which they are replayed;
                 ValueError if it holds something else
    record         "new": replay what the file has and add the rest; "always": ask again and
                 replace; "never": replay only, and refuse what the file does not have
    """

    __slots__ = (
        "_injected", "_private", "_rules", "_wild", "allow", "allow_private",
        "credentials", "headers", "hosts", "max_bytes", "max_request_bytes", "methods", "record",
        "records", "resolve", "timeout",
    )  # fmt: skip

    def __init__(
        self,
        allow: Sequence[str] = (),
        *,
        methods: Sequence[str] = ("GET", "HEAD"),
        allow_private: bool | Sequence[str] = False,
        max_bytes: int = 16 * 1024 * 1024,
        max_request_bytes: int = 16 * 1024 * 1024,
        timeout: float = 30.0,
        headers: Mapping[str, Mapping[str, str]] | None = None,
        credentials: Mapping[str, str | tuple[str, str]] | None = None,
        hosts: Mapping[str, Handler] | None = None,
        resolve: Resolve | None = None,
        records: str | os.PathLike[str] | None = None,
        record: RecordMode = "new",
    ) -> None:
        _check_lists(allow, methods)
        _check_numbers(max_bytes, max_request_bytes, timeout)
        _check_headers(headers)
        _check_records(records, record)
        rules, wild = _rules(allow)
        values = {
            "allow": tuple(allow),
            "methods": frozenset(method.upper() for method in methods),
            "allow_private": allow_private
            if isinstance(allow_private, bool)
            else tuple(allow_private),
            "max_bytes": max_bytes,
            "max_request_bytes": max_request_bytes,
            "timeout": timeout,
            "headers": {host.lower(): dict(pairs) for host, pairs in (headers or {}).items()},
            "credentials": {
                host.lower(): value for host, value in _checked_credentials(credentials)
            },
            "hosts": {host.lower(): handler for host, handler in _checked_hosts(hosts)},
            "resolve": _checked_resolve(resolve),
            "records": records,
            "record": record,
            "_private": _networks(allow_private),
            "_rules": rules,
            "_wild": wild,
        }
        for name, value in values.items():
            object.__setattr__(self, name, value)
        object.__setattr__(self, "_injected", dict(_injections(self.headers, self.credentials)))

    if TYPE_CHECKING:
        allow: tuple[str, ...]
        methods: frozenset[str]
        allow_private: bool | tuple[str, ...]
        max_bytes: int
        max_request_bytes: int
        timeout: float
        headers: dict[str, dict[str, str]]
        credentials: dict[str, str | tuple[str, str]]
        hosts: dict[str, Handler]
        resolve: Resolve | None
        records: str | os.PathLike[str] | None
        record: RecordMode
        _private: tuple[IPv4Network | IPv6Network, ...]
        _rules: dict[tuple[str, str], list[_Paths]]
        _wild: dict[tuple[str, str], list[_Paths]]
        _injected: dict[str, dict[str, str]]

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError("a NetworkPolicy is immutable")

    def refusal(self, url: str, method: str = "GET") -> str | None:
        """Return why a request is refused, or None if it is allowed."""
        try:
            target = parse_target(url)
        except ValueError as error:
            return str(error)
        return self.refuses_target(target, method)

    def refuses_target(self, target: Target, method: str) -> str | None:
        """Return why a request is refused whose URL was read already, or None."""
        method = method.upper()
        is_named = False
        for paths in self._paths_of(target):
            allowed = paths.methods_at(target.path)
            if allowed is not None:
                if method in (allowed or self.methods):
                    return None
                is_named = True
        if is_named:
            return f"the method {method[:40]} is not allowed"
        return f"{target.scheme}://{target.netloc} is not on the list of allowed addresses" + (
            "" if not self.knows(target) else " with this path"
        )

    def knows(self, target: Target) -> bool:
        """Whether a rule names the host, port and scheme of a URL, whatever its path is."""
        return next(self._paths_of(target), None) is not None

    def knows_host(self, host: str) -> bool:
        """Whether a rule or a function names a host, whatever the port and the path are."""
        names = {host, f"[{host}]"}
        if any(name in names or name.rpartition(":")[0] in names for name in self.hosts):
            return True
        for scheme in DEFAULT_PORTS:
            if (scheme, host) in self._rules or (scheme, "") in self._wild:
                return True
            at = host.find(".")
            while at >= 0:
                if (scheme, host[at + 1 :]) in self._wild:
                    return True
                at = host.find(".", at + 1)
        return False

    def _paths_of(self, target: Target) -> Iterator[_Paths]:
        """Yield the allowed paths of all rules that name the host and the port."""
        scheme, host, port = target.scheme, target.host, target.port
        for paths in self._rules.get((scheme, host), ()):
            if paths.port in (port, _ANY_PORT):
                yield paths
        if not self._wild:
            return
        for paths in self._wild.get((scheme, ""), ()):
            if paths.port in (port, _ANY_PORT):
                yield paths
        at = host.find(".")
        while at >= 0:
            for paths in self._wild.get((scheme, host[at + 1 :]), ()):
                if paths.port in (port, _ANY_PORT):
                    yield paths
            at = host.find(".", at + 1)

    def refuses_address(self, address: str) -> str | None:
        """Return why a resolved address must not be connected to, or None if it may be."""
        ip = parse_address(address)
        if ip is None:
            return f"{address!r} is not an IP address"
        if is_public(ip):
            return None
        inner = getattr(ip, "ipv4_mapped", None) or ip
        if any(
            one.version == network.version and one in network
            for network in self._private
            for one in (ip, inner)
        ):
            return None
        if self.allow_private is True and not is_metadata(ip):
            return None
        return f"{address} is a private or reserved address"

    def injected(self, target: Target) -> dict[str, str]:
        """Return the headers that are added to a request: secrets of the host program."""
        if not self._injected:
            return {}
        host = f"[{target.host}]" if ":" in target.host else target.host
        return {
            **self._injected.get(target.host, {}),
            **self._injected.get(f"{host}:{target.port}", {}),
        }

    def secrets(self) -> list[str]:
        """Return the values of all headers that are added to requests."""
        return [value for fields in self._injected.values() for value in fields.values()]

    def handler(self, host: str, port: int) -> Handler | None:
        """Return the function that answers for a host and port, or None.

        One for localhost answers for 127.0.0.1 and ::1 too, and the other way round.
        """
        hosts = self.hosts
        if not hosts:
            return None
        for name in (host, *(_OWN if is_loopback(host) else ())):
            shown = f"[{name}]" if ":" in name else name
            found = hosts.get(f"{shown}:{port}") or hosts.get(name)
            if found is not None:
                return found
        return None

    def __repr__(self) -> str:
        private = (
            self.allow_private if isinstance(self.allow_private, bool) else list(self.allow_private)
        )
        hosts = f", hosts={sorted(self.hosts)}" if self.hosts else ""
        return (
            f"NetworkPolicy(allow={list(self.allow)}, methods={sorted(self.methods)}, "
            f"allow_private={private}{hosts})"
        )


class _Paths:
    """The allowed paths of one host and port: each with its methods, "" for the policy's."""

    __slots__ = ("_below", "_exact", "port")

    def __init__(self, port: int) -> None:
        self.port = port
        self._exact: dict[str, frozenset[str]] = {}
        self._below: dict[str, frozenset[str]] = {}

    def add(self, path: str, methods: frozenset[str]) -> None:
        """Allow a path and all below it."""
        for table, key in ((self._exact, path), (self._below, path.rstrip("/"))):
            before = table.get(key)
            table[key] = methods if before is None else methods | before if methods else methods

    def methods_at(self, path: str) -> frozenset[str] | None:
        """Return the allowed methods of a path, empty for those of the policy; None for none."""
        found = self._exact.get(path)
        below = self._below
        at = path.find("/")
        while at >= 0:
            here = below.get(path[:at])
            if here is not None:
                found = here if found is None else _either(found, here)
            at = path.find("/", at + 1)
        return found


def _either(first: frozenset[str], second: frozenset[str]) -> frozenset[str]:
    return first | second if first and second else first or second


def _rules(
    allow: Sequence[str],
) -> tuple[dict[tuple[str, str], list[_Paths]], dict[tuple[str, str], list[_Paths]]]:
    """Return the rules by scheme and host, and those for sub-domains by scheme and domain."""
    exact: dict[tuple[str, str], list[_Paths]] = {}
    wild: dict[tuple[str, str], list[_Paths]] = {}
    for rule in allow:
        words, _, url = rule.rpartition(" ")
        methods = frozenset(word.strip().upper() for word in words.split(",") if word.strip())
        scheme, host, port, path = _rule_parts(url, rule)
        table, name = exact, host
        if host == _WILDCARD:
            table, name = wild, ""
        elif host.startswith(f"{_WILDCARD}."):
            table, name = wild, host[len(_WILDCARD) + 1 :]
        entries = table.setdefault((scheme, name), [])
        for paths in entries:
            if paths.port == port:
                break
        else:
            paths = _Paths(port)
            entries.append(paths)
        paths.add(path, methods)
    return exact, wild


def _rule_parts(url: str, rule: str) -> tuple[str, str, int, str]:
    """Return the parts of a rule's URL, in which the host may begin with "*" and the port be it."""
    scheme, mark, rest = url.partition("://")
    cut = min((at for at in map(rest.find, "/?#") if at >= 0), default=len(rest))
    netloc, tail = rest[:cut], rest[cut:]
    any_port = netloc.endswith(":*")
    if any_port:
        netloc = netloc[:-2]
    if netloc == "*" or netloc.startswith(("*.", "*:")):
        netloc = _WILDCARD + netloc[1:]
    if "*" in netloc or "*" in tail:
        raise ValueError(
            f'a rule may have "*" as the first part of its host and as its port only: {rule!r}'
        )
    target = parse_target(f"{scheme}{mark}{netloc}{tail}")
    return target.scheme, target.host, _ANY_PORT if any_port else target.port, target.path


def _networks(allow_private: object) -> tuple[IPv4Network | IPv6Network, ...]:
    """Return the named networks of `allow_private`."""
    if isinstance(allow_private, bool):
        return ()
    message = f"allow_private must be True, False or a list of addresses, not {allow_private!r}"
    if isinstance(allow_private, (str, bytes)) or not hasattr(allow_private, "__iter__"):
        raise TypeError(message)
    import ipaddress

    found = []
    for item in allow_private:
        if not isinstance(item, str):
            raise TypeError(message)
        found.append(ipaddress.ip_network(item, strict=False))
    return tuple(found)


def _injections(
    headers: Mapping[str, Mapping[str, str]], credentials: Mapping[str, str | tuple[str, str]]
) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield the headers that are added for each host."""
    from base64 import b64encode

    for host in {**headers, **credentials}:
        fields = dict(headers.get(host, {}))
        secret = credentials.get(host)
        if isinstance(secret, str):
            fields["Authorization"] = f"Bearer {secret}"
        elif secret is not None:
            pair = encode(":".join(secret))
            fields["Authorization"] = f"Basic {decode(b64encode(pair))}"
        yield host, fields


def _check_lists(allow: object, methods: object) -> None:
    for name, value in (("allow", allow), ("methods", methods)):
        if isinstance(value, str) or not hasattr(value, "__iter__"):
            raise TypeError(f"{name} must be a sequence of str, not {value!r}: {name}=[…]")
        for item in value:
            if not isinstance(item, str):
                raise TypeError(f"{name} must hold str, not {item!r}")


def _check_numbers(max_bytes: object, max_request_bytes: object, timeout: object) -> None:
    for name, size in (("max_bytes", max_bytes), ("max_request_bytes", max_request_bytes)):
        if isinstance(size, bool) or not isinstance(size, int):
            raise TypeError(f"{name} must be an int, not {size!r}")
        if size <= 0:
            raise ValueError(f"{name} must be positive and finite")
    if isinstance(timeout, bool) or not isinstance(timeout, (int, float)):
        raise TypeError(f"timeout must be a number of seconds, not {timeout!r}")
    if not 0 < timeout < float("inf"):
        raise ValueError("max_bytes and timeout must be positive and finite")


def _check_headers(headers: object) -> None:
    for host, pairs in _items(headers, "headers must map hosts to headers"):
        for field, value in _items(pairs, f"headers[{host!r}] must map names to values"):
            if (
                not isinstance(host, str)
                or not isinstance(field, str)
                or not isinstance(value, str)
            ):
                raise TypeError(f"headers must hold str, not {host!r}: {field!r}: {value!r}")


def _checked_credentials(credentials: object) -> Iterator[tuple[str, str | tuple[str, str]]]:
    message = "credentials must map hosts to (user, password) or the text of a bearer token"
    for host, value in _items(credentials, message):
        if isinstance(host, str):
            if isinstance(value, str):
                yield host, value
                continue
            if isinstance(value, (tuple, list)) and len(value) == 2:
                user, password = value
                if isinstance(user, str) and isinstance(password, str):
                    yield host, (user, password)
                    continue
        raise TypeError(f"{message}: the value of {host!r} is not one")


def _checked_hosts(hosts: object) -> Iterator[tuple[str, Handler]]:
    for host, handler in _items(hosts, "hosts must map hosts to functions"):
        if not isinstance(host, str):
            raise TypeError(f"hosts must have str as keys, not {host!r}")
        if not callable(handler):
            raise TypeError(f"hosts[{host!r}] must be a function, not {type(handler).__name__}")
        if not host or "/" in host or any(character <= " " for character in host):
            raise ValueError(f'a host is a name, with ":port" if needed, not {host!r}')
        yield host, handler


def _checked_resolve(resolve: object) -> object:
    if resolve is None or callable(resolve):
        return resolve
    found = {}
    message = "resolve must be a function, or map hosts to IP addresses"
    for host, addresses in _items(resolve, message):
        listed = [addresses] if isinstance(addresses, str) else addresses
        if not isinstance(host, str) or not isinstance(listed, (list, tuple)):
            raise TypeError(f"{message}, not {host!r}: {addresses!r}")
        for address in listed:
            if not isinstance(address, str) or parse_address(address) is None:
                raise ValueError(f"resolve[{host!r}] must hold IP addresses, not {address!r}")
        found[host.lower()] = tuple(listed)
    return found


def _check_records(records: object, record: object) -> None:
    if records is not None and not isinstance(records, str) and not hasattr(records, "__fspath__"):
        raise TypeError(f"records must be the path of a file, not {records!r}")
    if records is not None:
        from os import fspath

        from agentsandbox.network.records import load_records

        load_records(fspath(records))
    if record not in _MODES:
        raise ValueError(f"record must be one of {', '.join(_MODES)}, not {record!r}")


def _items(value: object, message: str) -> list[tuple[object, object]]:
    if value is None:
        return []
    if not hasattr(value, "items"):
        raise TypeError(f"{message}, not {type(value).__name__}")
    return list(value.items())
