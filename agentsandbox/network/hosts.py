"""Functions and applications of the host program that answer requests instead of a server."""

from __future__ import annotations

import io
import sys

from agentsandbox.kernel.host_functions import HostAnswer, ask_host
from agentsandbox.kernel.streams import decode, encode
from agentsandbox.network.messages import Request, Response, response_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable
    from typing import Any

    Handler = Callable[..., Any]

__all__ = ["answer_of"]

_PARAMETERS = {2: "WSGI", 3: "ASGI"}


def answer_of(
    handler: Handler, request: Request, wait: Callable[[Awaitable[Any]], Any]
) -> Response:
    """Return the response of a function, or of a WSGI or ASGI application.

    `wait` returns what an awaitable returns. Errors of the function end
    the script.
    """
    kind = _PARAMETERS.get(_required(handler))
    if kind == "WSGI":
        return ask_host(_call_wsgi, handler, request)
    if kind == "ASGI":
        sent: list[dict[str, Any]] = []
        wait(HostAnswer(_call_asgi(handler, request, sent)))
        return _asgi_response(sent)
    value = ask_host(handler, request)
    if hasattr(value, "__await__"):
        value = wait(HostAnswer(value))
    return response_of(value)


def _required(handler: Handler) -> int:
    """Return how many arguments a function must get; 1 if that cannot be known."""
    function = handler
    bound = 0
    if hasattr(function, "__func__"):
        function, bound = function.__func__, 1
    elif not hasattr(function, "__code__"):
        function, bound = vars(type(handler)).get("__call__", handler), 1
    code = getattr(function, "__code__", None)
    if code is None:
        return 1
    found: int = code.co_argcount - bound - len(getattr(function, "__defaults__", None) or ())
    return found


def _call_wsgi(application: Handler, request: Request) -> Response:
    """Return the response of a WSGI application (PEP 3333)."""
    environ: dict[str, Any] = {
        "REQUEST_METHOD": request.method,
        "SCRIPT_NAME": "",
        "PATH_INFO": _unquoted(request.path),
        "QUERY_STRING": request.query,
        "SERVER_NAME": request.host,
        "SERVER_PORT": str(request.port),
        "SERVER_PROTOCOL": "HTTP/1.1",
        "REMOTE_ADDR": "127.0.0.1",
        "CONTENT_LENGTH": str(len(request.body)),
        "wsgi.version": (1, 0),
        "wsgi.url_scheme": request.url.partition(":")[0],
        "wsgi.input": io.BytesIO(request.body),
        "wsgi.errors": sys.stderr,
        "wsgi.multithread": False,
        "wsgi.multiprocess": False,
        "wsgi.run_once": False,
    }
    for name, value in request.headers.items():
        key = name.upper().replace("-", "_")
        environ["CONTENT_TYPE" if key == "CONTENT_TYPE" else f"HTTP_{key}"] = value
    started: list[tuple[str, Iterable[tuple[str, str]]]] = []
    parts: list[bytes] = []

    def start_response(status: str, headers: Any, exc_info: Any = None) -> Any:
        if exc_info is not None and started:
            raise exc_info[1]
        started[:] = [(status, headers)]
        return parts.append

    answer = application(environ, start_response)
    try:
        parts.extend(answer)
    finally:
        if hasattr(answer, "close"):
            answer.close()
    status, headers = started[0]
    number, _, reason = status.partition(" ")
    return Response(b"".join(parts), int(number), headers, reason)


def _unquoted(path: str) -> str:
    """Return a path without percent signs, each byte as one character."""
    from urllib.parse import unquote_to_bytes

    return unquote_to_bytes(encode(path)).decode("latin-1")


async def _call_asgi(application: Handler, request: Request, sent: list[dict[str, Any]]) -> None:
    """Let an ASGI application answer into a list of its messages."""
    from urllib.parse import unquote

    scope = {
        "type": "http",
        "asgi": {"version": "3.0", "spec_version": "2.3"},
        "http_version": "1.1",
        "method": request.method,
        "scheme": request.url.partition(":")[0],
        "path": unquote(request.path),
        "raw_path": encode(request.path),
        "query_string": encode(request.query),
        "root_path": "",
        "headers": [(encode(name.lower()), encode(value)) for name, value in request.pairs],
        "server": (request.host, request.port),
        "client": ("127.0.0.1", 0),
    }
    given = [{"type": "http.request", "body": request.body, "more_body": False}]

    async def receive() -> dict[str, Any]:
        return given.pop() if given else {"type": "http.disconnect"}

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)

    await application(scope, receive, send)


def _asgi_response(sent: Iterable[dict[str, Any]]) -> Response:
    status, headers, parts = 500, [], []
    for message in sent:
        if message["type"] == "http.response.start":
            status = message["status"]
            headers = [(decode(name), decode(value)) for name, value in message.get("headers", ())]
        elif message["type"] == "http.response.body":
            parts.append(message.get("body", b""))
    return Response(b"".join(parts), status, headers)
