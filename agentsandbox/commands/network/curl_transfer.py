"""One transfer of curl: a URL, its redirections and its challenges, and where the body goes.

Each request is one `send` of the sandbox's client, which asks the policy. What the script gave for
a host (credentials, Cookie and Authorization headers) is not sent to another one.
"""

from __future__ import annotations

import errno
import os
import posixpath
import re
from base64 import b64encode
from time import monotonic

from agentsandbox.commands.network.curl_forms import data_of, form_of, read_file
from agentsandbox.commands.network.curl_options import CurlError
from agentsandbox.commands.network.digest import digest_answer
from agentsandbox.kernel.streams import decode, encode
from agentsandbox.network.addresses import parse_target
from agentsandbox.network.client import same_origin
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

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from agentsandbox.commands.network.cookies import Jar
    from agentsandbox.commands.network.curl_meter import Meter
    from agentsandbox.commands.network.curl_options import Settings
    from agentsandbox.contract.command import CommandContext
    from agentsandbox.kernel.fs.base import Mode
    from agentsandbox.kernel.streams import ByteWriter
    from agentsandbox.network.addresses import Target
    from agentsandbox.network.client import Reply
    from agentsandbox.network.http1 import Head

    Pairs = list[tuple[str, str]]

__all__ = ["Output", "Transfer", "clean_url"]

_AGENT = "curl/7.88.1"
_REDIRECTIONS = frozenset((301, 302, 303, 307, 308))
_MOST_REDIRECTIONS = 50
_EXPECT_FROM = 1024 * 1024
_BOUNDARY_DASHES = "-" * 24
_CERTIFICATE_HELP = (
    "More details here: https://curl.se/docs/sslcerts.html\n\n"
    "curl failed to verify the legitimacy of the server and therefore could not\n"
    "establish a secure connection to it. To learn more about this situation and\n"
    "how to fix it, please visit the web page mentioned above."
)
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]{0,40})://")


class Output:
    """Where a body goes: a file, made when the first byte comes, or standard output."""

    def __init__(
        self, ctx: CommandContext, settings: Settings, name: str | None, *, append: bool = False
    ) -> None:
        self._ctx = ctx
        self._settings = settings
        self.name = name
        self._append = append
        self._stream: ByteWriter | None = None if name is not None else ctx.stdout
        self.may_replace = True
        """Whether a file of that name is written over: not for a name that the server gave."""

    def write(self, data: bytes) -> None:
        """Write bytes of the body."""
        if self._stream is None:
            self._open()
        assert self._stream is not None
        try:
            self._stream.write(data)
        except OSError as error:
            if self.name is None or error.errno == errno.EPIPE:
                raise
            raise CurlError("(23) Failed writing body", 23) from None

    def _open(self) -> None:
        name, ctx = self.name, self._ctx
        assert name is not None
        try:
            path = ctx.path(name)
            if not self.may_replace and ctx.fs.exists(path):
                raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), name)
            if self._settings.on("create-dirs") and posixpath.dirname(name):
                ctx.fs.makedirs(posixpath.dirname(path))
            mode: Mode = "a" if self._append else "w"
            made = ctx.keep(ctx.fs.open(path, mode, permissions=0o666 & ~ctx.umask))
        except OSError as error:
            reason = os.strerror(error.errno or errno.EIO)
            if not self._settings.on("silent"):
                ctx.stderr.write(encode(f"Warning: Failed to open the file {name}: {reason}\n"))
            what = "Failure writing output to destination"
            if not self.may_replace:
                what = "Failed writing header"
            raise CurlError(f"(23) {what}", 23) from None
        self._stream = made

    def finish(self) -> None:
        """Make the file of an empty body."""
        if self._stream is None:
            self._open()

    def again(self) -> None:
        """Forget what was written to a file, before another attempt."""
        if self.name is not None:
            self._stream = None


