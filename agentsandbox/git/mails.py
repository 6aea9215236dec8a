"""Reading mails with patches, as `git am` does (mailsplit and mailinfo).

A mailbox is split at its lines "From …". Of a mail, the header and the first lines of the body give
author, date and subject; the text up to "---" or the first difference is the message, and all that
follows is the patch.
"""

from __future__ import annotations

import re

from agentsandbox.git.errors import GitError
from agentsandbox.kernel.streams import decode, encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from email.message import Message

_IN_BODY = re.compile(r"(From|Subject|Date):(.*+)", re.IGNORECASE)
_SEPARATORS = re.compile(r"[\s<>()\"]")
_SCISSORS = re.compile(r"8<|>8|%<|>%")
_MOST_NAME = 60


class Mail:
    """What a mail says."""

    def __init__(self) -> None:
        self.name = self.mail = self.date = ""
        self.subject = ""
        self.message_id = ""
        self.message = ""
        self.patch = b""

    def info(self) -> str:
        """Return the text that mailinfo prints."""
        lines = []
        if self.name or self.mail:
            lines += [f"Author: {self.name}\n", f"Email: {self.mail}\n"]
        if self.subject:
            lines.append(f"Subject: {self.subject}\n")
        if self.date:
            lines.append(f"Date: {self.date}\n")
        return "".join(lines) + "\n"


class HowToRead:
    """The options of mailinfo."""

    def __init__(self) -> None:
        self.keeps = ""
        """"" to clean subjects, "non-patch" to keep "[…]" without PATCH, "all"."""
        self.message_id = False
        self.scissors = False


def is_from_line(line: bytes) -> bool:
    """Whether a line begins a mail in a mailbox."""
    if not line.startswith(b"From ") or len(line) < 20:
        return False
    colon = line.rfind(b":", 0, len(line) - 2)
    if colon < 9:
        return False
    around = line[colon - 4 : colon + 3]
    digits = [around[at : at + 1].isdigit() for at in (0, 2, 3, 5, 6)]
    year = re.match(rb"\s*([0-9]++)", line[colon + 3 :])
    return all(digits) and year is not None and int(year[1][:9]) > 90


def split_mailbox(data: bytes, name: str, *, keep_cr: bool = False) -> list[bytes]:
    """Return the mails of a mailbox; GitError for an empty one."""
    if not data.strip():
        raise GitError(f"empty mbox: '{name}'")
    lines = data.split(b"\n")
    lines = [line + b"\n" for line in lines[:-1]] + ([lines[-1]] if lines[-1] else [])
    if not keep_cr:
        lines = [line[:-2] + b"\n" if line.endswith(b"\r\n") else line for line in lines]
    while lines and not lines[0].strip():
        del lines[0]
    mails: list[list[bytes]] = []
    splits = is_from_line(lines[0])
    for number, line in enumerate(lines):
        if not number or (splits and is_from_line(line)):
            mails.append([])
        mails[-1].append(line)
    return [b"".join(mail) for mail in mails]


def read_mail(data: bytes, how: HowToRead) -> Mail:
    """Return what a mail says."""
    import email
    import email.policy

    found = Mail()
    if data.startswith(b"From "):
        data = data.partition(b"\n")[2]
    message = email.message_from_bytes(data, policy=email.policy.compat32)
    _read_sender(found, _header(message, "From"))
    found.subject = _clean_subject(_header(message, "Subject"), how)
    found.date = _header(message, "Date")
    found.message_id = _header(message, "Message-ID")
    text, charset = _text_of(message)
    _read_body(found, text, charset, how)
    return found


def _header(message: Message, name: str) -> str:
    """Return a header, decoded, on one line."""
    from email.errors import HeaderParseError
    from email.header import decode_header

    value = message.get(name)
    if value is None:
        return ""
    text = decode(encode(str(value)))
    try:
        pieces = decode_header(text) if "=?" in text else [(text, None)]
    except HeaderParseError:
        pieces = [(text, None)]
    made = []
    for piece, charset in pieces:
        made.append(piece if isinstance(piece, str) else _recoded(piece, charset))
    return " ".join("".join(made).split())


