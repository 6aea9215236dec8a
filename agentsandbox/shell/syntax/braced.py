"""${…}: names, subscripts, operators and their operands."""

from __future__ import annotations

from agentsandbox.errors import ShellSyntaxError
from agentsandbox.kernel.expressions import lazily
from agentsandbox.shell.syntax.contexts import BRACE, BRACE_H, BRACE_Q, ESCAPABLE, HERE
from agentsandbox.shell.syntax.nodes import (
    TRANSFORMATIONS,
    DoubleQuoted,
    Literal,
    Parameter,
    Part,
    Quoted,
    Word,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.shell.syntax.protocols import Parser

NAME = lazily(r"[A-Za-z_][A-Za-z0-9_]*")
"""Of a variable."""
SPECIAL = frozenset("@*#?-$!0123456789_")
"""What is a parameter by itself."""
_PARAMETER = lazily(r"[A-Za-z_][A-Za-z0-9_]*(?:\\\n[A-Za-z0-9_]*)*+|[0-9]+(?:\\\n[0-9]*)*+")
"""A name or a number, whose line may be joined."""
_OPERATORS = lazily(r":[-=?+]|[-=?+]|##?|%%?|//|/[#%]|/|\^\^?|,,?|~~?|@|:")


_NOT_OF_COUNT = frozenset(("+", "=", "/", "%"))
"""Operators that `${#` cannot have without an operand."""


def read_braced(parser: Parser, mode: int) -> Part:
    """Read the ${…} at the cursor."""
    start = parser.position
    parser.position += 2
    parser.enter()
    inside = BRACE_H if mode in (HERE, BRACE_H) else BRACE_Q
    part = _parameter(parser, start, inside if mode in ESCAPABLE else BRACE)
    parser.nesting -= 1
    if part is None:  # not a parameter expansion: an error when it is expanded, not before
        _skip_bad_braces(parser, start)
        parser.has_bad = True
        opened, parser.open_bracket = parser.open_bracket, False
        return Parameter(
            "",
            prefix="[" if opened else "",
            operator="bad",
            source=parser.text[start : parser.position],
        )
    part.source = parser.text[start : parser.position]
    return part


def _skip_bad_braces(parser: Parser, start: int) -> None:
    parser.read_again(start, parser.position)
    parser.position = start + 2
    parser.scan(BRACE, "}")
    while parser.position < len(parser.text) and parser.text[parser.position] != "}":
        parser.position += 1
        parser.scan(BRACE, "}")
    if parser.position >= len(parser.text):
        raise parser.unclosed("}", start)
    parser.position += 1


def _parameter(parser: Parser, start: int, mode: int) -> Parameter | None:
    text = parser.text
    prefix = ""
    _skip_joints(parser)
    char = text[parser.position : parser.position + 1]
    after = _behind_joints(parser, parser.position + 1)
    following = text[after : after + 1]
    if char == "#" and following != "}" and (following in SPECIAL or NAME.match(following)):
        if not (following in "-?#@" and text[after + 1 : after + 2] != "}"):
            prefix = "#"
            parser.position += 1
    elif char == "!" and following and (following in SPECIAL or NAME.match(following)):
        if not (following in "-?" and text[after + 1 : after + 2] != "}"):
            prefix = "!"
            parser.position += 1
    _skip_joints(parser)
    name = _parameter_name(parser)
    if name is None:
        return None
    # bash joins with blanks in a here-document, whatever IFS is
    if name == "*" and mode == BRACE_H:
        name = "@"
    _skip_joints(parser)
    subscript: Word | None = None
    if text[parser.position : parser.position + 1] == "[" and (NAME.match(name) is not None):
        nesting = parser.nesting
        try:
            subscript = parser.read_subscript()
        except ShellSyntaxError:  # the brace may be closed all the same
            parser.nesting = nesting
            parser.open_bracket = not prefix
            return None
    if (
        prefix == "!"
        and subscript is None
        and text[parser.position : parser.position + 2] in ("*}", "@}")
    ):
        if NAME.match(name) is None:
            return None
        operator = "names" + text[parser.position]
        parser.position += 2
        return Parameter(name, None, "!", operator)
    return _operation(parser, start, mode, name, subscript, prefix)


def _skip_joints(parser: Parser) -> None:
    """Pass over joined lines (a backslash and a newline)."""
    parser.position = _behind_joints(parser, parser.position)


def _behind_joints(parser: Parser, position: int) -> int:
    while parser.text.startswith("\\\n", position):
        position += 2
    return position


def _operation(
    parser: Parser, start: int, mode: int, name: str, subscript: Word | None, prefix: str
) -> Parameter | None:
    text = parser.text
    _skip_joints(parser)
    if text[parser.position : parser.position + 1] == "}":
        parser.position += 1
        return Parameter(name, subscript, prefix)
    match = _OPERATORS.match(text, parser.position)
    if match is None or prefix == "#":
        if parser.position >= len(text):
            raise parser.unclosed("}", start)
        return None
    operator = match[0]
    parser.position = match.end()
    if name == "#" and operator in _NOT_OF_COUNT and text.startswith("}", parser.position):
        return None
    if operator == ":":
        operands = _operands(parser, start, mode, ":")
        if len(operands) == 1 and not operands[0].source:
            return None
    elif operator[0] == "/":
        if operator == "//" and text[parser.position : parser.position + 1] == "/":
            return Parameter(name, subscript, prefix, operator, _slash_operands(parser, start))
        operands = _operands(parser, start, BRACE, "/")
    elif operator[0] in "^,~" and name in "?-#":
        return None
    elif operator[0] in "#%^,~" or operator in ("@", "?", ":?"):
        operands = _operands(parser, start, BRACE, "")
        parser.has_bad |= operator == "@" and operands[0].source not in TRANSFORMATIONS
    else:
        operands = _operands(parser, start, mode, "")
    return Parameter(name, subscript, prefix, operator, operands)


def _slash_operands(parser: Parser, start: int) -> tuple[Word, ...]:
    """The operands of ${x///…}: the pattern begins with the third slash."""
    parser.position += 1
    first, *rest = _operands(parser, start, BRACE, "/")
    return (Word((Literal("/"), *first.parts), "/" + first.source), *rest)


def _operands(parser: Parser, start: int, mode: int, separator: str) -> tuple[Word, ...]:
    """The operand up to }, or the two operands around the first `separator`."""
    words: list[Word] = []
    stop = "}" + separator
    while True:
        at = parser.position
        parts = list(parser.scan(mode, stop))
        while separator == ":" and _inside_ternary(parser, at):
            parser.position += 1
            parts.append(Literal(":") if mode == BRACE else Quoted(":"))
            parts.extend(parser.scan(mode, stop))
        words.append(Word(tuple(parts), parser.text[at : parser.position]))
        if parser.position >= len(parser.text):
            raise parser.unclosed("}", start)
        parser.position += 1
        if parser.text[parser.position - 1] == "}":
            return tuple(words)
        stop = "}"


def _inside_ternary(parser: Parser, at: int) -> bool:
    """Whether the colon here belongs to an open ? of an arithmetic expression."""
    text = parser.text
    if text[parser.position : parser.position + 1] != ":":
        return False
    before = text[at : parser.position]
    return before.count("?") > before.count(":")


def _parameter_name(parser: Parser) -> str | None:
    text = parser.text
    match = _PARAMETER.match(text, parser.position)
    if match is not None:
        parser.position = match.end()
        return match[0].replace("\\\n", "")
    char = text[parser.position : parser.position + 1]
    if char and char in "@*#?-$!":
        parser.position += 1
        return char
    return None


def tell_bad(parts: tuple[Part, ...], source: str) -> None:
    """Give bad substitutions the text of their message: the word, or what is in its quotes."""
    for part in parts:
        if isinstance(part, DoubleQuoted):
            for inner in part.parts:
                if isinstance(inner, Parameter) and inner.prefix == "[":
                    inner.operands = (Word((), f"bad substitution: no closing `}}' in {source}"),)
        if not isinstance(part, Parameter):
            continue
        if (part.operator == "bad" and not part.operands) or (
            part.operator == "@" and part.operands[0].source not in TRANSFORMATIONS
        ):
            part.operands = (*part.operands[:1], Word((), f"{source}: bad substitution"))
