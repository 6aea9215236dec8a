"""What a shell holds: the one place that reads a shell's insides to weigh them."""

from __future__ import annotations

import sys

from agentsandbox.shell.syntax.nodes import Node

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.kernel.accounts import Scale
    from agentsandbox.shell.interpreter.shell import Function, Shell

__all__ = ["weigh_function", "weigh_shell"]

_OBJECT = 64
"""Bytes of a node of a syntax tree without its texts."""
_COMPILED = 3
"""A tree that is compiled as well takes this many times as much."""


def weigh_shell(shell: Shell, scale: Scale) -> None:
    """Put on the scale what a shell holds: variables, arguments, functions, traps, descriptors and the rest."""
    scale.add(shell.values)
    for scope in shell.variables.scopes:
        scale.add(scope)
    for _, temporary in shell.variables.temporary:
        scale.add(temporary)
    scale.add(shell.positional)
    for arguments in shell.outer_positional:
        scale.add(arguments)
    scale.add(shell.call_arguments)
    scale.add(shell.arguments)
    scale.add(shell.traps)
    scale.add(shell.outer_traps)
    scale.add(shell.hashed)
    scale.add(shell.directories)
    scale.add(shell.aliases)
    scale.add(shell.completions)
    scale.add(shell.last_argument)
    scale.add(shell.command_text)
    scale.add(shell.fds)
    if scale.is_new(shell.functions):
        for function in shell.functions.values():
            if scale.is_new(function):
                scale.total += weigh_function(function)


def weigh_function(function: Function) -> int:
    """Return the bytes of a function's tree, and of its compiled body; the tree never changes, so it is walked once."""
    if not function.weight:
        function.weight = _weigh_tree(function.node)
    return function.weight * (_COMPILED if function.compiled is not None else 1)


def _weigh_tree(root: object) -> int:
    total = 0
    pending = [root]
    while pending:
        here = pending.pop()
        if isinstance(here, str):
            total += sys.getsizeof(here)
        elif isinstance(here, (tuple, list)):
            total += _OBJECT + 8 * len(here)
            pending.extend(here)
        elif isinstance(here, Node):
            total += _OBJECT
            pending.extend([getattr(here, name, None) for base in type(here).__mro__ for name in base.__dict__.get("__slots__", ())])
    return total
