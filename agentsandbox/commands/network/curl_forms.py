"""Bodies of curl's requests: `-d` and its relatives, and forms (`-F`)."""

from __future__ import annotations

import posixpath

from agentsandbox.commands.network.curl_options import CurlError
from agentsandbox.kernel.streams import encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from agentsandbox.contract.command import CommandContext

__all__ = ["data_of", "form_of", "read_file"]

_SAFE = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
_TYPES = {
    ".gif": "image/gif", ".jpg": "image/jpeg", ".jpeg": "image/jpeg", ".png": "image/png",
    ".svg": "image/svg+xml", ".txt": "text/plain", ".htm": "text/html", ".html": "text/html",
    ".pdf": "application/pdf", ".xml": "application/xml",
}  # fmt: skip
_UNREADABLE = "(26) Failed to open/read local data from file/application"


def read_file(ctx: CommandContext, name: str) -> bytes:
    """Return the bytes of a file, of standard input for "-"."""
    source = ctx.open_input(name)
    parts, size = [], 0
    for block in source.blocks():
        size += len(block)
        ctx.budget.charge(size)
        parts.append(block)
    return b"".join(parts)


def data_of(ctx: CommandContext, options: Sequence[tuple[str, str]], *, silent: bool) -> bytes:
    """Return the body that `-d` and its relatives give."""
    parts: list[bytes] = []
    joined = b""
    for option, value in options:
        if option == "data-urlencode":
            made = _urlencoded(ctx, value, silent=silent)
        elif value.startswith("@") and option != "data-raw":
            made = _of_file(ctx, value[1:], silent=silent)
            if option in ("data", "data-ascii"):
                made = made.translate(None, b"\r\n\0")
        else:
            made = encode(value)
        if parts and option != "json":
            parts.append(b"&")
        parts.append(made)
    joined = b"".join(parts)
    ctx.budget.charge(len(joined))
    return joined


def _of_file(ctx: CommandContext, name: str, *, silent: bool) -> bytes:
    try:
        return read_file(ctx, name)
    except OSError:
        if not silent:
            ctx.stderr.write(
                encode(
                    f'Warning: Couldn\'t read data from file "{name}", this makes an empty \n'
                    "Warning: POST.\n"
                )
            )
        return b""


def _urlencoded(ctx: CommandContext, value: str, *, silent: bool) -> bytes:
    """Return a value of `--data-urlencode`: text, =text, name=text, @file or name@file."""
    equals, at = value.find("="), value.find("@")
    if equals >= 0 and (at < 0 or equals < at):
        name, text = value[:equals], encode(value[equals + 1 :])
    elif at >= 0:
        name, text = value[:at], _of_file(ctx, value[at + 1 :], silent=silent)
    else:
        name, text = "", encode(value)
    coded = b"".join(
        b"+" if byte == 32 else bytes((byte,)) if byte in _SAFE else b"%%%02X" % byte
        for byte in text
    )
    return encode(f"{name}=") + coded if name else coded


def form_of(
    ctx: CommandContext, options: Sequence[tuple[str, str]], boundary: str, *, silent: bool
) -> bytes:
    """Return the body of a form (multipart/form-data)."""
    out: list[bytes] = []
    size = 0
    for option, value in options:
        name, _, text = value.partition("=")
        parts = [(text, {})] if option == "form-string" else _parts(ctx, text, silent=silent)
        for content, more in parts:
            data, filename, kind = _content(ctx, content, more, option == "form")
            head = f'--{boundary}\r\nContent-Disposition: form-data; name="{_escaped(name)}"'
            if filename is not None:
                head += f'; filename="{_escaped(filename)}"'
            if kind:
                head += f"\r\nContent-Type: {kind}"
            size += len(data) + len(head)
            ctx.budget.charge(size)
            out += [encode(f"{head}\r\n\r\n"), data, b"\r\n"]
    out.append(encode(f"--{boundary}--\r\n"))
    return b"".join(out)


def _parts(ctx: CommandContext, text: str, *, silent: bool) -> list[tuple[str, dict[str, str]]]:
    """Return the contents of one `-F`, each with its type= and filename=."""
    found: list[tuple[str, dict[str, str]]] = []
    at_file = text[:1] in ("@", "<")
    for content in text[1:].split(",") if text.startswith("@") else [text[1:] if at_file else text]:
        word, *rest = content.split(";")
        more: dict[str, str] = {}
        for item in rest:
            key, mark, value = item.strip().partition("=")
            if mark and key in ("type", "filename", "encoder", "headers"):
                if key in ("encoder", "headers"):
                    raise CurlError(f"(2) {key}= of a form is not available in this sandbox", 2)
                more[key] = value.strip('"')
            elif "type" in more and mark:
                more["type"] += f"; {item.strip()}"
            elif not silent:
                ctx.stderr.write(encode(f"Warning: skip unknown form field: {item.strip()}\n"))
        prefix = text[0] if at_file else ""
        found.append((prefix + word.strip('"'), more))
    return found


def _content(
    ctx: CommandContext, content: str, more: dict[str, str], may_read: bool
) -> tuple[bytes, str | None, str]:
    """Return the bytes of a part, its file name and its type."""
    filename, kind = more.get("filename"), more.get("type", "")
    if may_read and content[:1] in ("@", "<"):
        path = content[1:]
        try:
            data = read_file(ctx, path)
        except OSError:
            raise CurlError(_UNREADABLE, 26) from None
        if content[0] == "@":
            filename = posixpath.basename(path) if filename is None else filename
            suffix = posixpath.splitext(filename)[1].lower()
            kind = kind or _TYPES.get(suffix, "application/octet-stream")
        return data, filename, kind
    return encode(content), filename, kind


def _escaped(text: str) -> str:
    return text.replace('"', "%22").replace("\r", "%0D").replace("\n", "%0A")
