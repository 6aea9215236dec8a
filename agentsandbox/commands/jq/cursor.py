"""Going through the tokens of a program; messages are those of jq's own parser."""

from __future__ import annotations

from agentsandbox.commands.jq.lexer import JqSyntaxError, Token

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn

_DEPTH = 500
"""Nesting of one program."""

_NAMES = {
    "number": "LITERAL",
    "word": "IDENT",
    "field": "FIELD",
    "variable": "BINDING",
    "format": "FORMAT",
    "string": "QQSTRING_START",
    "invalid": "INVALID_CHARACTER",
}


def _describe(token: Token) -> str:
    """A token as the messages of jq's parser call it."""
    if token.kind == "end":
        return "end of file" if not token.text else "QQSTRING_INTERP_END"
    if token.kind in _NAMES:
        return _NAMES[token.kind]
    if token.kind == "sign" and len(token.text) == 1:
        return f"'{token.text}'"
    return token.text


class Cursor:
    """A place among the tokens, and how deeply what is being read there is nested."""

    def __init__(self, source: str, tokens: list[Token]) -> None:
        self.source = source
        self.tokens = tokens
        self.at = 0
        self.token = tokens[0]
        self.depth = 0
        self.interpolated = False
        """Whether the tokens are those of an expression in a string."""
        self.opened = 0
        """How many parentheses, brackets and braces are open: an error in them is not one of what
        they are in."""

    # moving through the tokens

    def advance(self) -> Token:
        token = self.token
        self.at += 1
        self.token = self.tokens[self.at]
        return token

    def is_sign(self, *texts: str) -> bool:
        return self.token.kind == "sign" and self.token.text in texts

    def is_keyword(self, *texts: str) -> bool:
        return self.token.kind == "keyword" and self.token.text in texts

    def fail(self, expecting: str = "", token: Token | None = None) -> NoReturn:
        raise self.error(expecting, token)

    def error(self, expecting: str = "", token: Token | None = None) -> JqSyntaxError:
        """The error that a token (the present one) does not fit."""
        token = token or self.token
        message = f"syntax error, unexpected {_describe(token)}" + (
            f", expecting {expecting}" if expecting else ""
        )
        if token.kind == "end" and token.end > token.position and self.at:
            return JqSyntaxError(
                message, token.position, token.end - token.position
            )  # at the blanks before it
        if token.kind == "end" and self.at:
            token = self.tokens[self.at - 1]
            if token.kind == "string":  # at its closing quote
                return JqSyntaxError(message, token.end - 1, 1)
        return JqSyntaxError(
            message,
            token.position,
            1 if token.kind == "string" else max(1, token.end - token.position),
        )

    def expect(self, text: str, expecting: str = "") -> Token:
        if self.token.text != text or self.token.kind not in ("sign", "keyword"):
            self.fail(expecting)
        return self.advance()

    def enter(self) -> None:
        self.depth += 1
        if self.depth > _DEPTH:
            raise JqSyntaxError("syntax error, memory exhausted", self.token.position, 1)
