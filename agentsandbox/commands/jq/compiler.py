"""The compiler of one program: it finds the function for each kind of node in a table that it is
given.
"""

from __future__ import annotations

from agentsandbox.commands.jq.code import NOTHING
from agentsandbox.commands.jq.lexer import JqSyntaxError
from agentsandbox.commands.jq.scopes import Level

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any, TypeAlias

    from agentsandbox.commands.jq.code import Code
    from agentsandbox.commands.jq.machine import Machine
    from agentsandbox.commands.jq.nodes import Definition, Node
    from agentsandbox.commands.jq.scopes import Function, Scope

    Form: TypeAlias = Callable[["Compiler", list[Code]], Code]
    """A built-in function of the codes of its arguments."""


class Grammar:
    """What a compiler knows of the language.

    nodes     compiles a node of that type
    in_tail   the same for nodes whose output can be that of a part, so that a call there can be the
              last thing that a function does; these are given the function as well
    builtin   what a name such as "map/1" stands for
    """

    __slots__ = ("builtin", "in_tail", "nodes")

    def __init__(
        self,
        nodes: Mapping[type, Callable[[Compiler, Any, Scope], Code]],
        in_tail: Mapping[type, Callable[[Compiler, Any, Scope, Function | None], Code]],
        builtin: Callable[[str], Form | Definition | None],
    ) -> None:
        self.nodes = nodes
        self.in_tail = in_tail
        self.builtin = builtin


class Compiler:
    """Compiles the expressions of one program for one machine."""

    def __init__(self, machine: Machine, grammar: Grammar) -> None:
        self.grammar = grammar
        self.machine = machine
        self.budget = machine.budget
        self.builtins: dict[str, Function] = {}
        """The functions defined in jq that the program calls, compiled once."""
        self.optimistic = False
        """Whether a recursive function is being compiled as one that has one output at most."""
        self.level = Level(None)
        """Where the names are noted that nothing has."""
        self.in_module = False

    def compile(self, node: Node, scope: Scope, tail: Function | None = None) -> Code:
        """The code of an expression; `tail` is the function whose result this expression's output
        directly is.
        """
        compile_node = self.grammar.nodes.get(type(node))
        if compile_node is not None:
            return compile_node(self, node, scope)
        return self.grammar.in_tail[type(node)](self, node, scope, tail)

    def inner(self, node: Node, scope: Scope) -> Code:
        """The code of an argument that is a function of its own."""
        outer = self.level
        self.level = Level(outer)
        code = self.compile(node, scope)
        self.level = outer
        return code

    def undefined(self, message: str, position: int, length: int) -> Code:
        """Note a name that nothing has; in the program itself it is reported with the others, by
        `check`.
        """
        error = JqSyntaxError(message, position, length)
        if self.in_module:
            raise error
        if error.reports[0] not in self.level.reports:
            self.level.reports += error.reports
        return NOTHING

    def check(self) -> None:
        """Raise `JqSyntaxError` for all the names that nothing has."""
        reports = self.level.found()
        if reports:
            error = JqSyntaxError(*reports[0])
            error.reports = reports
            raise error
