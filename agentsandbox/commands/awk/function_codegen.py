"""The functions of an awk program as Python, and its rules between files; and the table SYMTAB."""

from __future__ import annotations

from agentsandbox.commands.awk.scopes import SPECIAL_ARRAYS, SPECIAL_NAMES
from agentsandbox.commands.awk.tokens import spelled

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.commands.awk import nodes
    from agentsandbox.commands.awk.expressions import Expressions
    from agentsandbox.commands.awk.nodes import Statement


def functions(generator: Expressions) -> None:
    for function in generator.program.functions.values():
        _function(generator, function)
    for function in generator.program.functions.values():
        kinds = "".join(
            "a" if (function.name, name) in generator.scopes.arrays else "s"
            for name in function.parameters
        )
        generator.emit(f"rt.functions[{spelled(function.name)!r}] = (f_{function.name}, {kinds!r})")


def _function(generator: Expressions, function: nodes.Function) -> None:
    generator.function = function.name
    generator.line = function.line
    saved = generator.hoisted
    generator.hoisted = []
    generator.indent += 2
    body = generator.captured(lambda: generator.statements(function.body))
    generator.indent -= 2
    hoisted, generator.hoisted = generator.hoisted, saved
    arrays = [
        name for name in function.parameters if (function.name, name) in generator.scopes.arrays
    ]
    generator.line = function.line
    words = [
        f"l_{name}=None" if name in arrays else f"l_{name}=UNSET" for name in function.parameters
    ]
    generator.emit(f"def f_{function.name}({', '.join(words)}):")
    generator.indent += 1
    generator.emit(generator.nonlocals([text for _, text, _ in [*body, *hoisted]], inside=False))
    generator.emit("b.left -= 1; b.depth += 1; k = 250")
    arguments = "".join([f", l_{name}" for name in function.parameters])
    generator.emit("if (b.left < 0 or b.depth > b.stack_end) and rt.enter():")
    generator.emit(f" return rt.go_on(f_{function.name}{arguments})")
    for name in arrays:
        generator.emit(
            f"if l_{name} is None or l_{name} is UNSET: l_{name} = rt.local({spelled(name)!r})"
        )
    for indent, text, line in hoisted:
        generator.output.append((indent + 1, text, line))
    generator.emit("try:")
    generator.output.extend(body or [(generator.indent + 1, "pass", generator.line)])
    generator.emit("finally: b.depth -= 1")
    generator.emit(f"return {generator.nothing}")
    generator.indent -= 1
    generator.function = ""


def hook(generator: Expressions, name: str, actions: list[list[Statement]]) -> None:
    generator.indent += 1
    saved, generator.hoisted = generator.hoisted, []

    def emit_actions() -> None:
        for action in actions:
            generator.statements(action)

    body = generator.captured(emit_actions)
    hoisted, generator.hoisted = generator.hoisted, saved
    generator.indent -= 1
    generator.emit(f"def {name}():")
    generator.indent += 1
    generator.emit(generator.nonlocals([text for _, text, _ in [*body, *hoisted]], inside=False))
    generator.emit("k = 250")
    for indent, text, line in hoisted:
        generator.output.append((indent + 1, text, line))
    generator.indent -= 1
    generator.output.extend(body)
    generator.emit(f"rt.{name} = {name}")


def symbols(generator: Expressions) -> None:
    """Make the elements of SYMTAB."""
    for name in sorted(generator.scopes.names - SPECIAL_NAMES - SPECIAL_ARRAYS):
        generator.budget.step()
        if ("", name) in generator.scopes.arrays:
            generator.emit(f"v_SYMTAB.add_array({spelled(name)!r}, v_{name})")
        else:
            generator.emit(f"v_SYMTAB.add({spelled(name)!r}, lambda: v_{name}, w_{name})")
