"""Statements that control others as Python: branches, loops, `switch`, jumps; and `delete`."""

from __future__ import annotations

from agentsandbox.commands.awk import flow_nodes, nodes
from agentsandbox.commands.awk.tokens import AwkSyntaxError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from agentsandbox.commands.awk.expressions import Expressions
    from agentsandbox.commands.awk.nodes import Statement

MAX_BLOCKS = 17
"""Loops within loops: CPython allows 20 blocks, and the main loop and its `try` are two."""


def if_statement(generator: Expressions, node: flow_nodes.If) -> None:
    word = "if"
    while True:
        generator.emit(f"{word} {generator.condition(node.condition)}:")
        _emit_body(generator, node.yes)
        if node.no is None:
            return
        if not isinstance(node.no, flow_nodes.If):
            break
        node = node.no
        word = "elif"
    generator.emit("else:")
    _emit_body(generator, node.no)


def _emit_body(generator: Expressions, statement: Statement) -> None:
    """Emit an indented block."""
    generator.deeper()
    generator.statement(statement)
    generator.emit("pass")
    generator.shallower()


def _enter_loop(generator: Expressions) -> None:
    generator.blocks += 1
    if generator.blocks > MAX_BLOCKS:
        raise AwkSyntaxError("error: loops nested too deeply")
    generator.loop_depth += 1


def _leave_loop(generator: Expressions) -> None:
    generator.blocks -= 1
    generator.loop_depth -= 1


def _tick(generator: Expressions) -> None:
    generator.emit("k -= 1")
    generator.emit("if k < 0: k = rt.tick()")


def while_statement(generator: Expressions, node: flow_nodes.While) -> None:
    _enter_loop(generator)
    generator.emit(f"while {generator.condition(node.condition)}:")
    _loop(generator, node.body, lambda: generator.emit("continue"), lambda: None)


def _loop(
    generator: Expressions,
    body: Statement,
    on_continue: Callable[[], None],
    at_end: Callable[[], None],
) -> None:
    generator.deeper()
    _tick(generator)
    generator.continues.append(on_continue)
    generator.breaks_switch.append(False)
    generator.statement(body)
    at_end()
    generator.continues.pop()
    generator.breaks_switch.pop()
    generator.shallower()
    _leave_loop(generator)


def do_statement(generator: Expressions, node: flow_nodes.DoWhile) -> None:
    def test() -> None:
        generator.line = node.condition.line
        generator.emit(f"if not {generator.condition(node.condition)}: break")

    def on_continue() -> None:
        test()
        generator.emit("continue")

    _enter_loop(generator)
    generator.emit("while True:")
    _loop(generator, node.body, on_continue, test)


def for_statement(generator: Expressions, node: flow_nodes.For) -> None:
    if node.start is not None:
        generator.statement(node.start)

    def step() -> None:
        if node.step is not None:
            generator.statement(node.step)

    def on_continue() -> None:
        step()
        generator.emit("continue")

    from agentsandbox.commands.awk.field_loops import field_loop

    fields = None if generator.general else field_loop(generator.scopes, generator.function, node)
    _enter_loop(generator)
    if fields is not None:
        _field_loop(generator, node.body, *fields, step=step, on_continue=on_continue)
        return
    generator.emit(
        f"while {generator.condition(node.condition) if node.condition is not None else 'True'}:"
    )
    _loop(generator, node.body, on_continue, step)


def _field_loop(
    generator: Expressions,
    body: Statement,
    variable: nodes.Name,
    first: int,
    *,
    step: Callable[[], None],
    on_continue: Callable[[], None],
) -> None:
    """Emit a loop over fields, in which the variable counts along."""
    field, subscript = generator.temporary(), ""
    fields = f"f[{first - 1}:nf]" if first > 1 else "f[:nf]"
    from agentsandbox.commands.awk.field_loops import counts_silently, uses_subscript

    if uses_subscript(generator.scopes, body, variable.name):
        subscript = generator.temporary()
        generator.emit(f"for {field}, {subscript} in zip({fields}, rt.subscripts({first}, nf)):")
    else:
        generator.emit(f"for {field} in {fields}:")
    key = generator.scopes.key(generator.function, variable.name)
    generator.loop_fields[key] = (field, subscript)
    if counts_silently(generator.scopes, body, variable.name):
        _loop(generator, body, lambda: generator.emit("continue"), lambda: None)
        generator.emit(
            f"{generator.variable(variable)} = nf + 1.0 if nf >= {first} else {float(first)}"
        )
    else:
        _loop(generator, body, on_continue, step)
    del generator.loop_fields[key]


