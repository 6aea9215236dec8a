"""What text files are: encoding, line ends, and the language they seem to be in."""

from __future__ import annotations

import re

from agentsandbox.commands.file.languages import find_kind

_ENCODED = 65536
"""The part of a file that decides its encoding."""
_LONG_LINE = 300
_NOT_ASCII = re.compile(rb"[^\x07-\x0d\x1b\x20-\x7e]")
_NOT_LATIN = re.compile(rb"[^\x07-\x0d\x1b\x20-\x7e\x85\xa0-\xff]")
_NOT_EXTENDED = re.compile(rb"[^\x07-\x0d\x1b\x20-\x7e\x80-\xff]")
_CONTROL = re.compile(rb"[\x00-\x06\x0e-\x1a\x1c-\x1f\x7f]")
_JSON_TOKEN = re.compile(
    rb"[ \t\r\n]*(?:(?P<open>[\[{])|(?P<close>[\]}])|(?P<comma>,)|(?P<colon>:)"
    rb'|(?P<string>"(?:[^"\\\x00-\x1f]|\\.)*+")'
    rb"|(?P<other>-?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?|true|false|null))"
)

_PERL = re.compile(rb"#! ?(?:/usr/bin/env perl|(?:/usr(?:/local)?)?/bin/perl)")
_SVG = re.compile(rb"(?s)<\?xml version=['\" \t]*+[0-9.]++['\" \t]*+.{0,4096}?<svg")
_SHELL_NAMED = re.compile(
    rb"#![ \t]*(?:(?:/usr(?:/local)?)?/bin/bash|/usr/local/bash|/bin/k?sh)(?=[^!-~])"
)
_PROGRAM = re.compile(rb"#![ \t]*(?:/usr/bin/env(?=[ \t]))?[ \t]*([^\n]*)")
_XML = re.compile(rb"<\?xml[ \t]+version[ \t]*=[ \t]*[\"']([^\n\"']{0,3})")
_WHOLE = (
    (rb"<svg", "SVG Scalable Vector Graphics image", "image/svg+xml"),
    (rb"-----BEGIN CERTIFICATE-----", "PEM certificate", "text/plain"),
    (rb"-----BEGIN RSA PRIVATE", "PEM RSA private key", "text/plain"),
    (rb"-----BEGIN EC PRIVATE", "PEM EC private key", "text/plain"),
    (rb"-----BEGIN OPENSSH PRIVATE KEY-----", "OpenSSH private key", "text/plain"),
    (rb"-----BEGIN PGP SIGNATURE-", "PGP signature", "application/pgp-signature"),
    (rb"-----BEGIN PGP MESSAGE-", "PGP message", "application/pgp-encrypted"),
    (rb"..---BEGIN PGP PUBLIC KEY BLOCK-", "PGP public key block", "application/pgp-keys"),
    (rb"ssh-rsa ", "OpenSSH RSA public key", "text/plain"),
    (rb"ssh-ed25519", "OpenSSH ED25519 public key", "text/plain"),
    (rb"ecdsa-sha2-nistp(?:256|384|521)", "OpenSSH ECDSA public key", "text/plain"),
    (rb"(?i)BEGIN:VCALENDAR", "vCalendar calendar file", "text/calendar"),
)
"""Kinds whose description does not contain the encoding."""


def _encoding_of(data: bytes) -> tuple[str, str, bytes] | None:
    """Return (encoding, charset, the text as bytes), None for data that is not text."""
    if not _NOT_ASCII.search(data):
        return "ASCII", "us-ascii", data
    if data.startswith(b"\xef\xbb\xbf") and _is_utf8(data[3:]):
        return "Unicode text, UTF-8 (with BOM)", "utf-8", data[3:]
    if _is_utf8(data):
        return "Unicode text, UTF-8", "utf-8", data
    for mark, order, words in (
        (b"\xff\xfe", slice(0, None, 2), "little-endian"),
        (b"\xfe\xff", slice(1, None, 2), "big-endian"),
    ):
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
        return (
            error.reason == "unexpected end of data"
            and error.start >= len(data) - 3
            and len(data) >= _ENCODED - 3
        )
    return True


