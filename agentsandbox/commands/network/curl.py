"""`curl`: requests through the client of the sandbox, by the policy of the host program."""

from __future__ import annotations

from time import monotonic

from agentsandbox.commands.network.curl_globs import expand, with_parts
from agentsandbox.commands.network.curl_options import CurlError, read_options
from agentsandbox.commands.network.refusals import host_of
from agentsandbox.contract.command import Arguments, CommandContext, command
from agentsandbox.contract.manners import SILENT, Manners
from agentsandbox.kernel.streams import encode
from agentsandbox.network.client import NO_NETWORK

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from agentsandbox.commands.network.cookies import Jar
    from agentsandbox.commands.network.curl_meter import Meter
    from agentsandbox.commands.network.curl_options import Settings, Url
    from agentsandbox.commands.network.curl_transfer import Transfer

_VERSION = (
    "curl 7.88.1 (x86_64-pc-linux-gnu) libcurl/7.88.1\n"
    "Release-Date: 2023-02-20\n"
    "Protocols: http https\n"
    "Features: IPv6 Largefile libz SSL\n"
)
_TRANSIENT = frozenset((408, 429, 500, 502, 503, 504))
_LONGEST_PAUSE = 600.0
_TIMED_OUT, _UNREACHABLE = 28, 7


@command(
    "curl",
    manners=Manners(write_error=SILENT),
    usage="""
    Usage: curl [options...] <url>
    Transfer data from a server that the network policy of the sandbox allows, from a function of
    the host program, or from a port of the sandbox itself (localhost).

      -d, --data <data>          HTTP POST data; @file reads it; --data-raw does not
          --data-binary <data>   like --data, keeping newlines of files
          --data-urlencode <data>  like --data, encoded
          --json <data>          POST of JSON
      -F, --form <name=content>  multipart form; @file sends a file, <file its text
          --form-string <name=string>  multipart form, taken as it is
      -G, --get                  put the data into the URL
      -T, --upload-file <file>   PUT a file, "-" for standard input
      -X, --request <method>     the method
      -H, --header <header>      an additional header; "Name:" removes one, @file reads a file
      -A, --user-agent <name>    the User-Agent
      -e, --referer <URL>        the Referer
      -b, --cookie <data|file>   send cookies
      -c, --cookie-jar <file>    write cookies after the transfers
      -j, --junk-session-cookies  ignore session cookies of the file
      -u, --user <user:password>  user and password; --basic (the default), --digest, --anyauth
          --oauth2-bearer <token>  a bearer token
      -L, --location             follow redirections; --location-trusted sends credentials along
          --max-redirs <num>     follow at most so many redirections, 50 by default
          --post301, --post302, --post303  keep the method POST
      -o, --output <file>        write to a file instead of standard output
      -O, --remote-name          write to a file named like the remote one; --remote-name-all
      -J, --remote-header-name   take the name from the header
          --output-dir <dir>     directory of the files
          --create-dirs          make directories for the files
      -C, --continue-at <offset>  resume; "-" finds the offset
      -r, --range <range>        only these bytes
      -R, --remote-time          set the time of the file
          --max-filesize <bytes>  refuse larger files
      -i, --include              write the headers too
      -I, --head                 only the headers
      -D, --dump-header <file>   write the headers to a file
      -w, --write-out <format>   text with variables after each transfer; @file reads it
      -f, --fail                 fail without output for HTTP errors; --fail-with-body with it
          --fail-early           end at the first failed transfer
      -s, --silent               no progress and no messages
      -S, --show-error           messages all the same
          --no-progress-meter    no progress
      -#, --progress-bar         progress as a bar
      -v, --verbose              show the conversation
      -m, --max-time <seconds>   time for each transfer
          --connect-timeout <seconds>  time for the connection
          --retry <num>          try again after transient errors
          --retry-delay <seconds>  wait so long between attempts
          --retry-max-time <seconds>  do not begin another attempt after this time
          --retry-connrefused    try again when the connection is refused
          --retry-all-errors     try again after all errors
      -k, --insecure             accept any certificate
          --compressed           ask for gzip or deflate, and unpack
      -g, --globoff              take [] and {} in URLs as they are
          --path-as-is           keep .. in URLs
          --proto <protocols>    allowed protocols; --proto-redir for redirections
          --proto-default <protocol>  protocol of URLs without one
          --tlsv1.2              at least this version of TLS
          --http1.1, --http2     the version is 1.1 in any case
      -N, --no-buffer            write at once, as always here
          --url <url>            a URL
      -K, --config <file>        read options from a file
      -q, --disable              do not read ~/.curlrc
      -h, --help                 this text
      -V, --version              the version
    """,
    raw=True,
)
def curl(ctx: CommandContext, args: Arguments) -> int:
    words = args.operands
    settings = read_options(ctx, words)
    if settings.on("help"):
        ctx.print(curl.usage, end="")
        return 0
    if settings.on("version"):
        ctx.print(_VERSION, end="")
        return 0
    urls = [url for url in settings.urls if url.url is not None]
    if not urls:
        ctx.stderr.write(b"curl: try 'curl --help' or 'curl --manual' for more information\n")
        return 2
    if settings.on("head") and (settings.data or settings.forms) and not settings.on("get"):
        if not settings.on("silent"):
            ctx.stderr.write(
                b"Warning: You can only select one HTTP request method! You asked for both POST \n"
                b"Warning: (-d, --data) and HEAD (-I, --head).\n"
            )
        return 2
    return _Run(ctx, settings).all(urls)


