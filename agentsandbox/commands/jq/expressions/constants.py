"""What needs no operand: `.`, constants, variables, and formats such as `@csv` by themselves."""

from __future__ import annotations

from agentsandbox.commands.jq.code import Code
from agentsandbox.commands.jq.scopes import Constant

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.commands.jq import nodes
    from agentsandbox.commands.jq.compiler import Compiler
    from agentsandbox.commands.jq.scopes import Scope


def compile_identity(compiler: Compiler, node: nodes.Identity, scope: Scope) -> Code:
    return Code(
        lambda value, environment: value, paths=lambda path, value, environment: ((path, value),)
    )


def compile_constant(compiler: Compiler, node: nodes.Constant, scope: Scope) -> Code:
    result = node.value
    return Code(lambda value, environment: result)


def compile_variable(compiler: Compiler, node: nodes.Variable, scope: Scope) -> Code:
    found = scope.find("$" + node.name)
    machine = compiler.machine
    if found is None and node.name == "ENV":
        found = Constant(dict(machine.environment))
    elif found is None and node.name in machine.named:
        found = Constant(machine.named[node.name])
    if found is None:
        return compiler.undefined(f"${node.name} is not defined", node.position, len(node.name) + 1)
    if isinstance(found, Constant):
        result = found.value
        return Code(lambda value, environment: result)
    assert isinstance(found, int)
    index = found
    return Code(lambda value, environment: environment[index])


def compile_format(compiler: Compiler, node: nodes.Format, scope: Scope) -> Code:
    # an unknown format is an error of the run, not of the program
    from agentsandbox.commands.jq.formats import find_format

    escape = find_format(node.name, compiler.budget.charge)
    return Code(lambda value, environment: escape(value))
