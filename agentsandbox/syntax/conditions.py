"""The grammar of `[[ … ]]`, whose words, operators and errors are its own."""

from __future__ import annotations

import re

from agentsandbox.errors import ShellSyntaxError
from agentsandbox.syntax.nodes import (
    Command,
    CondAnd,
    CondBinary,
    Conditional,
    CondNot,
    CondOr,
    CondTest,
    CondUnary,
    CondWord,
    Literal,
    Part,
    Word,
)
from agentsandbox.syntax.parser import merge_literals
from agentsandbox.syntax.words import WORD

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.syntax.parser import Parser

__all__ = ["read_condition"]

_UNARY = re.compile(r"-[a-hknoprstuvwxzGLNORS]")
_BINARY = re.compile(r"==|=~|!=|=|-(?:eq|ne|lt|le|gt|ge|nt|ot|ef)(?=[ \t\n])")


def read_condition(parser: Parser, start: int) -> Command:
    saved, parser.extglob = parser.extglob, True
    try:
        test = _or(parser, start)
        _blanks(parser, start)
        if not _closes(parser):
            raise _error(parser, start, "syntax error in conditional expression", ": unexpected token `{}'")
    except ShellSyntaxError as error:
        if error.source_line is None and parser.position < len(parser.text):
            error.status = None
        raise
    parser.extglob = saved
    parser.position += 2
    return Conditional(test, (), parser.line_at(start))


def _blanks(parser: Parser, start: int) -> None:
    parser.skip_newlines()
    if parser.position >= len(parser.text):
        raise ShellSyntaxError("unexpected EOF while looking for `]]'", parser.line_at(start), 1)


def _closes(parser: Parser) -> bool:
    text, position = parser.text, parser.position
    return text.startswith("]]", position) and (position + 2 >= len(text) or text[position + 2] in " \t\n;&|)<>")


def _or(parser: Parser, start: int) -> CondTest:
    left = _and(parser, start)
    _blanks(parser, start)
    if parser.text.startswith("||", parser.position):
        parser.position += 2
        return CondOr(left, _or(parser, start))
    return left


def _and(parser: Parser, start: int) -> CondTest:
    left = _term(parser, start)
    _blanks(parser, start)
    if parser.text.startswith("&&", parser.position):
        parser.position += 2
        return CondAnd(left, _and(parser, start))
    return left


def _term(parser: Parser, start: int) -> CondTest:
    _blanks(parser, start)
    text, position = parser.text, parser.position
    char = text[position]
    if char == "!" and text[position + 1 : position + 2] in (" ", "\t", "\n", "("):
        parser.position += 1
        parser.enter()
        inner = _term(parser, start)
        parser.nesting -= 1
        return CondNot(inner)
    if char == "(":
        parser.position += 1
        parser.enter()
        inner = _or(parser, start)
        parser.nesting -= 1
        _blanks(parser, start)
        if parser.text[parser.position] != ")":
            raise _error(parser, start, "", "unexpected token `{}', ", "expected `)'")
        parser.position += 1
        return inner
    word = None if _closes(parser) else parser.read_word()
    if word is None:
        raise _error(parser, start, "", "unexpected token `{}' in conditional command")
    if _UNARY.fullmatch(word.source):
        operand = _operand(parser)
        if operand is not None:
            return CondUnary(word.source, operand)
    return _binary(parser, word, start)


def _operand(parser: Parser) -> Word | None:
    """The word after a unary operator, unless it is a binary operator or the end."""
    saved = parser.position
    parser.skip_blanks()
    if _closes(parser) or parser.text[parser.position : parser.position + 1] in ("\n", ""):
        if _closes(parser):
            raise parser.error("unexpected argument `]]' to conditional unary operator", parser.position, show_line=False)
        parser.position = saved
        return None
    word = parser.read_word()
    if word is None:
        parser.position = saved
    return word


def _binary(parser: Parser, left: Word, start: int) -> CondTest:
    parser.skip_blanks()
    text, position = parser.text, parser.position
    if position >= len(text):
        raise _eof(parser)
    if text[position] in "<>":
        operator = text[position]
        parser.position += 1
    elif _closes(parser) or text[position] in "&|)\n":
        return CondWord(left)
    else:
        match = _BINARY.match(text, position)
        if match is None:
            raise parser.error("conditional binary operator expected", position, show_line=False)
        operator = match[0]
        parser.position = match.end()
    parser.skip_blanks()
    if _closes(parser):
        raise parser.error("unexpected argument `]]' to conditional binary operator", parser.position, show_line=False)
    if operator == "=~":
        right: Word | None = _regular_expression(parser)
    else:
        right = parser.read_word()
    if right is None:
        raise _error(parser, start, "", "unexpected argument `{}' to conditional binary operator")
    return CondBinary(operator, left, right)


def _regular_expression(parser: Parser) -> Word | None:
    """The word after =~: parentheses, | and < > are part of it; blanks inside parentheses too."""
    text = parser.text
    start = parser.position
    depth = 0
    parts: list[Part] = []
    parser.extglob = False  # `a*(b)` is no pattern list here
    while parser.position < len(text):
        parts.extend(parser.scan(WORD, "()"))
        char = text[parser.position : parser.position + 1]
        if not char or (char in " \t\n" and not depth) or (char in "&;" and not depth):
            break
        if char == "|" and not depth and text[parser.position + 1 : parser.position + 2] == "|":
            break
        if char == ")" and not depth:
            break
        depth += (char == "(") - (char == ")")
        parts.append(Literal(char))
        parser.position += 1
    parser.extglob = True
    if parser.position == start:
        return None
    return Word(merge_literals(parts), text[start : parser.position])


def _error(parser: Parser, start: int, before: str, about_operator: str, after: str = "") -> ShellSyntaxError:
    """An error worded with the token if that is an operator or `]]`, without it if it is a word."""
    if parser.position >= len(parser.text):
        return _eof(parser)
    token = parser.token()
    operator = _closes(parser) or parser.at_operator()
    shown = about_operator.replace("{}", "newline" if token == "\n" else token) if operator else ""
    return parser.error(f"{before}{shown}{after}", start)


def _eof(parser: Parser) -> ShellSyntaxError:
    return parser.error("unexpected token `newline', conditional binary operator expected")
