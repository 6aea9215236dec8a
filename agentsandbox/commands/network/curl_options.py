"""curl's command line: its own parser, which differs from getopt's in many small things.

Options may stand anywhere. A long option takes its value from the next word ("=" is not read), may
be shortened to what is unambiguous, and a switch has a form with "no-". `-o`, `-O` and `-T` belong
to URLs in their order.
"""

from __future__ import annotations

from agentsandbox.errors import CommandError
from agentsandbox.kernel.streams import decode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from agentsandbox.contract.command import CommandContext

__all__ = ["CurlError", "Settings", "Url", "read_options"]

_SWITCHES = {
    "silent": "s", "show-error": "S", "fail": "f", "fail-with-body": "", "location": "L",
    "location-trusted": "", "include": "i", "head": "I", "get": "G", "insecure": "k",
    "verbose": "v", "no-buffer": "N", "remote-name": "O", "remote-name-all": "",
    "remote-header-name": "J", "create-dirs": "", "compressed": "", "globoff": "g",
    "progress-bar": "#", "progress-meter": "", "remote-time": "R", "path-as-is": "",
    "basic": "", "digest": "", "anyauth": "", "junk-session-cookies": "j", "post301": "",
    "post302": "", "post303": "", "retry-connrefused": "", "retry-all-errors": "",
    "fail-early": "", "disable": "q", "version": "V", "help": "h", "tlsv1": "1", "tlsv1.0": "",
    "tlsv1.1": "", "tlsv1.2": "", "http1.1": "", "http2": "",
}  # fmt: skip
_VALUES = {
    "output": "o", "write-out": "w", "request": "X", "header": "H", "data": "d",
    "data-ascii": "", "data-raw": "", "data-binary": "", "data-urlencode": "", "json": "",
    "form": "F", "form-string": "", "user": "u", "max-time": "m", "connect-timeout": "",
    "retry": "", "retry-delay": "", "retry-max-time": "", "cookie": "b", "cookie-jar": "c",
    "user-agent": "A", "referer": "e", "upload-file": "T", "url": "", "max-redirs": "",
    "max-filesize": "", "range": "r", "continue-at": "C", "dump-header": "D", "config": "K",
    "output-dir": "", "oauth2-bearer": "", "proto": "", "proto-redir": "", "proto-default": "",
}  # fmt: skip
_REFUSED = frozenset(
    "proxy proxy-user proxy-header noproxy socks4 socks4a socks5 socks5-hostname preproxy cacert "
    "capath cert cert-type key key-type pass ciphers resolve connect-to interface unix-socket "
    "abstract-unix-socket dns-servers netrc netrc-file netrc-optional ntlm negotiate aws-sigv4 "
    "http3 http2-prior-knowledge http1.0 parallel parallel-max next limit-rate speed-limit "
    "speed-time time-cond trace trace-ascii trace-time ftp-create-dirs ftp-port use-ascii quote "
    "mail-from mail-rcpt telnet-option tftp-blksize pinnedpubkey doh-url ipv4 ipv6 keepalive-time "
    "etag-save etag-compare alt-svc hsts tr-encoding raw request-target rate url-query clobber "
    "remove-on-error stderr tlsv1.3 sslv2 sslv3 styled-output expect100-timeout ssl ssl-reqd "
    "tcp-nodelay tcp-fastopen crlf append list-only manual engine metalink local-port krb libcurl "
    "proxytunnel".split()
)
"""Options of curl that are not here; other unknown ones are unknown to curl too."""
_REFUSED_LETTERS = {
    "x": "proxy", "U": "proxy-user", "E": "cert", "n": "netrc", "Z": "parallel", ":": "next",
    "Y": "speed-limit", "y": "speed-time", "z": "time-cond", "4": "ipv4", "6": "ipv6",
    "0": "http1.0", "B": "use-ascii", "Q": "quote", "P": "ftp-port", "a": "append",
    "l": "list-only", "M": "manual", "t": "telnet-option", "p": "proxytunnel",
}  # fmt: skip
_LETTERS = {letter: name for table in (_SWITCHES, _VALUES) for name, letter in table.items()}
_NUMBERS = frozenset(
    "max-time connect-timeout retry retry-delay retry-max-time max-redirs max-filesize".split()
)
_TRY = "curl: try 'curl --help' or 'curl --manual' for more information\n"
_LONGEST_CONFIG = 1024 * 1024
_MOST_URLS = 10_000


