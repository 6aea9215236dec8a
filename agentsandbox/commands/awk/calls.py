"""Calls of awk's built-in functions as Python."""

from __future__ import annotations

from agentsandbox.commands.awk import nodes
from agentsandbox.commands.awk.assignments import assigned
from agentsandbox.commands.awk.expressions import RECORD, constant
from agentsandbox.commands.awk.formatting import formatted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from agentsandbox.commands.awk.expressions import Expressions
    from agentsandbox.commands.awk.nodes import Expression

_ORDINALS = ("first", "second", "third", "fourth")


def _array(compiler: Expressions, call: nodes.Call, position: int) -> str:
    """Return an argument that must be an array."""
    argument = call.arguments[position]
    if isinstance(argument, (nodes.Name, nodes.Index)):
        compiler.mark_typed(argument)
        return compiler.array_code(argument)
    which = f"{call.name}: {_ORDINALS[position]}"
    return f"not_an_array({compiler.value(argument)}, {which!r})"


def _length(compiler: Expressions, call: nodes.Call) -> str:
    argument = call.arguments[0] if call.arguments else RECORD
    if isinstance(argument, nodes.Name) and compiler.is_array(argument):
        if compiler.mode.posix:
            return "fatal('length: received array argument')"
        if compiler.is_global(argument.name):
            return f"float(len(v_{argument.name}))"
        return f"length_of(l_{argument.name}, text)"
    if isinstance(argument, nodes.Index):
        return f"length_of({compiler.element_code(argument)}, text)"
    if isinstance(argument, nodes.Name) and not compiler.numeric(argument):
        return f"length_of({compiler.value(argument)}, text)"
    return f"float(len({compiler.text(argument)}))"


def _substr(compiler: Expressions, call: nodes.Call) -> str:
    text = compiler.text(call.arguments[0])
    start, *counts = call.arguments[1:]
    first = constant(start, below=10**6)
    size = constant(counts[0], below=10**6) if counts else 0
    if first is not None and size is not None:
        return f"{text}[{first - 1 or ''}:{first - 1 + size if size else ''}]"
    return f"substr({', '.join([text, *map(compiler.number, call.arguments[1:])])})"


def _index(compiler: Expressions, call: nodes.Call) -> str:
    text, sought = map(compiler.text, call.arguments)
    if compiler.ignore_case:
        return f"index({text}, {sought})"
    return f"float({text}.find({sought}) + 1)"


def _split(compiler: Expressions, call: nodes.Call) -> str:
    text, target, *separators = call.arguments
    by = "None"
    if len(separators) > 1 or call.name == "patsplit":
        return _split_with_separators(compiler, call)
    if separators:
        separator = separators[0]
        is_regex = isinstance(separator, nodes.Regex)
        if not isinstance(separator, nodes.Text) or "\\" in separator.value:
            compiler.warns = True
        by = (compiler.pattern if is_regex else compiler.text)(separator)
    array, typed = _array_to_fill(compiler, call, target)
    return f"split_into({compiler.text(text)}, {array}, {by}, {typed})"


def _split_with_separators(compiler: Expressions, call: nodes.Call) -> str:
    """`patsplit`, and `split` with a fourth argument."""
    text, _, *others = call.arguments
    if compiler.mode.traditional:
        return "fatal('split: fourth argument is a gawk extension')"
    compiler.warns = True
    by = "None"
    if others:
        is_regex = isinstance(others[0], nodes.Regex)
        by = (compiler.pattern if is_regex else compiler.text)(others[0])
    array = _array(compiler, call, 1)
    between = _array(compiler, call, 3) if len(others) > 1 else "None"
    method = "patsplit" if call.name == "patsplit" else "split_apart"
    return f"{method}({compiler.text(text)}, {array}, {by}, {between})"


def _array_to_fill(compiler: Expressions, call: nodes.Call, target: Expression) -> tuple[str, str]:
    """Return the array that `split` fills, and whether the types of its elements matter."""
    if isinstance(target, nodes.Name) and compiler.is_own_array(target):
        compiler.filled.add(target.name)
        return f"v_{target.name}", f"y_{target.name}"
    return _array(compiler, call, 1), "True"


