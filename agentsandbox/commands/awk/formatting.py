"""`printf` and `sprintf` of an awk program as Python."""

from __future__ import annotations

from agentsandbox.commands.awk import nodes
from agentsandbox.commands.awk.formats import parse_format

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.commands.awk.expressions import Expressions
    from agentsandbox.commands.awk.nodes import Expression


def formatted(compiler: Expressions, arguments: list[Expression]) -> str:
    """`sprintf`: a constant format becomes Python formatting where the two agree."""
    template = arguments[0]
    if isinstance(template, nodes.Text) and not compiler.mode.traditional:
        codes = _formatted_directly(compiler, template.value, arguments[1:])
        if codes:
            return codes[0] if len(codes) == 1 else f"join(({', '.join(codes)}))"
    values = "".join(compiler.value(argument) + ", " for argument in arguments[1:])
    return f"sprintf({compiler.text(template)}, ({values}))"


def printed_by_format(
    compiler: Expressions, arguments: list[Expression], bounded: bool
) -> tuple[str, bool]:
    """Return what a `printf` writes, and whether record and program bound its length."""
    if not arguments:
        code = "''" if compiler.mode.traditional else "fatal('printf: no arguments')"
        return code, False
    template = arguments[0]
    codes: list[str] = []
    if isinstance(template, nodes.Text) and bounded and not compiler.mode.traditional:
        codes = _formatted_directly(compiler, template.value, arguments[1:])
    if not codes:
        return formatted(compiler, arguments), False
    return " + ".join(codes) if len(codes) <= 8 else f"''.join(({', '.join(codes)}))", True


def _formatted_directly(
    compiler: Expressions, template: str, arguments: list[Expression]
) -> list[str]:
    """Return the parts of the text; none when Python formats otherwise."""
    codes: list[str] = []
    taken = 0
    for part in parse_format(template):
        if isinstance(part, str):
            codes.append(repr(part))
            continue
        width, precision, flags, letter = part.width, part.precision, part.flags, part.letter
        sizes = (0 if width is None else width, 0 if precision is None else precision)
        small = all(isinstance(size, int) and size < 500 for size in sizes)
        if part.position is not None or part.misplaced or set(flags) & {"#", "'"}:
            return []
        if taken >= len(arguments) or part.is_refused or not small:
            return []
        argument = arguments[taken]
        taken += 1
        size = f"{width or ''}" + (f".{precision}" if precision is not None else "")
        given = f"{flags!r}, {width or 0}"
        if letter == "s":
            code = compiler.text(argument)
            if size:
                name = compiler.temporary()
                sound = f"{name} if ({name} := {code}).isascii() else sound({name})"
                code = f"'%{'-' if '-' in flags else ''}{size}s' % ({sound},)"
            codes.append(code)
        elif letter in "di" and precision is None:
            number = compiler.number(argument)
            codes.append(f"integer_text('%{flags}{size}d', {number}, {given})")
        elif letter in "eEfFgG":
            number = compiler.number(argument)
            codes.append(f"real_text('%{flags}{size}{letter}', {number}, {given})")
        else:
            value = compiler.value(argument)
            codes.append(f"one_text({letter!r}, {given}, {precision}, {value}, text)")
    pure = (nodes.Name, nodes.Number, nodes.Text, nodes.Field)
    if not all(isinstance(argument, pure) for argument in arguments[taken:]):
        return []  # the side effects of the others must happen
    return codes or ["''"]
