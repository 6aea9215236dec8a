"""One jq program, compiled and ready to run on inputs."""

from __future__ import annotations

from agentsandbox.commands._json.values import JqError
from agentsandbox.commands.jq.compiler import Compiler, Constant, Scope
from agentsandbox.commands.jq.expressions import (
    access,
    assignments,
    bindings,
    construction,
    flow,
    functions,
    operators,
)
from agentsandbox.commands.jq.lexer import JqSyntaxError
from agentsandbox.commands.jq.parser import parse

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.commands.jq.code import Code
    from agentsandbox.commands.jq.compiler import CompileNode, Form
    from agentsandbox.commands.jq.machine import Machine
    from agentsandbox.commands.jq.nodes import Definition

_NODES: dict[type, CompileNode] = {
    **access.NODES,
    **assignments.NODES,
    **bindings.NODES,
    **construction.NODES,
    **flow.NODES,
    **functions.NODES,
    **operators.NODES,
}


class CompileError(Exception):
    """The program does not compile; the message is all that jq prints."""


def compile_program(source: str, machine: Machine) -> Code:
    """Return the code of a program, for an empty environment.

    Raises `CompileError`; running the code raises `JqError`.
    """
    compiler = Compiler(machine, _NODES, _builtin)
    try:
        definitions, main = parse(source)
        scope = Scope()
        for name, value in machine.named.items():
            scope = scope.define(f"${name}", Constant(value))
        for definition in definitions:
            scope = functions.define(compiler, definition, scope)
        if main is None:
            raise JqSyntaxError('Top-level program not given (try ".")', -1, 0)
        code = compiler.compile(main, scope)
        compiler.check()
        return code
    except JqSyntaxError as error:
        raise CompileError(_explain(error, source)) from None
    except JqError as error:
        raise CompileError(f"jq: error: {error.value}\njq: 1 compile error\n") from None


def _builtin(name: str) -> Form | Definition | None:
    # loaded here because many programs call nothing
    from agentsandbox.commands.jq.builtins import find_builtin

    return find_builtin(name)


def _explain(error: JqSyntaxError, source: str) -> str:
    lines: list[str] = []
    for message, position, length in error.reports:
        if position < 0:
            lines.append(f"jq: error: {message}\n")
            continue
        line = source.count("\n", 0, position) + 1
        start = source.rfind("\n", 0, position) + 1
        end = source.find("\n", position)
        text = source[start : end if end >= 0 else len(source)]
        column = position - start
        marks = "^" * max(1, min(length, len(text) - column))
        lines.append(
            f"jq: error: {message} at <top-level>, line {line}, column {column + 1}:\n"
            f"    {text}\n    {' ' * column}{marks}\n"
        )
    count = len(error.reports)
    lines.append(f"jq: {count} compile error{'s' if count > 1 else ''}\n")
    return "".join(lines)
