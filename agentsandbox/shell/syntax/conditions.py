"""The grammar of `[[ … ]]`, whose words, operators and errors are its own."""

from __future__ import annotations

from agentsandbox.errors import ShellSyntaxError
from agentsandbox.kernel.expressions import lazily
from agentsandbox.shell.syntax.compound_nodes import (
    CondAnd,
    CondBinary,
    CondGroup,
    Conditional,
    CondNot,
    CondOr,
    CondTest,
    CondUnary,
    CondWord,
)
from agentsandbox.shell.syntax.contexts import WORD
from agentsandbox.shell.syntax.nodes import Command, Literal, Part, Word

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.shell.syntax.protocols import Parser

_UNARY = lazily(r"-[a-hknoprstuvwxzGLNORS]")
_BINARY = frozenset("== != = =~ -eq -ne -lt -le -gt -ge -nt -ot -ef".split())
_CLOSE = lazily(r"\]\](?=[ \t\n;&|)<>]|\Z)")
_UNCLOSED = "unexpected EOF while looking for matching"
_UNFINISHED = "unexpected token `\udcff' in conditional command"
"""bash shows the end of its input as a byte."""
_OPERATOR = lazily(
    r"&&|\|\||;;&|;;|;&|\|&|&>>|&>|<<<|<<-|<<|>>|<&|>&|<>|>\||<(?!\()|>(?!\()|[|&;()]"
)


def read_condition(parser: Parser, start: int) -> Command:
    """Read the conditional command whose `[[` is at `start`."""
    reader = _Reader(parser, start)
    try:
        test = reader.whole()
    except ShellSyntaxError as error:
        ends_here = parser.text[reader.at : reader.at + 2] in ("", "\n")
        if error.message.startswith(_UNCLOSED):
            error.follow_up = error.follow_up or ShellSyntaxError(reader.wanted, parser.last_line())
        elif error.source_line is None and not ends_here and not error.is_quote:
            error.status = None
        error.at_end = ends_here
        raise
    return Conditional(test, (), parser.line_at(parser.position - 1))


