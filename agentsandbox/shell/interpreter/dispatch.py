"""Compilation by node type: the table of compilers, and the way from a syntax tree to closures.

A tree is not walked while a script runs. Each node is compiled once into a closure, which takes the
shell and returns a status (of a command) or a text (of a substitution). What is known of the node
beforehand, its constant words and its shape, is decided then; what the closure does is only what
depends on the shell.

Each kind of node has one compiler, which its module registers with `compiles`. The modules need
each other in circles, since a loop holds commands and a command holds substitutions, which hold
commands again. So none of them knows the others: they ask this table, which knows them by the name
of their module and loads a module at the first node of its kind. A script of simple commands pays
for no other.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, TypeVar

    from agentsandbox.shell.syntax.nodes import Command, CommandSubstitution, ProcessSubstitution

    Compiler = TypeVar("Compiler", bound=Callable[[Any], Callable[..., Any]])

_MODULES = {
    "AndOr": "flow",
    "ArithmeticCommand": "conditions",
    "ArithmeticFor": "flow",
    "Background": "background",
    "Case": "flow",
    "CommandList": "flow",
    "CommandSubstitution": "substitutions",
    "Conditional": "conditions",
    "Coproc": "coprocesses",
    "For": "flow",
    "FunctionDefinition": "functions",
    "Group": "flow",
    "If": "flow",
    "Pipeline": "pipelines",
    "ProcessSubstitution": "substitutions",
    "Select": "select",
    "SimpleCommand": "ways",
    "Subshell": "stages",
    "Unreadable": "subshells",
    "While": "flow",
}
"""The module that has the compiler of a kind of node."""

_COMPILERS: dict[type, Callable[[Any], Callable[..., Any]]] = {}


def compiles(node_type: type) -> Callable[[Compiler], Compiler]:
    """Register the compiler of a node type."""

    def register(function: Compiler) -> Compiler:
        _COMPILERS[node_type] = function
        return function

    return register


def compile_command(node: Command) -> Callable[..., int]:
    """Return the closure that runs a command in a shell and returns its status."""
    compiler = _COMPILERS.get(type(node)) or _load_compiler(type(node))
    return compiler(node)


def compile_substitution(node: CommandSubstitution | ProcessSubstitution) -> Callable[..., str]:
    """Return the closure that makes the text of a $(…) or <(…) in a shell."""
    compiler = _COMPILERS.get(type(node)) or _load_compiler(type(node))
    return compiler(node)


def _load_compiler(node_type: type) -> Callable[[Any], Callable[..., Any]]:
    __import__(f"{__package__}.{_MODULES[node_type.__name__]}")
    return _COMPILERS[node_type]
