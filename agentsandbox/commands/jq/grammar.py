"""The language as the compiler is given it: the function of `expressions` for each kind of node,
and the built-in functions.
"""

from __future__ import annotations

from agentsandbox.commands.jq import nodes
from agentsandbox.commands.jq.compiler import Grammar
from agentsandbox.commands.jq.expressions.assignments import compile_assign
from agentsandbox.commands.jq.expressions.bindings import (
    compile_bind,
    compile_foreach,
    compile_reduce,
)
from agentsandbox.commands.jq.expressions.constants import (
    compile_constant,
    compile_format,
    compile_identity,
    compile_variable,
)
from agentsandbox.commands.jq.expressions.construction import (
    compile_array,
    compile_object,
    compile_text,
)
from agentsandbox.commands.jq.expressions.flow import (
    compile_break,
    compile_comma,
    compile_if,
    compile_label,
    compile_pipe,
    compile_try,
)
from agentsandbox.commands.jq.expressions.functions import compile_call, compile_define
from agentsandbox.commands.jq.expressions.indexing import (
    compile_index,
    compile_iterate,
    compile_slice,
)
from agentsandbox.commands.jq.expressions.operators import (
    compile_alternative,
    compile_binary,
    compile_logical,
    compile_negate,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from agentsandbox.commands.jq.code import Code
    from agentsandbox.commands.jq.compiler import Compiler, Form
    from agentsandbox.commands.jq.nodes import Definition
    from agentsandbox.commands.jq.scopes import Function, Scope

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


def _builtin(name: str) -> Form | Definition | None:
    # loaded here because many programs call nothing
    from agentsandbox.commands.jq.builtins import find_builtin

    return find_builtin(name)


GRAMMAR = Grammar(_COMPILERS, _COMPILERS_IN_TAIL_POSITION, _builtin)
