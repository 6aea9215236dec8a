"""What `print`, `printf` and `sprintf` of awk write, as Python expressions."""

from __future__ import annotations

from agentsandbox.commands.awk import nodes
from agentsandbox.commands.awk.formats import parse_format
from agentsandbox.commands.awk.values import integral_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.commands.awk.nodes import Expression
    from agentsandbox.commands.awk.protocols import Compiler


def printed(compiler: Compiler, node: nodes.Print) -> tuple[str, bool]:
    """What a print statement writes, and whether it is bounded by the record and the program."""
    if node.formatted:
        return formatted_print(compiler, node.arguments)
    arguments: list[Expression] = node.arguments or [
        nodes.Field(node.line, nodes.Number(node.line, 0.0))
    ]
    separator, end = ("' '", "'\\n'") if compiler.fixed_separators else ("rt.OFS", "rt.ORS")
    codes: list[str] = []
    for argument in arguments:
        code = print_text(compiler, argument)
        codes += [separator, code] if codes else [code]
    codes.append(end)
    bounded = all(compiler.bounded(argument) for argument in arguments)
    if len(codes) > 8:
        return (
            f"''.join(({', '.join(codes)}))" if bounded else f"join(({', '.join(codes)}))"
        ), bounded
    code = " + ".join(codes)
    return (code if bounded or len(arguments) == 1 else f"checked({code})"), bounded


def print_text(compiler: Compiler, expression: Expression) -> str:
    """An item of `print`: numbers by OFMT."""
    if isinstance(expression, nodes.Number):
        text = integral_text(expression.value)
        if text is not None:
            return repr(text)
    if (
        compiler.is_condition(expression)
        or isinstance(expression, (nodes.Field, nodes.Text, nodes.Concat))
        or compiler.textual(expression)
    ):
        return compiler.text(expression)
    if compiler.numeric(expression):
        return f"printed_number({compiler.number(expression)})"
    return f"printed({compiler.untyped(expression)})"


def formatted(compiler: Compiler, arguments: list[Expression]) -> str:
    """`sprintf`: a constant format becomes Python formatting where the two agree."""
    if not arguments:
        return "rt.no_format()"
    template = arguments[0]
    while isinstance(template, nodes.Unary) and template.operator == "()":
        template = template.operand
    if isinstance(template, nodes.Text):
        codes = _formatted_directly(compiler, template.value, arguments[1:])
        if codes:
            return codes[0] if len(codes) == 1 else f"join(({', '.join(codes)}))"
    values = "".join(compiler.value(argument) + ", " for argument in arguments[1:])
    return f"rt.sprintf({compiler.text(template)}, ({values}))"


def formatted_print(compiler: Compiler, arguments: list[Expression]) -> tuple[str, bool]:
    """`printf`, and whether what it writes is bounded by the record and the program."""
    template = arguments[0] if arguments else None
    if not isinstance(template, nodes.Text) or not all(
        compiler.bounded(argument) for argument in arguments
    ):
        return formatted(compiler, arguments), False
    codes = _formatted_directly(compiler, template.value, arguments[1:])
    if not codes:
        return formatted(compiler, arguments), False
    return " + ".join(codes) if len(codes) <= 8 else f"''.join(({', '.join(codes)}))", True


def _formatted_directly(
    compiler: Compiler, template: str, arguments: list[Expression]
) -> list[str]:
    """The parts of the text; none when it takes a run of the whole machinery."""
    codes: list[str] = []
    taken = 0
    for part in parse_format(template):
        if isinstance(part, str):
            codes.append(repr(part))
            continue
        width, precision, flags = part.width, part.precision, part.flags
        if (
            taken >= len(arguments)
            or part.position is not None
            or not (_small(width) and _small(precision))
            or set(flags) & {"#", "'"}
        ):
            return []
        argument = arguments[taken]
        taken += 1
        letter = part.letter
        size = f"{width or ''}" + (f".{precision}" if precision is not None else "")
        if letter == "s":
            code = compiler.text(argument)
            if size:
                temporary = compiler.temporary()
                sound = f"{temporary} if ({temporary} := {code}).isascii() else sound({temporary})"
                code = f"'%{'-' if '-' in flags else ''}{size}s' % ({sound},)"
            codes.append(code)
        elif (
            letter in "di"
            and not flags
            and not size
            and isinstance(argument, nodes.Name)
            and compiler.number(argument) == "float(nf)"
        ):
            codes.append("f'{nf}'")
        elif letter in "di" and precision is None:
            codes.append(
                f"integer_text('%{flags}{size}d', {compiler.number(argument)}, {flags!r}, {width or 0})"
            )
        elif letter in "eEfFgG":
            codes.append(
                f"real_text('%{flags}{size}{letter}', {compiler.number(argument)}, {flags!r}, {width or 0})"
            )
        else:
            codes.append(
                f"format_one({letter!r}, {flags!r}, {width or 0}, {precision}, {compiler.value(argument)}, text)"
            )
    for argument in arguments[taken:]:
        if not isinstance(argument, (nodes.Name, nodes.Number, nodes.Text, nodes.Field)):
            return []  # its side effects must happen
    return codes or ["''"]


def _small(size: int | str | None) -> bool:
    return size is None or (isinstance(size, int) and size < 500)
