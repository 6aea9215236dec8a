"""Awk source into tokens.

A slash divides after the end of an operand, and opens a regular expression anywhere else. The first
character tells what kind of token begins; `literals` and `namespaces` read those that take more.
"""

from __future__ import annotations

from agentsandbox.commands.awk.modes import DEFAULT, Mode
from agentsandbox.commands.awk.tokens import (
    COMMENT,
    OPERAND_ENDS,
    AwkSyntaxError,
    Source,
    Token,
    kind_of_name,
)
from agentsandbox.kernel.expressions import lazily

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from agentsandbox.kernel.budget import Budget

_DIGITS = frozenset("0123456789")
_NAME_STARTS = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_")
_NAME_CHARACTERS = _NAME_STARTS | _DIGITS
_NUMBER = lazily(r"0[xX][0-9a-fA-F]++|(?:[0-9]++\.?+[0-9]*+|\.[0-9]++)(?:[eE][+-]?+[0-9]++)?+")
_PAIRS = frozenset("** && || ++ -- += -= *= /= %= ^= == <= >= != !~ >>".split())
_OPERATORS = frozenset("-+*/%^!<>|?:~$=,;(){}[]@")


def unescape(text: str, warn: Callable[[str], None] | None = None, mode: Mode = DEFAULT) -> str:
    """Return what a string constant or a `-v` value means.

    A byte above 127 in octal or hexadecimal is that byte, not that character.
    """
    if "\\" not in text:
        return text
    from agentsandbox.commands.awk.literals import without_escapes

    return without_escapes(text, warn, mode)


def tokenize(
    source: Source, warn: Callable[[str, int], None], budget: Budget, mode: Mode = DEFAULT
) -> list[Token]:
    """Return all tokens up to one that is wrong, EOF last.

    `warn(message, line)` gets the warnings about escapes.
    """
    return Lexer(source, warn, budget, mode).tokenize()


class Lexer:
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
        text = self.text
        end = len(text)
        while self.position < end:
            self.budget.left -= 1
            if self.budget.left < 0:
                self.budget.tick()
            start = self.position
            character = text[start]
            if character in " \t\r":
                self.position = start + 1
            elif not self._read(character, start):
                break
        if not self.tokens or self.tokens[-1].kind != "NEWLINE" or self.comment >= 0:
            self._newline("", end)
        self.add("EOF", "", end)
        return self.tokens

    def add(self, kind: str, value: str, start: int) -> None:
        """Add a token."""
        self.tokens.append(Token(kind, value, self.line, start))

    def _newline(self, value: str, start: int) -> None:
        if self.comment >= 0:
            value, start, self.comment = COMMENT, self.comment, -1
        self.add("NEWLINE", value, start)

    def fail(self, start: int, error: AwkSyntaxError) -> bool:
        """Add the token that is wrong; return false."""
        self.tokens.append(Token("", "", self.line, start, error))
        return False

    def _read(self, character: str, start: int) -> bool:
        """Add what begins with a character; false if it is wrong."""
        text = self.text
        if character in _NAME_STARTS:
            return self._read_name(start)
        if character in _DIGITS or (character == "." and text[start + 1 : start + 2] in _DIGITS):
            self._read_number(start)
        elif character == "\n":
            self._newline(character, start)
            self.line += 1
            self.position = start + 1
        elif character == COMMENT:
            self.comment = start
            newline = text.find("\n", start)
            self.position = len(text) if newline < 0 else newline
        elif character == '"':
            from agentsandbox.commands.awk.literals import read_string

            return read_string(self, start)
        elif character == "\\" and (
            start + 1 == len(text) or text.startswith(("\n", "\r\n"), start + 1)
        ):
            newline = text.find("\n", start)
            self.line += newline >= 0
            self.position = len(text) if newline < 0 else newline + 1
        else:
            return self._read_operator(character, start)
        return True

    def _read_number(self, start: int) -> None:
        text = self.text
        end, size = start, len(text)
        while end < size and text[end] in _DIGITS:
            end += 1
        value = text[start:end]
        if text[end : end + 1] in (".", "e", "E", "x", "X"):
            found = _NUMBER.match(text, start)
            assert found is not None
            value = found[0]
            if self.mode.traditional and value[1:2] in ("x", "X"):
                value = value[0]
        self.position = start + len(value)
        self.add("NUMBER", value, start)

    def _read_name(self, start: int) -> bool:
        """Add a name or a word of the language; false if it is wrong."""
        text = self.text
        end = self._name_end(start)
        if text.startswith("::", end) and text[end + 2 : end + 3] in _NAME_STARTS:
            end = self._name_end(end + 2)
        self.position = end
        value = text[start:end]
        if self.namespace != "awk" or self.mode.traditional or ":" in value:
            from agentsandbox.commands.awk import namespaces

            if self.mode.traditional:
                namespaces.read_standard_name(self, value, start)
                return True
            if value != "_" or not self._begins_translation(end):
                return namespaces.read_qualified(self, value, start)
        elif value != "_" or not self._begins_translation(end):
            self.add(kind_of_name(value, text, end), value, start)
        return True

    def _name_end(self, position: int) -> int:
        text, size = self.text, len(self.text)
        while position < size and text[position] in _NAME_CHARACTERS:
            position += 1
        return position

    def _begins_translation(self, end: int) -> bool:
        """Whether `_` is before a string to be translated: there is no translation."""
        is_field = bool(self.tokens) and self.tokens[-1].kind == "$"
        return not is_field and self.text.startswith('"', end)

    def _read_operator(self, character: str, start: int) -> bool:
        """Add an operator or a regular expression; false if it is wrong."""
        text, pair = self.text, self.text[start : start + 2]
        value = pair if pair in _PAIRS else character
        if value == "**" and text.startswith("=", start + 2):
            value = "**="
        if value == character and character not in _OPERATORS:
            from agentsandbox.commands.awk.syntax_errors import no_token

            return self.fail(start, no_token(self.source, start))
        self.position = start + len(value)
        if value in ("/", "/="):
            if not self.tokens or self.tokens[-1].kind not in OPERAND_ENDS:
                from agentsandbox.commands.awk.literals import read_regex

                return read_regex(self, start)
        elif value == "@":
            from agentsandbox.commands.awk.namespaces import read_directive

            return read_directive(self, start)
        elif pair == "|&" and self.has_extensions:
            value = pair
            self.position = start + 2
        elif value[:2] == "**":
            if self.mode.posix:
                value = "*"
                self.position = start + 1
            value = value.replace("**", "^")
        self.add(value, value, start)
        if value == "]" and self.mode.traditional:
            from agentsandbox.commands.awk.namespaces import refuse_nested

            return refuse_nested(self, start)
        return True
