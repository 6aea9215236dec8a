"""Calls of functions, from tokens into nodes: their arguments are checked."""

from __future__ import annotations

from agentsandbox.commands.awk import nodes
from agentsandbox.commands.awk.terms import as_pattern
from agentsandbox.commands.awk.tokens import spelled

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from agentsandbox.commands.awk.nodes import Expression
    from agentsandbox.commands.awk.terms import Terms

_MANY = 10_000
_ARGUMENT_COUNTS = {
    "length": (0, 1), "substr": (2, 3), "index": (2, 2), "split": (2, 4), "sub": (2, 3),
    "patsplit": (2, 4),
    "gsub": (2, 3), "gensub": (3, 4), "match": (2, 3), "sprintf": (0, _MANY), "sin": (1, 1),
    "cos": (1, 1), "atan2": (2, 2), "exp": (1, 1), "log": (1, 1), "sqrt": (1, 1), "int": (1, 1),
    "rand": (0, 0), "srand": (0, 1), "tolower": (1, 1), "toupper": (1, 1), "system": (1, 1),
    "close": (1, 2), "fflush": (0, 1), "strftime": (0, 3), "systime": (0, 0), "mktime": (1, 2),
    "asort": (1, 3), "asorti": (1, 3), "and": (0, _MANY), "or": (0, _MANY), "xor": (0, _MANY),
    "lshift": (2, 2), "rshift": (2, 2), "compl": (1, 1), "strtonum": (1, 1), "typeof": (1, 2),
    "isarray": (1, 1), "mkbool": (1, 1), "bindtextdomain": (1, 2), "dcgettext": (1, 3),
    "dcngettext": (1, 5),
}  # fmt: skip
_EXTENDED_CALLS = frozenset((("match", 3), ("close", 2)))
_PATTERN_ARGUMENTS = {"sub": 0, "gsub": 0, "gensub": 0, "match": 1, "split": 2, "patsplit": 2}
"""Which argument of a function is a regular expression."""


def _user_call(terms: Terms) -> Expression:
    token = terms.advance()
    if token.value in terms.parameters:
        message = f"attempt to use non-function `{spelled(token.value)}' in function call"
        terms.complaints += terms.error(f"error: {message}", token.line).lines
    arguments = terms.arguments()
    for number, argument in enumerate(arguments, 1):
        if isinstance(argument, nodes.Regex):
            terms.warn(
                f"regexp constant for parameter #{number} yields boolean value", terms.token.line
            )
    terms.advance()
    return nodes.UserCall(token.line, token.value, arguments)


def _indirect_call(terms: Terms) -> Expression:
    token = terms.advance()
    variable = terms.variable(token)
    arguments = terms.arguments()
    if terms.mode.traditional:
        message = "indirect function calls are a gawk extension"
        raise terms.pointed(terms.token.position, message)
    terms.advance()
    return nodes.IndirectCall(token.line, variable, arguments)


def _builtin(terms: Terms) -> Expression:
    token = terms.advance()
    name = token.value
    if terms.token.kind != "(":
        if name != "length":
            raise terms.unexpected()
        return nodes.Call(token.line, name, [])
    arguments = terms.arguments()
    lowest, highest = _ARGUMENT_COUNTS[name]
    if not lowest <= len(arguments) <= highest:
        message = f"{len(arguments)} is invalid as number of arguments for {name}"
        raise terms.pointed(terms.token.position, message)
    if terms.mode.traditional and (name, len(arguments)) in _EXTENDED_CALLS:
        which = "third" if name == "match" else "second"
        message = f"{name}: {which} argument is a gawk extension"
        raise terms.pointed(terms.token.position, message)
    place = _PATTERN_ARGUMENTS.get(name, _MANY)
    if place < len(arguments):
        arguments[place] = as_pattern(arguments[place])
    if name == "index" and isinstance(arguments[1], nodes.Regex):
        raise terms.error("fatal: index: regexp constant as second argument is not allowed")
    if name in ("sub", "gsub") and len(arguments) > 2 and not _is_changeable(arguments[2]):
        raise terms.pointed(
            terms.token.position,
            f"{name} third parameter is not a changeable object",
        )
    terms.advance()
    return nodes.Call(token.line, name, arguments)


def _is_changeable(expression: Expression) -> bool:
    """Whether it can be assigned to, or is a constant, which gawk accepts too."""
    if isinstance(expression, nodes.Binary):
        return isinstance(expression.left, nodes.Number) and isinstance(
            expression.right, nodes.Number
        )
    if isinstance(expression, nodes.Concat):
        return all(isinstance(part, nodes.Text) for part in expression.parts)
    return isinstance(expression, (nodes.Name, nodes.Index, nodes.Field, nodes.Number, nodes.Text))


READERS: dict[str, Callable[[Terms], Expression]] = {
    "CALL": _user_call,
    "INDIRECT": _indirect_call,
    "BUILTIN": _builtin,
}
"""What reads the call that begins with each kind of token."""
