"""String constants and regular expressions in awk source, and the escapes in both."""

from __future__ import annotations

import re

from agentsandbox.commands.awk.modes import DEFAULT
from agentsandbox.commands.awk.syntax_errors import point_at
from agentsandbox.commands.awk.tokens import AwkSyntaxError
from agentsandbox.kernel.expressions import lazily
from agentsandbox.kernel.streams import decode, encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from agentsandbox.commands.awk.modes import Mode
    from agentsandbox.commands.awk.tokens import Lexer

_ESCAPES = {
    "n": "\n",
    "t": "\t",
    "\\": "\\",
    '"': '"',
    "a": "\a",
    "b": "\b",
    "f": "\f",
    "v": "\v",
    "r": "\r",
}
_ESCAPE = lazily(r"\\(?:x([0-9a-fA-F]{1,2})|([0-7]{1,3})|(\r?\n|\Z)|(.))", re.DOTALL)
_REGEX_ESCAPE = lazily(r"\\(.)", re.DOTALL)
_JOINED = lazily(r"(?:[^\\\n]|\\.)*", re.DOTALL)
_CONTINUED = lazily(r"\\\r?\n|(\\.)", re.DOTALL)


def read_string(lexer: Lexer, start: int) -> bool:
    """Add a string constant; false if it is wrong."""
    stop = _string_end(lexer.text, start)
    if stop < 0:
        joined = _JOINED.match(lexer.text, start)
        assert joined is not None
        lines = joined[0].count("\n")
        return lexer.fail(start, point_at(lexer.source, start, "unterminated string", lines))
    lines = lexer.text.count("\n", start, stop)
    line = lexer.line + lines
    if lines and lexer.mode.posix:
        message = "fatal: POSIX does not allow physical newlines in string values"
        place = lexer.source.place(lexer.line)
        return lexer.fail(start, AwkSyntaxError(f"{place}: {message}"))
    value = lexer.text[start + 1 : stop]
    if "\\" in value:
        value = without_escapes(value, lambda message: lexer.warn(message, line), lexer.mode)
    lexer.add("STRING", value, start)
    lexer.line = line
    lexer.position = stop + 1
    return True


def _string_end(text: str, position: int) -> int:
    """Return the position of the quote that ends the string opened at `position`; -1 for none."""
    while True:
        position += 1
        if position >= len(text) or text[position] == "\n":
            return -1
        if text[position] == "\\":
            position += 2 if text.startswith("\r\n", position + 1) else 1
        elif text[position] == '"':
            return position


def read_regex(lexer: Lexer, start: int, kind: str = "ERE") -> bool:
    """Add a regular expression; false if it is wrong."""
    stop = _regex_end(lexer.text, start)
    if stop < 0:
        message = "unexpected newline or end of string"
        if start + 1 < len(lexer.text):
            message = "unterminated regexp"
        return lexer.fail(start, point_at(lexer.source, start + 1, message))
    source = lexer.text[start + 1 : stop].replace("\\/", "/")
    lines = source.count("\n")
    if lines:
        source = _CONTINUED.sub(lambda found: found[1] or "", source)
    lexer.add(kind, source, start)
    lexer.line += lines
    lexer.position = stop + 1
    return True


def _regex_end(text: str, position: int) -> int:
    """Return the position of the slash that ends a regular expression; -1 for none on the line."""
    in_brackets = False
    while True:
        position += 1
        if position >= len(text) or text[position] == "\n":
            return -1
        character = text[position]
        if character == "\\":
            position += 2 if text.startswith("\r\n", position + 1) else 1
        elif in_brackets:
            if character == "[" and text[position + 1 : position + 2] in (":", ".", "="):
                closing = text.find(text[position + 1] + "]", position + 2)
                if closing > 0 and "\n" not in text[position:closing]:
                    position = closing + 1
            elif character == "]":
                in_brackets = False
        elif character == "[":
            in_brackets = True
            if text[position + 1 : position + 2] == "^":
                position += 1
            if text[position + 1 : position + 2] == "]":
                position += 1
        elif character == "/":
            return position


def without_escapes(text: str, warn: Callable[[str], None] | None, mode: Mode) -> str:
    """As `unescape`, for a text with a backslash."""

    def replace(found: re.Match[str]) -> str:
        hexadecimal, octal, nothing, other = found.groups()
        if hexadecimal and mode.posix:
            return found[0][1:]
        if hexadecimal or octal:
            number = int(hexadecimal, 16) if hexadecimal else int(octal, 8) & 255
            return chr(number) if number < 128 else chr(0xDC00 + number)
        if nothing is not None:
            return ""
        if other in _ESCAPES:
            return _ESCAPES[other]
        if warn is not None and other == "x" and not mode.posix:
            warn("no hex digits in `\\x' escape sequence")
        elif warn is not None:
            shown = decode(encode(other)[:1])
            warn(f"escape sequence `\\{shown}' treated as plain `{shown}'")
        return str(other)

    text = _ESCAPE.sub(replace, text)
    return _join_bytes(text)


def _join_bytes(text: str) -> str:
    """Join bytes that escapes put side by side: they may be one UTF-8 character."""
    if any("\udc80" <= character <= "\udcff" for character in text):
        return decode(encode(text))
    return text


def doubtful_escapes(regex: str, mode: Mode = DEFAULT) -> list[str]:
    """Return the warnings about the escapes in a regular expression."""
    messages: list[str] = []
    for character in _REGEX_ESCAPE.findall(regex) if "\\" in regex else ():
        if character in "89":
            messages.append(
                f"regexp escape sequence `\\{character}' treated as plain `{character}'"
            )
        elif character not in mode.regex_escapes:
            shown = decode(encode(character)[:1])
            messages.append(f"regexp escape sequence `\\{shown}' is not a known regexp operator")
    return messages
