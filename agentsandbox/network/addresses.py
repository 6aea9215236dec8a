"""URLs and IP addresses, read once: what the policy checks is what the client connects to.

A URL that two programs could read in two ways is refused, not repaired: control characters, spaces,
backslashes, user names, names that are not ASCII, ".." in any spelling. A host that is a number in
one of the old forms (127.1, 0x7f000001, 2130706433) becomes the dotted address that it means, and a
trailing dot goes. The parts of the resulting `Target` are used for the check, the connection, the
request line and the header Host.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ipaddress import IPv4Address, IPv6Address

__all__ = [
    "DEFAULT_PORTS",
    "Target",
    "is_loopback",
    "is_metadata",
    "is_public",
    "parse_address",
    "parse_target",
]

DEFAULT_PORTS = {"http": 80, "https": 443}
LONGEST_URL = 65536
"""Characters of a URL."""
_LONGEST_HOST = 253

_NAT64 = "64:ff9b::/96"
_UNICAST = "2000::/3"
_METADATA = ("169.254.0.0/16", "168.63.129.16/32", "100.100.100.200/32", "fd00:ec2::254/128")
"""Where clouds answer with the credentials of the machine (AWS, Google, Azure, Alibaba)."""


class Target:
    """The parts of an http or https URL; `host` without brackets, `path` from the first "/"."""

    __slots__ = ("host", "path", "port", "query", "scheme")

    def __init__(self, scheme: str, host: str, port: int, path: str, query: str | None) -> None:
        self.scheme = scheme
        self.host = host
        self.port = port
        self.path = path
        self.query = query

    @property
    def request_target(self) -> str:
        """Return the path and the query, as the request line has them."""
        return self.path if self.query is None else f"{self.path}?{self.query}"

    @property
    def netloc(self) -> str:
        """Return the host, in brackets for IPv6, and the port unless it is the scheme's own."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == DEFAULT_PORTS[self.scheme] else f"{host}:{self.port}"

    @property
    def url(self) -> str:
        """Return the URL in its only spelling."""
        return f"{self.scheme}://{self.netloc}{self.request_target}"


# TM-NET-2
def parse_target(url: str) -> Target:
    """Return the parts of an http(s) URL; ValueError says what is wrong with an ambiguous one."""
    from urllib.parse import urlsplit

    shown = url if len(url) <= 200 else f"{url[:200]}..."
    if len(url) > LONGEST_URL:
        raise ValueError(f"the URL is too long: {shown!r}")
    if any(character <= " " or character in "\\\x7f" for character in url):
        raise ValueError(f"not a URL: {shown!r}")
    try:
        split = urlsplit(url)
        host, port = split.hostname or "", split.port
    except ValueError:
        raise ValueError(f"not a URL: {shown!r}") from None
    if split.scheme not in DEFAULT_PORTS or not host:
        raise ValueError(f"not an http or https URL: {shown!r}")
    if "@" in split.netloc:
        raise ValueError("a URL must not hold a user name")
    if port == 0:
        raise ValueError(f"not a port: {shown!r}")
    path = split.path or "/"
    if _climbs(path):
        raise ValueError('a URL\'s path must not hold ".."')
    before, mark, _ = url.partition("#")[0].partition("?")
    del before
    return Target(
        split.scheme, _host(host), port or DEFAULT_PORTS[split.scheme], path,
        split.query if mark else None,
    )  # fmt: skip


def _climbs(path: str) -> bool:
    """Whether a path holds "..", in any encoding that a server might decode."""
    if "." not in path and "%2" not in path:
        return False
    lowered = path.lower().replace("%25", "%")
    for code, character in (("%2e", "."), ("%2f", "/"), ("%5c", "/"), ("%3b", ";")):
        lowered = lowered.replace(code, character)
    return any(part.partition(";")[0] == ".." for part in lowered.split("/"))


_HOST_CHARACTERS = frozenset("abcdefghijklmnopqrstuvwxyz0123456789.-_:*%")


def _host(host: str) -> str:
    """Return a host in lower case, an old form of an IPv4 address as the address."""
    host = host.lower()
    if not host.isascii():
        raise ValueError(f"the host name must be ASCII: {host!r}")
    host = host.removesuffix(".")
    if not host or len(host) > _LONGEST_HOST or not _HOST_CHARACTERS.issuperset(host):
        raise ValueError(f"not a host name: {host[:_LONGEST_HOST]!r}")
    if ":" in host:
        import ipaddress

        try:
            return ipaddress.IPv6Address(host.partition("%")[0]).compressed
        except ValueError:
            raise ValueError(f"not a host name: {host!r}") from None
    if "%" in host or ".." in host or host.startswith("."):
        raise ValueError(f"not a host name: {host!r}")
    last = host.rpartition(".")[2]
    if last.isdecimal() or last.startswith("0x"):
        return _old_address(host)
    return host


def _old_address(host: str) -> str:
    """Return the dotted form of an IPv4 address that `inet_aton` would accept."""
    import ipaddress

    parts = host.split(".")
    numbers = []
    try:
        for part in parts:
            if part.startswith("0x"):
                numbers.append(int(part[2:] or "0", 16))
            else:
                numbers.append(int(part, 8 if len(part) > 1 and part[0] == "0" else 10))
        if len(numbers) > 4 or any(number > 255 for number in numbers[:-1]):
            raise ValueError
        value = numbers[-1]
        if value >= 256 ** (5 - len(numbers)):
            raise ValueError
        for place, number in enumerate(numbers[:-1]):
            value += number << (24 - 8 * place)
        return str(ipaddress.IPv4Address(value))
    except ValueError:
        raise ValueError(f"not a host name: {host!r}") from None


def is_loopback(host: str) -> bool:
    """Whether a host of a `Target` is the machine itself: the sandbox, never the host program's."""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    if host.startswith("127.") or host in ("::1", "0.0.0.0", "::"):
        return True
    if host.startswith("::ffff:"):
        ip = parse_address(host)
        return ip is not None and ip.version == 6 and is_loopback(str(ip.ipv4_mapped))
    return False


def parse_address(text: str) -> IPv4Address | IPv6Address | None:
    """Return an IP address, without its zone; None for text that is not one."""
    import ipaddress

    try:
        return ipaddress.ip_address(text.partition("%")[0])
    except ValueError:
        return None


# TM-NET-3
def is_public(ip: IPv4Address | IPv6Address) -> bool:
    """Whether an address is public; one that leads to an IPv4 address counts as that."""
    import ipaddress

    if isinstance(ip, ipaddress.IPv6Address):
        inner = ip.ipv4_mapped or ip.sixtofour
        if ip in ipaddress.IPv6Network(_NAT64):
            inner = ipaddress.IPv4Address(int(ip) & 0xFFFFFFFF)
        if inner is not None:
            return is_public(inner)
        if ip not in ipaddress.IPv6Network(_UNICAST):
            return False
    return ip.is_global and not ip.is_multicast and not is_metadata(ip)


def is_metadata(ip: IPv4Address | IPv6Address) -> bool:
    """Whether an address is one at which a cloud gives its machines credentials."""
    import ipaddress

    if isinstance(ip, ipaddress.IPv6Address) and ip.ipv4_mapped is not None:
        ip = ip.ipv4_mapped
    return any(
        ip.version == network.version and ip in network
        for network in map(ipaddress.ip_network, _METADATA)
    )
