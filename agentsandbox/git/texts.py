"""Texts: searching messages with patterns, cleaning messages, wrapping lines."""

from __future__ import annotations

from agentsandbox.git.errors import Fatal
from agentsandbox.kernel.streams import decode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from agentsandbox.kernel.budget import Budget

SCISSORS = b"------------------------ >8 ------------------------\n"
"""What a line says, after the comment character, under which a message ends."""


def text_search(
    pattern: str,
    budget: Budget,
    *,
    extended: bool = False,
    fixed: bool = False,
    perl: bool = False,
    ignore_case: bool = False,
) -> Callable[[bytes], bool]:
    """Return a test of whether a line of a text matches a pattern; Fatal if it is not valid."""
    from agentsandbox.kernel.regexps import RegexError, compile_perl, compile_posix

    if fixed:
        needle = pattern.lower() if ignore_case else pattern

        def has(data: bytes) -> bool:
            text = decode(data)
            return needle in (text.lower() if ignore_case else text)

        return has
    try:
        if perl:
            regex = compile_perl(pattern, ignore_case=ignore_case)
        else:
            regex = compile_posix(
                pattern, extended=extended, ignore_case=ignore_case, newline_anchors=True,
                newline_safe=True,
            )  # type: ignore[assignment]  # fmt: skip
    except RegexError as error:
        raise Fatal(f"command line, '{pattern}': {error}") from None

    def matches(data: bytes) -> bool:
        budget.step(1 + len(data) // 64)
        return any(regex.test(line, budget) for line in decode(data).split("\n"))

    return matches


def strip_space(data: bytes, comment: bytes = b"") -> bytes:
    """Return a message without trailing spaces, runs of blank lines and, if given, comments."""
    lines: list[bytes] = []
    blank = False
    for line in data.split(b"\n"):
        if comment and line.startswith(comment):
            continue
        line = line.rstrip(b" \t\r\v\f")
        if not line:
            blank = True
            continue
        if blank and lines:
            lines.append(b"")
        blank = False
        lines.append(line)
    return b"\n".join(lines) + b"\n" if lines else b""


def clean_message(data: bytes, mode: str, comment: bytes = b"#") -> bytes:
    """Return a message as a mode of `--cleanup` leaves it: "strip", "whitespace" …"""
    if mode == "verbatim":
        return data
    if mode == "scissors":
        return strip_space(before_scissors(data, comment))
    return strip_space(data, comment if mode == "strip" else b"")


def before_scissors(data: bytes, comment: bytes) -> bytes:
    """Return a message up to the line of scissors."""
    mark = comment + b" " + SCISSORS
    if data.startswith(mark):
        return b""
    at = data.find(b"\n" + mark)
    return data if at < 0 else data[: at + 1]


def subject_of(message: bytes) -> bytes:
    """Return the first paragraph of a message on one line."""
    lines: list[bytes] = []
    for line in message.split(b"\n"):
        stripped = line.strip(b" \t\r\v\f")
        if not stripped:
            if lines:
                break
            continue
        lines.append(line.rstrip(b" \t\r\v\f"))
    return b" ".join(lines)


def body_of(message: bytes) -> bytes:
    """Return a message without its first paragraph."""
    lines = message.split(b"\n")
    at = 0
    while at < len(lines) and not lines[at].strip():
        at += 1
    while at < len(lines) and lines[at].strip():
        at += 1
    while at < len(lines) and not lines[at].strip():
        at += 1
    return b"\n".join(lines[at:])


def sanitized_subject(message: bytes) -> str:
    """Return a subject as part of a file's name (%f)."""
    out: list[str] = []
    space = 2
    for byte in subject_of(message):
        character = chr(byte)
        if (byte < 128 and character.isalnum()) or character in "._":
            if space == 1:
                out.append("-")
            space = 0
            if character == "." and out and out[-1] == ".":
                continue
            out.append(character)
        else:
            space |= 1
    return "".join(out).rstrip(".-")


def wrap_text(text: str, width: int, first: int, others: int) -> str:
    """Return a text wrapped at a width, with indentation (of %w)."""
    if width <= 0:
        lines = text.split("\n")
        return "\n".join(
            [" " * (first if number == 0 else others) + line for number, line in enumerate(lines)]
        )
    out: list[str] = []
    indent = first
    for paragraph in text.split("\n\n"):
        line = " " * indent
        used = indent
        words = paragraph.split()
        for number, word in enumerate(words):
            space = 1 if number and line.strip() else 0
            if used + space + len(word) > width and line.strip():
                out.append(line)
                line, used, space = " " * others, others, 0
            line += " " * space + word
            used += space + len(word)
        out.append(line)
        out.append("")
        indent = others
    out.pop()
    return "\n".join(out)


def expand_elements(
    format: str, value: Callable[[str], str], complaint: str, *, literals: bool
) -> str:
    """Return a format of `cat-file` or `ls-tree` with its %(elements) replaced.

    literals  whether "%n" and "%x00" are characters, and any other "%" an error; else it stays
    """
    out: list[str] = []
    at = 0
    while (found := format.find("%", at)) >= 0:
        out.append(format[at:found])
        at = found + 1
        following = format[at : at + 1]
        if following == "(":
            end = format.find(")", at)
            if end < 0:
                raise Fatal(f"{complaint}element '{format[at:]}' does not end in ')'")
            out.append(value(format[at + 1 : end]))
            at = end + 1
        elif following == "%":
            out.append("%")
            at += 1
        elif not literals:
            out.append("%")
        elif following == "n":
            out.append("\n")
            at += 1
        elif following == "x" and (code := _byte(format[at + 1 : at + 3])) is not None:
            out.append(decode(bytes([code])))
            at += 3
        else:
            raise Fatal(f"{complaint}element '{format[at:]}' does not start with '('")
    return "".join([*out, format[at:]])


def _byte(digits: str) -> int | None:
    if len(digits) == 2 and all(digit in "0123456789abcdefABCDEF" for digit in digits):
        return int(digits, 16)
    return None


def text_width(text: str) -> int:
    """Return how many columns a text takes in a terminal."""
    if text.isascii():
        return sum(letter >= " " for letter in text) if not text.isprintable() else len(text)
    from unicodedata import combining, east_asian_width

    return sum(
        0 if combining(each) or each < " " else 2 if east_asian_width(each) in "WF" else 1
        for each in text
    )


def split_words(text: str) -> list[str]:
    """Return the words of a command line in the configuration; ValueError if it is cut off."""
    found: list[str] = []
    word: list[str] | None = None
    quote = ""
    at = 0
    while at < len(text):
        character = text[at]
        if not quote and character in " \t\n":
            if word is not None:
                found.append("".join(word))
                word = None
        elif not quote and character in "'\"":
            quote = character
            word = word or []
        elif character == quote:
            quote = ""
        else:
            if character == "\\" and quote != "'":
                at += 1
                if at >= len(text):
                    raise ValueError("cmdline ends with \\")
                character = text[at]
            word = word or []
            word.append(character)
        at += 1
    if quote:
        raise ValueError("unclosed quote")
    if word is not None:
        found.append("".join(word))
    return found
