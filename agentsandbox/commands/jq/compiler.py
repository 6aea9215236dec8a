"""From the syntax tree to Python closures: each kind of node is compiled by a function of `expressions`, into a `Code`."""

from __future__ import annotations

from agentsandbox.commands.jq import nodes
from agentsandbox.commands.jq.code import NOTHING
from agentsandbox.commands.jq.expressions.assignments import compile_assign
from agentsandbox.commands.jq.expressions.bindings import compile_bind, compile_foreach, compile_reduce
from agentsandbox.commands.jq.expressions.constants import compile_constant, compile_format, compile_identity, compile_variable
from agentsandbox.commands.jq.expressions.construction import compile_array, compile_object, compile_text
from agentsandbox.commands.jq.expressions.flow import compile_break, compile_comma, compile_if, compile_label, compile_pipe, compile_try
from agentsandbox.commands.jq.expressions.functions import compile_call, compile_define
from agentsandbox.commands.jq.expressions.indexing import compile_index, compile_iterate, compile_slice
from agentsandbox.commands.jq.expressions.operators import compile_alternative, compile_binary, compile_logical, compile_negate
from agentsandbox.commands.jq.lexer import JqSyntaxError
from agentsandbox.commands.jq.scopes import Level

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from agentsandbox.commands.jq.code import Code
    from agentsandbox.commands.jq.machine import Machine
    from agentsandbox.commands.jq.nodes import Node
    from agentsandbox.commands.jq.scopes import Function, Scope

__all__ = ["Compiler"]

_COMPILERS: dict[type, Callable[[Compiler, Any, Scope], Code]] = {
    nodes.Identity: compile_identity,
    nodes.Constant: compile_constant,
    nodes.Variable: compile_variable,
    nodes.Text: compile_text,
    nodes.Format: compile_format,
    nodes.Index: compile_index,
    nodes.Slice: compile_slice,
    nodes.Iterate: compile_iterate,
    nodes.ArrayOf: compile_array,
    nodes.ObjectOf: compile_object,
    nodes.Negate: compile_negate,
    nodes.Binary: compile_binary,
    nodes.Logical: compile_logical,
    nodes.Alternative: compile_alternative,
    nodes.Assign: compile_assign,
    nodes.Try: compile_try,
    nodes.Label: compile_label,
    nodes.Break: compile_break,
    nodes.Reduce: compile_reduce,
    nodes.Foreach: compile_foreach,
}
_COMPILERS_IN_TAIL_POSITION: dict[type, Callable[[Compiler, Any, Scope, Function | None], Code]] = {
    nodes.Pipe: compile_pipe,
    nodes.Comma: compile_comma,
    nodes.If: compile_if,
    nodes.Bind: compile_bind,
    nodes.Define: compile_define,
    nodes.Call: compile_call,
}
"""Those whose output can be that of a part, so that a call there can be the last thing that a function does."""


class Compiler:
    """Compiles the expressions of one program for one machine."""

    def __init__(self, machine: Machine) -> None:
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
        """The code of an expression; `tail` is the function whose result this expression's output directly is."""
        compile_node = _COMPILERS.get(type(node))
        if compile_node is not None:
            return compile_node(self, node, scope)
        return _COMPILERS_IN_TAIL_POSITION[type(node)](self, node, scope, tail)

    def inner(self, node: Node, scope: Scope) -> Code:
        """The code of an argument that is a function of its own."""
        outer = self.level
        self.level = Level(outer)
        code = self.compile(node, scope)
        self.level = outer
        return code

    def undefined(self, message: str, position: int, length: int) -> Code:
        """Note a name that nothing has; in the program itself it is reported with the others, by `check`."""
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
