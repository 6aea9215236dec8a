"""The functions that an awk program defines, from tokens into nodes."""

from __future__ import annotations

from agentsandbox.commands.awk import nodes
from agentsandbox.commands.awk.modes import EXTENSIONS
from agentsandbox.commands.awk.scopes import SPECIAL_ARRAYS, SPECIAL_NAMES
from agentsandbox.commands.awk.tokens import spelled

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.commands.awk.terms import Terms


def function(parser: Terms) -> None:
    line = parser.advance().line
    name, name_line = parser.token.value, parser.token.line
    if parser.token.kind == "BUILTIN":
        raise parser.pointed(
            parser.token.position,
            f"`{name}' is a built-in function, it cannot be redefined",
        )
    if parser.token.kind not in ("NAME", "CALL"):
        raise parser.unexpected()
    parser.advance()
    parser.expect("(")
    parameters = _read_parameters(parser, name)
    parser.newlines()
    _shadow(parser, parameters)
    known = (parser.functions, parser.variables, SPECIAL_NAMES, SPECIAL_ARRAYS)
    if any(name in names for names in known):
        raise parser.error(f"error: function name `{spelled(name)}' previously defined", name_line)
    parser.in_function = True
    parser.rule_kind = "function"
    parser.parameters, parser.defining = parameters, name
    parser.functions[name] = nodes.Function(line, name, list(parameters), parser.action())
    parser.parameters, parser.defining = {}, ""
    parser.in_function = False


def _read_parameters(parser: Terms, function: str) -> dict[str, int]:
    """Read the parameters up to their closing parenthesis; return the place of each."""
    parameters: dict[str, int] = {}
    position = 0
    while parser.token.kind != ")":
        shadows = parser.token.kind == "BUILTIN" and parser.token.value in EXTENSIONS
        name = (parser.advance() if shadows else parser.expect("NAME")).value
        position += 1
        problems = []
        if name == function:
            problems.append("cannot use function name as parameter name")
        elif name in SPECIAL_NAMES or name in SPECIAL_ARRAYS:
            problems.append(f"cannot use special variable `{name}' as a function parameter")
        if name in parameters:
            problems.append(
                f"parameter #{position}, `{spelled(name)}', duplicates parameter"
                f" #{parameters[name]}"
            )
        for problem in problems:
            error = parser.error(f"error: function `{spelled(function)}': {problem}")
            parser.complaints += error.lines
        parameters.setdefault(name, position)
        if parser.token.kind == ",":
            parser.advance()
            parser.newlines()
        elif parser.token.kind != ")":
            raise parser.unexpected()
    parser.advance()
    return parameters


def _shadow(parser: Terms, parameters: dict[str, int]) -> None:
    """Take the names of functions that are parameters for names, up to the function's end."""
    if EXTENSIONS.isdisjoint(parameters):
        return
    braces = 0
    for at in range(parser.position, len(parser.tokens)):
        parser.budget.step()
        token = parser.tokens[at]
        braces += {"{": 1, "}": -1}.get(token.kind, 0)
        if not braces:
            return
        if token.kind == "BUILTIN" and token.value in parameters:
            following = parser.tokens[at + 1]
            touches = following.position == token.position + len(token.value)
            token.kind = "CALL" if following.kind == "(" and touches else "NAME"
