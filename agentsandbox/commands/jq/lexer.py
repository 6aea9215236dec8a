"""Tokens of a jq program; strings are cut into their literal and interpolated parts here."""

from __future__ import annotations

import re

from agentsandbox.errors import LimitReached

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn

KEYWORDS = frozenset(
    (
        "as", "import", "include", "module", "def", "if", "then", "else", "elif", "end",
        "and", "or", "reduce", "foreach", "try", "catch", "label", "__loc__",
    )
)  # fmt: skip

_TOKEN = re.compile(
    r"""
    (?P<blank>[ \t\n\r]+|\#(?:[^\n\r\\]|\\(?:\r\n|[\s\S])?)*)
    |(?P<number>(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)
    |(?P<field>\.[a-zA-Z_][a-zA-Z0-9_]*)
    |(?P<word>[a-zA-Z_][a-zA-Z_0-9]*)
    |(?P<variable>\$[ \t\n\r]*[a-zA-Z_][a-zA-Z_0-9]*)
    |(?P<format>@[a-zA-Z0-9_]+)
    |(?P<quote>")
    |(?P<sign>\?//|//=|\|=|\+=|-=|\*=|/=|%=|==|!=|<=|>=|//|\.\.|[.?=;:,()\[\]{}|+\-*/%$<>])
    """,
    re.VERBOSE,
)
_PLAIN = re.compile(r'[^"\\]+')
_ESCAPES = {'"': '"', "\\": "\\", "/": "/", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_CLOSING = {"(": ")", "[": "]", "{": "}"}
_NESTING = 1000
_IN_STRING = "expecting QQSTRING_TEXT or QQSTRING_INTERP_START or QQSTRING_END"


class JqSyntaxError(Exception):
    """The program is not jq: one or more reports of (message, offset into the source, length).

    An offset of -1 is no place.
    """

    def __init__(self, message: str, position: int, length: int) -> None:
        self.reports = [(message, position, length)]
        super().__init__(message)


class Token:
    """One token: its kind, its text, and where it stands in the source.

    `kind` is number, field, word, keyword, variable, format, string, sign, invalid or end. The
    parts of a string are literal text and lists of tokens, one list for each interpolation.
    """

    __slots__ = ("end", "error", "kind", "parts", "position", "text")

    def __init__(self, kind: str, text: str, position: int, end: int) -> None:
        self.kind = kind
        self.text = text
        self.position = position
        self.end = end
        self.parts: list[str | list[Token]] = []
        self.error: JqSyntaxError | None = None
        """What is wrong with the string behind these parts."""


_LONGEST = 1 << 20
"""Characters of a program."""


def tokenize(source: str) -> list[Token]:
    """Return the tokens of a program, ended by one of kind "end".

    Raises `JqSyntaxError`, and `LimitReached` for a program that is too long.
    """
    if len(source) > _LONGEST:
        raise LimitReached("value_bytes", "the program is too long")
    tokens, position = _scan(source, 0, 0)
    start = tokens[-1].end if tokens else position
    if source[start:position].strip(" \t\r\n"):  # a comment: its last character counts
        start = position - 1
    tokens.append(Token("end", "", start, position))
    return tokens


def _refuse_escape(
    source: str, position: int, length: int, what: str = "Invalid escape"
) -> NoReturn:
    text = source[position : position + length]
    reason = f"{what} at line 1, column {length + 2} (while parsing '\"{text}\"')"
    raise JqSyntaxError(reason, position, length)


def _scan(source: str, position: int, depth: int) -> tuple[list[Token], int]:
    """Return the tokens up to the end, or up to the ")" that closes an interpolation.

    The second result is the offset behind it, -1 if it is not closed.
    """
    tokens: list[Token] = []
    size = len(source)
    unclosed: list[str] = []
    begin = position
    if depth > _NESTING:
        message = "syntax error, unexpected QQSTRING_START, memory exhausted"
        raise JqSyntaxError(message, position, 1)
    while position < size:
        match = _TOKEN.match(source, position)
        if match is None:
            tokens.append(Token("invalid", source[position], position, position + 1))
            position += 1
            continue
        kind = match.lastgroup or ""
        start, end = position, match.end()
        position = end
        if kind == "blank":
            continue
        text = match[0]
        if kind == "quote":
            token = Token("string", text, start, end)
            tokens.append(token)
            try:
                position = token.end = _string(source, end, depth, token)
            except JqSyntaxError as error:
                token.error = error
                position = size
                break
            continue
        if kind == "word" and text in KEYWORDS:
            kind = "keyword"
        elif kind == "variable":
            text = "$" + text[1:].lstrip()
        elif kind == "sign" and text in _CLOSING:
            unclosed.append(_CLOSING[text])
        elif kind == "sign" and text in ")]}":
            if depth and text == ")" and not unclosed:
                tokens.append(Token("end", ")", start, end))
                return tokens, end
            if not unclosed or unclosed.pop() != text:
                kind = "invalid"
        tokens.append(Token(kind, text, start, end))
    if depth:
        start = tokens[-1].end if tokens else begin - 2
        tokens.append(Token("end", "", start, size))
        return tokens, -1
    return tokens, size


def _string(source: str, position: int, depth: int, token: Token) -> int:
    """Collect the parts of a string after its opening quote; return the offset after its end."""
    parts = token.parts
    text: list[str] = []
    size = len(source)
    start = position
    while True:
        plain = _PLAIN.match(source, position)
        if plain is not None:
            text.append(plain[0])
            position = plain.end()
        if position >= size:
            start = min(start, size - 1)  # the quote or parenthesis before, when nothing follows it
            message = f"syntax error, unexpected end of file, {_IN_STRING}"
            raise JqSyntaxError(message, start, max(1, size - start))
        if source[position] == '"':
            break
        following = source[position + 1 : position + 2]
        if following == "(":
            inner, end = _scan(source, position + 2, depth + 1)
            parts.append("".join(text))
            parts.append(inner)
            if end < 0:
                return size
            text.clear()
            position = start = end
        elif following in _ESCAPES and following:
            text.append(_ESCAPES[following])
            position += 2
        elif following == "u":
            character, position = _unicode(source, position)
            text.append(character)
        elif not following:
            message = f"syntax error, unexpected INVALID_CHARACTER, {_IN_STRING}"
            raise JqSyntaxError(message, position, 1)
        else:
            _refuse_escape(source, position, 2)
    parts.append("".join(text))
    return position + 1


_NEARLY_HEX = re.compile(r"\\u[0-9a-zA-Z]{0,4}")
_HEX = re.compile(r"\\u([0-9a-fA-F]{4})")


def _unicode(source: str, position: int) -> tuple[str, int]:
    first = _HEX.match(source, position)
    if first is None:
        found = _NEARLY_HEX.match(source, position)
        length = len(found[0]) if found is not None else 2
        what = "Invalid characters in" if length == 6 else "Invalid"
        _refuse_escape(source, position, length, f"{what} \\uXXXX escape")
    code = int(first[1], 16)
    position = first.end()
    if 0xD800 <= code < 0xDC00:
        second = _HEX.match(source, position)
        low = int(second[1], 16) if second is not None else 0
        if second is None or not 0xDC00 <= low < 0xE000:
            what = "Invalid \\uXXXX\\uXXXX surrogate pair escape"
            _refuse_escape(source, first.start(), 6, what)
        return chr(0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00)), second.end()
    return ("\ufffd" if 0xDC00 <= code < 0xE000 else chr(code)), position
