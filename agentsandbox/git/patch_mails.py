"""Commits as mails with patches: what `git format-patch` writes and `git am` reads.

A mail is a header (RFC 2822, with RFC 2047 for names and subjects that are not ASCII), the message,
"---", statistics, the patch, and a signature. `format-patch`, `log --format=email` and the host's
`sandbox.git.format_patches` share what is here.
"""

from __future__ import annotations

import re

from agentsandbox.git.dates import parse_style, show_date
from agentsandbox.git.diff.options import DiffOptions
from agentsandbox.git.diff.printing import DiffPrinter
from agentsandbox.git.pretty import Person
from agentsandbox.git.texts import body_of, sanitized_subject, subject_of
from agentsandbox.git.trees import diff_trees
from agentsandbox.kernel.streams import decode, encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.git.invocation import Invocation
    from agentsandbox.git.objects import Commit

MOST_NAME = 64
"""The bytes of a file's name, its ending and a NUL included (format.filenameMaxLength)."""
SIGNATURE = "2.39.5"
_LINE, _ENCODED = 78, 76
_MAIL_DATE = "rfc"
_QUOTED = re.compile(r'[()<>\[\]:;@,."\\]')


def patch_name(
    commit: Commit, number: int, *, suffix: str = ".patch", most: int = MOST_NAME
) -> str:
    """Return the name of a mail's file, "0001-subject.patch"."""
    name = f"{number:04d}-{sanitized_subject(commit.message)}"
    return name[: max(0, most - len(suffix) - 1)] + suffix


def subject_mark(number: int, total: int, prefix: str = "PATCH") -> str:
    """Return what stands before the subject: "[PATCH 1/2] "; without numbers if total is 0."""
    if total > 0:
        count = f"{number:0{len(str(total))}d}/{total}"
        return f"[{prefix}{' ' if prefix else ''}{count}] "
    return f"[{prefix}] " if prefix else ""


def mail_header(
    commit: Commit,
    mark: str,
    *,
    name: str | None = None,
    before_from: str = "",
    after_subject: str = "",
    sender: bytes | None = None,
    encodes: bool = True,
    keeps_subject: bool = False,
) -> bytes:
    """Return the header of a mail, the blank line after it, and the message.

    mark           what stands before the subject
    name           the object's name in the first line
    before_from    lines before "From: " (Message-Id …)
    after_subject  lines after the subject (To, Cc …)
    sender         the ident of the one who sends it; another author is named in the body
    encodes        whether words that are not ASCII are encoded (RFC 2047)
    keeps_subject  whether the lines of the subject are kept (-k)
    """
    author = Person(commit.author)
    shown, inside = author, ""
    if sender is not None:
        other = Person(sender)
        if (other.name, other.mail) != (author.name, author.mail):
            shown = other
            inside = f"From: {author.name} <{author.mail}>\n\n"
    style = parse_style(_MAIL_DATE)
    assert style is not None
    date = show_date(author.seconds, author.zone, style, 0, "UTC")
    lines = [f"From {name or commit.oid} Mon Sep 17 00:00:00 2001\n", before_from]
    lines += [_address("From: ", shown, encodes=encodes), f"Date: {date}\n"]
    subject = decode(
        _subject_lines(commit.message) if keeps_subject else subject_of(commit.message)
    )
    lines += [_subject(f"Subject: {mark}", subject, encodes=encodes)]
    if not _is_plain(decode(commit.message)):
        charset = decode(commit.shown_encoding) or "UTF-8"
        lines.append(
            "MIME-Version: 1.0\n"
            f"Content-Type: text/plain; charset={charset}\n"
            "Content-Transfer-Encoding: 8bit\n"
        )
    lines += [after_subject, "\n", inside]
    body = [decode(line.rstrip(b" \t\r\v\f")) for line in body_of(commit.message).split(b"\n")]
    text = "\n".join(body).rstrip()
    return encode("".join(lines) + (f"{text}\n" if text else ""))


def write_patch_mail(
    git: Invocation,
    commit: Commit,
    header: bytes,
    options: DiffOptions,
    *,
    signature: str = SIGNATURE,
) -> None:
    """Write a mail: its header with the message, statistics and the patch."""
    git.write(header)
    objects = git.repository.objects
    parents = git.repository.parents(commit.oid)
    base = objects.commit(parents[0]).tree if parents else None
    printer = DiffPrinter(git, options, mnemonic=("c/", "c/"))
    deltas = printer.prepare(diff_trees(objects, base, commit.tree))
    if deltas:
        git.write(b"---\n" if options.formats & {"stat", "summary"} else b"\n")
        printer.print(deltas)
    if signature:
        git.write(encode(f"-- \n{signature}\n\n"))


def mail_options(git: Invocation) -> DiffOptions:
    """Return how mails show differences: statistics, a summary, patches that can be applied."""
    options = DiffOptions()
    options.formats |= {"stat", "summary", "patch"}
    options.binary = True
    options.stat_width = 72
    options.color = "never"
    options.configure(git)
    return options


def _subject_lines(message: bytes) -> bytes:
    """Return the first paragraph of a message with its lines."""
    lines: list[bytes] = []
    for line in message.split(b"\n"):
        if line.strip():
            lines.append(line.rstrip(b" \t\r\v\f"))
        elif lines:
            break
    return b"\n".join(lines)


def _is_plain(text: str) -> bool:
    return text.isascii() and "\x1b" not in text


def _needs_encoding(text: str) -> bool:
    return not _is_plain(text) or "\n" in text or "=?" in text


def _address(start: str, person: Person, *, encodes: bool) -> str:
    most = _LINE
    name = person.name
    if encodes and _needs_encoding(name):
        text, most = start + _encoded(name, len(start), in_address=True), _ENCODED
    elif _QUOTED.search(name):
        escaped = name.replace("\\", "\\\\").replace('"', '\\"')
        text = start + _wrapped(f'"{escaped}"', len(start))
    else:
        text = start + _wrapped(name, len(start))
    used = len(encode(text.rpartition("\n")[2]))
    space = "\n" if most < used + len(encode(person.mail)) + 3 else ""
    return f"{text}{space} <{person.mail}>\n"


def _subject(start: str, subject: str, *, encodes: bool) -> str:
    if encodes and _needs_encoding(subject):
        return f"{start}{_encoded(subject, len(start), in_address=False)}\n"
    return f"{start}{_wrapped(subject, len(start))}\n"


def _wrapped(text: str, used: int) -> str:
    """Return a text in lines of 78 columns, those after the first with a space before them."""
    out: list[str] = []
    is_first = True
    for part in re.findall(r" *+[^ ]++| ++", text):
        if not is_first and used + len(part) > _LINE:
            out.append("\n ")
            part = part[1:]
            used = 1
        out.append(part)
        used += len(part)
        is_first = False
    return "".join(out)


def _encoded(text: str, used: int, *, in_address: bool) -> str:
    """Return a text as encoded words of RFC 2047, in lines of 76 columns."""
    start = "=?UTF-8?q?"
    out = [start]
    used += len(start)
    for character in text:
        code = encode(character)
        if len(code) > 1 or _is_special(character, in_address=in_address):
            piece = "".join([f"={byte:02X}" for byte in code])
        else:
            piece = character
        if used + len(piece) + 2 > _ENCODED:
            out.append(f"?=\n {start}")
            used = len(start) + 1
        out.append(piece)
        used += len(piece)
    return "".join(out) + "?="


def _is_special(character: str, *, in_address: bool) -> bool:
    if not " " < character <= "~" or character in "=?_":
        return True
    return in_address and not (character.isalnum() or character in "!*+-/")
