"""A request and a response as values: what a function that is a host gets and returns."""

from __future__ import annotations

from agentsandbox.kernel.streams import decode, encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any, TypeAlias

    Pairs: TypeAlias = Iterable[tuple[str, str]]
    Headers: TypeAlias = Mapping[str, str] | Pairs

__all__ = ["Request", "Response", "field", "reason_of", "response_of"]


def field(headers: Pairs, name: str) -> str | None:
    """Return the value of the first header of that name, in any case; None without one."""
    name = name.lower()
    return next((value for key, value in headers if key.lower() == name), None)


class Request:
    """A request of a sandbox, as a function that is a host gets it.

    method   in upper case
    url      the whole URL
    host     the host's name; port its number; path begins with "/"; query without "?"
    headers  name → value, names in lower case; several values are joined by ", "
    pairs    all headers as they were sent
    body     bytes
    """

    __slots__ = ("body", "host", "method", "pairs", "path", "port", "query", "url")

    def __init__(
        self, method: str, url: str, headers: Headers = (), body: bytes | str = b""
    ) -> None:
        from agentsandbox.network.addresses import parse_target

        target = parse_target(url)
        self.method = method
        self.url = url
        self.host = target.host
        self.port = target.port
        self.path = target.path
        self.query = target.query or ""
        self.pairs = _pairs(headers)
        self.body = encode(body) if isinstance(body, str) else body

    @property
    def headers(self) -> dict[str, str]:
        """Return the headers by their names in lower case."""
        found: dict[str, str] = {}
        for name, value in self.pairs:
            key = name.lower()
            found[key] = f"{found[key]}, {value}" if key in found else value
        return found

    @property
    def params(self) -> dict[str, list[str]]:
        """Return the parameters of the query, each with its values."""
        from urllib.parse import parse_qs

        return parse_qs(self.query, keep_blank_values=True)

    @property
    def form(self) -> dict[str, list[str]]:
        """Return the parameters of a body that a form sent (`curl -d a=1`)."""
        from urllib.parse import parse_qs

        return parse_qs(decode(self.body), keep_blank_values=True)

    def text(self) -> str:
        """Return the body as text (UTF-8)."""
        return decode(self.body)

    def json(self) -> Any:
        """Return the value of a JSON body; ValueError for another one."""
        import json

        return json.loads(self.body)

    def __repr__(self) -> str:
        return f"Request({self.method!r}, {self.url!r}, {len(self.body)} bytes)"


class Response:
    """What a function that is a host returns.

    body     bytes, text (sent as UTF-8), or a dict or list (sent as JSON)
    status   three digits
    headers  name → value, or pairs; Content-Type and Content-Length are added if they are missing
    reason   the text behind the status; the usual one without it
    """

    __slots__ = ("body", "headers", "reason", "status")

    def __init__(
        self,
        body: bytes | str | dict[str, Any] | list[Any] | None = b"",
        status: int = 200,
        headers: Headers = (),
        reason: str | None = None,
    ) -> None:
        if isinstance(status, bool) or not isinstance(status, int) or not 200 <= status <= 999:
            raise ValueError(f"the status of a response has three digits, not {status!r}")
        pairs = _pairs(headers)
        kind, self.body = _body(body)
        if self.body and kind and field(pairs, "content-type") is None:
            pairs = (*pairs, ("Content-Type", kind))
        self.status = status
        self.headers = pairs
        self.reason = reason_of(status) if reason is None else reason
        for text in (self.reason, *(part for pair in pairs for part in pair)):
            if "\r" in text or "\n" in text or "\0" in text:
                raise ValueError(f"a header of a response must be one line, not {text!r}")

    def __repr__(self) -> str:
        return f"Response({len(self.body)} bytes, {self.status})"


def _pairs(headers: Headers) -> tuple[tuple[str, str], ...]:
    items = headers.items() if hasattr(headers, "items") else headers
    return tuple((str(name), str(value)) for name, value in items)


def _body(body: object) -> tuple[str, bytes]:
    """Return the type and the bytes of a body."""
    if body is None:
        return "", b""
    if isinstance(body, (bytes, bytearray, memoryview)):
        return "application/octet-stream", bytes(body)
    if isinstance(body, str):
        return "text/plain; charset=utf-8", encode(body)
    if isinstance(body, (dict, list)):
        import json

        return "application/json", encode(json.dumps(body))
    raise TypeError(
        "a function that is a host must return a Response, str, bytes, dict or list, "
        f"not {type(body).__name__}"
    )


def response_of(value: object) -> Response:
    """Return what a function that is a host returned as a response; TypeError for another type."""
    if isinstance(value, Response):
        return value
    kind, body = _body(value)
    return Response(body, headers=[("Content-Type", kind)] if kind else ())


def reason_of(status: int) -> str:
    """Return the usual text behind a status; "" for an unknown one."""
    from http import HTTPStatus

    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return ""