class _Run:
    """All transfers of one command line."""

    def __init__(self, ctx: CommandContext, settings: Settings) -> None:
        self.ctx = ctx
        self.settings = settings
        self.jar = self._jar()
        self._status = 0
        self._number = 0

    def _jar(self) -> Jar | None:
        settings, ctx = self.settings, self.ctx
        files = [text for text in settings.cookies if "=" not in text]
        if not files and "cookie-jar" not in settings.last:
            return None
        from agentsandbox.commands.network.cookies import Jar
        from agentsandbox.commands.network.curl_forms import read_file

        jar = Jar(ctx.host.clock())
        for name in files:
            if name and (name == "-" or ctx.fs.exists(ctx.path(name))):
                data = read_file(ctx, name)
                jar.load(data, without_session=settings.on("junk-session-cookies"))
        return jar

    def all(self, urls: Sequence[Url]) -> int:
        """Do the transfers of all URLs; return the status of the last that failed, or 0."""
        settings = self.settings
        for url in urls:
            assert url.url is not None
            try:
                self._one(url)
            except CurlError as error:
                self._complain(error.message)
                self._status = error.status
            if self._status and settings.on("fail-early"):
                break
        if self.jar is not None and "cookie-jar" in settings.last:
            name = settings.last["cookie-jar"]
            if name == "-":
                self.ctx.stdout.write(self.jar.dump())
            else:
                self.ctx.fs.write_bytes(self.ctx.path(name), self.jar.dump())
        return self._status

    def _one(self, url: Url) -> None:
        """Do the transfers of one URL with its patterns."""
        assert url.url is not None
        found = [(url.url, [])] if self.settings.on("globoff") else expand(url.url, self.ctx.budget)
        for text, parts in found:
            self._attempts(url, text, parts)
            if self._status and self.settings.on("fail-early"):
                return

    def _attempts(self, url: Url, text: str, parts: Sequence[str]) -> None:
        """Do a transfer, again if it failed for now."""
        from agentsandbox.commands.network.curl_transfer import Output, Transfer

        settings, ctx = self.settings, self.ctx
        name = self._file_name(url, text, parts)
        left = int(settings.number("retry") or 0)
        began, pause = monotonic(), 1.0
        while True:
            output = Output(ctx, settings, name, append="continue-at" in settings.last)
            transfer = Transfer(ctx, settings, self.jar)
            meter = self._meter()
            transfer.run(text, url.upload, output, meter)
            meter.close()
            why = self._reason_to_retry(transfer)
            longest = settings.number("retry-max-time") or 0
            if not left or not why or (longest and monotonic() - began >= longest):
                break
            wait = settings.number("retry-delay") or pause
            told = transfer.reply.header("retry-after") if transfer.reply is not None else None
            if told is not None and told.isdecimal() and len(told) < 6:
                wait = float(told)
            self._complain(transfer.error)
            if not settings.on("silent"):
                ctx.stderr.write(
                    encode(
                        f"Warning: Problem : {why}. Will retry in {wait:.0f} seconds. "
                        f"{left} retries left.\n"
                    )
                )
            ctx.host.scheduler.sleep(wait)
            pause = min(pause * 2, _LONGEST_PAUSE)
            left -= 1
        self._end(transfer, text, output.name)

    def _reason_to_retry(self, transfer: Transfer) -> str:
        if transfer.status == _TIMED_OUT:
            return "timeout"
        if transfer.status == _UNREACHABLE and self.settings.on("retry-connrefused"):
            return "connection refused"
        reply = transfer.reply
        if reply is not None and reply.status in _TRANSIENT and transfer.status in (0, 22):
            return "HTTP error"
        if transfer.status and self.settings.on("retry-all-errors"):
            return "(retrying all errors)"
        return ""

    def _meter(self) -> Meter:
        from agentsandbox.commands.network.curl_meter import Meter

        settings = self.settings
        shows = settings.on("progress-meter") and not settings.on("silent")
        return Meter(self.ctx.stderr if shows else None, bar=settings.on("progress-bar"))

    def _file_name(self, url: Url, text: str, parts: Sequence[str]) -> str | None:
        settings = self.settings
        name = url.output
        if not url.has_output:
            name = "" if settings.on("remote-name-all") else None
        if name is None:
            return None
        if name:
            name = with_parts(name, parts)
        else:
            path = text.partition("#")[0].partition("?")[0].partition("://")
            name = (path[2] or path[0]).partition("/")[2].rpartition("/")[2]
            if not name:
                if not settings.on("silent"):
                    self.ctx.stderr.write(b"curl: Remote file name has no length!\n")
                raise CurlError("(23) Failed writing received data to disk/application", 23)
        folder = settings.last.get("output-dir")
        return name if folder is None else f"{folder}/{name}"

    def _complain(self, message: str) -> None:
        settings = self.settings
        is_quiet = settings.on("silent") and not settings.on("show-error")
        if message and (not is_quiet or not message.startswith("(")):
            self.ctx.stderr.write(encode(f"curl: {message}\n"))

    def _end(self, transfer: Transfer, text: str, name: str | None) -> None:
        """Write what is to be said after a transfer."""
        settings = self.settings
        shown = settings.last.get("write-out")
        if shown is not None:
            from agentsandbox.commands.network.curl_forms import read_file
            from agentsandbox.commands.network.curl_write_out import facts_of, write_out
            from agentsandbox.kernel.streams import decode

            if shown.startswith("@"):
                shown = decode(read_file(self.ctx, shown[1:]).translate(None, b"\r\n"))
            write_out(self.ctx, shown, facts_of(transfer, text, name, self._number))
        self._number += 1
        self._status = transfer.status
        if transfer.status:
            refusal = transfer.refusal
            if refusal is None:
                self._complain(transfer.error)
            elif refusal == NO_NETWORK:
                self._without_network(text)
            else:
                self._complain(transfer.error)
                self.ctx.stderr.write(
                    encode(f"curl: the network policy of this sandbox refuses this: {refusal}\n")
                )

    def _without_network(self, text: str) -> None:
        self.ctx.stderr.write(
            encode(
                f"curl: (6) Could not resolve host: {host_of([text])}\n"
                f"curl: {NO_NETWORK}; "
                "the host program must provide the data as a file or a command\n"
            )
        )
