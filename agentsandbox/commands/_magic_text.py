"""What text files are: their encoding, their lines, and the language they seem to be in, as `file` says it."""

from __future__ import annotations

import re

__all__ = ["find_charset", "identify_text"]

_ENCODED = 65536
"""Bytes that are looked at to tell the encoding."""
_LONG_LINE = 300
_NOT_ASCII = re.compile(rb"[^\x07-\x0d\x1b\x20-\x7e]")
_NOT_LATIN = re.compile(rb"[^\x07-\x0d\x1b\x20-\x7e\x85\xa0-\xff]")
_NOT_EXTENDED = re.compile(rb"[^\x07-\x0d\x1b\x20-\x7e\x80-\xff]")
_CONTROL = re.compile(rb"[\x00-\x06\x0e-\x1a\x1c-\x1f\x7f]")
_SHEBANG = re.compile(rb"#![ \t]*([^\n]*)")
_JSON_TOKEN = re.compile(
    rb'[ \t\r\n]*(?:(?P<open>[\[{])|(?P<close>[\]}])|(?P<comma>,)|(?P<colon>:)|(?P<string>"(?:[^"\\\x00-\x1f]|\\.)*+")'
    rb"|(?P<other>-?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?|true|false|null))"
)

_INTERPRETERS = (
    (rb"(?:\S*/)?(?:env +)?bash\b", "Bourne-Again shell script", "text/x-shellscript"),
    (rb"(?:\S*/)?(?:env +)?(?:d?ash|sh)\b", "POSIX shell script", "text/x-shellscript"),
    (rb"(?:\S*/)?(?:env +)?zsh\b", "Paul Falstad's zsh script", "text/x-shellscript"),
    (rb"(?:\S*/)?(?:env +)?ksh\b", "Korn shell script", "text/x-shellscript"),
    (rb"(?:\S*/)?(?:env +)?python[0-9.]*", "Python script", "text/x-script.python"),
    (rb"(?:\S*/)?(?:env +)?[gmn]?awk\b", "awk script", "text/x-awk"),
    (rb"(?:\S*/)?(?:env +)?ruby\b", "Ruby script", "text/x-ruby"),
    (rb"(?:\S*/)?(?:env +)?php\b", "PHP script", "text/x-php"),
    (rb"(?:\S*/)?(?:env +)?lua\b", "Lua script", "text/x-lua"),
    (rb"(?:\S*/)?(?:env +)?tclsh\b", "Tcl/Tk script", "text/x-tcl"),
)
_LANGUAGES = (
    (rb"\A\s*<\?xml version=[\"']1\.0", "XML 1.0 document", "text/xml"),
    (rb"(?i)\A.{0,4096}?<(?:!doctype html|html|head|title|body)\b", "HTML document", "text/html"),
    (rb"\A<\?php", "PHP script", "text/x-php"),
    (rb"\Adiff ", "diff output", "text/x-diff"),
    (rb"\A--- [^\n]*\n\+\+\+ [^\n]*\n@@", "unified diff output", "text/x-diff"),
    (rb"\A\*\*\* [^\n]*\n--- ", "context diff output", "text/x-diff"),
    (rb"\A\\documentclass", "LaTeX 2e document", "text/x-tex"),
    (rb"\A(?:Received|Return-Path):", "RFC 822 mail", "message/rfc822"),
    (rb"\AFrom:", "news or mail", "message/rfc822"),
    (rb"\A\.(?:TH|SH|\\\")", "troff or preprocessor input", "text/troff"),
    (rb"(?m)^(?:CFLAGS|VPATH|LDFLAGS|all:|\.PRECIOUS|\.PHONY)", "makefile script", "text/x-makefile"),
    (
        rb"(?m)^(?: |\t){0,50}def {1,50}[a-zA-Z]{1,100}\w*\([^)\n]{0,255}\)[^\n]{0,80}:\s*$|^from [\w.]+ import |^import [\w.]+$",
        "Python script",
        "text/x-script.python",
    ),
    (rb"(?m)^package[ \t]+[A-Za-z_][\w:]*;", "Perl5 module source", "text/plain"),
    (rb"(?m)^(?:class|template|using namespace|private:|public:|namespace)[ \t<]", "C++ source", "text/x-c++"),
    (rb"(?m)^#include|main\(", "C source", "text/x-c"),
)
_EXECUTABLE = frozenset(("Python script",))
_WHOLE = (
    (rb"\A\s*<svg", "SVG Scalable Vector Graphics image", "image/svg+xml"),
    (rb"\A-----BEGIN CERTIFICATE-----", "PEM certificate", "text/plain"),
    (rb"\A-----BEGIN RSA PRIVATE KEY", "PEM RSA private key", "text/plain"),
    (rb"\A-----BEGIN OPENSSH PRIVATE KEY", "OpenSSH private key", "text/plain"),
    (rb"\Assh-rsa ", "OpenSSH RSA public key", "text/plain"),
    (rb"\Assh-ed25519 ", "OpenSSH ED25519 public key", "text/plain"),
    (rb"\ABEGIN:VCALENDAR", "vCalendar calendar file", "text/calendar"),
    (rb"\ABEGIN:VCARD", "vCard visiting card", "text/vcard"),
    (rb"\A\{\\rtf1", "Rich Text Format data, version 1, ANSI", "text/rtf"),
    (rb"\A%!PS-Adobe-", "PostScript document text", "application/postscript"),
)
"""Kinds that are named without their encoding."""