def _substituted(compiler: Expressions, call: nodes.Call, text: str) -> str:
    """Return the call that does the work: the new text waits in `rt.got`."""
    sought, replacement = call.arguments[:2]
    every = call.name == "gsub"
    pattern = compiler.pattern(sought)
    fixed = not compiler.ignore_case
    if fixed and isinstance(sought, nodes.Regex) and isinstance(replacement, nodes.Text):
        key = (sought.source, replacement.value, every)
        number = compiler.substitutions.setdefault(key, len(compiler.substitutions))
        return f"c{number}({text})"
    return f"substitute({pattern}, {compiler.text(replacement)}, {text}, {every})"


def substitution_statement(compiler: Expressions, call: nodes.Call) -> tuple[str, str] | None:
    """Return (the call, the assignment when it replaced something); None if it takes more."""
    target = call.arguments[2] if len(call.arguments) > 2 else RECORD
    is_constant = isinstance(target, nodes.Field) and isinstance(target.number, nodes.Number)
    if not isinstance(target, nodes.Name) and not is_constant:
        return None
    changed = _substituted(compiler, call, compiler.text(target))
    replaced = _replaced(compiler, target)
    return changed, assigned(compiler, target, replaced)  # type: ignore[arg-type]


def _replaced(compiler: Expressions, target: Expression, value: str = "") -> str:
    """Return what `sub` assigns: a typed regular expression stays one."""
    if not compiler.scopes.has_typed_regexes:
        return "rt.got"
    return f"same_type({value or compiler.value(target)}, rt.got)"


def _substitute(compiler: Expressions, call: nodes.Call) -> str:
    """`sub` and `gsub`: the new text is assigned when something was replaced."""
    target = call.arguments[2] if len(call.arguments) > 2 else RECORD
    count = compiler.temporary()
    if isinstance(target, nodes.Index):
        array, key = compiler.temporary(), compiler.temporary()
        code, subscript = compiler.array_code(target.base), compiler.subscript(target)
        text = f"text(({array} := {code})[({key} := {subscript})])"
        replaced = _replaced(compiler, target, f"{array}[{key}]")
        assign = f"set_element({replaced}, {array}, {key})"
    elif isinstance(target, nodes.Field) and not isinstance(target.number, nodes.Number):
        position = compiler.temporary()
        text = f"rt.field_at(({position} := {compiler.number(target.number)}))"
        assign = f"rt.set_field(rt.got, {position})"
    elif isinstance(target, (nodes.Name, nodes.Field)):
        text = compiler.text(target)
        assign = assigned(compiler, target, _replaced(compiler, target))
    else:
        return _substituted(compiler, call, compiler.text(target))
    changed = f"({count} := {_substituted(compiler, call, text)})"
    return f"(({assign}, {count})[1] if {changed} else {count})"


def _gensub(compiler: Expressions, call: nodes.Call) -> str:
    compiler.warns = True
    pattern, replacement, how, *subjects = call.arguments
    codes = [
        compiler.pattern(pattern),
        compiler.text(replacement),
        compiler.value(how),
        compiler.text(subjects[0] if subjects else RECORD),
    ]
    return f"gensub({', '.join(codes)})"


def _matched(compiler: Expressions, call: nodes.Call) -> str:
    text, pattern = compiler.text(call.arguments[0]), compiler.pattern(call.arguments[1])
    captures = _array(compiler, call, 2) if len(call.arguments) > 2 else "None"
    return f"match({text}, {pattern}, {captures})"


def _sprintf(compiler: Expressions, call: nodes.Call) -> str:
    return (
        formatted(compiler, call.arguments) if call.arguments else "fatal('sprintf: no arguments')"
    )


def _numbers(compiler: Expressions, call: nodes.Call) -> str:
    compiler.warns = compiler.warns or call.name in ("exp", "log", "sqrt")
    name = _ARITHMETIC.get(call.name, call.name)
    return f"{name}({', '.join(map(compiler.number, call.arguments))})"


def _bits(compiler: Expressions, call: nodes.Call) -> str:
    if len(call.arguments) < 2:
        return f"fatal('{call.name}: called with less than two arguments')"
    numbers = ", ".join(map(compiler.number, call.arguments))
    return f"bitwise({call.name!r}, ({numbers}))"


def _case(compiler: Expressions, call: nodes.Call) -> str:
    name = "lower" if call.name == "tolower" else "upper"
    return f"{name}({compiler.text(call.arguments[0])}, {call.line})"


def _texts(compiler: Expressions, call: nodes.Call) -> str:
    compiler.warns = True
    return f"rt.channels.{call.name}({', '.join(map(compiler.text, call.arguments))})"


