"""Compilation by node type: each kind of command has one function, registered by the module that
knows it.
"""

from __future__ import annotations

import importlib

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from agentsandbox.shell.interpreter.shell import Shell
    from agentsandbox.shell.syntax.nodes import Command

    Run = Callable[[Shell], int]

_COMPILERS: dict[type, Callable[[Any], Run]] = {}
_MODULES = ("simple", "flow", "pipelines", "conditions", "subshells", "functions")


def compiles(node_type: type) -> Callable[[Callable[[Any], Run]], Callable[[Any], Run]]:
    """Register the compiler of a node type."""

    def register(function: Callable[[Any], Run]) -> Callable[[Any], Run]:
        _COMPILERS[node_type] = function
        return function

    return register


def compile_command(node: Command) -> Run:
    """The closure that runs a command and returns its status."""
    compiler = _COMPILERS.get(type(node))
    return _load_compiler(type(node))(node) if compiler is None else compiler(node)


def _load_compiler(node_type: type) -> Callable[[Any], Run]:
    """Import the modules one after another until one has registered the type: a script of simple
    commands needs the first.
    """
    for module in _MODULES:
        importlib.import_module(f"agentsandbox.shell.interpreter.{module}")
        if node_type in _COMPILERS:
            break
    return _COMPILERS[node_type]