class _Reader:
    """Looks one token ahead: an operator, `]]`, "newline", "" at the end, or a "word"."""

    __slots__ = ("at", "parser", "start", "token", "wanted", "word")

    def __init__(self, parser: Parser, start: int) -> None:
        self.parser = parser
        self.start = start
        self.at = start
        self.token = ""
        self.wanted = _UNFINISHED
        """What bash says, beside what has no end, when the next word has none."""
        self.word = Word((), "")

    def whole(self) -> CondTest:
        """Parse the test up to `]]`, and pass over that."""
        test = self.either()
        if self.token == "":
            raise ShellSyntaxError(
                "unexpected EOF while looking for `]]'", self.parser.line_at(self.start), 1
            )
        if self.token != "]]":
            about = "" if self.token == "word" else f": unexpected token `{self.token}'"
            raise self.parser.error(f"syntax error in conditional expression{about}", self.start)
        return test

    def advance(self) -> None:
        """Read the next token."""
        parser = self.parser
        parser.skip_blanks()
        text, self.at = parser.text, parser.position
        if self.at >= len(text):
            self.token = ""
        elif text[self.at] == "\n":
            self.token = "newline"
        elif (close := _CLOSE.match(text, self.at)) is not None:
            self.token = "]]"
            parser.position = close.end()
        elif (operator := _OPERATOR.match(text, self.at)) is not None:
            self.token = operator[0]
            parser.position = operator.end()
        elif (word := parser.read_word()) is not None:
            self.token = "word"
            self.word = word
        else:
            raise parser.unexpected(parser.token())
        self.wanted = _UNFINISHED

    def advance_line(self) -> None:
        """Read the next token that is no newline."""
        self.advance()
        while self.token == "newline":
            self.parser.skip_newlines()
            self.advance()

    def either(self) -> CondTest:
        """Tests with || between them."""
        left = self.both()
        return CondOr(left, self.either()) if self.token == "||" else left

    def both(self) -> CondTest:
        """Tests with && between them."""
        left = self.term()
        return CondAnd(left, self.both()) if self.token == "&&" else left

    def term(self) -> CondTest:
        """Parse one test; the token behind it has been read."""
        parser = self.parser
        self.advance_line()
        began = self.at
        if self.token == "(":
            parser.enter()
            inner = self.either()
            parser.nesting -= 1
            if self.token != ")":
                about = (
                    ""
                    if self.token == "word"
                    else f"unexpected token `{self.token or 'newline'}', "
                )
                raise parser.error(f"{about}expected `)'", began)
            self.advance_line()
            return CondGroup(inner)
        if (
            self.token == "word"
            and self.word.source.isdigit()
            and parser.text[parser.position : parser.position + 1] in ("<", ">")
        ):
            # for bash this is a descriptor
            raise self.error("unexpected token 284 in conditional command")
        if self.token == "word" and self.word.source == "!":
            parser.enter()
            inner = self.term()
            parser.nesting -= 1
            return CondNot(inner)
        if self.token == "word" and _UNARY.fullmatch(self.word.source):
            operator = self.word.source
            self.wanted = "unexpected argument to conditional unary operator"
            self.advance()
            if self.token != "word":
                raise self.error(
                    f"unexpected argument `{self.token or 'newline'}' to conditional unary operator"
                )
            test = CondUnary(operator, self.word)
            self.advance_line()
            return test
        if self.token == "word":
            return self.comparison()
        if self.token == "]]":
            raise self.error("")
        if self.token == "":
            raise ShellSyntaxError(
                "unexpected token `EOF' in conditional command", parser.last_line()
            )
        raise self.error(f"unexpected token `{self.token}' in conditional command")

    def comparison(self) -> CondTest:
        """A word alone, or the left side of a binary operator."""
        parser, left = self.parser, self.word
        self.wanted = "conditional binary operator expected"
        self.advance()
        if self.token in ("]]", "&&", "||", ")"):
            return CondWord(left)
        operator = self.token if self.token in ("<", ">") else self.word.source
        if self.token not in ("word", "<", ">") or (
            self.token == "word" and operator not in _BINARY
        ):
            about = (
                "" if self.token == "word" else f"unexpected token `{self.token or 'newline'}', "
            )
            raise self.error(f"{about}conditional binary operator expected")
        self.wanted = "unexpected argument to conditional binary operator"
        if operator == "=~":
            right = self.regular_expression()
        else:
            saved, parser.extglob = parser.extglob, True
            self.advance()
            parser.extglob = saved
            right = self.word if self.token == "word" else None
        if right is None:
            raise self.error(
                f"unexpected argument `{self.token or 'newline'}' to conditional binary operator"
            )
        self.advance_line()
        return CondBinary(operator, left, right)

    def regular_expression(self) -> Word | None:
        """Read the word after =~, which may hold parentheses, |, < and >, and blanks in them."""
        parser = self.parser
        parser.skip_blanks()
        text, start = parser.text, parser.position
        depth = opened = 0
        parts: list[Part] = []
        saved, parser.extglob = parser.extglob, False  # `a*(b)` is no pattern list here
        if _CLOSE.match(text, start) is not None:
            self.token = "]]"
            return None
        if text[start : start + 1] in ("", "\n"):
            self.at, self.token = start, "newline"
            return None
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
            if char == "(" and depth == 1:
                opened = parser.position
            parts.append(Literal(char))
            parser.position += 1
        if depth and parser.position >= len(text):
            raise parser.unclosed(")", opened)
        parser.extglob = saved
        if parser.position == start:
            return None
        return Word(_merged(parts), text[start : parser.position])

    def error(self, message: str) -> ShellSyntaxError:
        """An error about the token that was read last."""
        return self.parser.error(message, self.at)


def _merged(parts: list[Part]) -> tuple[Part, ...]:
    """Join neighbouring literals."""
    merged: list[Part] = []
    for part in parts:
        if merged and isinstance(part, Literal) and isinstance(merged[-1], Literal):
            merged[-1] = Literal(merged[-1].text + part.text)
        else:
            merged.append(part)
    return tuple(merged)
