"""`curl -w`: texts with variables of the finished transfer."""

from __future__ import annotations

import json
import re
from time import monotonic

from agentsandbox.kernel.streams import encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from agentsandbox.commands.network.curl_transfer import Transfer
    from agentsandbox.contract.command import CommandContext

__all__ = ["Facts", "facts_of", "write_out"]

_NAMES = (
    "certs content_type errormsg exitcode filename_effective ftp_entry_path http_code "
    "http_connect http_version local_ip local_port method num_certs num_connects num_headers "
    "num_redirects proxy_ssl_verify_result redirect_url referer remote_ip remote_port "
    "response_code scheme size_download size_header size_request size_upload speed_download "
    "speed_upload ssl_verify_result time_appconnect time_connect time_namelookup "
    "time_pretransfer time_redirect time_starttransfer time_total url url_effective urlnum"
).split()
_UNQUOTED = frozenset(
    "exitcode http_code http_connect local_port num_certs num_connects num_headers num_redirects "
    "proxy_ssl_verify_result remote_port response_code size_download size_header size_request "
    "size_upload speed_download speed_upload ssl_verify_result urlnum".split()
)
_TOKEN = re.compile(r"%%|%\{([A-Za-z0-9_.]*)\}|%header\{([^{}]*+)\}|\\([nrt])|\\(.)", re.DOTALL)
_CONTROLS = {"n": "\n", "r": "\r", "t": "\t"}


_TIMES = ("namelookup", "connect", "appconnect", "pretransfer", "starttransfer")


class Facts:
    """What is known of a transfer: all variables as text, and the headers of the last response."""

    def __init__(
        self, values: Mapping[str, str | None], headers: Sequence[tuple[str, str]]
    ) -> None:
        self.values = values
        self.headers = headers

    def text(self, name: str) -> str | None:
        """Return a variable; None for an unknown one."""
        if name == "json":
            return self._json()
        if name == "header_json":
            return self._headers()
        if name not in self.values:
            return None
        return self.values[name] or ""

    def _json(self) -> str:
        parts = []
        for name in _NAMES:
            value = self.values[name]
            if value is None:
                shown = "null"
            elif name in _UNQUOTED:
                shown = value.lstrip("0") or "0"
            elif name.startswith("time_"):
                shown = value
            else:
                shown = json.dumps(value, ensure_ascii=False)
            parts.append(f'"{name}":{shown}')
        return "{" + ",".join(parts) + ',"curl_version":"libcurl/7.88.1"}'

    def _headers(self) -> str:
        found: dict[str, list[str]] = {}
        for name, value in self.headers:
            found.setdefault(name.lower(), []).append(value)
        lines = [f"{json.dumps(name)}:{json.dumps(values)}" for name, values in found.items()]
        return "{" + ",\n".join(lines) + "\n}"


def write_out(ctx: CommandContext, text: str, facts: Facts) -> None:
    """Write the text of `-w` with its variables."""
    target = ctx.stdout
    at = 0
    failed = facts.values["exitcode"] != "0"
    for match in _TOKEN.finditer(text):
        ctx.budget.step()
        target.write(encode(text[at : match.start()]))
        at = match.end()
        word, header, control, other = match.groups()
        if match[0] == "%%":
            target.write(b"%")
        elif control:
            target.write(encode(_CONTROLS[control]))
        elif other:
            target.write(encode(match[0]))
        elif header is not None:
            value = next((v for k, v in facts.headers if k.lower() == header.lower()), "")
            target.write(encode(value))
        elif word == "stderr":
            target = ctx.stderr
        elif word == "stdout":
            target = ctx.stdout
        elif word == "onerror":
            if not failed:
                return
        else:
            found = facts.text(word)
            if found is None:
                ctx.stderr.write(encode(f"curl: unknown --write-out variable: '{word}'\n"))
            else:
                target.write(encode(found))
    target.write(encode(text[at:]))


def facts_of(transfer: Transfer, text: str, name: str | None, number: int) -> Facts:
    """Return what is known of a transfer; `text` is the URL as it was given."""
    reply = transfer.reply
    total = monotonic() - transfer.began
    times = {} if reply is None else reply.times
    status = 0 if reply is None else reply.status
    headers = () if reply is None else reply.headers
    remote = ("", 0) if reply is None else reply.remote
    local = ("", 0) if reply is None else reply.local
    seconds = max(total, 1e-6)
    values: dict[str, str | None] = {
        "certs": "",
        "content_type": None if reply is None else reply.header("content-type"),
        "errormsg": transfer.error.partition(") ")[2] or None,
        "exitcode": str(transfer.status),
        "filename_effective": name,
        "ftp_entry_path": None,
        "http_code": f"{status:03d}",
        "http_connect": "000",
        "http_version": "0" if reply is None else reply.version,
        "local_ip": local[0],
        "local_port": str(local[1]),
        "method": transfer.method,
        "num_certs": "0",
        "num_connects": str(transfer.connections if reply is not None else 0),
        "num_headers": str(len(headers)),
        "num_redirects": str(transfer.redirections),
        "proxy_ssl_verify_result": "0",
        "redirect_url": transfer.redirect_url,
        "referer": transfer.settings.last.get("referer"),
        "remote_ip": remote[0],
        "remote_port": str(remote[1]),
        "response_code": f"{status:03d}",
        "scheme": None if reply is None else reply.url.partition(":")[0].upper(),
        "size_download": str(transfer.received),
        "size_header": str(transfer.size_header),
        "size_request": str(transfer.size_request if reply is not None else 0),
        "size_upload": str(transfer.sent if reply is not None else 0),
        "speed_download": str(int(transfer.received / seconds)),
        "speed_upload": str(int(transfer.sent / seconds) if reply is not None else 0),
        "ssl_verify_result": "0",
        "time_redirect": f"{transfer.time_redirect:.6f}",
        "time_total": f"{total:.6f}",
        "url": text,
        "url_effective": transfer.shown_url or text,
        "urlnum": str(number),
    }
    for key in _TIMES:
        at = times.get(key)
        values[f"time_{key}"] = f"{0.0 if at is None else max(0.0, at - transfer.began):.6f}"
    return Facts(values, headers)
