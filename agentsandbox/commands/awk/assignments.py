"""Assignments of awk as Python statements and expressions."""

from __future__ import annotations

from agentsandbox.commands.awk import nodes
from agentsandbox.commands.awk.scopes import SPECIAL_ARRAYS, SPECIAL_NAMES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.commands.awk.protocols import Compiler

_SIMPLE = (nodes.Number, nodes.Field, nodes.Name)


def _is_length(node: object) -> bool:
    """Whether it is the length of the record or of a field, which is a whole number."""
    return (
        isinstance(node, nodes.Call)
        and node.name == "length"
        and all(isinstance(item, nodes.Field) for item in node.arguments)
    )


def assignment(
    compiler: Compiler, target: nodes.Name | nodes.Index | nodes.Field, code: str
) -> str:
    """The statement that assigns the value of `code`."""
    if (
        isinstance(target, nodes.Name)
        and target.name not in SPECIAL_NAMES
        and not compiler.scopes.is_array(compiler.function, target.name)
    ):
        return f"{compiler.variable(target)} = {code}"
    if isinstance(target, nodes.Index):
        return f"{compiler.array_code(target.base)}[{compiler.subscript(target)}] = {code}"
    return assigned(compiler, target, code)


def assigned(compiler: Compiler, target: nodes.Name | nodes.Index | nodes.Field, code: str) -> str:
    """The expression that assigns the value of `code` and is that value."""
    if isinstance(target, nodes.Name):
        scope, name = compiler.scopes.key(compiler.function, target.name)
        if compiler.scopes.is_array(compiler.function, name) or name in SPECIAL_ARRAYS:
            return f"({code}, {compiler.variable(target)})"
        if not scope and name in SPECIAL_NAMES:
            return f"rt.assign({name!r}, {code})"
        return f"({compiler.variable(target)} := {code})"
    if isinstance(target, nodes.Index):
        return (
            f"set_element({code}, {compiler.array_code(target.base)}, {compiler.subscript(target)})"
        )
    if isinstance(target.number, nodes.Number) and target.number.value == 0:
        return _set_record(compiler, code)
    if isinstance(target.number, nodes.Number) and 1 <= target.number.value < 1000:
        return f"rt.put_field({code}, {int(target.number.value)})"
    return f"rt.set_field({code}, {compiler.number(target.number)})"


def _set_record(compiler: Compiler, code: str) -> str:
    """`$0 = code` as an expression."""
    if compiler.general:
        return f"rt.set_record_value({code})"
    temporary = compiler.temporary()
    split = ", (f := rt.split(r)), (nf := rt.count)" if compiler.scopes.uses_fields else ""
    return f"(({temporary} := {code}), (r := text({temporary})){split}, {temporary})[-1]"


def assign_statement(compiler: Compiler, node: nodes.Assign) -> None:
    target, operator = node.target, node.operator
    if operator == "=":
        position, source = _position(target), _position(node.value)
        if position and position == source:
            compiler.emit(
                f"if rt._fields is None or len(rt._fields) < {position}: rt.extend_fields({position})"
            )
            compiler.emit("rt._stale = True")
            return
        if position and source:
            compiler.emit(f"rt.copy_field({source}, {position})")
            return
        compiler.emit(assignment(compiler, target, compiler.value(node.value)))
        return
    if (
        isinstance(target, nodes.Name)
        and target.name not in SPECIAL_NAMES
        and not compiler.scopes.is_array(compiler.function, target.name)
    ):
        name = compiler.variable(target)
        value = compiler.number(node.value)
        counted = _is_length(node.value)
        if (
            operator in ("+=", "-=", "*=")
            and compiler.numeric(target)
            and (counted or isinstance(node.value, _SIMPLE))
        ):
            compiler.emit(f"{name} {operator} {value.removeprefix('float') if counted else value}")
            return
        left = name if compiler.numeric(target) else f"num({name})"
        if not isinstance(node.value, (nodes.Number, nodes.Field, nodes.Name)):
            temporary = compiler.temporary()
            compiler.emit(f"{temporary} = {value}")
            value = temporary
        compiler.emit(f"{name} = {compiler.arithmetic(operator[:-1], left, value)}")
        return
    if (
        isinstance(target, nodes.Index)
        and compiler.numeric(target)
        and operator in ("+=", "-=", "*=")
    ):
        value = compiler.number(node.value)
        if not isinstance(node.value, (nodes.Number, nodes.Field, nodes.Name)):
            temporary = compiler.temporary()
            compiler.emit(f"{temporary} = {value}")
            value = temporary
        compiler.emit(
            f"{compiler.array_code(target.base)}[{compiler.subscript(target)}] {operator} {value}"
        )
        return
    compiler.emit(assign_value(compiler, node))