class Transfer:
    """The requests for one URL; the attributes are what `-w` shows."""

    def __init__(self, ctx: CommandContext, settings: Settings, jar: Jar | None) -> None:
        self.ctx = ctx
        self.settings = settings
        self.jar = jar
        self.began = monotonic()
        self.url = ""
        self.method = "GET"
        self.reply: Reply | None = None
        self.redirections = 0
        self.redirect_url: str | None = None
        self.time_redirect = 0.0
        self.size_header = self.size_request = self.received = self.sent = 0
        self.connections = 0
        self.error = ""
        self.status = 0
        """curl's exit status."""
        self.remote_name: str | None = None
        """The name that a header Content-Disposition gave."""
        self.shown_url = ""
        """The URL that was asked last, for `-w`."""
        self.refusal: str | None = None
        """Why the policy refused the request."""
        self._last_origin = ""
        self._offset = 0
        self._asked = self.began
        self._heads: list[bytes] = []
        """Heads that `-i` shows, before they are written."""
        self._has_dumped = False

    # what is sent

    def prepare(self, url: str, upload: str | None) -> tuple[str, bytes, Pairs]:
        """Return the URL, the body and the headers that belong to it."""
        settings, ctx = self.settings, self.ctx
        body, headers = b"", []
        silent = settings.on("silent")
        if settings.forms:
            boundary = _BOUNDARY_DASHES + f"{ctx.host.random.getrandbits(64):016x}"
            body = form_of(ctx, settings.forms, boundary, silent=silent)
            headers = [("Content-Type", f"multipart/form-data; boundary={boundary}")]
            self.method = "POST"
        elif settings.data:
            body = data_of(ctx, settings.data, silent=silent)
            if settings.on("get") or settings.on("head"):
                url, body = _with_query(url, decode(body)), b""
            else:
                self.method = "POST"
                kind = "application/x-www-form-urlencoded"
                if settings.data[-1][0] == "json":
                    kind = "application/json"
                headers = [("Content-Type", kind)]
        elif upload is not None:
            self.method = "PUT"
            url, body, headers = self._upload(url, upload)
        if settings.on("head"):
            self.method = "HEAD"
        self.method = settings.last.get("request", self.method)
        return url, body, headers

    def _upload(self, url: str, name: str) -> tuple[str, bytes, Pairs]:
        ctx = self.ctx
        if name in ("-", "."):
            return url, read_file(ctx, "-"), [("Transfer-Encoding", "chunked")]
        try:
            body = read_file(ctx, name)
        except OSError:
            raise CurlError(
                f"Can't open '{name}'!\ncurl: try 'curl --help' or 'curl --manual' for more "
                "information\ncurl: (26) Failed to open/read local data from file/application",
                26,
            ) from None
        if url.endswith("/"):
            url += _quoted(posixpath.basename(name))
        return url, body, []

    def _headers(
        self, target: Target, body: bytes, own: Pairs, *, is_first_host: bool, user: str | None,
        digest: str | None,
    ) -> Pairs:  # fmt: skip
        """Return all headers in curl's order."""
        settings = self.settings
        given, removed = _given_headers(settings.headers, settings.data)
        if not is_first_host:
            given = [(k, v) for k, v in given if k.lower() not in ("authorization", "cookie")]
        names = {name.lower() for name, _ in given} | removed
        host = next((value for name, value in given if name.lower() == "host"), target.netloc)
        pairs: Pairs = [("Host", host)]
        if digest is not None:
            pairs.append(("Authorization", digest))
        elif user is not None and "authorization" not in names:
            pairs.append(("Authorization", f"Basic {decode(b64encode(encode(user)))}"))
        elif is_first_host and (token := settings.last.get("oauth2-bearer")) is not None:
            pairs.append(("Authorization", f"Bearer {token}"))
        if (wanted := self._range()) is not None and "range" not in names:
            pairs.append(("Range", wanted))
        agent = settings.last.get("user-agent", _AGENT)
        defaults: Pairs = [("User-Agent", agent)] if agent else []
        defaults.append(("Accept", "*/*"))
        if settings.on("compressed"):
            defaults.append(("Accept-Encoding", "deflate, gzip"))
        if settings.last.get("referer"):
            defaults.append(("Referer", settings.last["referer"].removesuffix(";auto")))
        if cookie := self._cookie(target):
            defaults.append(("Cookie", cookie))
        pairs += [(name, value) for name, value in defaults if name.lower() not in names]
        pairs += [(name, value) for name, value in given if name.lower() != "host"]
        is_chunked = any(name == "Transfer-Encoding" for name, _ in own) or (
            "transfer-encoding" in names
        )
        has_body = body or (own and not is_chunked)
        if has_body and not is_chunked and "content-length" not in names:
            pairs.append(("Content-Length", str(len(body))))
        pairs += [(name, value) for name, value in own if name.lower() not in names]
        is_put = settings.on("head") is False and not own and body
        if (is_put or is_chunked or len(body) > _EXPECT_FROM) and body and "expect" not in names:
            pairs.append(("Expect", "100-continue"))
        return pairs

    def _range(self) -> str | None:
        if self._offset:
            return f"bytes={self._offset}-"
        wanted = self.settings.last.get("range")
        return None if wanted is None else f"bytes={wanted}"

    def _cookie(self, target: Target) -> str:
        parts = []
        if self.jar is not None and (found := self.jar.header(target)):
            parts.append(found)
        parts += [text for text in self.settings.cookies if "=" in text]
        return "; ".join(parts)

    # the requests

    def run(self, url: str, upload: str | None, output: Output, meter: Meter) -> None:
        """Do the transfer; `status` and `error` say how it ended."""
        try:
            self._run(url, upload, output, meter)
        except NetworkError as error:
            self.status, self.error = self._worded(error)
            if isinstance(error, RefusedError):
                self.refusal = str(error)
            if isinstance(error, (ResolveError, UnknownHostError)):
                return
            self._meter_end(meter)
        except CurlError as error:
            self.status, self.error = error.status, error.message
            if self.reply is not None and error.status != 22:
                self._meter_end(meter)
        finally:
            if self.reply is not None:
                self.reply.close()

    def _run(self, url: str, upload: str | None, output: Output, meter: Meter) -> None:
        settings = self.settings
        url, body, own = self.prepare(url, upload)
        self._offset = self._resume(output)
        url, user = clean_url(url, settings)
        self.url = url
        meter.begin()
        if settings.last.get("user") is not None:
            user = settings.last["user"]
            if ":" not in user:
                self.ctx.stderr.write(encode(f"Enter host password for user '{user}':"))
                self.ctx.stderr.write(b"\n")
                user += ":"
        first, digest = url, None
        most = int(settings.number("max-redirs", _MOST_REDIRECTIONS) or 0)
        while True:
            self.ctx.budget.step(100)
            self.url = self.shown_url = url
            here = settings.on("location-trusted") or same_origin(first, url)
            target = _target(url)
            sends = b"" if settings.on("digest") and digest is None and user else body
            preemptive = user if here and not settings.on("digest") else None
            headers = self._headers(
                target, sends, own, is_first_host=here, user=preemptive, digest=digest
            )
            reply = self._send(target, url, headers, sends)
            if self._challenged(reply) and digest is None and user is not None and here:
                digest = self._digest(reply, user, target)
                if digest is not None:
                    self._skip(reply, url)
                    continue
            digest = None
            location = reply.header("location")
            if reply.status not in _REDIRECTIONS or location is None:
                break
            following = _joined(url, location)
            if not settings.on("location"):
                self.redirect_url = following
                break
            if 0 <= most <= self.redirections:
                self.redirect_url = following
                raise CurlError(f"(47) Maximum ({most}) redirects followed", 47)
            self.redirections += 1
            self._skip(reply, following)
            url, following_user = clean_url(following, settings, is_redirection=True)
            user = following_user or user
            body, own = self._after_redirection(reply.status, body, own)
            self.time_redirect = monotonic() - self.began
        self._receive(reply, output, meter)

    def _send(self, target: Target, url: str, headers: Pairs, body: bytes) -> Reply:
        """Send a request and write what `-v`, `-i` and `-D` show of it."""
        settings, ctx = self.settings, self.ctx
        head = f"{self.method} {target.request_target} HTTP/1.1\r\n" + "".join(
            f"{name}: {value}\r\n" for name, value in headers
        )
        origin = f"{target.scheme}://{target.netloc}"
        if origin != self._last_origin:
            self.connections += 1
            self._last_origin = origin
        self.size_request += len(encode(head)) + 2 + len(body)
        self.sent = len(body)
        left = settings.number("max-time") or None
        if left is not None:
            left -= monotonic() - self.began
        if left is not None and left <= 0:
            raise NetworkTimeoutError("the time is over", connecting=True)
        connect = settings.number("connect-timeout") or 300.0
        self.reply = None
        self._asked = monotonic()
        try:
            reply = ctx.host.network.send(
                self.method, url, headers=headers, body=body, timeout=left,
                connect_timeout=connect, verify=not settings.on("insecure"),
            )  # fmt: skip
        except NetworkError as error:
            self._tell_failure(target, error)
            raise
        self.reply = reply
        if settings.on("verbose"):
            self._tell(target, reply, head, body)
        self._take_headers(target, reply)
        return reply

    def _tell_failure(self, target: Target, error: NetworkError) -> None:
        if self.settings.on("verbose"):
            self._say(f"*   Trying {target.host}:{target.port}...")
            if isinstance(error, ConnectError):
                self._say(f"* connect to {target.host} port {target.port} failed: {error}")
            self._say(f"* {self._worded(error)[1].partition(') ')[2]}")
            self._say("* Closing connection 0")

    def _say(self, line: str) -> None:
        self.ctx.stderr.write(encode(f"{line}\n"))

    def _tell(self, target: Target, reply: Reply, head: str, body: bytes) -> None:
        """Write the lines of `-v` about the connection and both heads."""
        address, port = reply.remote
        number = max(0, self.redirections)
        self._say(f"*   Trying {address}:{port}...")
        self._say(f"* Connected to {target.host} ({address}) port {port} (#{number})")
        for line in head.split("\r\n")[:-1]:
            self._say(f"> {line}\r")
        self._say("> \r")
        if body:
            self._say(f"}} [{len(body)} bytes data]")
        for line in _heads(reply).split("\r\n")[:-1]:
            self._say(f"< {line}\r")

    def _take_headers(self, target: Target, reply: Reply) -> None:
        head = encode(_heads(reply))
        self.size_header += len(head)
        if self.jar is not None:
            for name, value in reply.headers:
                if name.lower() == "set-cookie":
                    self.jar.note(target, value)
        dump = self.settings.last.get("dump-header")
        if dump is not None:
            self._dump(dump, head)
        if self.settings.on("include") or self.settings.on("head"):
            self._heads.append(head)

    def _dump(self, name: str, head: bytes) -> None:
        if name == "-":
            self.ctx.stdout.write(head)
            return
        path = self.ctx.path(name)
        mode: Mode = "a" if self._has_dumped else "w"
        self._has_dumped = True
        try:
            with self.ctx.fs.open(path, mode, permissions=0o666 & ~self.ctx.umask) as file:
                file.write(head)
        except OSError:
            raise CurlError("(23) Failed writing header", 23) from None

    def _skip(self, reply: Reply, url: str) -> None:
        """Read a body that nobody wants, and tell so."""
        size = 0
        if self.method != "HEAD":
            for block in iter(reply.read, b""):
                self.ctx.budget.step()
                size += len(block)
        if self.settings.on("verbose"):
            if size:
                self._say("* Ignoring the response-body")
                self._say(f"{{ [{size} bytes data]")
            self._say("* Closing connection")
            self._say(f"* Issue another request to this URL: '{url}'")
        reply.close()

    def _challenged(self, reply: Reply) -> bool:
        return reply.status == 401 and (self.settings.on("digest") or self.settings.on("anyauth"))

    def _digest(self, reply: Reply, user: str, target: Target) -> str | None:
        name, _, password = user.partition(":")
        nonce = f"{self.ctx.host.random.getrandbits(128):032x}"
        for field, value in reply.headers:
            if field.lower() == "www-authenticate":
                made = digest_answer(
                    value, name, password, self.method, target.request_target, nonce
                )
                if made is not None:
                    return made
        return None

    def _after_redirection(self, status: int, body: bytes, own: Pairs) -> tuple[bytes, Pairs]:
        """Return the body and its headers for the next request; set its method."""
        settings = self.settings
        if status in (307, 308) or settings.on(f"post{status}"):
            return body, own
        if self.method == "HEAD" or (status != 303 and self.method == "PUT"):
            return body, own
        if "request" not in settings.last:
            self.method = "GET"
        return b"", []

    # what comes

    def _resume(self, output: Output) -> int:
        given = self.settings.last.get("continue-at")
        if given is None:
            return 0
        if given != "-":
            if not given.isdecimal() or len(given) > 15:
                raise CurlError("(2) option -C: expected a proper numerical parameter", 2)
            return int(given)
        if output.name is None:
            return 0
        path = self.ctx.path(output.name)
        return self.ctx.fs.stat(path).size if self.ctx.fs.exists(path) else 0

    def _receive(self, reply: Reply, output: Output, meter: Meter) -> None:
        settings = self.settings
        failed = reply.status >= 400 and (settings.on("fail") or settings.on("fail-with-body"))
        is_done = bool(self._offset) and reply.status == 416
        if self._offset and reply.status == 200:
            raise CurlError(
                "(33) HTTP server doesn't seem to support byte ranges. Cannot resume.", 33
            )
        if settings.on("remote-header-name"):
            self._name_from(reply, output)
        for head in self._heads:
            output.write(head)
        self._heads.clear()
        if settings.on("head") or is_done or (failed and settings.on("fail")):
            expected = reply.expected
            if expected is None and reply.header("content-length") is not None:
                expected = int(reply.header("content-length") or 0)
            reply.close()
            meter.end(expected, 0, 0, 0)
        else:
            self._check_size(reply)
            self._copy(reply, output)
            self._meter_end(meter)
        if settings.on("verbose"):
            self._say(f"* Connection #0 to host {_target(self.url).host} left intact")
        if failed:
            raise CurlError(f"(22) The requested URL returned error: {reply.status}", 22)
        if output.name is not None:
            output.finish()
            if settings.on("remote-time"):
                self._set_time(reply, output.name)

    def _check_size(self, reply: Reply) -> None:
        most = self.settings.number("max-filesize")
        if most and reply.expected is not None and reply.expected > most:
            raise TooLargeError("the response is too large")

    def _copy(self, reply: Reply, output: Output) -> None:
        pieces: Iterator[bytes] = iter(reply.read, b"")
        if self.settings.on("compressed"):
            pieces = reply.read_decoded()
        verbose = self.settings.on("verbose")
        most = self.settings.number("max-filesize")
        for piece in pieces:
            self.ctx.budget.step(1 + (len(piece) >> 10))
            if verbose:
                self._say(f"{{ [{len(piece)} bytes data]")
            self.received += len(piece)
            if most and self.received > most:
                raise TooLargeError("the response is too large")
            output.write(piece)

    def _meter_end(self, meter: Meter) -> None:
        reply = self.reply
        expected = None if reply is None else reply.expected
        meter.end(expected, self.received, self.sent, self.sent)

    def _name_from(self, reply: Reply, output: Output) -> None:
        """Take the file's name of a header Content-Disposition."""
        given = reply.header("content-disposition") or ""
        match = re.search(r'filename="?([^";]+)', given, re.IGNORECASE)
        if match is None or output.name is None:
            return
        name = match[1].replace("\\", "/").rpartition("/")[2].strip()
        if name and name not in (".", ".."):
            output.name = posixpath.join(posixpath.dirname(output.name), name)
            output.may_replace = False

    def _set_time(self, reply: Reply, name: str) -> None:
        from email.utils import parsedate_to_datetime

        try:
            when = parsedate_to_datetime(reply.header("last-modified") or "").timestamp()
        except (ValueError, TypeError, OverflowError):
            return
        self.ctx.fs.utime(self.ctx.path(name), when)

    # errors

    def _worded(self, error: NetworkError) -> tuple[int, str]:
        """Return curl's status and text for an error of the client."""
        target = parse_target(self.url)
        host, port = target.host, target.port
        since = self._asked if isinstance(error, ConnectError) else self.began
        spent = int((monotonic() - since) * 1000)
        if isinstance(error, ConnectError) and self.ctx.host.network.is_own(host):
            spent = 0
        if isinstance(error, (ResolveError, UnknownHostError)):
            return 6, f"(6) Could not resolve host: {host}"
        if isinstance(error, (ConnectError, RefusedError)):
            return 7, (
                f"(7) Failed to connect to {host} port {port} after {spent} ms: "
                "Couldn't connect to server"
            )
        if isinstance(error, NetworkTimeoutError):
            if error.connecting:
                return 28, (
                    f"(28) Failed to connect to {host} port {port} after {spent} ms: "
                    "Timeout was reached"
                )
            expected = None if self.reply is None else self.reply.expected
            of = "" if expected is None else f"out of {expected} "
            return 28, (
                f"(28) Operation timed out after {spent} milliseconds with {self.received} {of}"
                "bytes received"
            )
        if isinstance(error, TLSError):
            if error.is_certificate:
                return 60, f"(60) SSL certificate problem: {error}\n{_CERTIFICATE_HELP}"
            return 35, f"(35) OpenSSL: error: {error}"
        if isinstance(error, EmptyReplyError):
            return 52, "(52) Empty reply from server"
        return self._worded_reply(error)

    def _worded_reply(self, error: NetworkError) -> tuple[int, str]:
        if isinstance(error, TruncatedReplyError):
            if error.missing is not None:
                return 18, f"(18) transfer closed with {error.missing} bytes remaining to read"
            return 18, "(18) transfer closed with outstanding read data remaining"
        if isinstance(error, GarbledReplyError):
            if self.reply is not None:
                if self.reply.header("transfer-encoding") is not None:
                    return 56, "(56) Illegal or missing hexadecimal sequence in chunked-encoding"
                return 61, f"(61) {_encoding_error(str(error))}"
            if error.is_old:
                return 1, "(1) Received HTTP/0.9 when not allowed"
            return 8, f"(8) {error}"
        if isinstance(error, TooLargeError):
            return 63, "(63) Maximum file size exceeded"
        if isinstance(error, ConnectionLostError):
            number, what = (55, "Send") if error.while_sending else (56, "Recv")
            return number, f"({number}) {what} failure: {error}"
        return 2, f"(2) {error}"


