"""What a shell holds: the one place that reads a shell's insides to weigh them."""

from __future__ import annotations

import sys

from agentsandbox.shell.syntax.nodes import Node

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.kernel.accounts import Scale
    from agentsandbox.shell.interpreter.shell import Shell
    from agentsandbox.shell.interpreter.state import Function

_OBJECT = 64
"""Bytes of a node of a syntax tree without its texts."""
_COMPILED = 3
"""A tree that is compiled as well takes this many times as much."""


def weigh_shell(shell: Shell, scale: Scale) -> None:
    """Put on the scale what a shell holds: variables, arguments, functions, traps, descriptors and
    the rest.
    """
    scale.add(shell.values)
    for scope in shell.variables.scopes:
        scale.add(scope)
    for _, temporary in shell.variables.temporary:
        scale.add(temporary)
    scale.add(shell.stack.positional)
    for arguments in shell.stack.outer:
        scale.add(arguments)
    scale.add(shell.stack.recorded)
    scale.add(shell.invocation.arguments)
    scale.add(shell.traps.handlers)
    scale.add(shell.traps.outer)
    scale.add(shell.specials.hashed)
    scale.add(shell.directories)
    scale.add(shell.definitions.aliases)
    scale.add(shell.definitions.completions)
    scale.add(shell.specials.last_argument)
    scale.add(shell.specials.command_text)
    scale.add(shell.fds)
    if scale.is_new(shell.definitions.functions):
        for function in shell.definitions.functions.values():
            if scale.is_new(function):
                scale.total += weigh_function(function)


def weigh_function(function: Function) -> int:
    """Return the bytes of a function's tree, and of its compiled body; the tree never changes, so
    it is walked once.
    """
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
            pending.extend(
                [
                    getattr(here, name, None)
                    for base in type(here).__mro__
                    for name in base.__dict__.get("__slots__", ())
                ]
            )
    return total
