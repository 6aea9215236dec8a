"""The global names of a compiled program: the conversions of values, and what else it calls.

Functions that depend on the run (CONVFMT, IGNORECASE, warnings, the budget) are closures made for
it. Conversions are here, all others in modules by their subject, each with a function `functions`
that returns them by name. A program gets those of the modules of which it uses a name (`GROUPS`).
"""

from __future__ import annotations

from agentsandbox.commands.awk.values import (
    UNASSIGNED,
    UNSET,
    AwkExit,
    AwkFatal,
    AwkNext,
    AwkNextFile,
    Typed,
    Unset,
    array_as_scalar,
    integral_text,
    to_number,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from types import CodeType
    from typing import Any, TypeAlias

    from agentsandbox.commands.awk.protocols import Run

    Maker: TypeAlias = Callable[[Any], dict[str, Any]]

_MOST_KEYS = 16_384


def number_formatter(
    convert: Callable[[], str], charge: Callable[[int], None], text: Callable[[object], str] = str
) -> Callable[[float], str]:
    """Return the conversion of numbers to text: integers as they are, others by a format.

    convert  gives the format: CONVFMT or OFMT
    text     is for a `%s` in it
    """

    def number_text(number: float) -> str:
        if number.is_integer():
            return "" if type(number) is Unset else str(int(number))
        special = integral_text(number)
        if special is not None:
            return special
        template = convert()
        if template == "%.6g":
            return f"{number:.6g}"
        from agentsandbox.commands.awk.formats import format_values

        return format_values(template, (number,), text, charge)

    return number_text


def conversions(rt: Run) -> dict[str, Callable[..., Any]]:
    """Return the conversions of values to text and to subscripts."""
    number_text = number_formatter(lambda: rt.CONVFMT, rt.budget.charge)
    printed_number = number_formatter(
        lambda: rt.OFMT, rt.budget.charge, lambda number: number_text(to_number(number))
    )
    keys: dict[float, str] = {}

    def text(value: object) -> str:
        kind = value.__class__
        if kind is str:
            return value  # type: ignore[return-value]
        if kind is float:
            return number_text(value)  # type: ignore[arg-type]
        if kind is Unset:
            return ""
        if isinstance(value, str):
            return str(value)
        raise array_as_scalar(value)

    def printed(value: object) -> str:
        return printed_number(value) if type(value) is float else text(value)

    def key_of(number: float) -> str:
        found = keys.get(number)
        if found is not None and type(number) is float:
            return found
        made = number_text(number)
        if len(keys) < _MOST_KEYS and type(number) is float and number.is_integer():
            keys[number] = made
        return made

    def key(value: object) -> str:
        kind = value.__class__
        if kind is str:
            return value  # type: ignore[return-value]
        return key_of(value) if kind is float else text(value)  # type: ignore[arg-type]

    return {
        "text": text,
        "printed": printed,
        "key_of": key_of,
        "key": key,
        "number_text": number_text,
        "printed_number": printed_number,
    }


def fatal(message: str) -> object:
    """Refuse what can only be refused when it runs."""
    raise AwkFatal(message)


_FIXED: dict[str, Any] = {
    "__builtins__": {}, "float": float, "int": int, "str": str, "list": list, "len": len,
    "zip": zip, "ValueError": ValueError, "UNASSIGNED": UNASSIGNED, "UNSET": UNSET,
    "Typed": Typed, "INF": float("inf"), "NAN": float("nan"), "AwkExit": AwkExit,
    "AwkNext": AwkNext, "AwkNextFile": AwkNextFile, "fatal": fatal,
}  # fmt: skip
"""The global names that are the same for all programs."""
GROUPS = {
    "arithmetic": frozenset(
        "atan2 bitwise compl cosine divided exponential integer logarithm lshift modulo"
        " modulo_assigned power rshift sine square_root strtonum".split()
    ),
    "comparisons": frozenset(
        "eq field_eq field_ge field_gt field_le field_lt field_ne folded ge gt le lt ne"
        " same_number same_text".split()
    ),
    "elements": frozenset(
        "array_of count_element element element_or_array is_array kind_of mkbool not_an_array"
        " peek scalar set_element step_element used".split()
    ),
    "library": frozenset(
        "call_by_name gensub index match mktime patsplit rand sort sound split_apart split_into"
        " sprintf srand strftime substitute substituter systime".split()
    ),
    "sorting": frozenset(("walk",)),
    "symbols": frozenset(("function_table", "symbols")),
    "texts": frozenset(
        "checked integer_text join length_of lower one_text real_text same_type substr translated"
        " upper".split()
    ),
}
"""The names that each of these modules has for programs."""


def names_of(code: CodeType) -> set[str]:
    """Return the global names that code uses, and those of attributes."""
    found = set(code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, type(code)):
            found |= names_of(constant)
    return found


def makers(names: Iterable[str]) -> list[Maker]:
    """Return what makes the functions of the groups that have any of these names."""
    found: list[Maker] = []
    for group, members in GROUPS.items():
        if not members.isdisjoint(names):
            found.append(_maker(group))
    return found


def _maker(group: str) -> Maker:
    functions: Maker
    if group == "arithmetic":
        from agentsandbox.commands.awk.arithmetic import functions
    elif group == "comparisons":
        from agentsandbox.commands.awk.comparisons import functions
    elif group == "elements":
        from agentsandbox.commands.awk.elements import functions
    elif group == "library":
        from agentsandbox.commands.awk.library import functions
    elif group == "symbols":
        from agentsandbox.commands.awk.symbols import functions
    elif group == "texts":
        from agentsandbox.commands.awk.texts import functions
    else:
        from agentsandbox.commands.awk.sorting import functions
    return functions


def namespace(rt: Run, functions: Iterable[Maker]) -> dict[str, Any]:
    """Return the global names of a compiled program; there are no others, not even Python's.

    functions  what `makers` returned for the program
    """
    found = {
        **_FIXED,
        **rt.numbers,
        **rt.conversions,
        "emit": rt.out.append,
        "write": rt.write,
        "split_fields": rt.split_fields,
        "other_field": rt.other_field,
        "other_value": rt.other_value,
    }
    for make in functions:
        found.update(make(rt))
    return found