def assign_value(compiler: Compiler, node: nodes.Assign) -> str:
    target, operator = node.target, node.operator
    if operator == "=":
        return assigned(compiler, target, compiler.value(node.value))
    value = compiler.number(node.value)
    before = ""
    if not isinstance(node.value, nodes.Number):
        # awk evaluates the right side first
        temporary = compiler.temporary()
        before = f"({temporary} := {value}), "
        value = temporary
    code = _updated(compiler, target, operator[:-1], value)
    return f"({before}{code})[1]" if before else code


def _updated(
    compiler: Compiler, target: nodes.Name | nodes.Index | nodes.Field, operator: str, value: str
) -> str:
    """The expression that replaces the target by `target operator value`."""
    if isinstance(target, nodes.Name):
        left = compiler.variable(target)
        left = left if compiler.numeric(target) else f"num({left})"
        return assigned(compiler, target, compiler.arithmetic(operator, left, value))
    if isinstance(target, nodes.Index):
        key, array = compiler.temporary(), compiler.temporary()
        left = f"num(({array} := {compiler.array_code(target.base)})[({key} := {compiler.subscript(target)})])"
        return f"set_element({compiler.arithmetic(operator, left, value)}, {array}, {key})"
    if isinstance(target.number, nodes.Number) and target.number.value == 0:
        return _set_record(
            compiler, compiler.arithmetic(operator, f"num({compiler.field_text(target)})", value)
        )
    position = compiler.temporary()
    left = f"num(rt.field_at(({position} := {compiler.number(target.number)})))"
    return f"rt.set_field({compiler.arithmetic(operator, left, value)}, {position})"


def step_value(compiler: Compiler, node: nodes.Step) -> str:
    operator = "+" if node.amount > 0 else "-"
    target = node.target
    if not node.prefix and isinstance(target, nodes.Index):
        helper = "count_element" if compiler.numeric(target) else "step_element"
        return f"{helper}({compiler.array_code(target.base)}, {compiler.subscript(target)}, {float(node.amount)})"
    code = _updated(compiler, target, operator, "1.0")
    if node.prefix:
        return code
    return f"({code} - 1.0)" if node.amount > 0 else f"({code} + 1.0)"


def getline_value(compiler: Compiler, node: nodes.Getline) -> str:
    source = compiler.text(node.source) if node.source is not None else ""
    method = {"": "main", "<": "file", "|": "command"}[node.kind]
    status = compiler.temporary()
    call = f"rt.getline_{method}({source})"
    target = (
        node.target
        if node.target is not None
        else nodes.Field(node.line, nodes.Number(node.line, 0.0))
    )
    return f"(({assigned(compiler, target, 'from_input(rt.got)')}, {status})[1] if ({status} := {call}) > 0.0 else {status})"


def _position(node: object) -> int:
    """The number of a field that is constant and not 0, else 0."""
    if (
        isinstance(node, nodes.Field)
        and isinstance(node.number, nodes.Number)
        and 1 <= node.number.value < 1000
    ):
        return int(node.number.value)
    return 0