class CurlError(CommandError):
    """curl ends a transfer, or itself, with one of its statuses."""


class Url:
    """A URL and where its body goes: a file's name, "" for the URL's own, None for stdout."""

    def __init__(self) -> None:
        self.url: str | None = None
        self.output: str | None = None
        self.has_output = False
        self.upload: str | None = None


class Settings:
    """All options; `switches` has the names of those that are on, `last` the last value of each."""

    def __init__(self) -> None:
        self.switches: set[str] = {"progress-meter"}
        self.last: dict[str, str] = {}
        self.headers: list[str] = []
        self.data: list[tuple[str, str]] = []
        """(option, value) of all options that give a body, in order."""
        self.forms: list[tuple[str, str]] = []
        self.cookies: list[str] = []
        self.urls: list[Url] = []

    def on(self, name: str) -> bool:
        """Whether a switch is on."""
        return name in self.switches

    def number(self, name: str, default: float | None = None) -> float | None:
        """Return the value of an option that is a number."""
        value = self.last.get(name)
        return default if value is None else float(value)

    def url_for(self, place: str) -> Url:
        """Return the first URL whose `place` (url, output or upload) is not set yet."""
        for url in self.urls:
            if place == "output" and not url.has_output:
                return url
            if place == "url" and url.url is None:
                return url
            if place == "upload" and url.upload is None:
                return url
        made = Url()
        self.urls.append(made)
        return made


def _fail(spelling: str, what: str) -> CurlError:
    return CurlError(f"option {spelling}: {what}\n{_TRY[:-1]}", 2)


def read_options(ctx: CommandContext, words: Sequence[str]) -> Settings:
    """Return what a command line says; `CurlError` for a wrong one."""
    settings = Settings()
    if not words or words[0] not in ("-q", "--disable"):
        home = ctx.env.get("CURL_HOME") or ctx.env.get("HOME")
        if home and ctx.fs.is_file(ctx.path(f"{home}/.curlrc")):
            _read_config(ctx, settings, f"{home}/.curlrc")
    _read_words(ctx, settings, words)
    return settings


def _read_words(ctx: CommandContext, settings: Settings, words: Sequence[str]) -> None:
    at = 0
    options = True
    while at < len(words):
        ctx.budget.step()
        word = words[at]
        at += 1
        if not options or not word.startswith("-") or word == "-":
            _set_url(settings, word)
        elif word == "--":
            options = False
        elif word.startswith("--"):
            name, is_on = _long(word)
            if name in _SWITCHES:
                _switch(settings, name, is_on)
                continue
            if at >= len(words):
                raise _fail(word, "requires parameter")
            _value(ctx, settings, name, words[at], word)
            at += 1
        else:
            at = _cluster(ctx, settings, words, at, word)


def _cluster(
    ctx: CommandContext, settings: Settings, words: Sequence[str], at: int, word: str
) -> int:
    """Read a word of short options; return where the next word is."""
    for place, letter in enumerate(word[1:], 1):
        name = _LETTERS.get(letter)
        spelling = f"-{letter}"
        if name is None:
            if letter in _REFUSED_LETTERS:
                raise _fail(spelling, "is not available in this sandbox")
            raise _fail(word, "is unknown")
        if name in _SWITCHES:
            _switch(settings, name, True)
            continue
        value = word[place + 1 :]
        if not value:
            if at >= len(words):
                raise _fail(word, "requires parameter")
            value = words[at]
            at += 1
        _value(ctx, settings, name, value, word if len(word) == 2 else spelling)
        break
    return at


def _long(word: str) -> tuple[str, bool]:
    """Return the name of a long option and whether it is switched on."""
    given = word[2:]
    is_on = True
    if given in _VALUES or given in _SWITCHES:
        return given, is_on
    if given == "no-buffer":
        return given, True
    if given.startswith("no-"):
        given, is_on = given[3:], False
        if given == "buffer":
            return "no-buffer", True
        if given in _SWITCHES:
            return given, is_on
    if given in _REFUSED:
        raise _fail(word, "is not available in this sandbox")
    known = [*_SWITCHES, *_VALUES, *_REFUSED] if given else []
    found = [name for name in known if name.startswith(given)]
    if not found:
        raise _fail(word, "is unknown")
    if len(found) > 1:
        raise _fail(word, "is ambiguous")
    if found[0] in _REFUSED:
        raise _fail(word, "is not available in this sandbox")
    return found[0], is_on