def _encoding_error(text: str) -> str:
    if text.startswith("unknown"):
        known = "libcurl understands deflate, gzip content encodings."
        return f"Unrecognized content encoding type. {known}"
    return f"Error while processing content unencoding: {text.rpartition(': ')[2]}"


def _status_line(head: Head | Reply) -> str:
    return f"HTTP/{head.version} {head.status} {head.reason}".rstrip(" ")


def _heads(reply: Reply) -> str:
    """Return the heads of a response and of those with a status below 200, as they were sent."""
    heads: list[Head | Reply] = [*reply.information, reply]
    lines: list[str] = []
    for head in heads:
        lines.append(_status_line(head))
        lines += [f"{name}: {value}" for name, value in head.headers]
        lines.append("")
    return "\r\n".join([*lines, ""])


def _target(url: str) -> Target:
    try:
        return parse_target(url)
    except ValueError as error:
        raise CurlError(f"(3) URL using bad/illegal format or missing URL: {error}", 3) from None


def _given_headers(lines: Sequence[str], data: Sequence[tuple[str, str]]) -> tuple[Pairs, set[str]]:
    """Return the headers of `-H` and the names of those that are to be left out."""
    given: Pairs = []
    removed: set[str] = set()
    for line in lines:
        name, mark, value = line.partition(":")
        if mark and value.strip():
            given.append((name.strip(), value.strip(" \t")))
        elif mark:
            removed.add(name.strip().lower())
        elif line.endswith(";"):
            given.append((line[:-1].strip(), ""))
    names = {name.lower() for name, _ in given}
    if data and data[-1][0] == "json":
        for name in ("Content-Type", "Accept"):
            if name.lower() not in names:
                given.append((name, "application/json"))
    return given, removed