def _recoded(data: bytes, charset: str | None) -> str:
    """Return bytes of a charset as text."""
    if charset is None or charset.lower() in ("utf-8", "us-ascii", "unknown-8bit"):
        return decode(data)
    try:
        return str(data, charset)
    except (LookupError, UnicodeError):
        return decode(data)


def _text_of(message: Message) -> tuple[bytes, str | None]:
    """Return the text of a mail, all its parts together, and the charset of the first one."""
    parts = [part for part in message.walk() if not part.is_multipart()]
    texts = []
    for part in parts:
        payload = part.get_payload(decode=True)
        if isinstance(payload, bytes):
            texts.append(payload)
    return b"".join(texts), parts[0].get_content_charset() if parts else None


def _read_sender(found: Mail, text: str) -> None:
    """Take the name and the address of a header "From"."""
    address = next((word for word in _SEPARATORS.split(text) if "@" in word[1:]), None)
    if address is None:
        return
    found.mail = address
    framed = f"<{address}>"
    rest = text.replace(framed if framed in text else address, " ", 1)
    name = " ".join(rest.split())
    if name.startswith("(") and name.endswith(")"):
        name = name[1:-1]
    if name.startswith('"') and name.endswith('"') and len(name) > 1:
        name = re.sub(r"\\(.)", r"\1", name[1:-1])
    unusual = len(name) > _MOST_NAME or any(each in name for each in "@<>")
    found.name = found.mail if unusual or not name else name


def _clean_subject(text: str, how: HowToRead) -> str:
    """Return a subject without "Re:" and "[PATCH]" at its beginning."""
    if how.keeps == "all":
        return text
    kept = ""
    while text:
        text = text.lstrip()
        if text[:3].lower() == "re:":
            text = text[3:]
        elif text.startswith(":"):
            text = text[1:]
        elif text.startswith("["):
            end = text.find("]")
            if end < 0:
                break
            if how.keeps == "non-patch" and "PATCH" not in text[:end]:
                kept += text[: end + 1] + " "
            text = text[end + 1 :]
        else:
            break
    return (kept + text).strip()


def _is_break(line: bytes) -> bool:
    """Whether a line begins the patch."""
    if line.startswith((b"diff -", b"Index: ")):
        return True
    if not line.startswith(b"---") or len(line) < 4:
        return False
    if line[3:4] == b" " and not line[4:5].isspace():
        return True
    return not line[3:].strip()


def _is_scissors(line: str) -> bool:
    """Whether a line says that what is above it is not part of the message."""
    if _SCISSORS.search(line) is None:
        return False
    marks = len(_SCISSORS.findall(line)) * 2 + line.count("-")
    visible = line.strip()
    return len(visible) >= 8 and len(visible) < 3 * marks


def _read_body(found: Mail, data: bytes, charset: str | None, how: HowToRead) -> None:
    """Take what the first lines of a body say, the message, and the patch."""
    lines = data.split(b"\n")
    lines = [line + b"\n" for line in lines[:-1]] + ([lines[-1]] if lines[-1] else [])
    message: list[str] = []
    headers, seen = True, False
    at = 0
    while at < len(lines) and not _is_break(lines[at]):
        line = _recoded(lines[at], charset)
        at += 1
        if headers:
            if not line.strip() and not message:
                headers = not seen
                continue
            header = _IN_BODY.fullmatch(line.rstrip("\n"))
            if header is not None:
                seen = True
                _take_header(found, header[1].lower(), header[2].strip(), how)
                continue
            headers = False
        if how.scissors and _is_scissors(line):
            message, headers = [], True
            continue
        message.append(line)
    found.message = "".join(message)
    if how.message_id and found.message_id:
        found.message += f"Message-Id: {found.message_id}\n"
    found.patch = b"".join(lines[at:])


def _take_header(found: Mail, name: str, value: str, how: HowToRead) -> None:
    if name == "from":
        _read_sender(found, value)
    elif name == "subject":
        found.subject = _clean_subject(value, how)
    else:
        found.date = value