def for_in_statement(generator: Expressions, node: flow_nodes.ForIn) -> None:
    array = generator.array_code(node.array)
    _enter_loop(generator)
    variable = node.variable
    temporary = generator.temporary()
    generator.emit(f"for {temporary} in walk({array}):")
    generator.deeper()
    from agentsandbox.commands.awk.assignments import assignment

    generator.emit(assignment(generator, variable, temporary))
    generator.shallower()
    _loop(generator, node.body, lambda: generator.emit("continue"), lambda: None)


def switch_statement(generator: Expressions, node: flow_nodes.Switch) -> None:
    """Find the number of the case, then run a loop once, which `break` leaves."""
    subject, matched, again = generator.temporary(), generator.temporary(), generator.temporary()
    generator.emit(f"{subject} = {generator.value(node.subject)}")
    default = len(node.cases)
    word = "if"
    for number, (value, _) in enumerate(node.cases):
        if value is None:
            default = number
            continue
        generator.emit(f"{word} {generator.case_condition(subject, value)}: {matched} = {number}")
        word = "elif"
    if word == "if":
        generator.emit(f"{matched} = {default}")
    else:
        generator.emit(f"else: {matched} = {default}")
    generator.emit(f"{again} = False")
    _enter_loop(generator)
    generator.emit("while True:")
    generator.deeper()

    def on_continue() -> None:
        generator.emit(f"{again} = True")
        generator.emit("break")

    generator.continues.append(on_continue)
    for number, (_, statements) in enumerate(node.cases):
        generator.emit(f"if {matched} <= {number}:")
        generator.deeper()
        generator.statements(statements)
        generator.emit("pass")
        generator.shallower()
    generator.emit("break")
    generator.continues.pop()
    generator.shallower()
    _leave_loop(generator)
    if generator.continues:
        generator.emit(f"if {again}:")
        generator.deeper()
        generator.continues[-1]()
        generator.shallower()


def jump(generator: Expressions, node: flow_nodes.Jump) -> None:
    if node.kind == "break":
        generator.emit("break")
    elif node.kind == "continue":
        generator.continues[-1]()
    elif generator.function or generator.blocks or not generator.in_main:
        generator.uses_exceptions = True
        generator.emit("raise AwkNext" if node.kind == "next" else "raise AwkNextFile")
    elif node.kind == "next":
        generator.emit("continue")
    else:
        generator.emit("rt.skip_file(); break")


def return_statement(generator: Expressions, node: flow_nodes.Return) -> None:
    generator.emit(
        f"return {generator.value(node.value) if node.value is not None else generator.nothing}"
    )


def exit_statement(generator: Expressions, node: flow_nodes.Exit) -> None:
    if node.status is not None:
        generator.emit(f"rt.set_status({generator.number(node.status)})")
    generator.emit("raise AwkExit")


def delete_statement(generator: Expressions, node: flow_nodes.Delete) -> None:
    target = node.target
    if isinstance(target, nodes.Name):
        generator.emit(f"{generator.array_code(target)}.forget_all()")
    else:
        generator.emit(f"{generator.array_code(target.base)}.forget({generator.subscript(target)})")


STATEMENTS: dict[type, Callable[[Expressions, Any], None]] = {
    flow_nodes.If: if_statement,
    flow_nodes.While: while_statement,
    flow_nodes.DoWhile: do_statement,
    flow_nodes.For: for_statement,
    flow_nodes.ForIn: for_in_statement,
    flow_nodes.Switch: switch_statement,
    flow_nodes.Jump: jump,
    flow_nodes.Return: return_statement,
    flow_nodes.Exit: exit_statement,
    flow_nodes.Delete: delete_statement,
}
"""What emits each of these statements."""