def clean_url(
    url: str, settings: Settings, *, is_redirection: bool = False
) -> tuple[str, str | None]:
    """Return a URL as it is asked for, and the user and password in it.

    The scheme is added, the fragment goes, "." and ".." of the path are resolved unless
    `--path-as-is` is given. `CurlError` for a protocol that is not http or https.
    """
    match = _SCHEME.match(url)
    if match is None:
        scheme, rest = settings.last.get("proto-default", "http"), url
    else:
        scheme, rest = match[1].lower(), url[match.end() :].lstrip("/")
    allowed = _protocols(settings, is_redirection)
    if scheme not in allowed:
        if is_redirection and scheme not in ("http", "https"):
            what = "The redirect target URL could not be parsed: Unsupported URL scheme"
            raise CurlError(f"(1) {what}", 1)
        raise CurlError(f'(1) Protocol "{scheme}" not supported or disabled in libcurl', 1)
    rest = rest.partition("#")[0]
    cut = min((at for at in map(rest.find, "/?") if at >= 0), default=len(rest))
    netloc, tail = rest[:cut], rest[cut:]
    user = None
    if "@" in netloc:
        from urllib.parse import unquote

        user, _, netloc = netloc.rpartition("@")
        user = unquote(user)
        if ":" not in user:
            user += ":"
    if not netloc or any(c <= " " or c in '\\"<>^`{|}\x7f' for c in netloc):
        raise CurlError("(3) URL using bad/illegal format or missing URL", 3)
    if any(character < "!" or character == "\x7f" for character in tail):
        if not is_redirection or any(c < " " or c == "\x7f" for c in tail):
            raise CurlError("(3) URL using bad/illegal format or missing URL", 3)
        tail = tail.replace(" ", "%20")
    path, mark, query = tail.partition("?")
    path = path or "/"
    if not settings.on("path-as-is"):
        path = _without_dots(path)
    return f"{scheme}://{netloc}{_coded(path)}{mark}{_coded(query)}", user


