"""Calls of built-in functions as Python expressions."""

from __future__ import annotations

from agentsandbox.commands.awk import nodes
from agentsandbox.commands.awk.assignments import assigned
from agentsandbox.commands.awk.printing import formatted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from agentsandbox.commands.awk.nodes import Call, Expression
    from agentsandbox.commands.awk.protocols import Compiler

TEXT_CALLS = frozenset("substr sprintf tolower toupper gensub strftime typeof".split())
_ARITHMETIC = {
    "sin": "sine", "cos": "cosine", "atan2": "atan2", "exp": "exponential", "log": "logarithm", "sqrt": "square_root", "int": "integer",
    "lshift": "lshift", "rshift": "rshift", "compl": "compl",
}  # fmt: skip


_ORDINALS = ("first", "second", "third", "fourth")


def _bare(expression: Expression) -> Expression:
    while isinstance(expression, nodes.Unary) and expression.operator == "()":
        expression = expression.operand
    return expression


def _array(compiler: Compiler, call: Call, position: int) -> str:
    """An argument that must be an array."""
    bare = _bare(call.arguments[position])
    if isinstance(bare, (nodes.Name, nodes.Index)):
        compiler.mark_typed(bare)
        return compiler.array_code(bare)
    return f"not_an_array({compiler.value(bare)}, {f'{call.name}: {_ORDINALS[position]}'!r})"


def _length(compiler: Compiler, call: Call) -> str:
    if not call.arguments:
        return "float(len(rt.record()))" if compiler.general else "float(len(r))"
    argument = _bare(call.arguments[0])
    if isinstance(argument, nodes.Name) and compiler.scopes.is_array(
        compiler.function, argument.name
    ):
        scope = compiler.scopes.key(compiler.function, argument.name)[0]
        return f"length_of(l_{argument.name}, text)" if scope else f"float(len(v_{argument.name}))"
    if isinstance(argument, nodes.Index):
        return (
            f"length_of({compiler.array_code(argument.base)}[{compiler.subscript(argument)}], text)"
        )
    if isinstance(argument, nodes.Name) and not compiler.numeric(argument):
        return f"length_of({compiler.value(argument)}, text)"
    return f"float(len({compiler.text(argument)}))"


def _substr(compiler: Compiler, call: Call) -> str:
    text = compiler.text(call.arguments[0])
    start = call.arguments[1]
    count = call.arguments[2] if len(call.arguments) > 2 else None
    first = _constant_index(start)
    size = 0 if count is None else _constant_index(count)
    if first is not None and size is not None:
        return f"{text}[{first - 1 or ''}:{first - 1 + size if size else ''}]"
    return f"substr({text}, {compiler.number(start)}{'' if count is None else ', ' + compiler.number(count)})"


def _constant_index(expression: Expression) -> int | None:
    """A whole number from 1 that stands in the program."""
    if (
        isinstance(expression, nodes.Number)
        and expression.value.is_integer()
        and 1 <= expression.value < 1e6
    ):
        return int(expression.value)
    return None


def _index(compiler: Compiler, call: Call) -> str:
    text, sought = call.arguments
    if compiler.ignore_case:
        return f"rt.index({compiler.text(text)}, {compiler.text(sought)})"
    return f"float({compiler.text(text)}.find({compiler.text(sought)}) + 1)"


def _separator(compiler: Compiler, expression: Expression) -> str:
    bare = _bare(expression)
    if isinstance(bare, nodes.Regex):
        return compiler.pattern(bare)
    return compiler.text(bare)


def _split(compiler: Compiler, call: Call) -> str:
    arguments = call.arguments
    separator = _separator(compiler, arguments[2]) if len(arguments) > 2 else "None"
    separators = _array(compiler, call, 3) if len(arguments) > 3 else "None"
    target = _bare(arguments[1])
    if isinstance(target, nodes.Name) and compiler.is_plain_array(target.name):
        array, typed = f"v_{target.name}", f"y_{target.name}"
        compiler.split_targets.add(target.name)
    else:
        array, typed = _array(compiler, call, 1), "True"
    return (
        f"rt.split_into({compiler.text(arguments[0])}, {array}, {separator}, {separators}, {typed})"
    )


def _patsplit(compiler: Compiler, call: Call) -> str:
    arguments = call.arguments
    pattern = compiler.pattern(_bare(arguments[2])) if len(arguments) > 2 else "None"
    separators = _array(compiler, call, 3) if len(arguments) > 3 else "None"
    return f"rt.patsplit({compiler.text(arguments[0])}, {_array(compiler, call, 1)}, {pattern}, {separators})"


def _substituted(compiler: Compiler, call: Call, text: str) -> str:
    """The call that does the work: the new text waits in `rt.got`."""
    sought, replacement = _bare(call.arguments[0]), _bare(call.arguments[1])
    every = call.name == "gsub"
    pattern = compiler.pattern(sought)
    if (
        isinstance(sought, nodes.Regex)
        and isinstance(replacement, nodes.Text)
        and not compiler.ignore_case
    ):
        return f"c{compiler.substituter(sought.source, replacement.value, every)}({text})"
    return f"rt.substitute({pattern}, {compiler.text(call.arguments[1])}, {text}, {every})"


def substitution_target(call: Call) -> Expression:
    """What `sub` or `gsub` changes."""
    return (
        _bare(call.arguments[2])
        if len(call.arguments) > 2
        else nodes.Field(call.line, nodes.Number(call.line, 0.0))
    )


def substitution_statement(compiler: Compiler, call: Call) -> tuple[str, str] | None:
    """(the call, the assignment when it replaced something); None where it is not that simple."""
    target = substitution_target(call)
    if not isinstance(target, nodes.Name) and not (
        isinstance(target, nodes.Field) and isinstance(target.number, nodes.Number)
    ):
        return None
    return _substituted(compiler, call, compiler.text(target)), assigned(compiler, target, "rt.got")


