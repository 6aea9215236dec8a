"""The downloads of one `wget`, with what it prints of them."""

from __future__ import annotations

import posixpath
import re
from base64 import b64encode
from time import gmtime, monotonic, strftime

from agentsandbox.errors import CommandError
from agentsandbox.kernel.streams import decode, encode
from agentsandbox.network.addresses import parse_target
from agentsandbox.network.client import redirected
from agentsandbox.network.errors import (
    ConnectError,
    NetworkError,
    NetworkTimeoutError,
    RefusedError,
    ResolveError,
    TLSError,
    TooLargeError,
    UnknownHostError,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from agentsandbox.contract.command import Arguments, CommandContext
    from agentsandbox.kernel.fs.base import Mode
    from agentsandbox.kernel.streams import ByteWriter
    from agentsandbox.network.client import Reply

    Pairs = Sequence[tuple[str, str]]

__all__ = ["Downloads"]

_AGENT = "Wget/1.21.3"
_REDIRECTIONS = frozenset((301, 302, 303, 307, 308))
_DOT, _DOTS_IN_ROW, _GROUP = 1024, 50, 10
_GENERIC, _IO, _NETWORK, _TLS, _LOGIN, _SERVER = 1, 3, 4, 5, 6, 8
_FORM = ("Content-Type", "application/x-www-form-urlencoded")


class _FailedError(Exception):
    """A download failed with a status of wget."""

    def __init__(self, status: int, message: str = "", *, may_pass: bool = False) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.may_pass = may_pass


class Downloads:
    """All downloads of one command line."""

    def __init__(self, ctx: CommandContext, args: Arguments) -> None:
        self.ctx = ctx
        self.args = args
        self._quiet = args.flag("quiet")
        self._brief = args.flag("no-verbose")
        self._document: ByteWriter | None = None
        self._began = monotonic()
        self._files = self._bytes = 0
        self._seconds = 0.0

    def all(self, urls: list[str]) -> int:
        """Do all downloads; return the status of the worst, as wget orders them."""
        args = self.args
        if (name := args.value("input-file")) is not None:
            urls = [*urls, *self._read_urls(name)]
        if (name := args.value("output-document")) is not None:
            self._document = self.ctx.stdout if name == "-" else self._open(name, "w")
        found = {self._one(url) for url in urls}
        found.discard(0)
        if self._files > 1 and not self._quiet:
            self._finish()
        return min(found, default=0)

    def _read_urls(self, name: str) -> list[str]:
        try:
            data = self.ctx.open_input(name).read()
        except OSError:
            self._say(f"{name}: No such file or directory\n")
            data = b""
        urls = [line.strip() for line in decode(data).splitlines() if line.strip()]
        if not urls:
            self._say(f"No URLs found in {name}.\n")
        return urls

    # what is printed

    def _say(self, text: str) -> None:
        if not self._quiet:
            self.ctx.stderr.write(encode(text))

    def _tell(self, text: str) -> None:
        """Write what `-nv` leaves out."""
        if not self._brief:
            self._say(text)

    def _time(self) -> str:
        return strftime("%Y-%m-%d %H:%M:%S", gmtime(self.ctx.host.clock()))

    def _finish(self) -> None:
        total, spent = _size(self._bytes), monotonic() - self._began
        self._say(
            f"FINISHED --{self._time()}--\nTotal wall clock time: {_seconds(spent)}\n"
            f"Downloaded: {self._files} files, {total} in {_seconds(self._seconds)} "
            f"({_rate(self._bytes, self._seconds)})\n"
        )

    # one URL

    def _one(self, given: str) -> int:
        url = given if "://" in given else f"http://{given}"
        scheme = url.partition("://")[0].lower()
        if scheme not in ("http", "https"):
            self._say(f"{given}: Unsupported scheme ‘{scheme}’.\n")
            return _GENERIC
        url = _without_fragment(url)
        name = self._name_of(url)
        if self.args.flag("no-clobber") and self.ctx.fs.exists(self.ctx.path(name)):
            self._say(f"File ‘{name}’ already there; not retrieving.\n\n")
            return 0
        if self.args.flag("spider"):
            self._tell("Spider mode enabled. Check if remote file exists.\n")
        tries = self._number("tries", 20) or 10**9
        count = 0
        while True:
            count += 1
            try:
                self._get(url, name, count)
            except _FailedError as error:
                if error.message:
                    self._say(error.message)
                if not error.may_pass or count >= tries:
                    return error.status
                self._tell("Retrying.\n\n")
                self.ctx.host.scheduler.sleep(min(count, self._number("waitretry", 10)))
                continue
            return 0

    def _number(self, key: str, default: float) -> float:
        text = self.args.value(key)
        if text is None:
            return default
        if not re.fullmatch(r"\d{1,9}(\.\d{0,9})?", text):
            raise CommandError(f"--{key}: Invalid number ‘{text}’.", 2)
        return float(text)

    def _name_of(self, url: str) -> str:
        from urllib.parse import unquote

        target = url.partition("://")[2]
        path, mark, query = target.partition("?")
        name = unquote(path.partition("/")[2].rpartition("/")[2]) or "index.html"
        name = f"{name}{mark}{query}".replace("/", "%2F")
        prefix = self.args.value("directory-prefix")
        return name if prefix is None else posixpath.join(prefix, name)

    def _headers(self, url: str, body: bytes) -> Pairs:
        args = self.args
        pairs = [
            ("Host", parse_target(url).netloc),
            ("User-Agent", args.value("user-agent", _AGENT) or ""),
            ("Accept", "*/*"),
            ("Accept-Encoding", "identity"),
            ("Connection", "Keep-Alive"),
        ]
        if referer := args.value("referer"):
            pairs.insert(1, ("Referer", referer))
        if args.flag("auth-no-challenge") and args.flag("user"):
            pairs.append(("Authorization", self._authorization()))
        if body:
            pairs += [_FORM, ("Content-Length", str(len(body)))]
        for line in args.values("header"):
            name, mark, value = line.partition(":")
            if not mark or not name:
                raise CommandError(f"--header: Invalid header ‘{line}’.", 2)
            pairs = [pair for pair in pairs if pair[0].lower() != name.lower()]
            pairs.append((name, value.strip()))
        return pairs

    def _authorization(self) -> str:
        text = f"{self.args.value('user', '')}:{self.args.value('password', '')}"
        return f"Basic {decode(b64encode(encode(text)))}"

    def _request(self) -> tuple[str, bytes]:
        """Return the method and the body."""
        from agentsandbox.commands.network.curl_forms import read_file

        args = self.args
        body, method = b"", "HEAD" if args.flag("spider") else "GET"
        if args.flag("post-data") or args.flag("post-file"):
            method = "POST"
        method = args.value("method", method) or method
        for key in ("post-data", "body-data"):
            body = encode(args.value(key) or "") or body
        for key in ("post-file", "body-file"):
            if (name := args.value(key)) is not None:
                body = read_file(self.ctx, name)
        return method.upper(), body

    def _get(self, url: str, name: str, count: int) -> None:
        """Do one download, with its redirections."""
        method, body = self._request()
        try:
            headers = self._headers(url, body)
        except ValueError as error:
            raise _FailedError(_GENERIC, f"{url}: {error}.\n") from None
        offset = 0
        path = self.ctx.path(name)
        if self.args.flag("continue") and self._document is None and self.ctx.fs.exists(path):
            offset = self.ctx.fs.stat(path).size
            headers = [*headers, ("Range", f"bytes={offset}-")]
        asked = False
        left = int(self._number("max-redirect", 20))
        while True:
            with self._send(method, url, headers, body, count) as reply:
                if reply.status == 401 and not asked and self.args.flag("user"):
                    asked = True
                    headers = [*headers, ("Authorization", self._authorization())]
                    self._tell("Authentication selected: Basic\n")
                    continue
                location = reply.header("location")
                if reply.status not in _REDIRECTIONS or location is None:
                    self._receive(reply, url, name, offset)
                    return
                self._tell(f"Location: {location} [following]\n")
                if left <= 0:
                    what = f"{self.args.value('max-redirect', '20')} redirections exceeded.\n"
                    raise _FailedError(_SERVER, what)
                left -= 1
                method, url, headers, body = redirected(reply, location, headers, body)
                headers = [pair for pair in headers if pair[0].lower() != "host"]

    def _send(self, method: str, url: str, headers: Pairs, body: bytes, count: int) -> Reply:
        try:
            target = parse_target(url)
        except ValueError as error:
            raise _FailedError(_GENERIC, f"{url}: {error}.\n") from None
        port = f"{target.host}:{target.port}"
        tries = f"(try:{count:2d})  " if count > 1 else ""
        self._tell(f"--{self._time()}--  {tries}{url}\n")
        timeout = self._number("timeout", 900)
        connect = self._number("connect-timeout", timeout) or None
        try:
            reply = self.ctx.host.network.send(
                method, url, headers=headers, body=body, connect_timeout=connect,
                timeout=self._number("read-timeout", timeout) or None,
                verify=not self.args.flag("no-check-certificate"),
            )  # fmt: skip
        except NetworkError as error:
            raise self._failed(error, target.host, port) from None
        address, number = reply.remote
        if target.host not in (address, "localhost") and address:
            self._tell(f"Resolving {target.host} ({target.host})... {address}\n")
        shown = (
            port if target.host == address else f"{target.host} ({target.host})|{address}|:{number}"
        )
        self._tell(f"Connecting to {shown}... connected.\n")
        status = f"{reply.status} {reply.reason}".rstrip()
        self._tell("HTTP request sent, awaiting response... ")
        if self.args.flag("server-response"):
            lines = [f"HTTP/{reply.version} {status}", *(f"{k}: {v}" for k, v in reply.headers)]
            self._tell("\n")
            self.ctx.stderr.write(encode("".join(f"  {line}\n" for line in lines)))
        else:
            self._tell(f"{status}\n")
        return reply

    def _failed(self, error: NetworkError, host: str, port: str) -> _FailedError:
        """Return the failure for an error of the client, in wget's words."""
        if isinstance(error, (ResolveError, UnknownHostError)):
            text = (
                ""
                if self._brief
                else f"Resolving {host} ({host})... failed: Name or service not known.\n"
            )
            text += f"wget: unable to resolve host address ‘{host}’\n"
            if isinstance(error, UnknownHostError):
                text += f"wget: the network policy of this sandbox refuses this: {error}\n"
                self.ctx.stderr.write(encode(text) if self._quiet else b"")
            return _FailedError(_NETWORK, text)
        if isinstance(error, RefusedError):
            text = f"wget: the network policy of this sandbox refuses this: {error}\n"
            if self._quiet:
                self.ctx.stderr.write(encode(text))
            return _FailedError(_NETWORK, text)
        if isinstance(error, ConnectError):
            text = f"Connecting to {port}... failed: {error}.\n"
            return _FailedError(_NETWORK, text, may_pass=self.args.flag("retry-connrefused"))
        if isinstance(error, NetworkTimeoutError):
            text = f"Connecting to {port}... failed: Connection timed out.\n"
            return _FailedError(_NETWORK, text, may_pass=True)
        if isinstance(error, TLSError):
            text = (
                f"ERROR: cannot verify {host}'s certificate: {error}.\n"
                f"To connect to {host} insecurely, use `--no-check-certificate'.\n"
                if error.is_certificate
                else "Unable to establish SSL connection.\n"
            )
            return _FailedError(_TLS if error.is_certificate else _NETWORK, text)
        text = f"HTTP request sent, awaiting response... {error}.\n"
        return _FailedError(_NETWORK, text, may_pass=not isinstance(error, TooLargeError))

    # the response

    def _receive(self, reply: Reply, url: str, name: str, offset: int) -> None:
        status = reply.status
        if offset and status == 416:
            self._tell("\n    The file is already fully retrieved; nothing to do.\n\n")
            return
        if self.args.flag("spider") and status >= 400:
            raise _FailedError(_SERVER, "Remote file does not exist -- broken link!!!\n\n")
        if status == 401:
            self._tell("\nUsername/Password Authentication Failed.\n")
            raise _FailedError(_LOGIN)
        if status >= 400 or status < 200:
            brief = f"{url}:\n" if self._brief else ""
            text = f"{brief}{self._time()} ERROR {status}: {reply.reason}.\n"
            raise _FailedError(_SERVER, text + ("" if self._brief else "\n"))
        if status == 204:
            self._tell("\n")
            return
        self._tell_length(reply, offset if status == 206 else 0)
        if self.args.flag("spider"):
            self._tell("Remote file exists.\n\n")
            return
        self._save(reply, url, name, offset if status == 206 else 0)

    def _tell_length(self, reply: Reply, offset: int) -> None:
        kind = (reply.header("content-type") or "").partition(";")[0]
        size = reply.expected
        if size is None and (length := reply.header("content-length")):
            size = int(length)
        text = "unspecified"
        if size is not None:
            size += offset
            text = str(size) if size < 1024 else f"{size} ({_size(size)})"
            if offset:
                text += f", {size - offset} remaining"
        self._tell(f"Length: {text}{f' [{kind}]' if kind else ''}\n")

    def _save(self, reply: Reply, url: str, name: str, offset: int) -> None:
        shown = self.args.value("output-document") or name
        target = self._document
        if target is None:
            if self.args.flag("content-disposition"):
                name = self._given_name(reply, name)
            mode: Mode = "a" if offset else "w"
            shown = name if offset else self._unused(name)
            target = self._open(shown, mode)
        is_stdout = shown == "-"
        self._tell(f"Saving to: ‘{'STDOUT' if is_stdout else shown}’\n\n")
        began = monotonic()
        size, failure = 0, None
        try:
            while data := reply.read():
                self.ctx.budget.step(1 + (len(data) >> 10))
                size += len(data)
                target.write(data)
        except NetworkError as error:
            failure = error
        seconds = max(monotonic() - began, 1e-6)
        self._tell(_dots(size, None if reply.expected is None else reply.expected, seconds))
        if failure is not None:
            where = f"Read error at byte {size} ({failure})."
            text = f"\n{self._time()} ({_rate(size, seconds)}) - {where}"
            fails = isinstance(failure, (TooLargeError, RefusedError))
            raise _FailedError(_NETWORK, text + "\n", may_pass=not fails and self._document is None)
        total = size + offset
        whole = total if reply.expected is None else reply.expected + offset
        counts = f"[{total}]" if reply.expected is None else f"[{total}/{whole}]"
        where = "written to stdout" if is_stdout else f"‘{shown}’ saved"
        self._tell(f"\n{self._time()} ({_rate(size, seconds)}) - {where} {counts}\n\n")
        if self._brief:
            self._say(f'{self._time()} URL:{url} {counts} -> "{shown}" [1]\n')
        self._files += 1
        self._bytes += size
        self._seconds += seconds

    def _given_name(self, reply: Reply, name: str) -> str:
        given = reply.header("content-disposition") or ""
        match = re.search(r'filename="?([^";]+)', given, re.IGNORECASE)
        found = match[1].replace("\\", "/").rpartition("/")[2].strip() if match else ""
        if not found or found in (".", ".."):
            return name
        return posixpath.join(posixpath.dirname(name), found)

    def _unused(self, name: str) -> str:
        """Return the name, or the first of name.1, name.2 … that is free."""
        fs, ctx = self.ctx.fs, self.ctx
        if not fs.exists(ctx.path(name)):
            return name
        number = 1
        while fs.exists(ctx.path(f"{name}.{number}")):
            ctx.budget.step()
            number += 1
        return f"{name}.{number}"

    def _open(self, name: str, mode: Mode) -> ByteWriter:
        ctx = self.ctx
        path = ctx.path(name)
        try:
            if posixpath.dirname(name) and self.args.flag("directory-prefix"):
                ctx.fs.makedirs(posixpath.dirname(path))
            return ctx.keep(ctx.fs.open(path, mode, permissions=0o666 & ~ctx.umask))
        except OSError as error:
            ctx.stderr.write(encode(f"{name}: {error.strerror}\n"))
            raise CommandError("", _GENERIC if self._document is None else _IO) from None


def _without_fragment(url: str) -> str:
    return url.partition("#")[0]


def _size(count: float) -> str:
    """Return a number of bytes with a unit, as "1.5K"."""
    if count < 1024:
        return str(int(count))
    for unit in "KMGT":
        count /= 1024
        if count < 1000 or unit == "T":
            break
    digits = 0 if count >= 100 else 1 if count >= 10 else 2
    text = f"{count:.{digits}f}"
    return (text.rstrip("0").rstrip(".") if "." in text else text) + unit


def _rate(count: int, seconds: float) -> str:
    """Return the speed, as "12.3 KB/s"."""
    value = count / max(seconds, 1e-6)
    unit = "B/s"
    for following in ("KB/s", "MB/s", "GB/s"):
        if value < 1024:
            break
        value, unit = value / 1024, following
    digits = 0 if value >= 99.95 else 1 if value >= 9.995 else 2
    return f"{value:.{digits}f} {unit}"


def _seconds(seconds: float) -> str:
    if seconds < 10:
        digits = 3 if seconds < 0.01 else 2 if seconds < 0.1 else 1
        text = f"{seconds:.{digits}f}".rstrip("0").rstrip(".")
        return f"{text or 0}s"
    return f"{int(seconds)}s"


def _dots(size: int, expected: int | None, seconds: float) -> str:
    """Return the dots of a download: one for each KiB, 50 in a row."""
    row_bytes = _DOT * _DOTS_IN_ROW
    rate = _rate(size, seconds).replace(" ", "").replace("B/s", "")
    lines = []
    rows = max(1, -(-size // row_bytes))
    for row in range(min(rows, 20_000)):
        here = min(size - row * row_bytes, row_bytes)
        dots = "".join(
            (" " if place % _GROUP == 0 else "") + ("." if place < here // _DOT else " ")
            for place in range(_DOTS_IN_ROW)
        )
        is_last = row == rows - 1
        done = min((row + 1) * row_bytes, size)
        share = "" if not expected else f"{done * 100 // expected:3d}%"
        end = f"={_seconds(seconds)}" if is_last else f" {_seconds(0)}"
        lines.append(f"{row * _DOTS_IN_ROW:6d}K{dots}{share} {rate:>5}{end}\n")
    return "".join(lines)