def _coded(text: str) -> str:
    """Return a text in which bytes beyond ASCII and backslashes have percent signs."""
    if text.isascii() and "\\" not in text:
        return text
    return "".join(
        chr(byte) if byte < 128 and byte != 92 else f"%{byte:02x}" for byte in encode(text)
    )


def _protocols(settings: Settings, is_redirection: bool) -> set[str]:
    """Return the allowed schemes, by --proto and --proto-redir."""
    allowed = {"http", "https"}
    for option in ("proto", *(("proto-redir",) if is_redirection else ())):
        for word in settings.last.get(option, "").split(","):
            sign, name = (word[0], word[1:]) if word[:1] in ("=", "+", "-") else ("+", word)
            names = {"http", "https"} if name == "all" else {name.lower()} & {"http", "https"}
            if not word:
                continue
            if sign == "=":
                allowed = set(names)
            elif sign == "+":
                allowed |= names
            else:
                allowed -= names
    return allowed


def _without_dots(path: str) -> str:
    """Return a path without "." and ".." (RFC 3986, 5.2.4)."""
    if "/." not in path:
        return path
    out: list[str] = []
    parts = path.split("/")[1:]
    for place, part in enumerate(parts):
        is_last = place == len(parts) - 1
        if part in (".", "%2e", "%2E"):
            if is_last:
                out.append("")
        elif part.lower().replace("%2e", ".") == "..":
            if out:
                out.pop()
            if is_last:
                out.append("")
        else:
            out.append(part)
    return "/" + "/".join(out)


def _joined(url: str, location: str) -> str:
    """Return the URL to which a header Location leads."""
    from urllib.parse import urljoin

    if _SCHEME.match(location):
        return location
    try:
        return urljoin(url, location)
    except ValueError:
        raise CurlError("(3) URL using bad/illegal format or missing URL", 3) from None


def _with_query(url: str, query: str) -> str:
    """Return a URL with more parameters in its query."""
    if not query:
        return url
    before, mark, fragment = url.partition("#")
    joint = "?" if "?" not in before else "" if before.endswith(("?", "&")) else "&"
    if "/" not in before.partition("://")[2] and "?" not in before:
        before += "/"
    return f"{before}{joint}{query}{mark}{fragment}"


def _quoted(name: str) -> str:
    from urllib.parse import quote

    return quote(name, safe="")
