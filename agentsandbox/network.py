"""What a sandbox may reach over the network: nothing, unless the embedding program allows it."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from ipaddress import IPv4Address, IPv6Address

__all__ = ["NetworkPolicy"]

DEFAULT_PORTS = {"http": 80, "https": 443}
NAT64 = "64:ff9b::/96"
UNICAST = "2000::/3"


class NetworkPolicy:
    """An allow-list of URLs; immutable. Everything else is refused.

    allow          URL prefixes: "https://api.example.com/v1/" allows all below it,
                 "https://example.com" the whole host
    methods        allowed HTTP methods
    allow_private  whether an allowed host may have a private, local or reserved address
    max_bytes      largest response, in bytes
    timeout        seconds for one request
    headers        host → headers added to requests to it: secrets that the sandbox never sees
    """

    __slots__ = (
        "_prefixes", "allow", "allow_private", "headers", "max_bytes", "methods", "timeout",
    )  # fmt: skip

    def __init__(
        self,
        allow: Sequence[str] = (),
        *,
        methods: Sequence[str] = ("GET", "HEAD"),
        allow_private: bool = False,
        max_bytes: int = 16 * 1024 * 1024,
        timeout: float = 30.0,
        headers: Mapping[str, Mapping[str, str]] | None = None,
    ) -> None:
        _check(allow, methods, allow_private, max_bytes, timeout, headers)
        values = {
            "allow": tuple(allow),
            "methods": frozenset(method.upper() for method in methods),
            "allow_private": allow_private,
            "max_bytes": max_bytes,
            "timeout": timeout,
            "headers": {host.lower(): dict(pairs) for host, pairs in (headers or {}).items()},
            "_prefixes": tuple(_parts(prefix) for prefix in allow),
        }
        for name, value in values.items():
            object.__setattr__(self, name, value)

    if TYPE_CHECKING:
        allow: tuple[str, ...]
        methods: frozenset[str]
        allow_private: bool
        max_bytes: int
        timeout: float
        headers: dict[str, dict[str, str]]
        _prefixes: tuple[tuple[str, str, int, str], ...]

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError("a NetworkPolicy is immutable")

    def refusal(self, url: str, method: str = "GET") -> str | None:
        """Return why a request is refused, or None if it is allowed."""
        try:
            scheme, host, port, path = _parts(url)
        except ValueError as error:
            return str(error)
        if method.upper() not in self.methods:
            return f"the method {method.upper()} is not allowed"
        for prefix_scheme, prefix_host, prefix_port, prefix_path in self._prefixes:
            same = (scheme, host, port) == (prefix_scheme, prefix_host, prefix_port)
            if same and (path == prefix_path or path.startswith(prefix_path.rstrip("/") + "/")):
                return None
        return f"{scheme}://{host} is not on the list of allowed addresses"

    def refuses_address(self, address: str) -> str | None:
        """Return why a resolved address must not be connected to, or None if it may be."""
        import ipaddress

        try:
            ip = ipaddress.ip_address(address.partition("%")[0])
        except ValueError:
            return f"{address!r} is not an IP address"
        if self.allow_private or _is_public(ip):
            return None
        return f"{address} is a private or reserved address"

    def __repr__(self) -> str:
        return (
            f"NetworkPolicy(allow={list(self.allow)}, methods={sorted(self.methods)}, "
            f"allow_private={self.allow_private})"
        )


def _check(
    allow: object,
    methods: object,
    allow_private: object,
    max_bytes: object,
    timeout: object,
    headers: object,
) -> None:
    """Refuse wrong arguments of a `NetworkPolicy`."""
    for name, value in (("allow", allow), ("methods", methods)):
        if isinstance(value, str) or not hasattr(value, "__iter__"):
            raise TypeError(f"{name} must be a sequence of str, not {value!r}: {name}=[…]")
        for item in value:
            if not isinstance(item, str):
                raise TypeError(f"{name} must hold str, not {item!r}")
    if not isinstance(allow_private, bool):
        raise TypeError(f"allow_private must be True or False, not {allow_private!r}")
    if isinstance(max_bytes, bool) or not isinstance(max_bytes, int):
        raise TypeError(f"max_bytes must be an int, not {max_bytes!r}")
    if isinstance(timeout, bool) or not isinstance(timeout, (int, float)):
        raise TypeError(f"timeout must be a number of seconds, not {timeout!r}")
    if max_bytes <= 0 or not 0 < timeout < float("inf"):
        raise ValueError("max_bytes and timeout must be positive and finite")
    for host, pairs in _items(headers, "headers must map hosts to headers"):
        for field, value in _items(pairs, f"headers[{host!r}] must map names to values"):
            if (
                not isinstance(host, str)
                or not isinstance(field, str)
                or not isinstance(value, str)
            ):
                raise TypeError(f"headers must hold str, not {host!r}: {field!r}: {value!r}")


def _items(value: object, message: str) -> list[tuple[object, object]]:
    if value is None:
        return []
    if not hasattr(value, "items"):
        raise TypeError(f"{message}, not {type(value).__name__}")
    return list(value.items())


def _is_public(ip: IPv4Address | IPv6Address) -> bool:
    """Whether an address is public; one that leads to an IPv4 address counts as that."""
    import ipaddress

    if isinstance(ip, ipaddress.IPv6Address):
        inner = ip.ipv4_mapped or ip.sixtofour
        if ip in ipaddress.IPv6Network(NAT64):
            inner = ipaddress.IPv4Address(int(ip) & 0xFFFFFFFF)
        if inner is not None:
            return _is_public(inner)
        if ip not in ipaddress.IPv6Network(UNICAST):
            return False
    return ip.is_global and not ip.is_multicast


def _parts(url: str) -> tuple[str, str, int, str]:
    """Return (scheme, host, port, path) of an http(s) URL; ValueError for an ambiguous one."""
    from urllib.parse import urlsplit

    if any(character <= " " or character in '\\"<>^`{|}\x7f' for character in url):
        raise ValueError(f"not a URL: {url!r}")
    split = urlsplit(url)
    host = (split.hostname or "").rstrip(".").lower()
    if split.scheme not in DEFAULT_PORTS or not host:
        raise ValueError(f"not an http or https URL: {url!r}")
    if split.username is not None or split.password is not None:
        raise ValueError("a URL must not hold a user name")
    if not host.isascii():
        raise ValueError(f"the host name must be ASCII: {host!r}")
    path = split.path or "/"
    lowered = path.lower().replace("%2e", ".").replace("%2f", "/").replace("%5c", "/")
    if ".." in lowered.split("/"):
        raise ValueError('a URL\'s path must not hold ".."')
    return split.scheme, host, split.port or DEFAULT_PORTS[split.scheme], path
