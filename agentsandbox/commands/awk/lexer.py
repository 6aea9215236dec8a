"""Awk source into tokens. Whether a slash divides or opens a regular expression is told by the
token before it.
"""

from __future__ import annotations

import re

from agentsandbox.kernel.streams import decode, encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from agentsandbox.kernel.budget import Budget

KEYWORDS = frozenset(
    "BEGIN END BEGINFILE ENDFILE function func if else while do for in break continue next nextfile exit return delete "
    "getline print printf switch case default".split()
)
BUILTINS = frozenset(
    "length substr index split sub gsub gensub match sprintf sin cos atan2 exp log sqrt int rand srand tolower toupper system close "
    "fflush strftime systime mktime asort asorti and or xor lshift rshift compl strtonum typeof isarray".split()
)
OPERAND_ENDS = frozenset(("NUMBER", "STRING", "ERE", "NAME", "BUILTIN", ")", "]", "++", "--"))
_LINES = 1 << 32
"""More lines than a piece of program text has."""
COMMENT = "#"
"""The value of a newline behind a comment: it stands where that begins."""
_DIRECTIVE = re.compile(r"@(?:/|[A-Za-z_]*)")
_JOINED = re.compile(r"(?:[^\\\n]|\\.)*", re.DOTALL)
_TOKEN = re.compile(
    r"(?P<blank>[ \t\r]+|\\(?:\r?\n|\Z))|(?P<comment>#[^\n]*)|(?P<newline>\n)"
    r"|(?P<number>0[xX][0-9a-fA-F]+|(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)"
    r"|(?P<name>[A-Za-z_][A-Za-z0-9_]*)"
    r"|(?P<string>\")"
    r"|(?P<operator>\*\*=|\*\*|&&|\|\||\+\+|--|\+=|-=|\*=|/=|%=|\^=|==|<=|>=|!=|!~|>>|[-+*/%^!<>|?:~$=,;(){}\[\]@])"
)
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
_REGEX_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_REGEX_ESCAPES = frozenset("<>`'BywWsS{}()|*+?.^$\\[]/-abfnrtvx01234567\n")
_ESCAPE = re.compile(r"\\(?:x([0-9a-fA-F]{1,2})|([0-7]{1,3})|(\r?\n|\Z)|(.))", re.DOTALL)


class Source:
    """A piece of program text and the name messages give it: "cmd. line" or a file's."""

    __slots__ = ("base", "name", "text")

    def __init__(self, name: str, text: str, number: int = 0) -> None:
        self.name = name
        self.text = text
        self.base = number * _LINES
        """The line before its first one: the pieces of a program have lines of their own."""

    def place(self, line: int) -> str:
        """How messages tell the line of a token or node."""
        return f"{self.name}:{line - self.base}"