def _substitute(compiler: Compiler, call: Call) -> str:
    """The new text is assigned when something was replaced."""
    count = compiler.temporary()
    target = substitution_target(call)
    if not isinstance(target, (nodes.Name, nodes.Index, nodes.Field)):
        return _substituted(compiler, call, compiler.text(target))
    if isinstance(target, nodes.Index):
        array, key = compiler.temporary(), compiler.temporary()
        text = f"text(({array} := {compiler.array_code(target.base)})[({key} := {compiler.subscript(target)})])"
        assign = f"set_element(rt.got, {array}, {key})"
    elif isinstance(target, nodes.Field) and not isinstance(target.number, nodes.Number):
        position = compiler.temporary()
        text = f"rt.field_at(({position} := {compiler.number(target.number)}))"
        assign = f"rt.set_field(rt.got, {position})"
    else:
        text = compiler.text(target)
        assign = assigned(compiler, target, "rt.got")
    return f"(({assign}, {count})[1] if ({count} := {_substituted(compiler, call, text)}) else {count})"


def _gensub(compiler: Compiler, call: Call) -> str:
    pattern, replacement, how = call.arguments[:3]
    subject = (
        compiler.text(call.arguments[3])
        if len(call.arguments) > 3
        else ("rt.record()" if compiler.general else "r")
    )
    return f"rt.gensub({compiler.pattern(_bare(pattern))}, {compiler.text(replacement)}, {compiler.value(how)}, {subject})"


def _match(compiler: Compiler, call: Call) -> str:
    captures = _array(compiler, call, 2) if len(call.arguments) > 2 else "None"
    return f"rt.match({compiler.text(call.arguments[0])}, {compiler.pattern(_bare(call.arguments[1]))}, {captures})"


def _sprintf(compiler: Compiler, call: Call) -> str:
    return formatted(compiler, call.arguments) if call.arguments else "rt.no_format('sprintf')"


def _numeric(compiler: Compiler, call: Call) -> str:
    return f"{_ARITHMETIC[call.name]}({', '.join(compiler.number(argument) for argument in call.arguments)})"


def _bits(compiler: Compiler, call: Call) -> str:
    if len(call.arguments) < 2:
        return f"rt.too_few({call.name!r}, ({''.join(compiler.value(argument) + ', ' for argument in call.arguments)}))"
    return f"bitwise({call.name!r}, ({''.join(compiler.number(argument) + ', ' for argument in call.arguments)}))"


def _case(compiler: Compiler, call: Call) -> str:
    return f"{'lower' if call.name == 'tolower' else 'upper'}({compiler.text(call.arguments[0])})"


def _random(compiler: Compiler, call: Call) -> str:
    return f"rt.{call.name}({', '.join(compiler.number(argument) for argument in call.arguments)})"


def _texts(compiler: Compiler, call: Call) -> str:
    return f"rt.{call.name}({', '.join(compiler.text(argument) for argument in call.arguments)})"


def _strftime(compiler: Compiler, call: Call) -> str:
    forms = (compiler.text, compiler.number, compiler.value)
    return f"rt.strftime({', '.join(form(argument) for form, argument in zip(forms, call.arguments, strict=False))})"


def _mktime(compiler: Compiler, call: Call) -> str:
    utc = compiler.condition(call.arguments[1]) if len(call.arguments) > 1 else "False"
    return f"rt.mktime({compiler.text(call.arguments[0])}, {utc})"


def _sort(compiler: Compiler, call: Call) -> str:
    target = _array(compiler, call, 1) if len(call.arguments) > 1 else "None"
    how = compiler.text(call.arguments[2]) if len(call.arguments) > 2 else "None"
    return f"rt.sort({_array(compiler, call, 0)}, {target}, {how}, {call.name == 'asorti'})"


def _kind(compiler: Compiler, call: Call) -> str:
    """`typeof` and `isarray`, which must not create what they look at."""
    argument = _bare(call.arguments[0])
    if isinstance(argument, nodes.Index):
        compiler.mark_typed(argument.base)
        code = f"peek({compiler.array_code(argument.base)}, {compiler.subscript(argument)})"
    elif isinstance(argument, nodes.Name) and compiler.scopes.is_array(
        compiler.function, argument.name
    ):
        code = f"{'l' if compiler.scopes.key(compiler.function, argument.name)[0] else 'v'}_{argument.name}"
    elif isinstance(argument, nodes.Field) and call.name == "typeof":
        compiler.needs_count = True
        count = "rt.nf()" if compiler.general else "nf"
        return f"rt.kind_of_field({compiler.number(argument.number)}, {count}, {compiler.field_value(argument)})"
    else:
        code = compiler.value(argument)
    return f"kind_of({code})" if call.name == "typeof" else f"is_array({code})"


def _strtonum(compiler: Compiler, call: Call) -> str:
    return f"strtonum({compiler.value(call.arguments[0])})"


CALLS: dict[str, Callable[[Compiler, Call], str]] = {
    "length": _length, "substr": _substr, "index": _index, "split": _split, "patsplit": _patsplit, "sub": _substitute,
    "gsub": _substitute, "gensub": _gensub, "match": _match, "sprintf": _sprintf, "rand": _random, "srand": _random, "systime": _random,
    "tolower": _case, "toupper": _case, "system": _texts, "close": _texts, "fflush": _texts, "strftime": _strftime, "mktime": _mktime,
    "asort": _sort, "asorti": _sort, "and": _bits, "or": _bits, "xor": _bits, "strtonum": _strtonum, "typeof": _kind, "isarray": _kind,
    **dict.fromkeys(_ARITHMETIC, _numeric),
}  # fmt: skip