def _switch(settings: Settings, name: str, is_on: bool) -> None:
    if name == "remote-name":
        url = settings.url_for("output")
        url.output, url.has_output = "", True
        return
    if name == "location-trusted" and is_on:
        settings.switches.add("location")
    if name == "fail":
        settings.switches.discard("fail-with-body")
    if name == "fail-with-body":
        settings.switches.discard("fail")
    if name in ("basic", "digest", "anyauth"):
        settings.switches -= {"basic", "digest", "anyauth"}
    (settings.switches.add if is_on else settings.switches.discard)(name)


def _set_url(settings: Settings, word: str) -> None:
    if len(settings.urls) >= _MOST_URLS:
        raise CurlError(f"more than {_MOST_URLS} URLs", 2)
    settings.url_for("url").url = word


def _value(ctx: CommandContext, settings: Settings, name: str, value: str, spelling: str) -> None:
    if name == "url":
        _set_url(settings, value)
    elif name == "output":
        url = settings.url_for("output")
        url.output, url.has_output = (None if value == "-" else value), True
    elif name == "upload-file":
        settings.url_for("upload").upload = value
    elif name == "header":
        settings.headers += _header_lines(ctx, value)
    elif name.startswith("data") or name == "json":
        settings.data.append((name, value))
    elif name in ("form", "form-string"):
        if "=" not in value:
            if not settings.on("silent"):
                ctx.stderr.write(b"Warning: Illegally formatted input field!\n")
            raise _fail(spelling, "is badly used here")
        settings.forms.append((name, value))
    elif name == "cookie":
        settings.cookies.append(value)
    elif name == "config":
        _read_config(ctx, settings, value, spelling)
    else:
        if name in _NUMBERS:
            _check_number(name, value, spelling)
        settings.last[name] = value


def _check_number(name: str, value: str, spelling: str) -> None:
    is_decimal = name in ("max-time", "connect-timeout")
    digits = value.removeprefix("-") if name == "max-redirs" else value
    if is_decimal:
        digits = digits.replace(".", "", 1)
    if not digits.isascii() or not digits.isdecimal() or len(digits) > 15:
        if value.startswith("-") and value[1:].isdecimal():
            raise _fail(spelling, "expected a positive numerical parameter")
        raise _fail(spelling, "expected a proper numerical parameter")


def _header_lines(ctx: CommandContext, value: str) -> list[str]:
    """Return the headers of one `-H`: a file of them for "@name"."""
    if not value.startswith("@"):
        return [value]
    data = ctx.open_input(value[1:]).read(_LONGEST_CONFIG)
    return [line for line in decode(data).replace("\r\n", "\n").split("\n") if line]


def _read_config(ctx: CommandContext, settings: Settings, name: str, spelling: str = "-K") -> None:
    """Read options from a file, one a line: `name value`, `name = "value"`, `-x value`."""
    try:
        data = ctx.open_input(name).read(_LONGEST_CONFIG)
    except OSError:
        raise CurlError(
            f"cannot read config from '{name}'\n"
            f"curl: option {spelling}: error encountered when reading a file\n{_TRY[:-1]}",
            26,
        ) from None
    for line in decode(data).splitlines():
        ctx.budget.step()
        text = line.strip()
        if not text or text.startswith("#"):
            continue
        end = min((at for at in map(text.find, " \t=:") if at > 0), default=len(text))
        option, value = text[:end], text[end:].lstrip(" \t=:")
        if value.startswith('"'):
            value = _unquoted(value[1:])
        if not option.startswith("-"):
            option = f"--{option}"
        if option == "--url" or value:
            _read_words(ctx, settings, [option, value])
        else:
            _read_words(ctx, settings, [option])


def _unquoted(text: str) -> str:
    """Return a value of a configuration file up to its closing quote."""
    out, at = [], 0
    escapes = {"n": "\n", "t": "\t", "r": "\r", "v": "\v"}
    while at < len(text) and text[at] != '"':
        if text[at] == "\\" and at + 1 < len(text):
            at += 1
            out.append(escapes.get(text[at], text[at]))
        else:
            out.append(text[at])
        at += 1
    return "".join(out)
