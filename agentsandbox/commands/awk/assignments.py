"""Assignments of an awk program as Python: `=`, `+=`, `++`, `getline`."""

from __future__ import annotations

from agentsandbox.commands.awk import nodes
from agentsandbox.commands.awk.expressions import RECORD, constant
from agentsandbox.commands.awk.scopes import SPECIAL_NAMES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.commands.awk.expressions import Expressions, Target


def assignment(compiler: Expressions, target: Target, code: str) -> str:
    """Return the statement that assigns the value of `code`."""
    if isinstance(target, nodes.Name) and compiler.is_plain(target):
        return f"{compiler.variable(target)} = {code}"
    if isinstance(target, nodes.Index):
        return f"{compiler.element_code(target)} = {code}"
    return assigned(compiler, target, code)


def assigned(compiler: Expressions, target: Target, code: str) -> str:
    """Return the expression that assigns the value of `code` and is that value."""
    if isinstance(target, nodes.Name):
        if compiler.is_array(target):
            return f"({code}, {compiler.variable(target)})"
        if compiler.is_global(target.name) and target.name in SPECIAL_NAMES:
            compiler.warns = True
            return f"rt.assign({target.name!r}, {code})"
        return f"({compiler.variable(target)} := {code})"
    if isinstance(target, nodes.Index):
        if isinstance(target.base, nodes.Name) and target.base.name == "FUNCTAB":
            return "fatal('cannot assign to elements of FUNCTAB')"
        array, key = compiler.array_code(target.base), compiler.subscript(target)
        return f"set_element({code}, {array}, {key})"
    position = constant(target.number, 0)
    if position is None:
        return f"rt.set_field({code}, {compiler.number(target.number)})"
    if position:
        return f"rt.put_field({code}, {position})"
    if compiler.general:
        return f"rt.set_record_value({code})"
    split = ", (f := rt.split(r)), (nf := rt.count)" if compiler.scopes.uses_fields else ""
    return f"((rv := {code}), (r := text(rv)){split}, rv)[-1]"


def assign_statement(compiler: Expressions, node: nodes.Assign) -> None:
    """Emit an assignment whose value nobody needs."""
    target, operator, value = node.target, node.operator, node.value
    if isinstance(target, nodes.Index) and getattr(target.base, "name", "") == "FUNCTAB":
        compiler.emit(assigned(compiler, target, compiler.value(value)))
        return
    if operator == "=":
        position = constant(target.number) if isinstance(target, nodes.Field) else None
        source = constant(value.number) if isinstance(value, nodes.Field) else None
        if position is not None and position == source:
            compiler.emit(f"rt.rebuild({position})")
            return
        code = compiler.value(value)
        own = isinstance(target, nodes.Index) and compiler.is_own_array(target.base)
        if own and isinstance(value, nodes.Field) and not compiler.general:
            text, name = compiler.field_text(value), target.base.name  # type: ignore[union-attr]
            compiler.filled.add(name)
            code = f"from_input({text}) if y_{name} else {text}"
        compiler.emit(assignment(compiler, target, code))
        return
    plain = isinstance(target, nodes.Name) and compiler.is_plain(target)
    direct = operator in ("+=", "-=", "*=") and compiler.numeric(target)
    if not plain and not (direct and isinstance(target, nodes.Index)):
        compiler.emit(assign_value(compiler, node))
        return
    code = compiler.number(value)
    if direct and plain and code.startswith("float(len("):
        code = code.removeprefix("float")  # a float and a whole number make a float
    elif not isinstance(value, (nodes.Number, nodes.Field, nodes.Name)):
        temporary = compiler.temporary()
        compiler.emit(f"{temporary} = {code}")  # awk evaluates the right side first
        code = temporary
    if isinstance(target, nodes.Index):
        compiler.emit(f"{compiler.element_code(target)} {operator} {code}")
        return
    assert isinstance(target, nodes.Name)
    name = compiler.variable(target)
    if direct:
        compiler.emit(f"{name} {operator} {code}")
    else:
        left = name if compiler.numeric(target) else f"num({name})"
        compiler.emit(f"{name} = {compiler.arithmetic(operator[:-1], left, code)}")


def assign_value(compiler: Expressions, node: nodes.Assign) -> str:
    target, operator = node.target, node.operator
    if operator == "=":
        return assigned(compiler, target, compiler.value(node.value))
    value = compiler.number(node.value)
    if isinstance(node.value, nodes.Number):
        return _updated(compiler, target, operator[:-1], value)
    temporary = compiler.temporary()  # awk evaluates the right side first
    updated = _updated(compiler, target, operator[:-1], temporary)
    return f"(({temporary} := {value}), {updated})[1]"


def _updated(compiler: Expressions, target: Target, operator: str, value: str) -> str:
    """Return the expression that replaces the target by `target operator value`."""
    if isinstance(target, nodes.Index):
        key, array = compiler.temporary(), compiler.temporary()
        code, subscript = compiler.array_code(target.base), compiler.subscript(target)
        left = f"num(({array} := {code})[({key} := {subscript})])"
        return f"set_element({compiler.arithmetic(operator, left, value)}, {array}, {key})"
    if isinstance(target, nodes.Field) and constant(target.number, 0) != 0:
        position = compiler.temporary()
        left = f"num(rt.field_at(({position} := {compiler.number(target.number)})))"
        return f"rt.set_field({compiler.arithmetic(operator, left, value)}, {position})"
    return assigned(compiler, target, compiler.arithmetic(operator, compiler.number(target), value))


def step_value(compiler: Expressions, node: nodes.Step) -> str:
    target = node.target
    if not node.prefix and isinstance(target, nodes.Index):
        function = "count_element" if compiler.numeric(target) else "step_element"
        array, key = compiler.array_code(target.base), compiler.subscript(target)
        return f"{function}({array}, {key}, {float(node.amount)})"
    there, back = "+-" if node.amount > 0 else "-+"
    code = _updated(compiler, target, there, "1.0")
    return code if node.prefix else f"({code} {back} 1.0)"


def getline_value(compiler: Expressions, node: nodes.Getline) -> str:
    source = compiler.text(node.source) if node.source is not None else ""
    method = {
        "": "getline_main",
        "<": "channels.read_file",
        "|": "channels.read_command",
        "|&": "channels.read_both",
    }[node.kind]
    status = compiler.temporary()
    call = f"({status} := rt.{method}({source}))"
    if isinstance(node.target, nodes.Index):  # its subscript counts at the end of the input, too
        key = compiler.temporary()
        subscript, array = compiler.subscript(node.target), compiler.array_code(node.target.base)
        assign = f"set_element(from_input(rt.got), {array}, {key})"
        got = f"(({assign}, {status})[1] if {call} > 0.0 else {status})"
        return f"(({key} := {subscript}), {got})[1]"
    assign = assigned(compiler, node.target or RECORD, "from_input(rt.got)")
    return f"(({assign}, {status})[1] if {call} > 0.0 else {status})"
