"""Assignments, and the lists of arrays in them."""

from __future__ import annotations

from agentsandbox.errors import ShellSyntaxError
from agentsandbox.kernel.expressions import lazily
from agentsandbox.shell.syntax.contexts import BRACE
from agentsandbox.shell.syntax.nodes import ArrayElement, ArrayLiteral, Assignment, Literal, Word

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re

    from agentsandbox.shell.syntax.protocols import Parser


_ASSIGNED = lazily(r"(?:\\\n)*+(?:\+(?:\\\n)*+)?=")
"""The operator between a subscript and the value, with joined lines."""
_CONTINUED_LIST = lazily(r"(?:\\\n)*\(")


def read_assignment(
    parser: Parser, match: re.Match[str], *, first: bool
) -> Assignment | Word | None:
    """Read an assignment, or a word like `test[ -f x ]`; return None where neither begins."""
    start = parser.position
    name, operator = match[1].replace("\\\n", ""), match[2]
    subscript: Word | None = None
    parser.position = match.end()
    if operator == "[":
        parser.position -= 1
        nesting = parser.nesting
        try:
            subscript = parser.read_subscript()
        except ShellSyntaxError:
            if first:
                raise
            parser.nesting = nesting
            _not_read(parser, start)
            return None
        assigned = _ASSIGNED.match(parser.text, parser.position)
        if assigned is None and first and _has_blanks(subscript):
            rest = parser.read_word() or Word((), "")
            return Word(
                (Literal(f"{name}["), *subscript.parts, Literal("]"), *rest.parts),
                parser.text[start : parser.position],
            )
        if assigned is None or (not first and _has_blanks(subscript)):
            _not_read(parser, start)
            return None
        operator = assigned[0]
        parser.position = assigned.end()
    value: Word | ArrayLiteral
    if (opened := _CONTINUED_LIST.match(parser.text, parser.position)) is not None:
        parser.position = opened.end() - 1
        value = _text_or_list(parser, _array_literal(parser))
    else:
        value = parser.read_word() or Word((), "")
    return Assignment(name, value, subscript, "+" in operator, parser.text[start : parser.position])


def list_as_text(parser: Parser, match: re.Match[str]) -> Word | None:
    """Read a word like `x=(1 + 2)*3`; return None, and read nothing, for any other."""
    start = parser.position
    assignment = read_assignment(parser, match, first=False)
    if isinstance(assignment, Assignment) and assignment.value.source.startswith("("):
        end = parser.position
        parser.read_again(start, end)
        parts = parser.scan_alone(assignment.written, start, BRACE)
        parser.position = end
        return Word(parts, assignment.written)
    _not_read(parser, start)
    return None


def _not_read(parser: Parser, start: int) -> None:
    """Go back to `start`: what was read there is something else."""
    parser.read_again(start, parser.position)
    parser.position = start


def _text_or_list(parser: Parser, literal: ArrayLiteral) -> Word | ArrayLiteral:
    """Return the array literal, or a word if text follows it: bash takes `a=(1 2)x` as text."""
    start = parser.position - len(literal.source)
    rest = parser.read_word()
    if rest is None:
        return literal
    end = parser.position
    parser.read_again(start, end)
    parts = parser.scan_alone(literal.written, start, BRACE)
    parser.position = end
    return Word((*parts, *rest.parts), literal.written + rest.source)


def _array_literal(parser: Parser) -> ArrayLiteral:
    try:
        return _read_array_literal(parser)
    except ShellSyntaxError as error:
        if error.is_quote:  # bash continues behind the list
            error.status, error.is_quote = 1, False
            if not error.message.endswith("`)'"):
                error.follow_up = parser.unexpected_end()
        raise


def _read_array_literal(parser: Parser) -> ArrayLiteral:
    opened = parser.position
    parser.position += 1
    elements: list[ArrayElement] = []
    while True:
        parser.skip_newlines()
        if parser.position >= len(parser.text):
            raise _array_error(parser, parser.unclosed(")", opened))
        if parser.text[parser.position] == ")":
            parser.position += 1
            return ArrayLiteral(tuple(elements), parser.text[opened : parser.position])
        if parser.text[parser.position] == "[":
            elements.append(_bracketed_element(parser))
            continue
        word = parser.read_word()
        if word is None:
            raise _array_error(parser, parser.unexpected(parser.token()))
        elements.append(ArrayElement(word))


def _array_error(parser: Parser, error: ShellSyntaxError) -> ShellSyntaxError:
    """Mark an error in the list of an array, for which bash's status is 1."""
    error.status = 1
    error.in_array = True
    return error


def _bracketed_element(parser: Parser) -> ArrayElement:
    """Read an element that begins with a bracket: `[key]=value`, or a word."""
    subscript = parser.read_subscript()
    operator = parser.text[parser.position : parser.position + 2]
    if operator[:1] != "=" and operator != "+=":
        rest = parser.read_word() or Word((), "")
        return ArrayElement(
            Word(
                (Literal("["), *subscript.parts, Literal("]"), *rest.parts),
                f"[{subscript.source}]{rest.source}",
            )
        )
    append = operator == "+="
    parser.position += 2 if append else 1
    return ArrayElement(parser.read_word() or Word((), ""), subscript, append)


def _has_blanks(word: Word) -> bool:
    """Whether a word has unquoted blanks."""
    return any(
        isinstance(part, Literal) and any(blank in part.text for blank in " \t\n")
        for part in word.parts
    )
