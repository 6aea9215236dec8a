"""`print` and `printf` of an awk program as Python."""

from __future__ import annotations

from agentsandbox.commands.awk import nodes
from agentsandbox.commands.awk.expressions import RECORD
from agentsandbox.commands.awk.values import integral_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.commands.awk.expressions import Expressions
    from agentsandbox.commands.awk.nodes import Expression


def printed(compiler: Expressions, node: nodes.Print) -> tuple[str, bool]:
    """Return what a print statement writes, and whether record and program bound its length."""
    bounded = all(map(compiler.bounded, node.arguments))
    if node.formatted:
        return _printed_by_format(compiler, node.arguments, bounded)
    separator, end = ("' '", "'\\n'") if compiler.fixed_separators else ("rt.OFS", "rt.ORS")
    codes: list[str] = []
    for argument in node.arguments or [RECORD]:
        code = _print_text(compiler, argument)
        codes += [separator, code] if codes else [code]
    codes.append(end)
    if len(codes) > 8:
        joined = ", ".join(codes)
        return (f"''.join(({joined}))" if bounded else f"join(({joined}))"), bounded
    code = " + ".join(codes)
    return (code if bounded or len(codes) == 2 else f"checked({code})"), bounded


def _print_text(compiler: Expressions, expression: Expression) -> str:
    """Return an item of `print`: numbers by OFMT."""
    if isinstance(expression, nodes.Number):
        text = integral_text(expression.value)
        if text is not None:
            return repr(text)
    if (
        compiler.is_condition(expression)
        or isinstance(expression, nodes.Field)
        or compiler.textual(expression)
    ):
        return compiler.text(expression)
    if compiler.numeric(expression):
        return f"printed_number({compiler.number(expression)})"
    return f"printed({compiler.untyped(expression)})"


def formatted(compiler: Expressions, arguments: list[Expression]) -> str:
    """`sprintf`: a constant format becomes Python formatting where the two agree."""
    template = arguments[0]
    if isinstance(template, nodes.Text) and not compiler.mode.traditional:
        codes = _formatted_directly(compiler, template.value, arguments[1:])
        if codes:
            return codes[0] if len(codes) == 1 else f"join(({', '.join(codes)}))"
    values = "".join(compiler.value(argument) + ", " for argument in arguments[1:])
    return f"sprintf({compiler.text(template)}, ({values}))"


def _printed_by_format(
    compiler: Expressions, arguments: list[Expression], bounded: bool
) -> tuple[str, bool]:
    """As `printed`, for `printf`."""
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
    from agentsandbox.commands.awk.formats import parse_format

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