def _encoding(data: bytes) -> tuple[str, str, bytes] | None:
    """(encoding in words, charset, the text as bytes); None for what is no text."""
    if not _NOT_ASCII.search(data):
        return "ASCII", "us-ascii", data
    if data.startswith(b"\xef\xbb\xbf") and _is_utf8(data[3:]):
        return "Unicode text, UTF-8 (with BOM)", "utf-8", data[3:]
    if _is_utf8(data):
        return "Unicode text, UTF-8", "utf-8", data
    for mark, order, words in ((b"\xff\xfe", slice(0, None, 2), "little-endian"), (b"\xfe\xff", slice(1, None, 2), "big-endian")):
        if data.startswith(mark) and len(data) % 2 == 0 and len(data) > 2:
            low = data[2:][order]
            return f"Unicode text, UTF-16, {words}", f"utf-16{words[0]}e", low
    if not _NOT_LATIN.search(data):
        return "ISO-8859", "iso-8859-1", data
    if not _NOT_EXTENDED.search(data):
        return "Non-ISO extended-ASCII", "unknown-8bit", data
    return None


def _is_utf8(data: bytes) -> bool:
    if _CONTROL.search(data):
        return False
    try:
        str(data, "utf-8")
    except UnicodeDecodeError as error:
        return error.reason == "unexpected end of data" and error.start >= len(data) - 3 and len(data) >= _ENCODED - 3
    return True


def _qualifiers(data: bytes) -> str:
    """What is special about the lines."""
    words = ""
    crlf = data.count(b"\r\n")
    cr = data.count(b"\r") - crlf
    lf = data.count(b"\n") - crlf
    longest = max(map(len, re.split(rb"[\r\n]", data)))
    if longest > _LONG_LINE:
        words += f", with very long lines ({longest})"
    if not (crlf or cr or lf):
        words += ", with no line terminators"
    elif crlf or cr:
        kinds = [name for name, count in (("CRLF", crlf), ("CR", cr), ("LF", lf)) if count]
        words += f", with {', '.join(kinds)} line terminators"
    if b"\x1b" in data:
        words += ", with escape sequences"
    if b"\b" in data:
        words += ", with overstriking"
    return words


def _is_json(data: bytes) -> int:
    """How many JSON objects or arrays the text is, one a line; 0 if it is anything else."""
    stack: list[int] = []
    position, values = 0, 0
    previous = ""
    stripped = data.rstrip()
    while position < len(stripped):
        found = _JSON_TOKEN.match(stripped, position)
        if found is None:
            return 0
        kind = found.lastgroup or ""
        position = found.end()
        if not stack and kind != "open":
            return 0
        if kind == "open":
            if previous in ("string", "other", "close") and stack:
                return 0
            stack.append(found["open"][0])
        elif kind == "close":
            if stack.pop() != {0x5D: 0x5B, 0x7D: 0x7B}[found["close"][0]] or previous == "colon":
                return 0
            if not stack:
                values += 1
        elif kind == "colon":
            if previous != "string" or stack[-1] != 0x7B:
                return 0
        elif kind == "comma":
            if previous not in ("string", "other", "close"):
                return 0
        elif previous in ("string", "other", "close"):
            return 0
        previous = kind
    return values if not stack else 0


def _is_csv(data: bytes) -> bool:
    """At least three lines (ten are looked at) with the same number of commas, and one at least."""
    commas = -1
    lines = re.sub(rb'"[^"]*"', b"", data).split(b"\n")[:-1][:10]
    for line in lines:
        count = line.count(b",")
        if not count or commas not in (-1, count):
            return False
        commas = count
    return len(lines) > 2


def _language(text: bytes) -> tuple[str, str, bool] | None:
    """(words, MIME type, whether "executable" is said); None for plain text."""
    shebang = _SHEBANG.match(text)
    if shebang is not None:
        line = shebang[1]
        for pattern, words, mime in _INTERPRETERS:
            if re.match(pattern, line):
                return words, mime, True
        if re.match(rb"\S*(?:/| )perl\b|\S*env +perl\b", line):
            return "Perl", "text/x-perl", True
        if re.match(rb"(?:\S*/)?(?:env +)?node\b", line):
            return "Node.js", "application/javascript", True
        program = str(line.rstrip(), "latin-1")
        return f"a {program} script", "text/plain", True
    for pattern, words, mime in _LANGUAGES:
        if re.search(pattern, text[:8192], re.DOTALL if pattern.startswith(rb"(?i)\A") else 0):
            return words, mime, words in _EXECUTABLE
    return None


def find_charset(data: bytes) -> str:
    """The charset that the bytes could be in, "binary" for none."""
    found = _encoding(data[:_ENCODED])
    return "binary" if found is None else found[1]


def identify_text(data: bytes) -> tuple[str, str, str] | None:
    """(words, MIME type, charset); None for what is no text."""
    found = _encoding(data[:_ENCODED])
    if found is None:
        return None
    encoding, charset, text = found
    values = _is_json(text) if text.lstrip()[:1] in (b"{", b"[") else 0
    if values:
        if values > 1:
            return "New Line Delimited JSON text data", "application/x-ndjson", charset
        return "JSON text data", "application/json", charset
    for pattern, words, mime in _WHOLE:
        if re.match(pattern, text):
            return words, mime, charset
    lines = _qualifiers(text)
    plain = f"{encoding} text"
    language = _language(text)
    if language is not None:
        words, mime, executable = language
        if words == "Perl":
            return f"Perl script text executable{lines}", mime, charset
        if words == "Node.js":
            return f"Node.js script executable, {plain}{lines}", mime, charset
        return f"{words}, {plain}{' executable' if executable else ''}{lines}", mime, charset
    if _is_csv(text):
        return "CSV text", "text/csv", charset
    return f"{plain}{lines}", "text/plain", charset