def place_of(sources: Sequence[Source], line: int) -> str:
    """As `Source.place`, where a line of any of them is meant."""
    return sources[line // _LINES].place(line)


class AwkSyntaxError(Exception):
    """A program that is no awk program; `lines` are the messages, without the command's name."""

    def __init__(self, *lines: str) -> None:
        self.lines = lines
        super().__init__(lines[0])


class Token:
    """`kind` is NUMBER, STRING, ERE, NAME, CALL (a name before its parenthesis), BUILTIN, NEWLINE,
    EOF, or the token's own text.
    """

    __slots__ = ("error", "kind", "line", "position", "value")

    def __init__(
        self, kind: str, value: str, line: int, position: int, error: AwkSyntaxError | None = None
    ) -> None:
        self.kind = kind
        self.value = value
        self.line = line
        self.position = position
        self.error = error
        """What is wrong there, for a token that is none."""

    def __repr__(self) -> str:
        return f"{self.kind}:{self.value!r}"


def point_at(source: Source, position: int, message: str, later: int = 0) -> AwkSyntaxError:
    """The error that shows the line of `position` and a caret below it; its number is `later` lines
    too large, as gawk has it.
    """
    text = source.text
    line = text.count("\n", 0, position) + 1 + later
    start = text.rfind("\n", 0, position) + 1
    end = text.find("\n", position)
    shown = text[start : len(text) if end < 0 else end]
    blanks = "".join(
        "\t" if character == "\t" else " " * len(encode(character))
        for character in text[start:position]
    )
    return AwkSyntaxError(
        f"{source.name}:{line}: {shown}", f"{source.name}:{line}: {blanks}^ {message}"
    )


def unescape(text: str, warn: Callable[[str], None] | None = None) -> str:
    """What a string constant or a `-v` value stands for. A byte above 127 in octal or hex is that
    byte, not that character.
    """
    if "\\" not in text:
        return text

    def replace(found: re.Match[str]) -> str:
        hexadecimal, octal, nothing, other = found.groups()
        if hexadecimal or octal:
            number = int(hexadecimal, 16) if hexadecimal else int(octal, 8) & 255
            return chr(number) if number < 128 else chr(0xDC00 + number)
        if nothing is not None:
            return ""
        if other in _ESCAPES:
            return _ESCAPES[other]
        if warn is not None and other == "x":
            warn("no hex digits in `\\x' escape sequence")
        elif warn is not None:
            shown = decode(encode(other)[:1])
            warn(f"escape sequence `\\{shown}' treated as plain `{shown}'")
        return str(other)

    text = _ESCAPE.sub(replace, text)
    return _join_bytes(text)


def doubtful_escapes(regex: str) -> list[str]:
    """What is to be said of the escapes in a regular expression."""
    messages: list[str] = []
    for character in _REGEX_ESCAPE.findall(regex) if "\\" in regex else ():
        if character in "89":
            messages.append(
                f"regexp escape sequence `\\{character}' treated as plain `{character}'"
            )
        elif character not in _REGEX_ESCAPES:
            messages.append(
                f"regexp escape sequence `\\{decode(encode(character)[:1])}' is not a known regexp operator"
            )
    return messages


def _join_bytes(text: str) -> str:
    """Bytes that escapes put side by side may be one UTF-8 character."""
    if any("\udc80" <= character <= "\udcff" for character in text):
        return decode(encode(text))
    return text


def _no_token(source: Source, position: int) -> AwkSyntaxError:
    """The error for a character that nothing begins with."""
    character = source.text[position]
    if character == "\\":
        return point_at(source, position, "backslash not last character on line")
    if character in ".&":
        return point_at(source, position, "syntax error")
    return point_at(
        source, position, f"invalid char '{decode(encode(character)[:1])}' in expression"
    )


def _string_end(text: str, position: int) -> int:
    """Where the quote is that ends the string whose opening quote is at `position`; -1 if there is
    none on the line.
    """
    while True:
        position += 1
        if position >= len(text) or text[position] == "\n":
            return -1
        if text[position] == "\\":
            position += 1
        elif text[position] == '"':
            return position


def _regex_end(text: str, position: int) -> int:
    """Where the slash is that ends the regular expression which starts after `position`; -1 if
    there is none on the line.
    """
    in_brackets = False
    while True:
        position += 1
        if position >= len(text) or text[position] == "\n":
            return -1
        character = text[position]
        if character == "\\":
            position += 1
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


def tokenize(source: Source, warn: Callable[[str, int], None], budget: Budget) -> list[Token]:
    """All tokens up to one that is wrong, EOF last. `warn(message, line)` hears of doubtful
    escapes.
    """
    text = source.text
    tokens: list[Token] = []
    append = tokens.append
    position, line, end = 0, source.base + 1, len(text)
    before = ""
    comment = -1
    while position < end:
        budget.left -= 1
        if budget.left < 0:
            budget.tick()
        found = _TOKEN.match(text, position)
        if found is None:
            append(Token("", "", line, position, _no_token(source, position)))
            break
        kind, value, start = found.lastgroup, found[0], position
        position = found.end()
        if kind == "blank":
            line += value.count("\n")
            continue
        if kind == "comment":
            comment = start
            continue
        if kind == "newline":
            append(
                Token("NEWLINE", value, line, start)
                if comment < 0
                else Token("NEWLINE", COMMENT, line, comment)
            )
            line += 1
            comment = -1
        elif kind == "number":
            append(Token("NUMBER", value, line, start))
        elif kind == "name":
            append(Token(_kind_of_name(value, text, position), value, line, start))
        elif kind == "string":
            stop = _string_end(text, start)
            if stop < 0:
                joined = _JOINED.match(text, start).group().count("\n")  # type: ignore[union-attr]  # it matches everywhere
                append(
                    Token(
                        "", "", line, start, point_at(source, start, "unterminated string", joined)
                    )
                )
                break
            at = line + text.count("\n", start, stop)
            value = unescape(text[start + 1 : stop], lambda message, at=at: warn(message, at))  # type: ignore[misc]
            append(Token("STRING", value, line, start))
            line += text.count("\n", start, stop)
            position = stop + 1
        elif value in ("/", "/=") and before not in OPERAND_ENDS:
            stop = _regex_end(text, start)
            if stop < 0:
                unfinished = (
                    "unterminated regexp"
                    if start + 1 < end
                    else "unexpected newline or end of string"
                )
                append(Token("", "", line, start, point_at(source, start + 1, unfinished)))
                break
            append(Token("ERE", text[start + 1 : stop].replace("\\/", "/"), line, start))
            position = stop + 1
        elif value == "@" or (value == "|" and text[position : position + 1] == "&"):
            shown = "|&" if value == "|" else _DIRECTIVE.match(text, start)[0]  # type: ignore[index]  # it matches there
            absent = AwkSyntaxError(
                f"{source.place(line)}: error: gawk's `{shown}' is not available here"
            )
            append(Token("", "", line, start, absent))
            break
        else:
            value = "^" if value == "**" else "^=" if value == "**=" else value
            append(Token(value, value, line, start))
        before = tokens[-1].kind
    if before != "NEWLINE" or comment >= 0:
        append(
            Token("NEWLINE", "", line, end)
            if comment < 0
            else Token("NEWLINE", COMMENT, line, comment)
        )
    append(Token("EOF", "", line, end))
    return tokens


def _kind_of_name(name: str, text: str, end: int) -> str:
    if name in KEYWORDS:
        return "function" if name == "func" else name
    if name in BUILTINS:
        return "BUILTIN"
    return "CALL" if text[end : end + 1] == "(" else "NAME"
