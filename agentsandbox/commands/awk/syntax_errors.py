"""The errors of programs that do not follow the grammar, as gawk words and places them."""

from __future__ import annotations

import re

from agentsandbox.commands.awk.tokens import COMMENT, OPERAND_ENDS, AwkSyntaxError
from agentsandbox.kernel.streams import decode, encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Protocol

    from agentsandbox.commands.awk.tokens import Source, Token

    class Terms(Protocol):
        """The grammar and the place that it has come to."""

        position: int
        source: Source
        token: Token
        tokens: list[Token]

        def advance(self) -> Token: ...


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


def no_token(source: Source, position: int) -> AwkSyntaxError:
    """Return the error for a character that no token begins with."""
    character = source.text[position]
    if character == "\\":
        return point_at(source, position, "backslash not last character on line")
    if character in ".&":
        return point_at(source, position, "syntax error")
    return point_at(
        source, position, f"invalid char '{decode(encode(character)[:1])}' in expression"
    )


def unexpected(terms: Terms) -> AwkSyntaxError:
    """Return the error at the current token."""
    message = "unexpected newline or end of string"
    if terms.token.error is not None:
        return terms.token.error
    # what follows shows that it is no getline
    if (
        terms.token.kind == "|"
        and terms.position
        and terms.tokens[terms.position - 1].kind in OPERAND_ENDS
    ):
        terms.advance()
    if terms.token.kind == "NEWLINE":
        if terms.token.value == COMMENT:
            message = "syntax error"
        return point_at(terms.source, terms.token.position, message, later=1)
    if terms.token.kind == "EOF":
        last = [token for token in terms.tokens if token.kind not in ("NEWLINE", "EOF")][-1:]
        if last and last[0].kind in ("&&", "||", "?", ":"):
            return _ended(terms.source, last[0].position, later=2)
        return unfinished(terms)
    return point_at(terms.source, terms.token.position, "syntax error")


def _ended(source: Source, position: int, later: int = 0) -> AwkSyntaxError:
    """Return the error of a program that ends too early; the caret is below `position`."""
    message = "source files / command-line arguments must contain complete functions or rules"
    shown = point_at(source, position, message, later).lines
    return AwkSyntaxError(
        re.sub(r"(?s)(:\d+: ).*", r"\1(END OF FILE)", shown[0], count=1), shown[1]
    )


def unfinished(terms: Terms) -> AwkSyntaxError:
    """Return the error of a program that ends inside a rule."""
    last = terms.tokens[terms.position - 1]
    if last.value == COMMENT:
        return _ended(terms.source, last.position)
    if terms.source.name != "cmd. line":
        place = f"{terms.source.name}:{max(terms.source.text.count(chr(10)), 1)}: "
        return AwkSyntaxError(
            f"{place}(END OF FILE)",
            f"{place}^ {_ended(terms.source, 0).lines[1].partition('^ ')[2]}",
        )
    return point_at(
        terms.source, len(terms.source.text.rstrip("\n")), "unexpected newline or end of string"
    )