def _qualifiers(data: bytes) -> str:
    """Return what is special about the lines."""
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
    """Return how many JSON objects or arrays a text consists of, 0 for any other text."""
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
    """Whether the first ten lines, at least three, have the same number of commas."""
    commas = -1
    lines = re.sub(rb'"[^"]*"', b"", data).split(b"\n")[:-1][:10]
    for line in lines:
        count = line.count(b",")
        if not count or commas not in (-1, count):
            return False
        commas = count
    return len(lines) > 2


def _kind_of_text(text: bytes) -> tuple[str, str] | None:
    """Return (description, MIME type) of a text, None for plain text."""
    xml = _XML.match(text)
    if xml is not None:
        return f"XML {str(xml[1], 'latin-1')} document text", "text/xml"
    found = find_kind(text)
    if found is None and text.startswith(b"#!") and len(text) > len(b"#!"):
        program = _PROGRAM.match(text)
        assert program is not None
        return f"a {str(program[1].strip(), 'latin-1')} script text executable", "text/plain"
    return found


def find_charset(data: bytes) -> str:
    """Return the charset that data could be in, "binary" for none."""
    found = _encoding_of(data[:_ENCODED])
    return "binary" if found is None else found[1]


def identify_text(data: bytes) -> tuple[str, str, str] | None:
    """Return (description, MIME type, charset), None for data that is not text."""
    found = _encoding_of(data[:_ENCODED])
    if found is None:
        return None
    encoding, charset, text = found
    known = _kind_of_data(text) or _whole(data)
    if known is not None:
        return *known, charset
    words, mime = _kind_of_text(text) or ("", "text/plain")
    ending = f"{encoding} text"
    if words.endswith(" text executable"):
        words, ending = words[: -len(" text executable")], f"{ending} executable"
    words = words.removesuffix(" text")
    return f"{words}{', ' if words else ''}{ending}{_qualifiers(text)}", mime, charset


def _kind_of_data(text: bytes) -> tuple[str, str] | None:
    """Return (description, MIME type) of JSON and CSV."""
    values = _is_json(text) if text.lstrip()[:1] in (b"{", b"[") else 0
    if values > 1:
        return "New Line Delimited JSON text data", "application/x-ndjson"
    if values:
        return "JSON text data", "application/json"
    return ("CSV text", "text/csv") if _is_csv(text) else None


def identify_script(data: bytes) -> tuple[str, str] | None:
    """Return (description, MIME type) of a script whose rest is not text."""
    if not data.startswith(b"#!"):
        return None
    words, mime = "", "application/octet-stream"
    if _SHELL_NAMED.match(data):
        words, mime = find_kind(data) or (words, mime)
    else:
        found = _PROGRAM.match(data)
        program = b"" if found is None else found[1].split(b"\0")[0].strip()
        words, mime = f"a {str(program, 'latin-1')} script", "text/plain"
    return f"{words.removesuffix(' text executable')} executable (binary data)", mime


def _whole(data: bytes) -> tuple[str, str] | None:
    """Return (description, MIME type) of the kinds whose encoding is not shown."""
    for pattern, words, mime in _WHOLE:
        if re.match(pattern, data):
            return words, mime
    if _PERL.match(data):
        return "Perl script text executable", "text/x-perl"
    if _SVG.match(data):
        return "SVG Scalable Vector Graphics image", "image/svg+xml"
    if b"<!doctype svg" in data[:4096].lower():
        return "SVG XML document", "image/svg+xml"
    if data[:11].lower() == b"begin:vcard":
        return "vCard visiting card", "text/vcard"
    if data.startswith(b"%!"):
        level = re.match(rb"%!PS-Adobe-([^\n]{1,3})", data)
        shown = f" conforming DSC level {str(level[1], 'latin-1')}" if level is not None else ""
        return f"PostScript document text{shown}", "application/postscript"
    if data.startswith(b"{\\rtf") and data[5:6] not in (b"\\", b""):
        version = f", version {chr(data[5])}" if data[5:6] != b"{" else ""
        ansi = ", ANSI" if b"\\ansi" in data[6:513] else ""
        return f"Rich Text Format data{version}{ansi}", "text/rtf"
    return None
