"""One jq program, compiled and ready to run on inputs."""

from __future__ import annotations

from agentsandbox.commands._json.values import JqError
from agentsandbox.commands.jq.compiler import Compiler
from agentsandbox.commands.jq.grammar import GRAMMAR
from agentsandbox.commands.jq.lexer import JqSyntaxError
from agentsandbox.commands.jq.modules import Library
from agentsandbox.commands.jq.parser import parse
from agentsandbox.commands.jq.scopes import Constant, Scope

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from agentsandbox.commands._json.values import Value
    from agentsandbox.commands.jq.code import Code
    from agentsandbox.commands.jq.machine import Machine


class CompileError(Exception):
    """The program does not compile; the message is all that jq prints."""


def compile_program(source: str, machine: Machine) -> Callable[[Value], Iterable[Value]]:
    """The function from an input to its outputs, lazily. Raises `CompileError`; running raises
    `JqError`.
    """
    code = compile_code(source, machine)
    return lambda value: code.many(value, ())


def compile_code(
    source: str, machine: Machine, *, origin: str = "", read: Callable[[str], str] | None = None
) -> Code:
    """The code of a program, for an empty environment.

    Raises `CompileError`; running raises `JqError`.
    """

    def refuse(path: str) -> str:
        raise FileNotFoundError(path)

    compiler = Compiler(machine, GRAMMAR)
    try:
        program = parse(source)
        scope = Scope()
        for name, value in machine.named.items():
            scope = scope.define(f"${name}", Constant(value))
        library = Library(compiler, machine.search_list, read or refuse, origin)
        scope = library.scope_of(program, scope, origin)
        if program.main is None:
            raise JqSyntaxError('Top-level program not given (try ".")', -1, 0)
        code = compiler.compile(program.main, scope)
        compiler.check()
        return code
    except JqSyntaxError as error:
        raise CompileError(_explain(error, error.source or source)) from None
    except JqError as error:
        raise CompileError(f"jq: error: {error.value}\njq: 1 compile error\n") from None


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
            f"jq: error: {message} at {error.file}, line {line}, column {column + 1}:\n    {text}\n    {' ' * column}{marks}\n"
        )
    count = len(error.reports)
    lines.append(f"jq: {count} compile error{'s' if count > 1 else ''}\n")
    return "".join(lines)
