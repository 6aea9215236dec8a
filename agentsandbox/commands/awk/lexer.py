"""Awk source into tokens.

A slash divides after the end of an operand, and opens a regular expression anywhere else.
"""

from __future__ import annotations

import re

from agentsandbox.commands.awk.modes import (
    DEFAULT,
    EXTENSION_VARIABLES,
    EXTENSION_WORDS,
    EXTENSIONS,
    Mode,
)
from agentsandbox.kernel.expressions import lazily
from agentsandbox.kernel.streams import decode, encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from agentsandbox.kernel.budget import Budget

KEYWORDS = frozenset(
    "BEGIN END BEGINFILE ENDFILE function func if else while do for in break continue next nextfile"
    " exit return delete getline print printf switch case default".split()
)
BUILTINS = frozenset(
    "length substr index split sub gsub gensub match sprintf sin cos atan2 exp log sqrt int rand"
    " srand tolower toupper system close fflush strftime systime mktime asort asorti and or xor"
    " lshift rshift compl strtonum typeof isarray patsplit mkbool bindtextdomain dcgettext"
    " dcngettext".split()
)
OPERAND_ENDS = frozenset(
    ("NUMBER", "STRING", "ERE", "TYPED", "NAME", "BUILTIN", ")", "]", "++", "--")
)
_LINES = 1 << 32
"""More lines than a piece of program text has."""
COMMENT = "#"
"""The value of a newline behind a comment: it has the place of that."""
_DIRECTIVE = lazily(r"@(?:/|[A-Za-z_][A-Za-z_0-9]*(?:::[A-Za-z_][A-Za-z_0-9]*)?|)")
_NAMESPACE = lazily(r'@namespace[ \t]*+"([^"\n]*+)"')
_IDENTIFIER = lazily(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)
_JOINED = lazily(r"(?:[^\\\n]|\\.)*", re.DOTALL)
_TOKEN = lazily(
    r"(?P<blank>[ \t\r]+|\\(?:\r?\n|\Z)|#[^\n]*)|(?P<newline>\n)"
    r"|(?P<number>0[xX][0-9a-fA-F]+|(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)"
    r"|(?P<name>[A-Za-z_][A-Za-z0-9_]*(?:::[A-Za-z_][A-Za-z0-9_]*)?)"
    r"|(?P<string>\")"
    r"|(?P<operator>\*\*=|\*\*|&&|\|\||\+\+|--|\+=|-=|\*=|/=|%=|\^=|==|<=|>=|!=|!~|>>"
    r"|[-+*/%^!<>|?:~$=,;(){}\[\]@])"
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
_CONTINUED = lazily(r"\\\r?\n|(\\.)", re.DOTALL)
_REGEX_ESCAPE = lazily(r"\\(.)", re.DOTALL)
_ESCAPE = lazily(r"\\(?:x([0-9a-fA-F]{1,2})|([0-7]{1,3})|(\r?\n|\Z)|(.))", re.DOTALL)


COLONS = "\u01c3"
"""What `::` is in the names of a tree: a letter of Python's that no name of awk has."""
RESERVED = KEYWORDS | frozenset(
    "atan2 close cos exp fflush gsub index int length log match rand sin split sprintf sqrt srand"
    " sub substr system tolower toupper".split()
)
"""Words that no namespace can have for itself: those of POSIX, and what gawk adds to the syntax."""


def spelled(name: str) -> str:
    """Return a name of the tree as programs write it."""
    return name.removeprefix(COLONS).replace(COLONS, "::")


def internal(name: str, mode: Mode = DEFAULT) -> str:
    """Return a name as the tree has it; `awk::` is the same as none.

    A variable that is special in gawk only, and so is an ordinary one in this mode, gets a mark.
    """
    if mode.traditional:
        return COLONS + name if name in EXTENSION_VARIABLES else name
    return name.removeprefix("awk::").replace("::", COLONS)


class Source:
    """A piece of program text and the name messages give it: "cmd. line" or a file's."""

    __slots__ = ("base", "name", "text")

    def __init__(self, name: str, text: str, number: int = 0) -> None:
        self.name = name
        self.text = text
        self.base = number * _LINES
        """The line before its first one: no two pieces of a program share a line number."""

    def place(self, line: int) -> str:
        """Return how messages name the line of a token or node."""
        return f"{self.name}:{line - self.base}"


def place_of(sources: Sequence[Source], line: int) -> str:
    """As `Source.place`, for a line of any of them."""
    return sources[line // _LINES].place(line)


class AwkSyntaxError(Exception):
    """The program is wrong; `lines` are the messages, without the command's name."""

    def __init__(self, *lines: str) -> None:
        self.lines = lines
        super().__init__(lines[0])


class Token:
    """A token with its place.

    `kind`   NUMBER, STRING, ERE, NAME, CALL (a name before its parenthesis), BUILTIN, NEWLINE, EOF,
             or the token's own text
    `error`  what is wrong at this place, where no token begins
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


def point_at(source: Source, position: int, message: str, later: int = 0) -> AwkSyntaxError:
    """Return the error that shows the line of `position` and a caret below it.

    Its number is `later` lines too large where gawk's is.
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


def unescape(text: str, warn: Callable[[str], None] | None = None, mode: Mode = DEFAULT) -> str:
    """Return what a string constant or a `-v` value means.

    A byte above 127 in octal or hexadecimal is that byte, not that character.
    """
    if "\\" not in text:
        return text

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


def _join_bytes(text: str) -> str:
    """Join bytes that escapes put side by side: they may be one UTF-8 character."""
    if any("\udc80" <= character <= "\udcff" for character in text):
        return decode(encode(text))
    return text


def _no_token(source: Source, position: int) -> AwkSyntaxError:
    """Return the error for a character that no token begins with."""
    character = source.text[position]
    if character == "\\":
        return point_at(source, position, "backslash not last character on line")
    if character in ".&":
        return point_at(source, position, "syntax error")
    return point_at(
        source, position, f"invalid char '{decode(encode(character)[:1])}' in expression"
    )


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


def tokenize(
    source: Source, warn: Callable[[str, int], None], budget: Budget, mode: Mode = DEFAULT
) -> list[Token]:
    """Return all tokens up to one that is wrong, EOF last.

    `warn(message, line)` gets the warnings about escapes.
    """
    return _Lexer(source, warn, budget, mode).tokenize()


class _Lexer:
    """The tokens of one piece of a program, up to a place."""

    def __init__(
        self, source: Source, warn: Callable[[str, int], None], budget: Budget, mode: Mode
    ) -> None:
        self.source = source
        self.mode = mode
        self.has_extensions = not mode.traditional
        self.warn = warn
        self.budget = budget
        self.text = source.text
        self.position = 0
        self.line = source.base + 1
        self.namespace = "awk"
        self.comment = -1
        """Where a comment on this line begins; -1 for none."""
        self.tokens: list[Token] = []

    def tokenize(self) -> list[Token]:
        """Return all tokens up to one that is wrong."""
        while self.position < len(self.text):
            self.budget.left -= 1
            if self.budget.left < 0:
                self.budget.tick()
            start = self.position
            found = _TOKEN.match(self.text, start)
            if found is None:
                self._fail(start, _no_token(self.source, start))
                break
            self.position = found.end()
            if not self._add(found.lastgroup or "", found[0], start):
                break
        if not self.tokens or self.tokens[-1].kind != "NEWLINE" or self.comment >= 0:
            self._newline("", len(self.text))
        self._token("EOF", "", len(self.text))
        return self.tokens

    def _token(self, kind: str, value: str, start: int) -> None:
        self.tokens.append(Token(kind, value, self.line, start))

    def _newline(self, value: str, start: int) -> None:
        if self.comment >= 0:
            value, start, self.comment = COMMENT, self.comment, -1
        self._token("NEWLINE", value, start)

    def _fail(self, start: int, error: AwkSyntaxError) -> bool:
        self.tokens.append(Token("", "", self.line, start, error))
        return False

    def _add(self, kind: str, value: str, start: int) -> bool:
        """Add the token that was found at `start`; false if it is wrong."""
        if kind == "blank":
            self.line += value.count("\n")
            if value[0] == COMMENT:
                self.comment = start
        elif kind == "newline":
            self._newline(value, start)
            self.line += 1
        elif kind == "number":
            if self.mode.traditional and value[1:2] in ("x", "X"):
                value = value[0]
                self.position = start + 1
            self._token("NUMBER", value, start)
        elif kind == "name":
            if self.mode.traditional:
                self._standard_name(value, start)
                return True
            is_field = bool(self.tokens) and self.tokens[-1].kind == "$"
            if value == "_" and not is_field and self.text.startswith('"', self.position):
                return True  # a string to be translated: there is no translation
            if self.namespace != "awk" or ":" in value:
                return self._name(value, start)
            self._token(_kind_of_name(value, self.text, self.position), value, start)
        elif kind == "string":
            return self._string(start)
        elif value in ("/", "/=") and not self._after_operand():
            return self._regex(start)
        elif value == "|" and self.text.startswith("&", self.position) and self.has_extensions:
            self.position += 1
            self._token("|&", "|&", start)
        elif value == "@":
            found = _DIRECTIVE.match(self.text, start)
            if found is not None and found[0] == "@/":
                return self._regex(start + 1, "TYPED")
            is_call = found is not None and self.text.startswith("(", found.end())
            if not self.has_extensions and not is_call:
                return self._fail(start, point_at(self.source, start + 1, "syntax error"))
            if (namespace := _NAMESPACE.match(self.text, start)) is not None:
                return self._change_namespace(namespace, start)
            if found is not None and self.text.startswith("(", found.end()) and found[0][1:]:
                self._token("INDIRECT", self._qualified(found[0][1:]), start)
                self.position = found.end()
                return True
            shown = "@" if found is None else found[0]
            message = f"error: gawk's `{shown}' is not available here"
            return self._fail(start, AwkSyntaxError(f"{self.source.place(self.line)}: {message}"))
        else:
            if value[:2] == "**" and self.mode.posix:
                value = "*"
                self.position = start + 1
            value = value.replace("**", "^")
            self._token(value, value, start)
            if value == "]" and self.mode.traditional and self._next_character() == "[":
                place = self.source.place(self.line)
                message = f"{place}: fatal: multidimensional arrays are a gawk extension"
                return self._fail(start, AwkSyntaxError(message))
        return True

    def _next_character(self) -> str:
        at = self.position
        while self.text.startswith((" ", "\t"), at):
            at += 1
        return self.text[at : at + 1]

    def _standard_name(self, value: str, start: int) -> None:
        """Add a name or a word in a language without gawk's extensions."""
        value = value.partition(":")[0]
        self.position = start + len(value)
        kind = _kind_of_name(value, self.text, self.position)
        is_extension = value in EXTENSIONS or value in EXTENSION_WORDS
        if is_extension or (value == "func" and self.mode.posix):
            kind = "CALL" if self.text.startswith("(", self.position) else "NAME"
        self._token(kind, internal(value, self.mode) if kind == "NAME" else value, start)

    def _name(self, value: str, start: int) -> bool:
        """Add a name or a word of the language; false if it is wrong."""
        namespace, _, last = value.rpartition("::")
        if namespace and namespace != "awk" and last in RESERVED:
            message = (
                f"error: using reserved identifier `{last}' as second component of a qualified"
                " name is not allowed"
            )
            at = self.position
            while self.text.startswith((" ", "\t"), at):
                at += 1
            pointed = point_at(self.source, at, "syntax error")
            place = self.source.place(self.line)
            return self._fail(at, AwkSyntaxError(f"{place}: {message}", *pointed.lines))
        if namespace in RESERVED:
            return self._fail(start, self._reserved(namespace))
        if namespace in ("", "awk"):
            word = last if namespace or self.namespace == "awk" else value
            is_word = word in RESERVED or namespace == "awk" or self.namespace == "awk"
            kind = _kind_of_name(word, self.text, self.position) if is_word else "NAME"
            if kind not in ("NAME", "CALL"):
                self._token(kind, word, start)
                return True
        kind = "CALL" if self.text.startswith("(", self.position) else "NAME"
        self._token(kind, self._qualified(value), start)
        return True

    def _qualified(self, name: str) -> str:
        """Return a name with its namespace; those in capitals are all awk's."""
        namespace, _, last = name.rpartition("::")
        namespace = namespace or ("awk" if last.isupper() else self.namespace)
        return last if namespace == "awk" else f"{namespace}{COLONS}{last}"

    def _reserved(self, name: str) -> AwkSyntaxError:
        message = f"error: using reserved identifier `{name}' as a namespace is not allowed"
        return AwkSyntaxError(f"{self.source.place(self.line)}: {message}")

    def _change_namespace(self, found: re.Match[str], start: int) -> bool:
        """Take `@namespace "name"`; false if the name is wrong."""
        name = found[1]
        if name in RESERVED:
            return self._fail(start, self._reserved(name))
        if _IDENTIFIER.fullmatch(name) is None:
            message = f"error: namespace name `{name}' must meet identifier naming rules"
            place = self.source.place(self.line)
            return self._fail(start, AwkSyntaxError(f"{place}: {message}"))
        self.namespace = name
        self.position = found.end()
        return True

    def _after_operand(self) -> bool:
        return bool(self.tokens) and self.tokens[-1].kind in OPERAND_ENDS

    def _string(self, start: int) -> bool:
        stop = _string_end(self.text, start)
        if stop < 0:
            joined = _JOINED.match(self.text, start)
            assert joined is not None
            lines = joined[0].count("\n")
            return self._fail(start, point_at(self.source, start, "unterminated string", lines))
        lines = self.text.count("\n", start, stop)
        line = self.line + lines
        if lines and self.mode.posix:
            message = "fatal: POSIX does not allow physical newlines in string values"
            place = self.source.place(self.line)
            return self._fail(start, AwkSyntaxError(f"{place}: {message}"))
        value = unescape(
            self.text[start + 1 : stop], lambda message: self.warn(message, line), self.mode
        )
        self._token("STRING", value, start)
        self.line = line
        self.position = stop + 1
        return True

    def _regex(self, start: int, kind: str = "ERE") -> bool:
        stop = _regex_end(self.text, start)
        if stop < 0:
            message = "unexpected newline or end of string"
            if start + 1 < len(self.text):
                message = "unterminated regexp"
            return self._fail(start, point_at(self.source, start + 1, message))
        source = self.text[start + 1 : stop].replace("\\/", "/")
        lines = source.count("\n")
        if lines:
            source = _CONTINUED.sub(lambda found: found[1] or "", source)
        self._token(kind, source, start)
        self.line += lines
        self.position = stop + 1
        return True


def _kind_of_name(name: str, text: str, end: int) -> str:
    if name in KEYWORDS:
        return "function" if name == "func" else name
    if name in BUILTINS:
        return "BUILTIN"
    return "CALL" if text.startswith("(", end) else "NAME"