def _strftime(compiler: Expressions, call: nodes.Call) -> str:
    forms = (compiler.text, compiler.number, compiler.value)
    codes = [form(argument) for form, argument in zip(forms, call.arguments, strict=False)]
    return f"strftime({', '.join(codes)})"


def _mktime(compiler: Expressions, call: nodes.Call) -> str:
    utc = compiler.condition(call.arguments[1]) if len(call.arguments) > 1 else "False"
    return f"mktime({compiler.text(call.arguments[0])}, {utc})"


def _sort(compiler: Expressions, call: nodes.Call) -> str:
    target = _array(compiler, call, 1) if len(call.arguments) > 1 else "None"
    how = compiler.text(call.arguments[2]) if len(call.arguments) > 2 else "None"
    return f"sort({_array(compiler, call, 0)}, {target}, {how}, {call.name == 'asorti'})"


def _kind(compiler: Expressions, call: nodes.Call) -> str:
    """`typeof` and `isarray`, which must not create what they look at."""
    argument = call.arguments[0]
    if isinstance(argument, nodes.Index):
        compiler.mark_typed(argument.base)
        code = f"peek({compiler.array_code(argument.base)}, {compiler.subscript(argument)})"
    elif isinstance(argument, nodes.Name) and compiler.is_array(argument):
        code = f"{'v' if compiler.is_global(argument.name) else 'l'}_{argument.name}"
    elif isinstance(argument, nodes.Field) and call.name == "typeof":
        compiler.needs_count = True
        number, value = compiler.number(argument.number), compiler.field_value(argument)
        count = "rt.nf()" if compiler.general else "nf"
        code = f"('unassigned' if {number} > {count} else kind_of({value}))"
        return f"('unassigned' if not rt.has_read and {count} == 0 else {code})"
    elif isinstance(argument, nodes.Name) and compiler.is_plain(argument):
        code = compiler.variable(argument)
    else:
        code = compiler.value(argument)
    return f"kind_of({code})" if call.name == "typeof" else f"is_array({code})"


def _strtonum(compiler: Expressions, call: nodes.Call) -> str:
    return f"strtonum({compiler.value(call.arguments[0])})"


def _boolean(compiler: Expressions, call: nodes.Call) -> str:
    return f"mkbool({compiler.condition(call.arguments[0])})"


def _translated(compiler: Expressions, call: nodes.Call) -> str:
    """`dcgettext` and `dcngettext`: the domain is evaluated, too."""
    plural = call.name == "dcngettext"
    texts = 2 if plural else 1
    if plural and len(call.arguments) < 3:
        return f"fatal('dcngettext: called with {len(call.arguments)} arguments')"
    codes = [compiler.text(argument) for argument in call.arguments[:texts]]
    number = compiler.number(call.arguments[2]) if plural else "1.0"
    others = [compiler.text(argument) for argument in call.arguments[texts + plural :]]
    if len(others) > 1:
        others = [f"({', '.join(others)})[1]"]
    else:
        others = [f"({others[0]}, None)[1]"] if others else ["None"]
    return f"translated({call.name!r}, ({', '.join(codes)},), {number}, {others[0]})"


def _domain(compiler: Expressions, call: nodes.Call) -> str:
    """`bindtextdomain`: return the directory."""
    return f"({', '.join(map(compiler.text, call.arguments))},)[0]"


_ARITHMETIC = {
    "sin": "sine", "cos": "cosine", "atan2": "atan2", "exp": "exponential", "log": "logarithm",
    "sqrt": "square_root", "int": "integer", "lshift": "lshift", "rshift": "rshift",
    "compl": "compl",
}  # fmt: skip
CALLS: dict[str, Callable[[Expressions, nodes.Call], str]] = {
    "length": _length, "substr": _substr, "index": _index, "split": _split, "sub": _substitute,
    "patsplit": _split,
    "gsub": _substitute, "gensub": _gensub, "match": _matched, "sprintf": _sprintf,
    "strftime": _strftime, "mktime": _mktime, "asort": _sort, "asorti": _sort, "and": _bits,
    "or": _bits, "xor": _bits, "strtonum": _strtonum, "typeof": _kind, "isarray": _kind,
    "tolower": _case, "toupper": _case, "mkbool": _boolean, "dcgettext": _translated,
    "dcngettext": _translated, "bindtextdomain": _domain,
    **dict.fromkeys(("system", "close", "fflush"), _texts),
    **dict.fromkeys(("rand", "srand", "systime", *_ARITHMETIC), _numbers),
}  # fmt: skip
