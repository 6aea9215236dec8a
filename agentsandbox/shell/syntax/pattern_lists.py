"""Pattern lists: ?(…), *(…), +(…), @(…) and !(…), where `extglob` is on."""

from __future__ import annotations

from agentsandbox.shell.syntax.contexts import WORD
from agentsandbox.shell.syntax.nodes import (
    CommandSubstitution,
    Literal,
    Parameter,
    Part,
    ProcessSubstitution,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.shell.syntax.protocols import Parser


def read_pattern_list(parser: Parser, pending: list[str], flush: object, parts: list[Part]) -> None:
    """Read ?(…) and the like: a pattern list, in which quotes and expansions count."""
    opened = parser.position
    pending.append(parser.text[opened : opened + 2])
    parser.position += 2
    parser.enter()
    while True:
        inner = _alternative(parser)
        for part in inner:
            if isinstance(part, Literal):
                pending.append(part.text)
            else:
                flush()  # type: ignore[operator]
                _keep_as_written(part)
                parts.append(part)
        if parser.position >= len(parser.text):
            raise parser.unclosed(")", opened)
        char = parser.text[parser.position]
        pending.append(char)
        parser.position += 1
        if char == ")":
            break
    parser.nesting -= 1


def _alternative(parser: Parser) -> list[Part]:
    """Return the parts up to `|`, `)` or the end; blanks and other parentheses are text."""
    collected: list[Part] = []
    depth = 0
    while parser.position < len(parser.text):
        collected.extend(parser.scan(WORD, "|)"))
        char = parser.text[parser.position : parser.position + 1]
        if not char or (not depth and char in "|)"):
            break
        depth += (char == "(") - (char == ")")
        collected.append(Literal(char))
        parser.position += 1
    return collected


def _keep_as_written(part: Part) -> None:
    """Mark the substitutions of a pattern list, which bash prints as they were written."""
    if isinstance(part, (CommandSubstitution, ProcessSubstitution)):
        part.source = ""
    elif isinstance(part, Parameter):
        for operand in (part.subscript, *part.operands):
            for inner in () if operand is None else operand.parts:
                _keep_as_written(inner)
