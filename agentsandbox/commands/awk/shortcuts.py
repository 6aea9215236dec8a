"""What Python can do quicker than step by step: loops over the fields of a record, and arithmetic
with fields.
"""

from __future__ import annotations

from agentsandbox.commands.awk import nodes
from agentsandbox.commands.awk.scopes import SPECIAL_NAMES, children

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.commands.awk.scopes import Scopes

_MOST_FIELDS = 1000


def field_loop(scopes: Scopes, function: str, node: nodes.For) -> tuple[nodes.Name, int] | None:
    """The variable and the first field of `for (i = 1; i <= NF; i++)`, if nothing in it changes i
    or the record; else None.
    """
    start, condition, step = node.start, node.condition, node.step
    if not (
        isinstance(start, nodes.ExpressionStatement) and isinstance(step, nodes.ExpressionStatement)
    ):
        return None
    first, forward = start.expression, step.expression
    if not (
        isinstance(first, nodes.Assign)
        and first.operator == "="
        and isinstance(first.target, nodes.Name)
    ):
        return None
    variable, value = first.target, first.value
    if not (
        isinstance(value, nodes.Number)
        and value.value.is_integer()
        and 1 <= value.value < _MOST_FIELDS
    ):
        return None
    if not (
        isinstance(condition, nodes.Binary)
        and condition.operator == "<="
        and isinstance(forward, nodes.Step)
        and forward.amount > 0
    ):
        return None
    if not (
        _is(condition.left, variable.name)
        and _is(condition.right, "NF")
        and _is(forward.target, variable.name)
    ):
        return None
    if (
        variable.name in SPECIAL_NAMES
        or scopes.key(function, "NF")[0]
        or not scopes.is_numeric(function, variable)
    ):
        return None
    return None if _changes(scopes, node.body, variable.name) else (variable, int(value.value))


def _is(node: object, name: str) -> bool:
    return isinstance(node, nodes.Name) and node.name == name


def _changes(scopes: Scopes, start: nodes.Node, name: str) -> bool:
    """Whether anything below may change the variable or the record."""
    pending = [start]
    while pending:
        node = pending.pop()
        scopes.budget.step()
        if isinstance(node, (nodes.UserCall, nodes.Getline)):
            return True
        if isinstance(node, nodes.ForIn) and (
            scopes.functions or _is(node.variable, name) or isinstance(node.variable, nodes.Field)
        ):
            return True
        if isinstance(node, (nodes.Assign, nodes.Step)) and (
            _is(node.target, name) or isinstance(node.target, nodes.Field)
        ):
            return True
        if isinstance(node, nodes.Call):
            if node.name in ("sub", "gsub") and (
                len(node.arguments) < 3 or not isinstance(node.arguments[2], nodes.Index)
            ):
                return True
            if node.name in ("asort", "asorti") and scopes.functions:
                return True
        pending.extend(children(node))
    return False


def target_of(node: nodes.Node) -> object:
    """What a node changes, if it is one thing."""
    if isinstance(node, (nodes.Assign, nodes.Step, nodes.Delete, nodes.Getline)):
        return node.target
    if isinstance(node, nodes.ForIn):
        return node.variable
    if isinstance(node, nodes.Call) and node.name in ("sub", "gsub") and len(node.arguments) > 2:
        return node.arguments[2]
    return None


def counts_silently(scopes: Scopes, start: nodes.Node, name: str) -> bool:
    """Whether below nothing but `$name` and `a[name]` looks at the variable, and nothing leaves the
    loop early.
    """
    pending = [start]
    while pending:
        node = pending.pop()
        scopes.budget.step()
        if _is(node, name) or isinstance(node, (nodes.Jump, nodes.Exit, nodes.Return)):
            return False
        if isinstance(node, nodes.Field) and _is(node.number, name):
            continue
        if (
            isinstance(node, nodes.Index)
            and len(node.subscripts) == 1
            and _is(node.subscripts[0], name)
        ):
            pending.append(node.base)
            continue
        pending.extend(children(node))
    return True


def uses_subscript(scopes: Scopes, start: nodes.Node, name: str) -> bool:
    """Whether the variable alone is the subscript of an element somewhere below."""
    pending = [start]
    while pending:
        node = pending.pop()
        scopes.budget.step()
        if (
            isinstance(node, nodes.Index)
            and len(node.subscripts) == 1
            and _is(node.subscripts[0], name)
        ):
            return True
        pending.extend(children(node))
    return False
